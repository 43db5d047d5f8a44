/* SPDX-License-Identifier: Apache-2.0 */
/* The inline screen: finished rows go into the terminal's own scrollback, once; a live region
 * beneath them is drawn again and again.
 *
 *     struct screen *screen = screen_new(term);
 *     screen_print(screen, &rows);             // finished: printed once, never touched again
 *     screen_live(screen, &live);              // what stands beneath from now on
 *     screen_frame(screen);                    // writes what differs; at most 30 times a second
 *     screen_resized(screen);
 *     screen_free(screen);                     // removes the live region; the cursor is beneath
 *
 * How resizing is kept from repeating, losing or tearing what was printed: a terminal moves lines
 * when its width changes, and bytes on their way are read at a width that their writer did not
 * know (tmux reports a new size up to 250 ms after it has wrapped its lines).  So nothing here
 * depends on a width.  Between two frames the cursor rests in the first row of the draft, above
 * which there are empty rows at most, which no terminal wraps.  A frame goes up by their number,
 * erases everything below, prints the finished rows and draws the live region again, downwards,
 * with autowrap off, so that each of its rows is one row of the window; what is wide stands beneath
 * the cursor, where erasing takes it whatever became of it.  A finished row is one line of the
 * terminal: printed with autowrap on, so that nothing of it is cut should the window be narrower
 * than was known.
 *
 * The caret itself is often farther on: in a lower row of the draft, or right of column 20, where
 * a narrow window would wrap what is left of it.  While rows are printed, and for a second after
 * that, it is drawn in reverse then and the cursor is hidden; otherwise the cursor is at the caret
 * whenever that is in the first row, and is asked for before a frame counts rows.  Terminals that
 * cut lines (term_reflows) have it at the caret always.
 *
 * A terminal that rewraps the live region pushes as many rows out at the top, first those above
 * the live region.  What is shown of it is so much that there are enough of these even if
 * the window is suddenly 20 columns wide: of a long draft fewer rows, the caret's always, as wide
 * as screen_draft_columns says; rows beneath are clipped.  Not those of a question (live.whole);
 * more than four of them keep 76 columns in a window of usual height.  A window that gets lower
 * than the live region while a frame is under way can leave rows in the scrollback: one that is
 * known to be lower gets none until its size is known.
 *
 * tmux loses the line of its cursor when it joins three rows at a wide character (screen.c, "a
 * cursor that went astray"): its place is asked for before every frame, and its column shows it.
 * Where it does not rest at the caret, it rests behind blanks in the blank row above the draft: at
 * the beginning of a row its column would show nothing.  After a resize a tmux on this machine is
 * asked what there is in the window (tmux.c), and finished rows that are missing above the live
 * region, or have something between them, are printed again from there on.  For 300 ms no new ones
 * are: tmux may have another size to tell, and a frame that it read meanwhile takes away what still
 * stands at the end of the window.
 *
 * Measured by script/resize-fuzz: see test/tui/term/resize_fuzz.py.
 */
#ifndef HASP_TUI_TERM_SCREEN_H
#define HASP_TUI_TERM_SCREEN_H

#include <stdbool.h>

#include "tui/term/term.h"
#include "tui/text/rows.h"

enum { SCREEN_FRAME_MS = 33 };

/* The live region, top to bottom: empty rows if any, the rows of a draft or of a question with the
 * caret, and the rows beneath. All is clipped to the window, and the rows beneath so that
 * they do no harm when the window is suddenly narrow; rows of a long draft that are far from the
 * caret, and when there are more rows than the window has, rows at the end are left out. */
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

/* The widest that a row of a draft should be: as wide as the window or, with few rows above the
 * live region or in a low window, so wide that it stays in a window that is suddenly narrow. */
unsigned screen_draft_columns(const struct screen *screen);
/* Queues finished rows; they are taken over, *rows is empty. */
void screen_print(struct screen *screen, struct rows *rows);
/* Replaces the live region by *live, whose rows are taken over. */
void screen_live(struct screen *screen, struct live *live);
/* Writes one frame, if something differs and the terminal takes bytes. */
void screen_frame(struct screen *screen);
/* The same for what a key changed, immediately, however recent the last frame is: a few bytes,
 * without printing. Where the key adds a row it is a whole frame, at most 30 of these a second. */
void screen_key_frame(struct screen *screen);
/* While it is held nothing is written: something else is shown on the alternate screen. Afterwards
 * a frame is the caller's to ask for. */
void screen_hold(struct screen *screen);
void screen_resume(struct screen *screen);
/* The window's size has changed (the caller makes the live rows again). */
void screen_resized(struct screen *screen);
/* EVENT_CURSOR goes here. */
void screen_cursor(struct screen *screen, const struct event *event);
/* Clears the window; what it showed is in the scrollback (Ctrl+L). */
void screen_clear(struct screen *screen);
/* Clears the window and, where the terminal can, the scrollback (/clear). */
void screen_forget(struct screen *screen);
/* Takes the live region away and gives the terminal away (editor, Ctrl+Z); and comes back. */
void screen_leave(struct screen *screen);
void screen_return(struct screen *screen);

#endif
