/* SPDX-License-Identifier: Apache-2.0 */
/* Text found in rows, also where rows_wrap has broken a line: in a word that was cut, and where a
 * blank was dropped between two rows.
 *
 *     struct row_find find;
 *     find_begin(&find, &rows, "wanted", 0);
 *     while (find_next(&find))
 *             ... find.pieces[0 ... find.count - 1] ...
 *     find_release(&find);
 *
 * Matches come in the order of their beginnings and do not overlap: the first one counts.
 *
 * Not here: which match is shown (full.c, pager.c). */
#ifndef HASP_TUI_TEXT_FIND_H
#define HASP_TUI_TEXT_FIND_H

#include "tui/text/rows.h"

/* Bytes of a row's text; at least one. */
struct find_piece {
	size_t row, start, len;
};

struct row_find {
	const struct rows *rows;   /* borrowed */
	const char *wanted;        /* borrowed */
	size_t row, byte;          /* where it goes on */
	struct find_piece *pieces; /* of the match, a row each; owned */
	size_t count, cap;
	struct find_piece *taken;  /* by earlier matches, of rows from `row` on; owned */
	size_t taken_count, taken_cap;
};

/* Looks for `wanted`, whose ASCII letters may be capital or small, in row `from` and those after
 * it: all matches of which a piece is there, and others of the line that is broken there. Nothing
 * is found if `wanted` is empty. The rows must stay as they are. */
void find_begin(struct row_find *find, const struct rows *rows, const char *wanted, size_t from);
/* Finds the next match: its pieces, top to bottom, valid until the next call. False: there is none;
 * then nothing is left to be released. */
bool find_next(struct row_find *find);
void find_release(struct row_find *find);
#define _cleanup_find_ __attribute__((cleanup(find_release)))

#endif
