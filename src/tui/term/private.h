/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: facts about terminals by their names and answers, how a terminal is
 * restored, what becomes of rows when a terminal rewraps them, and the state that two files share.
 *
 * To add a terminal: a row in the table of kinds.c, with the source of what it says.
 */
#ifndef HASP_TUI_TERM_PRIVATE_H
#define HASP_TUI_TERM_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "tui/term/keys.h"
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

/* The row of a terminal; NULL: unknown. `name` is the text that `by` names. */
const struct terminal_kind *kind_find(enum kind_by by, struct span name);
/* Row `i`, for tests; NULL: no more. */
const struct terminal_kind *kind_at(size_t i);

/* ---- the terminal as it was found (restore.c) ---- */

enum { RESTORE_BYTES_MAX = 256 };

/* Whether a terminal is open in this process. */
bool restore_is_armed(void);
/* Saves the modes of `in`. IO_ERROR. */
bool restore_save(int in, struct err *err);
/* Opens what a handler of a signal writes to: `out` by another descriptor, so that writing never
 * blocks. restore_close closes it and forgets everything. */
void restore_open(int out);
void restore_close(void);
/* What a handler writes, at most RESTORE_BYTES_MAX bytes; copied. */
void restore_bytes(struct span bytes);
/* From now on a fatal signal restores the terminal; until restore_disarm or restore_close. */
void restore_arm(void);
void restore_disarm(void);
/* Passes on single keys. IO_ERROR. */
bool restore_set_raw(struct err *err);
/* Sets the saved modes. */
void restore_modes(void);

enum { FIT_NARROWEST = 20 }; /* columns of a window, after a sudden resize */

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
/* Asks tmux for the contents of the window that is this terminal, and calls `seen` once, at most a
 * second later and not before this has returned; `seen` must call tmux_look_stop. NULL for `look`:
  * there was no answer. Returns NULL if the terminal is not a window of a tmux on this machine, or
  * the program is not found. */
struct tmux_look *tmux_look_start(const struct term *term,
                                  void (*seen)(void *data, const struct tmux_view *look),
                                  void *data);
/* Ends and frees it, and what `seen` was given; NULL is fine. */
void tmux_look_stop(struct tmux_look *looking);

/* ---- rows that are rewrapped (wrap.c) ---- */

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
/* Finds where in a window the finished rows end that are still as they were printed: the last
  * `*ret_again` rows must be printed again from row `*ret_row` on, counted from 0, and the live
  * region after them. `reach`: rows of the live region above the cursor, if the cursor did not go
  * astray. False: unknown. */
bool wrap_match(const struct wrap_recent *recent, const struct tmux_view *look, size_t reach,
                size_t *ret_row, size_t *ret_again);
/* Finds the last row, of WRAP_FIND, behind whose text a cursor in column `column` of a window of
 * `columns` may stand, if it went astray (paint.c) and tmux cannot show where. Rows from the one
 * `*ret_down` beneath the cursor on (above it, if less than 0) are the last `*ret_again` ones then,
 * as far as they are there still. */
bool wrap_find(const struct wrap_recent *recent, unsigned column, unsigned columns,
               size_t *ret_again, int *ret_down);

/* ---- the state of the decoder of keys, and whole sequences (keys.c) ---- */

enum {
	SEQUENCE_MAX = 512,   /* CSI, SS3: with text of a whole cluster */
	ANSWER_MAX = 8192,    /* OSC, DCS (a packet of OSC 5522: 5,600); longer are dropped */
	PARAMS_MAX = 16,
	MODS_CONTROL = KEY_CTRL | KEY_ALT | KEY_META,
	MOUSE_WHEEL = 64,     /* the button that is the wheel turned up; down is one more */
	MOUSE_MODS = 4 | 8 | 16,
};

enum keys_state {
	KEYS_GROUND,
	KEYS_UTF8,    /* in a character of several bytes */
	KEYS_ESC,     /* behind an Esc */
	KEYS_CSI,     /* behind Esc [ */
	KEYS_SS3,     /* behind Esc O */
	KEYS_LINUX,   /* behind Esc [ [: one letter */
	KEYS_MOUSE,   /* behind Esc [ M: three bytes */
	KEYS_STRING,  /* in an OSC, DCS, SOS, PM or APC */
	KEYS_STRING_ESC,
	KEYS_PASTE,
};

struct keys {
	void (*event)(void *data, const struct event *event);
	void *data;
	enum keys_state state;
	bool alt;              /* an Esc stood before the sequence */
	bool flushed;          /* its time was up: it is dropped when it is whole */
	unsigned expects_cursor; /* answers */
	char character[4];     /* KEYS_UTF8 */
	unsigned have, need;
	unsigned mouse;        /* bytes still to be dropped */
	struct buf sequence;   /* what came behind the Esc */
	struct buf paste;
	unsigned mark;         /* bytes of the end of a paste that are there */
	bool paste_cr, paste_cut;
};

/* ---- the state of a screen, and what a frame writes (paint.c, for screen.c) ---- */

/* What the terminal shows beneath the finished rows. The cursor rests in row `home`. */
struct screen_shown {
	struct rows rows;
	size_t home;
	unsigned column;
	bool marked; /* it rests behind a mark (put_mark) */
	bool hidden; /* the cursor; the caret may be drawn instead */
};

struct screen {
	struct term *term;
	struct rows queue;      /* finished, and not printed yet */
	size_t printed;         /* of them */
	size_t again;           /* so many of the next ones were printed before */
	struct live live;       /* as it should be */
	bool live_changed;
	struct screen_shown shown;
	bool drawn;             /* something is shown */
	bool held;              /* something else is, on the other screen */
	bool stale_all;         /* the whole live region must be drawn again */
	unsigned asked;         /* answers to come: where the cursor is, how wide the window is */
	unsigned stale;         /* answers to come to what was asked before */
	bool unsure;            /* lines were rewrapped: ask before a frame */
	bool answered;
	unsigned answer_row, answer_column; /* from 0 */
	unsigned answer_width, answer_height;
	unsigned retries;       /* the window's width differs from the reported one */
	bool retrying;          /* no frame until the timer fires */
	struct tmux_look *looking; /* tmux is asked what there is */
	bool looked;            /* as far as it can be: not again before the next frame */
	struct tmux_view look;       /* columns 0: nothing is known by it; its text is freed */
	size_t look_row, look_again; /* what wrap_match made of it */
	size_t room;            /* rows of the window above the live region, at least */
	struct wrap_recent recent;   /* to know where a cursor that went astray is */
	unsigned mark;          /* where the cursor rests in a blank row */
	uint64_t last_ms, streamed_ms, resized_ms;
	uint64_t sized_ms;      /* likewise, or when it began */
	uint64_t key_ms;        /* when a key last caused a whole frame immediately */
	struct loop_timer *timer, *answer_timer, *stream_timer;
};

/* Appends all of the live region to *out, finished rows above it. */
void paint_all(struct screen *screen, struct buf *out, const struct screen_shown *next);
/* Appends only the rows that differ from those shown; the first row and the caret's stay where they
 * are. */
void paint_difference(struct screen *screen, struct buf *out, const struct screen_shown *next);
/* Appends the caret's row, for a terminal without escape sequences. */
void paint_plain(struct screen *screen, struct buf *out, struct screen_shown *next);
/* Removes the live region and appends finished rows, as many as fit into a frame. */
void paint_erased(struct screen *screen, struct buf *out);

/* Whether the terminal may have wrapped the text left of the cursor: then its place must be asked
 * for before rows are counted. */
bool paint_is_uncertain(const struct screen *screen);
/* Whether the answers show that the cursor went astray when tmux rewrapped lines. */
bool paint_strayed(const struct screen *screen);
/* Whether tmux has shown where finished rows end. */
bool paint_is_seen(const struct screen *screen);
/* Whether the window may still be changing, so that only rows printed before are printed. */
bool paint_is_calming(const struct screen *screen);
/* How many rows of the window the live region has above the cursor. */
size_t paint_rows_above(const struct screen *screen);

#endif
