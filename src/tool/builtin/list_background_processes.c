/* SPDX-License-Identifier: Apache-2.0 */
/* list_background_processes: the commands that this session remembers. */
#include "base/mem.h"
#include "data/json.h"
#include "tool/builtin/command_result.h"

static const char description[] =
	"Lists the commands of this session that run in the background, or did, with their "
	"pids.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{"type": "object", "additionalProperties": false, "properties": {}} );

static const char result_schema[] = SCHEMA(
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
	command_state_json(object, info);
	return object;
}

static json_t *run(struct session *session, const json_t *arguments)
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
	message = mem_printf("%zu command%s, %zu of them running.", count, count == 1 ? "" : "s", live);
	json_object_set_new(result, "success", json_true());
	json_object_set_new(result, "message", json_cstr(message));
	json_object_set_new(result, "processes", list);
	return result;
}

const struct tool tool_list_background_processes = {
	.name = "list_background_processes",
	.title = "List background commands",
	.kind = TOOL_KIND_READ,
	.description = description,
	.arguments_schema = arguments_schema,
	.result_schema = result_schema,
	.run = run,
};
