/* SPDX-License-Identifier: Apache-2.0 */
/* What rules, settings and hooks' matchers name, and nothing has. */
#include <string.h>

#include "agent/setup/policy_load.h"
#include "base/limits.h"
#include "base/mem.h"
#include "catalog/agents.h"
#include "config/servers.h"
#include "data/json.h"
#include "data/tool_names.h"

/* Read when a rule names something that is none of hasp's tools. */
struct outside_names {
	const struct settings *settings;
	json_t *servers, *agents; /* NULL: not read yet */
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

/* Servers of agents' own count, too. */
static const json_t *all_servers(void *data)
{
	outside_agents(data);
	return outside_servers(data);
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

	if (tool_names_find(name) || tool_names_foreign(name) || !*name ||
	    strncmp(name, "mcp", 3) == 0 || strncmp(name, "discovered_tool", 15) == 0)
		return NULL;
	for (size_t i = 0; i < tool_names_count() && !whole; i++) {
		const struct tool_names *names = tool_names_at(i);

		if (strstr(names->name, name))
			return NULL;
		for (const char *const *alias = names->aliases; *alias; alias++)
			if (strstr(*alias, name))
				return NULL;
	}
	return mem_steal(&name);
}

static void report_matcher_word(const json_t *hook, const char *word, bool restricts,
                                json_t *problems)
{
	const char *name = json_string_value(json_object_get(hook, "name"));
	const char *near = tool_names_nearest(word);
	_cleanup_free_ char *message =
		mem_printf("The hook \"%.100s\" is never run for \"%.100s\": there is no such "
		           "tool%s%s%s", name, word, near ? "; did you mean \"" : ".",
		           near ? near : "", near ? "\"?" : "");

	json_array_append_new(problems, json_pack(
		"{s:O, s:i, s:s, s:b, s:o}", "file", json_object_get(hook, "event"), "line", 0,
		"kind", "unknown_name", "restricts", (int)restricts, "message",
		json_text(span_str(message))));
}

/* Matchers that are expressions, and not just names, may mean anything. */
static void report_matcher(const json_t *hook, json_t *problems)
{
	const char *event = json_string_value(json_object_get(hook, "event"));
	struct span rest = json_span(json_object_get(hook, "matcher"));
	const bool whole = span_starts(rest, SPAN("^(?:")) && span_ends(rest, SPAN(")$"));
	const bool restricts = strcmp(event, "BeforeTool") == 0;

	if (!json_is_true(json_object_get(hook, "enabled")) ||
	    (!restricts && strcmp(event, "AfterTool") != 0))
		return;
	if (whole)
		rest = span_head(span_skip(rest, 4), rest.len - 6);
	for (size_t i = 0; i < rest.len; i++)
		if (!ascii_is_alnum(rest.data[i]) && !strchr("_|-", rest.data[i]))
			return;
	while (rest.len) {
		const char *bar = memchr(rest.data, '|', rest.len);
		const size_t len = bar ? (size_t)(bar - rest.data) : rest.len;
		_cleanup_free_ char *word = matcher_word_unknown(span_head(rest, len), whole);

		if (word)
			report_matcher_word(hook, word, restricts, problems);
		rest = span_skip(rest, bar ? len + 1 : len);
	}
}

static void report_matchers(const struct settings *settings, json_t *problems)
{
	const struct hooks_sources sources = {
		.settings = settings, .project = home_project(settings_home(settings)),
		.local = true, .session_id = "", .transcript_path = "",
	};
	json_auto_t *ignored = json_array(), *rows = NULL;
	struct hooks *hooks = setup_load_hooks(&sources, ignored);
	const size_t before = json_array_size(problems);
	size_t i;
	json_t *row;

	rows = hooks_list(hooks);
	json_array_foreach(rows, i, row)
		if (json_array_size(problems) < before + LIMIT_WARNINGS)
			report_matcher(row, problems);
	hooks_free(hooks);
}

void setup_report_names(const struct settings *settings, const struct policy *policy,
                        json_t *problems)
{
	const size_t before = json_array_size(problems);
	struct outside_names outside = { .settings = settings };
	const struct policy_names names = { .servers = all_servers, .agents = outside_agents,
		                            .data = &outside };

	policy_report_unknown(policy, &names, problems);
	for (size_t i = before; i < json_array_size(problems); i++)
		place_setting(settings, json_array_get(problems, i));
	report_matchers(settings, problems);
	json_decref(outside.servers);
	json_decref(outside.agents);
}
