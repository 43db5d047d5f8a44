/* SPDX-License-Identifier: Apache-2.0 */
/* enter_plan_mode and exit_plan_mode: first a plan that somebody approves, then the work.
 *
 * What the mode means is the policy's matter (its default rules): reading, and Markdown files in
 * the folder for plans.  These tools only change the mode, and show the plan to whoever is asked.
 */
#include <string.h>

#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/services.h"

/* Somebody is to read it. */
enum { PLAN_MAX_BYTES = 256 << 10 };

static const char enter_description[] =
	"Goes into plan mode, for a task that is large or can be done in several ways: you "
	"look around, change nothing, write a plan for the user, and carry it out once it is "
	"approved (exit_plan_mode). Not for small changes and not for questions.";

static const char exit_description[] =
	"Shows the user the plan that you have written, a Markdown file in the folder for "
	"plans, and asks to carry it out. On success plan mode is over: do what it says. "
	"denied_by_user: change it as the user says and call again.";

/* clang-format off */
static const char enter_arguments[] = SCHEMA(
{
	"type": "object", "additionalProperties": false,
	"properties": {
		"reason": {"type": "string", "description":
			"Why a plan is wanted, for the user: one short sentence."}
	}
} );

static const char exit_arguments[] = SCHEMA(
{
	"type": "object", "required": ["plan_filename"], "additionalProperties": false,
	"properties": {
		"plan_filename": {"type": "string", "minLength": 1, "description":
			"The name of the plan's file in the folder for plans, such as parser.md."}
	}
} );

static const char result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["message"], "additionalProperties": false,
	 "properties": {
	 "message": {"type": "string"},
	 "plans_folder": {"type": "string"},
	 "file_path": {"type": "string", "description": "The plan."}}}, )
	RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static const struct tool_alias exit_aliases[] = {
	{ "plan_path", "plan_filename", 0 },
	{ "file_path", "plan_filename", 0 },
	{ NULL, NULL, 0 },
};

static bool has_plan_mode(const struct session *session, struct err *err)
{
	const struct tool_services *services = session->services;

	if (services && services->plans_folder && services->set_plan_mode)
		return true;
	return err_set(err, ERR_DENIED_BY_POLICY, "There is no plan mode in this session.");
}

static bool is_planning(const struct session *session)
{
	const struct tool_services *services = session->services;

	return services && services->in_plan_mode && services->in_plan_mode(services->data);
}

/* ---- into it --------------------------------------------------------------------------- */

static json_t *entered(const struct tool_services *services)
{
	_cleanup_free_ char *message = mem_printf(
		"Plan mode. Nothing may be changed now but plans: write yours with write_file as a "
		".md file in %s, then call exit_plan_mode with its name.",
		services->plans_folder);
	json_t *result = json_object();

	json_object_set_new(result, "message", json_cstr(message));
	json_object_set_new(result, "plans_folder", json_name(services->plans_folder));
	return result;
}

static json_t *enter(struct session *session, const json_t *arguments)
{
	struct tool_services *services = session->services;
	struct err err = ERR_INIT;

	(void)arguments; /* the reason is for who is asked */
	if (!has_plan_mode(session, &err))
		return tool_failure(&err);
	if (is_planning(session)) {
		err_set(&err, ERR_DENIED_BY_POLICY, "This is plan mode already.");
		return tool_failure(&err);
	}
	services->set_plan_mode(services->data, true);
	return entered(services);
}

/* ---- out of it ------------------------------------------------------------------------- */

/* The plan's absolute path, for the caller; NULL with *err: it is no file right in the folder. */
static char *plan_path(const struct tool_services *services, const json_t *arguments,
                       struct err *err)
{
	const char *folder = services->plans_folder, *name = argument_str(arguments, "plan_filename");
	size_t len = strlen(folder);

	if (strncmp(name, folder, len) == 0 && name[len] == '/')
		name += len + 1;
	if (strchr(name, '/') || name[0] == '.' || !*name) {
		err_set(err, ERR_OUTSIDE_WORKSPACE,
		        "\"%.200s\" is no name of a file in the folder for plans, which is %s.", name,
		        folder);
		return NULL;
	}
	if (!span_ends(span_str(name), SPAN(".md"))) {
		err_set(err, ERR_INVALID_ARGUMENT, "A plan is a .md file; %.200s is none.", name);
		return NULL;
	}
	return mem_printf("%s/%s", folder, name);
}

/* Reads the plan; its text is for the caller. */
static char *read_plan(struct session *session, const char *path, struct err *err)
{
	struct read_request request = { .path = path, .whole = true,
		                        .max_file_bytes = PLAN_MAX_BYTES };
	struct read_result read = { 0 };
	char *text = NULL;

	if (session->provider->ops->read(session->provider, &request, &read, err)) {
		if (span_trim(buf_view(&read.content)).len)
			text = buf_steal(&read.content);
		else
			err_set(err, ERR_INVALID_ARGUMENT, "The plan %s is empty.", path);
	}
	read_result_release(&read);
	return text;
}

static bool find_plan(struct session *session, const json_t *arguments, char **ret_path,
                      char **ret_text, struct err *err)
{
	if (!has_plan_mode(session, err))
		return false;
	if (!is_planning(session))
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "This is not plan mode: enter_plan_mode comes first.");
	if (!(*ret_path = plan_path(session->services, arguments, err)))
		return false;
	*ret_text = read_plan(session, *ret_path, err);
	return *ret_text != NULL;
}

static char *preview(struct session *session, const json_t *arguments, struct err *err)
{
	_cleanup_free_ char *path = NULL;
	char *text = NULL;

	return find_plan(session, arguments, &path, &text, err) ? text : NULL;
}

static bool is_outside(const struct session *session)
{
	return !is_planning(session);
}

static json_t *leave(struct session *session, const json_t *arguments)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	struct err err = ERR_INIT;
	json_t *result;

	if (!find_plan(session, arguments, &path, &text, &err))
		return tool_failure(&err);
	session->services->set_plan_mode(session->services->data, false);
	result = json_object();
	json_object_set_new(result, "message",
	                    json_string("Plan mode is over: the plan may be carried out. Do what it "
	                                "says."));
	json_object_set_new(result, "file_path", json_name(path));
	return result;
}

const struct tool tool_enter_plan_mode = {
	.name = "enter_plan_mode",
	.title = "Enter plan mode",
	.kind = TOOL_KIND_PLAN,
	.description = enter_description,
	.arguments_schema = enter_arguments,
	.result_schema = result_schema,
	.run = enter,
	.hidden = is_planning,
};

const struct tool tool_exit_plan_mode = {
	.name = "exit_plan_mode",
	.title = "Carry out the plan",
	.kind = TOOL_KIND_PLAN,
	.parameter_aliases = exit_aliases,
	.description = exit_description,
	.arguments_schema = exit_arguments,
	.result_schema = result_schema,
	.run = leave,
	.hidden = is_outside,
	.preview = preview,
};
