/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what is known of terminals by their names and answers, and what becomes
 * of rows when a terminal wraps them anew.
 *
 * To add a terminal: a row in the table of kinds.c, with the source of what it says.
 */
#ifndef HASP_TUI_TERM_PRIVATE_H
#define HASP_TUI_TERM_PRIVATE_H

#include <stdbool.h>

#include "base/span.h"
#include "tui/term/screen.h"
#include "tui/text/rows.h"

/* How a terminal was known. */
enum kind_by {
	KIND_BY_VERSION, /* its answer to XTVERSION begins so */
	KIND_BY_TERM,    /* TERM begins so */
	KIND_BY_DA2,     /* the first number (or two) of its answer to CSI > c */
};

enum { KIND_REFLOWS = 1, KIND_TRUE_COLOUR = 2, KIND_OTHER_KEYS = 4, KIND_MUTE = 8,
       KIND_STRAYS = 16 };

struct kind {
	enum kind_by by;
	const char *name;
	unsigned facts; /* lines reflow; knows RGB; modifyOtherKeys; ask and link nothing;
	                * the cursor goes astray when lines reflow */
	const char *source;
};

/* The row of a terminal; NULL: nobody knows it. `name` is the text that `by` names. */
const struct kind *kind_find(enum kind_by by, struct span name);
/* Row `i`, for tests; NULL: no more. */
const struct kind *kind_at(size_t i);

/* ---- a live region that stays in a window that is suddenly narrow (fit.c) ---- */

enum { FIT_NARROWEST = 20 }; /* columns of a window, after a sudden resize */

struct fit {
	struct term_size size;
	size_t room;    /* rows of the window above the live region, at least */
	bool reflows;   /* lines are wrapped anew: else all fits as it is */
	bool strays;    /* and the cursor may go astray */
};

/* Appends what is to be shown of a live region; returns which of these rows has the caret. */
size_t fit_live(const struct fit *fit, const struct live *live, struct rows *out);
/* How many blank rows there are at the top, at most `max`: distance to the finished ones. */
size_t fit_blank_rows(const struct rows *rows, size_t max);
/* screen_draft_columns */
unsigned fit_draft_columns(const struct fit *fit);

/* ---- rows that are wrapped anew (wrap.c) ---- */

/* Where column `column` of a row's text comes to stand when its line is wrapped at `columns`: a
 * wide character that does not fit at the edge goes to the next row. Returns the row, from 0. */
unsigned wrap_place(const struct row *row, unsigned column, unsigned columns, unsigned *ret_column);
/* The column behind the text's end, which is `columns` where it fills its last row. Returns the
 * number of the line's rows. */
size_t wrap_end(const struct row *row, unsigned columns, unsigned *ret_column);

enum { WRAP_RECENT = 32 };

/* The finished rows that were printed last. Zeroed: none. */
struct wrap_recent {
	struct row rows[WRAP_RECENT]; /* a ring */
	size_t next, count;
};

/* Takes over the contents of `row`, which is empty again. */
void wrap_remember(struct wrap_recent *recent, struct row *row);
void wrap_forget(struct wrap_recent *recent);
/* Moves the last `count` rows, which are not more than there are, to the end of `rows`. */
void wrap_take_back(struct wrap_recent *recent, size_t count, struct rows *rows);
/* Finds the last row behind whose text a cursor in column `column` of a window of `columns` may
 * stand, if it went astray (screen.c). Rows from the one `*ret_down` beneath the cursor on (above
 * it, if less than 0) are the last `*ret_again` ones then, as far as they are there still. */
bool wrap_find(const struct wrap_recent *recent, unsigned column, unsigned columns,
               size_t *ret_again, int *ret_down);

#endif
