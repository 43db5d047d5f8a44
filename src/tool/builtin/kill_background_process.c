/* SPDX-License-Identifier: Apache-2.0 */
/* kill_background_process: the end of a command of this session, and of all it started. */
#include "tool/builtin/arguments.h"
#include "tool/builtin/command_result.h"

enum { WAIT_MS = 3000 };

static const char description[] =
	"Ends a command that runs in the background, with all processes that it started.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["pid"], "additionalProperties": false,
	"properties": { ) ARGUMENT_PID SCHEMA( }
} );

static const char result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "message", "pid", "state"],
	 "additionalProperties": false, "properties": {
	 "success": {"const": true},
	 "message": {"type": "string"}, )
	 RESULT_COMMAND_STATE SCHEMA(}}, ) RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static const char *const aliases[] = { "KillShell", "KillBash", NULL };

static const struct tool_alias parameter_aliases[] = {
	{ "id", "pid", 0 },
	{ "shell_id", "pid", 0 },
	{ NULL, NULL, 0 },
};

static json_t *run(struct session *session, const json_t *arguments)
{
	struct err err = ERR_INIT;
	struct job *job = command_job(session, arguments, &err);
	struct job_info info;
	json_t *result;
	bool before;

	if (!job)
		return tool_failure(&err);
	before = job_wait_all(job, 0);
	job_background(job); /* its output can still be read */
	job_kill(job);
	session_wait(session, true);
	job_wait_all(job, WAIT_MS);
	session_wait(session, false);
	job_state(job, &info);
	result = json_object();
	json_object_set_new(result, "success", json_true());
	json_object_set_new(result, "message", json_string(
		before ? "It had ended before." :
		info.state == JOB_ENDED ? "It was ended, with all processes that it started." :
		                          "It was told to end, and has not yet."));
	command_state_json(result, &info);
	job_release(job);
	return result;
}

const struct tool tool_kill_background_process = {
	.name = "kill_background_process",
	.title = "End a background command",
	.kind = TOOL_KIND_OTHER,
	.aliases = aliases,
	.parameter_aliases = parameter_aliases,
	.description = description,
	.arguments_schema = arguments_schema,
	.result_schema = result_schema,
	.run = run,
};
