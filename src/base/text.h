/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 and lines.
 *
 * A line runs to and includes its LF; the last one may lack it.  CR is an
 * ordinary byte here: "a\r\n" is one line whose ending is CRLF (line_ending).
 *
 *     struct lines lines = { 0 };
 *     lines_index(&lines, text);
 *     for (size_t i = 0; i < lines.count; i++)
 *             use(lines_at(&lines, i));
 *     lines_release(&lines);
 *
 * Not here: invisible characters (unseen.h), other encodings (file/document.h), widths on a
 * terminal (cli/).
 */
#ifndef HASP_BASE_TEXT_H
#define HASP_BASE_TEXT_H

#include <stdbool.h>
#include <string.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

/* Where each line of a text begins. */
struct lines {
	struct span text; /* borrowed */
	uint32_t *starts; /* owned; count offsets: lines_start */
	size_t count;     /* lines; 0 for the empty text */
};

/* Finds where the lines of `text`, which must outlive them, begin.  It aborts if the text is larger
 * than LIMIT_FILE_BYTES. */
void lines_index(struct lines *lines, struct span text);
/* Frees the offsets; the struct may be used again. */
void lines_release(struct lines *lines);
#define _cleanup_lines_ __attribute__((cleanup(lines_release)))

/* Where line `i` (0-based) begins, in bytes; the text's end for i == count. */
static inline size_t lines_start(const struct lines *lines, size_t i)
{
	return i < lines->count ? lines->starts[i] : lines->text.len;
}

/* Lines [from, to) as one span. */
static inline struct span lines_range(const struct lines *lines, size_t from, size_t to)
{
	const size_t start = lines_start(lines, from);

	return span_of(lines->text.data + start, lines_start(lines, to) - start);
}

/* Line `i` (0-based, below count) with its ending. */
static inline struct span lines_at(const struct lines *lines, size_t i)
{
	return lines_range(lines, i, i + 1);
}

/* The ending of a line: "\r\n", "\n" or "". */
static inline struct span line_ending(struct span line)
{
	if (span_ends(line, SPAN("\r\n")))
		return SPAN("\r\n");
	if (span_ends(line, SPAN("\n")))
		return SPAN("\n");
	return span_of("", 0);
}

/* The line without its ending. */
static inline struct span line_body(struct span line)
{
	return span_head(line, line.len - line_ending(line).len);
}

/* Takes the next line, with its ending, off the front of *rest; false at the end. */
bool line_next(struct span *rest, struct span *ret_line);

/* Number of lines (0 for the empty text). */
size_t lines_count(struct span text);

/* One character of a text of any bytes.  A byte that is not part of well-formed UTF-8 (Unicode 15,
 * table 3-7: no surrogates, nothing overlong) is one too, a bad one.  It never has no bytes, so a
 * loop that skips what it was given ends. */
struct utf8_char {
	uint32_t code;     /* its scalar value; U+FFFD for a bad byte */
	bool bad;
	struct span bytes; /* 1 to 4 of the text; 1 when bad */
};

/* The character at the start of `text`, which is not empty. */
struct utf8_char utf8_first(struct span text);

/* Takes the next character off the front of *rest; false at the end. */
bool utf8_next(struct span *rest, struct utf8_char *ret);

/* Writes 1 to 4 bytes to `out`; returns how many. `code_point` is a scalar value. */
size_t utf8_put(uint32_t code_point, char out[static 4]);

/* Whether all of it is well-formed UTF-8. */
bool utf8_valid(struct span text);

/* The text without the byte-order mark at its start, if it has one. */
static inline struct span utf8_skip_mark(struct span text)
{
	return span_starts(text, SPAN("\xEF\xBB\xBF")) ? span_skip(text, 3) : text;
}

/* The longest prefix of at most `max` bytes that does not split a sequence. */
struct span utf8_head(struct span text, size_t max);

/* Whether a list that ends with NULL has the text; a list that is NULL has none. */
static inline bool text_listed(const char *const *list, const char *text)
{
	for (; list && *list; list++)
		if (strcmp(*list, text) == 0)
			return true;
	return false;
}

#endif
