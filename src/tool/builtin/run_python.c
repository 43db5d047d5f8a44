/* SPDX-License-Identifier: Apache-2.0 */
/* run_python: Python code, in one interpreter that keeps its variables between calls.
 *
 * The interpreter runs python_driver.py in the sandbox of a command (worker/job/interpreter.h).
 * Code that ran to its end is a result ("success": true), and so is an exception that it raised, as
 * the exit code of a command is.  Code that was stopped, or took the interpreter down, is a
 * failure.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/private.h"
#include "tool/denial.h"
#include "tool/history.h"
#include "tool/services.h"
#include "worker/environment.h"
#include "worker/job/interpreter.h"

enum {
	PYTHON_MESSAGE_MAX = 4 << 10,
};

/* ---- the result --------------------------------------------------------------------- */

static void put_python_output(json_t *result, const struct interpreter_report *report)
{
	const struct capture_text *text = &report->text;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	json_object_set_new(result, "output_bytes", json_size(report->bytes));
	if (report->binary) {
		json_object_set_new(result, "binary", json_true());
		return;
	}
	buf_span(&out, buf_view(&text->head));
	if (text->left_out_bytes) {
		buf_printf(&out, "%s[... %" PRIu64 " lines, %" PRIu64 " bytes left out ...]\n",
		           span_ends(buf_view(&out), SPAN("\n")) ? "" : "\n",
		           text->left_out_lines, text->left_out_bytes);
		json_object_set_new(result, "truncated", json_true());
	}
	buf_span(&out, buf_view(&text->tail));
	json_object_set_new(result, "output", json_text(buf_view(&out)));
}

/* Routine ones are worth a look after a failure alone. */
static size_t put_python_denials(json_t *result, const struct interpreter_report *report,
                                 bool failed)
{
	json_t *list = json_array();
	size_t shown;

	for (size_t i = 0; i < report->denial_count; i++)
		if (failed || !denial_is_routine(&report->denials[i]))
			json_array_append_new(list, denial_json(&report->denials[i]));
	shown = json_array_size(list);
	if (shown)
		json_object_set(result, "denials", list);
	json_decref(list);
	return shown;
}

/* The end of a process that other calls needed. */
static void put_process_end(struct buf *out, const struct run_end *end)
{
	switch (end->why) {
	case RUN_EXITED:
		buf_printf(out, "The code ended the interpreter with exit code %d",
		           end->exit_code);
		break;
	case RUN_SIGNALLED:
		buf_printf(out, "The interpreter was ended by signal %s", strsignal(end->signal));
		break;
	case RUN_LIMIT:
		buf_str(out, "The interpreter reached a limit of memory or processes and was "
		             "ended");
		break;
	case RUN_CANCELLED:
		buf_str(out, "The interpreter was ended, as its session or workspace was");
		break;
	default:
		buf_str(out, "The process that ran the interpreter died");
	}
}

static void put_interrupt(struct buf *out, const struct interpreter_report *report)
{
	if (report->cancelled)
		buf_str(out, "The call was cancelled");
	else
		buf_printf(out, "The code ran for %" PRIu64 ".%" PRIu64
		           " s, which is too long, and was interrupted", report->wall_ms / 1000,
		           report->wall_ms % 1000 / 100);
}

/* One sentence; returns whether the call failed. */
static bool put_answered(struct buf *out, const struct interpreter_report *report,
                         const char *status, const char *name)
{
	if (report->cancelled || report->timed_out) {
		put_interrupt(out, report);
		buf_str(out, "; variables are kept.");
		return true;
	}
	if (!strcmp(status, "ok"))
		buf_str(out, "The code ran to its end.");
	else if (!strcmp(status, "exit"))
		buf_str(out, "The code called sys.exit; the interpreter goes on, and variables are "
		             "kept.");
	else if (!strcmp(status, "interrupted"))
		buf_str(out, "The code raised KeyboardInterrupt.");
	else
		buf_printf(out, "The code raised %s.", *name ? name : "an exception");
	return false;
}

static void put_lost(struct buf *out, const struct interpreter_report *report)
{
	if (report->why == INTERPRETER_ENDED)
		put_process_end(out, &report->end);
	else if (report->why == INTERPRETER_KILLED)
		put_interrupt(out, report);
	else
		buf_str(out, "The code wrote to the interpreter's own channel, and the interpreter "
		             "was ended");
	if (report->why == INTERPRETER_KILLED)
		buf_str(out, ", which it ignored: the interpreter was killed");
	buf_str(out, ". All variables are lost; the next call starts a new interpreter.");
}

static void put_output_advice(struct buf *out, const struct interpreter_report *report,
                              size_t denials)
{
	if (report->binary)
		buf_printf(out, " What it printed is not text (%" PRIu64 " bytes) and is not "
		                "shown: write it to a file.", report->bytes);
	else if (report->text.left_out_bytes)
		buf_str(out, " The output is too long to be shown whole: print less, or write it "
		             "to a file.");
	if (denials)
		buf_printf(out, " The sandbox refused %zu thing%s, see denials.", denials,
		           denials == 1 ? "" : "s");
}

static json_t *python_error(const char *message, bool is_cancelled)
{
	struct err err = ERR_INIT;
	json_t *failure, *error;

	err_set(&err, is_cancelled ? ERR_CANCELLED : ERR_COMMAND_STOPPED, "%s", message);
	failure = tool_failure(&err);
	error = json_incref(json_object_get(failure, "error"));
	json_object_set_new(error, "advice", json_string(
		"What the code had done by then is done: look at that before running it again."));
	json_decref(failure);
	return error;
}

static json_t *python_result(const struct session *session, struct interpreter *interpreter,
                             const struct interpreter_report *report)
{
	const struct provider_ops *ops = session->provider->ops;
	_cleanup_buf_ struct buf message = BUF_INIT(PYTHON_MESSAGE_MAX);
	json_t *result = json_object();
	char name[PYTHON_NAME_SHOWN + 1] = "";
	const char *status = NULL;
	bool failed = true;

	json_object_set_new(result, "success", json_false());
	json_object_set_new(result, "message", json_string(""));
	put_python_output(result, report);
	if (report->why == INTERPRETER_ANSWERED)
		status = python_answer_take(buf_view(&report->answer), result, name);
	if (status)
		failed = put_answered(&message, report, status, name);
	else
		put_lost(&message, report);
	if (!status) /* also after an answer that is none */
		interpreter_end(interpreter);
	put_output_advice(&message, report,
	                  put_python_denials(result, report, failed || strcmp(status, "ok") != 0));
	json_object_set_new(result, "success", json_boolean(!failed));
	json_object_set_new(result, "message", json_text(buf_view(&message)));
	json_object_set_new(result, "duration_ms", json_size(report->wall_ms));
	if (ops->info)
		json_object_set_new(result, "sandbox", json_string(
			sandbox_level_name(ops->info(session->provider)->level)));
	if (failed)
		json_object_set_new(result, "error",
		                    python_error(message.data, report->cancelled));
	return result;
}

/* ---- the tool ----------------------------------------------------------------------- */

static const char description[] =
	"Runs Python code in the sandbox, as run_shell_command runs commands. Variables, imports "
	"and functions are kept for later calls. The answer has what was printed, the value of a "
	"last expression, and figures of matplotlib as pictures.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["code"], "additionalProperties": false,
	"properties": {
		"code": {"type": "string", "minLength": 1},
		"timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 86400,
			"description": "Then it is interrupted."},
		"reset": {"type": "boolean", "description":
			"Start a new interpreter first, without variables. Default false."}
	}
} );

static const char result_schema[] = SCHEMA(
{"type": "object", "required": ["success", "message"], "additionalProperties": false,
 "properties": {
	"success": {"type": "boolean", "description":
		"It was run to its end, or to an exception."},
	"message": {"type": "string"},
	"output": {"type": "string", "description": "What it printed."},
	"truncated": {"type": "boolean", "const": true},
	"binary": {"type": "boolean", "const": true, "description":
		"What it printed is not text."},
	"value": {"type": "string", "description": "The repr of the last expression."},
	"exception": {"type": "string", "description": "The traceback."},
	"pictures": {"type": "array", "items": {"type": "object", "required": ["mime_type"],
		"additionalProperties": false, "properties": {
		"mime_type": {"type": "string"}, "data": {"type": "string"}}}},
	"pictures_left_out": {"type": "integer", "description": "Too many, or too large."},
	"output_bytes": {"type": "integer"},
	"duration_ms": {"type": "integer"}, )
	RESULT_DENIALS SCHEMA(,
	"sandbox": {"type": "string", "enum": ["full", "landlock", "paths"]}, )
	RESULT_ERROR SCHEMA(}} );
/* clang-format on */

static const struct tool_alias parameter_aliases[] = {
	{ "source", "code", 0 },
	{ "script", "code", 0 },
	{ "python_code", "code", 0 },
	{ "timeout", "timeout_seconds", 0 },
	{ "restart", "reset", 0 },
	{ NULL, NULL, 0 },
};

/* The interpreter is chosen inside the sandbox, where the workspace's own may be run. */
static const char launcher[] =
	"if [ -n \"$1\" ] && [ -x .venv/bin/python ]; then exec .venv/bin/python -c \"$3\"; fi; "
	"exec \"$2\" -c \"$3\"";

static bool can_run_python(const struct session *session, const json_t *arguments, struct err *err)
{
	const struct span code = json_span(json_object_get(arguments, "code"));

	if (!session->jobs || !session->provider->ops->run || !session->services ||
	    !session->services->python)
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "Python code cannot be run in this session.");
	if (memchr(code.data, '\0', code.len))
		return err_set(err, ERR_INVALID_ARGUMENT, "The code has a NUL character.");
	return true;
}

/* Of the first call: what a command would get. */
static void describe_process(const struct session *session, const struct tool_grant *granted,
                             struct run_request *request)
{
	const struct tool_python *python = session->services->python;

	request->exact = (const char *const *)granted->files;
	request->exact_count = granted->file_count;
	request->network = granted->network;
	if (python->memory_bytes) {
		request->limits = sandbox_limits_default();
		request->limits.memory_bytes = python->memory_bytes;
	}
}

static json_t *run_python_code(struct session *session, const json_t *arguments, struct err *err)
{
	const struct tool_python *python = session->services->python;
	const char *program = python->program ? python->program : "python3";
	const char *const argv[] = { "sh", "-c", launcher, "sh", python->project ? "1" : "",
		                     program, python_driver, NULL };
	char **env = session_environment(session, false);
	struct run_request request = { .argv = argv, .env = (const char *const *)env };
	const struct interpreter_call call = {
		.run = &request,
		.code = json_span(json_object_get(arguments, "code")),
		.timeout_ms = 1000 * (unsigned)argument_size(arguments, "timeout_seconds",
		                                             python->timeout_ms / 1000),
		.cancel = session->hooks.cancel,
		.output = session->hooks.output,
		.data = session->hooks.data,
	};
	struct interpreter *interpreter = jobs_interpreter(session->jobs);
	struct interpreter_report report;
	struct tool_grant granted;
	json_t *result = NULL;
	size_t id;

	session_granted(session, &granted);
	describe_process(session, &granted, &request);
	session_wait_begin(session);
	id = history_command(session, "run_python");
	if (argument_bool(arguments, "reset", false))
		interpreter_end(interpreter);
	if (interpreter_call(interpreter, session->provider, &call, &report, err)) {
		result = python_result(session, interpreter, &report);
		interpreter_report_release(&report);
	}
	history_command_ended(session, id);
	session_wait_end(session);
	tool_grant_release(&granted);
	environment_free(env);
	return result;
}

static json_t *run_python_tool(struct session *session, const json_t *arguments)
{
	struct err err = ERR_INIT;
	json_t *result = NULL;

	if (can_run_python(session, arguments, &err))
		result = run_python_code(session, arguments, &err);
	return result ? result : tool_failure(&err);
}

const struct tool tool_run_python = {
	.info = &tool_infos[TOOL_RUN_PYTHON],
	.name = "run_python",
	.title = "Run Python",
	.parameter_aliases = parameter_aliases,
	.description = description,
	.arguments_schema = arguments_schema,
	.result_schema = result_schema,
	.run = run_python_tool,
};
