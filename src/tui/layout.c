/* SPDX-License-Identifier: Apache-2.0 */
/* The live region: the composer (or what stands in its place), and beneath it what goes
 * on.  For screen readers the composer alone: nothing changes by itself. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tui/app.h"
#include "tui/browse.h"
#include "tui/consoles.h"
#include "tui/first.h"
#include "tui/layout.h"
#include "tui/pick.h"
#include "tui/status.h"
#include "tui/term/screen.h"

enum {
	COMPOSER_ROWS_MAX = 12, /* of a draft; it scrolls within */
	CANDIDATE_ROWS = 8,
	SHORTCUTS_OF_FULL = 3,
};

static void layout_activity(const struct app *app, unsigned width, struct rows *rows)
{
	const struct view_how how = { .width = width, .plain = app->plain };
	const uint64_t now = clock_monotonic_ms();
	_cleanup_free_ char *retry = app->retry_ms <= now ? NULL :
		mem_printf("Retrying in %u s", (unsigned)((app->retry_ms - now + 999) / 1000));

	if (!app->since_ms || app->plain)
		return;
	view_topic(rows, app->topic, &how);
	view_activity(rows, app->ask != NULL, (now - app->since_ms) / 1000,
	              retry ? retry : app->thought, &how);
}

/* Until something is sent, an empty composer says what it is for (Gemini CLI's words, which its
 * users' scripts wait for). The caret stands before them. */
static void layout_placeholder(const struct app *app, unsigned width, struct row *row)
{
	if (app->plain || app->spoken || editor_is_shell(app->editor) ||
	    !editor_is_empty(app->editor))
		return;
	row_text(row, SPAN(" Type your message or @path/to/file"), STYLE(ROLE_DIM));
	row_clip(row, width);
}

static void layout_composer(struct app *app, unsigned width, size_t height, struct live *live)
{
	const bool shell = editor_is_shell(app->editor);
	_cleanup_row_ struct row prompt = { 0 };
	const size_t rows = height / 2 < COMPOSER_ROWS_MAX ? height / 2 : COMPOSER_ROWS_MAX;
	const size_t before = live->rows.count;

	row_text(&prompt, span_str(editor_sign(app->editor)),
	         STYLE_BOLD(shell ? ROLE_WARNING : app->status.mode == MODE_YOLO ? ROLE_ERROR :
	                                                                         ROLE_ACCENT));
	editor_layout(app->editor, &prompt, width, rows ? rows : 1, &live->rows, &live->caret_row,
	              &live->caret_column);
	live->caret_row += before;
	layout_placeholder(app, width, &live->rows.at[before]);
}

static void layout_running(const struct app *app, unsigned width, struct rows *rows)
{
	const struct view_how how = { .width = width, .folded = true, .plain = app->plain };
	const size_t more = app->running_count > RUNNING_SHOWN ?
	                            app->running_count - RUNNING_SHOWN : 0;

	for (size_t i = 0; i < app->running_count - more; i++) {
		view_call(rows, app->running[i].call, &how);
		view_progress(rows, app->running[i].progress, &how);
		if (!consoles_rows(app->consoles,
		                   json_span(json_object_get(app->running[i].call, "callId")),
		                   width, rows))
			view_tail(rows, buf_view(&app->running[i].tail), TAIL_ROWS, &how);
	}
	if (more)
		row_printf(rows_add(rows), STYLE(ROLE_DIM), "  and %zu more calls", more);
}

/* The first line of a text that waits, and for what. */
static void layout_waiting(struct span what, struct span text, unsigned width, struct rows *rows)
{
	struct row *row = rows_add(rows);
	struct span line = { 0 };

	line_next(&text, &line);
	row_text(row, what, STYLE(ROLE_DIM));
	row_text(row, line_body(line), STYLE(ROLE_USER));
	row_clip(row, width);
}

static void layout_queued(const struct app *app, unsigned width, struct rows *rows)
{
	size_t i;
	json_t *text;

	json_array_foreach(app->steers, i, text)
		layout_waiting(SPAN("  joins at the next step: "), json_span(text), width, rows);
	for (i = 0; i < app->queued_count && i < QUEUED_SHOWN; i++)
		layout_waiting(SPAN("  queued: "), span_str(app->queued[i]), width, rows);
	if (app->queued_count > QUEUED_SHOWN)
		row_printf(rows_add(rows), STYLE(ROLE_DIM), "  and %zu more (Up edits the last)",
		           app->queued_count - QUEUED_SHOWN);
}

static void layout_shortcuts(const struct app *app, unsigned width, struct rows *rows)
{
	static const enum bind shown[] = {
		BIND_INPUT_SUBMIT, BIND_INPUT_QUEUE_MESSAGE, BIND_INPUT_NEWLINE, BIND_BASIC_CANCEL,
		BIND_BASIC_QUIT, BIND_BASIC_EXIT, BIND_APP_CYCLE_APPROVAL_MODE,
		BIND_APP_TOGGLE_YOLO, BIND_HISTORY_SEARCH_START, BIND_INPUT_OPEN_EXTERNAL_EDITOR,
		BIND_INPUT_PASTE,
		BIND_APP_SHOW_MORE_LINES, BIND_APP_SHOW_FULL_TODOS, BIND_APP_CLEAR_SCREEN,
		BIND_APP_SUSPEND, BIND_APP_FOCUS_SHELL_INPUT, BIND_BACKGROUND_TOGGLE,
		/* in full screen */
		BIND_SCROLL_PAGE_UP, BIND_SCROLL_SEARCH, BIND_APP_TOGGLE_MOUSE_MODE,
	};

	for (size_t i = 0; i < ARRAY_LEN(shown) - (app->full ? 0 : SHORTCUTS_OF_FULL); i++) {
		struct row *row = rows_add(rows);

		row_text(row, SPAN("  "), STYLE(ROLE_TEXT));
		row_text(row, span_str(bindings_chord(app->bindings, shown[i])),
		         STYLE(ROLE_ACCENT));
		row_pad(row, 16, STYLE(ROLE_TEXT));
		row_text(row, span_str(bindings_help(shown[i])), STYLE(ROLE_DIM));
		row_clip(row, width);
	}
	row_text(rows_add(rows), SPAN("  ! a command   @ a file   / commands   Esc Esc earlier "
	                              "prompts   /keys all keys"), STYLE(ROLE_DIM));
	row_clip(&rows->at[rows->count - 1], width);
}

static void layout_todos(const struct app *app, unsigned width, struct rows *rows)
{
	size_t i;
	json_t *todo;

	if (!json_array_size(app->todos))
		row_text(rows_add(rows), SPAN("  There are no todos."), STYLE(ROLE_DIM));
	json_array_foreach(app->todos, i, todo) {
		const struct span status = json_span(json_object_get(todo, "status"));
		const bool done = span_eq(status, SPAN("completed"));
		const bool now = span_eq(status, SPAN("in_progress"));
		struct row *row = rows_add(rows);

		row_text(row, done ? SPAN("  [x] ") : now ? SPAN("  [>] ") : SPAN("  [ ] "),
		         STYLE(done ? ROLE_SUCCESS : now ? ROLE_ACCENT : ROLE_DIM));
		row_text(row, json_span(json_object_get(todo, "description")),
		         STYLE(done ? ROLE_DIM : ROLE_TEXT));
		row_clip(row, width);
	}
}

void tui_overlay_rows(const struct app *app, unsigned width, struct rows *rows)
{
	if (app->overlay == OVERLAY_SHORTCUTS)
		layout_shortcuts(app, width, rows);
	if (app->overlay == OVERLAY_TODOS)
		layout_todos(app, width, rows);
}

/* What stands beneath the composer. */
static void layout_beneath(struct app *app, unsigned width, struct rows *rows)
{
	if (app->plain) {
		editor_candidates(app->editor, width, CANDIDATE_ROWS, rows);
		return;
	}
	if (!app->ask)
		editor_candidates(app->editor, width, CANDIDATE_ROWS, rows);
	layout_activity(app, width, rows);
	layout_running(app, width, rows);
	consoles_away_rows(app->consoles, width, rows);
	layout_queued(app, width, rows);
	tui_overlay_rows(app, width, rows);
	if (app->hint) {
		struct row *row = rows_add(rows);

		row_text(row, span_str(app->hint), STYLE(ROLE_WARNING));
		row_clip(row, width);
	}
	if (!settings_bool(app->settings, "ui.hideFooter", false)) {
		_cleanup_row_ struct row row = { 0 };

		status_row(app, width, &row);
		rows_take(rows, &row);
	}
}

/* In plain lines the rest of the question is printed (speak.c). */
static void layout_question(struct app *app, struct term_size size, struct live *live)
{
	const size_t before = live->rows.count;
	_cleanup_rows_ struct rows rows = { 0 };
	size_t caret_row;

	live->whole = true;
	ask_rows(app->ask, size.columns, size.rows > 4 ? size.rows - 4 : 1, &rows, &caret_row,
	         &live->caret_column);
	if (app->plain)
		rows_copy(&live->rows, &rows, caret_row, caret_row + 1);
	else
		rows_move(&live->rows, &rows);
	live->caret_row = before + (app->plain ? 0 : caret_row);
}

void tui_layout(struct app *app, struct live *ret)
{
	const struct term_size size = term_size(app->term);
	struct live live = { 0 };

	if (app->answering || app->printed || app->full)
		rows_add(&live.rows);
	if (app->browse) {
		live.whole = live.caret_hidden = true;
		browse_rows(app->browse, size.columns, size.rows > 4 ? size.rows - 4 : 1,
		            &live.rows);
	} else if (app->secret) {
		first_rows(app, size.columns, &live);
	} else if (app->pick) {
		live.caret_row = live.rows.count;
		live.caret_hidden = true;
		pick_rows(app->pick, app->plain, size.columns, size.rows / 2, &live.rows);
	} else if (app->ask) {
		layout_question(app, size, &live);
	} else {
		layout_composer(app, app->full ? size.columns : screen_draft_columns(app->screen),
		                size.rows, &live);
		live.whole = live.caret_hidden = consoles_focused(app->consoles) != 0;
	}
	layout_beneath(app, size.columns, &live.rows);
	*ret = live;
}
