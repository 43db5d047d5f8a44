/* SPDX-License-Identifier: Apache-2.0 */
/* What the client's menus are built from: modes, models, efforts, commands.  All of it is looked
 * up, and options are set, on the session's thread. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "acp/private.h"
#include "base/buf.h"
#include "base/mem.h"
#include "data/json.h"
#include "front/command/command.h"
#include "model/choose.h"

typedef bool acp_option_set(const struct command_context *context, const char *value,
                            struct err *err);

/* Looks up what the menus have, after setting an option where a request says so. */
struct acp_look {
	struct front_task task;      /* first */
	struct acp_look *next;       /* of session->looks */
	struct acp_request *request; /* that sets an option; or NULL */
	acp_option_set *set;
	char *value;                 /* owned */
	json_t *menus;               /* owned; NULL: it has not been carried out */
	atomic_bool is_old;       /* it runs, or has run */
	struct err err;
};

/* ---- menus ----------------------------------------------------------------------- */

/* A menu of session->menus as the protocol has it: `value` is what it calls the value.  The current
 * one is in it in any case. */
static json_t *acp_menu(const struct acp_session *session, const char *name, const char *value,
                        const char *current)
{
	json_t *list = json_array(), *row, *shown;
	bool has = false;
	size_t i;

	json_array_foreach(json_object_get(session->menus, name), i, row) {
		shown = json_pack("{s:O, s:O}", value, json_object_get(row, "value"), "name",
		                  json_object_get(row, "name"));
		if (json_object_get(row, "help"))
			json_object_set(shown, "description", json_object_get(row, "help"));
		json_array_append_new(list, shown);
		has = has || !strcmp(acp_text(row, "value"), current);
	}
	if (!has)
		json_array_append_new(list, json_pack("{s:s, s:s}", value, current, "name",
		                                      current));
	return list;
}

json_t *acp_options(const struct acp_session *session)
{
	const char *mode = policy_mode_name(session->mode);
	const char *effort = acp_text(session->menus, "effort");

	return json_pack(
		"[{s:s, s:s, s:s, s:s, s:s, s:s, s:o}, {s:s, s:s, s:s, s:s, s:s, s:o}, "
		"{s:s, s:s, s:s, s:s, s:s, s:o}]",
		"id", "mode", "name", "Mode", "description", "What runs without asking",
		"category", "mode", "type", "select", "currentValue", mode, "options",
		acp_menu(session, "modes", "value", mode),
		"id", "model", "name", "Model", "category", "model", "type", "select",
		"currentValue", session->model, "options",
		acp_menu(session, "models", "value", session->model),
		"id", "thinking", "name", "Thinking", "category", "thought_level", "type",
		"select", "currentValue", effort, "options",
		acp_menu(session, "efforts", "value", effort));
}

void acp_put_state(const struct acp_session *session, json_t *result)
{
	const char *mode = policy_mode_name(session->mode);

	json_object_set_new(result, "modes", json_pack(
		"{s:s, s:o}", "currentModeId", mode, "availableModes",
		acp_menu(session, "modes", "id", mode)));
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

/* ---- commands -------------------------------------------------------------------- */

/* The list of commands as the protocol has it; takes it. */
static json_t *acp_commands(json_t *list)
{
	json_t *row;
	size_t i;

	json_array_foreach(list, i, row) {
		json_t *hint = json_object_get(row, "hint");

		if (hint)
			json_object_set_new(row, "input", json_pack("{s:O}", "hint", hint));
		json_object_del(row, "hint");
	}
	return list;
}

/* ---- looking them up ---------------------------------------------------------------- */

struct command_context acp_command_context(struct front_session *session)
{
	return (struct command_context){
		.host = session_host(session), .settings = session_settings(session),
		.can = 1u << COMMAND_SEND, .local = session_is_local(session), .waits = true,
		.embedded = true,
	};
}

/* On the session's thread, while it is open: without its commands. */
static json_t *acp_look_up(const struct command_context *context)
{
	const json_t *prices = settings_get(context->settings, "hasp.prices");

	return json_pack("{s:o, s:o, s:o, s:s, s:o?}", "modes", command_menu_modes(context),
	                 "models", command_menu_models(context), "efforts",
	                 command_menu_efforts(), "effort", command_effort(context), "prices",
	                 prices ? json_deep_copy(prices) : NULL);
}

void acp_menus_opened(void *data, struct front_session *session)
{
	const struct command_context context = acp_command_context(session);
	struct acp_session *own = data;

	own->menus = acp_look_up(&context);
}

/* As front_task.run. */
static void acp_look_run(struct front_task *task, struct front_session *session)
{
	const struct command_context context = acp_command_context(session);
	struct acp_look *look = (struct acp_look *)task;

	atomic_store(&look->is_old, true);
	if (!context.host)
		return;
	if (look->set)
		look->set(&context, look->value, &look->err);
	look->menus = acp_look_up(&context);
	json_object_set_new(look->menus, "commands",
	                    acp_commands(command_list(&context)));
}

/* Takes it out of the session's, and frees it. */
static void acp_look_free(struct acp_session *session, struct acp_look *look)
{
	struct acp_look **link = &session->looks;

	while (*link != look)
		link = &(*link)->next;
	*link = look->next;
	json_decref(look->menus);
	free(look->value);
	free(look);
}

static bool acp_look_begin(struct acp_session *session, const struct acp_look *of, struct err *err)
{
	struct acp_look *look = mem_alloc(1, sizeof(*look));

	*look = *of;
	look->task.run = acp_look_run;
	look->next = session->looks;
	session->looks = look;
	if (front_give(session->front, &look->task, err))
		return true;
	acp_look_free(session, look);
	return false;
}

void acp_menus_begin(struct acp_session *session)
{
	struct err ignored = ERR_INIT;

	for (const struct acp_look *look = session->looks; look; look = look->next)
		if (!look->request && !atomic_load(&look->is_old))
			return;
	acp_look_begin(session, &(struct acp_look){ .err = ERR_INIT }, &ignored);
}

static void acp_look_answer(struct acp_session *session, struct acp_look *look)
{
	if (!look->menus)
		err_set(&look->err, ERR_CANCELLED, "The session was closed.");
	if (look->err.code != ERR_NONE)
		acp_refuse_err(look->request, &look->err);
	else
		acp_answer(look->request, json_pack("{s:o}", "configOptions",
		                                    acp_options(session)));
}

void acp_menus_drop(struct acp_session *session)
{
	while (session->looks) {
		if (session->looks->request)
			acp_look_answer(session, session->looks);
		acp_look_free(session, session->looks);
	}
}

/* What has been looked up counts; what is new of it goes to the client. */
static void acp_menus_take(struct acp_session *session, struct acp_look *look)
{
	const json_t *commands = json_object_get(look->menus, "commands");
	json_auto_t *options = acp_options(session), *now = NULL;
	json_auto_t *before = session->menus;

	session->menus = json_incref(look->menus);
	now = acp_options(session);
	if (!look->request && !json_equal(options, now))
		acp_options_changed(session);
	if (!json_equal(commands, json_object_get(before, "commands")))
		acp_update(session, json_pack("{s:s, s:O}", "sessionUpdate",
		                              "available_commands_update", "availableCommands",
		                              commands));
}

bool acp_menus_done(struct acp_session *session, const struct front_event *event)
{
	struct acp_look *look = session->looks;

	while (look && &look->task != event->task)
		look = look->next;
	if (!look)
		return false;
	if (look->menus && session->state == ACP_OPEN)
		acp_menus_take(session, look);
	if (look->request)
		acp_look_answer(session, look);
	acp_look_free(session, look);
	return true;
}

/* ---- setting them ---------------------------------------------------------------- */

/* As acp_option_set. */
static bool acp_set_model(const struct command_context *context, const char *model,
                          struct err *err)
{
	return host_set_model(context->host, model, host_thinking(context->host), err);
}

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

/* The session, if it is open; NULL: the request has been refused. */
static struct acp_session *acp_session_to_set(struct acp_request *request)
{
	struct acp_session *session = acp_session_of(request);

	if (!session || session->state == ACP_OPEN)
		return session;
	acp_refuse(request, RPC_INVALID_REQUEST, "The session is being opened.");
	return NULL;
}

void acp_do_set_mode(struct acp_request *request)
{
	struct acp_session *session = acp_session_to_set(request);

	if (session && acp_choose_mode(request, session, acp_text(request->params, "modeId")))
		acp_answer(request, NULL);
}

/* Of one of the menus; counts from the next prompt on, which waits for it. */
static void acp_choose(struct acp_request *request, struct acp_session *session, const char *menu,
                       acp_option_set *set, const char *value)
{
	json_t *row;
	struct err err = ERR_INIT;
	bool has = false;
	size_t i;

	json_array_foreach(json_object_get(session->menus, menu), i, row)
		has = has || !strcmp(acp_text(row, "value"), value);
	if (!has)
		acp_refuse(request, RPC_INVALID_PARAMS, "\"%.100s\" is not one of the %s.", value,
		           menu);
	else if (!acp_look_begin(session, &(struct acp_look){ .request = request, .set = set,
		                .value = mem_strdup(value), .err = ERR_INIT }, &err))
		acp_refuse_err(request, &err);
}

void acp_do_set_option(struct acp_request *request)
{
	static const struct {
		const char *id, *menu;
		acp_option_set *set;
	} rows[] = {
		{ "model", "models", acp_set_model },
		{ "thinking", "efforts", command_set_effort },
	};
	const char *id = acp_text(request->params, "configId");
	const char *value = acp_text(request->params, "value");
	struct acp_session *session = acp_session_to_set(request);

	if (!session)
		return;
	if (!value) {
		acp_refuse(request, RPC_INVALID_PARAMS, "params.value must be a string.");
		return;
	}
	if (!strcmp(id, "mode")) {
		if (acp_choose_mode(request, session, value))
			acp_answer(request, json_pack("{s:o}", "configOptions",
			                              acp_options(session)));
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!strcmp(rows[i].id, id)) {
			acp_choose(request, session, rows[i].menu, rows[i].set, value);
			return;
		}
	acp_refuse(request, RPC_INVALID_PARAMS, "\"%.100s\" is not an option of this session.", id);
}

/* ---- models of providers ----------------------------------------------------------- */

/* Asks the providers for their lists, which are kept for a day (model/choose.h): once for all
 * sessions, when the first prompt has ended.  Until then nothing but that uses the network, and
 * its libraries are not loaded. */
struct acp_offers {
	struct acp_work work; /* first */
	struct session_request request;
	json_t *params;       /* owned; the request points into it */
	struct cancel cancel;
};

/* As acp_work.run. */
static void acp_offers_ask(struct acp_work *work)
{
	struct acp_offers *offers = (struct acp_offers *)work;
	struct front_session *session = session_new(&offers->request);
	const struct offers_options options = { .kept = true, .cancel = &offers->cancel };
	struct err ignored = ERR_INIT;

	if (session_load(session, &ignored))
		json_decref(model_offers(session_settings(session), &options));
	session_free(session);
}

/* As acp_work.then. */
static void acp_offers_done(struct acp_work *work)
{
	struct acp_offers *offers = (struct acp_offers *)work;
	struct acp_session *session = work->acp->sessions;

	work->acp->offers = NULL;
	for (; session; session = session->next)
		if (session->state == ACP_OPEN)
			acp_menus_begin(session);
	cancel_release(&offers->cancel);
	json_decref(offers->request.overrides);
	json_decref(offers->params);
	free(offers);
}

void acp_offers_begin(struct acp_session *session)
{
	struct acp *acp = session->acp;
	struct acp_offers *offers;
	struct cancel cancel;
	struct err ignored = ERR_INIT;

	/* A recording has no provider. */
	if (acp->has_offers || span_starts(span_str(session->model), SPAN("replay:")) ||
	    !cancel_init(&cancel, &ignored))
		return;
	offers = mem_alloc(1, sizeof(*offers));
	*offers = (struct acp_offers){
		.work = { .run = acp_offers_ask, .then = acp_offers_done },
		.request = session->request, .params = json_incref(session->params),
		.cancel = cancel,
	};
	offers->request.overrides = json_incref(offers->request.overrides);
	offers->request.more = NULL;
	offers->request.cancel = &offers->cancel;
	acp->has_offers = true;
	acp->offers = offers;
	acp_work_start(acp, &offers->work);
}

void acp_offers_cancel(struct acp *acp)
{
	if (acp->offers)
		cancel_set(&acp->offers->cancel);
}
