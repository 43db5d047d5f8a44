/* SPDX-License-Identifier: Apache-2.0 */
/* What rules, settings and hooks name, and nothing has; hooks that could refuse something and
 * cannot run. */
#include <string.h>

#include "agent/setup/policy_load.h"
#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/path.h"
#include "catalog/agents.h"
#include "config/servers.h"
#include "data/json.h"
#include "data/jsonc.h"
#include "data/schema.h"
#include "data/toml.h"
#include "data/tools.h"

/* Read when a rule names something that is not one of hasp's tools. */
struct outside_names {
	const struct settings *settings;
	json_t *servers, *agents, *callers; /* NULL: not read yet */
	const char *const *tools; /* policy_names.tools */
};

static const json_t *outside_servers(void *data)
{
	struct outside_names *names = data;
	json_auto_t *rows = NULL, *ignored = NULL;
	size_t i;
	json_t *row;

	if (names->servers)
		return names->servers;
	ignored = json_array();
	rows = servers_configured(names->settings, ignored);
	names->servers = json_array();
	json_array_foreach(rows, i, row)
		json_array_append(names->servers, json_object_get(row, "name"));
	return names->servers;
}

static const json_t *outside_agents(void *data)
{
	struct outside_names *names = data;
	struct agents *agents;

	if (names->agents)
		return names->agents;
	agents = agents_discover(names->settings, /* local= */ true);
	names->agents = json_array();
	for (size_t i = 0; i < agents->count; i++) {
		const char *name;
		json_t *entry;

		json_array_append_new(names->agents, json_text(span_str(agents->at[i].name)));
		json_object_foreach(agents->at[i].servers, name, entry)
			json_array_append_new((json_t *)outside_servers(data), json_string(name));
	}
	agents_free(agents);
	return names->agents;
}

/* Includes servers of agents. */
static const json_t *all_servers(void *data)
{
	outside_agents(data);
	return outside_servers(data);
}

/* The caller "token" is always there (docs/a2a.md). */
static const json_t *outside_callers(void *data)
{
	struct outside_names *names = data;
	const char *name;
	json_t *members;

	if (names->callers)
		return names->callers;
	names->callers = json_pack("[s]", "token");
	json_object_foreach((json_t *)settings_get(names->settings, "hasp.a2a.callers"), name,
	                    members)
		json_array_append_new(names->callers, json_text(span_str(name)));
	return names->callers;
}

/* "settings: tools.exclude" as the file and line where the setting stands. */
static void place_setting(const struct settings *settings, json_t *problem)
{
	const char *file = json_string_value(json_object_get(problem, "file"));
	const char *message = json_string_value(json_object_get(problem, "message"));
	struct settings_origin origin;
	_cleanup_free_ char *path = NULL, *longer = NULL;

	if (strncmp(file, "settings: ", strlen("settings: ")) != 0)
		return;
	path = mem_dup(file + strlen("settings: "), strcspn(file + strlen("settings: "), " "));
	origin = settings_origin_of(settings, path);
	if (!origin.file)
		return;
	longer = mem_printf("%s: %s", path, message);
	json_object_set_new(problem, "message", json_text(span_str(longer)));
	json_object_set_new(problem, "line", json_integer((json_int_t)origin.line));
	json_object_set_new(problem, "file", json_text(span_str(origin.file)));
}

/* A word of a plain matcher, "write_file|replace": NULL when a tool may be meant by it, else the
 * word; the caller frees.  `whole`: it must be a whole name, as in Claude Code's format. */
static char *matcher_word_unknown(struct span word, bool whole)
{
	_cleanup_free_ char *name = mem_dup(word.data, word.len);

	if (tool_info_find(name) || tool_info_foreign(name) || !*name ||
	    strncmp(name, "mcp", 3) == 0 || strncmp(name, "discovered_tool", 15) == 0)
		return NULL;
	for (size_t i = 0; i < tool_info_count() && !whole; i++) {
		if (strstr(tool_infos[i].name, name))
			return NULL;
		for (const char *const *alias = tool_infos[i].aliases; *alias; alias++)
			if (strstr(*alias, name))
				return NULL;
	}
	return mem_steal(&name);
}

/* The line of an event in a file of hooks: JSON with comments, or TOML. 0: it is not found. */
static unsigned event_line(const struct settings *settings, const char *file, const char *event)
{
	const char *project = home_project(settings_home(settings));
	_cleanup_free_ char *path = mem_printf("hooks.%s", event);
	_cleanup_file_text_ struct file_text text = { 0 };
	json_auto_t *root = NULL, *lines = NULL;
	struct err ignored = ERR_INIT;
	json_t *table;

	if (path_is_under(file, project) ?
	            !door_read(project, file, LIMIT_SETTINGS_BYTES, &text, &ignored) :
	            !file_read(file, LIMIT_SETTINGS_BYTES, &text, &ignored))
		return 0;
	if (!text.data)
		return 0;
	if (span_ends(span_str(file), SPAN(".toml"))) {
		toml_parse_lines(file_text_span(&text), &root, &ignored);
		table = json_object_get(root, "hooks");
		table = json_object_get(table ? table : root, event);
		if (json_is_array(table))
			table = json_array_get(table, 0);
		return (unsigned)json_integer_value(json_object_get(table, TOML_LINE));
	}
	if (!jsonc_parse(file_text_span(&text), &root, &ignored))
		return 0;
	lines = jsonc_lines(file_text_span(&text));
	return jsonc_line(lines, path);
}

/* `near`: the tool's or server's name that is like it; or NULL. */
static void report_matcher_word(const struct settings *settings, const json_t *hook,
                                const char *word, const char *near, bool restricts,
                                json_t *problems)
{
	const char *name = json_string_value(json_object_get(hook, "name"));
	const char *command = json_string_value(json_object_get(hook, "command"));
	const char *event = json_string_value(json_object_get(hook, "event"));
	const char *file = json_string_value(json_object_get(hook, "file"));
	_cleanup_free_ char *message =
		mem_printf("The hook \"%.100s\" never runs for \"%.100s\": no such tool%s%s%s",
		           *name || !command ? name : command, word,
		           near ? "; did you mean \"" : ".", near ? near : "",
		           near ? "\"?" : "");

	json_array_append_new(problems, json_pack(
		"{s:s, s:i, s:s, s:b, s:o}", "file", file ? file : event, "line",
		file ? (int)event_line(settings, file, event) : 0, "kind", "unknown_name",
		"restricts", (int)restricts, "message", json_text(span_str(message))));
}

/* Matchers that are expressions, and not just names, may mean anything. */
static void report_matcher(const struct settings *settings, const json_t *hook,
                           struct outside_names *outside, json_t *problems)
{
	const char *event = json_string_value(json_object_get(hook, "event"));
	const struct hook_event_names *names = hook_events_find(event, /* claude= */ false);
	const bool claude = span_eq(json_span(json_object_get(hook, "format")), SPAN("claude"));
	struct span rest = json_span(json_object_get(hook, "matcher"));

	if (!json_is_true(json_object_get(hook, "enabled")) ||
	    (strcmp(event, "BeforeTool") != 0 && strcmp(event, "AfterTool") != 0))
		return;
	/* As hooks/claude.c has whole names. */
	if (claude && span_starts(rest, SPAN("^(?:")) && span_ends(rest, SPAN(")$")))
		rest = span_head(span_skip(rest, 4), rest.len - 6);
	for (size_t i = 0; i < rest.len; i++)
		if (!ascii_is_alnum(rest.data[i]) && !strchr("_|-", rest.data[i]))
			return;
	while (rest.len) {
		const char *bar = memchr(rest.data, '|', rest.len);
		const size_t len = bar ? (size_t)(bar - rest.data) : rest.len;
		_cleanup_free_ char *all = mem_dup(rest.data, len);
		_cleanup_free_ char *word = matcher_word_unknown(span_head(rest, len), claude);
		const char *server = NULL;

		if (strncmp(all, "mcp_", 4) == 0)
			policy_names_server(all, all_servers(outside), NULL, &server);
		if (server || (word && !text_listed(outside->tools, all)))
			report_matcher_word(settings, hook, all,
			                    server ? server : tool_info_nearest(word),
			                    claude ? names->refuses_claude : names->refuses,
			                    problems);
		rest = span_skip(rest, bar ? len + 1 : len);
	}
}

/* Hooks that could refuse something and were left out when they were read. */
static void report_lost(const struct settings *settings, const json_t *flaws, json_t *problems)
{
	size_t i;
	json_t *flaw;

	json_array_foreach((json_t *)flaws, i, flaw) {
		const char *event = json_string_value(json_object_get(flaw, "lost"));
		const char *file = json_string_value(json_object_get(flaw, "source"));

		if (event && file)
			json_array_append_new(problems, json_pack(
				"{s:s, s:i, s:s, s:b, s:O}", "file", file, "line",
				*event ? (int)event_line(settings, file, event) : 0, "kind",
				"hook_lost", "restricts", 1, "message",
				json_object_get(flaw, "what")));
	}
}

static void report_hooks(const struct settings *settings, struct outside_names *outside,
                         json_t *problems)
{
	const struct hooks_sources sources = {
		.settings = settings, .project = home_project(settings_home(settings)),
		.local = true, .session_id = "", .transcript_path = "",
	};
	json_auto_t *flaws = json_array(), *rows = NULL;
	struct hooks *hooks = setup_load_hooks(&sources, flaws);
	size_t before, i;
	json_t *row;

	if (settings_bool(settings, "hooksConfig.enabled", true))
		report_lost(settings, flaws, problems);
	before = json_array_size(problems);
	rows = hooks_list(hooks);
	json_array_foreach(rows, i, row)
		if (json_array_size(problems) < before + LIMIT_WARNINGS)
			report_matcher(settings, row, outside, problems);
	hooks_free(hooks);
}

void setup_report_names(const struct settings *settings, const struct policy *policy,
                        const char *const *tools, json_t *problems)
{
	const size_t before = json_array_size(problems);
	struct outside_names outside = { .settings = settings, .tools = tools };
	const struct policy_names names = { .servers = all_servers, .agents = outside_agents,
		                            .callers = outside_callers, .data = &outside,
		                            .tools = tools };

	policy_report_unknown(policy, &names, problems);
	for (size_t i = before; i < json_array_size(problems); i++)
		place_setting(settings, json_array_get(problems, i));
	report_hooks(settings, &outside, problems);
	json_decref(outside.servers);
	json_decref(outside.agents);
	json_decref(outside.callers);
}

char *setup_policy_problem_text(const json_t *problem)
{
	const char *file = json_string_value(json_object_get(problem, "file"));
	const char *message = json_string_value(json_object_get(problem, "message"));
	long line = (long)json_integer_value(json_object_get(problem, "line"));

	return line ? mem_printf("%s:%ld: %s", file, line, message)
	            : mem_printf("%s: %s", file, message);
}

char *setup_hooks_lost(const struct settings *settings)
{
	struct outside_names outside = { .settings = settings };
	json_auto_t *problems = json_array();
	char *sentence = NULL;
	size_t i;
	json_t *problem;

	report_hooks(settings, &outside, problems);
	json_array_foreach(problems, i, problem)
		if (!sentence && json_is_true(json_object_get(problem, "restricts")))
			sentence = setup_policy_problem_text(problem);
	json_decref(outside.servers);
	json_decref(outside.agents);
	return sentence;
}
