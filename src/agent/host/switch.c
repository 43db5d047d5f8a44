/* SPDX-License-Identifier: Apache-2.0 */
/* Another session in the place of the one that is: a new one, or a recorded one. */
#include "agent/host/host.h"

#include "agent/host/private.h"
#include "agent/host/services.h"
#include "audit/audit.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/choose.h"
#include "model/model.h"
#include "model/parameters.h"
#include "telemetry/telemetry.h"
#include "worker/job/interpreter.h"

/* Opens what `chat` asks for in the place of the session that is. False: that stays. */
static bool host_switch(struct host *host, const struct chat *chat, const char *reason,
                        struct err *err)
{
	struct chat before = host->chat;
	json_auto_t *nothing = json_array();
	struct chat next;
	bool ok;

	host->chat = *chat;
	host->chat.mode = agent_mode(before.agent);
	ok = host_read_history(host, err) && host_open_record(host, err);
	if (ok) {
		host_open_tools(host);
		session_raise_version(&host->chat.session, session_version(&before.session));
		memory_forget(host->memory, nothing);
		ok = host_open_chat_agent(host, err);
	}
	next = host->chat;
	host->chat = before;
	if (!ok) {
		host_chat_release(&next);
		return false;
	}
	host_leave_a2a_record(host);
	host_end_session(host, reason);
	jobs_end_interpreter(host->jobs);
	policy_session_end(host->options.policy);
	host->chat = next;
	telemetry_set_session(host->telemetry, record_session_id(next.record));
	audit_set_session(host->audit, record_session_id(next.record));
	hooks_set_session(host->hooks, record_session_id(next.record), record_path(next.record),
	                  services_plans_folder(next.services));
	/* Its services stay as long as the host: commands in the background stand on them. */
	host->earlier = mem_grow(host->earlier, &host->earlier_cap, host->earlier_count + 1,
	                         sizeof(*host->earlier));
	host->earlier[host->earlier_count++] = mem_steal(&before.services);
	host_chat_release(&before);
	return true;
}

/* ---- the model ------------------------------------------------------------------- */

static void publish_model(struct host *host)
{
	json_auto_t *message = json_pack("{s:s, s:o}", "model", model_id(host->model), "window",
	                                 json_size(model_context_tokens(host->model)));

	if (host->choice.key_from)
		json_object_set_new(message, "keyFrom", json_string(host->choice.key_from));
	json_object_set_new(message, "effort", json_string(model_thinking_name(host->thinking)));
	bus_publish(host->bus, BUS_MODEL, message);
}

void host_set_thinking(struct host *host, enum model_thinking thinking)
{
	const char *name = host->choice.options.name;

	model_parameters_read(host->options.settings, name, name, NULL, &host->choice.parameters);
	host->thinking = thinking;
	if (thinking == MODEL_THINK_DEFAULT)
		return;
	host->choice.parameters.thinking = thinking;
	host->choice.parameters.thinking_tokens = 0;
}

/* The model that `words` name answers from now on; *ret_before: the last choice, the caller's. */
static bool host_take_model(struct host *host, const char *words, struct model_choice *ret_before,
                            struct err *err)
{
	struct model_choice choice = { 0 };

	if (!model_choose(host->options.settings, words, &choice, err))
		return false;
	choice.options.recording = host->recording;
	choice.options.trace = host->options.trace;
	choice.options.trace_data = host->options.data;
	if (!model_replace(host->model, &choice.options, err)) {
		model_choice_release(&choice);
		return false;
	}
	*ret_before = host->choice;
	host->choice = choice;
	return true;
}

bool host_set_model(struct host *host, const char *words, enum model_thinking thinking,
                    struct err *err)
{
	struct model_choice before;

	if (!words) {
		host_set_thinking(host, thinking);
		publish_model(host);
		return true;
	}
	if (!host_take_model(host, words, &before, err))
		return false;
	model_choice_release(&before);
	if (thinking != MODEL_THINK_DEFAULT)
		host_set_thinking(host, thinking);
	host_warn_all(host, host->choice.warnings);
	agent_tools_added(host->chat.agent);
	publish_model(host);
	return true;
}

bool host_lend_model(struct host *host, const char *words, struct err *err)
{
	if (host->model_lent)
		return true;
	if (!host_take_model(host, words, &host->choice_before, err))
		return false;
	host->model_lent = true;
	agent_tools_added(host->chat.agent);
	publish_model(host);
	return true;
}

void host_return_model(struct host *host)
{
	struct err err = ERR_INIT;

	if (!host->model_lent)
		return;
	host->model_lent = false;
	if (!model_replace(host->model, &host->choice_before.options, &err)) {
		host_warn(host, err.message);
		model_choice_release(&host->choice_before);
		return;
	}
	model_choice_release(&host->choice);
	host->choice = host->choice_before;
	agent_tools_added(host->chat.agent);
	publish_model(host);
}

enum model_thinking host_thinking(const struct host *host)
{
	return host->thinking;
}

/* ---- what is allowed ------------------------------------------------------------- */

json_t *host_allowed(const struct host *host)
{
	const struct policy *policy = host->options.policy;
	json_auto_t *rules = policy ? policy_session_list(policy) : json_array();
	json_auto_t *permissions = session_permissions(&host->chat.session);
	json_t *list = json_array(), *one;
	size_t i;

	json_array_foreach(rules, i, one)
		json_array_append_new(list, json_pack("{s:O, s:O?}", "text",
		                                      json_object_get(one, "scope") ?:
		                                      json_object_get(one, "rule"), "since",
		                                      json_object_get(one, "since")));
	json_array_foreach(permissions, i, one)
		json_array_append_new(list, json_pack("{s:O}", "text", one));
	return list;
}

bool host_revoke(struct host *host, size_t number)
{
	json_auto_t *list = host_allowed(host);
	struct policy *policy = host->options.policy;

	if (number > json_array_size(list))
		return false;
	if (!number && policy)
		policy_session_end(policy);
	if (!number || !policy || !policy_session_drop(policy, number - 1))
		session_revoke(&host->chat.session);
	return true;
}

bool host_clear(struct host *host, struct err *err)
{
	const struct chat chat = { .source = "clear" };

	return host_switch(host, &chat, "clear", err);
}

bool host_resume(struct host *host, const char *file, bool copy, struct err *err)
{
	const struct chat chat = { .source = "resume", .resume_file = copy ? NULL : file,
		                   .import_file = copy ? file : NULL };

	return host_switch(host, &chat, "other", err);
}
