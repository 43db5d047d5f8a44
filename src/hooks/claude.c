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

json_t *claude_input(enum hook_event event, const json_t *input)
{
	const char *name = hook_events_at(event)->claude;
	json_t *theirs = json_copy((json_t *)input);
	json_t *absolute = json_object_get(input, "absolute_path");

	if (name)
		json_object_set_new(theirs, "hook_event_name", json_string(name));
	if (json_object_get(input, "tool_name"))
		json_object_set_new(theirs, "tool_name", claude_tool(input));
	if (absolute) { /* which it always is there */
		json_t *tool = json_copy(json_object_get(input, "tool_input"));

		json_object_set(tool, "file_path", absolute);
		json_object_set_new(theirs, "tool_input", tool);
		json_object_del(theirs, "absolute_path");
	}
	return theirs;
}
