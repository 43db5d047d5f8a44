/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that settings and flags make, with Gemini CLI's priorities. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "policy/policy.h"
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
#define AGENTS_REMOTE 1.06 /* above defaults/agents.toml, below what anybody says */

#define ALL_MODES 0u

static struct policy_rule *make_rule(enum policy_decision decision, double priority,
                                     const char *origin, const char *name, unsigned modes)
{
	struct policy_rule *rule = rule_new(decision, priority, origin);

	rule_selector_add_name(&rule->selector, name);
	rule->selector.modes = modes;
	return rule;
}

/* What stands in brackets, of "NAME(prefix)", and the name before it; NULL: none. */
static char *split_entry(const char *entry, char **ret_name)
{
	size_t len = strlen(entry);
	const char *open = strchr(entry, '(');

	if (!open || open == entry || entry[len - 1] != ')')
		return NULL;
	*ret_name = mem_dup(entry, (size_t)(open - entry));
	return mem_dup(open + 1, len - (size_t)(open - entry) - 2);
}

static void add_settings_entry(struct policy *policy, const char *entry,
                               enum policy_decision decision, double priority,
                               const char *origin, unsigned modes)
{
	_cleanup_free_ char *name = NULL, *words = split_entry(entry, &name);
	struct policy_rule *rule = make_rule(decision, priority, origin, words ? name : entry,
	                                     modes);
	struct err ignored = ERR_INIT;

	/* One that cannot be matched is about every command, and so allows none. */
	if (words && tool_info_runs(name) &&
	    !rule_take_command(rule, span_str(words), COMMAND_PREFIX, &ignored)) {
		rule->selector.narrow = NARROW_NONE;
		if (decision == POLICY_ALLOW) {
			rule_free(rule);
			return;
		}
	}
	policy_add_rule(policy, rule);
}

static void add_settings_entries(struct policy *policy, const json_t *entries,
                                 enum policy_decision decision, double priority,
                                 const char *origin, unsigned modes)
{
	for (size_t i = 0; i < json_array_size(entries); i++) {
		const char *entry = json_string_value(json_array_get(entries, i));

		if (entry && *entry)
			add_settings_entry(policy, entry, decision, priority, origin, modes);
	}
}

#define EXCLUDED_ORIGIN "settings: tools.exclude"

static bool is_of_excluded(const struct policy_rule *rule)
{
	return strcmp(rule->origin, EXCLUDED_ORIGIN) == 0 ||
	       span_ends(span_str(rule->origin), SPAN(POLICY_EXCLUDED_BY));
}

static void add_excluded(struct policy *policy, const char *origin, const json_t *entries)
{
	add_settings_entries(policy, entries, POLICY_DENY, TOOLS_EXCLUDED, origin, ALL_MODES);
}

void policy_renew_excluded(struct policy *policy, const json_t *entries, const json_t *others)
{
	const char *name;
	json_t *list;

	policy_drop_rules(policy, is_of_excluded);
	add_excluded(policy, EXCLUDED_ORIGIN, entries);
	json_object_foreach((json_t *)others, name, list) {
		_cleanup_free_ char *origin = mem_printf("extension %s" POLICY_EXCLUDED_BY, name);

		add_excluded(policy, origin, list);
	}
}

static bool names_commands(const json_t *entries)
{
	for (size_t i = 0; i < json_array_size(entries); i++) {
		const char *entry = json_string_value(json_array_get(entries, i));
		_cleanup_free_ char *name = NULL, *words = entry ? split_entry(entry, &name) : NULL;

		if (words && tool_info_runs(name))
			return true;
	}
	return false;
}

/* Who lists commands for a run without anyone to ask means no others: to refuse them is no failure
 * of that run. */
static void add_unlisted(struct policy *policy)
{
	struct policy_rule *rule = make_rule(POLICY_DENY, TOOLS_ALLOWED - JUST_BELOW,
	                                     POLICY_UNLISTED,
	                                     tool_name(TOOL_RUN_SHELL_COMMAND), ALL_MODES);

	rule->selector.interactive = 0;
	policy_add_rule(policy, rule);
}

static void add_tool_settings(struct policy *policy, const json_t *tools)
{
	const unsigned not_plan = policy_modes_from(MODE_DEFAULT);
	const json_t *core = json_object_get(tools, "core");

	add_excluded(policy, EXCLUDED_ORIGIN, json_object_get(tools, "exclude"));
	add_settings_entries(policy, json_object_get(tools, "confirmationRequired"), POLICY_ASK,
	                     CONFIRMATION_REQUIRED, "settings: tools.confirmationRequired",
	                     ALL_MODES);
	add_settings_entries(policy, json_object_get(tools, "allowed"), POLICY_ALLOW,
	                     TOOLS_ALLOWED, "settings: tools.allowed", ALL_MODES);
	if (names_commands(json_object_get(tools, "allowed")))
		add_unlisted(policy);
	if (json_array_size(core) == 0)
		return;
	add_settings_entries(policy, core, POLICY_ALLOW, TOOLS_CORE, "settings: tools.core",
	                     not_plan);
	policy_add_rule(policy, make_rule(POLICY_DENY, TOOLS_CORE - JUST_BELOW,
	                                  "settings: tools.core (no other tools)", "*", not_plan));
}

static void add_server(struct policy *policy, const char *server, enum policy_decision decision,
                       double priority, const char *origin, unsigned modes)
{
	struct policy_rule *rule = make_rule(decision, priority, origin, "*", modes);

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

static void add_server_settings(struct policy *policy, const json_t *mcp, const json_t *servers)
{
	const unsigned not_plan = policy_modes_from(MODE_DEFAULT);
	const char *name;
	json_t *server;

	add_servers(policy, json_object_get(mcp, "excluded"), POLICY_DENY, MCP_EXCLUDED,
	            "settings: mcp.excluded", ALL_MODES);
	json_object_foreach((json_t *)servers, name, server) {
		_cleanup_free_ char *origin =
			mem_printf("settings: mcpServers.%s.trust", name);

		if (json_is_true(json_object_get(server, "trust")))
			add_server(policy, name, POLICY_ALLOW, MCP_TRUSTED, origin, not_plan);
	}
	add_servers(policy, json_object_get(mcp, "allowed"), POLICY_ALLOW, MCP_ALLOWED,
	            "settings: mcp.allowed", not_plan);
}

void policy_add_settings(struct policy *policy, const json_t *tools, const json_t *mcp,
                         const json_t *servers)
{
	add_tool_settings(policy, tools);
	add_server_settings(policy, mcp, servers);
}

static bool is_of_server_settings(const struct policy_rule *rule)
{
	return span_starts(span_str(rule->origin), SPAN("settings: mcp"));
}

void policy_renew_servers(struct policy *policy, const json_t *mcp, const json_t *servers)
{
	policy_drop_rules(policy, is_of_server_settings);
	add_server_settings(policy, mcp, servers);
}

#define REMOTE_ORIGIN "default: remote agents"

static bool is_of_remote_agents(const struct policy_rule *rule)
{
	return strcmp(rule->origin, REMOTE_ORIGIN) == 0;
}

void policy_renew_remote_agents(struct policy *policy, const json_t *names)
{
	policy_drop_rules(policy, is_of_remote_agents);
	add_settings_entries(policy, names, POLICY_ASK, AGENTS_REMOTE, REMOTE_ORIGIN,
	                     policy_modes_from(MODE_DEFAULT) & ~policy_modes_from(MODE_YOLO));
}

/* ---- the rule for a folder of plans in the project: the default one's counterpart ---- */

void policy_add_plans(struct policy *policy, const char *project, const char *folder)
{
	struct loader loader = { .policy = policy, .tier = POLICY_DEFAULT,
		                 .file = "settings: general.plan.directory", .lazy = true };
	_cleanup_buf_ struct buf pattern = BUF_INIT(64 * LIMIT_PATH_BYTES);
	_cleanup_buf_ struct buf text = BUF_INIT(128 * LIMIT_PATH_BYTES);
	size_t len = strlen(project);

	if (strncmp(folder, project, len) != 0 || folder[len] != '/')
		return;
	buf_str(&pattern, "\\x00\"file_path\":\"(?:");
	policy_put_literal(&pattern, span_str(project));
	buf_str(&pattern, "\\/|\\.\\/|)");
	policy_put_literal(&pattern, span_str(folder + len + 1));
	buf_str(&pattern, "\\/[\\w-]+\\.md\"\\x00");
	buf_str(&text, "[[rule]]\ntoolName = [\"write_file\", \"replace\"]\ndecision = \"allow\"\n"
	               "priority = 70\nmodes = [\"plan\"]\nargsPattern = ");
	json_print_string(&text, buf_view(&pattern));
	buf_char(&text, '\n');
	if (!pattern.overflowed && !text.overflowed)
		load_text(&loader, buf_view(&text));
}
