/* SPDX-License-Identifier: Apache-2.0 */
/* The inline screen: finished rows go into the terminal's own scrollback, once; a live region
 * beneath them is drawn again and again.
 *
 *     struct screen *screen = screen_new(term);
 *     screen_print(screen, &rows);             // finished: printed once, never touched again
 *     screen_live(screen, &live);              // what stands beneath from now on
 *     screen_frame(screen);                    // writes what differs; at most 30 times a second
 *     screen_resized(screen);
 *     screen_free(screen);                     // the live region is gone, the cursor beneath
 *
 * How resizing is kept from repeating, losing or tearing what was printed: a terminal moves lines
 * when its width changes, and bytes on their way are read at a width that their writer did not
 * know.  So nothing here depends on a width.  Between two frames the cursor stands at the caret;
 * the rows of the live region above the caret's row are *narrow*: at most SCREEN_NARROW columns,
 * less than any terminal has, so that no terminal ever wraps one.  A frame goes up by their
 * number, erases everything below, prints the finished rows and draws the live region again,
 * downwards, with autowrap off, so that each of its rows is one row of the window; what is wide
 * stands beneath the caret, where erasing takes it whatever became of it.  At the first signal of
 * a resize what is beneath the caret is erased at once.  A finished row is one line of the
 * terminal: printed with autowrap on, so that nothing of it is cut should the window be narrower
 * than was known.
 *
 * Only rows of a draft of several lines, and a caret that is far to the right, may be wide above
 * the cursor.  Then, on a terminal that wraps lines anew (term_reflows), it is asked where its
 * cursor is and how wide it is before a frame counts rows, and what it makes of the draft is
 * computed.  A resize between that answer and the frame, a millisecond or two, is what cannot be
 * excluded: such a frame may leave rows of the draft above it.  test/tui/term/resize_fuzz.py
 * measures it.
 *
 * What no program can undo: a terminal that wraps what is beneath the caret into more rows than the
 * window has pushes the caret out, so rows beneath it are clipped for that (not those of a
 * question, live.whole), which cannot help while the window is still empty beneath them; and a
 * terminal that keeps the lower rows of a window made lower than the live region (libvterm does)
 * has pushed its upper rows into the scrollback.
 *
 * Measured with random sizes of 20 to 400 x 8 to 60 in storms, while rows stream (sessions wrong of
 * all; resizes): libvterm 3 of 179 (2,323), all with drafts too wide for the window; tmux 3.3a with
 * a narrow draft 12 of 158 (2,149), of which 7 left rows of the live region and 5 took the end of
 * the last finished rows with them (why is not known), and with drafts of all kinds 29 of 158
 * (2,033); resizes 0.4 s apart, 0 of 32 (132).  tmux reports a new size up to 250 ms after it
 * wrapped its lines.
 */
#ifndef HASP_TUI_TERM_SCREEN_H
#define HASP_TUI_TERM_SCREEN_H

#include <stdbool.h>

#include "tui/term/term.h"
#include "tui/text/rows.h"

enum { SCREEN_NARROW = 19, SCREEN_FRAME_MS = 33 };

/* The live region, top to bottom. Rows above `caret_row` that are wider than SCREEN_NARROW must be
 * rows of the draft. All is clipped to the window; when it has more rows than the window, rows at
 * the end are left out. */
struct live {
	struct rows rows;
	size_t caret_row;
	unsigned caret_column; /* from 0 */
	bool caret_hidden;
	bool whole; /* a question: rows beneath the caret are not clipped for a resize's sake */
};

struct screen;
/* A screen on an open terminal, which it borrows; nothing is shown until the first frame. */
struct screen *screen_new(struct term *term);
void screen_free(struct screen *screen); /* NULL is fine */

/* Queues finished rows; they are taken over, *rows is empty. */
void screen_print(struct screen *screen, struct rows *rows);
/* Replaces the live region by *live, whose rows are taken over. */
void screen_live(struct screen *screen, struct live *live);
/* Whether something differs from what the terminal shows. */
bool screen_dirty(const struct screen *screen);
/* Writes one frame, if something differs and the terminal takes bytes. */
void screen_frame(struct screen *screen);
/* The same for what a key changed, at once and without printing, however young the last frame is: a
 * few bytes. */
void screen_key_frame(struct screen *screen);
/* The window has another size (live rows are the caller's to make anew). */
void screen_resized(struct screen *screen);
/* EVENT_CURSOR goes here. */
void screen_cursor(struct screen *screen, const struct event *event);
/* Clears the window and its scrollback is left alone (Ctrl+L). */
void screen_clear(struct screen *screen);
/* Takes the live region away and gives the terminal away (editor, Ctrl+Z); and comes back. */
void screen_leave(struct screen *screen);
void screen_return(struct screen *screen);

#endif
