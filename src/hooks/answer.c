/* SPDX-License-Identifier: Apache-2.0 */
/* What hooks said about an event: each answer, and all of them together. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/unseen.h"
#include "data/json.h"
#include "hooks/hook.h"

/* ---- texts ---- */

/* An answer that is quoted in a message is cut here. */
enum { DEPTH_MAX = 64, QUOTE_BYTES_MAX = 200 };

static struct span text_trimmed(struct span text)
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
	const struct span bytes = json_span(clean);
	_cleanup_buf_ struct buf copy = BUF_INIT(3 * bytes.len + 1);

	for (size_t i = 0; i < bytes.len; i++)
		if (bytes.data[i])
			buf_char(&copy, bytes.data[i]);
		else
			buf_str(&copy, "\xef\xbf\xbd");
	buf_char(&copy, 0);
	return buf_steal(&copy);
}

static char *escape_context(const char *text)
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

/* The first is kept. */
static void unclear(struct hook_outcome *ret, const char *what, struct span quoted)
{
	_cleanup_free_ char *clean = NULL, *line = NULL;

	if (ret->unclear)
		return;
	clean = hook_text_copy(span_head(quoted, 4 * QUOTE_BYTES_MAX));
	line = unseen_line(span_str(clean), QUOTE_BYTES_MAX);
	ret->unclear = quoted.len ? mem_printf("%s: \"%s\"%s", what, line,
	                                       quoted.len > QUOTE_BYTES_MAX ? "..." : "") :
	                            mem_strdup(what);
}

/* ---- members of an answer: one vocabulary for all formats ---- */

enum member_type { MEMBER_WORD, MEMBER_SWITCH, MEMBER_TEXT, MEMBER_OBJECT, MEMBER_ANY };

/* Those of Gemini CLI, of Claude Code, and "proceed", "alternative_response", "modified_args". Each
 * is understood at the top and in hookSpecificOutput. */
static const struct answer_member {
	const char *name;
	enum member_type type;
	bool decides; /* says whether to go on: null is no answer */
} answer_members[] = {
	{ "decision", MEMBER_WORD, true },
	{ "permissionDecision", MEMBER_WORD, true },
	{ "proceed", MEMBER_SWITCH, true },
	{ "continue", MEMBER_SWITCH, true },
	{ "reason", MEMBER_TEXT, false },
	{ "permissionDecisionReason", MEMBER_TEXT, false },
	{ "stopReason", MEMBER_TEXT, false },
	{ "systemMessage", MEMBER_TEXT, false },
	{ "suppressOutput", MEMBER_SWITCH, false },
	{ "alternative_response", MEMBER_TEXT, false },
	{ "modified_args", MEMBER_OBJECT, false },
	{ "hookSpecificOutput", MEMBER_OBJECT, false },
	{ "hookEventName", MEMBER_TEXT, false },
	{ "additionalContext", MEMBER_TEXT, false },
	{ "tool_input", MEMBER_OBJECT, false },
	{ "updatedInput", MEMBER_OBJECT, false },
	{ "updatedMCPToolOutput", MEMBER_ANY, false },
	{ "tailToolCallRequest", MEMBER_OBJECT, false },
	{ "llm_request", MEMBER_OBJECT, false },
	{ "llm_response", MEMBER_OBJECT, false },
	{ "toolConfig", MEMBER_OBJECT, false },
	{ "clearContext", MEMBER_SWITCH, false },
};

static const struct answer_word {
	const char *word;
	bool denies, asks;
} answer_words[] = {
	{ "deny", true, false }, { "block", true, false }, { "ask", false, true },
	{ "ask_user", false, true }, { "allow", false, false }, { "approve", false, false },
};

static const struct answer_member *find_answer_member(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(answer_members); i++)
		if (!strcmp(answer_members[i].name, name))
			return &answer_members[i];
	return NULL;
}

static const struct answer_word *find_answer_word(const json_t *value)
{
	const char *word = json_string_value(value);

	for (size_t i = 0; word && i < ARRAY_LEN(answer_words); i++)
		if (strlen(word) == json_string_length(value) &&
		    !strcmp(answer_words[i].word, word))
			return &answer_words[i];
	return NULL;
}

static bool member_is_understood(const struct answer_member *member, const json_t *value)
{
	if (json_is_null(value))
		return !member->decides;
	switch (member->type) {
	case MEMBER_WORD:
		return find_answer_word(value) != NULL;
	case MEMBER_SWITCH:
		return json_is_boolean(value);
	case MEMBER_TEXT:
		return json_is_string(value);
	case MEMBER_OBJECT:
		return json_is_object(value);
	case MEMBER_ANY:
		return true;
	}
	return false;
}

/* "decision": "denied", for a message. */
static void unclear_member(struct hook_outcome *ret, const char *name, const json_t *value)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4096);
	_cleanup_free_ char *printed = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	buf_printf(&text, "%.100s: %.200s", name, printed ? printed : "?");
	unclear(ret, "answered something that hasp does not understand", buf_view(&text));
}

/* Whether each member is understood. One that is unknown may be a decision that is spelt otherwise,
 * so it is ignored only where a known one decides. */
static void check_answer(const json_t *said, struct hook_outcome *ret)
{
	const json_t *levels[] = { said, json_object_get(said, "hookSpecificOutput") };
	const char *name, *unknown = NULL;
	const json_t *unknown_value = NULL;
	bool decided = false;
	json_t *value;

	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		json_object_foreach((json_t *)levels[i], name, value) {
			const struct answer_member *member = find_answer_member(name);

			if (member && !member_is_understood(member, value))
				unclear_member(ret, name, value);
			decided = decided || (member && member->decides);
			if (!member && !unknown) {
				unknown = name;
				unknown_value = value;
			}
		}
	if (unknown && !decided)
		unclear_member(ret, unknown, unknown_value);
}

static char *answer_text(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_string_length(value) ? hook_text_copy(json_span(value)) : NULL;
}

static void take_text(const json_t *object, const char *key, char **ret)
{
	char *text = answer_text(object, key);

	if (!text)
		return;
	free(*ret);
	*ret = text;
}

static void take_object(const json_t *object, const char *key, json_t **ret)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_object(value))
		return;
	json_decref(*ret);
	*ret = json_incref(value);
}

/* What new arguments are, depends on the event. */
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

/* A text in place of what the model would answer, or of what a tool would. */
static void answer_instead(enum hook_event event, struct hook_outcome *ret)
{
	if (!ret->alternative || (event != HOOK_BEFORE_MODEL && event != HOOK_AFTER_MODEL))
		return;
	json_decref(ret->llm_response);
	ret->llm_response = json_pack("{s:o}", "text", json_text(span_str(ret->alternative)));
}

static void take_verdicts(const json_t *object, struct hook_outcome *ret)
{
	static const char *const words[] = { "decision", "permissionDecision" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const struct answer_word *word = find_answer_word(json_object_get(object,
		                                                                  words[i]));

		ret->denied = ret->denied || (word && word->denies);
		ret->ask = ret->ask || (word && word->asks);
		ret->allowed = ret->allowed || (word && !word->denies && !word->asks);
	}
	ret->denied = ret->denied || json_is_false(json_object_get(object, "proceed"));
	ret->stop = ret->stop || json_is_false(json_object_get(object, "continue"));
	ret->suppress_output = ret->suppress_output ||
	                       json_is_true(json_object_get(object, "suppressOutput"));
	ret->clear_context = ret->clear_context ||
	                     json_is_true(json_object_get(object, "clearContext"));
}

static void take_members(const json_t *object, enum hook_event event, struct hook_outcome *ret)
{
	_cleanup_free_ char *context = answer_text(object, "additionalContext");

	take_verdicts(object, ret);
	take_text(object, "reason", &ret->reason);
	take_text(object, "permissionDecisionReason", &ret->reason);
	take_text(object, "systemMessage", &ret->system_message);
	take_text(object, "alternative_response", &ret->alternative);
	if (context) {
		free(ret->additional_context);
		ret->additional_context = escape_context(context);
	}
	take_object(object, "tool_input", &ret->tool_input);
	take_object(object, "updatedInput", &ret->tool_input);
	take_object(object, "tailToolCallRequest", &ret->tail_call);
	take_object(object, "llm_request", &ret->llm_request);
	take_object(object, "llm_response", &ret->llm_response);
	take_object(object, "toolConfig", &ret->tool_config);
	take_object(object, "modified_args", modified_place(event, ret));
}

/* From the weakest to the strongest. */
static const char *const tool_modes[] = { "AUTO", "ANY", "NONE" };

/* A limit of tools that is not understood would limit none. */
static void check_tool_config(const json_t *config, struct hook_outcome *ret)
{
	const json_t *mode = json_object_get(config, "mode");
	const json_t *names = json_object_get(config, "allowedFunctionNames");
	bool known = !mode;
	json_t *name;
	size_t i;

	for (i = 0; i < ARRAY_LEN(tool_modes); i++)
		known = known || span_eq(json_span(mode), span_str(tool_modes[i]));
	if (!known)
		unclear_member(ret, "mode", mode);
	if (names && !json_is_array(names))
		unclear_member(ret, "allowedFunctionNames", names);
	json_array_foreach(names, i, name)
		if (!json_is_string(name))
			unclear_member(ret, "allowedFunctionNames", name);
}

static void read_answer_object(const json_t *said, enum hook_event event, struct hook_outcome *ret)
{
	check_answer(said, ret);
	take_members(said, event, ret);
	take_members(json_object_get(said, "hookSpecificOutput"), event, ret);
	answer_instead(event, ret);
	if (ret->tool_config)
		check_tool_config(ret->tool_config, ret);
	if (ret->stop && !ret->reason)
		ret->reason = answer_text(said, "stopReason");
}

/* ---- what one hook said: JSON if it is, else text and the exit code ---- */

/* The value that the text is, or that the JSON string in it is; NULL: it is not JSON. */
static json_t *hook_answer_value(struct span text)
{
	struct err ignored = ERR_INIT;
	json_t *value = NULL, *inner = NULL;

	if (!text.len || !json_parse_foreign(text, DEPTH_MAX, &value, NULL, &ignored))
		return NULL;
	if (!json_is_string(value) ||
	    !json_parse_foreign(json_span(value), DEPTH_MAX, &inner, NULL, &ignored))
		return value;
	json_decref(value);
	return inner;
}

/* Whether the text looks like an answer that went wrong: cut JSON, words before it, "deny" alone.
 * `free`: a text for the model or a log, in which braces are nothing odd. */
static bool text_tries_to_answer(struct span text, bool free)
{
	static const char *const words[] = { "deny", "denied", "block", "blocked", "refuse",
		                             "refused", "reject", "rejected", "no", "false" };

	if (!text.len)
		return false;
	if (text.data[0] == '{' || (!free && memchr(text.data, '{', text.len)))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(answer_members); i++) {
		_cleanup_free_ char *quoted = mem_printf("\"%s\"", answer_members[i].name);

		if ((answer_members[i].decides || !strcmp(answer_members[i].name,
		                                          "hookSpecificOutput")) &&
		    memmem(text.data, text.len, quoted, strlen(quoted)))
			return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strlen(words[i]) == text.len && !strncasecmp(text.data, words[i], text.len))
			return true;
	return false;
}

/* Whether what is no JSON object, and perhaps no JSON at all, can be read as text. */
static bool hook_text_is_plain(const json_t *said, struct span text, bool free)
{
	if (said && !free && !json_is_number(said) && !json_is_true(said))
		return false;
	return utf8_valid(text) && !text_tries_to_answer(text, free);
}

/* Where text of a hook of Claude Code's format is for the model. */
static bool text_is_context(bool claude, enum hook_event event)
{
	return claude && (event == HOOK_SESSION_START || event == HOOK_BEFORE_AGENT);
}

/* The words are Gemini CLI's: "Warning: " distinguishes exit code 1 from 0. */
static void read_hook_text(struct span text, const struct hook_process *process, bool claude,
                      enum hook_event event, struct hook_outcome *ret)
{
	_cleanup_free_ char *copy = text.len ? hook_text_copy(text) : NULL;

	if (!copy)
		return;
	if (text_is_context(claude, event)) {
		if (!process->exit_code)
			ret->additional_context = escape_context(copy);
	} else if (!claude && process->exit_code < 2) {
		ret->system_message = mem_printf("%s%s", process->exit_code ? "Warning: " : "",
		                                 copy);
	}
}

/* Exit code 2 is a refusal, whatever the output; any other than 0 is a failed hook, unless the
 * output is an answer. */
static void judge_exit_code(const struct hook_process *process, bool claude, bool answered,
                            struct span text, struct hook_outcome *ret)
{
	const struct span why = claude || !text.len ? text_trimmed(buf_view(&process->err)) :
	                                              text;
	_cleanup_free_ char *ended = mem_printf("ended with exit code %d", process->exit_code);

	if (!process->exit_code || (ret->denied && process->exit_code != 2))
		return;
	if (process->exit_code == 2) {
		if (ret->allowed || ret->ask)
			unclear(ret, "ended with exit code 2, which refuses, and answered", text);
		ret->denied = true;
		if (!ret->reason && why.len && !answered)
			ret->reason = hook_text_copy(why);
		return;
	}
	if (!claude && answered && process->exit_code == 1)
		return;
	if (!claude && !answered && text.len && process->exit_code > 2) {
		ret->denied = true;
		ret->reason = hook_text_copy(text);
		return;
	}
	unclear(ret, ended, why);
}

/* Of Claude Code: a no about a call that was already made is a word about its result. */
static void deny_result(struct hook_outcome *ret)
{
	_cleanup_free_ char *reason = mem_steal(&ret->reason), *context = NULL;
	_cleanup_free_ char *before = mem_steal(&ret->additional_context);

	context = escape_context(reason);
	ret->denied = false;
	ret->additional_context = before ? mem_printf("%s\n%s", context, before) :
	                                   mem_steal(&context);
}

void hook_answer_read(const struct hook_process *process, bool claude, enum hook_event event,
                      struct hook_outcome *ret)
{
	const struct span err = text_trimmed(buf_view(&process->err));
	struct span text = text_trimmed(buf_view(&process->out));
	const bool from_err = !claude && !text.len;
	const bool free = from_err || text_is_context(claude, event);
	json_auto_t *said = NULL;

	*ret = (struct hook_outcome){ 0 };
	/* Exit code 2 in Claude Code's format has its reason on standard error alone. */
	if (claude && process->exit_code == 2)
		text = span_of("", 0);
	if (from_err)
		text = err;
	/* What begins as an answer may go on as another, beyond what was read. */
	said = process->cut ? NULL : hook_answer_value(text);
	if (json_is_object(said))
		read_answer_object(said, event, ret);
	else if (process->cut || !hook_text_is_plain(said, text, free) ||
	         (!claude && !from_err && text_tries_to_answer(err, true)))
		unclear(ret, process->cut ? "wrote more than hasp reads" :
		                            "answered something that hasp does not understand",
		        text);
	else
		read_hook_text(text, process, claude, event, ret);
	judge_exit_code(process, claude, json_is_object(said), text, ret);
	if (ret->denied && !ret->reason)
		ret->reason = ret->alternative ? mem_strdup(ret->alternative) :
		              process->exit_code == 2 ?
		                                 mem_strdup("A hook ended with exit code 2.") :
		                                 mem_strdup("A hook refused it without a reason.");
	if (claude && event == HOOK_AFTER_TOOL && ret->denied)
		deny_result(ret);
}

void hook_answer_of_function(struct hook_answer *answer, enum hook_event event,
                             struct hook_outcome *ret)
{
	*ret = (struct hook_outcome){ 0 };
	ret->denied = !answer->proceed;
	ret->reason = mem_steal(&answer->reason);
	ret->alternative = mem_steal(&answer->alternative_response);
	ret->error = mem_steal(&answer->error);
	if (answer->context) {
		_cleanup_free_ char *context = mem_steal(&answer->context);

		ret->additional_context = escape_context(context);
	}
	answer_instead(event, ret);
	if (ret->denied && !ret->reason)
		ret->reason = mem_strdup(ret->alternative ? ret->alternative :
		                                            "A hook refused it without a reason.");
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
	const char *mode = json_string_value(json_object_get(config, "mode"));

	for (int i = 0; mode && i < (int)ARRAY_LEN(tool_modes); i++)
		if (strcmp(tool_modes[i], mode) == 0)
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
	const bool was_denied = all->denied;

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
	if (!all->by || (one->denied && !was_denied))
		take_later_text(&all->by, &one->by);
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
	free(outcome->by);
	free(outcome->alternative);
	free(outcome->error);
	free(outcome->unclear);
	json_decref(outcome->tool_input);
	json_decref(outcome->tail_call);
	json_decref(outcome->llm_request);
	json_decref(outcome->llm_response);
	json_decref(outcome->tool_config);
	*outcome = (struct hook_outcome){ 0 };
}
