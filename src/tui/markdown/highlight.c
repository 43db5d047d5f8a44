/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/markdown/highlight.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/mem.h"
#include "tui/markdown/private.h"

enum { LANGUAGE_MAX = 32 };

/* hasp-highlight.so. */
struct highlight_library {
	__typeof__(colour_new) *new;
	__typeof__(colour_free) *free;
	__typeof__(colour_line) *line;
};

struct highlight {
	const struct highlight_library *library; /* NULL: without colours */
	struct colour *colour;
	bool diff;
};

static const struct highlight_library *highlight_load(void)
{
	static const struct library_symbol symbols[] = {
		{ "colour_new", offsetof(struct highlight_library, new) },
		{ "colour_free", offsetof(struct highlight_library, free) },
		{ "colour_line", offsetof(struct highlight_library, line) },
	};
	/* Beside the program, then where it is installed. */
	static const struct library row = { { "$ORIGIN/hasp-highlight.so", HIGHLIGHT_MODULE }, "",
		                            "", symbols, ARRAY_LEN(symbols) };
	/* Asked once: a terminal has one thread. */
	static enum { UNKNOWN, THERE, ABSENT } known;
	static struct highlight_library functions;
	struct err err = ERR_INIT;

	if (known == UNKNOWN)
		known = library_load(&row, &functions, &err) ? THERE : ABSENT;
	return known == THERE ? &functions : NULL;
}

/* The ending of a file's name, or the whole word, in small letters. */
static void read_language(struct span language, char name[LANGUAGE_MAX])
{
	size_t len = 0;

	for (size_t i = 0; i < language.len; i++) {
		const char c = language.data[i];

		if (c == '.' || c == '/') {
			len = 0;
		} else if (len + 1 < LANGUAGE_MAX) {
			name[len++] = (char)tolower((unsigned char)c);
		}
	}
	name[len] = '\0';
	if (memchr(name, '{', len) || memchr(name, ',', len))
		name[strcspn(name, "{,")] = '\0'; /* "c,ignore", "js{1,3}" */
}

struct highlight *highlight_new(struct span language)
{
	struct highlight *highlight = mem_alloc(1, sizeof(*highlight));
	char name[LANGUAGE_MAX];

	read_language(language, name);
	highlight->diff = strcmp(name, "diff") == 0 || strcmp(name, "patch") == 0;
	if (name[0] && !highlight->diff)
		highlight->library = highlight_load();
	if (highlight->library)
		highlight->colour = highlight->library->new(name);
	return highlight;
}

void highlight_free(struct highlight *highlight)
{
	if (!highlight)
		return;
	if (highlight->library)
		highlight->library->free(highlight->colour);
	free(highlight);
}

static enum role diff_role(struct span line)
{
	if (span_starts(line, SPAN("@@")))
		return ROLE_ACCENT;
	if (span_starts(line, SPAN("+++ ")) || span_starts(line, SPAN("--- ")) ||
	    span_starts(line, SPAN("diff ")) || span_starts(line, SPAN("index ")))
		return ROLE_HEADING;
	return span_starts(line, SPAN("+")) ? ROLE_ADDED
	       : span_starts(line, SPAN("-")) ? ROLE_REMOVED
	                                      : ROLE_CODE;
}

void highlight_line(struct highlight *highlight, struct span line, struct row *row)
{
	uint8_t *roles;

	if (highlight->diff || !highlight->colour) {
		row_text(row, line, STYLE(highlight->diff ? (uint8_t)diff_role(line) : ROLE_CODE));
		return;
	}
	roles = mem_alloc(line.len + 1, 1);
	highlight->library->line(highlight->colour, line.data ? line.data : "", line.len, roles);
	for (size_t from = 0, to = 0; from < line.len; from = to) {
		while (to < line.len && roles[to] == roles[from])
			to++;
		row_text(row, span_of(line.data + from, to - from), STYLE(roles[from]));
	}
	free(roles);
}
