/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of what is sent: prompts, steers, the queue, commands; interrupting; modes. */
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/json.h"
#include "policy/policy.h"
#include "tui/show/activity.h"
#include "tui/app.h"
#include "tui/clip/clipboard.h"
#include "front/command/command.h"
#include "tui/dialog.h"
#include "tui/term/frames.h"
#include "tui/show/full.h"
#include "tui/show/pager.h"
#include "tui/show/printout.h"
#include "tui/question.h"
#include "tui/queue.h"
#include "tui/runner.h"
#include "tui/send.h"
#include "tui/stash.h"
#include "tui/show/status.h"
#include "tui/show/transcript.h"
#include "tui/tui.h"

/* ---- to the model ------------------------------------------------------------ */

/* `shown`: what the user sees of it. `plain`: an @ in it names no file. */
static void send_to_model(struct app *app, struct span text, struct span shown, bool plain)
{
	_cleanup_buf_ struct buf piped = BUF_INIT(LIMIT_MESSAGE_BYTES);

	buf_span(&piped, buf_view(&app->queue.attached));
	buf_clear(&app->queue.attached);
	if (plain)
		buf_span(&piped, text);

	printout_user(&app->out, app->editor, shown);
	queue_set_sent(&app->queue, shown);
	if (!runner_opened(app->runner))
		first_reload(app); /* a key may have been set up meanwhile */
	tui_start_working(app);
	runner_prompt(app->runner, buf_view(&piped), plain ? SPAN("") : text);
}

/* ---- commands ---------------------------------------------------------------- */

/* A slow one, on the agent's thread. */
struct slash_job {
	struct runner_job job;
	struct app *app;
	struct command_context context;
	char *line;                   /* owned */
	struct command_result result;
	bool ran;
};

static struct command_context slash_context(struct app *app)
{
	const struct tui_opened *opened = runner_opened(app->runner);

	return (struct command_context){
		.host = opened ? opened->host : NULL,
		.settings = app->settings,
		.width = term_size(app->term).columns,
		.can = 1u << COMMAND_SEND | 1u << COMMAND_COMPOSE | 1u << COMMAND_CHOOSE |
		       1u << COMMAND_COPY | 1u << COMMAND_REFRESH | 1u << COMMAND_THEME |
		       1u << COMMAND_VIM | 1u << COMMAND_KEY | 1u << COMMAND_EDIT |
		       1u << COMMAND_SHORTCUTS | 1u << COMMAND_QUIT | 1u << COMMAND_REOPEN |
		       (app->out.plain ? 0 : 1u << COMMAND_BROWSE),
		.busy = !runner_idle(app->runner),
		.local = app->options->local,
		.ide = runner_ide(app->runner),
		.web = app->options->web,
	};
}

/* ---- what is left to do ------------------------------------------------------ */

/* The plan is the model's file: what the user makes of it goes along with the next prompt. */
static void slash_edit(struct app *app, const char *path)
{
	_cleanup_free_ char *folder = path_folder(path), *edited = NULL, *said = NULL;
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err err = ERR_INIT;

	if (!door_read(folder, path, STASH_BYTES_MAX, &text, &err)) {
		printout_notice(&app->out, "error", span_str(err.message));
		return;
	}
	edited = tui_edit(app, file_text_span(&text), path);
	if (!edited)
		return;
	if (span_eq(span_str(edited), file_text_span(&text))) {
		printout_notice(&app->out, "info", SPAN("The plan is as it was."));
	} else if (door_replace(folder, path, span_str(edited), 0600, &err)) {
		said = mem_printf("The user edited the plan %s. It reads now:\n\n%s\n\n", path,
		                  edited);
		buf_str(&app->queue.attached, said);
		printout_notice(&app->out, "info",
		                SPAN("The plan is changed; the model gets it with your next "
		                     "prompt."));
	} else {
		printout_notice(&app->out, "error", span_str(err.message));
	}
}

/* Runs a line that command_is says yes to. */
static void slash_line(struct app *app, struct span line);

/* `lines` has three arrays: the lines of Enter, of the second key, and themes to preview. */
static void slash_pick(struct app *app, json_t *lines, size_t of, int index)
{
	json_t *line = index < 0 ? NULL : json_incref(json_array_get(json_array_get(lines, of),
	                                                             (size_t)index));

	if (json_array_size(json_array_get(lines, 2)))
		tui_theme(app); /* what was previewed */
	json_decref(lines);
	if (line && json_string_length(line))
		slash_line(app, json_span(line));
	json_decref(line);
}

static void slash_chosen(struct app *app, void *data, int index)
{
	slash_pick(app, data, 0, index);
}

static void slash_other(struct app *app, void *data, int index)
{
	slash_pick(app, data, 1, index);
}

static void slash_preview(struct app *app, void *data, int index)
{
	const json_t *themes = json_array_get(data, 2);

	tui_theme_named(app, json_string_value(json_array_get(themes, (size_t)index)));
}

static void slash_choose(struct app *app, const struct command_result *result)
{
	json_auto_t *labels = json_array(), *notes = json_array();
	json_t *lines = json_pack("[[], [], []]");
	struct pick *pick;
	size_t at = 0;

	for (size_t i = 0; i < result->choice_count; i++) {
		const struct command_choice *choice = &result->choices[i];
		const bool marked = choice->chosen || choice->marked;
		_cleanup_free_ char *label = mem_printf("%s%s", marked ? "* " : "",
		                                        choice->label);

		if (choice->chosen)
			at = i;
		json_array_append_new(labels, json_text(span_str(label)));
		json_array_append_new(notes, json_text(span_str(choice->note)));
		json_array_append_new(json_array_get(lines, 0),
		                      json_text(span_str(choice->line)));
		json_array_append_new(json_array_get(lines, 1),
		                      json_text(span_str(choice->other ? choice->other : "")));
		if (result->previews)
			json_array_append_new(json_array_get(lines, 2),
			                      json_text(span_str(choice->label)));
	}
	pick = pick_new(result->question ? result->question : "Which one?", labels, at,
	                slash_chosen, lines);
	pick_notes(pick, notes);
	pick_changes(pick, result->changes);
	if (result->searches)
		pick_search(pick);
	if (result->other_letter)
		pick_second(pick, &(struct pick_other){ result->other_letter,
		                                        result->other_help, slash_other });
	if (result->previews)
		pick_moved(pick, slash_preview);
	pick_show(app, pick);
}

static void slash_refresh(struct app *app, const struct command_result *result)
{
	const struct tui_opened *opened = runner_opened(app->runner);
	const json_t *messages = opened ? agent_history(host_facts(opened->host).agent) : NULL;

	transcript_clear(app->out.transcript);
	if (result->clears)
		tui_forget(app);
	app->status.context = 0;
	if (result->other) {
		status_restart(&app->status);
		buf_clear(&app->queue.attached); /* the other conversation's */
		app->keys.overlay = OVERLAY_NONE;
	}
	activity_set_topic(&app->activity, agent_topic(messages));
	activity_set_todos(&app->activity, (json_t *)agent_todos(messages));
	if (json_array_size(messages)) {
		bool more;
		json_auto_t *end = history_end(messages, &more);

		history_keep(app->out.transcript, messages);
		tui_show_history(app, end, more);
	}
	if (result->text)
		editor_set(app->editor, span_str(result->text));
}

enum { CHORDS_COLUMNS = 30, HELP_COLUMN = 76, NAMES_COLUMNS = 30 };

struct shortcuts {
	struct rows rows;
	unsigned width;
};

/* A key's row: what is pressed, what that does, the name in keybindings.json. */
static void shortcut_row(void *data, enum bind command, const char *chords)
{
	struct shortcuts *shortcuts = data;
	_cleanup_row_ struct row row = { 0 }, rest = { 0 };

	row_text(&row, span_str(chords), STYLE(ROLE_ACCENT));
	row_text(&row, SPAN("  "), STYLE(ROLE_TEXT));
	if (shortcuts->width >= 2 * CHORDS_COLUMNS)
		row_pad(&row, CHORDS_COLUMNS, STYLE(ROLE_TEXT));
	row_text(&row, span_str(bindings_help(command)), STYLE(ROLE_TEXT));
	row_text(&row, SPAN("  "), STYLE(ROLE_TEXT));
	if (shortcuts->width >= HELP_COLUMN + NAMES_COLUMNS)
		row_pad(&row, HELP_COLUMN, STYLE(ROLE_TEXT));
	row_text(&row, span_str(bindings_name(command)), STYLE(ROLE_DIM));
	row_text(&rest, SPAN("    "), STYLE(ROLE_TEXT));
	rows_wrap(&shortcuts->rows, &row, shortcuts->width, NULL, &rest);
}

static void slash_shortcuts(struct app *app)
{
	struct shortcuts shortcuts = { .width = term_size(app->term).columns };

	bindings_list(app->bindings, shortcut_row, &shortcuts);
	pager_open(app->pager, "Keys", &shortcuts.rows);
	rows_release(&shortcuts.rows);
}

static void slash_then(struct app *app, const struct command_result *result)
{
	const char *text = result->text ? result->text : "";

	switch (result->then) {
	case COMMAND_SEND:
		send_to_model(app, span_str(text), span_str(result->shown ? result->shown : text),
		              result->plain);
		break;
	case COMMAND_COMPOSE:
		editor_set(app->editor, span_str(text));
		break;
	case COMMAND_CHOOSE:
		slash_choose(app, result);
		break;
	case COMMAND_COPY:
		clipboard_copy(app->clipboard, span_str(text));
		break;
	case COMMAND_REFRESH:
		slash_refresh(app, result);
		break;
	case COMMAND_THEME:
		tui_theme(app);
		break;
	case COMMAND_VIM:
		editor_set_vim(app->editor,
		               settings_bool(app->settings, "general.vimMode", false));
		break;
	case COMMAND_SHORTCUTS:
		slash_shortcuts(app);
		break;
	case COMMAND_EDIT:
		slash_edit(app, text);
		break;
	case COMMAND_KEY:
		first_ask_key(app, text);
		break;
	case COMMAND_BROWSE:
		browse_new(app, slash_line);
		break;
	case COMMAND_REOPEN:
		first_reopen(app, result->text, result->shown);
		break;
	case COMMAND_QUIT:
		app->discards = result->text != NULL;
		tui_quit(app);
		break;
	default:
		break;
	}
}

/* What is said of another conversation stands beneath it. */
static void slash_show(struct app *app, struct command_result *result)
{
	const struct view_how how = printout_how(&app->out);

	if (result->then == COMMAND_REFRESH)
		slash_then(app, result);
	app->history_shown = false;
	if (result->then != COMMAND_CHOOSE || result->shows_changes)
		pick_changes_rows(result->changes, &how, &result->rows);
	if (result->rows.count && result->pager &&
	    result->rows.count > term_size(app->term).rows)
		pager_open(app->pager, "Command", &result->rows);
	else
		printout_rows(&app->out, &result->rows);
	if (result->then != COMMAND_REFRESH)
		slash_then(app, result);
	command_result_release(result);
	frames_want(&app->frames);
}

/* ---- running ----------------------------------------------------------------- */

static void slash_run(struct runner_job *job, const struct tui_opened *opened)
{
	struct slash_job *slash = (struct slash_job *)job;

	slash->context.host = opened->host;
	slash->context.busy = false;
	command_run(&slash->context, span_str(slash->line), &slash->result);
	slash->ran = true;
}

static void slash_done(struct runner_job *job)
{
	struct slash_job *slash = (struct slash_job *)job;

	if (slash->ran && !slash->app->frames.ended) {
		tui_question_comes(slash->app); /* what is being typed goes on */
		slash_show(slash->app, &slash->result);
	} else if (slash->ran) {
		command_result_release(&slash->result);
	}
	free(slash->line);
	free(slash);
}

static void slash_line(struct app *app, struct span line)
{
	_cleanup_free_ const char **themes = tui_theme_names(app);
	struct command_context context = slash_context(app);
	struct command_result result = { 0 };

	context.themes = themes;

	if (runner_idle(app->runner) && command_is_slow(&context, line)) {
		struct slash_job *slash = mem_alloc(1, sizeof(*slash));

		slash->job.run = slash_run;
		slash->job.done = slash_done;
		slash->app = app;
		slash->context = context;
		slash->context.themes = NULL; /* no slow one asks for them */
		slash->line = mem_dup(line.data, line.len);
		tui_start_working(app);
		runner_job(app->runner, &slash->job);
		return;
	}
	command_run(&context, line, &result);
	slash_show(app, &result);
}

/* ---- completion -------------------------------------------------------------- */

static void slash_offer(void *data, size_t from, size_t to, struct span text, struct span label,
                        struct span note)
{
	editor_offer(data, from, to, text, label, note);
}

void tui_slash_complete(struct app *app, struct editor *editor, struct span text, size_t caret)
{
	_cleanup_free_ const char **themes = tui_theme_names(app);
	struct command_context context = slash_context(app);

	context.themes = themes;
	command_complete(&context, text, caret, slash_offer, editor);
}

json_t *tui_slash_asks(struct app *app, struct span text, size_t caret, size_t *ret_from)
{
	struct command_context context = slash_context(app);

	return command_asks_server(&context, text, caret, ret_from);
}

/* ---- prompts ----------------------------------------------------------------- */

/* To the prompt under way. False: there is none that takes it. */
static bool send_steer(struct app *app, struct span text)
{
	if (!runner_steer(app->runner, text))
		return false;
	json_array_append_new(app->queue.steers, json_text(text));
	tui_speak_waiting(app, "Joins at the next step", text);
	return true;
}

static bool is_shell(struct span text)
{
	return span_starts(text, SPAN("!")) && !span_is_blank(span_skip(text, 1));
}

/* "//NAME" is "/NAME" for the model. */
static struct span send_text(struct span text)
{
	return span_skip(text, span_starts(text, SPAN("//")));
}

/* While nothing is under way. */
static void send_now(struct app *app, struct span text)
{
	if (is_shell(text)) {
		tui_start_working(app);
		tui_shell(app, span_trim(span_skip(text, 1)));
	} else if (command_is(text)) {
		slash_line(app, text);
	} else {
		send_to_model(app, send_text(text), send_text(text), false);
	}
}

/* ---- the queue --------------------------------------------------------------- */

bool tui_queue(struct app *app, struct span text)
{
	app->queue.spoken = true;
	if (!queue_add(&app->queue, text)) {
		printout_notice(&app->out, "warning",
		                SPAN("Too many prompts wait already; this one is the draft "
		                     "again."));
		tui_draft(app, text);
		return false;
	}
	if (app->activity.since_ms)
		tui_speak_waiting(app, "Queued", text);
	frames_want(&app->frames);
	return true;
}

/* A command that starts no turn has no end at which the next would be sent. What one puts back
 * waits for an event. */
void tui_next(struct app *app)
{
	size_t most = app->queue.count;

	while (most-- && app->queue.count && runner_idle(app->runner)) {
		_cleanup_free_ char *text = queue_take_first(&app->queue);

		send_now(app, span_str(text));
		frames_want(&app->frames);
	}
}

void tui_draft(struct app *app, struct span text)
{
	const bool shell = is_shell(text) && !memchr(text.data, '\n', text.len);

	editor_set_shell(app->editor, shell);
	editor_set(app->editor, span_skip(text, shell));
}

/* A shell command that is being typed stays: no text can stand with it, and those that waited are
 * in the history. */
void tui_unqueue(struct app *app)
{
	_cleanup_buf_ struct buf all = BUF_INIT(STASH_BYTES_MAX);
	_cleanup_free_ char *draft = editor_text(app->editor);
	const bool shell = *draft && editor_is_shell(app->editor);
	const bool alone = app->queue.count == 1 && !*draft;

	while (app->queue.count) {
		_cleanup_free_ char *text = queue_take_first(&app->queue), *said = NULL;
		const bool command = is_shell(span_str(text)) || command_is(span_str(text));

		if (alone || !(command || shell)) {
			buf_printf(&all, "%s%s", all.len ? "\n\n" : "", text);
			continue;
		}
		said = mem_printf("%s: %s", command ? "Not run" : "Not sent, kept in the history",
		                  text);
		printout_notice(&app->out, "info", span_str(said));
	}
	if (!all.len)
		return;
	if (*draft)
		buf_printf(&all, "\n\n%s", draft);
	tui_draft(app, buf_view(&all));
}

void tui_unsent(struct app *app, struct span text, bool interrupted)
{
	if (tui_queue(app, text))
		queue_last_is_next(&app->queue);
	if (interrupted)
		tui_unqueue(app);
}

void tui_interrupt(struct app *app)
{
	runner_interrupt(app->runner);
	tui_refuse_all(app);
	tui_unqueue(app);
	frames_want_now(&app->frames);
}

/* A prompt, now or when what is under way is done. */
static void send_prompt(struct app *app, struct span text)
{
	if (runner_idle(app->runner) && !app->queue.count) {
		send_now(app, text);
		return;
	}
	tui_queue(app, text);
	tui_next(app);
}

static bool is_quit(struct span text)
{
	const struct command_info *is = command_of(text);

	return is && strcmp(is->name, "quit") == 0;
}

/* Commands that are not about the conversation do not wait for a prompt that is under way, but for
 * the session that is being opened; /quit waits for neither. */
static bool send_command(struct app *app, struct span text)
{
	const struct command_context context = slash_context(app);
	const bool opening = !app->activity.since_ms && !runner_idle(app->runner);

	if (!command_is(text) || (opening && !is_quit(text)))
		return false;
	if (command_waits(&context, text))
		tui_queue(app, text);
	else
		slash_line(app, text);
	return true;
}

/* As in a shell, and in other agents. */
static bool is_farewell(struct span text)
{
	const struct span word = span_trim(text);

	return span_eq(word, SPAN("exit")) || span_eq(word, SPAN("quit"));
}

void tui_send(struct app *app, struct span text)
{
	if (span_is_blank(text))
		return;
	if (is_farewell(text))
		text = SPAN("/quit");
	app->queue.spoken = true;
	stash_remember(app->stash, text);
	full_end(app->full);
	if (send_command(app, text))
		return;
	if (runner_idle(app->runner) || is_shell(text) || command_is(text) ||
	    !send_steer(app, send_text(text)))
		send_prompt(app, text);
	frames_want(&app->frames);
}

/* ---- modes ------------------------------------------------------------------- */

static bool mode_may_change(struct app *app)
{
	if (runner_opened(app->runner))
		return true;
	app->keys.hint = "No session is open yet: the mode stays as it is";
	return false;
}

void tui_set_mode(struct app *app, enum approval_mode mode)
{
	struct err err = ERR_INIT;

	if (!mode_may_change(app))
		return;
	if (!runner_set_mode(app->runner, mode, &err))
		printout_notice(&app->out, "warning", span_str(err.message));
	else
		app->status.mode = mode; /* the next key may come before the report */
}

void tui_cycle_mode(struct app *app)
{
	static const enum approval_mode order[] = { MODE_AUTO_EDIT, MODE_PLAN, MODE_DEFAULT };
	size_t at = 0;

	if (!mode_may_change(app))
		return;
	while (at < ARRAY_LEN(order) && order[at] != app->status.mode)
		at++;
	for (size_t i = 1; i <= ARRAY_LEN(order); i++) {
		/* Of YOLO mode the next is the default. */
		const enum approval_mode mode = order[at < ARRAY_LEN(order) ?
		                                      (at + i) % ARRAY_LEN(order) :
		                                      ARRAY_LEN(order) - i];
		struct err err = ERR_INIT;

		if (runner_set_mode(app->runner, mode, &err)) {
			app->status.mode = mode; /* the next key may come before the report */
			return;
		}
		if (err.code == ERR_PERMISSION_DENIED)
			app->keys.hint = "Skipped: accepting edits requires a trusted folder "
			                 "(/permissions trust)";
	}
}
