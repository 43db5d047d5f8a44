/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal opened, run and closed: frames, signals, other programs that get the terminal. */
#include "agent/session/sessions.h"
#include "tui/tui.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/home.h"
#include "data/json.h"
#include "tui/private.h"
#include "tui/term/canvas.h"
#include "tui/term/screen.h"

/* ---- frames ------------------------------------------------------------------ */

static void tui_second(void *data)
{
	tui_changed(data);
}

/* The seconds of the activity row tick while it is shown, and no timer runs otherwise. */
static void tui_tick(struct app *app)
{
	const bool wanted = app->since_ms && !app->ask && !app->plain && !app->pager;

	if (wanted && !app->tick) {
		app->tick = loop_timer_start(app->loop, 1000, 1000, tui_second, app);
	} else if (!wanted && app->tick) {
		loop_timer_stop(app->tick);
		app->tick = NULL;
	}
}

static void tui_frame(struct app *app)
{
	struct live live;

	if (app->quitting)
		return;
	tui_tick(app);
	stash_keep(app);
	if (app->plain)
		tui_speak(app);
	if (app->pager) {
		status_title(app);
		return;
	}
	status_line_update(app->status_line);
	app->frame_ms = clock_monotonic_ms();
	tui_layout(app, &live);
	if (app->full) {
		full_frame(app, &live);
	} else {
		screen_live(app->screen, &live);
		if (app->keyed)
			screen_key_frame(app->screen);
		else
			screen_frame(app->screen);
	}
	app->keyed = false;
	status_title(app);
}

/* ---- the terminal's own events ----------------------------------------------- */

static void tui_resized(void *data)
{
	struct app *app = data;

	markdown_width(app->markdown, term_size(app->term).columns);
	consoles_resized(app->consoles);
	if (app->canvas)
		canvas_anew(app->canvas);
	if (app->screen)
		screen_resized(app->screen);
	if (app->pager) {
		pager_draw(app);
		return;
	}
	tui_changed_now(app);
}

static void tui_writable(void *data)
{
	struct app *app = data;

	if (app->pager)
		pager_draw(app);
	else
		tui_changed(app);
}

static void tui_restyled(void *data)
{
	tui_resized(data);
}

/* ---- signals ----------------------------------------------------------------- */

static void tui_stopped(void *data)
{
	tui_suspend(data);
}

static void tui_signalled(void *data, int number)
{
	struct app *app = data;

	app->signal = number;
	tui_quit(app);
}

/* The terminal is gone: as SIGHUP, which may come besides. */
static void tui_ended(void *data)
{
	tui_signalled(data, SIGHUP);
}

static char *tui_program(void *data, const char *name)
{
	return tui_program_find(data, name);
}

static bool tui_signals(struct app *app, struct err *err)
{
	static const int ends[] = { SIGTERM, SIGHUP };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (!loop_on_signal(app->loop, ends[i], tui_signalled, app, err))
			return false;
	return true;
}

/* ---- opened ------------------------------------------------------------------ */

static void tui_binding_wrong(void *data, const char *sentence)
{
	tui_print_notice(data, "warning", span_str(sentence));
}

static void tui_read_bindings(struct app *app)
{
	const struct home *home = settings_home(app->settings);
	_cleanup_free_ char *path = home ? mem_printf("%s/keybindings.json", home_gemini(home)) :
	                                   NULL;
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err err = ERR_INIT;

	if (!path)
		return;
	if (!file_read(path, BINDINGS_FILE_MAX, &text, &err))
		tui_print_notice(app, "warning", span_str(err.message));
	else if (text.data)
		bindings_read(app->bindings, file_text_span(&text), tui_binding_wrong, app);
}

/* Who this is, and what to do: a line or two. */
static void tui_greet(struct app *app)
{
	_cleanup_rows_ struct rows rows = { 0 };
	struct row *row;

	if (!settings_bool(app->settings, "ui.hideBanner", false)) {
		row = rows_add(&rows);
		row_text(row, SPAN("hasp " HASP_VERSION), STYLE_BOLD(ROLE_ACCENT));
	}
	if (!settings_bool(app->settings, "ui.hideTips", false)) {
		_cleanup_row_ struct row tip = { 0 };

		row_text(&tip, SPAN("Say what is to be done. ? lists keys, / commands; @ names a "
		                    "file, ! runs a command."), STYLE(ROLE_DIM));
		rows_wrap(&rows, &tip, term_size(app->term).columns, NULL, NULL);
	}
	tui_print_only(app, &rows);
	if (term_plain(app->term)) {
		const char *name = getenv("TERM");
		_cleanup_free_ char *text = mem_printf(
			"TERM is \"%.40s\": hasp prints plain lines here. If this terminal can do "
			"more, say so: TERM=xterm-256color hasp.", name ? name : "");

		tui_print_notice(app, "info", span_str(text));
	}
}

static void tui_make(struct app *app)
{
	const struct editor_options options = {
		.bindings = app->bindings,
		.vim = settings_bool(app->settings, "general.vimMode", false),
		.complete = complete_offer, .data = app,
	};

	app->plain = app->plain || term_plain(app->term);
	app->editor = editor_new(&options);
	app->markdown = markdown_new(term_size(app->term).columns);
	app->transcript = transcript_new();
	if (settings_bool(app->settings, "ui.useAlternateBuffer", false) && !app->plain)
		app->full = full_new(app);
	else
		app->screen = screen_new(app->term);
	app->complete = complete_new(app);
	app->lookup = lookup_new(app, complete_offer);
	app->consoles = consoles_new(app);
	app->clipboard = clipboard_new(app, &(struct clipboard_events){ tui_took, pager_notice });
	app->questions = json_array();
	app->rounds = json_object();
	app->steers = json_array();
	app->shell_output = (struct buf)BUF_INIT(LIMIT_RESULT_BYTES);
	app->frame = tui_frame;
	app->status.mode = session_mode(app->options->session);
	app->status.quota = -1;
	app->progress = -1;
}

static void tui_free(struct app *app)
{
	while (app->queued_count)
		free(app->queued[--app->queued_count]);
	free(app->queued);
	for (size_t i = 0; i < app->running_count; i++) {
		json_decref(app->running[i].call);
		buf_release(&app->running[i].tail);
	}
	free(app->running);
	ask_free(app->ask);
	rows_release(&app->asked);
	pick_free(app->pick);
	browse_free(app->browse);
	first_free(app->secret);
	json_decref(app->questions);
	json_decref(app->rounds);
	json_decref(app->steers);
	json_decref(app->todos);
	buf_release(&app->shell_output);
	status_release(&app->status);
	status_line_free(app->status_line);
	clipboard_free(app->clipboard);
	complete_free(app->complete);
	lookup_free(app->lookup);
	consoles_free(app->consoles);
	transcript_free(app->transcript);
	markdown_free(app->markdown);
	editor_free(app->editor);
	bindings_free(app->bindings);
	free(app->sent);
	free(app->topic);
	free(app->thought);
	free(app->title);
}

/* ---- run --------------------------------------------------------------------- */

/* The first frame stands before anything else is opened. */
static bool tui_begin(struct app *app, struct err *err)
{
	const char *prompt = app->options->prompt;

	tui_theme(app);
	tui_greet(app);
	tui_frame(app);
	if (!runner_new(app->options, app->loop, tui_heard, app, &app->runner, err))
		return false;
	app->stash = stash_open(app);
	app->status_line = status_line_new(app);
	tui_read_bindings(app);
	if (app->options->browse)
		tui_queue(app, SPAN("/resume"));
	if (prompt && *prompt)
		tui_queue(app, span_str(prompt));
	first_begin(app);
	tui_changed_now(app);
	return true;
}

/* A session that is over goes, if anything of it was recorded. */
static void tui_discard(const struct app *app, const char *session)
{
	struct err err = ERR_INIT;
	struct home *home;

	if (!home_open(session_folder(app->options->session), &home, &err)) {
		fprintf(stderr, "hasp: %s\n", err.message);
		return;
	}
	if (sessions_have(home, session) && !sessions_delete(home, session, &err))
		fprintf(stderr, "hasp: %s\n", err.message);
	home_free(home);
}

/* Whoever waits for an answer gets a no; the terminal is given back before the session is put in
 * order, which may take a while. */
static void tui_end(struct app *app)
{
	_cleanup_free_ char *session = NULL;
	const struct tui_opened *opened;

	app->quitting = true;
	cancel_set(app->options->cancel);
	tui_refuse_all(app);
	pager_close(app);
	stash_keep(app);
	stash_close(app->stash, app->signal != 0);
	if (app->progress != -1)
		term_progress(app->term, -1);
	full_free(app);
	screen_free(app->screen);
	term_close(app->term);
	complete_stop(app->complete);
	lookup_stop(app->lookup);
	status_line_stop(app->status_line);
	clipboard_stop(app->clipboard);
	opened = runner_opened(app->runner);
	if (opened && (app->status.input || app->discards))
		session = mem_strdup(host_session_id(opened->host));
	runner_end(app->runner, "prompt_input_exit");
	if (session && app->discards)
		tui_discard(app, session);
	else if (session && !app->signal)
		printf("hasp --resume %s goes on with this session.\n", session);
}

int tui_run(const struct tui_options *options)
{
	struct app app = { .options = options, .settings = session_settings(options->session) };
	struct err err = ERR_INIT;
	struct term_options term = {
		.in = STDIN_FILENO, .out = STDOUT_FILENO,
		.event = tui_event, .resized = tui_resized, .writable = tui_writable,
		.restyled = tui_restyled, .suspended = tui_stopped, .ended = tui_ended,
		.program = tui_program, .data = &app,
	};
	bool ok;

	app.plain = options->screen_reader ||
	            settings_bool(app.settings, "ui.accessibility.screenReader", false);
	if (!loop_new(&app.loop, &err)) {
		fprintf(stderr, "hasp: %s\n", err.message);
		return 1;
	}
	term.loop = app.loop;
	app.bindings = bindings_new();
	ok = tui_signals(&app, &err) && term_open(&term, &app.term, &err);
	if (ok) {
		tui_make(&app);
		ok = tui_begin(&app, &err);
		if (ok)
			loop_run(app.loop);
		tui_end(&app);
	}
	loop_free(app.loop);
	runner_free(app.runner);
	tui_free(&app);
	if (!ok)
		fprintf(stderr, "hasp: %s\n", err.message);
	return !ok ? 1 : app.signal ? 128 + app.signal : 0;
}
