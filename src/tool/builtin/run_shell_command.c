/* SPDX-License-Identifier: Apache-2.0 */
/* run_shell_command: one command, in bash.
 *
 * A command that runs to its end has done what was asked for, whatever its exit code: that is a
 * result ("success": true).  One that could not be started, or that was ended before its end, is a
 * failure.
 */
#include <string.h>

#include "tool/builtin/arguments.h"
#include "tool/builtin/command_result.h"
#include "worker/environment.h"

enum {
	COMMAND_MAX = 128 << 10,        /* the kernel's longest argument, with its NUL */
	POLL_MS = 20,                   /* how soon a cancelled call is noticed */
	DELAY_MS = 200,
	TIMEOUT_MS = 60 * 60 * 1000,
	LAST_MS = 3000,                 /* for the end of what was cancelled */
};

static const char description[] =
	"Runs a command with bash -c in the workspace, inside the sandbox: only the workspace "
	"and TMPDIR can be written, and unless the user allowed it there is no network but "
	"loopback. Standard input is empty, so use options that do not ask. cd and variables "
	"last for one call.\n"
	"\n"
	"success is true when the command ran to its end; look at exit_code. Long output is "
	"cut in the middle: read_background_output shows any part. What goes on running "
	"(is_background, or &) ends with the session. denials say what the sandbox refused and "
	"how the user can allow it; do not retry.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["command"], "additionalProperties": false,
	"properties": {
		"command": {"type": "string", "minLength": 1, "description":
			"What bash runs; may have several lines."},
		"description": {"type": "string", "description":
			"What it is for, for the user: one short sentence."},
		"dir_path": {"type": "string", "minLength": 1, "description":
			"The working directory. Default: the workspace folder."},
		"is_background": {"type": "boolean", "description":
			"Return while it runs, for servers and watchers. Default false."},
		"delay_ms": {"type": "integer", "minimum": 0, "maximum": 600000, "description":
			"With is_background: how long to wait for first output. Default 200."},
		"timeout_ms": {"type": "integer", "minimum": 0, "maximum": 86400000, "description":
			"Ends it after so long; 0 never. Default one hour, in the background 0."},
		"inactivity_ms": {"type": "integer", "minimum": 0, "maximum": 86400000,
			"description": "Ends it after so long without output; 0 never. Default five \
minutes, in the background 0."},
		"pty": {"type": "boolean", "description":
			"Run it in a terminal. Default false."},
		"keep_input": {"type": "boolean", "description":
			"With is_background: write_background_input will be used. Default false."},
		"additional_permissions": {"type": "object", "additionalProperties": false,
			"description": "What it needs beyond the sandbox; the user is asked.",
			"properties": {
			"network": {"type": "boolean"},
			"fileSystem": {"type": "object", "additionalProperties": false, "properties": {
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

static const char *const aliases[] = { "ShellTool",       "shell",       "bash", "Bash",
	                               "execute_command", "run_command", NULL };

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
	{ NULL, NULL, 0 },
};

/* ---- the request ----------------------------------------------------------------- */

struct wanted {
	struct run_request request;
	const char *argv[4];
	const char **write, **read; /* owned arrays of borrowed strings */
	bool background;
	size_t delay_ms;
};

static void wanted_release(struct wanted *wanted)
{
	free(wanted->write);
	free(wanted->read);
}

static void read_permissions(const json_t *arguments, struct wanted *wanted)
{
	const json_t *more = json_object_get(arguments, "additional_permissions");
	const json_t *files = json_object_get(more, "fileSystem");

	wanted->write = argument_strings(files, "write", &wanted->request.write_count);
	wanted->read = argument_strings(files, "read", &wanted->request.read_count);
	wanted->request.write = wanted->write;
	wanted->request.read = wanted->read;
	wanted->request.network = argument_bool(more, "network", false);
}

static unsigned milliseconds(const json_t *arguments, const char *name, size_t otherwise)
{
	return (unsigned)argument_size(arguments, name, otherwise);
}

static void read_arguments(const struct session *session, const json_t *arguments,
                           struct wanted *wanted)
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
	read_permissions(arguments, wanted);
}

static bool can_run(const struct session *session, const json_t *arguments, struct err *err)
{
	if (!session->jobs || !session->provider->ops->run)
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "Commands cannot be run in this session.");
	if (!argument_str(arguments, "command"))
		return err_set(err, ERR_INVALID_ARGUMENT, "There is no command to run.");
	if (session->one_call && argument_bool(arguments, "is_background", false))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "is_background: this session ends with its one call, and the command "
		               "would end with it. Leave out is_background, or call from a session "
		               "that goes on (hasp serve mcp, the agent).");
	if (argument_span(arguments, "command").len >= COMMAND_MAX)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The command is longer than 128 KiB; write it to a file first, and "
		               "run that.");
	return true;
}

/* ---- the run ---------------------------------------------------------------------- */

/* Until the command has ended, the call is cancelled, or `ms` have passed (0: no limit).
 * Returns whether it was cancelled. */
static bool wait_for(const struct session *session, struct job *job, size_t ms)
{
	size_t waited = 0;

	while (!job_wait(job, POLL_MS)) {
		session_progress(session, (size_t)job_output_bytes(job), 0);
		if (session_cancelled(session)) {
			job_kill(job);
			job_wait_all(job, LAST_MS);
			return true;
		}
		waited += POLL_MS;
		if (ms && waited >= ms)
			return false;
	}
	return false;
}

/* What is left running, or still runs, is remembered; else all is told when it is over. */
static void settle(struct job *job)
{
	struct job_info info;

	job_state(job, &info);
	if (info.state == JOB_RUNNING || info.end.left_running)
		job_background(job);
	else
		job_wait_all(job, LAST_MS);
}

static json_t *run_job(struct session *session, struct wanted *wanted, struct err *err)
{
	char **env = session_environment(session, wanted->request.pty);
	const struct job_request request = { .run = &wanted->request,
		                             .command = wanted->argv[2],
		                             .background = wanted->background,
		                             .output = session->hooks.output,
		                             .data = session->hooks.data };
	struct job *job;
	json_t *result;
	bool started, cancelled;

	wanted->request.env = (const char *const *)env;
	session_wait(session, true);
	started = job_start(session->jobs, session->provider, &request, &job, err);
	cancelled = started && !(wanted->background && !wanted->delay_ms) &&
	            wait_for(session, job, wanted->background ? wanted->delay_ms : 0);
	if (started)
		settle(job);
	session_wait(session, false);
	environment_free(env);
	if (!started)
		return NULL;
	job_quiet(job); /* whoever is told is there for this call alone */
	result = command_result(session, job, cancelled);
	job_release(job);
	return result;
}

static json_t *run(struct session *session, const json_t *arguments)
{
	struct wanted wanted = { 0 };
	struct err err = ERR_INIT;
	json_t *result = NULL;

	if (can_run(session, arguments, &err)) {
		read_arguments(session, arguments, &wanted);
		result = run_job(session, &wanted, &err);
		wanted_release(&wanted);
	}
	return result ? result : tool_failure(&err);
}

static const char *const undeclared[] = { "delay_ms", "inactivity_ms", "pty", NULL };

const struct tool tool_run_shell_command = {
	.name = "run_shell_command",
	.title = "Run a command",
	.kind = TOOL_KIND_EXECUTE,
	.aliases = aliases,
	.parameter_aliases = parameter_aliases,
	.description = description,
	.arguments_schema = arguments_schema,
	.undeclared = undeclared,
	.result_schema = result_schema,
	.run = run,
};
