/* SPDX-License-Identifier: Apache-2.0 */
/* invoke_agent: hands a task to an agent with a separate conversation (subagent.c), or to a remote
 * one (remote.c). */
#include <stdlib.h>
#include <string.h>

#include "agent/host/private.h"
#include "agent/host/subagents.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "tool/set.h"

/* Freed with the set of tools. */
struct agent_tool {
	struct tool tool;   /* first */
	struct host *host;
	char *description;  /* owned */
};

static const char description_head[] =
	"Has an agent do a task in its own conversation, and returns its report. It knows only "
	"the prompt: say all that it needs, and what to report. Agents called in one reply work "
	"at the same time. Agents:\n";

static const char agent_arguments_schema[] =
	"{\"type\": \"object\", \"required\": [\"agent_name\", \"prompt\"], \"properties\": {"
	"\"agent_name\": {\"type\": \"string\"}, \"prompt\": {\"type\": \"string\"}}}";

static const char agent_result_schema[] =
	"{\"type\": \"object\", \"required\": [\"success\", \"agent\"], \"properties\": {"
	"\"success\": {\"type\": \"boolean\"}, \"agent\": {\"type\": \"string\"},"
	" \"end\": {\"type\": \"string\"}, \"output\": {\"type\": \"string\"},"
	" \"turns\": {\"type\": \"integer\"}, \"calls\": {\"type\": \"integer\"},"
	" \"truncated\": {\"type\": \"boolean\"}, \"worktree\": {\"type\": \"object\"},"
	" \"message\": {\"type\": \"string\"}, \"error\": {\"type\": \"object\"}}}";

static const struct agent_definition *agent_called(const struct tool *tool,
                                                   const json_t *arguments, struct err *err)
{
	const struct agent_tool *own = (const struct agent_tool *)tool;
	const char *name = json_string_value(json_object_get(arguments, "agent_name"));
	const struct agent_definition *definition =
		name ? agents_find(own->host->agents, name) : NULL;

	const char *last = name;
	_cleanup_free_ char *missing = NULL;

	for (const char *at = name; at && *at; at++)
		if (strchr(":.", *at))
			last = at + 1;
	/* Rules have seen the name as it is written. */
	if (definition && strcmp(last, definition->name) != 0)
		definition = NULL;
	if (!definition) {
		missing = agents_missing(own->host->agents, name ? name : "");
		err_set(err, ERR_INVALID_ARGUMENT, "%s", missing);
	}
	return definition;
}

/* The preview shown with the question. */
static char *agent_preview(struct session *session, const struct tool *tool,
                           const json_t *arguments, struct err *err)
{
	const struct agent_definition *definition = agent_called(tool, arguments, err);
	const struct span task = json_span(json_object_get(arguments, "prompt"));
	_cleanup_free_ char *where = NULL;

	(void)session;
	if (!definition)
		return NULL;
	if (definition->remote || definition->servers)
		where = agent_facts(definition);
	return mem_printf("Agent: %s (%s)\nDescription: %s\n%s%s%sTask: %.*s", definition->name,
	                  agents_from_word(definition->from), definition->description,
	                  !where ? "" : definition->remote ? "Remote: " : "Servers: ",
	                  where ? where : "", where ? "\n" : "", (int)task.len, task.data);
}

static json_t *agent_call_run(struct session *session, const struct tool *tool,
                              const json_t *arguments)
{
	struct host *host = ((const struct agent_tool *)tool)->host;
	struct err err = ERR_INIT;
	const struct agent_definition *definition = agent_called(tool, arguments, &err);
	const char *task = json_string_value(json_object_get(arguments, "prompt"));

	if (!definition)
		return tool_failure(&err);
	if (definition->remote)
		return host_run_remote(host, definition, task ? task : "", &session->hooks);
	if (!host_agent_consent(host, definition, &err))
		return tool_failure(&err);
	return host_run_subagent(host, definition, task ? task : "", session->hooks.call);
}

static void agent_tool_free(struct tool *tool)
{
	free(((struct agent_tool *)tool)->description);
	free(tool);
}

static char *agents_description(const struct agents *agents)
{
	_cleanup_free_ char *list = agents_listed(agents);

	return mem_printf("%s%s", description_head, list);
}

/* What goes to them leaves the machine: the user is asked, unless a rule of theirs says more. */
static void host_guard_remote_agents(struct host *host)
{
	json_auto_t *names = json_array();

	for (size_t i = 0; i < host->agents->count; i++)
		if (host->agents->at[i].remote)
			json_array_append_new(names, json_cstr(host->agents->at[i].name));
	policy_renew_remote_agents(host->options.policy, names);
}

void host_open_agents(struct host *host)
{
	if (host->agents)
		return;
	host->agents = agents_discover(host->options.settings, host->options.local);
	host_warn_changed(host, "agents", "hasp agents list", host->agents->notices);
	host_guard_remote_agents(host);
}

void host_add_agent_tool(struct host *host)
{
	struct agent_tool *own;
	struct err err = ERR_INIT;

	if (!agents_enabled_count(host->agents))
		return;
	own = mem_alloc(1, sizeof(*own));
	own->host = host;
	own->description = agents_description(host->agents);
	own->tool = (struct tool){
		.info = &tool_infos[TOOL_INVOKE_AGENT],
		.name = tool_name(TOOL_INVOKE_AGENT),
		.title = "Agent",
		.description = own->description,
		.arguments_schema = agent_arguments_schema,
		.result_schema = agent_result_schema,
		.run_as = agent_call_run,
		.preview = agent_preview,
	};
	if (tool_set_add(host->chat.tools, &own->tool, agent_tool_free, &err))
		return;
	host_warn(host, err.message);
	agent_tool_free(&own->tool);
}

/* What to do about the tool that there is. */
struct agent_tool_renewal {
	const char *description; /* that it should have; NULL: there should be none */
	bool same;               /* it has */
};

static bool agent_tool_is_outdated(void *data, const struct tool *tool)
{
	struct agent_tool_renewal *renewal = data;

	if (tool->run_as != agent_call_run)
		return false;
	renewal->same = renewal->description &&
	                strcmp(tool->description, renewal->description) == 0;
	return !renewal->same;
}

bool host_renew_agent_tool(struct host *host)
{
	const bool any = agents_enabled_count(host->agents) > 0;
	_cleanup_free_ char *wanted = any ? agents_description(host->agents) : NULL;
	struct agent_tool_renewal renewal = { .description = wanted };
	const size_t withdrawn = tool_set_withdraw(host->chat.tools, agent_tool_is_outdated,
	                                           &renewal);

	host_guard_remote_agents(host);
	if (renewal.same)
		return false;
	host_add_agent_tool(host);
	return withdrawn || any;
}

json_t *host_mentioned_agent(const struct host *host, const char *name)
{
	const struct agent_definition *definition = agents_find(host->agents, name);
	const struct tool *tool = tool_set_find(host->chat.tools, tool_name(TOOL_INVOKE_AGENT));
	_cleanup_free_ char *note = NULL;

	if (!definition || !tool || tool->run_as != agent_call_run)
		return NULL;
	note = mem_printf("\n<system_note>\nThe user asks for the agent \"%s\": call "
	                  "invoke_agent with it for what the prompt says.\n</system_note>\n",
	                  definition->called);
	return json_pack("{s:o}", "note", json_text(span_str(note)));
}
