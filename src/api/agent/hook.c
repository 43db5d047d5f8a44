/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the program's as hooks. */
#include <stdlib.h>

#include "api/agent/internal.h"
#include "base/mem.h"
#include "data/json.h"
#include "hooks/hooks.h"

struct hasp_decision {
	struct hook_answer *answer;
};

#define SAME(event) _Static_assert((int)HASP_##event == (int)HOOK_##event, #event)
SAME(BEFORE_TOOL);
SAME(AFTER_TOOL);
SAME(BEFORE_AGENT);
SAME(AFTER_AGENT);
SAME(BEFORE_MODEL);
SAME(AFTER_MODEL);
SAME(BEFORE_TOOL_SELECTION);
SAME(SESSION_START);
SAME(SESSION_END);
SAME(NOTIFICATION);
SAME(PRE_COMPRESS);
_Static_assert((int)HASP_PRE_COMPRESS + 1 == (int)HOOK_EVENT_COUNT, "all events");

static void set_text(char **slot, const char *text)
{
	free(*slot);
	*slot = mem_strdup(text);
}

void hasp_decision_refuse(hasp_decision *decision, const char *reason)
{
	decision->answer->proceed = false;
	set_text(&decision->answer->reason, reason);
}

void hasp_decision_respond(hasp_decision *decision, const char *text)
{
	set_text(&decision->answer->alternative_response, text ? text : "");
}

void hasp_decision_fail(hasp_decision *decision, const char *message)
{
	set_text(&decision->answer->error, message ? message : "A hook failed.");
}

bool hasp_decision_modify(hasp_decision *decision, const char *json)
{
	struct err err = ERR_INIT;
	json_t *members = NULL;

	if (!json_parse(span_str(json ? json : ""), &members, &err) || !json_is_object(members)) {
		json_decref(members);
		hasp_decision_fail(decision, "A hook's modification is no JSON object.");
		return false;
	}
	json_decref(decision->answer->modified_arguments);
	decision->answer->modified_arguments = members;
	return true;
}

static void run(void *data, enum hook_event event, const json_t *input, struct hook_answer *answer)
{
	const struct registered *registered = data;
	struct hasp_decision decision = { .answer = answer };
	_cleanup_free_ char *text = embed_json_text(input);

	registered->hook(registered->data, (hasp_event)event, text, &decision);
}

bool hasp_agent_on(hasp_agent *agent, hasp_event event, const char *matcher, hasp_hook *hook,
                   void *data, hasp_agent_error *error)
{
	struct registered *registered;

	if ((unsigned)event >= HOOK_EVENT_COUNT || !hook)
		return embed_fail(error, HASP_AGENT_INVALID_ARGUMENT, "%s",
		                  hook ? "There is no such event." : "There is no function.");
	if (!embed_idle(agent, error))
		return false;
	registered = embed_register(agent, data);
	registered->hook = hook;
	hooks_add_function(host_hooks(agent->host), (enum hook_event)event, matcher, run, registered);
	return true;
}
