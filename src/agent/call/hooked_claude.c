/* SPDX-License-Identifier: Apache-2.0 */
/* Results of calls as hooks for Claude Code get them (`tool_response` of PostToolUse).
 *
 * Reference: the types of results in sdk-tools.d.ts of @anthropic-ai/claude-agent-sdk 0.3. */
#include "agent/call/hooked.h"

#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "data/tools.h"

/* A call and what came of it. */
struct ended_call {
	const json_t *shown, *path, *result;
	const char *text; /* of the result, for the model */
};

static void take_member(json_t *to, const char *name, const json_t *from, const char *member)
{
	const json_t *value = json_object_get(from, member);

	json_object_set_new(to, name, value ? json_incref((json_t *)value) : json_null());
}

static json_t *response_of_edit(const struct ended_call *call)
{
	json_t *response = json_pack("{s:O?, s:n, s:b, s:[]}", "filePath", call->path,
	                             "originalFile", "userModified", 0, "structuredPatch");

	take_member(response, "oldString", call->shown, "old_string");
	take_member(response, "newString", call->shown, "new_string");
	json_object_set_new(response, "replaceAll",
	                    json_boolean(json_is_true(json_object_get(call->shown,
	                                                              "replace_all"))));
	return response;
}

static json_t *response_of_write(const struct ended_call *call)
{
	const bool created = json_is_true(json_object_get(call->result, "created"));
	json_t *response = json_pack("{s:s, s:O?, s:n, s:[]}", "type",
	                             created ? "create" : "update", "filePath", call->path,
	                             "originalFile", "structuredPatch");

	take_member(response, "content", call->shown, "content");
	return response;
}

static json_t *response_of_command(const struct ended_call *call)
{
	const json_t *state = json_object_get(call->result, "state");
	json_t *response = json_pack("{s:s, s:b, s:b}", "stderr", "", "isImage", 0, "interrupted",
	                             json_is_string(state) &&
	                             strcmp(json_string_value(state), "ended") != 0);

	take_member(response, "stdout", call->result, "output");
	return response;
}

static json_t *response_of_read(const struct ended_call *call)
{
	json_t *file = json_pack("{s:O?}", "filePath", call->path);
	const json_int_t start = json_integer_value(json_object_get(call->result, "start_line"));
	const json_int_t end = json_integer_value(json_object_get(call->result, "end_line"));

	take_member(file, "content", call->result, "content");
	take_member(file, "startLine", call->result, "start_line");
	take_member(file, "totalLines", call->result, "total_lines");
	json_object_set_new(file, "numLines", json_integer(end < start ? 0 : end - start + 1));
	return json_pack("{s:s, s:o}", "type", "text", "file", file);
}

/* Of a search and of a list of names: `files` has objects, or texts. */
static json_t *response_of_files(const struct ended_call *call)
{
	const json_t *files = json_object_get(call->result, "files");
	json_t *names = json_array(), *file;
	size_t i;

	json_array_foreach((json_t *)files, i, file)
		json_array_append(names, json_is_object(file) ? json_object_get(file, "file_path") :
		                                                file);
	return json_pack("{s:i, s:o, s:b, s:s}", "numFiles", (int)json_array_size(names),
	                 "filenames", names, "truncated",
	                 json_is_true(json_object_get(call->result, "more")), "content",
	                 call->text);
}

static json_t *response_of_text(const struct ended_call *call)
{
	return json_pack("{s:[{s:s, s:s}]}", "content", "type", "text", "text", call->text);
}

json_t *hooked_claude_response(const struct tool *tool, const json_t *shown, const json_t *path,
                               const json_t *result, const char *text)
{
	static const struct {
		const char *name;
		json_t *(*response)(const struct ended_call *call);
	} rows[] = {
		{ "Edit", response_of_edit }, { "Write", response_of_write },
		{ "Bash", response_of_command }, { "Read", response_of_read },
		{ "Glob", response_of_files }, { "Grep", response_of_files },
	};
	const struct ended_call call = { shown, path, result, text };
	const char *name = tool->info ? tool->info->claude : NULL;
	json_t *response = NULL;

	if (tool->server)
		return json_pack("[{s:s, s:s}]", "type", "text", "text", text);
	for (size_t i = 0; i < ARRAY_LEN(rows) && !response && name; i++)
		if (strcmp(rows[i].name, name) == 0)
			response = rows[i].response(&call);
	if (!response)
		response = response_of_text(&call);
	json_object_set_new(response, "success", json_boolean(!tool_result_failed(result)));
	return response;
}
