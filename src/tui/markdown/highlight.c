/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/markdown/highlight.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/mem.h"
#include "tui/markdown/private.h"

enum {
	LANGUAGE_MAX = 32,
	PAINT_BYTES = 2 * COLOUR_LINE_MAX, /* coloured together: a query costs more than a line */
};

/* hasp-highlight.so. */
struct highlight_library {
	__typeof__(colour_new) *new;
	__typeof__(colour_free) *free;
	__typeof__(colour_add) *add;
	__typeof__(colour_paint) *paint;
};

/* Lines that follow each other and are shown: where they are in what was added. */
struct highlight_run {
	size_t from, to;
};

struct highlight {
	const struct highlight_library *library; /* NULL: without colours */
	struct colour *colour;
	bool diff;
	size_t added;               /* bytes, line endings included */
	struct highlight_run *runs; /* owned */
	size_t run, count, cap;     /* `run`: of the line that is shown next */
	size_t at;                  /* where that line is, if it is not the first of its run */
	uint8_t roles[PAINT_BYTES]; /* of the bytes from `painted` on */
	size_t painted, painted_len;
};

static const struct highlight_library *highlight_load(void)
{
	static const struct library_symbol symbols[] = {
		{ "colour_new", offsetof(struct highlight_library, new) },
		{ "colour_free", offsetof(struct highlight_library, free) },
		{ "colour_add", offsetof(struct highlight_library, add) },
		{ "colour_paint", offsetof(struct highlight_library, paint) },
	};
	/* Next to the program, then where it is installed. */
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
	free(highlight->runs);
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

/* False: the line is not coloured. */
static bool add_line(struct highlight *highlight, struct span line)
{
	if (!highlight->colour ||
	    !highlight->library->add(highlight->colour, line.data ? line.data : "", line.len))
		return false;
	highlight->added += line.len + 1;
	return true;
}

void highlight_add(struct highlight *highlight, struct span line)
{
	const size_t from = highlight->added;
	struct highlight_run *last =
		highlight->count ? &highlight->runs[highlight->count - 1] : NULL;

	if (!add_line(highlight, line))
		return;
	if (!last || last->to != from) {
		highlight->runs = mem_grow(highlight->runs, &highlight->cap, highlight->count + 1,
		                           sizeof(*highlight->runs));
		last = &highlight->runs[highlight->count++];
		*last = (struct highlight_run){ from, from };
	}
	last->to = highlight->added;
}

void highlight_add_hidden(struct highlight *highlight, struct span line)
{
	add_line(highlight, line);
}

/* Where the next line that is shown is, and how much of its run there is from there on; 0: all were
 * shown. */
static size_t next_shown(struct highlight *highlight, size_t *ret_at)
{
	const struct highlight_run *run;

	for (; highlight->run < highlight->count; highlight->run++) {
		run = &highlight->runs[highlight->run];
		*ret_at = highlight->at > run->from ? highlight->at : run->from;
		if (*ret_at < run->to)
			return run->to - *ret_at;
		if (highlight->run + 1 == highlight->count)
			break; /* it may grow */
	}
	return 0;
}

/* The roles of the line's bytes, borrowed; NULL: it is not coloured. */
static const uint8_t *roles_of_next(struct highlight *highlight, struct span line)
{
	size_t at = 0, left = next_shown(highlight, &at);

	if (!left) {
		highlight_add(highlight, line);
		left = next_shown(highlight, &at);
	}
	if (left < line.len + 1)
		return NULL; /* nothing more is coloured */
	highlight->at = at + line.len + 1;
	if (at < highlight->painted ||
	    at + line.len > highlight->painted + highlight->painted_len) {
		highlight->painted = at;
		highlight->painted_len = left - 1 < PAINT_BYTES ? left - 1 : PAINT_BYTES;
		highlight->library->paint(highlight->colour, at, highlight->painted_len,
		                          highlight->roles);
	}
	return highlight->roles + (at - highlight->painted);
}

void highlight_line(struct highlight *highlight, struct span line, struct row *row)
{
	const uint8_t *roles = highlight->colour ? roles_of_next(highlight, line) : NULL;

	if (!roles) {
		row_text(row, line, STYLE(highlight->diff ? (uint8_t)diff_role(line) : ROLE_CODE));
		return;
	}
	for (size_t from = 0, to = 0; from < line.len; from = to) {
		while (to < line.len && roles[to] == roles[from])
			to++;
		row_text(row, span_of(line.data + from, to - from), STYLE(roles[from]));
	}
}
