/* SPDX-License-Identifier: Apache-2.0 */
/* Streams numbered rows through screen.h above a live region, for tests in terminals:
 *
 *     screen_demo [ROWS [SEED [DRAFT-ROWS [DELAY-MS [DRAFT-WIDTH]]]]]
 *
 * A finished row is "L000123 057 text E000123", 57 columns wide; nothing in the live region has
 * such a number. What is typed is added to the draft; Ctrl+L clears, Ctrl+C ends; "DONE" is in the
 * status line when all rows are printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/loop/loop.h"
#include "tui/term/screen.h"

struct demo {
	struct loop *loop;
	struct term *term;
	struct screen *screen;
	struct loop_timer *timer;
	unsigned rows, printed, seed, draft_rows, delay, draft_width;
	struct buf typed;
	unsigned seconds;
};

static unsigned demo_random(struct demo *demo, unsigned below)
{
	demo->seed = demo->seed * 1664525 + 1013904223;
	return (demo->seed >> 8) % below;
}

static void show_demo(struct demo *demo)
{
	const unsigned columns = term_size(demo->term).columns;
	const unsigned widest = screen_draft_columns(demo->screen);
	struct live live = { .caret_row = demo->draft_rows };
	struct row *row;

	rows_add(&live.rows);
	for (unsigned i = 0; i < demo->draft_rows; i++) {
		bool last = i + 1 == demo->draft_rows;

		row = rows_add(&live.rows);
		row_printf(row, STYLE(ROLE_USER), "%s", i ? "  " : "> ");
		row_printf(row, STYLE(ROLE_TEXT), "DRAFT%u ", i);
		while (row->width + 5 < demo->draft_width && row->width + 5 < widest)
			row_printf(row, STYLE(ROLE_TEXT), "%s", i % 2 ? "drft " : "\u8349\u7a3f ");
		if (last) {
			row_text(row, buf_view(&demo->typed), STYLE(ROLE_TEXT));
			live.caret_column = row->width;
		}
	}
	row = rows_add(&live.rows);
	row_printf(row, STYLE(ROLE_ACCENT), "* Working %us", demo->printed / 10);
	for (int i = 0; i < 2; i++) {
		row = rows_add(&live.rows);
		row_printf(row, STYLE(ROLE_DIM), "TAIL%d of some output %u that goes on ", i,
		           demo->printed);
		row_pad(row, columns < 74 ? columns : 74, STYLE(ROLE_DIM));
		row_printf(row, STYLE(ROLE_DIM), "/");
	}
	row = rows_add(&live.rows);
	row_printf(row, STYLE(ROLE_DIM), "STATUS %s%u of %u rows in a window of %ux%u. ",
	           demo->printed == demo->rows ? "DONE " : "", demo->printed, demo->rows, columns,
	           term_size(demo->term).rows);
	screen_live(demo->screen, &live);
	screen_frame(demo->screen);
}

static void print_one(struct demo *demo)
{
	unsigned columns = term_size(demo->term).columns, number = ++demo->printed, width;
	struct rows rows = { 0 };
	struct row *row = rows_add(&rows);

	width = columns < 20 ? 20 : 20 + demo_random(demo, columns - 19);
	if (demo_random(demo, 4) == 0)
		width = columns;
	row_printf(row, STYLE(ROLE_TEXT), "L%06u %03u ", number, width);
	while (row->width + 8 < width) {
		bool wide = demo_random(demo, 20) == 0 && row->width + 10 <= width;

		row_printf(row, STYLE(demo_random(demo, 9) ? ROLE_TEXT : ROLE_CODE), "%s",
		           wide ? "\u6f22" : number % 3 ? "." : "-");
	}
	row_printf(row, STYLE(ROLE_TEXT), "E%06u", number);
	screen_print(demo->screen, &rows);
	rows_release(&rows);
}

static void tick(void *data)
{
	struct demo *demo = data;
	unsigned burst = 1 + demo_random(demo, 6);

	while (burst-- && demo->printed < demo->rows)
		print_one(demo);
	if (demo->printed == demo->rows) {
		loop_timer_stop(demo->timer);
		demo->timer = NULL;
	}
	show_demo(demo);
}

static void demo_event(void *data, const struct event *event)
{
	struct demo *demo = data;

	if (event->kind == EVENT_CURSOR) {
		screen_cursor(demo->screen, event);
	} else if (event->kind == EVENT_KEY) {
		if (event->key.code == 'c' && event->key.mods == KEY_CTRL) {
			loop_stop(demo->loop);
			return;
		}
		if (event->key.code == 'l' && event->key.mods == KEY_CTRL)
			screen_clear(demo->screen);
		if (event->key.code == 'z' && event->key.mods == KEY_CTRL) {
			screen_leave(demo->screen);
			term_stop();
			screen_return(demo->screen);
		}
		if (event->key.code == KEY_BACKSPACE)
			buf_clear(&demo->typed);
		buf_span(&demo->typed, event->key.text);
		show_demo(demo);
	} else if (event->kind == EVENT_PASTE) {
		buf_span(&demo->typed, event->text);
		show_demo(demo);
	}
}

static void demo_resized(void *data)
{
	struct demo *demo = data;

	screen_resized(demo->screen);
	show_demo(demo);
}

static void demo_writable(void *data)
{
	screen_frame(((struct demo *)data)->screen);
}

static void demo_ended(void *data)
{
	loop_stop(((struct demo *)data)->loop);
}

/* DEMO_TMUX: another program in tmux's place. */
static char *demo_program(void *data, const char *name)
{
	const char *other = getenv("DEMO_TMUX");

	(void)data;
	return other ? mem_strdup(other) : mem_printf("/usr/bin/%s", name);
}

static unsigned argument(char **argv, int argc, int i, unsigned fallback)
{
	return i < argc ? (unsigned)strtoul(argv[i], NULL, 10) : fallback;
}

int main(int argc, char **argv)
{
	struct demo demo = {
		.rows = argument(argv, argc, 1, 200),
		.seed = argument(argv, argc, 2, 1),
		.draft_rows = argument(argv, argc, 3, 1),
		.delay = argument(argv, argc, 4, 20),
		.draft_width = argument(argv, argc, 5, 10),
		.typed = BUF_INIT(1 << 20),
	};
	struct term_options options = { .in = 0, .out = 1, .event = demo_event,
		                        .resized = demo_resized, .writable = demo_writable,
		                        .ended = demo_ended, .program = demo_program,
		                        .data = &demo };
	struct err err = ERR_INIT;

	if (!loop_new(&demo.loop, &err) ||
	    (options.loop = demo.loop, !term_open(&options, &demo.term, &err))) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	demo.screen = screen_new(demo.term);
	show_demo(&demo);
	if (demo.rows)
		demo.timer = loop_timer_start(demo.loop, demo.delay, demo.delay, tick, &demo);
	loop_run(demo.loop);
	loop_timer_stop(demo.timer);
	screen_free(demo.screen);
	term_close(demo.term);
	loop_free(demo.loop);
	buf_release(&demo.typed);
	return 0;
}
