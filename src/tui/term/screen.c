/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/term/screen.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/loop/loop.h"
#include "tui/term/private.h"

/* ---- what of a live region stays in a window that is suddenly narrow ---- */

enum { FIT_USUAL_ROWS = 20 }; /* a window of fewer is low */

struct fit {
	struct term_size size;
	size_t room;    /* rows of the window above the live region, at least */
	bool reflows;   /* lines are rewrapped: else all fits as it is */
	bool strays;    /* and the cursor may go astray */
	bool calm;      /* neither rows nor sizes come just now, and the window is not low: what
	                 * stands beneath the caret is as wide as it */
};

enum {
	ABOVE_MAX = 5,             /* rows above the caret: the lowest window keeps them */
	STRICT_ROWS = 4,           /* beneath the caret; more of them may still be wide */
	DRAFT_LEAVES = STRICT_ROWS + 1, /* rows of the window that a draft's row leaves, wrapped */
	DRAFT_LEAST = 3,           /* rows that a draft's row may need even then */
	NARROWEST = FIT_NARROWEST,
};

static unsigned rows_needed(unsigned width, unsigned columns)
{
	return width <= columns ? 1 : (width + columns - 1) / columns;
}

/* The widest that rows beneath the caret may be, so that those above them stay in a window that is
 * suddenly NARROWEST columns wide: a terminal that wraps them would else push as many rows out at
 * the top. `budget`: rows there are for them. */
static unsigned width_allowed(const struct rows *rows, size_t from, size_t count, size_t budget)
{
	unsigned units = 1;

	for (unsigned try = 2; try <= budget; try++) {
		size_t sum = 0;

		for (size_t i = from; i < from + count; i++) {
			unsigned need = rows_needed(rows->at[i].width, NARROWEST);

			sum += need < try ? need : try;
		}
		if (sum > budget)
			break;
		units = try;
	}
	return units * NARROWEST;
}

/* `strict`: for that alone; else rows stay readable even so. */
static unsigned width_of_beneath(const struct fit *fit, const struct live *live, size_t from,
                                 size_t count, size_t budget, bool strict)
{
	const struct term_size size = fit->size;
	unsigned allowed = width_allowed(&live->rows, from, count, budget);
	unsigned least = strict ? NARROWEST : 76;

	if (live->whole || fit->calm)
		return size.columns;
	allowed = allowed < least ? least : allowed;
	return allowed < size.columns ? allowed : size.columns;
}

/* Copies row [from, to) of the live region, clipped. */
static void lay_rows(const struct live *live, struct rows *out, size_t from, size_t to,
                     unsigned columns)
{
	size_t first = out->count;

	rows_copy(out, &live->rows, from, to);
	for (size_t i = first; i < out->count; i++)
		row_clip(&out->at[i], columns);
}

/* How many blank rows there are at the top, at most `max`: distance to the finished ones. */
static size_t fit_blank_rows(const struct rows *rows, size_t max)
{
	size_t blank = 0;

	while (blank < max && rows->at[blank].width == 0)
		blank++;
	return blank;
}

/* How many of the blank rows may be pushed out: where the cursor may go astray it rests in the last
 * one (screen.c). */
static size_t blanks_to_lose(const struct fit *fit, const struct rows *rows, size_t max)
{
	size_t blank = fit_blank_rows(rows, max);

	return blank && fit->strays ? blank - 1 : blank;
}

/* How many rows of the live region more there may be in a window of NARROWEST columns, of rows
 * [from, to), that are clipped to `columns`. */
static size_t wraps_of(const struct rows *rows, size_t from, size_t to, unsigned columns)
{
	size_t wraps = 0;

	for (size_t i = from; i < to; i++)
		wraps += rows_needed(rows->at[i].width < columns ? rows->at[i].width : columns,
		                     NARROWEST) - 1;
	return wraps;
}

/* How many rows above the caret's are shown: at most `max`, and of a draft no more than stay in a
 * window that is suddenly narrow. */
static size_t rows_shown_above(const struct fit *fit, const struct live *live, size_t caret,
                               size_t max)
{
	size_t blank = fit_blank_rows(&live->rows, caret), beneath = live->rows.count - caret - 1;
	size_t above = caret < max ? caret : max;

	beneath = beneath < STRICT_ROWS ? beneath : STRICT_ROWS;
	if (!fit->reflows || live->whole)
		return above;
	for (; above > blank; above--) {
		size_t all = above + 1 + beneath;
		size_t room = fit->size.rows > all ? fit->size.rows - all : 0;

		room = room < fit->room ? room : fit->room;
		if (wraps_of(&live->rows, caret - (above - blank), caret + 1,
		             fit->size.columns) <=
		    room + blanks_to_lose(fit, &live->rows, blank))
			break;
	}
	return above;
}

/* Clips what stands beneath the row the cursor is in, for a window that is suddenly narrow. */
static void lay_beneath(const struct fit *fit, const struct live *live, struct rows *out,
                        size_t from, size_t to)
{
	size_t all = out->count + (to - from);
	size_t room = fit->size.rows > all ? fit->size.rows - all : 0;
	size_t wraps = wraps_of(out, 0, out->count, fit->size.columns);
	bool strict = fit->size.rows < FIT_USUAL_ROWS || to - from <= STRICT_ROWS;

	room = room < fit->room ? room : fit->room;
	room += blanks_to_lose(fit, out, out->count);
	room = room > wraps ? room - wraps : 0;
	lay_rows(live, out, from, to,
	         fit->reflows ? width_of_beneath(fit, live, from, to - from, to - from + room,
	                                    strict) :
	                        fit->size.columns);
}

/* Appends the part of a live region that fits; returns which of these rows has the caret. */
static size_t fit_live(const struct fit *fit, const struct live *live, struct rows *out)
{
	const struct term_size size = fit->size;
	size_t count = live->rows.count, caret = live->caret_row, top, above, beneath, room;

	if (!count) {
		rows_add(out);
		return 0;
	}
	caret = caret < count ? caret : count - 1;
	above = size.rows > ABOVE_MAX + 2 ? ABOVE_MAX : size.rows > 2 ? size.rows - 2u : 0;
	above = rows_shown_above(fit, live, caret, above);
	if (caret > above) { /* of a long draft the rows next to the caret */
		top = fit_blank_rows(&live->rows, above);
		lay_rows(live, out, 0, top, size.columns);
		lay_rows(live, out, caret - (above - top), caret + 1, size.columns);
	} else {
		lay_rows(live, out, 0, caret + 1, size.columns);
	}
	top = out->count - 1;
	room = size.rows > out->count ? size.rows - out->count : 0;
	beneath = count - caret - 1;
	if (fit->reflows && !live->whole && beneath > STRICT_ROWS && room > STRICT_ROWS) {
		const size_t wraps = wraps_of(out, 0, out->count, size.columns);

		room = room > wraps + STRICT_ROWS ? room - wraps : STRICT_ROWS;
	}
	beneath = beneath < room ? beneath : room;
	lay_beneath(fit, live, out, caret + 1, caret + 1 + beneath);
	return top;
}

/* screen_draft_columns */
static unsigned fit_draft_columns(const struct fit *fit)
{
	size_t rows = fit->size.rows > DRAFT_LEAVES ? fit->size.rows - DRAFT_LEAVES : 0;

	rows = rows < fit->room + 1 ? rows : fit->room + 1;
	rows = rows > DRAFT_LEAST ? rows : DRAFT_LEAST;
	return fit->reflows && rows * NARROWEST < fit->size.columns ? (unsigned)rows * NARROWEST :
	                                                              fit->size.columns;
}

enum {
	ROOM_CLEARED = 3,          /* blank rows above, so that rows beneath may be wide */
	ANSWER_MS = 300,           /* for where the cursor is; then the likeliest is taken */
	RETRY_MS = 60,             /* tmux reports a new size up to 250 ms late */
	RETRIES_MAX = 8,
	STREAM_MS = 1000,          /* finished rows, and sizes, come until so long after the last */
};

/* ---- layout ---- */

static bool is_streaming(const struct screen *screen)
{
	return screen->printed < screen->queue.count ||
	       (screen->streamed_ms &&
	        clock_monotonic_ms() - screen->streamed_ms < STREAM_MS);
}

/* Whether the window is unlikely to have another size before the next frame. */
static bool is_calm(const struct screen *screen)
{
	return !is_streaming(screen) && clock_monotonic_ms() - screen->sized_ms >= STREAM_MS;
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

	for (unsigned i = 0; i < FIT_NARROWEST; i++) {
		if (screen->mark && !wrap_find(&screen->recent, screen->mark, columns, &again,
		                               &down))
			break;
		screen->mark = screen->mark % (FIT_NARROWEST - 1) + 1;
	}
	return screen->mark;
}

/* Chooses where the cursor rests between frames. On a terminal that rewraps lines, nothing that
 * could be wrapped is above the cursor or left of it while rows stream; a caret there is drawn
 * instead. Where the cursor may go astray it is put behind an invisible mark: blanks, which tmux
 * keeps because they are bold. */
static void choose_rest(struct screen *screen, struct screen_shown *ret, size_t caret,
                        unsigned column, struct term_size size)
{
	size_t first = fit_blank_rows(&ret->rows, caret);
	bool strays = term_strays(screen->term);
	/* Within a text it could not be seen that the cursor went astray. */
	bool noticed = !strays || column >= ret->rows.at[caret].width;

	ret->home = caret;
	ret->column = column;
	ret->hidden = screen->live.caret_hidden;
	if (!term_reflows(screen->term) || term_plain(screen->term) ||
	    (caret == first && ((column < FIT_NARROWEST && noticed) || !is_streaming(screen))))
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

/* The terminal as it is. */
static struct fit screen_fit(const struct screen *screen)
{
	return (struct fit){ .size = term_size(screen->term), .room = screen->room,
		             .reflows = term_reflows(screen->term),
		             .strays = term_strays(screen->term),
		             .calm = is_calm(screen) &&
		                     term_size(screen->term).rows >= FIT_USUAL_ROWS };
}

/* Lays out the part of the live region that fits. */
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

/* ---- frames ---- */

static void forget_look(struct screen *screen)
{
	tmux_look_stop(mem_steal(&screen->looking));
	screen->looked = false;
	screen->look.columns = 0;
}

/* Whether finished rows wait that a frame may print now. */
static bool is_to_print(const struct screen *screen)
{
	return screen->printed < screen->queue.count &&
	       (screen->again || !paint_is_calming(screen));
}

/* Whether a frame has to draw all of it: what differs needs other rows, or comes above it. */
static bool is_whole(const struct screen *screen, const struct screen_shown *next)
{
	return !screen->drawn || screen->stale_all || is_to_print(screen) ||
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

/* The cursor takes the place of a caret that was drawn, and rows are as wide as the window. */
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
		paint_plain(screen, out, next);
	else if (whole)
		paint_all(screen, out, next);
	else if (!shown_same(&screen->shown, next))
		paint_difference(screen, out, next);
	term_show_cursor(screen->term, !next->hidden);
	term_frame_end(screen->term);
	rows_release(&screen->shown.rows);
	screen->shown = *next;
	screen->drawn = true;
	screen->stale_all = screen->answered = screen->unsure = screen->live_changed = false;
	forget_look(screen);
	screen->last_ms = clock_monotonic_ms();
	loop_timer_stop(screen->stream_timer);
	screen->stream_timer = NULL;
	if (!is_calm(screen) && term_reflows(screen->term) && !term_plain(screen->term))
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
	if (look && wrap_match(&screen->recent, look, paint_rows_above(screen), &screen->look_row,
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
	    !(screen->unsure || paint_strayed(screen)))
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
	/* A frame drawn now would have an unknown width, or push out rows of the live region that
	 * the window is too low for; the signal of the resize is still to come. */
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
	if (paint_is_seen(screen))
		screen->room = screen->look_row;
	else if (screen->drawn && screen->answer_row >= paint_rows_above(screen) &&
	         !paint_strayed(screen))
		screen->room = screen->answer_row - paint_rows_above(screen);
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
	return screen->live_changed || screen->stale_all || screen->printed < screen->queue.count;
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
	if (screen->drawn && !screen->stale_all && screen->shown.home == next.home &&
	    screen->shown.rows.count >= next.rows.count && !term_plain(screen->term)) {
		uint64_t last_ms = screen->last_ms;

		screen_draw(screen, &next, false);
		screen->last_ms = last_ms;
	} else {
		rows_release(&next.rows);
		/* A whole frame outside the usual rate. */
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
	if (screen->drawn && !screen->stale_all && !screen->live_changed && !is_to_print(screen)) {
		frame_later(screen, SCREEN_FRAME_MS);
		return;
	}
	lay_out(screen, &next);
	whole = is_whole(screen, &next) || paint_is_seen(screen) || paint_strayed(screen);
	if (!screen->answered && screen->drawn &&
	    (term_strays(screen->term) ||
	     (whole && (screen->unsure || paint_is_uncertain(screen))))) {
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

void screen_hold(struct screen *screen)
{
	screen->held = true;
	forget_look(screen);
}

void screen_resume(struct screen *screen)
{
	screen->held = false;
	forget_look(screen);
}

void screen_resized(struct screen *screen)
{
	screen->stale_all = true;
	screen->answered = screen->retrying = false;
	screen->retries = 0;
	screen->resized_ms = screen->sized_ms = clock_monotonic_ms();
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

	screen->stale_all = true;
}

/* ---- life ---- */

struct screen *screen_new(struct term *term)
{
	struct screen *screen = mem_alloc(1, sizeof(*screen));
	struct buf *out = term_frame(term);

	screen->term = term;
	screen->sized_ms = clock_monotonic_ms();
	term_on_resize(term, resize_began, screen);
	/* Keep a line that another program has not finished: blanks up to the right edge go to the
	 * next row unless the cursor is at the left edge. */
	if (!term_plain(term)) {
		buf_printf(out, "%*s\r\033[K", (int)term_size(term).columns - 1, "");
		term_frame_end(term);
	}
	return screen;
}

/* Prints all finished rows, and removes the live region. */
static void screen_erase(struct screen *screen)
{
	struct buf *out;

	do {
		out = term_frame(screen->term);
		paint_erased(screen, out);
		term_show_cursor(screen->term, true);
		term_frame_end(screen->term);
	} while (screen->printed < screen->queue.count);
	rows_release(&screen->shown.rows);
	screen->stale_all = true;
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

/* What the window shows goes into the scrollback: nothing that was printed is lost. */
static void put_scrolled_away(struct buf *out, unsigned rows)
{
	buf_printf(out, "\033[%uB", rows);
	for (unsigned i = 0; i < rows; i++)
		buf_char(out, '\n');
}

/* Neither window nor scrollback; a terminal that does not know 3J keeps its scrollback. */
static void put_erased(struct buf *out, unsigned rows)
{
	(void)rows;
	buf_str(out, "\033[H\033[2J\033[3J");
}

static void screen_clear_by(struct screen *screen, void (*put)(struct buf *out, unsigned rows))
{
	struct buf *out;

	if (term_plain(screen->term) || term_busy(screen->term))
		return;
	screen_erase(screen);
	out = term_frame(screen->term);
	put(out, term_size(screen->term).rows);
	buf_printf(out, "\033[%dH", ROOM_CLEARED + 1);
	term_frame_end(screen->term);
	screen->room = ROOM_CLEARED;
	wrap_forget(&screen->recent); /* far above */
	for (int i = 0; i < ROOM_CLEARED; i++)
		wrap_remember(&screen->recent, &(struct row){ 0 });
}

void screen_clear(struct screen *screen)
{
	screen_clear_by(screen, put_scrolled_away);
}

void screen_forget(struct screen *screen)
{
	screen_clear_by(screen, put_erased);
}

void screen_leave(struct screen *screen)
{
	screen_erase(screen);
	term_leave(screen->term);
}

void screen_return(struct screen *screen)
{
	term_return(screen->term);
	screen->stale_all = true;
	screen->room = 0;
	wrap_forget(&screen->recent); /* what stands above is another's */
	screen_frame(screen);
}
