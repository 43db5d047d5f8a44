/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/builtin/command_result.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "tool/builtin/arguments.h"
#include "tool/denial.h"

enum { MESSAGE_MAX = 16 << 10 };

struct job *command_job(struct session *session, const json_t *arguments, struct err *err)
{
	size_t pid = argument_size(arguments, "pid", 0);
	struct job *job = session->jobs && pid <= UINT32_MAX ?
	                  jobs_find(session->jobs, (unsigned)pid) : NULL;

	if (!job)
		err_set(err, ERR_INVALID_ARGUMENT,
		        "There is no command with pid %zu; list_background_processes shows those "
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

void command_state_json(json_t *result, const struct job_info *info)
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
		json_object_set_new(result, "ended_by", json_string(run_why_name(info->end.why)));
	json_object_set_new(result, "output_bytes", json_size(info->bytes));
	json_object_set_new(result, "duration_ms",
	                    json_size(runs ? info->age_ms : info->end.wall_ms));
}

/* ---- denials -------------------------------------------------------------------- */

/* What is obeyed later, outside of the sandbox, is not what a model should ask for: the user may
 * give it all the same. */
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

/* A model that reads of a denial looks into it: routine ones are worth that after a failure alone. */
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

/* Whether it may have failed for want of something hidden; nothing tells whether it did. */
static bool tells_hidden(const struct job_report *report)
{
	const struct run_end *end = &report->info.end;

	return report->hidden_count && report->info.state != JOB_RUNNING &&
	       (end->why == RUN_SIGNALLED || (end->why == RUN_EXITED && end->exit_code != 0));
}

static void hidden_json(json_t *result, const struct job_report *report)
{
	json_t *list;

	if (!tells_hidden(report))
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

static void output_json(json_t *result, const struct job_report *report)
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

static void say_duration(struct buf *out, uint64_t ms)
{
	buf_printf(out, "after %" PRIu64 ".%" PRIu64 " s", ms / 1000, ms % 1000 / 100);
}

static void say_end(struct buf *out, const struct job_info *info)
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
	say_duration(out, end->wall_ms);
	buf_char(out, '.');
}

static void say_left(struct buf *out, const struct session *session, const struct job_info *info)
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

static void say_state(struct buf *out, const struct session *session, const struct job_info *info)
{
	if (info->state == JOB_RUNNING)
		buf_printf(out, "The command runs in the background as pid %u: "
		                "read_background_output shows its output, "
		                "kill_background_process ends it.", info->id);
	else
		say_end(out, info);
	if (info->state == JOB_LEFT)
		say_left(out, session, info);
}

static void say_where_the_rest_is(struct buf *out, const struct session *session, unsigned id)
{
	buf_str(out, " The output is too long to be shown whole: ");
	if (session->one_call)
		buf_str(out, "let the command write it to a file.");
	else
		buf_printf(out, "read_background_output with pid %u and an offset shows any part.",
		           id);
}

static void say_output(struct buf *out, const struct session *session,
                       const struct job_report *report)
{
	size_t shown = shown_count(report);

	if (report->binary)
		buf_printf(out, " Its output is not text (%" PRIu64 " bytes) and is not shown: "
		                "write it to a file.", report->info.bytes);
	else if (report->text_bytes)
		buf_printf(out, " From byte %" PRIu64 " of %" PRIu64 " on its output is not text, and "
		                "is not shown.", report->text_bytes, report->info.bytes);
	if (!report->binary && report->text.left_out_bytes)
		say_where_the_rest_is(out, session, report->info.id);
	if (report->log_errno && report->info.bytes)
		buf_printf(out, " The output was not kept whole: %s.", strerror(report->log_errno));
	if (shown)
		buf_printf(out, " The sandbox refused %zu thing%s, see denials.", shown,
		           shown == 1 ? "" : "s");
}

/* ---- the whole ------------------------------------------------------------------ */

/* Where more time or less work at once would not help. NULL: that is the advice. */
static const char *advice(const struct job_info *info, bool cancelled)
{
	if (cancelled)
		return "The command was cancelled; what it had done by then is done.";
	if (info->end.why == RUN_LOST)
		return "The next command gets a new process. What this one had done by then is done: "
		       "look at that before running it again.";
	return NULL;
}

static json_t *error_of(const struct job_info *info, const char *message, bool cancelled)
{
	const char *own = advice(info, cancelled);
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

json_t *command_result(const struct session *session, struct job *job, bool cancelled)
{
	const struct provider *provider = session->provider;
	_cleanup_buf_ struct buf message = BUF_INIT(MESSAGE_MAX);
	struct job_report report;
	json_t *result = json_object(), *error;

	job_report(job, &report);
	say_state(&message, session, &report.info);
	say_output(&message, session, &report);
	error = error_of(&report.info, message.data, cancelled);
	json_object_set_new(result, "success", json_boolean(!error));
	json_object_set_new(result, "message", json_text(buf_view(&message)));
	output_json(result, &report);
	command_state_json(result, &report.info);
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
