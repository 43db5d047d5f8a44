/* SPDX-License-Identifier: Apache-2.0 */
/* The tools for commands in the background: list, read, write, kill. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/mem.h"
#include "data/json.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/private.h"

/* ---- kill_background_process ------------------------------------------------- */

/* kill_background_process: the end of a command of this session, and of all it started. */

enum { WAIT_MS = 3000 };

static const char kill_background_process_description[] =
	"Ends a background command and all processes that it started.";

/* clang-format off */
static const char kill_background_process_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["pid"], "additionalProperties": false,
	"properties": { ) ARGUMENT_PID SCHEMA( }
} );

static const char kill_background_process_result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "message", "pid", "state"],
	 "additionalProperties": false, "properties": {
	 "success": {"const": true},
	 "message": {"type": "string"}, )
	 RESULT_COMMAND_STATE SCHEMA(}}, ) RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static const struct tool_alias kill_background_process_parameter_aliases[] = {
	{ "id", "pid", 0 },
	{ "shell_id", "pid", 0 },
	{ "bash_id", "pid", 0 },
	{ NULL, NULL, 0 },
};

static json_t *run_kill_background_process(struct session *session, const json_t *arguments)
{
	struct err err = ERR_INIT;
	struct job *job = builtin_command_job(session, arguments, &err);
	struct job_info info;
	json_t *result;
	bool before;

	if (!job)
		return tool_failure(&err);
	before = job_wait_all(job, 0);
	job_background(job); /* its output can still be read */
	job_kill(job);
	session_wait_begin(session);
	job_wait_all(job, WAIT_MS);
	session_wait_end(session);
	job_state(job, &info);
	result = json_object();
	json_object_set_new(result, "success", json_true());
	json_object_set_new(result, "message", json_string(
		before ? "It had ended before." :
		info.state == JOB_ENDED ? "It was ended, with all processes that it started." :
		                          "It was asked to end, and has not ended yet."));
	builtin_command_state(result, &info);
	job_release(job);
	return result;
}

const struct tool tool_kill_background_process = {
	.info = &tool_infos[TOOL_KILL_BACKGROUND_PROCESS],
	.name = "kill_background_process",
	.title = "End a background command",
	.parameter_aliases = kill_background_process_parameter_aliases,
	.description = kill_background_process_description,
	.arguments_schema = kill_background_process_arguments_schema,
	.result_schema = kill_background_process_result_schema,
	.run = run_kill_background_process,
};

/* ---- list_background_processes ----------------------------------------------- */

/* list_background_processes: the commands that this session remembers. */

static const char list_background_processes_description[] =
	"Lists this session's background commands, running or ended, with their pids.";

/* clang-format off */
static const char list_background_processes_arguments_schema[] = SCHEMA(
{"type": "object", "additionalProperties": false, "properties": {}} );

static const char list_background_processes_result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "message", "processes"],
	 "additionalProperties": false, "properties": {
	 "success": {"const": true},
	 "message": {"type": "string"},
	 "processes": {"type": "array", "items": {"type": "object",
		"required": ["pid", "state", "command", "age_ms"], "additionalProperties": false,
		"properties": {
		"command": {"type": "string"},
		"age_ms": {"type": "integer", "description": "Since its start."}, )
		RESULT_COMMAND_STATE SCHEMA(}}}}}, ) RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static json_t *process_json(const struct job_info *info)
{
	json_t *object = json_object();

	json_object_set_new(object, "command", json_cstr(info->command));
	json_object_set_new(object, "age_ms", json_size(info->age_ms));
	builtin_command_state(object, info);
	return object;
}

static json_t *run_list_background_processes(struct session *session, const json_t *arguments)
{
	struct job_info *infos = NULL;
	size_t count = session->jobs ? jobs_list(session->jobs, &infos) : 0, live = 0;
	json_t *result = json_object(), *list = json_array();
	_cleanup_free_ char *message = NULL;

	(void)arguments;
	for (size_t i = 0; i < count; i++) {
		live += infos[i].state != JOB_ENDED;
		json_array_append_new(list, process_json(&infos[i]));
	}
	job_infos_free(infos, count);
	message = mem_printf("%zu command%s, %zu of them running.", count, count == 1 ? "" : "s",
	                     live);
	json_object_set_new(result, "success", json_true());
	json_object_set_new(result, "message", json_cstr(message));
	json_object_set_new(result, "processes", list);
	return result;
}

const struct tool tool_list_background_processes = {
	.info = &tool_infos[TOOL_LIST_BACKGROUND_PROCESSES],
	.name = "list_background_processes",
	.title = "List background commands",
	.rest = "Ask for one command by its pid with read_background_output.",
	.description = list_background_processes_description,
	.arguments_schema = list_background_processes_arguments_schema,
	.result_schema = list_background_processes_result_schema,
	.run = run_list_background_processes,
};

/* ---- read_background_output -------------------------------------------------- */

/* read_background_output: what a command has printed, also after its end. */

enum { LINES_DEFAULT = 100 };

static const char read_background_output_description[] =
	"Shows output of a background command, or of one that printed too much: the last lines, "
	"or up to 64 KiB from a byte offset. Continue with next_offset.";

/* clang-format off */
static const char read_background_output_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["pid"], "additionalProperties": false,
	"properties": { ) ARGUMENT_PID SCHEMA(,
		"lines": {"type": "integer", "minimum": 1, "maximum": 100000, "description":
			"Default 100."},
		"offset": {"type": "integer", "minimum": 0, "description":
			"Read from this byte instead."},
		"delay_ms": {"type": "integer", "minimum": 0, "maximum": 600000, "description":
			"Wait this long first, or until the command ends. Default 0."}
	}
} );

static const char read_background_output_result_schema[] = SCHEMA(
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

static const struct tool_alias read_background_output_parameter_aliases[] = {
	{ "id", "pid", 0 },
	{ "bash_id", "pid", 0 },
	{ NULL, NULL, 0 },
};

static void wait_first(const struct session *session, struct job *job, size_t ms)
{
	const uint64_t until = clock_monotonic_ms() + ms;
	struct job_news news = { .all = true, .bytes = UINT64_MAX, .ms = (int)ms };

	if (!ms)
		return;
	session_wait_begin(session);
	while (!session_wait_job(session, job, &news) && !session_cancelled(session)) {
		const uint64_t now = clock_monotonic_ms();

		if (now >= until)
			break;
		news.ms = (int)(until - now);
	}
	session_wait_end(session);
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
	builtin_command_state(result, &info);
	return result;
}

static json_t *run_read_background_output(struct session *session, const json_t *arguments)
{
	struct capture_part part;
	struct err err = ERR_INIT;
	struct job *job = builtin_command_job(session, arguments, &err);
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
	.info = &tool_infos[TOOL_READ_BACKGROUND_OUTPUT],
	.name = "read_background_output",
	.title = "Read a command's output",
	.rest = "Ask for fewer lines.",
	.parameter_aliases = read_background_output_parameter_aliases,
	.description = read_background_output_description,
	.arguments_schema = read_background_output_arguments_schema,
	.undeclared = undeclared,
	.result_schema = read_background_output_result_schema,
	.run = run_read_background_output,
};

/* ---- write_background_input -------------------------------------------------- */

/* write_background_input: to the standard input of a command that runs. */

static const char write_background_input_description[] =
	"Writes to the standard input of a background command started with keep_input. Nothing "
	"is added: end a line with a newline.";

/* clang-format off */
static const char write_background_input_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["pid"], "additionalProperties": false,
	"properties": { ) ARGUMENT_PID SCHEMA(,
		"input": {"type": "string", "description": "The text."},
		"end": {"type": "boolean", "description":
			"Close the input after this. Default false."}
	}
} );

static const char write_background_input_result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "message", "pid"],
	 "additionalProperties": false, "properties": {
	 "success": {"const": true},
	 "message": {"type": "string"},
	 "pid": {"type": "integer"}}}, ) RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static const struct tool_alias write_background_input_parameter_aliases[] = {
	{ "id", "pid", 0 },
	{ "session_id", "pid", 0 },
	{ "chars", "input", 0 },
	{ "text", "input", 0 },
	{ NULL, NULL, 0 },
};

static bool background_write_input(struct job *job, const json_t *arguments, struct err *err)
{
	struct span input = argument_span(arguments, "input");

	if (input.len && !job_input(job, input))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Nothing reads the input of this command: it has ended, was not "
		               "started with keep_input, or does not read fast enough.");
	if (argument_bool(arguments, "end", false))
		job_close_input(job);
	return true;
}

static json_t *run_write_background_input(struct session *session, const json_t *arguments)
{
	struct err err = ERR_INIT;
	struct job *job = builtin_command_job(session, arguments, &err);
	json_t *result = NULL;

	if (!job)
		return tool_failure(&err);
	if (background_write_input(job, arguments, &err)) {
		result = json_object();
		json_object_set_new(result, "success", json_true());
		json_object_set_new(result, "message", json_string("Written."));
		json_object_set_new(result, "pid", json_integer(job_id(job)));
	}
	job_release(job);
	return result ? result : tool_failure(&err);
}

const struct tool tool_write_background_input = {
	.info = &tool_infos[TOOL_WRITE_BACKGROUND_INPUT],
	.name = "write_background_input",
	.title = "Write to a command's input",
	.parameter_aliases = write_background_input_parameter_aliases,
	.description = write_background_input_description,
	.arguments_schema = write_background_input_arguments_schema,
	.result_schema = write_background_input_result_schema,
	.run = run_write_background_input,
};
