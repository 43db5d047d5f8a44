/* SPDX-License-Identifier: Apache-2.0 */
/* write_todos: the list of steps that whoever watches sees. */
#include <string.h>

#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/services.h"

enum { DESCRIPTION_MAX = 2000 };

static const char description[] =
	"Shows the user the steps of a task and how far they are. For work of more than a few "
	"steps: write the list when you begin, and the whole list again whenever a step begins "
	"or ends. At most one step is in_progress.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["todos"], "additionalProperties": false,
	"properties": {
		"todos": {"type": "array", "maxItems": 100, "items": {
			"type": "object", "required": ["description", "status"],
			"additionalProperties": false, "properties": {
			"description": {"type": "string", "minLength": 1, "description":
				"What is to be done: one short sentence."},
			"status": {"type": "string", "enum":
				["pending", "in_progress", "completed", "cancelled", "blocked"]}}},
			"description": "All steps, in order."}
	}
} );

static const char result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["message"], "additionalProperties": false,
	 "properties": {"message": {"type": "string"}}}, )
	RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static size_t count_of(const json_t *todos, const char *status)
{
	size_t i, count = 0;
	json_t *todo;

	json_array_foreach((json_t *)todos, i, todo)
		count += strcmp(argument_str(todo, "status"), status) == 0;
	return count;
}

static bool check(const json_t *todos, struct err *err)
{
	size_t i;
	json_t *todo;

	if (count_of(todos, "in_progress") > 1)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Only one step may be in_progress; %zu are.",
		               count_of(todos, "in_progress"));
	json_array_foreach((json_t *)todos, i, todo)
		if (argument_span(todo, "description").len > DESCRIPTION_MAX)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "The description of step %zu is longer than %d bytes.", i + 1,
			               DESCRIPTION_MAX);
	return true;
}

static json_t *run(struct session *session, const json_t *arguments)
{
	json_t *todos = json_object_get(arguments, "todos"), *result;
	_cleanup_free_ char *message = NULL;
	struct err err = ERR_INIT;

	if (!session->services)
		err_set(&err, ERR_DENIED_BY_POLICY, "There is nobody to show a list to.");
	else if (check(todos, &err))
		services_set_todos(session->services, todos);
	if (err.code != ERR_NONE)
		return tool_failure(&err);
	message = json_array_size(todos) ?
	                  mem_printf("The list has %zu steps; %zu are completed.",
	                             json_array_size(todos), count_of(todos, "completed")) :
	                  mem_strdup("The list is empty now.");
	result = json_object();
	json_object_set_new(result, "message", json_cstr(message));
	return result;
}

const struct tool tool_write_todos = {
	.name = "write_todos",
	.title = "Write the list of steps",
	.kind = TOOL_KIND_OTHER,
	.description = description,
	.arguments_schema = arguments_schema,
	.result_schema = result_schema,
	.run = run,
};
