/* SPDX-License-Identifier: Apache-2.0 */
/* What a frame of a screen writes, and where on the window that begins.
 *
 * Not here: when a frame is drawn, and what of the live region is shown (screen.c). */
#include "tui/term/private.h"

#include <string.h>

#include "base/clock.h"
#include "tui/text/width.h"

enum {
	PRINTED_BYTES_MAX = 16 << 10, /* of finished rows in one frame; the rest is in the next */
	CALM_MS = 300,                /* after a resize, where the cursor goes astray */
};

/* ---- moves ---- */

static void put_up(struct buf *out, size_t rows)
{
	if (rows)
		buf_printf(out, "\033[%zuA", rows);
}

static void put_move(struct buf *out, size_t from, size_t to)
{
	if (to < from)
		put_up(out, from - to);
	else if (to > from)
		buf_printf(out, "\033[%zuB", to - from);
}

static void put_column(struct buf *out, unsigned column)
{
	buf_char(out, '\r');
	if (column)
		buf_printf(out, "\033[%uC", column);
}

/* Erases from the cursor's row on, and leaves the cursor at its left edge. Not from the window's
 * first cell on: that is clearing the window, and tmux puts what was there into its scrollback
 * (screen_write_clearendofscreen). GNU screen keeps of an erased row that it was wrapped into the
 * next one; a row that is inserted has nothing of the kind (ansi.c: MClearArea, MScrollV). */
static void put_erase_down(struct buf *out)
{
	buf_str(out, "\r\033[K\033[C\033[J\r\033[999L");
}

/* ---- where the cursor is ---- */

/* Whether a terminal may have made more rows of what is left of the cursor: then it is asked before
 * they are counted. */
bool paint_is_uncertain(const struct screen *screen)
{
	return screen->drawn && term_reflows(screen->term) && screen->shown.column >= FIT_NARROWEST;
}

/* How many rows of the window the live region has above the cursor if lines were rewrapped. */
static size_t shown_above(const struct screen *screen)
{
	const struct screen_shown *shown = &screen->shown;
	unsigned columns = screen->answered ? screen->answer_width :
	                                      term_size(screen->term).columns;
	unsigned column, y;

	if (!paint_is_uncertain(screen))
		return shown->home;
	y = wrap_place(&shown->rows.at[shown->home], shown->column, columns, &column);
	/* Behind the last character of a full row some stay in that row. */
	if (screen->answered && column == 0 && y && screen->answer_column == columns - 1)
		y--;
	return shown->home + y;
}

size_t paint_rows_above(const struct screen *screen)
{
	const struct screen_shown *shown = &screen->shown;
	unsigned column;

	if (paint_is_uncertain(screen) && screen->answered) {
		wrap_place(&shown->rows.at[shown->home], shown->column, screen->answer_width,
		           &column);
		if (screen->answer_column != column &&
		    !(column == 0 && screen->answer_column == screen->answer_width - 1))
			return shown->home; /* nothing wrapped: these lines were cut */
	}
	return shown_above(screen);
}

/* ---- a cursor that went astray ---- */

/*
 * tmux keeps the cursor in its line by counting lines from the top of the scrollback; where it
 * joins three rows or more and the last of them begins with a wide character that does not fit, one
 * line becomes two, and the cursor comes to stand a line higher (grid.c: grid_reflow_join, still in
  * 2026).  The cursor was behind the text of its line and is now behind the text of a different
  * line, which is found by its length.  Everything printed after that line is below the cursor, or
  * was deleted when the window was made lower (tmux's screen.c: screen_resize_y); so it can be
  * erased and printed again.
 *
 * Several lines may end in one column.  So after a resize hasp asks tmux for the contents of the
  * window (tmux.c) and compares them with what it printed (wrap_match); the column decides where
  * tmux cannot be asked.
 *
 * No escape sequence keeps tmux from this.  A cursor is counted down from the top of the
 * scrollback, whatever row it is in, and any line in there may be halved, also one of a program
 * before us.  Of our own only such are safe as have no wide character behind column 38.
 */

static unsigned blanks_behind(const struct row *row)
{
	struct span text = buf_view(&row->text);
	unsigned blanks = 0;

	for (; text.len && text.data[text.len - 1] == ' '; text.len--)
		blanks++;
	return blanks;
}

bool paint_strayed(const struct screen *screen)
{
	const struct screen_shown *shown = &screen->shown;
	const unsigned columns = screen->answer_width;
	unsigned column, y;

	if (!screen->drawn || !screen->answered || !term_strays(screen->term))
		return false;
	if (shown->marked)
		return screen->answer_column != shown->column;
	y = wrap_place(&shown->rows.at[shown->home], shown->column, columns, &column);
	if (y && !column)
		return screen->answer_column && screen->answer_column + 1 < columns;
	/* Blanks at the end of a text may have been dropped. */
	return screen->answer_column > column ||
	       screen->answer_column + blanks_behind(&shown->rows.at[shown->home]) < column;
}

/* Queues the rows that were printed last again. */
static void queue_again(struct screen *screen, size_t count)
{
	struct rows queue = { 0 };

	wrap_take_back(&screen->recent, count, &queue);
	for (size_t i = screen->printed; i < screen->queue.count; i++)
		rows_take(&queue, &screen->queue.at[i]);
	rows_release(&screen->queue);
	screen->queue = queue;
	screen->printed = 0;
	screen->again += count;
}

/* Whether tmux has shown where finished rows end. */
bool paint_is_seen(const struct screen *screen)
{
	return screen->answered && screen->look.columns;
}

/* Moves to the first row of the live region, or to where finished rows must be printed again; if
 * that is unknown, to a new row at the end. */
static void put_first_row(struct screen *screen, struct buf *out)
{
	const struct screen_shown *shown = &screen->shown;
	size_t again;
	unsigned end;
	int down;

	if (paint_is_seen(screen)) {
		if (screen->look_row < screen->look.rows)
			put_move(out, screen->look.row, screen->look_row);
		else
			buf_str(out, "\033[999B\r\n");
		queue_again(screen, screen->look_again);
		return;
	}
	if (!paint_strayed(screen)) {
		put_up(out, paint_rows_above(screen));
		return;
	}
	for (size_t i = shown->home; i--;) {
		size_t rows = wrap_end(&shown->rows.at[i], screen->answer_width, &end);

		if (end == screen->answer_column) {
			put_up(out, i + rows - 1);
			return;
		}
	}
	if (!wrap_find(&screen->recent, screen->answer_column, screen->answer_width, &again,
	               &down)) {
		buf_str(out, "\033[999B\r\n");
		return;
	}
	screen->room = screen->answer_row;
	if (down > 0)
		buf_str(out, "\r\n");
	else
		put_up(out, (size_t)-down);
	queue_again(screen, again);
}

/* ---- frames ---- */

/* Whether tmux may be about to report another size: a frame can reach a window that has changed
 * since the frame was made.  If that takes finished rows away they can be printed
 * again as long as no others were printed beneath them, and where some are there to begin with. */
bool paint_is_calming(const struct screen *screen)
{
	return term_strays(screen->term) && screen->resized_ms && screen->recent.count &&
	       clock_monotonic_ms() - screen->resized_ms < CALM_MS;
}

/* Finished rows, as many as a frame takes; `new`: also those that were never printed. */
static void put_finished(struct screen *screen, struct buf *out, bool new)
{
	size_t start = out->len;

	while (screen->printed < screen->queue.count && (new || screen->again) &&
	       out->len - start < PRINTED_BYTES_MAX) {
		struct row *row = &screen->queue.at[screen->printed++];

		screen->again -= screen->again > 0;
		term_put_finished(screen->term, out, row);
		buf_str(out, "\r\n");
		wrap_remember(&screen->recent, row);
		screen->room++;
		screen->streamed_ms = clock_monotonic_ms();
	}
	if (screen->printed == screen->queue.count) {
		rows_release(&screen->queue);
		screen->printed = 0;
	}
}

/* From the beginning of the live region's first row on: rows beneath each other, each of them one
 * row of the window whatever its width is by now. */
static void put_live(struct screen *screen, struct buf *out, const struct screen_shown *next)
{
	buf_str(out, "\033[?7l");
	for (size_t i = 0; i < next->rows.count; i++) {
		if (i)
			buf_str(out, "\r\n");
		term_put_row(screen->term, out, &next->rows.at[i]);
	}
	buf_str(out, "\033[?7h");
	put_up(out, next->rows.count - 1 - next->home);
	put_column(out, next->column);
}

void paint_all(struct screen *screen, struct buf *out, const struct screen_shown *next)
{
	if (screen->drawn)
		put_first_row(screen, out);
	put_erase_down(out);
	put_finished(screen, out, !paint_is_calming(screen));
	put_live(screen, out, next);
}

/* Only the rows that differ; the caret stays in its row of the live region. The cursor is put back
 * where it was and not moved back: should the window be lower than it was, moves down end early. */
void paint_difference(struct screen *screen, struct buf *out, const struct screen_shown *next)
{
	const struct screen_shown *shown = &screen->shown;
	unsigned columns = term_size(screen->term).columns;
	size_t at = shown->home;

	buf_str(out, "\0337\033[?7l");
	for (size_t i = 0; i < next->rows.count; i++) {
		const struct row *row = &next->rows.at[i];

		if (row_same(row, &shown->rows.at[i]))
			continue;
		put_move(out, at, i);
		at = i;
		buf_char(out, '\r');
		term_put_row(screen->term, out, row);
		buf_str(out, row->width < columns ? "\033[K" : "");
	}
	if (shown->rows.count > next->rows.count) {
		put_move(out, at, next->rows.count);
		buf_str(out, "\r\033[J");
	}
	buf_str(out, "\033[?7h\0338");
	put_column(out, next->column);
}

/* A terminal without escape sequences: the caret's row alone, written over and over. */
void paint_plain(struct screen *screen, struct buf *out, struct screen_shown *next)
{
	struct row *row = &next->rows.at[next->home];
	struct cluster cluster;
	struct span rest;
	unsigned at = 0;

	row_clip(row, term_size(screen->term).columns - 1);
	rest = buf_view(&row->text);
	if (screen->drawn && screen->shown.rows.count) {
		buf_char(out, '\r');
		for (unsigned i = screen->shown.rows.at[screen->shown.home].width; i; i--)
			buf_char(out, ' ');
		buf_char(out, '\r');
	}
	put_finished(screen, out, true);
	term_put_row(screen->term, out, row);
	if (next->column < row->width) {
		buf_char(out, '\r');
		while (at < next->column && cluster_next(&rest, &cluster)) {
			buf_span(out, cluster.bytes);
			at += cluster.width;
		}
	}
}

void paint_erased(struct screen *screen, struct buf *out)
{
	if (term_plain(screen->term)) {
		if (screen->drawn)
			buf_str(out, "\r\n");
	} else {
		if (screen->drawn)
			put_first_row(screen, out);
		put_erase_down(out);
	}
	screen->drawn = false;
	put_finished(screen, out, true);
}
