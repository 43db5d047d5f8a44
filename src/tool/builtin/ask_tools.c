/* SPDX-License-Identifier: Apache-2.0 */
/* Tools that address the user: ask_user, plan mode, request_permission, write_todos,
 * update_topic. */
#include <stdio.h>
#include <string.h>

#include "bus/bus.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/services.h"

/* ---- ask_user ---------------------------------------------------------------- */

/* ask_user: questions to the user, over the bus. */

enum { TEXT_MAX = 4000, HEADER_MAX = 64, OPTIONS_LEAST = 2, OPTIONS_MOST = 4 };

static const char ask_user_description[] =
	"Asks the user up to four questions: for decisions that are the user's, when a wrong "
	"guess would cost much; not for what you can find out, and not for permission to use a "
	"tool. type choice: two to four options (the user may also write something else), "
	"several with multiSelect; text: a free answer; yesno.";

/* clang-format off */
static const char ask_user_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["questions"], "additionalProperties": false,
	"properties": {
		"questions": {"type": "array", "minItems": 1, "maxItems": 4, "items": {
			"type": "object", "required": ["question", "header", "type"],
			"additionalProperties": false, "properties": {
			"question": {"type": "string", "minLength": 1},
			"header": {"type": "string", "minLength": 1, "description":
				"In a word or two."},
			"type": {"type": "string", "enum": ["choice", "text", "yesno"]},
			"options": {"type": "array", "minItems": 2, "maxItems": 4, "items": {
				"type": "object", "required": ["label", "description"],
				"additionalProperties": false, "properties": {
				"label": {"type": "string", "minLength": 1},
				"description": {"type": "string"}}}},
			"multiSelect": {"type": "boolean"},
			"placeholder": {"type": "string", "description":
				"Shown in the empty field of a text."}}}}
	}
} );

static const char ask_user_result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "answers"], "additionalProperties": false,
	 "properties": {"success": {"const": true}, "answers": {"type": "object"}}}, )
	RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static bool text_fits(const json_t *object, const char *member, size_t max, size_t number,
                      struct err *err)
{
	if (argument_span(object, member).len <= max)
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "The %s of question %zu is longer than %zu bytes.",
	               member, number, max);
}

static bool check_question(const json_t *question, size_t number, struct err *err)
{
	const json_t *options = json_object_get(question, "options");
	bool choice = strcmp(argument_str(question, "type"), "choice") == 0;
	size_t i;
	json_t *option;

	if (choice && !options)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Question %zu is a choice and has no options; it needs %d to %d.",
		               number, OPTIONS_LEAST, OPTIONS_MOST);
	if (!text_fits(question, "question", TEXT_MAX, number, err) ||
	    !text_fits(question, "header", HEADER_MAX, number, err) ||
	    !text_fits(question, "placeholder", TEXT_MAX, number, err))
		return false;
	json_array_foreach((json_t *)options, i, option)
		if (!text_fits(option, "label", TEXT_MAX, number, err) ||
		    !text_fits(option, "description", TEXT_MAX, number, err))
			return false;
	return true;
}

static bool check_ask_user(const json_t *questions, struct err *err)
{
	size_t i;
	json_t *question;

	json_array_foreach((json_t *)questions, i, question)
		if (!check_question(question, i + 1, err))
			return false;
	return true;
}

static bool nobody_error(struct err *err)
{
	return err_set(err, ERR_DENIED_BY_USER,
	               "This run has no way to ask the user. Decide yourself, and say what you "
	               "decided.");
}

/* The answers to questions that were asked, and no others; NULL with *err. */
static json_t *answers_of(const json_t *questions, const json_t *answer, struct err *err)
{
	const json_t *given = json_object_get(answer, "answers");
	json_t *answers;

	if (json_is_true(json_object_get(answer, "cancelled")) || !json_object_size(given)) {
		err_set(err, ERR_DENIED_BY_USER, "The user did not answer the questions.");
		return NULL;
	}
	answers = json_object();
	for (size_t i = 0; i < json_array_size(questions); i++) {
		char number[24];

		snprintf(number, sizeof(number), "%zu", i);
		if (json_object_get(given, number))
			json_object_set(answers, number, json_object_get(given, number));
	}
	return answers;
}

static json_t *ask_questions(struct tool_services *services, json_t *questions, struct err *err)
{
	json_auto_t *message = json_object(), *answer = NULL;

	if (!services || !services->interactive) {
		nobody_error(err);
		return NULL;
	}
	json_object_set(message, "questions", questions);
	switch (bus_ask(services->bus, BUS_ASK_USER_REQUEST, message, 0, services->cancel,
	                &answer)) {
	case BUS_ANSWERED:
		return answers_of(questions, answer, err);
	case BUS_CANCELLED:
		err_set(err, ERR_CANCELLED, "The call was cancelled before it was answered.");
		return NULL;
	case BUS_NOBODY:
	case BUS_TIMED_OUT:
		nobody_error(err);
	}
	return NULL;
}

static json_t *run_ask_user(struct session *session, const json_t *arguments)
{
	json_t *questions = json_object_get(arguments, "questions"), *answers = NULL, *result;
	struct err err = ERR_INIT;

	if (check_ask_user(questions, &err))
		answers = ask_questions(session->services, questions, &err);
	if (!answers)
		return tool_failure(&err);
	result = json_object();
	json_object_set_new(result, "answers", answers);
	return result;
}

const struct tool tool_ask_user = {
	.info = &tool_infos[TOOL_ASK_USER],
	.name = "ask_user",
	.title = "Ask the user",
	.description = ask_user_description,
	.arguments_schema = ask_user_arguments_schema,
	.result_schema = ask_user_result_schema,
	.run = run_ask_user,
	.asks = true,
};

/* ---- plan mode --------------------------------------------------------------- */

/* enter_plan_mode and exit_plan_mode: first a plan that the user approves, then the work.
 *
 * The policy's default rules define the mode: it permits reading, and Markdown files in the plans
 * folder.  These tools only change the mode and show the plan for approval.
 */

/* As much as a person reads. */
enum { PLAN_MAX_BYTES = 256 << 10 };

static const char enter_description[] =
	"Enters plan mode, for a task that is large or can be done in several ways: explore, "
	"change nothing, write a plan, and carry it out once the user approves it "
	"(exit_plan_mode).";

static const char exit_description[] =
	"Asks the user to approve your plan, a Markdown file in the plans folder. On success "
	"plan mode is over: carry out the plan. denied_by_user: change it as the user says and "
	"call again.";

/* clang-format off */
static const char enter_arguments[] = SCHEMA(
{
	"type": "object", "additionalProperties": false,
	"properties": {
		"reason": {"type": "string", "description":
			"For the user."}
	}
} );

static const char exit_arguments[] = SCHEMA(
{
	"type": "object", "required": ["plan_filename"], "additionalProperties": false,
	"properties": {
		"plan_filename": {"type": "string", "minLength": 1, "description":
			"Such as parser.md."},
		"plan": {"type": "string", "minLength": 1}
	}
} );

static const char plan_mode_result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "message"], "additionalProperties": false,
	 "properties": {"success": {"const": true},
	 "message": {"type": "string"},
	 "plans_folder": {"type": "string"},
	 "plan": {"type": "string", "description": "What it reads now, if it was changed."},
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
	return err_set(err, ERR_DENIED_BY_POLICY, "This session has no plan mode.");
}

static bool is_planning(const struct session *session)
{
	const struct tool_services *services = session->services;

	return services && services->in_plan_mode && services->in_plan_mode(services->data);
}

/* ---- into it --------------------------------------------------------------------------- */

static json_t *plan_mode_entered(const struct tool_services *services)
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

static json_t *enter_plan_mode(struct session *session, const json_t *arguments)
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
	return plan_mode_entered(services);
}

/* ---- out of it ------------------------------------------------------------------------- */

/* The plan's absolute path, for the caller; NULL with *err: it is no file right in the folder. */
static char *plan_path(const struct tool_services *services, const json_t *arguments,
                       struct err *err)
{
	const char *folder = services->plans_folder, *name =
		argument_str(arguments, "plan_filename");
	size_t len = strlen(folder);

	if (strncmp(name, folder, len) == 0 && name[len] == '/')
		name += len + 1;
	if (strchr(name, '/') || name[0] == '.' || !*name) {
		err_set(err, ERR_OUTSIDE_WORKSPACE,
		        "\"%.200s\" is not the name of a file in the plans folder, which is %s.",
		        name,
		        folder);
		return NULL;
	}
	if (!span_ends(span_str(name), SPAN(".md"))) {
		err_set(err, ERR_INVALID_ARGUMENT, "A plan is a .md file; %.200s is not.", name);
		return NULL;
	}
	return mem_printf("%s/%s", folder, name);
}

/* Reads the plan; its text is for the caller. `ret_hash` may be NULL. */
static char *read_plan(struct session *session, const char *path, char *ret_hash, struct err *err)
{
	struct read_request request = { .path = path, .whole = true,
		                        .max_file_bytes = PLAN_MAX_BYTES };
	struct read_result read = { 0 };
	char *text = NULL;

	if (provider_read(session->provider, &request, &read, err)) {
		if (ret_hash)
			sha256_hex(&read.state.sha256, ret_hash);
		if (span_trim(buf_view(&read.content)).len)
			text = buf_steal(&read.content);
		else
			err_set(err, ERR_INVALID_ARGUMENT, "The plan %s is empty.", path);
	}
	read_result_release(&read);
	return text;
}

/* `ret_hash`: SHA256_HEX_SIZE bytes, or NULL. */
static bool find_plan(struct session *session, const json_t *arguments, char **ret_path,
                      char *ret_hash, char **ret_text, struct err *err)
{
	if (!has_plan_mode(session, err))
		return false;
	if (!is_planning(session))
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "This is not plan mode: enter_plan_mode comes first.");
	if (!(*ret_path = plan_path(session->services, arguments, err)))
		return false;
	*ret_text = read_plan(session, *ret_path, ret_hash, err);
	return *ret_text != NULL;
}

static char *preview(struct session *session, const struct tool *tool, const json_t *arguments,
                     struct err *err)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	const char *changed = argument_str(arguments, "plan");

	(void)tool;
	if (!find_plan(session, arguments, &path, NULL, &text, err))
		return NULL;
	return changed ? mem_strdup(changed) : mem_steal(&text);
}

/* Puts a text in place of the plan, if that is what was just read. NULL, or the failure. */
static json_t *plan_replace(struct session *session, const char *path, const char *base,
                            const json_t *text)
{
	json_auto_t *arguments = json_object();
	json_auto_t *result = NULL;

	json_object_set_new(arguments, "file_path", json_name(path));
	json_object_set(arguments, "content", (json_t *)text);
	json_object_set_new(arguments, "base_content_sha256", json_string(base));
	json_object_set_new(arguments, "return_content", json_string("none"));
	result = tool_write_file.run(session, arguments);
	return tool_result_failed(result) ? mem_steal(&result) : NULL;
}

static bool is_outside(const struct session *session)
{
	return !is_planning(session);
}

static json_t *leave_plan_mode(struct session *session, const json_t *arguments)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	char base[SHA256_HEX_SIZE];
	const json_t *changed = json_object_get(arguments, "plan");
	struct err err = ERR_INIT;
	json_t *result;

	if (!find_plan(session, arguments, &path, base, &text, &err))
		return tool_failure(&err);
	if (changed && (result = plan_replace(session, path, base, changed)))
		return result;
	session->services->set_plan_mode(session->services->data, false);
	result = json_object();
	json_object_set_new(result, "message", json_string(
		changed ? "Plan mode is over: the plan was edited before it was approved, and may "
		          "be carried out as it reads now. Do what it says." :
		          "Plan mode is over: the plan may be carried out. Do what it says."));
	if (changed)
		json_object_set(result, "plan", (json_t *)changed);
	json_object_set_new(result, "file_path", json_name(path));
	return result;
}

const struct tool tool_enter_plan_mode = {
	.info = &tool_infos[TOOL_ENTER_PLAN_MODE],
	.name = "enter_plan_mode",
	.title = "Enter plan mode",
	.description = enter_description,
	.arguments_schema = enter_arguments,
	.result_schema = plan_mode_result_schema,
	.run = enter_plan_mode,
	.hidden = is_planning,
};

static const char *const exit_undeclared[] = { "plan", NULL };

const struct tool tool_exit_plan_mode = {
	.info = &tool_infos[TOOL_EXIT_PLAN_MODE],
	.name = "exit_plan_mode",
	.title = "Carry out the plan",
	.parameter_aliases = exit_aliases,
	.description = exit_description,
	.arguments_schema = exit_arguments,
	.undeclared = exit_undeclared,
	.result_schema = plan_mode_result_schema,
	.run = leave_plan_mode,
	.hidden = is_outside,
	.preview = preview,
	.preview_argument = "plan",
};

/* ---- request_permission ------------------------------------------------------ */

/* request_permission: in a run that cannot ask, the model reports which of the disabled tools the
 * task needs.  This grants nothing: the run ends with a distinct exit code and prints the flags.
 */

static const char request_permission_description[] =
	"Reports tools that the task needs and that are off in this run; the user reads at the "
	"end how to allow them. Call it once, then do what can be done without them.";

/* clang-format off */
static const char request_permission_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["tools", "reason"], "additionalProperties": false,
	"properties": {
		"tools": {"type": "array", "minItems": 1, "maxItems": 20,
			"items": {"type": "string", "minLength": 1, "maxLength": 100}},
		"reason": {"type": "string", "minLength": 1, "maxLength": 500, "description":
			"What cannot be done without them: one sentence."}
	}
} );

static const char request_permission_result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "message"], "additionalProperties": false,
	 "properties": {"success": {"const": true}, "message": {"type": "string"}}}, )
	RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static bool nothing_is_off_error(const struct session *session)
{
	const struct tool_services *services = session->services;

	return !services || !services->tools_off || !services->report_missing;
}

static json_t *run_request_permission(struct session *session, const json_t *arguments)
{
	struct tool_services *services = session->services;
	struct err err = ERR_INIT;
	json_t *result;

	if (nothing_is_off_error(session))
		err_set(&err, ERR_DENIED_BY_POLICY, "No tool is off in this session.");
	else
		services->report_missing(services->data, json_object_get(arguments, "tools"),
		                         argument_str(arguments, "reason"), &err);
	if (err.code != ERR_NONE)
		return tool_failure(&err);
	result = json_object();
	json_object_set_new(result, "message",
	                    json_string("The user is informed. These tools stay off in this run: "
	                                "do what can be done without them, and answer."));
	return result;
}

const struct tool tool_request_permission = {
	.info = &tool_infos[TOOL_REQUEST_PERMISSION],
	.name = "request_permission",
	.title = "Report a tool that is missing",
	.description = request_permission_description,
	.arguments_schema = request_permission_arguments_schema,
	.result_schema = request_permission_result_schema,
	.run = run_request_permission,
	.hidden = nothing_is_off_error,
};

/* ---- write_todos ------------------------------------------------------------- */

/* write_todos: the list of steps that the user sees. */

enum { DESCRIPTION_MAX = 2000 };

static const char write_todos_description[] =
	"Shows the user the steps of a task. Send the whole list when you begin, and again "
	"whenever a step begins or ends; at most one is in_progress.";

/* clang-format off */
static const char write_todos_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["todos"], "additionalProperties": false,
	"properties": {
		"todos": {"type": "array", "maxItems": 100, "items": {
			"type": "object", "required": ["description", "status"],
			"additionalProperties": false, "properties": {
			"description": {"type": "string", "minLength": 1},
			"status": {"type": "string", "enum":
				["pending", "in_progress", "completed", "cancelled", "blocked"]}}}}
	}
} );

static const char write_todos_result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "message"], "additionalProperties": false,
	 "properties": {"success": {"const": true}, "message": {"type": "string"}}}, )
	RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static size_t count_todos(const json_t *todos, const char *status)
{
	size_t i, count = 0;
	json_t *todo;

	json_array_foreach((json_t *)todos, i, todo)
		count += strcmp(argument_str(todo, "status"), status) == 0;
	return count;
}

static bool check_write_todos(const json_t *todos, struct err *err)
{
	size_t i;
	json_t *todo;

	if (count_todos(todos, "in_progress") > 1)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Only one step may be in_progress; %zu are.",
		               count_todos(todos, "in_progress"));
	json_array_foreach((json_t *)todos, i, todo)
		if (argument_span(todo, "description").len > DESCRIPTION_MAX)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "The description of step %zu is longer than %d bytes.",
			               i + 1,
			               DESCRIPTION_MAX);
	return true;
}

static json_t *run_write_todos(struct session *session, const json_t *arguments)
{
	json_t *todos = json_object_get(arguments, "todos"), *result;
	_cleanup_free_ char *message = NULL;
	struct err err = ERR_INIT;

	if (!session->services)
		err_set(&err, ERR_DENIED_BY_POLICY, "This run shows no list of steps.");
	else if (check_write_todos(todos, &err))
		services_set_todos(session->services, todos);
	if (err.code != ERR_NONE)
		return tool_failure(&err);
	message = json_array_size(todos) ?
	                  mem_printf("The list has %zu steps; %zu are completed.",
	                             json_array_size(todos), count_todos(todos, "completed")) :
	                  mem_strdup("The list is empty now.");
	result = json_object();
	json_object_set_new(result, "message", json_cstr(message));
	return result;
}

const struct tool tool_write_todos = {
	.info = &tool_infos[TOOL_WRITE_TODOS],
	.name = "write_todos",
	.title = "Write the list of steps",
	.description = write_todos_description,
	.arguments_schema = write_todos_arguments_schema,
	.result_schema = write_todos_result_schema,
	.run = run_write_todos,
};

/* ---- update_topic ------------------------------------------------------------ */

/* update_topic: describes the current work for the user. The title is kept until a new one is
 * set. */

enum { TITLE_MAX = 200, SUMMARY_MAX = 4000, INTENT_MAX = 1000 };

static const char update_topic_description[] =
	"Shows the user what you work on. Call it with the first calls of a longer task, and "
	"when you turn to another part of it.";

/* clang-format off */
static const char update_topic_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["strategic_intent"], "additionalProperties": false,
	"properties": {
		"title": {"type": "string", "description": "In two to five words."},
		"summary": {"type": "string"},
		"strategic_intent": {"type": "string", "minLength": 1, "description":
			"What you do next, and why."}
	}
} );

static const char update_topic_result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "message"], "additionalProperties": false,
	 "properties": {"success": {"const": true}, "message": {"type": "string"}}}, )
	RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

static bool check_update_topic(const json_t *arguments, struct err *err)
{
	static const struct {
		const char *name;
		size_t max;
	} rows[] = {
		{ "title", TITLE_MAX },
		{ "summary", SUMMARY_MAX },
		{ "strategic_intent", INTENT_MAX },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (argument_span(arguments, rows[i].name).len > rows[i].max)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "The %s is longer than %zu bytes.", rows[i].name,
			               rows[i].max);
	return true;
}

static json_t *run_update_topic(struct session *session, const json_t *arguments)
{
	struct err err = ERR_INIT;

	if (!session->services)
		err_set(&err, ERR_DENIED_BY_POLICY, "This run shows no topic.");
	else if (check_update_topic(arguments, &err))
		services_update_topic(session->services, arguments);
	if (err.code != ERR_NONE)
		return tool_failure(&err);
	return json_pack("{s:s}", "message", "The user sees it.");
}

const struct tool tool_update_topic = {
	.info = &tool_infos[TOOL_UPDATE_TOPIC],
	.name = "update_topic",
	.title = "Say what is worked on",
	.description = update_topic_description,
	.arguments_schema = update_topic_arguments_schema,
	.result_schema = update_topic_result_schema,
	.run = run_update_topic,
};
