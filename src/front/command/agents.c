/* SPDX-License-Identifier: Apache-2.0 */
/* /agents: lists, enables, disables and reloads agents. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "catalog/agents.h"
#include "data/json.h"
#include "front/command/private.h"

/* ---- what there is --------------------------------------------------------------- */

static void agents_list_part(struct command_call *call, bool disabled)
{
	const struct agents *agents = host_agents(call->context->host);
	bool any = false;

	for (size_t i = 0; i < agents->count; i++) {
		const struct agent_definition *one = &agents->at[i];

		if (one->disabled != disabled)
			continue;
		if (!any)
			command_heading(call, disabled ? "Disabled Agents:" : "Available Agents:");
		any = true;
		command_term(call, one->called, 24, span_str(one->description),
		             STYLE(disabled ? ROLE_DIM : ROLE_TEXT));
	}
}

static void agents_list(struct command_call *call)
{
	const struct agents *agents = host_agents(call->context->host);
	const json_t *notice;
	size_t i;

	if (!agents->count)
		command_say(call, STYLE(ROLE_TEXT),
		            "Agents are off: experimental.enableAgents is false.");
	agents_list_part(call, false);
	agents_list_part(call, true);
	json_array_foreach(agents->notices, i, notice)
		command_text(call, STYLE(ROLE_WARNING), json_span(notice));
	if (agents->count)
		command_say(call, STYLE(ROLE_DIM), "@NAME in a prompt asks for one.");
	call->result->pager = agents->count > 10;
}

/* ---- what changes it ------------------------------------------------------------- */

static void agents_turn(struct command_call *call, bool enable)
{
	struct host *host = call->context->host;
	const struct span word = command_word(&call->arguments);
	_cleanup_free_ char *name = mem_dup(word.data ? word.data : "", word.len);
	_cleanup_free_ char *sentence = NULL;
	struct err err = ERR_INIT;

	if (!agents_switch(host_agents(host), call->context->settings, name, enable, &sentence,
	                        &err) ||
	         !host_agents_reload(host, &err))
		command_fail(call, "%s", err.message);
	else
		command_say(call, STYLE(ROLE_TEXT), "%s", sentence);
}

static void agents_enable(struct command_call *call)
{
	agents_turn(call, true);
}

static void agents_disable(struct command_call *call)
{
	agents_turn(call, false);
}

static void agents_reload(struct command_call *call)
{
	struct err err = ERR_INIT;
	const json_t *notice;
	size_t i;

	if (!host_agents_reload(call->context->host, &err)) {
		command_fail(call, "Failed to reload agents: %s", err.message);
		return;
	}
	command_say(call, STYLE(ROLE_TEXT), "Agents reloaded successfully: %zu.",
	            agents_enabled_count(host_agents(call->context->host)));
	json_array_foreach(host_agents(call->context->host)->notices, i, notice)
		command_text(call, STYLE(ROLE_WARNING), json_span(notice));
}

/* ---- the table ------------------------------------------------------------------- */

static const struct agents_action {
	const char *name, *alias; /* `alias` may be NULL */
	command_handler *run;
} agents_actions[] = {
	{ "list", NULL, agents_list },
	{ "enable", NULL, agents_enable },
	{ "disable", NULL, agents_disable },
	{ "reload", "refresh", agents_reload },
};

static const struct agents_action *agents_action_of(struct span word)
{
	for (size_t i = 0; i < ARRAY_LEN(agents_actions); i++)
		if (command_word_is(word, agents_actions[i].name) ||
		    (agents_actions[i].alias && command_word_is(word, agents_actions[i].alias)))
			return &agents_actions[i];
	return NULL;
}

void command_agents(struct command_call *call)
{
	const struct agents_action *action = agents_action_of(command_word(&call->arguments));

	(action ? action->run : agents_list)(call);
}

void command_complete_agents(struct command_completion *completion)
{
	const struct agents *agents = host_agents(completion->context->host);
	struct span before = completion->before;
	const bool enable = command_word_is(command_word(&before), "enable");

	for (size_t i = 0; i < agents->count; i++)
		if (agents->at[i].disabled == enable)
			completion->add(completion, agents->at[i].called,
			                agents->at[i].description);
}
