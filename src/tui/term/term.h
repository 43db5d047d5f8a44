/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal: raw mode, what it can do, what is written to it, and how it is left behind.
 *
 *     if (!term_open(&options, &term, &err)) ...     // raw; asks what it is, does not wait
 *     term_event(term, event);                       // answers (keys.h) that are its own
 *     struct buf *frame = term_frame(term);          // append to it ...
 *     term_frame_end(term);                          // ... written as one synchronized update
 *     term_close(term);                              // as it was found, also after a signal
 *
 * Writing never blocks: what the terminal does not take at once waits in the loop, and while it
 * waits term_busy is true, and no frame should be made (frames are dropped, not queued).
 *
 * Not here: what is drawn (screen.h), what keys mean (editor/bindings.h).
 */
#ifndef HASP_TUI_TERM_TERM_H
#define HASP_TUI_TERM_TERM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/loop/loop.h"
#include "tui/term/keys.h"
#include "tui/text/rows.h"

struct term;

enum term_colours { TERM_COLOURS_NONE, TERM_COLOURS_16, TERM_COLOURS_256, TERM_COLOURS_TRUE };

struct term_options {
	struct loop *loop;                  /* borrowed */
	int in, out;                        /* descriptors of one terminal, borrowed */
	const char *theme;                  /* its name (theme.h); NULL: by the background */
	void (*event)(void *data, const struct event *event); /* keys and the like, on the loop */
	void (*resized)(void *data);        /* term_size is new */
	void (*writable)(void *data);       /* term_busy is false again */
	void *data;
};

/* IO_ERROR: it is no terminal, or cannot be set. */
bool term_open(const struct term_options *options, struct term **ret, struct err *err);
/* Puts everything back as it was and frees it; NULL is fine. Safe twice by term_restore. */
void term_close(struct term *term);
/* The same from a handler of a signal that ends the program: async-signal-safe; no memory is freed. */
void term_restore(void);
/* Gives the terminal to another program (an editor, a shell, SIGTSTP), and takes it again. */
void term_leave(struct term *term);
void term_return(struct term *term);

struct term_size { unsigned columns, rows; };
struct term_size term_size(const struct term *term);
enum term_colours term_colours(const struct term *term);
/* Whether a narrower window makes the terminal wrap lines that were printed before anew (as tmux,
 * VTE, kitty do; xterm, screen and the Linux console do not). */
bool term_reflows(const struct term *term);
bool term_kitty_keys(const struct term *term); /* its keyboard protocol is on */

/* The frame to append to: ours alone, empty. The appended bytes are written by term_frame_end, at
 * once and as a whole, within DEC 2026 where the terminal knows it. */
struct buf *term_frame(struct term *term);
void term_frame_end(struct term *term);
bool term_busy(const struct term *term);
/* Bytes written since term_open. */
uint64_t term_written(const struct term *term);
/* Appends a row's text with its colours, and no line end. */
void term_put_row(const struct term *term, struct buf *out, const struct row *row);

/* Title, progress (OSC 9;4: 0 to 100, -1 none, -2 indeterminate), a notification (OSC 9, OSC 777
 * or bell, as `how` says); foreign text is made safe. */
void term_title(struct term *term, struct span title);
void term_progress(struct term *term, int percent);
void term_notify(struct term *term, const char *how, struct span text);

/* Asks where the cursor is; EVENT_CURSOR is the answer, for screen.h. */
void term_ask_cursor(struct term *term);

#endif
