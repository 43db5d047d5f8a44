/* SPDX-License-Identifier: Apache-2.0 */
/* The line endings of replacements in a file that has both kinds: each line keeps its own. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "edit/private.h"
#include "patch/patch.h"

static bool has_crlf(struct span text)
{
	return text.len && memmem(text.data, text.len, "\r\n", 2);
}

bool line_ends_make(const struct document *doc, struct span old_text, struct span text,
                    bool folded, struct line_ends *ret)
{
	if (!doc->crlf_lines || !doc->lf_lines)
		return false;
	/* Texts that have CRs, and stand in the file with them, say what is meant. */
	if (!folded && (has_crlf(old_text) || has_crlf(text)))
		return false;
	ret->file = &doc->lines;
	lines_index(&ret->old, old_text);
	lines_index(&ret->new, text);
	ret->pairs = patch_pair_lines(&ret->old, &ret->new);
	return true;
}

void line_ends_release(struct line_ends *ends)
{
	lines_release(&ends->old);
	lines_release(&ends->new);
	free(ends->pairs);
}

/* The ending of a line, or of one before it if it is the last and has none. */
static struct span ending_at(const struct lines *file, size_t line)
{
	struct span ending = line_ending(lines_at(file, line));

	if (!ending.len && line)
		ending = line_ending(lines_at(file, line - 1));
	return ending.len ? ending : SPAN("\n");
}

static bool has_final_newline(const struct lines *lines)
{
	return lines->count && line_ending(lines_at(lines, lines->count - 1)).len;
}

size_t line_ends_put(const struct line_ends *ends, size_t first, size_t end, struct buf *out)
{
	const struct lines *file = ends->file;
	struct span ending = ending_at(file, first), rest = span_skip(file->text, end), after;
	bool closes;

	after = span_starts(rest, SPAN("\r\n")) ? SPAN("\r\n") : SPAN("\n");
	/* The last line gets its own ending, which stands after the text, instead of another's.  A
	 * text that begins with a line ending may follow, and needs this one. */
	closes = ends->new.count && !has_final_newline(&ends->old) &&
	         !has_final_newline(&ends->new) && span_starts(rest, after) &&
	         !strchr("\r\n", ends->old.text.data[0]);
	for (size_t i = 0; i < ends->new.count; i++) {
		struct span line = lines_at(&ends->new, i), own = line_ending(line);

		if (ends->pairs[i] != SIZE_MAX)
			ending = ending_at(file, first + ends->pairs[i]);
		buf_span(out, line_body(line));
		if (own.len || closes)
			buf_span(out, own.len == 2 ? own : ending);
	}
	return closes ? end + after.len : end;
}
