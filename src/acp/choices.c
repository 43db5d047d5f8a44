/* SPDX-License-Identifier: Apache-2.0 */
/* What the client's menus are built from: modes, configuration options, commands. */
#include <stdlib.h>
#include <string.h>

#include "acp/private.h"
#include "agent/setup/prepare.h"
#include "base/buf.h"
#include "base/mem.h"
#include "data/json.h"
#include "front/command/command.h"

/* ---- modes ----------------------------------------------------------------------- */

static const struct acp_mode_row {
	enum approval_mode mode;
	const char *name, *description;
} acp_modes[] = {
	{ MODE_DEFAULT, "Default", "Ask before edits and commands" },
	{ MODE_AUTO_EDIT, "Auto edit", "Edit without asking; ask before commands" },
	{ MODE_YOLO, "Yolo", "Ask about nothing" },
	{ MODE_PLAN, "Plan", "Read and plan; change nothing" },
};

/* Those that the settings permit here; `value` is what the protocol calls a mode's id. */
static json_t *acp_mode_list(const struct acp_session *session, const char *value)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(acp_modes); i++) {
		struct err ignored = ERR_INIT;

		if (acp_modes[i].mode == session->mode ||
		    prepare_mode_check(session_settings(session->session), acp_modes[i].mode,
		                       &ignored))
			json_array_append_new(list, json_pack(
				"{s:s, s:s, s:s}", value, policy_mode_name(acp_modes[i].mode),
				"name", acp_modes[i].name, "description",
				acp_modes[i].description));
	}
	return list;
}

static json_t *acp_mode_state(const struct acp_session *session)
{
	return json_pack("{s:s, s:o}", "currentModeId", policy_mode_name(session->mode),
	                 "availableModes", acp_mode_list(session, "id"));
}

/* ---- options --------------------------------------------------------------------- */

static json_t *acp_value(const char *value, const char *name)
{
	return json_pack("{s:s, s:s}", "value", value, "name", name);
}

static void acp_add_model(json_t *list, const char *model)
{
	json_t *row;
	size_t i;

	json_array_foreach(list, i, row)
		if (!model || !strcmp(acp_text(row, "value"), model))
			return;
	if (model)
		json_array_append_new(list, acp_value(model, model));
}

/* Google's, for which there is a key then. */
static bool acp_is_gemini(const char *model)
{
	return !strncmp(model, "gemini/", 7) || !strncmp(model, "vertex/", 7);
}

/* The model that answers, what the user's settings and flags name, and next to one of Gemini's its
 * aliases.  Whether a key is there for each is seen when it is used: looking may take long. */
static json_t *acp_model_list(const struct acp_session *session)
{
	static const char *const aliases[] = { "auto", "pro", "flash", "flash-lite" };
	const struct settings *settings = session_settings(session->session);
	json_t *list = json_array(), *value;
	const char *name;

	acp_add_model(list, session->model);
	acp_add_model(list, session->acp->options->request->model);
	acp_add_model(list, settings_string(settings, "model.name", NULL));
	json_object_foreach((json_t *)settings_get(settings, "modelConfigs.customAliases"), name,
	                    value)
		acp_add_model(list, name);
	for (size_t i = 0; acp_is_gemini(session->model) && i < ARRAY_LEN(aliases); i++)
		acp_add_model(list, aliases[i]);
	return list;
}

static const struct acp_level {
	const char *value, *name;
} acp_levels[] = {
	{ "default", "As the settings say" }, { "off", "Off" }, { "low", "Low" },
	{ "medium", "Medium" },               { "high", "High" },
};

static json_t *acp_thinking_list(void)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(acp_levels); i++)
		json_array_append_new(list, acp_value(acp_levels[i].value, acp_levels[i].name));
	return list;
}

json_t *acp_options(const struct acp_session *session)
{
	return json_pack(
		"[{s:s, s:s, s:s, s:s, s:s, s:s, s:o}, {s:s, s:s, s:s, s:s, s:s, s:o}, "
		"{s:s, s:s, s:s, s:s, s:s, s:o}]",
		"id", "mode", "name", "Mode", "description", "What runs without asking",
		"category", "mode", "type", "select", "currentValue",
		policy_mode_name(session->mode), "options", acp_mode_list(session, "value"),
		"id", "model", "name", "Model", "category", "model", "type", "select",
		"currentValue", session->model, "options", acp_model_list(session),
		"id", "thinking", "name", "Thinking", "category", "thought_level", "type",
		"select", "currentValue", session->thinking, "options", acp_thinking_list());
}

void acp_put_state(const struct acp_session *session, json_t *result)
{
	json_object_set_new(result, "modes", acp_mode_state(session));
	json_object_set_new(result, "configOptions", acp_options(session));
}

void acp_options_changed(struct acp_session *session)
{
	acp_update(session, json_pack("{s:s, s:o}", "sessionUpdate", "config_option_update",
	                              "configOptions", acp_options(session)));
}

void acp_mode_changed(struct acp_session *session, const char *word)
{
	if (!policy_mode_parse(word, &session->mode))
		return;
	acp_update(session, json_pack("{s:s, s:s}", "sessionUpdate", "current_mode_update",
	                              "currentModeId", policy_mode_name(session->mode)));
	acp_options_changed(session);
}

/* Whether a list of options has the value. */
static bool acp_list_has(const json_t *list, const char *value)
{
	json_t *row;
	size_t i;

	json_array_foreach((json_t *)list, i, row)
		if (!strcmp(acp_text(row, "value"), value))
			return true;
	return false;
}

/* ---- setting them ---------------------------------------------------------------- */

/* False: the request has been refused. */
static bool acp_choose_mode(struct acp_request *request, struct acp_session *session,
                            const char *word)
{
	struct err err = ERR_INIT;
	enum approval_mode mode;

	if (!policy_mode_parse(word, &mode)) {
		acp_refuse(request, RPC_INVALID_PARAMS, "\"%.100s\" is not a mode.", word);
		return false;
	}
	if (!front_set_mode(session->front, mode, &err)) {
		acp_refuse_err(request, &err);
		return false;
	}
	session->mode = mode;
	return true;
}

void acp_do_set_mode(struct acp_request *request)
{
	struct acp_session *session = acp_session_of(request);

	if (!session)
		return;
	if (session->state != ACP_OPEN)
		acp_refuse(request, RPC_INVALID_REQUEST, "The session is being opened.");
	else if (acp_choose_mode(request, session, acp_text(request->params, "modeId")))
		acp_answer(request, NULL);
}

/* The setting that makes a level of thinking, for `overrides`: the user's other overrides stay. */
static void acp_set_thinking(struct acp_session *session, const char *level)
{
	const json_t *before = settings_get(session_settings(session->session),
	                                    "modelConfigs.customOverrides");
	json_t *list = json_array(), *row, *thinking;
	size_t i;

	json_array_foreach((json_t *)before, i, row)
		if (!json_is_true(json_object_get(row, "acp")))
			json_array_append(list, row);
	if (strcmp(level, "default") != 0) {
		thinking = strcmp(level, "off") ? json_pack("{s:s}", "thinkingLevel", level) :
		                                  json_pack("{s:i}", "thinkingBudget", 0);
		json_array_append_new(list, json_pack(
			"{s:{s:s}, s:{s:{s:o}}, s:b}", "match", "overrideScope", "core",
			"modelConfig", "generateContentConfig", "thinkingConfig", thinking,
			"acp", 1));
	}
	json_object_set_new(session->request.overrides, "modelConfigs",
	                    json_pack("{s:o}", "customOverrides", list));
	free(session->thinking);
	session->thinking = mem_strdup(level);
}

/* Both count from the next prompt on, for which the session is opened again. */
static bool acp_choose_thinking(struct acp_request *request, struct acp_session *session,
                                const char *level)
{
	json_auto_t *levels = acp_thinking_list();

	if (!acp_list_has(levels, level)) {
		acp_refuse(request, RPC_INVALID_PARAMS, "\"%.100s\" is not a level of thinking.",
		           level);
		return false;
	}
	if (strcmp(level, session->thinking) != 0) {
		acp_set_thinking(session, level);
		session->is_changed = true;
	}
	return true;
}

static bool acp_choose_model(struct acp_request *request, struct acp_session *session,
                             const char *model)
{
	json_auto_t *models = acp_model_list(session);

	if (!acp_list_has(models, model)) {
		acp_refuse(request, RPC_INVALID_PARAMS, "\"%.100s\" is not a model of the list.",
		           model);
		return false;
	}
	if (strcmp(model, session->model) != 0) {
		free(session->model_before);
		session->model_before = mem_strdup(session->model);
		free(session->model);
		session->model = mem_strdup(model);
		free(session->wanted_model);
		session->wanted_model = mem_strdup(model);
		session->request.model = session->wanted_model;
		session->is_changed = true;
	}
	return true;
}

void acp_do_set_option(struct acp_request *request)
{
	static const struct {
		const char *id;
		bool (*choose)(struct acp_request *request, struct acp_session *session,
		               const char *value);
	} rows[] = {
		{ "mode", acp_choose_mode },
		{ "model", acp_choose_model },
		{ "thinking", acp_choose_thinking },
	};
	struct acp_session *session = acp_session_of(request);
	const char *id, *value;

	if (!session)
		return;
	id = acp_text(request->params, "configId");
	value = acp_text(request->params, "value");
	if (session->state != ACP_OPEN || !value) {
		acp_refuse(request, RPC_INVALID_PARAMS, !value ? "params.value must be a string." :
		           "The session is being opened.");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (strcmp(rows[i].id, id) != 0)
			continue;
		if (rows[i].choose(request, session, value))
			acp_answer(request, json_pack("{s:o}", "configOptions",
			                              acp_options(session)));
		return;
	}
	acp_refuse(request, RPC_INVALID_PARAMS, "\"%.100s\" is not an option of this session.", id);
}

/* ---- commands -------------------------------------------------------------------- */

/* Those that are about a terminal, or would put another session in the place of this one, whose id
 * the client has. */
static const char *const acp_commands_without[] = {
	"auth", "chat", "clear", "copy", "editor", "quit", "shortcuts", "theme", "vim",
};

bool acp_command_is_left_out(const struct command_info *command)
{
	for (size_t i = 0; command && i < ARRAY_LEN(acp_commands_without); i++)
		if (!strcmp(acp_commands_without[i], command->name))
			return true;
	return false;
}

/* Finds them, on the session's thread. */
struct acp_commands {
	struct front_task task;
	json_t *list; /* owned */
};

/* As command_offer. */
static void acp_offer_command(void *data, size_t from, size_t to, struct span text,
                              struct span label, struct span note)
{
	const struct command_info *command = command_of(text);
	struct acp_commands *commands = data;
	_cleanup_buf_ struct buf hint = BUF_INIT(LIMIT_MESSAGE_BYTES);
	json_t *row;

	(void)from;
	(void)to;
	if (command && !span_eq(label, span_str(command->name)))
		command = NULL;
	if (acp_command_is_left_out(command))
		return;
	row = json_pack("{s:o, s:o}", "name", json_text(label), "description", json_text(note));
	if (command)
		command_print_forms(command, &hint);
	else
		buf_str(&hint, "arguments");
	if (hint.len)
		json_object_set_new(row, "input", json_pack("{s:s}", "hint", hint.data));
	json_array_append_new(commands->list, row);
}

/* As front_task.run. */
static void acp_commands_find(struct front_task *task, struct front_session *session)
{
	struct acp_commands *commands = (struct acp_commands *)task;
	const struct command_context context = {
		.host = session_host(session), .settings = session_settings(session),
		.local = session_is_local(session),
	};

	if (context.host)
		command_complete(&context, SPAN("/"), 1, acp_offer_command, commands);
}

void acp_commands_begin(struct acp_session *session)
{
	struct acp_commands *commands;
	struct err ignored = ERR_INIT;

	if (session->listing)
		return;
	commands = mem_alloc(1, sizeof(*commands));
	*commands = (struct acp_commands){ .task.run = acp_commands_find, .list = json_array() };
	session->listing = &commands->task;
	if (front_give(session->front, &commands->task, &ignored))
		return;
	session->listing = NULL;
	json_decref(commands->list);
	free(commands);
}

void acp_commands_drop(struct acp_session *session)
{
	struct acp_commands *commands = (struct acp_commands *)session->listing;

	session->listing = NULL;
	if (commands)
		json_decref(commands->list);
	free(commands);
}

void acp_commands_done(struct acp_session *session, const struct front_event *event)
{
	struct acp_commands *commands = (struct acp_commands *)event->task;

	session->listing = NULL;
	if (!json_equal(commands->list, session->commands)) {
		json_decref(session->commands);
		session->commands = json_incref(commands->list);
		acp_update(session, json_pack("{s:s, s:O}", "sessionUpdate",
		                              "available_commands_update", "availableCommands",
		                              commands->list));
	}
	json_decref(commands->list);
	free(commands);
}
