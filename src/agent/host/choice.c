/* SPDX-License-Identifier: Apache-2.0 */
/* Which model answers: the session's choice, and another's for one prompt. */
#include "agent/host/private.h"
#include "data/json.h"
#include "model/choose.h"
#include "model/model.h"
#include "model/parameters.h"

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
