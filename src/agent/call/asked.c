/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/call/questions.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

enum {
	NAME_BYTES = 200,    /* of a rule, a hook, a scope */
	QUESTIONS_MAX = 100, /* of one call */
	KINDS_BYTES = 200,
};

static json_t *bounded_text(const char *text)
{
	return text ? json_text(utf8_head(span_str(text), NAME_BYTES)) : NULL;
}

/* The rule that asked, or what else did. Borrowed. */
static const char *asked_source(const struct call *call, const json_t *message)
{
	const struct span type =
		json_span(json_object_get(json_object_get(message, "details"), "type"));

	if (span_eq(type, SPAN("sandbox_expansion")))
		return call->outside.wanted.count ? ASKED_OUTSIDE : ASKED_SANDBOX;
	if (tool_requires_more(call->tool, json_object_get(message, "arguments")))
		return "additional_permissions";
	if (call->hook_asks)
		return "hook";
	if (call->change.parts)
		return "changed tool";
	return call->has_verdict ? call->verdict.rule : "no policy";
}

/* An outcome that was not offered counts as a no. */
static const char *asked_answer(const json_t *message, const json_t *answer)
{
	const json_t *outcome = json_object_get(answer, "outcome");

	if (!answer)
		return "withdrawn";
	if (json_object_get(answer, "unmet"))
		return "unmet";
	return json_lists(json_object_get(message, "outcomes"), json_span(outcome)) ?
		       json_string_value(outcome) : "cancel";
}

void call_asked_note(struct call *call, const json_t *message, const json_t *answer,
                     const char *by, uint64_t ms)
{
	const char *source = asked_source(call, message);
	const json_t *policy = json_object_get(answer, "byPolicy");

	if (!call->asked)
		call->asked = json_array();
	if (json_array_size(call->asked) >= QUESTIONS_MAX)
		return;
	json_array_append_new(call->asked, json_pack(
		"{s:o, s:s, s:o, s:o*, s:o*, s:O*, s:O*}", "rule", bounded_text(source), "answer",
		asked_answer(message, answer), "ms", json_size(ms), "by", bounded_text(by), "hook",
		call->hook_asks && span_eq(span_str(source), SPAN("hook")) ?
			bounded_text(call->confirm_hook) : NULL,
		"approvedBy", json_object_get(answer, "approvedBy"), "byPolicy",
		json_is_true(policy) ? policy : NULL));
}

/* ---- what was allowed for the session ---------------------------------------------------- */

static void note_allowed(struct call *call, const char *scope)
{
	json_t *last = json_array_get(call->asked, json_array_size(call->asked) - 1);
	char now[CLOCK_TIMESTAMP_SIZE];

	clock_timestamp(now);
	json_object_set_new(last, "allowed", bounded_text(scope));
	json_object_set_new(last, "since", json_string(now));
}

void call_asked_allowed(struct call *call, const struct tool *tool,
                        const struct policy_scope *scope)
{
	_cleanup_free_ char *named = NULL;
	const char *text = scope->text;

	if (scope->prefixes)
		text = "commands that begin with the same words";
	else if (scope->exact)
		text = "exactly one command";
	else if (scope->hosts)
		text = "fetches from the same hosts";
	else if (scope->args_pattern && tool->info && tool->info->one)
		text = named = mem_printf("%s with the same %s", tool->name, tool->info->one);
	note_allowed(call, text);
}

void call_asked_allowed_places(struct call *call, const char *where, const json_t *allowed)
{
	_cleanup_buf_ struct buf text = BUF_INIT(KINDS_BYTES);
	json_auto_t *kinds = json_object();
	const char *kind;
	size_t i;
	json_t *item, *ignored;

	json_array_foreach((json_t *)allowed, i, item)
		if (json_is_string(json_object_get(item, "kind")))
			json_object_set_new(kinds, json_string_value(json_object_get(item, "kind")),
			                    json_true());
	buf_str(&text, where);
	json_object_foreach(kinds, kind, ignored)
		buf_printf(&text, "%s%s", text.len == strlen(where) ? ": " : ", ", kind);
	note_allowed(call, text.data);
}
