/* SPDX-License-Identifier: Apache-2.0 */
/* The whole window, on the terminal's alternate screen: a frame is all of its rows, and what is
 * written of it is what differs from the frame before.
 *
 *     struct canvas *canvas = canvas_new(term);          // the alternate screen
 *     canvas_draw(canvas, &rows, &caret);                // top to bottom; missing rows are empty
 *     canvas_redraw(canvas);                               // resized, restyled: draw all of it
 *     canvas_free(canvas);                               // the main screen, as it was
 *
 * Rows that moved up or down together are moved by the terminal (lines deleted or inserted between
 * margins), so that a line of text that scrolls in costs a line.  Every frame says where its rows
 * are, with autowrap off: whatever a resize has made of the window, the next frame after
 * canvas_redraw is right.
 *
 * Not here: how often (the caller draws at most 30 frames a second), what is in the rows.
 */
#ifndef HASP_TUI_TERM_CANVAS_H
#define HASP_TUI_TERM_CANVAS_H

#include <stdbool.h>

#include "tui/term/term.h"
#include "tui/text/rows.h"

struct canvas_caret {
	size_t row;      /* of the window, from 0 */
	unsigned column; /* likewise */
	bool hidden;
};

struct canvas;
/* On an open terminal that is not plain, which it borrows. */
struct canvas *canvas_new(struct term *term);
void canvas_free(struct canvas *canvas); /* NULL is fine */
/* Takes the rows over, clipped to the window. Nothing is written while the terminal is busy: then
 * draw them again when it is not. */
void canvas_draw(struct canvas *canvas, struct rows *rows, const struct canvas_caret *caret);
/* Nothing is known any more of what the window shows. */
void canvas_redraw(struct canvas *canvas);
/* Gives the terminal to another program, and comes back. */
void canvas_leave(struct canvas *canvas);
void canvas_return(struct canvas *canvas);

#endif
