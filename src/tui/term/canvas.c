/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/term/canvas.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	MOVED_MIN = 4, /* rows that are worth moving */
};

struct canvas {
	struct term *term;
	struct rows shown;   /* one for each row of the window */
	struct canvas_caret caret;
	enum term_mouse mouse; /* when the terminal was given away */
	bool drawn;          /* `shown` is what the window shows */
};

/* ---- moved rows --------------------------------------------------------------- */

/* Rows [from, from + count) of the window move up by `by` rows (or down). */
struct canvas_move {
	size_t from, count, by;
	bool up;
	size_t gain; /* rows that need not be written for it */
};

static uint64_t row_hash(const struct row *row)
{
	uint64_t hash = 14695981039346656037u;

	for (size_t i = 0; i < row->text.len; i++)
		hash = (hash ^ (unsigned char)row->text.data[i]) * 1099511628211u;
	return hash;
}

/* The longest run of rows that are `by` rows farther up (down) in the next frame. */
static void moved_run(const uint64_t *old, const uint64_t *new, size_t count,
                      struct canvas_move *best, size_t by, bool up)
{
	const size_t shown = up ? by : 0, next = up ? 0 : by;
	size_t from = 0, gain = 0;

	for (size_t i = 0; i + by <= count; i++) {
		const bool same = i + by < count && old[i + shown] == new[i + next];

		if (same) {
			gain += old[i + next] != new[i + next];
			continue;
		}
		if (gain > best->gain)
			*best = (struct canvas_move){ from + shown, i - from, by, up, gain };
		from = i + 1;
		gain = 0;
	}
}

static struct canvas_move moved_most(const struct rows *shown, const struct rows *next)
{
	const size_t count = next->count;
	_cleanup_free_ uint64_t *old = mem_alloc(count, sizeof(*old));
	_cleanup_free_ uint64_t *new = mem_alloc(count, sizeof(*new));
	struct canvas_move best = { 0 };
	size_t differ = 0;

	for (size_t i = 0; i < count; i++) {
		old[i] = row_hash(&shown->at[i]);
		new[i] = row_hash(&next->at[i]);
		differ += old[i] != new[i];
	}
	for (size_t by = 1; differ >= MOVED_MIN && by < count; by++) {
		moved_run(old, new, count, &best, by, /* up= */ true);
		moved_run(old, new, count, &best, by, /* up= */ false);
	}
	return best;
}

/* Moves them, in the window and in `shown`; what they leave behind is empty. */
static void move_rows(struct canvas *canvas, const struct canvas_move *move, struct buf *out)
{
	struct row *rows = canvas->shown.at;
	const size_t top = move->up ? move->from - move->by : move->from;
	const size_t bottom = move->up ? move->from + move->count :
	                                 move->from + move->count + move->by;
	const size_t lost = move->up ? top : move->from + move->count;
	const size_t empty = move->up ? move->from + move->count - move->by : move->from;

	buf_printf(out, "\033[%zu;%zur\033[%zu;1H\033[%zu%c\033[r", top + 1, bottom, top + 1,
	           move->by, move->up ? 'M' : 'L');
	for (size_t i = 0; i < move->by; i++)
		row_release(&rows[lost + i]);
	memmove(&rows[move->up ? top : move->from + move->by], &rows[move->from],
	        move->count * sizeof(*rows));
	memset(&rows[empty], 0, move->by * sizeof(*rows));
}

/* ---- frames ------------------------------------------------------------------- */

/* As many rows as the window has, none wider than it. */
static void fit_rows(struct rows *rows, struct term_size size)
{
	while (rows->count > size.rows)
		row_release(&rows->at[--rows->count]);
	while (rows->count < size.rows)
		rows_add(rows);
	for (size_t i = 0; i < rows->count; i++)
		row_clip(&rows->at[i], size.columns);
}

/* The rows that differ, or all.  Then each is erased before: a wide character that a resize has cut
 * leaves something invisible behind in tmux that takes a neighbour's place with it later.  A row
 * right beneath the last that was written is a line feed away. */
static bool canvas_put_rows(const struct canvas *canvas, const struct rows *next, unsigned columns,
                     struct buf *out)
{
	bool any = false, above = false;

	for (size_t i = 0; i < next->count; i++) {
		const struct row *row = &next->at[i];

		if (canvas->drawn && row_same(row, &canvas->shown.at[i])) {
			above = false;
			continue;
		}
		buf_str(out, any ? "" : "\033[?7l");
		if (above)
			buf_str(out, "\r\n");
		else
			buf_printf(out, "\033[%zu;1H", i + 1);
		buf_str(out, canvas->drawn ? "" : "\033[2K");
		term_put_row(canvas->term, out, row);
		buf_str(out, canvas->drawn && row->width < columns ? "\033[K" : "");
		any = above = true;
	}
	buf_str(out, any ? "\033[?7h" : "");
	return any;
}

void canvas_draw(struct canvas *canvas, struct rows *rows, const struct canvas_caret *caret)
{
	const struct term_size size = term_size(canvas->term);
	struct buf *out;

	if (term_busy(canvas->term)) {
		rows_release(rows);
		return;
	}
	fit_rows(rows, size);
	canvas->drawn = canvas->drawn && canvas->shown.count == rows->count;
	out = term_frame(canvas->term);
	if (canvas->drawn) {
		const struct canvas_move move = moved_most(&canvas->shown, rows);

		if (move.gain >= MOVED_MIN)
			move_rows(canvas, &move, out);
	}
	if (canvas_put_rows(canvas, rows, size.columns, out) || out->len ||
	    caret->row != canvas->caret.row || caret->column != canvas->caret.column)
		buf_printf(out, "\033[%zu;%uH",
		           caret->row < size.rows ? caret->row + 1 : size.rows,
		           caret->column < size.columns ? caret->column + 1 : size.columns);
	term_show_cursor(canvas->term, !caret->hidden);
	term_frame_end(canvas->term);
	rows_release(&canvas->shown);
	canvas->shown = *rows;
	*rows = (struct rows){ 0 };
	canvas->caret = *caret;
	canvas->drawn = true;
}

void canvas_redraw(struct canvas *canvas)
{
	canvas->drawn = false;
}

/* ---- life --------------------------------------------------------------------- */

struct canvas *canvas_new(struct term *term)
{
	struct canvas *canvas = mem_alloc(1, sizeof(*canvas));

	canvas->term = term;
	term_alternate_begin(term);
	return canvas;
}

void canvas_free(struct canvas *canvas)
{
	if (!canvas)
		return;
	term_set_mouse(canvas->term, TERM_MOUSE_FOUND);
	term_alternate_end(canvas->term);
	term_show_cursor(canvas->term, true);
	term_frame(canvas->term);
	term_frame_end(canvas->term);
	rows_release(&canvas->shown);
	free(canvas);
}

void canvas_leave(struct canvas *canvas)
{
	canvas->mouse = term_mouse(canvas->term);
	term_leave(canvas->term);
}

void canvas_return(struct canvas *canvas)
{
	term_return(canvas->term);
	term_alternate_begin(canvas->term);
	term_set_mouse(canvas->term, canvas->mouse);
	canvas->drawn = false;
}
