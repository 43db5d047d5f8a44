/* SPDX-License-Identifier: Apache-2.0 */
/* What one hook said: JSON if it is, else text and the exit code. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "hooks/hook.h"

enum { DEPTH_MAX = 64 };

static struct span trimmed(struct span text)
{
	static const char blanks[] = " \t\r\n\v\f";

	while (text.len && text.data[0] && strchr(blanks, text.data[0]))
		text = span_of(text.data + 1, text.len - 1);
	while (text.len && text.data[text.len - 1] && strchr(blanks, text.data[text.len - 1]))
		text.len--;
	return text;
}

/* A string of any bytes, as one that can be shown and sent. */
static char *text_copy(struct span text)
{
	json_auto_t *clean = json_text(text);

	return mem_strdup(json_string_value(clean));
}

static char *member_text(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_string_length(value) ? text_copy(json_span(value)) : NULL;
}

static json_t *member_object(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return json_is_object(value) ? json_incref(value) : NULL;
}

char *hook_escape_context(const char *text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4 * (size_t)HOOK_OUTPUT_BYTES_MAX + 1);

	for (; *text; text++)
		if (*text == '<')
			buf_str(&out, "&lt;");
		else if (*text == '>')
			buf_str(&out, "&gt;");
		else
			buf_char(&out, *text);
	buf_char(&out, 0);
	return buf_steal(&out);
}

static bool is_word(const char *text, const char *a, const char *b)
{
	return text && (strcmp(text, a) == 0 || strcmp(text, b) == 0);
}

static void read_specific(const json_t *specific, struct hook_outcome *ret)
{
	_cleanup_free_ char *context = member_text(specific, "additionalContext");

	if (context)
		ret->additional_context = hook_escape_context(context);
	ret->tool_input = member_object(specific, "tool_input");
	ret->tail_call = member_object(specific, "tailToolCallRequest");
	ret->llm_request = member_object(specific, "llm_request");
	ret->llm_response = member_object(specific, "llm_response");
	ret->tool_config = member_object(specific, "toolConfig");
	ret->clear_context = json_is_true(json_object_get(specific, "clearContext"));
}

static void read_object(const json_t *said, int exit_code, struct hook_outcome *ret)
{
	const char *decision = json_string_value(json_object_get(said, "decision"));

	ret->denied = is_word(decision, "block", "deny");
	ret->ask = is_word(decision, "ask", "ask_user");
	ret->allowed = is_word(decision, "allow", "approve");
	ret->stop = json_is_false(json_object_get(said, "continue"));
	ret->suppress_output = json_is_true(json_object_get(said, "suppressOutput"));
	ret->reason = member_text(said, "reason");
	if (ret->stop && !ret->reason)
		ret->reason = member_text(said, "stopReason");
	ret->system_message = member_text(said, "systemMessage");
	read_specific(json_object_get(said, "hookSpecificOutput"), ret);
	/* Exit code 2 blocks, unless the hook says in words that it does not. */
	if (exit_code == 2 && !decision)
		ret->denied = true;
	if (ret->denied && !ret->reason)
		ret->reason = mem_strdup("A hook refused it without a reason.");
}

/* The words are Gemini CLI's: "Warning: " is what tells exit code 1 from 0. */
static void read_text(struct span text, int exit_code, struct hook_outcome *ret)
{
	if (exit_code == 0 || exit_code == 1) {
		_cleanup_free_ char *copy = text.len ? text_copy(text) : NULL;

		if (copy)
			ret->system_message = mem_printf("%s%s", exit_code ? "Warning: " : "", copy);
		return;
	}
	/* A broken hook is no objection; one that was killed (a shell adds 128 to the signal) had no chance to
	 * make one. */
	if (!text.len && exit_code > 2 && exit_code <= 128)
		return;
	ret->denied = true;
	ret->reason = text.len ? text_copy(text) :
	                         mem_printf("A hook ended with exit code %d.", exit_code);
}

/* The value that the text is, or that the JSON string in it is; NULL: it is no JSON. */
static json_t *as_value(struct span text)
{
	struct err ignored = ERR_INIT;
	json_t *value = NULL, *inner = NULL;

	if (!text.len || !json_parse_depth(text, DEPTH_MAX, &value, &ignored))
		return NULL;
	if (!json_is_string(value))
		return value;
	if (!json_parse_depth(json_span(value), DEPTH_MAX, &inner, &ignored))
		inner = NULL;
	json_decref(value);
	return inner;
}

bool hook_answer_read(const struct hook_process *process, struct hook_outcome *ret)
{
	struct span text = trimmed(buf_view(&process->out));
	json_auto_t *said = NULL;

	*ret = (struct hook_outcome){ 0 };
	if (!text.len)
		text = trimmed(buf_view(&process->err));
	said = as_value(text);
	if (json_is_object(said))
		read_object(said, process->exit_code, ret);
	else if (!said || process->exit_code > 1)
		read_text(text, process->exit_code, ret);
	return !said && text.len;
}

/* What a function's new arguments are, depends on the event. */
static json_t **modified_place(enum hook_event event, struct hook_outcome *outcome)
{
	switch (event) {
	case HOOK_BEFORE_MODEL:
		return &outcome->llm_request;
	case HOOK_AFTER_MODEL:
		return &outcome->llm_response;
	case HOOK_BEFORE_TOOL_SELECTION:
		return &outcome->tool_config;
	default:
		return &outcome->tool_input;
	}
}

void hook_answer_of_function(struct hook_answer *answer, enum hook_event event,
                             struct hook_outcome *ret)
{
	*ret = (struct hook_outcome){ 0 };
	ret->denied = !answer->proceed;
	ret->reason = mem_steal(&answer->reason);
	if (ret->denied && !ret->reason)
		ret->reason = mem_strdup("A hook refused it without a reason.");
	if (answer->alternative_response &&
	    (event == HOOK_BEFORE_MODEL || event == HOOK_AFTER_MODEL))
		ret->llm_response = json_pack("{s:o}", "text",
		                              json_text(span_str(answer->alternative_response)));
	ret->alternative = mem_steal(&answer->alternative_response);
	ret->error = mem_steal(&answer->error);
	if (answer->modified_arguments) {
		json_decref(*modified_place(event, ret));
		*modified_place(event, ret) = answer->modified_arguments;
		answer->modified_arguments = NULL;
	}
}
