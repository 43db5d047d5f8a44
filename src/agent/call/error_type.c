/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/call/error_type.h"

#include <string.h>

/* Where what is meant depends on the tool, the first row that fits counts; -1: any kind. */
static const struct {
	enum err_code code;
	int kind;
	const char *type;
} rows[] = {
	{ ERR_INVALID_ARGUMENT, -1, "invalid_tool_params" },
	{ ERR_BASE_REQUIRED, -1, "invalid_tool_params" },
	{ ERR_UNKNOWN_TOOL, -1, "tool_not_registered" },
	{ ERR_STATE_MISMATCH, -1, "edit_preparation_failure" },
	{ ERR_INVALID_DIFF, -1, "edit_preparation_failure" },
	{ ERR_AMBIGUOUS_DIFF, -1, "edit_expected_occurrence_mismatch" },
	{ ERR_NO_MATCH, -1, "edit_no_occurrence_found" },
	{ ERR_WRONG_MATCH_COUNT, -1, "edit_expected_occurrence_mismatch" },
	{ ERR_NO_CHANGE, -1, "edit_no_change" },
	{ ERR_FILE_NOT_FOUND, TOOL_KIND_SEARCH, "search_path_not_found" },
	{ ERR_FILE_NOT_FOUND, -1, "file_not_found" },
	{ ERR_FILE_EXISTS, -1, "attempt_to_create_existing_file" },
	{ ERR_NOT_A_FILE, -1, "target_is_directory" },
	{ ERR_NOT_A_DIRECTORY, TOOL_KIND_SEARCH, "search_path_not_a_directory" },
	{ ERR_NOT_A_DIRECTORY, -1, "path_is_not_a_directory" },
	{ ERR_NOT_TEXT, -1, "read_content_failure" },
	{ ERR_TOO_LARGE, -1, "file_too_large" },
	{ ERR_OUTSIDE_WORKSPACE, -1, "path_not_in_workspace" },
	{ ERR_PERMISSION_DENIED, -1, "permission_denied" },
	{ ERR_IGNORED, -1, "invalid_tool_params" },
	{ ERR_DENIED_BY_POLICY, -1, "policy_violation" },
	{ ERR_DENIED_BY_USER, -1, "policy_violation" },
	{ ERR_DENIED_BY_SANDBOX, -1, "permission_denied" },
	{ ERR_DISK_FULL, -1, "no_space_left" },
	{ ERR_NO_RESOURCES, TOOL_KIND_EDIT, "file_write_failure" },
	{ ERR_NO_RESOURCES, TOOL_KIND_READ, "read_content_failure" },
	{ ERR_IO_ERROR, TOOL_KIND_EDIT, "file_write_failure" },
	{ ERR_IO_ERROR, TOOL_KIND_READ, "read_content_failure" },
	{ ERR_CANNOT_PRESERVE, -1, "file_write_failure" },
	{ ERR_BUSY, -1, "file_write_failure" },
	{ ERR_ROLLED_BACK, -1, "edit_preparation_failure" },
	{ ERR_COMMAND_STOPPED, -1, "shell_execute_error" },
	{ ERR_INTERNAL, -1, "unhandled_exception" },
};

enum err_code error_code_of(const json_t *result)
{
	const char *name;

	if (json_is_array(result)) /* read_many_files: the first is as good as any */
		result = json_array_get(result, 0);
	name = json_string_value(json_object_get(json_object_get(result, "error"), "code"));
	for (int code = 0; name && code < ERR_CODE_COUNT; code++)
		if (!strcmp(name, err_name((enum err_code)code)))
			return (enum err_code)code;
	return ERR_INTERNAL;
}

const char *error_message_of(const json_t *result)
{
	const json_t *first = json_is_array(result) ? json_array_get(result, 0) : result;
	const json_t *error = json_object_get(first, "error");
	const char *message = json_string_value(json_object_get(first, "message"));

	if (!message)
		message = json_string_value(json_object_get(error, "message"));
	return message ? message : "";
}

const char *error_type_of(const struct tool *tool, const json_t *result)
{
	const json_t *error = json_object_get(result, "error");
	const char *given = json_string_value(json_object_get(error, "type"));
	enum err_code code = error_code_of(result);

	if (given)
		return given;
	/* One code here, two types there. */
	if (code == ERR_WRONG_MATCH_COUNT && json_is_integer(json_object_get(error, "matches")) &&
	    json_integer_value(json_object_get(error, "matches")) == 0)
		return "edit_no_occurrence_found";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].code == code &&
		    (rows[i].kind < 0 || (tool && rows[i].kind == (int)tool->kind)))
			return rows[i].type;
	if (tool && tool->server)
		return "mcp_tool_error";
	return "execution_failed";
}
