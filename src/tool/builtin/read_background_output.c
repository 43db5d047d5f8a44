/* SPDX-License-Identifier: Apache-2.0 */
/* read_background_output: what a command has printed, also after its end. */
#include <inttypes.h>

#include "tool/builtin/arguments.h"
#include "tool/builtin/command_result.h"

enum { LINES_DEFAULT = 100, POLL_MS = 20 };

static const char description[] =
	"Shows output of a command that runs in the background, has ended, or printed too "
	"much: the last lines, or up to 64 KiB from a byte offset. Go on with next_offset.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["pid"], "additionalProperties": false,
	"properties": { ) ARGUMENT_PID SCHEMA(,
		"lines": {"type": "integer", "minimum": 1, "maximum": 100000, "description":
			"How many of the last lines. Default 100."},
		"offset": {"type": "integer", "minimum": 0, "description":
			"Read from this byte of the output instead."},
		"delay_ms": {"type": "integer", "minimum": 0, "maximum": 600000, "description":
			"Wait so long first, or until the command has ended. Default 0."}
	}
} );

static const char result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "message", "pid", "state", "output",
		"next_offset"],
	 "additionalProperties": false, "properties": {
	 "success": {"const": true},
	 "message": {"type": "string"},
	 "output": {"type": "string"},
	 "next_offset": {"type": "integer", "description": "Bytes of output before it are shown."},
	 "cut": {"type": "boolean", "const": true, "description": "There is more before this."}, )
	 RESULT_COMMAND_STATE SCHEMA(}}, ) RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static const char *const aliases[] = { "BashOutput", NULL };

static const struct tool_alias parameter_aliases[] = {
	{ "id", "pid", 0 },
	{ "bash_id", "pid", 0 },
	{ NULL, NULL, 0 },
};

static void wait_first(const struct session *session, struct job *job, size_t ms)
{
	bool over = false;

	if (!ms)
		return;
	session_wait(session, true);
	for (size_t waited = 0; !over && waited < ms && !session_cancelled(session);
	     waited += POLL_MS)
		over = job_wait_all(job, POLL_MS);
	session_wait(session, false);
}

static bool read_part(struct job *job, const json_t *arguments, struct capture_part *part,
                      struct err *err)
{
	if (json_is_integer(json_object_get(arguments, "offset")))
		return job_from(job, argument_size(arguments, "offset", 0), part, err);
	return job_last(job, argument_size(arguments, "lines", LINES_DEFAULT), part, err);
}

static json_t *part_json(struct job *job, const struct capture_part *part)
{
	json_t *result = json_object();
	_cleanup_free_ char *message = NULL;
	struct job_info info;

	job_state(job, &info);
	message = mem_printf("%s; %" PRIu64 " bytes of output, shown up to byte %" PRIu64 ".",
	                     info.state == JOB_RUNNING ? "It runs" :
	                     info.state == JOB_LEFT    ? "It has ended, processes of it go on" :
	                                                 "It has ended",
	                     info.bytes, part->next);
	json_object_set_new(result, "success", json_true());
	json_object_set_new(result, "message", json_cstr(message));
	json_object_set_new(result, "output", json_text(buf_view(&part->text)));
	json_object_set_new(result, "next_offset", json_size(part->next));
	if (part->cut)
		json_object_set_new(result, "cut", json_true());
	command_state_json(result, &info);
	return result;
}

static json_t *run(struct session *session, const json_t *arguments)
{
	struct capture_part part;
	struct err err = ERR_INIT;
	struct job *job = command_job(session, arguments, &err);
	json_t *result = NULL;

	if (!job)
		return tool_failure(&err);
	wait_first(session, job, argument_size(arguments, "delay_ms", 0));
	if (read_part(job, arguments, &part, &err)) {
		result = part_json(job, &part);
		buf_release(&part.text);
	}
	job_release(job);
	return result ? result : tool_failure(&err);
}

static const char *const undeclared[] = { "delay_ms", NULL };

const struct tool tool_read_background_output = {
	.name = "read_background_output",
	.title = "Read a command's output",
	.kind = TOOL_KIND_READ,
	.aliases = aliases,
	.parameter_aliases = parameter_aliases,
	.description = description,
	.arguments_schema = arguments_schema,
	.undeclared = undeclared,
	.result_schema = result_schema,
	.run = run,
};
