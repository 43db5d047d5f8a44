/* SPDX-License-Identifier: Apache-2.0 */
/* run_shell_command: one command, in bash.
 *
 * A command that runs to its end has done what was asked for, whatever its exit code: that is a
 * result ("success": true).  One that could not be started, or that was ended before its end, is a
 * failure.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "tool/denial.h"
#include "tool/history.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/private.h"
#include "tool/tool.h"
#include "worker/environment.h"

/* ---- a command as a result --------------------------------------------------- */

enum { MESSAGE_MAX = 16 << 10 };

struct job *builtin_command_job(struct session *session, const json_t *arguments, struct err *err)
{
	size_t pid = argument_size(arguments, "pid", 0);
	struct job *job = session->jobs && pid <= UINT32_MAX ?
	                  jobs_find(session->jobs, (unsigned)pid) : NULL;

	if (!job)
		err_set(err, ERR_INVALID_ARGUMENT,
		        "No command has pid %zu; list_background_processes shows those "
		        "that there are.", pid);
	return job;
}

/* ---- how it stands ------------------------------------------------------------- */

/* By its name, which is the same on all machines. */
static json_t *signal_json(int number)
{
	const char *name = sigabbrev_np(number);
	char text[24];

	snprintf(text, sizeof(text), "SIG%s", name ? name : "");
	if (!name)
		snprintf(text, sizeof(text), "%d", number);
	return json_string(text);
}

static bool by_itself(const struct job_info *info)
{
	return info->end.why == RUN_EXITED || info->end.why == RUN_SIGNALLED;
}

void builtin_command_state(json_t *result, const struct job_info *info)
{
	bool runs = info->state == JOB_RUNNING;

	json_object_set_new(result, "pid", json_integer(info->id));
	json_object_set_new(result, "state", json_string(job_state_name(info->state)));
	if (info->pid)
		json_object_set_new(result, "process_group", json_integer(info->pid));
	if (info->state == JOB_LEFT)
		json_object_set_new(result, "left_running", json_integer(info->end.left_running));
	if (!runs && info->end.why == RUN_EXITED)
		json_object_set_new(result, "exit_code", json_integer(info->end.exit_code));
	if (!runs && info->end.why == RUN_SIGNALLED)
		json_object_set_new(result, "signal", signal_json(info->end.signal));
	if (!runs && !by_itself(info))
		json_object_set_new(result, "ended_by",
		                    json_string(worker_run_why_name(info->end.why)));
	json_object_set_new(result, "output_bytes", json_size(info->bytes));
	json_object_set_new(result, "duration_ms",
	                    json_size(runs ? info->age_ms : info->end.wall_ms));
}

/* ---- denials -------------------------------------------------------------------- */

/* A model should not request files that are obeyed later, outside the sandbox; the user may still
 * allow them. */
static bool is_obeyed(enum sandbox_reason reason)
{
	return reason == SANDBOX_REASON_GIT || reason == SANDBOX_REASON_SETTINGS;
}

/* The flag that would allow it, for the user, and before it what a model can ask for. */
static void ask_json(json_t *object, enum sandbox_reason reason)
{
	static const struct {
		const char *flag, *begin, *end;
	} asks[] = {
		{ "--net", "{\"network\": true}", "" },
		{ "--write ", "{\"fileSystem\": {\"write\": [\"", "\"]}}" },
		{ "--read ", "{\"fileSystem\": {\"read\": [\"", "\"]}}" },
	};
	_cleanup_buf_ struct buf text = BUF_INIT(2 * MESSAGE_MAX);
	struct span flag = json_span(json_object_get(object, "how_to_allow"));

	for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
		struct span head = span_str(asks[i].flag);

		if (!span_starts(flag, head) || is_obeyed(reason))
			continue;
		buf_printf(&text, "additional_permissions %s", asks[i].begin);
		buf_span(&text, span_skip(flag, head.len));
		buf_printf(&text, "%s; for all commands, the user starts hasp with ", asks[i].end);
	}
	if (flag.len && is_obeyed(reason))
		buf_str(&text, "the user starts hasp with ");
	buf_span(&text, flag);
	if (text.len)
		json_object_set_new(object, "how_to_allow", json_text(buf_view(&text)));
}

static json_t *command_denial(const struct denial *denial)
{
	json_t *object = denial_json(denial);

	ask_json(object, denial->reason);
	return object;
}

static bool has_failed(const struct job_report *report)
{
	const struct run_end *end = &report->info.end;

	return report->info.state != JOB_RUNNING &&
	       (end->why != RUN_EXITED || end->exit_code != 0);
}

/* A model that reads of a denial looks into it: routine ones are worth that after a failure
 * alone. */
static bool is_shown(const struct job_report *report, size_t i)
{
	return has_failed(report) || !denial_is_routine(&report->denials[i]);
}

static size_t shown_count(const struct job_report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->denial_count; i++)
		count += is_shown(report, i);
	return count;
}

static void denials_json(json_t *result, const struct job_report *report)
{
	json_t *list;

	if (!shown_count(report))
		return;
	list = json_array();
	for (size_t i = 0; i < report->denial_count; i++)
		if (is_shown(report, i))
			json_array_append_new(list, command_denial(&report->denials[i]));
	json_object_set_new(result, "denials", list);
	if (report->denials_left_out)
		json_object_set_new(result, "denials_left_out",
		                    json_size(report->denials_left_out));
}

/* Whether it may have failed for want of something hidden; nothing shows whether it did. */
static bool names_hidden_paths(const struct job_report *report)
{
	const struct run_end *end = &report->info.end;

	return report->hidden_count && report->info.state != JOB_RUNNING &&
	       (end->why == RUN_SIGNALLED || (end->why == RUN_EXITED && end->exit_code != 0));
}

static void hidden_json(json_t *result, const struct job_report *report)
{
	json_t *list;

	if (!names_hidden_paths(report))
		return;
	list = json_array();
	for (size_t i = 0; i < report->hidden_count; i++)
		json_array_append_new(list, json_name(report->hidden[i]));
	json_object_set_new(result, "hidden_paths", list);
	if (report->hidden_left_out)
		json_object_set_new(result, "hidden_paths_left_out",
		                    json_size(report->hidden_left_out));
}

/* ---- output --------------------------------------------------------------------- */

static void put_command_output(json_t *result, const struct job_report *report)
{
	const struct capture_text *text = &report->text;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	if (report->binary) {
		json_object_set_new(result, "binary", json_true());
		return;
	}
	buf_span(&out, buf_view(&text->head));
	if (text->left_out_bytes)
		buf_printf(&out, "%s[... %" PRIu64 " lines, %" PRIu64 " bytes left out ...]\n",
		           span_ends(buf_view(&out), SPAN("\n")) ? "" : "\n",
		           text->left_out_lines, text->left_out_bytes);
	buf_span(&out, buf_view(&text->tail));
	json_object_set_new(result, "output", json_text(buf_view(&out)));
	if (text->left_out_bytes)
		json_object_set_new(result, "truncated", json_true());
	if (report->text_bytes)
		json_object_set_new(result, "binary", json_true());
}

/* A log goes with its session. */
static void log_json(json_t *result, const struct session *session,
                     const struct job_report *report)
{
	if (session->one_call)
		return;
	if (report->log_path)
		json_object_set_new(result, "log_path", json_name(report->log_path));
	if (report->log_errno && report->log_path)
		json_object_set_new(result, "log_cut", json_cstr(strerror(report->log_errno)));
}

/* ---- the message ---------------------------------------------------------------- */

static void put_duration(struct buf *out, uint64_t ms)
{
	buf_printf(out, "after %" PRIu64 ".%" PRIu64 " s", ms / 1000, ms % 1000 / 100);
}

static void put_end(struct buf *out, const struct job_info *info)
{
	static const char *const stopped[] = {
		[RUN_TIMED_OUT] = "The command took too long and was ended ",
		[RUN_INACTIVE] = "The command printed nothing for too long and was ended ",
		[RUN_CANCELLED] = "The command was cancelled ",
		[RUN_LIMIT] = "The command reached a limit and was ended ",
		[RUN_LOST] = "The process that ran the command died ",
	};
	const struct run_end *end = &info->end;

	if (end->why == RUN_EXITED)
		buf_printf(out, "The command ended with exit code %d ", end->exit_code);
	else if (end->why == RUN_SIGNALLED)
		buf_printf(out, "The command was ended by signal %s ", strsignal(end->signal));
	else
		buf_str(out, stopped[end->why]);
	put_duration(out, end->wall_ms);
	buf_char(out, '.');
}

static void put_left_running(struct buf *out, const struct session *session,
                             const struct job_info *info)
{
	const unsigned left = info->end.left_running;

	if (session->one_call)
		buf_printf(out, " %u of its processes still ran and %s ended: the session ends "
		                "with this call.", left, left == 1 ? "is" : "are");
	else
		buf_printf(out, " %u of its processes go%s on in the background: "
		                "kill_background_process with pid %u ends that.",
		           left, left == 1 ? "es" : "", info->id);
}

static void put_state(struct buf *out, const struct session *session, const struct job_info *info)
{
	if (info->state == JOB_RUNNING)
		buf_printf(out, "The command runs in the background as pid %u: "
		                "read_background_output shows its output, "
		                "kill_background_process ends it.", info->id);
	else
		put_end(out, info);
	if (info->state == JOB_LEFT)
		put_left_running(out, session, info);
}

static void put_where_the_rest_is(struct buf *out, const struct session *session, unsigned id)
{
	buf_str(out, " The output is too long to be shown whole: ");
	if (session->one_call)
		buf_str(out, "let the command write it to a file.");
	else
		buf_printf(out, "read_background_output with pid %u and an offset shows any part.",
		           id);
}

static void put_output_sentence(struct buf *out, const struct session *session,
                                const struct job_report *report)
{
	size_t shown = shown_count(report);

	if (report->binary)
		buf_printf(out, " Its output is not text (%" PRIu64 " bytes) and is not shown: "
		                "write it to a file.", report->info.bytes);
	else if (report->text_bytes)
		buf_printf(out,
		           " From byte %" PRIu64 " of %" PRIu64 " on its output is not text, and "
		                "is not shown.", report->text_bytes, report->info.bytes);
	if (!report->binary && report->text.left_out_bytes)
		put_where_the_rest_is(out, session, report->info.id);
	if (report->log_errno && report->info.bytes)
		buf_printf(out, " The output was not kept whole: %s.", strerror(report->log_errno));
	if (shown)
		buf_printf(out, " The sandbox refused %zu thing%s, see denials.", shown,
		           shown == 1 ? "" : "s");
}

/* ---- the whole ------------------------------------------------------------------ */

/* Advice where more time or a smaller command would not help. NULL: it would. */
static const char *stop_advice(const struct job_info *info, bool cancelled)
{
	if (cancelled)
		return "The command was cancelled; what it had done by then is done.";
	if (info->end.why == RUN_LOST)
		return "The next command gets a new process. What this one had done by then is "
		       "done: look at that before running it again.";
	return NULL;
}

static json_t *command_error(const struct job_info *info, const char *message, bool cancelled)
{
	const char *own = stop_advice(info, cancelled);
	struct err err = ERR_INIT;
	json_t *failure, *error;

	if (info->state == JOB_RUNNING || by_itself(info))
		return NULL;
	err_set(&err, cancelled ? ERR_CANCELLED : ERR_COMMAND_STOPPED, "%s", message);
	failure = tool_failure(&err);
	error = json_incref(json_object_get(failure, "error"));
	if (own)
		json_object_set_new(error, "advice", json_string(own));
	json_decref(failure);
	return error;
}

/* The result of a call that ran a command, whatever state it is in. `cancelled`: the caller
 * ended it. */
static json_t *command_result(const struct session *session, struct job *job, bool cancelled)
{
	const struct provider *provider = session->provider;
	_cleanup_buf_ struct buf message = BUF_INIT(MESSAGE_MAX);
	struct job_report report;
	json_t *result = json_object(), *error;

	job_report(job, &report);
	put_state(&message, session, &report.info);
	put_output_sentence(&message, session, &report);
	error = command_error(&report.info, message.data, cancelled);
	json_object_set_new(result, "success", json_boolean(!error));
	json_object_set_new(result, "message", json_text(buf_view(&message)));
	put_command_output(result, &report);
	builtin_command_state(result, &report.info);
	log_json(result, session, &report);
	denials_json(result, &report);
	hidden_json(result, &report);
	if (provider->ops->info)
		json_object_set_new(result, "sandbox", json_string(sandbox_level_name(
			provider->ops->info(session->provider)->level)));
	if (error)
		json_object_set_new(result, "error", error);
	job_report_release(&report);
	return result;
}

/* ---- the tool ---------------------------------------------------------------- */

enum {
	COMMAND_MAX = 128 << 10,        /* the kernel's longest argument, with its NUL */
	PROGRESS_MS = 20,               /* from one report of it to the next, at least */
	DELAY_MS = 200,
	TIMEOUT_MS = 60 * 60 * 1000,
	LAST_MS = 3000,                 /* for the end of what was cancelled */
};

static const char description[] =
	"Runs a command with bash -c in the sandbox: only the workspace and TMPDIR can be "
	"written, and there is no network but loopback unless the user allowed it. Standard "
	"input is empty, so use options that do not ask. cd and variables do not outlast the "
	"call.\n\n"
	"success means that the command ran to its end; look at exit_code. Long output is cut in "
	"the middle: read_background_output shows any part. What keeps running (is_background, "
	"or &) ends with the session. denials: do not retry.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["command"], "additionalProperties": false,
	"properties": {
		"command": {"type": "string", "minLength": 1, "description":
			"What bash runs; may have several lines."},
		"description": {"type": "string", "description":
			"Its purpose, for the user."},
		"dir_path": {"type": "string", "minLength": 1, "description":
			"Default: the workspace folder."},
		"is_background": {"type": "boolean", "description":
			"Return while it runs, for servers and watchers. Default false."},
		"delay_ms": {"type": "integer", "minimum": 0, "maximum": 600000, "description":
			"With is_background: how long to wait for first output. Default 200."},
		"timeout_ms": {"type": "integer", "minimum": 0, "maximum": 86400000, "description":
			"0: no limit. Default one hour, in the background 0."},
		"inactivity_ms": {"type": "integer", "minimum": 0, "maximum": 86400000,
			"description": "Ends it after this long without output; 0 never. Default \
five minutes, in the background 0."},
		"pty": {"type": "boolean", "description":
			"Run it in a terminal. Default false."},
		"keep_input": {"type": "boolean", "description":
			"With is_background: for write_background_input. Default false."},
		"additional_permissions": {"type": "object", "additionalProperties": false,
			"description": "What it needs beyond the sandbox; the user is asked.",
			"properties": {
			"network": {"type": "boolean"},
			"fileSystem": {"type": "object", "additionalProperties": false,
			                "properties": {
				"read": {"type": "array", "maxItems": 64,
					"items": {"type": "string", "minLength": 1}},
				"write": {"type": "array", "maxItems": 64,
					"items": {"type": "string", "minLength": 1}}}}}}
	}
} );

static const char result_schema[] = SCHEMA(
{"type": "object", "required": ["success", "message"], "additionalProperties": false,
 "properties": {
	"success": {"type": "boolean", "description":
		"It was run to its end, or runs in the background. See exit_code."},
	"message": {"type": "string"},
	"output": {"type": "string", "description":
		"Output and errors, as a terminal would show them, without colours."},
	"truncated": {"type": "boolean", "const": true},
	"binary": {"type": "boolean", "const": true, "description":
		"The output, or what comes after what is here of it, is not text."}, )
	RESULT_COMMAND_STATE SCHEMA(,
	"log_path": {"type": "string", "description": "Where the user finds all of the output."},
	"log_cut": {"type": "string", "description": "Why the log is not whole."}, )
	RESULT_DENIALS SCHEMA(,
	"sandbox": {"type": "string", "enum": ["full", "landlock", "paths"]}, )
	RESULT_ERROR SCHEMA(}} );
/* clang-format on */

static const struct tool_alias parameter_aliases[] = {
	{ "directory", "dir_path", 0 },
	{ "workdir", "dir_path", 0 },
	{ "cwd", "dir_path", 0 },
	{ "working_directory", "dir_path", 0 },
	{ "cmd", "command", 0 },
	{ "script", "command", 0 },
	{ "timeout", "timeout_ms", 0 },
	{ "run_in_background", "is_background", 0 },
	{ "background", "is_background", 0 },
	{ "tty", "pty", 0 },
	{ "explanation", "description", 0 },
	{ NULL, NULL, 0 },
};

/* ---- the request ----------------------------------------------------------------- */

struct shell_wanted {
	struct run_request request;
	const char *argv[4];
	const char **write, **read; /* owned arrays of borrowed strings */
	struct tool_grant granted; /* owned */
	bool background;
	bool interactive;     /* the user may type into it */
	unsigned timeout_ms, inactivity_ms; /* of an interactive one, until it is sent away */
	size_t delay_ms;
};

static void wanted_release(struct shell_wanted *wanted)
{
	free(wanted->write);
	free(wanted->read);
	tool_grant_release(&wanted->granted);
}

static void read_permissions(const struct session *session, const json_t *arguments,
                             struct shell_wanted *wanted)
{
	const json_t *more = json_object_get(arguments, "additional_permissions");
	const json_t *files = json_object_get(more, "fileSystem");

	wanted->write = argument_strings(files, "write", &wanted->request.write_count);
	wanted->read = argument_strings(files, "read", &wanted->request.read_count);
	wanted->request.write = wanted->write;
	wanted->request.read = wanted->read;
	session_granted(session, &wanted->granted);
	wanted->request.exact = (const char *const *)wanted->granted.files;
	wanted->request.exact_count = wanted->granted.file_count;
	wanted->request.network = argument_bool(more, "network", false) || wanted->granted.network;
}

static unsigned milliseconds(const json_t *arguments, const char *name, size_t otherwise)
{
	return (unsigned)argument_size(arguments, name, otherwise);
}

/* The front that shows commands also has their keyboard.  Timeouts are enforced here: they no
 * longer apply once the user types, or sends the command to the background. */
static void give_terminal(const struct session *session, struct shell_wanted *wanted)
{
	const unsigned rows = session->terminal ? session->terminal->rows : 0;
	struct run_request *request = &wanted->request;

	if (!rows)
		return;
	wanted->interactive = true;
	wanted->timeout_ms = request->timeout_ms;
	wanted->inactivity_ms = request->inactivity_ms;
	request->timeout_ms = request->inactivity_ms = 0;
	request->pty = true;
	request->no_input = false;
	request->rows = rows;
	request->columns = session->terminal->columns;
}

static void read_command_arguments(const struct session *session, const json_t *arguments,
                                   struct shell_wanted *wanted)
{
	struct run_request *request = &wanted->request;
	bool background = argument_bool(arguments, "is_background", false);

	wanted->background = background;
	wanted->delay_ms = argument_size(arguments, "delay_ms", DELAY_MS);
	wanted->argv[0] = "bash";
	wanted->argv[1] = "-c";
	wanted->argv[2] = argument_str(arguments, "command");
	request->argv = wanted->argv;
	request->folder = argument_str(arguments, "dir_path");
	request->pty = argument_bool(arguments, "pty", false);
	request->merge = true;
	request->no_input = !(background && argument_bool(arguments, "keep_input", false));
	request->timeout_ms = milliseconds(arguments, "timeout_ms", background ? 0 : TIMEOUT_MS);
	request->inactivity_ms =
		milliseconds(arguments, "inactivity_ms", background ? 0 : session->inactivity_ms);
	request->leave_running = true;
	read_permissions(session, arguments, wanted);
	if (!argument_bool(arguments, "keep_input", false))
		give_terminal(session, wanted);
}

static bool can_run(const struct session *session, const json_t *arguments, struct err *err)
{
	if (!session->jobs || !session->provider->ops->run)
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "Commands cannot be run in this session.");
	if (!argument_str(arguments, "command"))
		return err_set(err, ERR_INVALID_ARGUMENT, "The command is empty.");
	if (session->one_call && argument_bool(arguments, "is_background", false))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "is_background: this session ends with its one call, and the "
		               "command would end with it. Leave out is_background, or call from a "
		               "session that goes on (hasp serve mcp, the agent).");
	if (argument_span(arguments, "command").len >= COMMAND_MAX)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The command is longer than 128 KiB; write it to a file first, and "
		               "run that.");
	return true;
}

/* ---- the run ---------------------------------------------------------------------- */

/* Milliseconds until `limit` is reached; 0 of a limit: none. */
static int lesser_left(int left, uint64_t limit, uint64_t passed)
{
	const uint64_t more = limit > passed ? limit - passed : 0;

	return limit && (left < 0 || more < (uint64_t)left) ? (int)more : left;
}

/* Ends a command that took too long. Returns the milliseconds until the next check; -1: none is
 * needed. Output and typed input postpone the timeout, but do not require an earlier check. */
static int keep_times(const struct shell_wanted *wanted, struct job *job, uint64_t age_ms)
{
	const uint64_t silent_ms = wanted->inactivity_ms ? job_silent_ms(job) : 0;

	if (wanted->timeout_ms && age_ms >= wanted->timeout_ms) {
		job_stop(job, RUN_TIMED_OUT);
		return -1;
	}
	if (wanted->inactivity_ms && silent_ms >= wanted->inactivity_ms) {
		job_stop(job, RUN_INACTIVE);
		return -1;
	}
	return lesser_left(lesser_left(-1, wanted->timeout_ms, age_ms), wanted->inactivity_ms,
	                   silent_ms);
}

/* Until the command has ended, was sent to the background, or the call is cancelled; of one in the
 * background, for as long as its first output is waited for. Returns whether it was cancelled. */
static bool wait_for_job(const struct session *session, const struct shell_wanted *wanted,
                         struct job *job)
{
	const uint64_t delay_ms = wanted->background ? wanted->delay_ms : 0;
	const uint64_t began_ms = clock_monotonic_ms();
	const bool reports = session->hooks.progress;
	struct job_news news = { .bytes = UINT64_MAX };
	struct job_info info;
	uint64_t waited_ms;

	while (!session_wait_job(session, job, &news) && !job_is_away(job)) {
		if (session_cancelled(session)) {
			job_kill(job);
			job_wait_all(job, LAST_MS);
			return true;
		}
		waited_ms = clock_monotonic_ms() - began_ms;
		if (delay_ms && waited_ms >= delay_ms)
			return false;
		job_state(job, &info);
		session_progress(session, (size_t)info.bytes, 0);
		news.ms = lesser_left(keep_times(wanted, job, info.age_ms), delay_ms, waited_ms);
		if (reports && !job_wait(job, PROGRESS_MS))
			news.bytes = info.bytes;
	}
	return false;
}

/* What is left running, or still runs, is remembered; else all is reported when it is over. */
static void settle_job(struct job *job)
{
	struct job_info info;

	job_state(job, &info);
	if (info.state == JOB_RUNNING || info.end.left_running)
		job_background(job);
	else
		job_wait_all(job, LAST_MS);
}

static json_t *run_command_job(struct session *session, struct shell_wanted *wanted,
                               struct err *err)
{
	char **env = session_environment(session, wanted->request.pty);
	const struct job_request request = { .run = &wanted->request,
		                             .command = wanted->argv[2],
		                             .background = wanted->background,
		                             .interactive = wanted->interactive,
		                             .call = session->hooks.call,
		                             .output = session->hooks.output,
		                             .data = session->hooks.data };
	struct job *job;
	struct job_info info;
	size_t id;
	json_t *result;
	bool started, cancelled;

	wanted->request.env = (const char *const *)env;
	session_wait_begin(session);
	id = history_command(session, wanted->argv[2]);
	started = job_start(session->jobs, session->provider, &request, &job, err);
	cancelled = started && !(wanted->background && !wanted->delay_ms) &&
	            wait_for_job(session, wanted, job);
	if (started)
		settle_job(job);
	session_wait_end(session);
	environment_free(env);
	if (started)
		job_state(job, &info);
	if (!started || info.state == JOB_ENDED)
		history_command_ended(session, id);
	if (!started)
		return NULL;
	job_quiet(job); /* the receiver of the output exists for this call alone */
	result = command_result(session, job, cancelled);
	job_release(job);
	return result;
}

static json_t *run_command_tool(struct session *session, const json_t *arguments)
{
	struct shell_wanted wanted = { 0 };
	struct err err = ERR_INIT;
	json_t *result = NULL;

	if (can_run(session, arguments, &err)) {
		read_command_arguments(session, arguments, &wanted);
		result = run_command_job(session, &wanted, &err);
		wanted_release(&wanted);
	}
	return result ? result : tool_failure(&err);
}

static const char *const undeclared[] = { "delay_ms", "inactivity_ms", "pty", NULL };

const struct tool tool_run_shell_command = {
	.info = &tool_infos[TOOL_RUN_SHELL_COMMAND],
	.name = "run_shell_command",
	.title = "Run a command",
	.parameter_aliases = parameter_aliases,
	.description = description,
	.arguments_schema = arguments_schema,
	.undeclared = undeclared,
	.result_schema = result_schema,
	.check = builtin_syntax_check,
	.run = run_command_tool,
};
