/* SPDX-License-Identifier: Apache-2.0 */
/* Settings and flags as rules, with Gemini CLI's priorities. */
#include <string.h>

#include "base/mem.h"
#include "policy/names.h"
#include "policy/rule.h"

#define MCP_EXCLUDED 4.9
#define TOOLS_EXCLUDED 4.4
#define CONFIRMATION_REQUIRED 4.35
#define TOOLS_ALLOWED 4.3
#define TOOLS_CORE 4.25
#define MCP_TRUSTED 4.2
#define MCP_ALLOWED 4.1
/* Below the list that it completes. */
#define JUST_BELOW 0.01

#define ALL_MODES 0u

static struct rule *make(enum policy_decision decision, double priority, const char *origin,
                         const char *name, unsigned modes)
{
	struct rule *rule = rule_new(decision, priority, origin);

	selector_add_name(&rule->selector, name);
	rule->selector.modes = modes;
	return rule;
}

/* What stands in brackets, of "NAME(prefix)", and the name before it; NULL: there is none. */
static char *split_entry(const char *entry, char **ret_name)
{
	size_t len = strlen(entry);
	const char *open = strchr(entry, '(');

	if (!open || open == entry || entry[len - 1] != ')')
		return NULL;
	*ret_name = mem_dup(entry, (size_t)(open - entry));
	return mem_dup(open + 1, len - (size_t)(open - entry) - 2);
}

/* Whether it names particular commands. */
static bool add_entry(struct policy *policy, const char *entry, enum policy_decision decision,
                      double priority, const char *origin, unsigned modes)
{
	_cleanup_free_ char *name = NULL, *prefix = split_entry(entry, &name);
	struct rule *rule = make(decision, priority, origin, prefix ? name : entry, modes);
	bool narrow = prefix && *prefix &&
	              strcmp(names_canonical(name), "run_shell_command") == 0;

	if (narrow)
		selector_add_prefix(&rule->selector, prefix);
	policy_add_rule(policy, rule);
	return narrow;
}

static bool add_entries(struct policy *policy, const json_t *entries,
                        enum policy_decision decision, double priority, const char *origin,
                        unsigned modes)
{
	bool narrow = false;

	for (size_t i = 0; i < json_array_size(entries); i++) {
		const char *entry = json_string_value(json_array_get(entries, i));

		if (entry && *entry)
			narrow = add_entry(policy, entry, decision, priority, origin, modes) ||
			         narrow;
	}
	return narrow;
}

static void add_tools(struct policy *policy, const json_t *tools)
{
	const unsigned not_plan = modes_from(MODE_DEFAULT);
	const json_t *core = json_object_get(tools, "core");

	add_entries(policy, json_object_get(tools, "exclude"), POLICY_DENY, TOOLS_EXCLUDED,
	            "settings: tools.exclude", ALL_MODES);
	add_entries(policy, json_object_get(tools, "confirmationRequired"), POLICY_ASK,
	            CONFIRMATION_REQUIRED, "settings: tools.confirmationRequired", ALL_MODES);
	/* Who lists commands means no others. */
	if (add_entries(policy, json_object_get(tools, "allowed"), POLICY_ALLOW, TOOLS_ALLOWED,
	                "settings: tools.allowed", ALL_MODES))
		policy_add_rule(policy, make(POLICY_DENY, TOOLS_ALLOWED - JUST_BELOW,
		                             "settings: tools.allowed (no other commands)",
		                             "run_shell_command", ALL_MODES));
	if (json_array_size(core) == 0)
		return;
	add_entries(policy, core, POLICY_ALLOW, TOOLS_CORE, "settings: tools.core", not_plan);
	policy_add_rule(policy, make(POLICY_DENY, TOOLS_CORE - JUST_BELOW,
	                             "settings: tools.core (no other tools)", "*", not_plan));
}

static void add_server(struct policy *policy, const char *server, enum policy_decision decision,
                       double priority, const char *origin, unsigned modes)
{
	struct rule *rule = make(decision, priority, origin, "*", modes);

	rule->selector.server = mem_strdup(server);
	policy_add_rule(policy, rule);
}

static void add_servers(struct policy *policy, const json_t *names, enum policy_decision decision,
                        double priority, const char *origin, unsigned modes)
{
	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));

		if (name && *name)
			add_server(policy, name, decision, priority, origin, modes);
	}
}

void policy_add_settings(struct policy *policy, const json_t *tools, const json_t *mcp,
                         const json_t *servers)
{
	const unsigned not_plan = modes_from(MODE_DEFAULT);
	const char *name;
	json_t *server;

	add_servers(policy, json_object_get(mcp, "excluded"), POLICY_DENY, MCP_EXCLUDED,
	            "settings: mcp.excluded", ALL_MODES);
	add_tools(policy, tools);
	json_object_foreach((json_t *)servers, name, server) {
		_cleanup_free_ char *origin =
			mem_printf("settings: mcpServers.%s.trust", name);

		if (json_is_true(json_object_get(server, "trust")))
			add_server(policy, name, POLICY_ALLOW, MCP_TRUSTED, origin, not_plan);
	}
	add_servers(policy, json_object_get(mcp, "allowed"), POLICY_ALLOW, MCP_ALLOWED,
	            "settings: mcp.allowed", not_plan);
}
