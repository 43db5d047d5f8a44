/* SPDX-License-Identifier: Apache-2.0 */
/* request_permission: where nobody can be asked, the model says which of the tools that are off the task
 * needs.  Nothing is allowed by it: the run ends with an exit code of its own and names the flags.
 */
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/services.h"

static const char description[] =
	"Reports that the task cannot be done without tools that are off in this run. It turns "
	"nothing on: the user is told at the end which, why, and how to allow them. Call it "
	"once, then do what can be done without them.";

/* clang-format off */
static const char arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["tools", "reason"], "additionalProperties": false,
	"properties": {
		"tools": {"type": "array", "minItems": 1, "maxItems": 20,
			"items": {"type": "string", "minLength": 1, "maxLength": 100},
			"description": "Names of tools that are off."},
		"reason": {"type": "string", "minLength": 1, "maxLength": 500, "description":
			"What cannot be done without them, for the user: one short sentence."}
	}
} );

static const char result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["message"], "additionalProperties": false,
	 "properties": {"message": {"type": "string"}}}, )
	RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static bool nothing_is_off(const struct session *session)
{
	const struct tool_services *services = session->services;

	return !services || !services->tools_off || !services->report_missing;
}

static json_t *run(struct session *session, const json_t *arguments)
{
	struct tool_services *services = session->services;
	struct err err = ERR_INIT;
	json_t *result;

	if (nothing_is_off(session))
		err_set(&err, ERR_DENIED_BY_POLICY, "No tool is off in this session.");
	else
		services->report_missing(services->data, json_object_get(arguments, "tools"),
		                         argument_str(arguments, "reason"), &err);
	if (err.code != ERR_NONE)
		return tool_failure(&err);
	result = json_object();
	json_object_set_new(result, "message",
	                    json_string("The user is told. These tools stay off in this run: do what "
	                                "can be done without them, and answer."));
	return result;
}

const struct tool tool_request_permission = {
	.name = "request_permission",
	.title = "Report a tool that is missing",
	.kind = TOOL_KIND_COMMUNICATE,
	.description = description,
	.arguments_schema = arguments_schema,
	.result_schema = result_schema,
	.run = run,
	.hidden = nothing_is_off,
};
