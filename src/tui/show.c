/* SPDX-License-Identifier: Apache-2.0 */
/* What every file here needs: a frame asked for, rows printed, whether something is under way. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tui/app.h"
#include "tui/show.h"
#include "tui/term/screen.h"
#include "tui/transcript.h"

/* Pastes of one prompt that are folded; more are printed whole. */
enum { FOLDS_MAX = 64 };

/* ---- frames ------------------------------------------------------------------ */

static void show_frame_task(struct loop_task *task)
{
	struct app *app = (struct app *)((char *)task - offsetof(struct app, frame_task));

	app->frame_posted = false;
	app->frame(app);
}

static void show_frame_timer(void *data)
{
	struct app *app = data;

	loop_timer_stop(app->frame_timer);
	app->frame_timer = NULL;
	app->frame(app);
}

void tui_changed_now(struct app *app)
{
	if (app->frame_timer) {
		loop_timer_stop(app->frame_timer);
		app->frame_timer = NULL;
	}
	if (app->frame_posted)
		return;
	app->frame_posted = true;
	app->frame_task.run = show_frame_task;
	loop_post(app->loop, &app->frame_task);
}

void tui_changed(struct app *app)
{
	const uint64_t since = clock_monotonic_ms() - app->frame_ms;

	if (app->frame_posted || app->frame_timer || app->quitting)
		return;
	if (since >= SCREEN_FRAME_MS)
		tui_changed_now(app);
	else
		app->frame_timer = loop_timer_start(app->loop, SCREEN_FRAME_MS - since, 0,
		                                    show_frame_timer, app);
}

void tui_quit(struct app *app)
{
	app->quitting = true;
	loop_stop(app->loop);
}

/* ---- printing ---------------------------------------------------------------- */

struct view_how tui_how(const struct app *app)
{
	return (struct view_how){ .width = term_size(app->term).columns, .folded = true,
		                  .plain = app->plain, .source = app->source };
}

const char *tui_toggle_source(struct app *app)
{
	app->source = !app->source;
	markdown_source(app->markdown, app->source);
	tui_changed_now(app);
	return app->source ? "Answers are shown as their Markdown source" : "Markdown is rendered";
}

/* What is left of the answer that was being printed. */
void tui_end_answer(struct app *app)
{
	_cleanup_rows_ struct rows rows = { 0 };

	if (!app->answering)
		return;
	app->answering = false;
	markdown_end(app->markdown, &rows);
	screen_print(app->screen, &rows);
}

void tui_print(struct app *app, struct rows *rows)
{
	_cleanup_rows_ struct rows all = { 0 };

	tui_end_answer(app);
	if (!rows->count)
		return;
	if (app->full) {
		rows_release(rows);
		tui_changed(app);
		return;
	}
	if (app->printed)
		rows_add(&all);
	app->printed = true;
	rows_move(&all, rows);
	screen_print(app->screen, &all);
	tui_changed(app);
}

void tui_print_user(struct app *app, struct span text)
{
	const struct view_how how = tui_how(app);
	_cleanup_rows_ struct rows rows = { 0 };
	struct view_fold folds[FOLDS_MAX];
	struct editor_pasted pasted;
	size_t count = 0;

	for (size_t at = 0; count < FOLDS_MAX &&
	                    editor_find_pasted(app->editor, text, at, &pasted);
	     at = pasted.at + pasted.len)
		folds[count++] = (struct view_fold){ pasted.at, pasted.len, pasted.label };
	view_user_folded(&rows, text, folds, count, &how);
	tui_print(app, &rows);
	transcript_user(app->transcript, text);
}

void tui_print_only(struct app *app, struct rows *rows)
{
	if (app->full && rows->count)
		transcript_rows_of(app->transcript, rows);
	tui_print(app, rows);
	tui_changed(app);
}

void tui_print_notice(struct app *app, const char *severity, struct span text)
{
	const struct view_how how = tui_how(app);
	_cleanup_rows_ struct rows rows = { 0 };

	view_notice(&rows, severity, text, &how);
	tui_print(app, &rows);
	transcript_notice(app->transcript, severity, text);
}

/* ---- under way ---------------------------------------------------------------- */

void tui_working(struct app *app, bool working)
{
	if (working && !app->since_ms) {
		app->since_ms = clock_monotonic_ms();
		if (app->plain)
			tui_print_notice(app, "info", SPAN("Working."));
	} else if (!working) {
		app->since_ms = app->retry_ms = 0;
		free(app->thought);
		app->thought = NULL;
	}
}
