/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a unified diff to show it: numbers of lines, what was removed next to what was added, and
 * the words that differ in two such lines.
 *
 *     struct unified unified;
 *     struct unified_block block;
 *     unified_init(&unified, text, true);
 *     while (unified_next(&unified, &block))
 *             for (size_t i = 0; i < block.count; i++)
 *                     show(block.kind, &block.lines[i]);
 *     unified_release(&unified);
 *
 * Lines are read by the counts in the hunk headers, as "--- x" can be a removed line.  Any text can
 * be read: what is part of no hunk is a heading.  Texts are borrowed, and foreign.
 *
 * Not here: applying a diff (patch/), printing one (script.h).
 */
#ifndef HASP_DIFF_UNIFIED_H
#define HASP_DIFF_UNIFIED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

enum unified_kind {
	UNIFIED_HEADING, /* a line outside of hunks: names of files, "index 12..34" */
	UNIFIED_HUNK,    /* "@@ -1,2 +3,4 @@ function" */
	UNIFIED_SAME,    /* in both texts */
	UNIFIED_CHANGED, /* removed lines, then added ones */
	UNIFIED_NOTE,    /* "\ No newline at end of file" that belongs to no changed line */
};

/* Of a hunk's "@@" line. Without usable numbers the counts are SIZE_MAX, and the others 0. */
struct unified_header {
	size_t old_at, old_count, new_at, new_count; /* _at: from 1, 0 in an empty text */
};

struct unified_line {
	char sign;        /* ' ', '-', '+'; 0: not of a hunk */
	struct span text; /* without sign and line end */
	struct span note; /* "\ No newline at end of file" after a changed line, or empty */
	size_t old_number, new_number; /* 0: unknown, or not in that text */
	/* Where parts of the text end, in turn the same as in the paired line and different; empty:
	 * not compared. */
	size_t *ends;     /* owned */
	size_t end_count, end_cap;
};

struct unified_block {
	enum unified_kind kind;
	const struct unified_line *lines; /* borrowed until the next call */
	size_t count;
	size_t removed;               /* of CHANGED: lines[0, removed); line i is paired with line
	                               * removed + i, if there is one */
	struct unified_header header; /* of HUNK */
};

struct unified {
	struct span rest;
	bool words;            /* whether paired lines are compared */
	bool hide_cr;          /* all lines of hunks end in CR LF: that says nothing */
	size_t old_left, new_left;     /* lines of the hunk that are still to come */
	size_t old_number, new_number; /* of the next ones */
	size_t words_budget;           /* left for comparing words */
	struct unified_line *lines;    /* owned; of the block */
	size_t count, cap;
};

/* `words`: whether paired lines are compared. */
void unified_init(struct unified *unified, struct span text, bool words);
/* Gives the next block; false at the end. */
bool unified_next(struct unified *unified, struct unified_block *ret);
void unified_release(struct unified *unified); /* frees the lines */
#define _cleanup_unified_ __attribute__((cleanup(unified_release)))

/* Digits of the largest line number, by the hunk headers; at least 1. */
size_t unified_digits(struct span text);

#endif
