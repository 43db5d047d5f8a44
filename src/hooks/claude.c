/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks that were written for Claude Code ("format": "claude" of a group): the same events, but
 * tools and events have its names in what a hook is given, and it answers as it would there.
 *
 * Its exit codes: 0 is a yes, with JSON or, at the beginning of a session or a prompt, text that is
 * added for the model; 2 is a no, for the reason on standard error; any other is no objection.
 *
 * Reference: Claude Code 2.1 (hooks reference). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/tool_names.h"
#include "hooks/hook.h"

static const struct {
	enum hook_event event;
	const char *theirs;
} claude_events[] = {
	{ HOOK_BEFORE_TOOL, "PreToolUse" },  { HOOK_AFTER_TOOL, "PostToolUse" },
	{ HOOK_BEFORE_AGENT, "UserPromptSubmit" }, { HOOK_AFTER_AGENT, "Stop" },
	{ HOOK_PRE_COMPRESS, "PreCompact" },
};

const char *claude_tool_name(struct span ours)
{
	_cleanup_free_ char *name = mem_dup(ours.data ? ours.data : "", ours.len);
	const struct tool_names *names = tool_names_find(name);

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
	json_t *theirs = json_copy((json_t *)input);

	for (size_t i = 0; i < ARRAY_LEN(claude_events); i++)
		if (claude_events[i].event == event)
			json_object_set_new(theirs, "hook_event_name",
			                    json_string(claude_events[i].theirs));
	if (json_object_get(input, "tool_name"))
		json_object_set_new(theirs, "tool_name", claude_tool(input));
	return theirs;
}

/* ---- what it says ---------------------------------------------------------------------------- */

/* A no about a call that was made already is a word about its result. */
static void claude_deny(enum hook_event event, char *reason, struct hook_outcome *ret)
{
	if (event != HOOK_AFTER_TOOL) {
		ret->denied = true;
		free(ret->reason);
		ret->reason = reason;
		return;
	}
	ret->denied = false;
	free(ret->additional_context);
	ret->additional_context = hook_escape_context(reason);
	free(reason);
}

static void claude_read_object(const json_t *said, enum hook_event event,
                               struct hook_outcome *ret)
{
	const json_t *specific = json_object_get(said, "hookSpecificOutput");
	const struct span decision = json_span(json_object_get(specific, "permissionDecision"));
	const json_t *reason = json_object_get(specific, "permissionDecisionReason");
	json_t *changed = json_object_get(specific, "updatedInput");

	hook_answer_read_object(said, 0, ret);
	if (json_is_object(changed)) {
		json_decref(ret->tool_input);
		ret->tool_input = json_incref(changed);
	}
	if (decision.len && json_string_length(reason)) {
		free(ret->reason);
		ret->reason = hook_text_copy(json_span(reason));
	}
	ret->ask = ret->ask || span_eq(decision, SPAN("ask"));
	ret->allowed = ret->allowed || span_eq(decision, SPAN("allow"));
	if (ret->denied || span_eq(decision, SPAN("deny")))
		claude_deny(event, ret->reason ? mem_steal(&ret->reason) :
		                                 mem_strdup("A hook refused it without a reason."),
		            ret);
}

bool claude_answer_read(const struct hook_process *process, enum hook_event event,
                        struct hook_outcome *ret)
{
	const struct span out = hook_text_trimmed(buf_view(&process->out));
	const struct span err = hook_text_trimmed(buf_view(&process->err));
	json_auto_t *said = NULL;
	_cleanup_free_ char *text = NULL;

	*ret = (struct hook_outcome){ 0 };
	if (process->exit_code == 2)
		claude_deny(event, err.len ? hook_text_copy(err) :
		                             mem_strdup("A hook ended with exit code 2."), ret);
	if (process->exit_code != 0)
		return process->exit_code == 2;
	said = hook_answer_value(out);
	if (json_is_object(said)) {
		claude_read_object(said, event, ret);
		return false;
	}
	if (!out.len || (event != HOOK_SESSION_START && event != HOOK_BEFORE_AGENT))
		return out.len > 0;
	text = hook_text_copy(out);
	ret->additional_context = hook_escape_context(text);
	return true;
}
