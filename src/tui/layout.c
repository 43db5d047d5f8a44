/* SPDX-License-Identifier: Apache-2.0 */
/* The live region: the composer (or what stands in its place), and beneath it what goes
 * on.  For screen readers the composer alone: nothing changes by itself. */
#include <ctype.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/settings.h"
#include "data/json.h"
#include "tui/show/activity.h"
#include "tui/app.h"
#include "tui/consoles.h"
#include "tui/show/desktop.h"
#include "tui/dialog.h"
#include "tui/queue.h"
#include "tui/running.h"
#include "tui/show/status.h"
#include "tui/status_line.h"
#include "tui/term/screen.h"
#include "tui/tui.h"

enum {
	COMPOSER_ROWS_MAX = 12, /* of a draft; it scrolls within */
	CANDIDATE_ROWS = 8,
	SHORTCUTS_OF_FULL = 3,
	KEYS_MAX = 256,         /* bytes of what keys do */
};

/* Until something is sent, an empty composer says what it is for (Gemini CLI's words, which its
 * users' scripts wait for). The caret stands before them. */
static void layout_placeholder(const struct app *app, unsigned width, struct row *row)
{
	const bool shell = editor_is_shell(app->editor);

	if (app->out.plain || (app->queue.spoken && !shell) || !editor_is_empty(app->editor))
		return;
	row_text(row, shell ? SPAN(" Shell command (Esc or Backspace: back to prompts)") :
	                      SPAN(" Type your message or @path/to/file"), STYLE(ROLE_DIM));
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

static void layout_shortcuts(const struct app *app, unsigned width, struct rows *rows)
{
	static const enum bind shown[] = {
		BIND_INPUT_SUBMIT, BIND_INPUT_QUEUE_MESSAGE, BIND_INPUT_NEWLINE, BIND_BASIC_CANCEL,
		BIND_BASIC_QUIT, BIND_BASIC_EXIT, BIND_APP_CYCLE_APPROVAL_MODE,
		BIND_HISTORY_SEARCH_START, BIND_INPUT_OPEN_EXTERNAL_EDITOR, BIND_INPUT_PASTE,
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

void tui_overlay_rows(const struct app *app, unsigned width, struct rows *rows)
{
	if (app->keys.overlay == OVERLAY_SHORTCUTS)
		layout_shortcuts(app, width, rows);
	if (app->keys.overlay == OVERLAY_TODOS)
		activity_todo_rows(&app->activity, width, rows);
}

static void layout_status(const struct app *app, unsigned width, struct rows *rows)
{
	_cleanup_row_ struct row row = { 0 };

	status_row(&(struct status_view){
		.status = &app->status, .settings = app->settings,
		.project = session_folder(app->options->session), .session = tui_session(app),
		.editing = editor_mode(app->editor), .line = status_line_row(app->status_line),
		.idle = tui_state(app) == DESKTOP_READY && editor_is_empty(app->editor),
	}, width, &row);
	rows_take(rows, &row);
}

/* What can be done while hasp works: "esc to interrupt"; with something typed, what its keys do. */
static void put_working_keys(const struct bindings *bindings, const struct editor *draft,
                             struct buf *out)
{
	static const struct {
		enum bind bind;
		const char *does;
	} keys[] = { { BIND_BASIC_CANCEL, "interrupt" }, { BIND_INPUT_SUBMIT, "steer" },
		     { BIND_INPUT_QUEUE_MESSAGE, "queue" } };
	const size_t count = editor_is_empty(draft) ? 1 : ARRAY_LEN(keys);

	for (size_t i = 0; i < count; i++) {
		const char *chord = bindings_chord(bindings, keys[i].bind);

		buf_str(out, i ? ", " : "");
		for (; *chord; chord++)
			buf_char(out, (char)tolower((unsigned char)*chord));
		buf_printf(out, " to %s", keys[i].does);
	}
}

static void layout_activity(const struct app *app, unsigned width, struct rows *rows)
{
	const struct view_how how = { .width = width };
	_cleanup_buf_ struct buf keys = BUF_INIT(KEYS_MAX);

	/* Into a command that is typed into they go themselves. */
	if (!consoles_focused(app->consoles))
		put_working_keys(app->bindings, app->editor, &keys);
	activity_rows(&app->activity, keys.data, &how, rows);
}

/* What stands beneath the composer. */
static void layout_beneath(struct app *app, unsigned width, struct rows *rows)
{
	struct view_how how = { .width = width };

	if (app->out.plain) {
		editor_candidates(app->editor, width, CANDIDATE_ROWS, rows);
		return;
	}
	if (!app->questions.ask) {
		editor_candidates(app->editor, width, CANDIDATE_ROWS, rows);
		layout_activity(app, width, rows);
	}
	how.folded = true;
	running_calls_rows(&app->calls, app->consoles, &how, rows);
	consoles_away_rows(app->consoles, width, rows);
	queue_rows(&app->queue, width, rows);
	tui_overlay_rows(app, width, rows);
	if (app->keys.hint) {
		struct row *row = rows_add(rows);

		row_text(row, span_str(app->keys.hint), STYLE(ROLE_WARNING));
		row_clip(row, width);
	}
	if (!settings_bool(app->settings, "ui.hideFooter", false))
		layout_status(app, width, rows);
}

/* In plain lines the rest of the question is printed (speak.c). */
static void layout_question(struct app *app, struct term_size size, struct live *live)
{
	const size_t before = live->rows.count;
	_cleanup_rows_ struct rows rows = { 0 };
	size_t caret_row;

	live->whole = true;
	ask_rows(app->questions.ask, size.columns, size.rows > 4 ? size.rows - 4 : 1, &rows,
	         &caret_row, &live->caret_column);
	if (app->out.plain)
		rows_copy(&live->rows, &rows, caret_row, caret_row + 1);
	else
		rows_move(&live->rows, &rows);
	live->caret_row = before + (app->out.plain ? 0 : caret_row);
}

void tui_layout(struct app *app, struct live *ret)
{
	const struct term_size size = term_size(app->term);
	struct live live = { 0 };

	if (app->out.answering || app->out.printed || app->full)
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
		pick_rows(app->pick, app->out.plain, size.columns, size.rows / 2, &live.rows);
	} else if (app->questions.ask) {
		layout_question(app, size, &live);
	} else {
		layout_composer(app, app->full ? size.columns :
		                                 screen_draft_columns(app->out.screen),
		                size.rows, &live);
		live.whole = live.caret_hidden = consoles_focused(app->consoles) != 0;
	}
	layout_beneath(app, size.columns, &live.rows);
	*ret = live;
}
