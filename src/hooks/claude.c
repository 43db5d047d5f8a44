/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks that were written for Claude Code ("format": "claude" of a group): the same events, but
 * tools and events have its names in what a hook is given, and it answers as it would there.
 *
 * What it prints and its exit codes mean: answer.c.
 *
 * Reference: Claude Code 2.1 (hooks reference). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/tools.h"
#include "hooks/hook.h"

const char *claude_tool_name(struct span ours)
{
	_cleanup_free_ char *name = mem_dup(ours.data ? ours.data : "", ours.len);
	const struct tool_info *names = tool_info_find(name);

	return names ? names->claude : NULL;
}

char *claude_matcher(const char *matcher)
{
	/* Names with "|" between them are whole names there, all else is an expression. */
	for (const char *c = matcher ? matcher : ""; *c; c++)
		if (!ascii_is_alnum(*c) && !strchr("_|", *c))
			return mem_strdup(matcher);
	return matcher && *matcher ? mem_printf("^(?:%s)$", matcher) : NULL;
}

/* ---- what it is given --------------------------------------------------------------------- */

json_t *claude_tool(const json_t *input)
{
	const json_t *context = json_object_get(input, "mcp_context");
	const json_t *name = json_object_get(input, "tool_name");
	const char *theirs = claude_tool_name(json_span(name));
	_cleanup_free_ char *whole = NULL;

	if (!context)
		return theirs ? json_string(theirs) : json_incref((json_t *)name);
	whole = mem_printf("mcp__%s__%s",
	                   json_string_value(json_object_get(context, "server_name")),
	                   json_string_value(json_object_get(context, "tool_name")));
	return json_text(span_str(whole));
}

/* Arguments that have another name there. */
static const struct {
	const char *tool, *ours, *theirs;
} claude_arguments[] = {
	{ "Bash", "is_background", "run_in_background" }, { "Grep", "include", "glob" },
	{ "Read", "start_line", "offset" }, { "Read", "max_lines", "limit" },
	{ "Skill", "name", "skill" }, { "Task", "agent_name", "subagent_type" },
};

/* A list of one is no list there. */
static json_t *claude_argument(json_t *ours)
{
	return json_array_size(ours) == 1 ? json_array_get(ours, 0) : ours;
}

/* The arguments under both names, and the file absolute, which it always is there; NULL: as they
 * are. */
static json_t *claude_tool_input(const json_t *input)
{
	const json_t *given = json_object_get(input, "tool_input");
	json_t *absolute = json_object_get(input, "absolute_path"), *theirs;
	const char *tool = claude_tool_name(json_span(json_object_get(input, "tool_name")));

	if (!json_is_object(given))
		return NULL;
	theirs = json_copy((json_t *)given);
	for (size_t i = 0; i < ARRAY_LEN(claude_arguments) && tool; i++) {
		json_t *value = claude_argument(json_object_get(given, claude_arguments[i].ours));

		if (value && strcmp(claude_arguments[i].tool, tool) == 0 &&
		    !json_object_get(given, claude_arguments[i].theirs))
			json_object_set(theirs, claude_arguments[i].theirs, value);
	}
	if (absolute)
		json_object_set(theirs, "file_path", absolute);
	return theirs;
}

void claude_arguments_taken(const json_t *input, json_t *arguments)
{
	const json_t *given = json_object_get(input, "tool_input");
	const json_t *absolute = json_object_get(input, "absolute_path");
	const char *tool = claude_tool_name(json_span(json_object_get(input, "tool_name")));

	for (size_t i = 0; i < ARRAY_LEN(claude_arguments) && tool; i++) {
		const char *ours = claude_arguments[i].ours, *theirs = claude_arguments[i].theirs;
		json_t *value = json_object_get(arguments, theirs);

		if (!value || strcmp(claude_arguments[i].tool, tool) != 0 ||
		    json_object_get(given, theirs))
			continue;
		if (!json_equal(value, claude_argument(json_object_get(given, ours))))
			json_object_set(arguments, ours, value);
		json_object_del(arguments, theirs);
	}
	if (absolute && json_equal(json_object_get(arguments, "file_path"), absolute))
		json_object_set(arguments, "file_path", json_object_get(given, "file_path"));
}

json_t *claude_input(enum hook_event event, const json_t *input, const json_t *besides)
{
	const char *name = hook_events_at(event)->claude;
	json_t *theirs = json_copy((json_t *)input), *tool_input = claude_tool_input(input);
	json_t *answer = json_object_get(input, "prompt_response");

	if (name)
		json_object_set_new(theirs, "hook_event_name", json_string(name));
	if (json_object_get(input, "tool_name"))
		json_object_set_new(theirs, "tool_name", claude_tool(input));
	if (tool_input)
		json_object_set_new(theirs, "tool_input", tool_input);
	if (answer)
		json_object_set(theirs, "last_assistant_message", answer);
	json_object_del(theirs, "absolute_path");
	if (besides)
		json_object_update(theirs, (json_t *)besides);
	return theirs;
}
