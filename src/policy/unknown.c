/* SPDX-License-Identifier: Apache-2.0 */
/* Names in rules that nothing has: a rule that denies, asks or checks would guard nothing.
 *
 * A tool must be known, under any agent's name.  An unknown server or agent is usually fine: the
 * user's rules serve all projects, and what is not configured is not called.  It is reported if
 * its name resembles a known one, or if the rule is the project's own; an unknown caller of tasks
 * only if its name resembles a known one. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/schema.h"
#include "policy/policy.h"
#include "policy/rule.h"

struct unknown_check {
	const struct policy_names *names;
	json_t *problems;
	size_t reported;
	bool lost; /* one that restricts is among them */
	/* Of the rule that is looked at: */
	const char *origin;
	bool restricts, is_projects;
	const char *effect; /* what it does not do: "denies" */
};

/* Whether the next problem would only be counted; the first that restricts is always reported. */
static bool unknown_is_full(struct unknown_check *check)
{
	return check->reported >= LIMIT_WARNINGS && (check->lost || !check->restricts);
}

static void unknown_report(struct unknown_check *check, const char *kind, const char *message)
{
	const bool full = unknown_is_full(check);

	check->reported++;
	if (full)
		return;
	check->lost |= check->restricts && strcmp(kind, "unknown_name") == 0;
	json_array_append_new(check->problems,
	                      json_pack("{s:s, s:i, s:s, s:b, s:o}", "file", check->origin, "line",
	                                0, "kind", kind, "restricts", (int)check->restricts,
	                                "message", json_text(span_str(message))));
}

static void report_without_effect(struct unknown_check *check, const char *name, const char *why)
{
	_cleanup_free_ char *message =
		mem_printf("The rule has no effect here: %s \"%.100s\".", why, name);

	unknown_report(check, "without_effect", message);
}

/* `near` may be NULL. */
static void report_name_unknown(struct unknown_check *check, const char *what, const char *name,
                                const char *near)
{
	_cleanup_free_ char *message =
		mem_printf("There is no %s \"%.100s\"%s%.100s%s The rule %s nothing by this name.",
		           what, name, near ? "; did you mean \"" : ".", near ? near : "",
		           near ? "\"?" : "", check->effect);

	unknown_report(check, "unknown_name", message);
}

static bool is_configured(const json_t *list, const char *name)
{
	return json_lists(list, span_str(name));
}

static const char *nearest_of(const json_t *list, const char *name)
{
	const size_t count = json_array_size(list);
	_cleanup_free_ const char **all = mem_alloc(count + 1, sizeof(*all));

	for (size_t i = 0; i < count; i++)
		all[i] = json_string_value(json_array_get(list, i));
	return schema_nearest_name(name, all, count);
}

/* A server or an agent. */
static void check_configured(struct unknown_check *check, const char *what, const char *name,
                             const json_t *list)
{
	const char *near;

	if (strcmp(name, "*") == 0 || is_configured(list, name))
		return;
	near = unknown_is_full(check) ? NULL : nearest_of(list, name);
	if (near || check->is_projects)
		report_name_unknown(check, what, name, near);
	else
		report_without_effect(check, name, "nothing is configured as");
}

bool policy_names_server(const char *word, const json_t *servers, char **ret_server,
                         const char **ret_near)
{
	const char *mark = strncmp(word, "mcp__", 5) == 0 ? "__" : "_";
	const char *rest = word + strlen("mcp") + strlen(mark), *end = strstr(rest, mark);
	_cleanup_free_ char *server = NULL;

	for (size_t i = 0; i < json_array_size(servers); i++) {
		const char *known = json_string_value(json_array_get(servers, i));
		const size_t len = strlen(known);

		if (strncmp(rest, known, len) == 0 && (!rest[len] || rest[len] == '_'))
			return true;
	}
	server = mem_dup(rest, end ? (size_t)(end - rest) : strlen(rest));
	if (ret_near)
		*ret_near = nearest_of(servers, server);
	if (ret_server)
		*ret_server = mem_steal(&server);
	return false;
}

/* A caller is the user's to name: a project's rules cannot know which there are. */
static void check_caller(struct unknown_check *check, const char *name)
{
	const json_t *callers = check->names->callers(check->names->data);
	const char *near;

	if (is_configured(callers, name))
		return;
	near = unknown_is_full(check) ? NULL : nearest_of(callers, name);
	if (near)
		report_name_unknown(check, "caller", name, near);
	else
		report_without_effect(check, name, "hasp.a2a.callers has no");
}

/* mcp_SERVER_TOOL, mcp_SERVER_*: some server's name must stand in it. */
static void check_server_tool(struct unknown_check *check, const char *name)
{
	const json_t *servers = check->names->servers(check->names->data);
	_cleanup_free_ char *server = NULL;

	if (!policy_names_server(name, servers, &server, NULL))
		check_configured(check, "MCP server", server, servers);
}

static bool is_pattern(const char *name)
{
	const char *star = strchr(name, '*');

	return star && !(strncmp(name, "mcp_", 4) == 0 && star > name + 4 && !star[1] &&
	                 star[-1] == '_');
}

static void check_tool_name(struct unknown_check *check, const char *name)
{
	if (is_pattern(name) || tool_info_find(name) || text_listed(check->names->tools, name) ||
	    strncmp(name, "discovered_tool_", strlen("discovered_tool_")) == 0)
		return;
	if (strncmp(name, "mcp_", 4) == 0)
		check_server_tool(check, name);
	else if (tool_info_foreign(name))
		report_without_effect(check, name, "only other agents have the tool");
	else if (!is_configured(check->names->agents(check->names->data), name))
		report_name_unknown(check, "tool", name,
		                    unknown_is_full(check) ? NULL : tool_info_nearest(name));
}

static void check_selector(struct unknown_check *check, const struct selector *selector)
{
	const struct policy_names *names = check->names;

	if (selector->server)
		check_configured(check, "MCP server", selector->server,
		                 names->servers(names->data));
	if (selector->subagent)
		check_configured(check, "agent", selector->subagent, names->agents(names->data));
	for (size_t i = 0; i < json_array_size(selector->callers); i++)
		check_caller(check, json_string_value(json_array_get(selector->callers, i)));
	for (size_t i = 0; i < selector->name_count && !selector->server; i++)
		check_tool_name(check, selector->names[i]);
}

static void unknown_begin(struct unknown_check *check, const char *origin, double priority)
{
	check->origin = origin;
	check->is_projects = priority >= POLICY_WORKSPACE && priority < POLICY_USER;
}

void policy_report_unknown(const struct policy *policy, const struct policy_names *names,
                           json_t *problems)
{
	static const char *const effects[] = {
		[POLICY_ALLOW] = "allows", [POLICY_ASK] = "asks about", [POLICY_DENY] = "denies",
	};
	struct unknown_check check = { .names = names, .problems = problems };

	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct policy_rule *rule = policy->rules[i];

		if (rule->priority < POLICY_EXTENSION)
			continue;
		unknown_begin(&check, rule->origin, rule->priority);
		/* A list of all that is allowed denies the rest. */
		check.restricts = rule->decision != POLICY_ALLOW ||
		                  strcmp(rule->origin, "settings: tools.core") == 0;
		check.effect = effects[rule->decision];
		check_selector(&check, &rule->selector);
	}
	for (size_t i = 0; i < policy->checker_count; i++) {
		const struct checker *checker = policy->checkers[i];

		unknown_begin(&check, checker->origin, checker->priority);
		check.restricts = true;
		check.effect = "checks";
		check_selector(&check, &checker->selector);
	}
	if (check.reported > LIMIT_WARNINGS) {
		_cleanup_free_ char *message = mem_printf(
			"%zu more problems like these are left out.",
			check.reported - LIMIT_WARNINGS);

		check.origin = "Rules";
		check.restricts = false;
		check.reported = 0;
		unknown_report(&check, "tool_name_warning", message);
	}
}
