/* SPDX-License-Identifier: Apache-2.0 */
/* What hooks said about an event: each answer, and all of them together. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "hooks/hook.h"

/* ---- what one hook said: JSON if it is, else text and the exit code ---- */

enum { DEPTH_MAX = 64 };

struct span hook_text_trimmed(struct span text)
{
	static const char blanks[] = " \t\r\n\v\f";

	while (text.len && text.data[0] && strchr(blanks, text.data[0]))
		text = span_of(text.data + 1, text.len - 1);
	while (text.len && text.data[text.len - 1] && strchr(blanks, text.data[text.len - 1]))
		text.len--;
	return text;
}

char *hook_text_copy(struct span text)
{
	json_auto_t *clean = json_text(text);

	return mem_strdup(json_string_value(clean));
}

static char *answer_member_text(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_string_length(value) ? hook_text_copy(json_span(value)) : NULL;
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

static bool is_either_word(const char *text, const char *a, const char *b)
{
	return text && (strcmp(text, a) == 0 || strcmp(text, b) == 0);
}

static void read_specific(const json_t *specific, struct hook_outcome *ret)
{
	_cleanup_free_ char *context = answer_member_text(specific, "additionalContext");

	if (context)
		ret->additional_context = hook_escape_context(context);
	ret->tool_input = member_object(specific, "tool_input");
	ret->tail_call = member_object(specific, "tailToolCallRequest");
	ret->llm_request = member_object(specific, "llm_request");
	ret->llm_response = member_object(specific, "llm_response");
	ret->tool_config = member_object(specific, "toolConfig");
	ret->clear_context = json_is_true(json_object_get(specific, "clearContext"));
}

void hook_answer_read_object(const json_t *said, int exit_code, struct hook_outcome *ret)
{
	const char *decision = json_string_value(json_object_get(said, "decision"));

	ret->denied = is_either_word(decision, "block", "deny");
	ret->ask = is_either_word(decision, "ask", "ask_user");
	ret->allowed = is_either_word(decision, "allow", "approve");
	ret->stop = json_is_false(json_object_get(said, "continue"));
	ret->suppress_output = json_is_true(json_object_get(said, "suppressOutput"));
	ret->reason = answer_member_text(said, "reason");
	if (ret->stop && !ret->reason)
		ret->reason = answer_member_text(said, "stopReason");
	ret->system_message = answer_member_text(said, "systemMessage");
	read_specific(json_object_get(said, "hookSpecificOutput"), ret);
	/* Exit code 2 blocks, unless the hook says in words that it does not. */
	if (exit_code == 2 && !decision)
		ret->denied = true;
	if (ret->denied && !ret->reason)
		ret->reason = mem_strdup("A hook refused it without a reason.");
}

/* The words are Gemini CLI's: "Warning: " is what tells exit code 1 from 0. */
static void read_text_answer(struct span text, int exit_code, struct hook_outcome *ret)
{
	if (exit_code == 0 || exit_code == 1) {
		_cleanup_free_ char *copy = text.len ? hook_text_copy(text) : NULL;

		if (copy)
			ret->system_message =
				mem_printf("%s%s", exit_code ? "Warning: " : "", copy);
		return;
	}
	/* A broken hook is no objection; one that was killed (a shell adds 128 to the signal)
	 * had no chance to make one. */
	if (!text.len && exit_code > 2 && exit_code <= 128)
		return;
	ret->denied = true;
	ret->reason = text.len ? hook_text_copy(text) :
	                         mem_printf("A hook ended with exit code %d.", exit_code);
}

json_t *hook_answer_value(struct span text)
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
	struct span text = hook_text_trimmed(buf_view(&process->out));
	json_auto_t *said = NULL;

	*ret = (struct hook_outcome){ 0 };
	if (!text.len)
		text = hook_text_trimmed(buf_view(&process->err));
	said = hook_answer_value(text);
	if (json_is_object(said))
		hook_answer_read_object(said, process->exit_code, ret);
	else if (!said || process->exit_code > 1)
		read_text_answer(text, process->exit_code, ret);
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

/* ---- all answers ------------------------------------------------------------- */

/* What several hooks said about one event: a denial wins, reasons and contexts are joined, the
 * model's request and answer are replaced member by member in the hooks' order, and of tools'
 * modes NONE is stronger than ANY, ANY than AUTO. */

static void join_texts(char **all, char **one)
{
	char *joined;

	if (!*one)
		return;
	if (!*all) {
		*all = mem_steal(one);
		return;
	}
	joined = mem_printf("%s\n%s", *all, *one);
	free(*all);
	free(mem_steal(one));
	*all = joined;
}

static void take_later_text(char **all, char **one)
{
	if (!*one)
		return;
	free(*all);
	*all = mem_steal(one);
}

static void replace_value(json_t **all, json_t **one)
{
	if (!*one)
		return;
	json_decref(*all);
	*all = *one;
	*one = NULL;
}

static void replace_members(json_t **all, json_t **one)
{
	json_t *merged;

	if (!*one)
		return;
	if (!*all) {
		replace_value(all, one);
		return;
	}
	merged = json_copy(*all);
	json_object_update(merged, *one);
	json_decref(*all);
	json_decref(*one);
	*all = merged;
	*one = NULL;
}

static int mode_strength(const json_t *config)
{
	static const char *const modes[] = { "AUTO", "ANY", "NONE" };
	const char *mode = json_string_value(json_object_get(config, "mode"));

	for (int i = 0; mode && i < 3; i++)
		if (strcmp(modes[i], mode) == 0)
			return i;
	return 0;
}

static int compare_tool_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t collect_names(const json_t *list, const char **names, size_t count)
{
	size_t i;
	json_t *name;

	json_array_foreach(list, i, name)
		if (json_is_string(name))
			names[count++] = json_string_value(name);
	return count;
}

/* Both lists' names, sorted, each once. */
static json_t *united(const json_t *a, const json_t *b)
{
	_cleanup_free_ const char **names =
		mem_alloc(json_array_size(a) + json_array_size(b) + 1, sizeof(*names));
	size_t count = collect_names(b, names, collect_names(a, names, 0));
	json_t *list = json_array();

	qsort(names, count, sizeof(*names), compare_tool_names);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(names[i - 1], names[i]) != 0)
			json_array_append_new(list, json_string(names[i]));
	return list;
}

static void merge_tool_config(json_t **all, json_t **one)
{
	json_t *merged;

	if (!*one)
		return;
	merged = json_copy(mode_strength(*one) > mode_strength(*all) ? *one : *all ? *all : *one);
	if (mode_strength(merged) == 2)
		json_object_del(merged, "allowedFunctionNames");
	else if (json_object_get(*all, "allowedFunctionNames") ||
	         json_object_get(*one, "allowedFunctionNames"))
		json_object_set_new(merged, "allowedFunctionNames",
		                    united(json_object_get(*all, "allowedFunctionNames"),
		                           json_object_get(*one, "allowedFunctionNames")));
	json_decref(*all);
	json_decref(*one);
	*all = merged;
	*one = NULL;
}

void hook_outcome_merge(struct hook_outcome *all, struct hook_outcome *one)
{
	/* Reasons are those of the strictest: a denial's replace what others only remarked. */
	if (one->denied && !all->denied)
		take_later_text(&all->reason, &one->reason);
	else if (one->denied || one->stop || !all->denied)
		join_texts(&all->reason, &one->reason);
	all->denied |= one->denied;
	all->ask |= one->ask;
	all->allowed |= one->allowed;
	all->stop |= one->stop;
	all->suppress_output |= one->suppress_output;
	all->clear_context |= one->clear_context;
	join_texts(&all->system_message, &one->system_message);
	join_texts(&all->additional_context, &one->additional_context);
	join_texts(&all->error, &one->error);
	take_later_text(&all->alternative, &one->alternative);
	replace_value(&all->tool_input, &one->tool_input);
	replace_value(&all->tail_call, &one->tail_call);
	replace_members(&all->llm_request, &one->llm_request);
	replace_members(&all->llm_response, &one->llm_response);
	merge_tool_config(&all->tool_config, &one->tool_config);
	hook_outcome_release(one);
}

void hook_outcome_release(struct hook_outcome *outcome)
{
	free(outcome->reason);
	free(outcome->system_message);
	free(outcome->additional_context);
	free(outcome->alternative);
	free(outcome->error);
	json_decref(outcome->tool_input);
	json_decref(outcome->tail_call);
	json_decref(outcome->llm_request);
	json_decref(outcome->llm_response);
	json_decref(outcome->tool_config);
	*outcome = (struct hook_outcome){ 0 };
}
