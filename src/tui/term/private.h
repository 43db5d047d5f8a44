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

struct terminal_kind {
	enum kind_by by;
	const char *name;
	unsigned facts; /* lines reflow; knows RGB; modifyOtherKeys; ask and link nothing;
	                * the cursor goes astray when lines reflow */
	const char *source;
};

/* The row of a terminal; NULL: nobody knows it. `name` is the text that `by` names. */
const struct terminal_kind *kind_find(enum kind_by by, struct span name);
/* Row `i`, for tests; NULL: no more. */
const struct terminal_kind *kind_at(size_t i);

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

/* ---- what tmux says of its window (tmux.c) ---- */

/* What a terminal was opened with. */
const struct term_options *term_opened_with(const struct term *term);

enum { LOOK_ABOVE = 40 }; /* rows of the scrollback that are looked at, at most */

struct tmux_view {
	unsigned columns, rows; /* of the window */
	unsigned row, column;   /* of the cursor, from 0 */
	size_t above;           /* rows of `text` that are in the scrollback, at its beginning */
	struct span text;       /* rows, with a line feed behind each; borrowed, and foreign */
};

struct tmux_look;
/* Asks tmux what there is in the window that is this terminal, and calls `seen` once, at most a
 * second later and not before this has returned; it calls tmux_look_stop. NULL for `look`: it was
 * not answered.
 * Returns NULL where nobody can be asked: the terminal is not a window of a tmux on this machine,
 * or the program is not found. */
struct tmux_look *tmux_look_start(const struct term *term,
                                  void (*seen)(void *data, const struct tmux_view *look),
                                  void *data);
/* Ends and frees it, NULL is fine; what `seen` was given is gone. */
void tmux_look_stop(struct tmux_look *looking);

/* ---- rows that are wrapped anew (wrap.c) ---- */

/* Where column `column` of a row's text comes to stand when its line is wrapped at `columns`: a
 * wide character that does not fit at the edge goes to the next row. Returns the row, from 0. */
unsigned wrap_place(const struct row *row, unsigned column, unsigned columns, unsigned *ret_column);
/* The column behind the text's end, which is `columns` where it fills its last row. Returns the
 * number of the line's rows. */
size_t wrap_end(const struct row *row, unsigned columns, unsigned *ret_column);

/* As many rows as a window has and as may be missing from it; how many wrap_find looks at. */
enum { WRAP_RECENT = 256, WRAP_FIND = 32 };

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
/* Finds where in a window the finished rows end that are there as they were printed: in row
 * `*ret_row` of it, from 0, the last `*ret_again` ones have to be printed again, and then the live
 * region; what stands there and beneath it is neither. `reach`: rows of the live region above the
 * cursor, if that did not go astray. False: it cannot be told. */
bool wrap_match(const struct wrap_recent *recent, const struct tmux_view *look, size_t reach,
                size_t *ret_row, size_t *ret_again);
/* Finds the last row, of WRAP_FIND, behind whose text a cursor in column `column` of a window of
 * `columns` may stand, if it went astray (screen.c) and nobody shows where it is. Rows from the one
 * `*ret_down` beneath the cursor on (above it, if less than 0) are the last `*ret_again` ones then,
 * as far as they are there still. */
bool wrap_find(const struct wrap_recent *recent, unsigned column, unsigned columns,
               size_t *ret_again, int *ret_down);

#endif
