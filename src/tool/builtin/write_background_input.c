/* SPDX-License-Identifier: Apache-2.0 */
/* write_background_input: to the standard input of a command that runs. */
#include "tool/builtin/arguments.h"
#include "tool/builtin/command_result.h"

static const char description[] =
	"Writes to the standard input of a background command started with keep_input. Nothing "
	"is added: end a line with a newline.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["pid"], "additionalProperties": false,
	"properties": { ) ARGUMENT_PID SCHEMA(,
		"input": {"type": "string", "description": "The text."},
		"end": {"type": "boolean", "description":
			"No more input comes after this. Default false."}
	}
} );

static const char result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "message", "pid"],
	 "additionalProperties": false, "properties": {
	 "success": {"const": true},
	 "message": {"type": "string"},
	 "pid": {"type": "integer"}}}, ) RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static const char *const aliases[] = { "write_stdin", NULL };

static const struct tool_alias parameter_aliases[] = {
	{ "id", "pid", 0 },
	{ "session_id", "pid", 0 },
	{ "chars", "input", 0 },
	{ "text", "input", 0 },
	{ NULL, NULL, 0 },
};

static bool write_input(struct job *job, const json_t *arguments, struct err *err)
{
	struct span input = argument_span(arguments, "input");

	if (input.len && !job_input(job, input))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Nobody reads the input of this command: it has ended, was not started "
		               "with keep_input, or does not read fast enough.");
	if (argument_bool(arguments, "end", false))
		job_close_input(job);
	return true;
}

static json_t *run(struct session *session, const json_t *arguments)
{
	struct err err = ERR_INIT;
	struct job *job = command_job(session, arguments, &err);
	json_t *result = NULL;

	if (!job)
		return tool_failure(&err);
	if (write_input(job, arguments, &err)) {
		result = json_object();
		json_object_set_new(result, "success", json_true());
		json_object_set_new(result, "message", json_string("Written."));
		json_object_set_new(result, "pid", json_integer(job_id(job)));
	}
	job_release(job);
	return result ? result : tool_failure(&err);
}

const struct tool tool_write_background_input = {
	.name = "write_background_input",
	.title = "Write to a command's input",
	.kind = TOOL_KIND_EXECUTE,
	.aliases = aliases,
	.parameter_aliases = parameter_aliases,
	.description = description,
	.arguments_schema = arguments_schema,
	.result_schema = result_schema,
	.run = run,
};
