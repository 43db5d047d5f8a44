/* SPDX-License-Identifier: Apache-2.0 */
/* hasp agents: lists agents, and enables or disables them in the user's settings. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "catalog/agents.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/agent_output.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "data/json.h"

/* As its file has it. */
static struct span remote_address(const struct agent_definition *definition)
{
	const struct span url = json_span(json_object_get(definition->remote, "card_url"));

	return url.len ? url : SPAN("as agent_card_json says");
}

static json_t *agents_json(const struct agents *agents)
{
	json_t *list = json_array();

	for (size_t i = 0; i < agents->count; i++) {
		const struct agent_definition *one = &agents->at[i];
		json_t *row = json_pack("{s:o, s:o, s:s, s:b}", "name", json_cstr(one->called),
		                        "description", json_cstr(one->description), "from",
		                        agents_from_word(one->from), "enabled", !one->disabled);

		if (one->file)
			json_object_set_new(row, "location", json_name(one->file));
		if (one->model)
			json_object_set_new(row, "model", json_cstr(one->model));
		if (one->tools)
			json_object_set(row, "tools", one->tools);
		json_object_set_new(row, "kind", json_string(one->remote ? "remote" : "local"));
		if (one->remote)
			json_object_set_new(row, "address", json_text(remote_address(one)));
		else
			json_object_set_new(row, "max_turns", json_integer(one->max_turns));
		json_object_set_new(row, "timeout_mins", json_real(one->timeout_ms / 60000.0));
		json_array_append_new(list, row);
	}
	return list;
}

static void put_agents(struct buf *out, const struct agents *agents, const struct home *home)
{
	buf_str(out, agents->count ? "" : "No agents discovered.\n");
	for (size_t i = 0; i < agents->count; i++) {
		const struct agent_definition *one = &agents->at[i];

		render_printf(out, "%s%s %s\n  Description: %s\n  Location:    ", i ? "\n" : "",
		              one->called, one->disabled ? "[Disabled]" : "[Enabled]",
		              one->description);
		name_line(out, span_str(one->file ? one->file : "built-in"));
		if (one->remote) {
			buf_str(out, "\n  Remote:      ");
			name_line(out, remote_address(one));
		}
		if (one->servers) {
			_cleanup_free_ char *facts = agent_facts(one);

			buf_str(out, "\n  Servers:     ");
			name_line(out, span_str(facts ? facts : "too many words to be shown"));
		}
		if (!agent_is_allowed(one, home))
			render_printf(out, " (not allowed yet: hasp agents allow %s)", one->name);
		buf_char(out, '\n');
	}
}

static int list_agents(const struct invocation *invocation, const struct settings *settings,
                       const struct agents *agents)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct err err = ERR_INIT;
	size_t i;
	json_t *notice;
	bool ok;

	json_array_foreach(agents->notices, i, notice)
		output_complain(json_string_value(notice));
	if (settings_trust_unknown(settings))
		output_complain("This folder is not trusted, so its agents are not used. To trust "
		                "it: hasp config trust");
	if (!settings_bool(settings, "experimental.enableAgents", true))
		output_complain("Agents are off: experimental.enableAgents is false.");
	if (invocation_has(invocation, FLAG_JSON)) {
		json_auto_t *list = agents_json(agents);

		ok = output_json(list, /* indent= */ true, &err);
	} else {
		put_agents(&out, agents, settings_home(settings));
		ok = agent_output_lines(buf_view(&out), &err);
	}
	return ok ? CLI_OK : output_fail(&err, CLI_FAILED);
}

static int switch_agent(struct settings *settings, const struct agents *agents, const char *name,
                        bool enable)
{
	_cleanup_free_ char *sentence = NULL, *line = NULL;
	struct err err = ERR_INIT;

	if (!agents_switch(agents, settings, name, enable, &sentence, &err))
		return output_fail(&err, CLI_FAILED);
	line = mem_printf("%s\n", sentence);
	return agent_output_lines(span_str(line), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

/* An agent of a project's may be given tasks from now on, as its file is now. */
static int allow_agent(const struct settings *settings, const struct agents *agents,
                       const char *name)
{
	const struct agent_definition *definition = agents_named(agents, name);
	_cleanup_free_ char *facts = NULL, *line = NULL;
	struct err err = ERR_INIT;

	if (!definition)
		err_set(&err, ERR_INVALID_ARGUMENT, "Agent \"%.200s\" not found.", name);
	else if (!agent_requires_allowance(definition))
		err_set(&err, ERR_INVALID_ARGUMENT,
		        "The agent \"%s\" cannot be allowed: it is not a remote agent, or one with "
		        "its own MCP servers, of this project or an extension.",
		        definition->name);
	else if (agent_allow(definition, settings_home(settings), &err))
		facts = agent_facts(definition);
	if (!facts)
		return output_fail(&err, CLI_FAILED);
	line = mem_printf(definition->remote ?
	                          "The agent \"%s\" may be sent tasks now, until its file "
	                          "changes; they go to %s.\n" :
	                          "The agent \"%s\" may be used now, until its file changes: %s.\n",
	                  definition->name, facts);
	return agent_output_lines(span_str(line), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

/* Whether there is a name where one belongs, and no flag of another action. */
static bool check_agents_words(const struct invocation *invocation, const char *action,
                               struct err *err)
{
	const bool list = strcmp(action, "list") == 0;

	if (list && invocation_positional(invocation, 1))
		return err_set(err, ERR_INVALID_ARGUMENT, "hasp agents list takes no name.");
	if (!list && !invocation_positional(invocation, 1))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "hasp agents %s takes the name of an agent; hasp agents list has "
		               "them.", action);
	if (!list && invocation_has(invocation, FLAG_JSON))
		return err_set(err, ERR_INVALID_ARGUMENT, "hasp agents %s takes no --json.",
		               action);
	return true;
}

int command_run_agents(const struct invocation *invocation)
{
	const char *given = invocation_positional(invocation, 0), *action = given ? given : "list";
	_cleanup_free_ char *project = NULL;
	struct settings *settings;
	struct agents *agents;
	struct err err = ERR_INIT;
	int code;

	if (!check_agents_words(invocation, action, &err))
		return output_fail(&err, CLI_USAGE);
	if (!command_open_project(invocation, &project, &settings, &err))
		return output_fail(&err, CLI_FAILED);
	agents = agents_discover(settings, /* local= */ true);
	code = strcmp(action, "list") == 0 ? list_agents(invocation, settings, agents) :
	       strcmp(action, "allow") == 0 ?
	       allow_agent(settings, agents, invocation_positional(invocation, 1)) :
	       switch_agent(settings, agents, invocation_positional(invocation, 1),
	                    strcmp(action, "enable") == 0);
	agents_free(agents);
	settings_free(settings);
	return code;
}
