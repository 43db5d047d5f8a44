/* SPDX-License-Identifier: Apache-2.0 */
/* The command of the setting statusLine: it gets the session's state as JSON on standard input, and
 * the first line that it writes is the status line.
 *
 * It runs as hooks do (hooks_run), outside of the sandbox, on a separate thread: a project's
 * counts only after "hasp config allow statusLine" in a trusted folder.  It is asked once for each
 * state, never twice at a time, and no timer runs: what has changed meanwhile is asked for when it
 * ends.  What it writes is foreign text: it goes through the emulator (colours, and nothing else),
 * or without one is shown with its controls as escapes. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/setup/prepare.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "hooks/hooks.h"
#include "model/model.h"
#include "policy/policy.h"
#include "tui/show/desktop.h"
#include "tui/emulator/emulator.h"
#include "tui/term/frames.h"
#include "tui/show/printout.h"
#include "tui/show/status.h"
#include "tui/status_line.h"
#include "tui/tui.h"
#include "worker/environment.h"

enum { LINE_TIMEOUT_MS = 5000, LINE_BYTES_MAX = 8192 };

struct status_line {
	struct printout *out;        /* borrowed */
	const char *project;         /* borrowed; its folder */
	char *command;               /* owned */
	char **environment;          /* owned */
	struct hooks *hooks;         /* without any hook: their environment and folder */
	struct cancel cancel;
	char *session;               /* owned; the last that was known, or NULL */
	json_t *asked;               /* the state of the last run; or NULL */
	pthread_t thread;
	bool running;                /* the thread is, and will post */
	bool stopped;                /* it was waited for, and no other is started */
	struct status_line *before;  /* stopped, owned; or NULL */
	bool failed, warned;         /* the last run; any */
	struct buf input, output;    /* the thread's, until it has posted */
	struct err err;              /* likewise */
	struct loop_task task;
	struct row row;              /* what is shown */
};

/* ---- the state --------------------------------------------------------------- */

/* Per cent of the model's context that the last request took. */
static json_int_t line_used(const struct status *status)
{
	const uint64_t used = status->window ? status->context * 100 / status->window : 0;

	return (json_int_t)(used < 100 ? used : 100);
}

/* The members that scripts for Claude Code's status line read, and a few of ours. */
static json_t *line_state(const struct status_line *line, const struct status *status,
                          enum desktop_state doing)
{
	static const char *const words[] = { [DESKTOP_READY] = "idle",
		                             [DESKTOP_WORKING] = "working",
		                             [DESKTOP_QUESTION] = "asking" };
	const char *folder = line->project;
	json_t *state = json_pack(
		"{s:s, s:s, s:o, s:{s:s, s:s}, s:{s:o, s:o}, s:s, s:{s:I, s:I}}",
		"hook_event_name", "Status", "session_id", line->session ? line->session : "",
		"cwd", json_name(folder),
		"model", "id", status->model, "display_name", model_plain_id(status->model),
		"workspace", "current_dir", json_name(folder), "project_dir", json_name(folder),
		"version", HASP_VERSION,
		"cost", "total_lines_added", (json_int_t)status->added,
		"total_lines_removed", (json_int_t)status->removed);
	if (status->cost)
		json_object_set_new(json_object_get(state, "cost"), "total_cost_usd",
		                    json_real((double)status->cost / 1e6));
	json_t *window = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I}",
		"total_input_tokens", (json_int_t)status->input,
		"total_output_tokens", (json_int_t)status->output,
		"cached_input_tokens", (json_int_t)status->cached,
		"context_window_size", (json_int_t)status->window,
		"used_percentage", line_used(status),
		"remaining_percentage", 100 - line_used(status));

	json_object_set_new(state, "context_window", window);
	json_object_set_new(state, "approval_mode", json_string(policy_mode_name(status->mode)));
	json_object_set_new(state, "state", json_string(words[doing]));
	if (status->branch)
		json_object_set_new(state, "git_branch", json_text(span_str(status->branch)));
	if (status->level)
		json_object_set_new(state, "sandbox", json_string(status->level));
	return state;
}

/* ---- what it says ------------------------------------------------------------ */

static void line_take(struct status_line *line)
{
	struct span rest = buf_view(&line->output), first = { 0 };
	struct emulator *emulator = emulator_available() ?
	                                    emulator_new(1, EMULATOR_COLUMNS_MAX, NULL, NULL) :
	                                    NULL;
	_cleanup_rows_ struct rows rows = { 0 };

	line_next(&rest, &first);
	first = line_body(first);
	line->failed = false;
	row_release(&line->row);
	if (!emulator) {
		row_text(&line->row, first, STYLE(ROLE_DIM));
		return;
	}
	emulator_feed(emulator, first);
	emulator_rows(emulator, &(struct emulator_view){ .rows = 1, .colours = true }, &rows);
	if (rows.count)
		row_append(&line->row, &rows.at[0]);
	emulator_free(emulator);
}

/* A command that fails says so once, and the usual items are back until it works again. */
static void line_failed(struct status_line *line)
{
	_cleanup_free_ char *text = mem_printf("statusLine: %s", line->err.message);

	line->failed = true;
	if (!line->warned && line->err.code != ERR_CANCELLED)
		printout_notice(line->out, "warning", span_str(text));
	line->warned = true;
}

static void line_arrived(struct loop_task *task)
{
	struct status_line *line = (struct status_line *)((char *)task -
	                                                  offsetof(struct status_line, task));

	if (!line->stopped)
		pthread_join(line->thread, NULL);
	line->running = false;
	if (line->out->frames->ended)
		return;
	if (line->err.code)
		line_failed(line);
	else
		line_take(line);
	frames_want(line->out->frames);
}

static void *line_run(void *data)
{
	struct status_line *line = data;

	hooks_run(line->hooks, line->command, LINE_TIMEOUT_MS, buf_view(&line->input),
	          &line->cancel, &line->output, &line->err);
	loop_post(line->out->frames->loop, &line->task);
	return NULL;
}

/* ---- when -------------------------------------------------------------------- */

static void line_follow_session(struct status_line *line, const char *session)
{
	if (!session || (line->session && strcmp(line->session, session) == 0))
		return;
	free(line->session);
	line->session = mem_strdup(session);
	hooks_set_session(line->hooks, session, "", NULL);
}

void status_line_update(struct status_line *line, const struct status *status,
                        const char *session, enum desktop_state doing)
{
	json_auto_t *state = NULL;

	if (!line || line->running || line->stopped || !status->model)
		return;
	line_follow_session(line, session);
	state = line_state(line, status, doing);
	if (json_equal(state, line->asked))
		return;
	json_decref(line->asked);
	line->asked = json_incref(state);
	buf_clear(&line->input);
	buf_clear(&line->output);
	line->err = (struct err)ERR_INIT;
	line->task.run = line_arrived;
	if (json_print(&line->input, state, 0))
		line->running = pthread_create(&line->thread, NULL, line_run, line) == 0;
}

const struct row *status_line_row(const struct status_line *line)
{
	return line && !line->failed && !line->stopped ? &line->row : NULL;
}

/* ---- life -------------------------------------------------------------------- */

struct status_line *status_line_new(const struct tui_options *options, struct printout *out)
{
	const json_t *setting = settings_get(session_settings(options->session), "statusLine");
	const char *type = json_string_value(json_object_get(setting, "type"));
	const char *command = json_string_value(json_object_get(setting, "command"));
	_cleanup_free_ char *trust = NULL;
	struct status_line *line;
	struct err err = ERR_INIT;

	if (!json_object_size(setting))
		return NULL;
	if (!command || !*command || (type && strcmp(type, "command") != 0)) {
		printout_notice(out, "warning",
		                SPAN("statusLine must be {\"type\": \"command\", \"command\": "
		                     "\"...\"}."));
		return NULL;
	}
	line = mem_alloc(1, sizeof(*line));
	if (!cancel_init(&line->cancel, &err)) {
		free(line);
		return NULL;
	}
	line->out = out;
	line->project = session_folder(options->session);
	line->command = mem_strdup(command);
	line->input = (struct buf)BUF_INIT(LIMIT_MESSAGE_BYTES);
	line->output = (struct buf)BUF_INIT(LINE_BYTES_MAX);
	line->environment = prepare_environment(session_settings(options->session));
	trust = mem_printf("%s/trusted_hooks.json", home_gemini(
		settings_home(session_settings(options->session))));
	line->hooks = hooks_new(&(struct hooks_options){
		.project = session_folder(options->session),
		.cwd = options->local ? session_folder(options->session) : NULL,
		.session_id = "", .transcript_path = "", .environment = line->environment,
		.trust_file = trust, .enabled = true,
	});
	return line;
}

struct status_line *status_line_renew(struct status_line *line, const struct tui_options *options,
                                      struct printout *out)
{
	const json_t *setting = settings_get(session_settings(options->session), "statusLine");
	const char *command = json_string_value(json_object_get(setting, "command"));
	struct status_line *new;

	if (line && !line->stopped && command && strcmp(line->command, command) == 0)
		return line;
	status_line_stop(line);
	new = status_line_new(options, out);
	if (!new)
		return line;
	new->before = line;
	return new;
}

void status_line_stop(struct status_line *line)
{
	if (!line || line->stopped)
		return;
	cancel_set(&line->cancel);
	if (line->running)
		pthread_join(line->thread, NULL);
	line->stopped = true;
}

static void line_free(struct status_line *line)
{
	hooks_free(line->hooks);
	environment_free(line->environment);
	cancel_release(&line->cancel);
	json_decref(line->asked);
	buf_release(&line->input);
	buf_release(&line->output);
	row_release(&line->row);
	free(line->command);
	free(line->session);
	free(line);
}

void status_line_free(struct status_line *line)
{
	while (line) {
		struct status_line *before = line->before;

		line_free(line);
		line = before;
	}
}
