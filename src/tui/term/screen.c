/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/term/screen.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/loop/loop.h"
#include "tui/term/private.h"
#include "tui/text/width.h"

enum {
	ROOM_CLEARED = 3,          /* blank rows above, so that rows beneath may be wide */
	PRINTED_BYTES_MAX = 16 << 10, /* of finished rows in one frame; the rest is in the next */
	ANSWER_MS = 300,           /* for where the cursor is; then the likeliest is taken */
	RETRY_MS = 60,             /* tmux tells a program of its new size up to 250 ms later */
	RETRIES_MAX = 8,
	CALM_MS = 300,             /* after a resize, where the cursor goes astray */
	STREAM_MS = 1000,          /* finished rows come until so long after the last one */
	NARROWEST = FIT_NARROWEST,
};

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
	bool anew;              /* all of it has to be drawn again */
	unsigned asked;         /* answers to come: where the cursor is, how wide the window is */
	unsigned stale;         /* answers to come to what was asked before */
	bool unsure;            /* lines were wrapped anew: ask before a frame */
	bool answered;
	unsigned answer_row, answer_column; /* from 0 */
	unsigned answer_width, answer_height;
	unsigned retries;       /* the window has a width that we were not told of */
	bool retrying;          /* until the timer fires, whoever wants a frame */
	struct tmux_look *looking; /* tmux is asked what there is */
	bool looked;            /* as far as it can be: not again before the next frame */
	struct tmux_view look;       /* columns 0: nothing is known by it; its text is gone */
	size_t look_row, look_again; /* what wrap_match made of it */
	size_t room;            /* rows of the window above the live region, at least */
	struct wrap_recent recent;   /* to know where a cursor that went astray is */
	unsigned mark;          /* where the cursor rests in a blank row */
	uint64_t last_ms, streamed_ms, resized_ms;
	uint64_t key_ms;        /* when a key last had a whole frame at once */
	struct loop_timer *timer, *answer_timer, *stream_timer;
};

/* ---- layout ---- */

static bool is_streaming(const struct screen *screen)
{
	return screen->printed < screen->queue.count ||
	       (screen->streamed_ms &&
	        clock_monotonic_ms() - screen->streamed_ms < STREAM_MS);
}

/* The character at the caret in reverse, when the cursor itself rests elsewhere. */
static void draw_caret(struct row *row, unsigned column, unsigned columns)
{
	row_pad(row, column + 1 < columns ? column + 1 : columns, STYLE(ROLE_TEXT));
	row_mark_at(row, column, MARK_REVERSE);
}

/* A column for the mark behind which no finished row ends: kept as long as that is so. */
static unsigned mark_column(struct screen *screen, unsigned columns)
{
	size_t again;
	int down;

	for (unsigned i = 0; i < NARROWEST; i++) {
		if (screen->mark && !wrap_find(&screen->recent, screen->mark, columns, &again,
		                               &down))
			break;
		screen->mark = screen->mark % (NARROWEST - 1) + 1;
	}
	return screen->mark;
}

/* Where the cursor rests between frames. On a terminal that wraps lines anew nothing that it could
 * wrap is above the cursor or left of it while rows stream; the caret is drawn then, if it is
 * there. Where the cursor may go astray it stands behind a text of its own, that is not seen:
 * blanks that tmux keeps, as they are bold. */
static void choose_rest(struct screen *screen, struct screen_shown *ret, size_t caret,
                        unsigned column, struct term_size size)
{
	size_t first = fit_blank_rows(&ret->rows, caret);
	bool strays = term_strays(screen->term);
	/* Within a text nothing tells that it went astray. */
	bool told = !strays || column >= ret->rows.at[caret].width;

	ret->home = caret;
	ret->column = column;
	ret->hidden = screen->live.caret_hidden;
	if (!term_reflows(screen->term) || term_plain(screen->term) ||
	    (caret == first && ((column < NARROWEST && told) || !is_streaming(screen))))
		return;
	if (!ret->hidden)
		draw_caret(&ret->rows.at[caret], column, size.columns);
	ret->home = first;
	ret->column = 0;
	ret->hidden = true;
	if (strays && first) {
		ret->home = first - 1;
		ret->column = mark_column(screen, size.columns);
		ret->marked = true;
		row_pad(&ret->rows.at[ret->home], ret->column, STYLE_BOLD(ROLE_TEXT));
	}
}

/* The terminal as it is, for fit.c. */
static struct fit screen_fit(const struct screen *screen)
{
	return (struct fit){ .size = term_size(screen->term), .room = screen->room,
		             .reflows = term_reflows(screen->term),
		             .strays = term_strays(screen->term) };
}

/* What is to be shown of the live region. */
static void lay_out(struct screen *screen, struct screen_shown *ret)
{
	const struct live *live = &screen->live;
	const struct fit fit = screen_fit(screen);
	size_t caret;

	*ret = (struct screen_shown){ .hidden = live->caret_hidden };
	caret = fit_live(&fit, live, &ret->rows);
	if (live->rows.count)
		choose_rest(screen, ret, caret,
		            live->caret_column < fit.size.columns ? live->caret_column :
		                                                    fit.size.columns - 1,
		            fit.size);
}

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
static bool is_uncertain(const struct screen *screen)
{
	return screen->drawn && term_reflows(screen->term) && screen->shown.column >= NARROWEST;
}

/* How many rows of the window the live region has above the cursor; if lines are wrapped anew. */
static size_t shown_above(const struct screen *screen)
{
	const struct screen_shown *shown = &screen->shown;
	unsigned columns = screen->answered ? screen->answer_width :
	                                      term_size(screen->term).columns;
	unsigned column, y;

	if (!is_uncertain(screen))
		return shown->home;
	y = wrap_place(&shown->rows.at[shown->home], shown->column, columns, &column);
	/* Behind the last character of a full row some stay in that row. */
	if (screen->answered && column == 0 && y && screen->answer_column == columns - 1)
		y--;
	return shown->home + y;
}

static size_t rows_above(const struct screen *screen)
{
	const struct screen_shown *shown = &screen->shown;
	unsigned column;

	if (is_uncertain(screen) && screen->answered) {
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
 * 2026).  As it was behind the text of its line, it is behind the text of another one now: that
 * tells where it is.  All that was printed after that line stands beneath the cursor, or stood
 * there and was deleted when the window was made lower (screen.c: screen_resize_y); so it can be
 * erased and printed again.
 *
 * Several lines may end in one column.  So a tmux that can be reached is asked after a resize what
 * there is in the window (tmux.c), and what was printed is compared with it (wrap_match); the
 * column tells where none can.
 *
 * Nothing that a terminal is told keeps tmux from it.  A cursor is counted down from the top of the
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

static bool cursor_strayed(const struct screen *screen)
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
	/* Blanks at the end of a text may be gone. */
	return screen->answer_column > column ||
	       screen->answer_column + blanks_behind(&shown->rows.at[shown->home]) < column;
}

/* Rows that were printed last are to be printed again. */
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
static bool is_seen(const struct screen *screen)
{
	return screen->answered && screen->look.columns;
}

/* Goes to the first row of the live region, or where finished rows have to be printed again; when
 * that cannot be known, to a new row at the end. */
static void put_first_row(struct screen *screen, struct buf *out)
{
	const struct screen_shown *shown = &screen->shown;
	size_t again;
	unsigned end;
	int down;

	if (is_seen(screen)) {
		if (screen->look_row < screen->look.rows)
			put_move(out, screen->look.row, screen->look_row);
		else
			buf_str(out, "\033[999B\r\n");
		queue_again(screen, screen->look_again);
		return;
	}
	if (!cursor_strayed(screen)) {
		put_up(out, rows_above(screen));
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

static void forget_look(struct screen *screen)
{
	tmux_look_stop(mem_steal(&screen->looking));
	screen->looked = false;
	screen->look.columns = 0;
}

/* ---- frames ---- */

/* Whether tmux may be about to tell of another size: one frame can come to a window that is not any
 * more as it was when the frame was made.  If that takes finished rows away they can be printed
 * again as long as no others were printed beneath them, and where some are there to begin with. */
static bool is_calming(const struct screen *screen)
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

static void put_live_again(struct screen *screen, struct buf *out, const struct screen_shown *next)
{
	if (screen->drawn)
		put_first_row(screen, out);
	put_erase_down(out);
	put_finished(screen, out, !is_calming(screen));
	put_live(screen, out, next);
}

/* Only the rows that differ; the caret stays in its row of the live region. The cursor is put back
 * where it was and not moved back: should the window be lower than it was, moves down end early. */
static void put_difference(struct screen *screen, struct buf *out, const struct screen_shown *next)
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
static void put_plain(struct screen *screen, struct buf *out, struct screen_shown *next)
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

/* Whether finished rows wait that a frame may print now. */
static bool is_to_print(const struct screen *screen)
{
	return screen->printed < screen->queue.count &&
	       (screen->again || !is_calming(screen));
}

/* Whether a frame has to draw all of it: what differs needs other rows, or comes above it. */
static bool is_whole(const struct screen *screen, const struct screen_shown *next)
{
	return !screen->drawn || screen->anew || is_to_print(screen) ||
	       screen->shown.home != next->home ||
	       screen->shown.rows.count < next->rows.count;
}

static bool shown_same(const struct screen_shown *a, const struct screen_shown *b)
{
	if (a->rows.count != b->rows.count || a->column != b->column ||
	    a->hidden != b->hidden)
		return false;
	for (size_t i = 0; i < a->rows.count; i++)
		if (!row_same(&a->rows.at[i], &b->rows.at[i]))
			return false;
	return true;
}

/* The cursor takes the place of a caret that was drawn. */
static void stream_is_over(void *data)
{
	struct screen *screen = data;

	loop_timer_stop(screen->stream_timer);
	screen->stream_timer = NULL;
	screen->live_changed = true;
	screen_frame(screen);
}

/* Draws it; it is what is shown then. */
static void screen_draw(struct screen *screen, struct screen_shown *next, bool whole)
{
	struct buf *out = term_frame(screen->term);

	if (term_plain(screen->term))
		put_plain(screen, out, next);
	else if (whole)
		put_live_again(screen, out, next);
	else if (!shown_same(&screen->shown, next))
		put_difference(screen, out, next);
	term_show_cursor(screen->term, !next->hidden);
	term_frame_end(screen->term);
	rows_release(&screen->shown.rows);
	screen->shown = *next;
	screen->drawn = true;
	screen->anew = screen->answered = screen->unsure = screen->live_changed = false;
	forget_look(screen);
	screen->last_ms = clock_monotonic_ms();
	loop_timer_stop(screen->stream_timer);
	screen->stream_timer = NULL;
	if (next->hidden && !screen->live.caret_hidden && is_streaming(screen))
		screen->stream_timer = loop_timer_start(term_loop(screen->term), STREAM_MS + 1, 0,
		                                        stream_is_over, screen);
}

static void frame_is_due(void *data)
{
	struct screen *screen = data;

	loop_timer_stop(screen->timer);
	screen->timer = NULL;
	screen->retrying = false;
	screen_frame(screen);
}

static void frame_later(struct screen *screen, uint64_t ms)
{
	if (!screen->timer)
		screen->timer = loop_timer_start(term_loop(screen->term), ms, 0, frame_is_due,
		                                 screen);
}

static void tmux_seen(void *data, const struct tmux_view *look)
{
	struct screen *screen = data;

	screen->looked = true;
	screen->look.columns = 0;
	if (look && wrap_match(&screen->recent, look, rows_above(screen), &screen->look_row,
	                       &screen->look_again))
		screen->look = *look;
	tmux_look_stop(mem_steal(&screen->looking));
	screen_frame(screen); /* which asks where the cursor is */
}

/* Whether tmux is asked now, after which the cursor is asked for again: only then is it known that
 * what tmux shows is what there still is. */
static bool begin_look(struct screen *screen)
{
	if (screen->looked || !term_strays(screen->term) ||
	    !(screen->unsure || cursor_strayed(screen)))
		return false;
	screen->looked = true;
	screen->looking = tmux_look_start(screen->term, tmux_seen, screen);
	return screen->looking != NULL;
}

static bool is_as_looked_at(const struct screen *screen)
{
	const struct tmux_view *look = &screen->look;

	return look->columns == screen->answer_width && look->rows == screen->answer_height &&
	       look->row == screen->answer_row && look->column == screen->answer_column;
}

static void use_answers(struct screen *screen)
{
	const struct term_size size = term_size(screen->term);

	loop_timer_stop(screen->answer_timer);
	screen->answer_timer = NULL;
	screen->asked = 0;
	if (screen->held)
		return; /* perhaps the other screen's cursor */
	/* What is drawn now is drawn at a width that nobody knows, or pushes out rows of the live
	 * region that the window is too low for; its signal is under way. */
	if ((screen->answer_width != size.columns || screen->answer_height < size.rows) &&
	    screen->retries++ < RETRIES_MAX) {
		forget_look(screen);
		loop_timer_stop(mem_steal(&screen->timer));
		screen->retrying = true;
		frame_later(screen, RETRY_MS);
		return;
	}
	screen->answered = true;
	if (screen->look.columns && !is_as_looked_at(screen)) {
		forget_look(screen);
		screen->looked = screen->retries++ >= RETRIES_MAX;
	}
	if (begin_look(screen)) {
		screen->answered = false;
		return;
	}
	screen->retries = 0;
	if (is_seen(screen))
		screen->room = screen->look_row;
	else if (screen->drawn && screen->answer_row >= rows_above(screen) &&
	         !cursor_strayed(screen))
		screen->room = screen->answer_row - rows_above(screen);
	screen_frame(screen);
}

static void answer_is_late(void *data)
{
	struct screen *screen = data;
	unsigned column;

	screen->stale += screen->asked;
	screen->answer_width = term_size(screen->term).columns;
	screen->answer_height = term_size(screen->term).rows;
	wrap_place(&screen->shown.rows.at[screen->shown.home], screen->shown.column,
	           screen->answer_width, &column);
	screen->answer_column = column;
	screen->answer_row = 0;
	use_answers(screen);
}

/* Where the cursor is, and how far to the right it can go. */
static void ask_where(struct screen *screen)
{
	screen->asked = 2;
	screen->answer_timer = loop_timer_start(term_loop(screen->term), ANSWER_MS, 0,
	                                        answer_is_late, screen);
	term_ask_place(screen->term);
}

void screen_cursor(struct screen *screen, const struct event *event)
{
	if (screen->stale) {
		screen->stale--;
		return;
	}
	if (!screen->asked)
		return;
	if (screen->asked == 2) {
		screen->answer_column = event->column ? event->column - 1 : 0;
		screen->answer_row = event->row ? event->row - 1 : 0;
	} else {
		screen->answer_width = event->column ? event->column : 1;
		screen->answer_height = event->row ? event->row : 1;
	}
	if (--screen->asked == 0)
		use_answers(screen);
}

/* Whether something differs from what the terminal shows. */
static bool screen_dirty(const struct screen *screen)
{
	return screen->live_changed || screen->anew || screen->printed < screen->queue.count;
}

/* Whether no frame can be written now: answers are to come, or the terminal takes none. */
static bool screen_waits(struct screen *screen)
{
	return screen->held || screen->asked || screen->looking || screen->retrying ||
	       term_busy(screen->term);
}

void screen_key_frame(struct screen *screen)
{
	struct screen_shown next;

	if (!screen->live_changed || screen_waits(screen))
		return;
	lay_out(screen, &next);
	if (screen->drawn && !screen->anew && screen->shown.home == next.home &&
	    screen->shown.rows.count >= next.rows.count && !term_plain(screen->term)) {
		uint64_t last_ms = screen->last_ms;

		screen_draw(screen, &next, false);
		screen->last_ms = last_ms;
	} else {
		rows_release(&next.rows);
		/* A frame of its own, for which no other makes room. */
		if (clock_monotonic_ms() - screen->key_ms >= SCREEN_FRAME_MS) {
			screen->key_ms = clock_monotonic_ms();
			screen->last_ms = 0;
		}
	}
	screen_frame(screen);
}

void screen_frame(struct screen *screen)
{
	uint64_t since = clock_monotonic_ms() - screen->last_ms;
	struct screen_shown next;
	bool whole;

	if (!screen_dirty(screen) || screen_waits(screen))
		return;
	if (since < SCREEN_FRAME_MS) {
		frame_later(screen, SCREEN_FRAME_MS - since);
		return;
	}
	if (screen->drawn && !screen->anew && !screen->live_changed && !is_to_print(screen)) {
		frame_later(screen, SCREEN_FRAME_MS);
		return;
	}
	lay_out(screen, &next);
	whole = is_whole(screen, &next) || is_seen(screen) || cursor_strayed(screen);
	if (!screen->answered && screen->drawn &&
	    (term_strays(screen->term) || (whole && (screen->unsure || is_uncertain(screen))))) {
		rows_release(&next.rows);
		ask_where(screen);
		return;
	}
	screen_draw(screen, &next, whole);
	if (screen_dirty(screen))
		frame_later(screen, SCREEN_FRAME_MS);
}

/* ---- what changes ---- */

unsigned screen_draft_columns(const struct screen *screen)
{
	const struct fit fit = screen_fit(screen);

	return fit_draft_columns(&fit);
}

void screen_print(struct screen *screen, struct rows *rows)
{
	rows_move(&screen->queue, rows);
}

void screen_live(struct screen *screen, struct live *live)
{
	rows_release(&screen->live.rows);
	screen->live = *live;
	live->rows = (struct rows){ 0 };
	screen->live_changed = true;
}

void screen_hold(struct screen *screen, bool held)
{
	screen->held = held;
	forget_look(screen);
}

void screen_resized(struct screen *screen)
{
	screen->anew = true;
	screen->answered = screen->retrying = false;
	screen->retries = 0;
	screen->resized_ms = clock_monotonic_ms();
	screen->unsure = screen->drawn && term_reflows(screen->term);
	forget_look(screen);
	/* Answers under way were given in another window. */
	screen->stale += screen->asked;
	screen->asked = 0;
	loop_timer_stop(screen->answer_timer);
	screen->answer_timer = NULL;
}

/* The first of a storm. */
static void resize_began(void *data)
{
	struct screen *screen = data;

	screen->anew = true;
}

/* ---- life ---- */

struct screen *screen_new(struct term *term)
{
	struct screen *screen = mem_alloc(1, sizeof(*screen));
	struct buf *out = term_frame(term);

	screen->term = term;
	term_on_resize(term, resize_began, screen);
	/* A line that does not begin at the left edge is somebody's: blanks up to the right edge go
	 * to the next row from everywhere but there. */
	if (!term_plain(term)) {
		buf_printf(out, "%*s\r\033[K", (int)term_size(term).columns - 1, "");
		term_frame_end(term);
	}
	return screen;
}

/* What is finished is printed, and the live region is gone. */
static void screen_erase(struct screen *screen)
{
	struct buf *out;

	do {
		out = term_frame(screen->term);
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
		term_show_cursor(screen->term, true);
		term_frame_end(screen->term);
	} while (screen->printed < screen->queue.count);
	rows_release(&screen->shown.rows);
	screen->anew = true;
	forget_look(screen);
}

void screen_free(struct screen *screen)
{
	if (!screen)
		return;
	screen_erase(screen);
	term_on_resize(screen->term, NULL, NULL);
	tmux_look_stop(screen->looking);
	loop_timer_stop(screen->timer);
	loop_timer_stop(screen->answer_timer);
	loop_timer_stop(screen->stream_timer);
	rows_release(&screen->queue);
	rows_release(&screen->live.rows);
	rows_release(&screen->shown.rows);
	wrap_forget(&screen->recent);
	free(screen);
}

void screen_clear(struct screen *screen)
{
	unsigned rows = term_size(screen->term).rows;
	struct buf *out;

	if (term_plain(screen->term) || term_busy(screen->term))
		return;
	screen_erase(screen);
	out = term_frame(screen->term);
	/* What the window shows goes into the scrollback: nothing that was printed is lost. */
	buf_printf(out, "\033[%uB", rows);
	for (unsigned i = 0; i < rows; i++)
		buf_char(out, '\n');
	buf_printf(out, "\033[%dH", ROOM_CLEARED + 1);
	term_frame_end(screen->term);
	screen->room = ROOM_CLEARED;
	wrap_forget(&screen->recent); /* far above */
	for (int i = 0; i < ROOM_CLEARED; i++)
		wrap_remember(&screen->recent, &(struct row){ 0 });
}

void screen_leave(struct screen *screen)
{
	screen_erase(screen);
	term_leave(screen->term);
}

void screen_return(struct screen *screen)
{
	term_return(screen->term);
	screen->anew = true;
	screen->room = 0;
	wrap_forget(&screen->recent); /* what stands above is another's */
	screen_frame(screen);
}
