/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal opened, run and closed: frames, signals, other programs that get the terminal. */
#include "agent/session/sessions.h"
#include "tui/tui.h"
#include "tui/typeahead.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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
#include "tui/show/activity.h"
#include "tui/app.h"
#include "tui/clip/clipboard.h"
#include "tui/complete.h"
#include "tui/consoles.h"
#include "tui/show/desktop.h"
#include "tui/dialog.h"
#include "tui/term/frames.h"
#include "tui/show/full.h"
#include "tui/show/pager.h"
#include "tui/show/printout.h"
#include "tui/question.h"
#include "tui/queue.h"
#include "tui/runner.h"
#include "tui/running.h"
#include "tui/send.h"
#include "tui/stash.h"
#include "tui/show/status.h"
#include "tui/status_line.h"
#include "tui/term/canvas.h"
#include "tui/term/screen.h"
#include "tui/clip/user_program.h"

/* ---- frames ------------------------------------------------------------------ */

/* The live region, inline or in full screen. */
static void tui_draw_live(struct app *app)
{
	struct live live;

	if (!app->keys.any)
		printout_take(&app->out);
	tui_layout(app, &live);
	if (app->full) {
		full_frame(app->full, &live);
		return;
	}
	screen_live(app->out.screen, &live);
	if (!app->keys.any) {
		screen_frame(app->out.screen);
		return;
	}
	screen_key_frame(app->out.screen);
	printout_take(&app->out); /* a key does not wait for it */
	screen_frame(app->out.screen);
}

/* Whether keys wait that were typed before this frame. */
static bool tui_has_typed_ahead(void)
{
	struct pollfd typed = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&typed, 1, 0) == 1 && typed.revents == POLLIN;
}

/* The seconds of the activity row tick while it is shown. */
static void tui_frame(void *data)
{
	struct app *app = data;
	const enum desktop_state state = tui_state(app);
	const bool ahead = app->pick && tui_has_typed_ahead();

	if (app->frames.ended)
		return;
	frames_tick(&app->frames, state == DESKTOP_WORKING && !app->out.plain &&
	                          !pager_shown(app->pager));
	stash_keep(app->stash, app->editor, &app->queue, app->questions.ask);
	if (app->out.plain)
		tui_speak(app);
	if (!pager_shown(app->pager)) {
		status_line_update(app->status_line, &app->status, tui_session(app), state);
		frames_drawn(&app->frames);
		tui_draw_live(app);
		if (!ahead)
			pick_drawn(app->pick);
		app->keys.any = false;
	}
	desktop_show(&app->desktop, app->settings, state, &app->activity);
}

/* ---- the terminal's own events ----------------------------------------------- */

static void tui_resized(void *data)
{
	struct app *app = data;

	markdown_width(app->out.markdown, term_size(app->term).columns);
	consoles_resized(app->consoles);
	if (app->full)
		canvas_redraw(full_canvas(app->full));
	if (app->out.screen)
		screen_resized(app->out.screen);
	if (pager_shown(app->pager)) {
		pager_resized(app->pager);
		return;
	}
	frames_want_now(&app->frames);
}

static void tui_writable(void *data)
{
	struct app *app = data;

	if (pager_shown(app->pager))
		pager_draw(app->pager);
	else
		frames_want(&app->frames);
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

/* The terminal was closed: as SIGHUP, which may come in addition. */
static void tui_ended(void *data)
{
	tui_signalled(data, SIGHUP);
}

static bool tui_signals(struct app *app, struct err *err)
{
	static const int ends[] = { SIGTERM, SIGHUP };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (!loop_on_signal(app->loop, ends[i], tui_signalled, app, err))
			return false;
	return true;
}

/* ---- programs and the clipboard ---------------------------------------------- */

static void tui_find_roots(void *data, struct user_roots *ret)
{
	tui_roots(data, ret);
}

static char *tui_program(void *data, const char *name)
{
	struct user_roots roots;

	tui_roots(data, &roots);
	return user_program_find(name, &roots);
}

static void tui_said(void *data, const char *severity, const char *text)
{
	struct app *app = data;

	pager_notice(app->pager, severity, text);
}

static void tui_hint(void *data, const char *text)
{
	struct app *app = data;

	app->keys.hint = text;
}

static struct clipboard *tui_clipboard(struct app *app)
{
	return clipboard_new(&(struct clipboard_options){
		.frames = &app->frames, .term = app->term, .roots = tui_find_roots,
		.took = tui_took, .said = tui_said, .hint = tui_hint, .data = app,
	});
}

/* ---- opened ------------------------------------------------------------------ */

static void tui_binding_wrong(void *data, const char *sentence)
{
	printout_notice(data, "warning", span_str(sentence));
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
		printout_notice(&app->out, "warning", span_str(err.message));
	else if (text.data)
		bindings_read(app->bindings, file_text_span(&text), tui_binding_wrong,
		              &app->out);
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

		row_text(&tip, SPAN("What would you like to do? Type / for commands, ? for "
		                    "shortcuts; @ adds a file, ! runs a command."),
		         STYLE(ROLE_DIM));
		rows_wrap(&rows, &tip, term_size(app->term).columns, NULL, NULL);
	}
	printout_rows(&app->out, &rows);
	if (term_plain(app->term)) {
		const char *name = getenv("TERM");
		_cleanup_free_ char *text = mem_printf(
			"TERM is \"%.40s\": hasp prints plain lines here. If this terminal can do "
			"more, say so: TERM=xterm-256color hasp.", name ? name : "");

		printout_notice(&app->out, "info", span_str(text));
	}
}

/* Plain lines: for screen readers, or because the terminal can do no more. */
static bool tui_is_plain(const struct app *app)
{
	return app->options->screen_reader || term_plain(app->term) ||
	       settings_bool(app->settings, "ui.accessibility.screenReader", false);
}

/* Whether what the model thinks is shown as it comes. */
static bool tui_shows_thoughts(const struct app *app)
{
	return strcmp(settings_string(app->settings, "ui.inlineThinkingMode", "off"), "full") == 0;
}

static void tui_make(struct app *app)
{
	const struct editor_options options = {
		.bindings = app->bindings,
		.vim = settings_bool(app->settings, "general.vimMode", false),
		.complete = complete_offer, .data = app,
	};

	frames_init(&app->frames, app->loop, tui_frame, app);
	printout_init(&app->out, app->term, &app->frames, tui_is_plain(app));
	app->editor = editor_new(&options);
	if (settings_bool(app->settings, "ui.useAlternateBuffer", false) && !app->out.plain)
		app->full = full_new(&app->out, app->bindings, tui_shows_thoughts(app),
		                     &app->keys.hint);
	else
		app->out.screen = screen_new(app->term);
	app->complete = complete_new(app);
	app->lookup = lookup_new(app, complete_answered);
	app->typeahead = typeahead_new(tui_kept_key, app);
	app->consoles = consoles_new(app);
	app->clipboard = tui_clipboard(app);
	app->pager = pager_new(&(struct pager_options){
		.out = &app->out, .bindings = app->bindings, .clipboard = app->clipboard,
		.canvas = app->full ? full_canvas(app->full) : NULL, .hint = &app->keys.hint,
	});
	question_queue_init(&app->questions);
	queue_init(&app->queue);
	status_init(&app->status, session_mode(app->options->session));
	desktop_init(&app->desktop, app->term, session_folder(app->options->session));
}

static void tui_free(struct app *app)
{
	pager_free(app->pager);
	pick_free(app->pick);
	free(first_reopened(app));
	browse_free(app->browse);
	first_free(app->secret);
	queue_release(&app->queue);
	running_release(&app->calls);
	question_queue_release(&app->questions);
	activity_release(&app->activity);
	status_release(&app->status);
	status_line_free(app->status_line);
	clipboard_free(app->clipboard);
	complete_free(app->complete);
	lookup_free(app->lookup);
	typeahead_free(app->typeahead);
	consoles_free(app->consoles);
	printout_release(&app->out);
	editor_free(app->editor);
	bindings_free(app->bindings);
}

/* ---- run --------------------------------------------------------------------- */

/* The first frame stands before anything else is opened. */
static bool tui_begin(struct app *app, struct err *err)
{
	const char *prompt = app->options->prompt;

	tui_theme(app);
	tui_greet(app);
	tui_frame(app);
	if (!runner_new(app->options, app->loop, tui_runner_event, app, &app->runner, err))
		return false;
	app->stash = stash_open(session_folder(app->options->session), app->editor, &app->queue);
	app->status_line = app->out.plain ? NULL : status_line_new(app->options, &app->out);
	tui_read_bindings(app);
	if (app->options->browse)
		tui_queue(app, SPAN("/resume"));
	if (prompt && *prompt)
		tui_queue(app, span_str(prompt));
	first_begin(app);
	frames_want_now(&app->frames);
	return true;
}

/* What becomes of a session that is over, if anything of it was recorded: it is deleted, or the
 * user hears how to go on with it. */
static void tui_part(const struct app *app, const char *session)
{
	struct err err = ERR_INIT;
	struct home *home;

	if (!home_open(session_folder(app->options->session), &home, &err)) {
		fprintf(stderr, "hasp: %s\n", err.message);
		return;
	}
	if (sessions_have(home, session)) {
		if (!app->discards)
			printf("To continue this session: hasp --resume %s\n", session);
		else if (!sessions_delete(home, session, &err))
			fprintf(stderr, "hasp: %s\n", err.message);
	}
	home_free(home);
}

/* Answer all questions with no, and give the terminal back before closing the session, which may
 * take a while. */
static void tui_end(struct app *app)
{
	_cleanup_free_ char *session = NULL;
	const struct tui_opened *opened;

	frames_end(&app->frames);
	cancel_set(app->options->cancel);
	tui_refuse_all(app);
	pager_close(app->pager);
	stash_keep(app->stash, app->editor, &app->queue, app->questions.ask);
	stash_close(app->stash, app->signal != 0);
	desktop_release(&app->desktop);
	full_free(app->full);
	app->full = NULL;
	while (app->out.unread && app->out.screen)
		printout_take(&app->out);
	screen_free(app->out.screen);
	term_close(app->term);
	complete_stop(app->complete);
	lookup_stop(app->lookup);
	status_line_stop(app->status_line);
	clipboard_stop(app->clipboard);
	opened = runner_opened(app->runner);
	if (opened && (!app->signal || app->discards))
		session = mem_strdup(host_facts(opened->host).session_id);
	runner_end(app->runner, "prompt_input_exit");
	if (!opened && (!app->signal || app->discards))
		session = runner_session(app->runner);
	if (session)
		tui_part(app, session);
}

int tui_run(const struct tui_options *options)
{
	struct app app = { .options = options, .settings = session_settings(options->session) };
	struct err err = ERR_INIT;
	struct term_options term = {
		.in = STDIN_FILENO, .out = STDOUT_FILENO,
		.event = tui_event, .resized = tui_resized, .writable = tui_writable,
		.restyled = tui_resized, .suspended = tui_stopped, .ended = tui_ended,
		.program = tui_program, .data = &app,
	};
	bool ok;

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
