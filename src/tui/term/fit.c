/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown of a live region, so that it stays in a window that is suddenly narrow. */
#include "tui/term/private.h"

enum {
	ABOVE_MAX = 5,             /* rows above the caret: the lowest window keeps them */
	STRICT_ROWS = 4,           /* beneath the caret; more of them may still be wide */
	DRAFT_LEAVES = STRICT_ROWS + 1, /* rows of the window that a draft's row leaves, wrapped */
	DRAFT_LEAST = 3,           /* rows that a draft's row may need even then */
	NARROWEST = FIT_NARROWEST,
};

static unsigned rows_needed(unsigned width, unsigned columns)
{
	return width <= columns ? 1 : (width + columns - 1) / columns;
}

/* The widest that rows beneath the caret may be, so that those above them stay in a window that is
 * suddenly NARROWEST columns wide: a terminal that wraps them would else push as many rows out at
 * the top. `budget`: rows there are for them. */
static unsigned width_allowed(const struct rows *rows, size_t from, size_t count, size_t budget)
{
	unsigned units = 1;

	for (unsigned try = 2; try <= budget; try++) {
		size_t sum = 0;

		for (size_t i = from; i < from + count; i++) {
			unsigned need = rows_needed(rows->at[i].width, NARROWEST);

			sum += need < try ? need : try;
		}
		if (sum > budget)
			break;
		units = try;
	}
	return units * NARROWEST;
}

/* `strict`: for that alone; else rows stay readable even so. */
static unsigned width_of_beneath(const struct fit *fit, const struct live *live, size_t from,
                                 size_t count, size_t budget, bool strict)
{
	const struct term_size size = fit->size;
	unsigned allowed = width_allowed(&live->rows, from, count, budget);
	unsigned least = strict ? NARROWEST : 76;

	if (live->whole || fit->calm)
		return size.columns;
	allowed = allowed < least ? least : allowed;
	return allowed < size.columns ? allowed : size.columns;
}

/* Copies row [from, to) of the live region, clipped. */
static void lay_rows(const struct live *live, struct rows *out, size_t from, size_t to,
                     unsigned columns)
{
	size_t first = out->count;

	rows_copy(out, &live->rows, from, to);
	for (size_t i = first; i < out->count; i++)
		row_clip(&out->at[i], columns);
}

size_t fit_blank_rows(const struct rows *rows, size_t max)
{
	size_t blank = 0;

	while (blank < max && rows->at[blank].width == 0)
		blank++;
	return blank;
}

/* How many of the blank rows may be pushed out: where the cursor may go astray it rests in the last
 * one (screen.c). */
static size_t blanks_to_lose(const struct fit *fit, const struct rows *rows, size_t max)
{
	size_t blank = fit_blank_rows(rows, max);

	return blank && fit->strays ? blank - 1 : blank;
}

/* How many rows of the live region more there may be in a window of NARROWEST columns, of rows
 * [from, to), that are clipped to `columns`. */
static size_t wraps_of(const struct rows *rows, size_t from, size_t to, unsigned columns)
{
	size_t wraps = 0;

	for (size_t i = from; i < to; i++)
		wraps += rows_needed(rows->at[i].width < columns ? rows->at[i].width : columns,
		                     NARROWEST) - 1;
	return wraps;
}

/* How many rows above the caret's are shown: at most `max`, and of a draft no more than stay in a
 * window that is suddenly narrow. */
static size_t rows_shown_above(const struct fit *fit, const struct live *live, size_t caret,
                               size_t max)
{
	size_t blank = fit_blank_rows(&live->rows, caret), beneath = live->rows.count - caret - 1;
	size_t above = caret < max ? caret : max;

	beneath = beneath < STRICT_ROWS ? beneath : STRICT_ROWS;
	if (!fit->reflows || live->whole)
		return above;
	for (; above > blank; above--) {
		size_t all = above + 1 + beneath;
		size_t room = fit->size.rows > all ? fit->size.rows - all : 0;

		room = room < fit->room ? room : fit->room;
		if (wraps_of(&live->rows, caret - (above - blank), caret + 1,
		             fit->size.columns) <=
		    room + blanks_to_lose(fit, &live->rows, blank))
			break;
	}
	return above;
}

/* Clips what stands beneath the row the cursor is in, for a window that is suddenly narrow. */
static void lay_beneath(const struct fit *fit, const struct live *live, struct rows *out,
                        size_t from, size_t to)
{
	size_t all = out->count + (to - from);
	size_t room = fit->size.rows > all ? fit->size.rows - all : 0;
	size_t wraps = wraps_of(out, 0, out->count, fit->size.columns);
	bool strict = fit->size.rows < FIT_USUAL_ROWS || to - from <= STRICT_ROWS;

	room = room < fit->room ? room : fit->room;
	room += blanks_to_lose(fit, out, out->count);
	room = room > wraps ? room - wraps : 0;
	lay_rows(live, out, from, to,
	         fit->reflows ? width_of_beneath(fit, live, from, to - from, to - from + room,
	                                    strict) :
	                        fit->size.columns);
}

size_t fit_live(const struct fit *fit, const struct live *live, struct rows *out)
{
	const struct term_size size = fit->size;
	size_t count = live->rows.count, caret = live->caret_row, top, above, beneath, room;

	if (!count) {
		rows_add(out);
		return 0;
	}
	caret = caret < count ? caret : count - 1;
	above = size.rows > ABOVE_MAX + 2 ? ABOVE_MAX : size.rows > 2 ? size.rows - 2u : 0;
	above = rows_shown_above(fit, live, caret, above);
	if (caret > above) { /* of a long draft the rows next to the caret */
		top = fit_blank_rows(&live->rows, above);
		lay_rows(live, out, 0, top, size.columns);
		lay_rows(live, out, caret - (above - top), caret + 1, size.columns);
	} else {
		lay_rows(live, out, 0, caret + 1, size.columns);
	}
	top = out->count - 1;
	room = size.rows > out->count ? size.rows - out->count : 0;
	beneath = count - caret - 1;
	if (fit->reflows && !live->whole && beneath > STRICT_ROWS && room > STRICT_ROWS) {
		const size_t wraps = wraps_of(out, 0, out->count, size.columns);

		room = room > wraps + STRICT_ROWS ? room - wraps : STRICT_ROWS;
	}
	beneath = beneath < room ? beneath : room;
	lay_beneath(fit, live, out, caret + 1, caret + 1 + beneath);
	return top;
}

unsigned fit_draft_columns(const struct fit *fit)
{
	size_t rows = fit->size.rows > DRAFT_LEAVES ? fit->size.rows - DRAFT_LEAVES : 0;

	rows = rows < fit->room + 1 ? rows : fit->room + 1;
	rows = rows > DRAFT_LEAST ? rows : DRAFT_LEAST;
	return fit->reflows && rows * NARROWEST < fit->size.columns ? (unsigned)rows * NARROWEST :
	                                                              fit->size.columns;
}
