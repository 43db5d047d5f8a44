/* SPDX-License-Identifier: Apache-2.0 */
#include "model/parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/tool_fit.h"

/* Formats (provider.h), as bits. */
enum { CHAT = 1, RESPONSES = 2, ANTHROPIC = 4, GEMINI = 8, OPENAI = CHAT | RESPONSES };

/* What is done with the parameter. */
enum act {
	ACT_REMOVE,     /* the member goes, and the object that holds it if it is then empty */
	ACT_RENAME,     /* its value goes on under the name in `instead` */
	ACT_DEEP,       /* the member goes wherever in the body it is */
	ACT_REASONING,  /* items of the type reasoning go */
	ACT_FUNCTION,   /* a tool of free text becomes a function with the argument "input" */
};

enum { NAMES = 4 };

/* `path`: the members that lead to it; "[]" is each element of an array.  It is also its name.
 * `names`: its other names in refusals, apart from the path and its last member; whole words. */
static const struct refusable_row {
	const char *path;
	unsigned formats;
	enum act act;
	const char *instead;
	const char *names[NAMES];
	bool passing;   /* it is about this conversation, and not about the endpoint */
} rows[] = {
	/* Summaries are for verified organisations, encrypted reasoning for some models:
	 * help.openai.com/en/articles/10910291, platform.openai.com/docs/guides/reasoning. */
	{ "reasoning.summary", RESPONSES, ACT_REMOVE, NULL,
	  { "reasoning summaries", "reasoning summary" }, false },
	{ "input.encrypted_content", RESPONSES, ACT_REASONING, NULL,
	  { "invalid_encrypted_content", "could not be verified", "could not be decrypted" },
	  true },
	{ "include", RESPONSES, ACT_REMOVE, NULL,
	  { "include[0]", "'include'", "reasoning.encrypted_content", "encrypted content" },
	  false },
	{ "reasoning.effort", OPENAI, ACT_REMOVE, NULL, { "reasoning effort", "reasoning_effort" },
	  false },
	{ "reasoning", OPENAI, ACT_REMOVE, NULL, { "'reasoning'", "`reasoning`" }, false },
	{ "reasoning_effort", CHAT, ACT_REMOVE, NULL,
	  { "reasoning effort", "reasoning.effort", "think value" }, false },
	{ "prompt_cache_key", OPENAI, ACT_REMOVE, NULL, { NULL }, false },
	{ "store", RESPONSES, ACT_REMOVE, NULL, { "'store'", "`store`", "store:" }, false },
	{ "stream_options", CHAT, ACT_REMOVE, NULL, { "include_usage" }, false },
	{ "max_tokens", CHAT, ACT_RENAME, "max_completion_tokens", { NULL }, false },
	{ "max_completion_tokens", CHAT, ACT_RENAME, "max_tokens", { NULL }, false },
	{ "max_output_tokens", RESPONSES, ACT_REMOVE, NULL, { NULL }, false },
	{ "tools.[].strict", RESPONSES, ACT_REMOVE, NULL, { "'strict'", "`strict`", "strict:" },
	  false },
	{ "tools.[].format", RESPONSES, ACT_FUNCTION, NULL,
	  { "'custom'", "`custom`", "custom tools", "custom tool" }, false },
	{ "response_format.json_schema.strict", CHAT, ACT_REMOVE, NULL,
	  { "'strict'", "`strict`", "strict:" }, false },
	{ "text.format.strict", RESPONSES, ACT_REMOVE, NULL,
	  { "'strict'", "`strict`", "strict:" }, false },
	{ "tool_choice", OPENAI | ANTHROPIC, ACT_REMOVE, NULL, { NULL }, false },
	/* Sampling: reasoning models of every provider take less and less of it. */
	{ "temperature", OPENAI | ANTHROPIC, ACT_REMOVE, NULL, { NULL }, false },
	{ "top_p", OPENAI | ANTHROPIC, ACT_REMOVE, NULL, { NULL }, false },
	{ "top_k", OPENAI | ANTHROPIC, ACT_REMOVE, NULL, { NULL }, false },
	{ "generationConfig.temperature", GEMINI, ACT_REMOVE, NULL, { NULL }, false },
	{ "generationConfig.topP", GEMINI, ACT_REMOVE, NULL, { "top_p" }, false },
	{ "generationConfig.topK", GEMINI, ACT_REMOVE, NULL, { "top_k" }, false },
	/* Thinking: ai.google.dev/gemini-api/docs/thinking, platform.claude.com/docs "Effort",
	 * "Adaptive thinking". */
	{ "generationConfig.thinkingConfig.thinkingLevel", GEMINI, ACT_REMOVE, NULL,
	  { "thinking_level", "thinking level" }, false },
	{ "generationConfig.thinkingConfig.thinkingBudget", GEMINI, ACT_REMOVE, NULL,
	  { "thinking_budget", "thinking budget", "only works in thinking mode" }, false },
	{ "generationConfig.thinkingConfig", GEMINI, ACT_REMOVE, NULL,
	  { "thinking_config", "thinking is not", "include_thoughts" }, false },
	{ "output_config.effort", ANTHROPIC, ACT_REMOVE, NULL, { "effort parameter" }, false },
	{ "thinking.display", ANTHROPIC, ACT_REMOVE, NULL, { "thinking display" }, false },
	{ "thinking", ANTHROPIC, ACT_REMOVE, NULL,
	  { "thinking.type", "adaptive thinking", "extended thinking", "thinking is not" }, false },
	/* Servers that speak Anthropic's format and know a part of it. */
	{ "output_config", ANTHROPIC, ACT_REMOVE, NULL, { NULL }, false },
	{ "metadata", ANTHROPIC, ACT_REMOVE, NULL, { "'metadata'", "`metadata`" }, false },
	{ "cache_control", ANTHROPIC, ACT_DEEP, NULL, { NULL }, false },
};
_Static_assert(ARRAY_LEN(rows) <= 64, "a set has 64 bits");

/* A sentence that names a parameter refuses it if it has one of these; others are about its value,
 * which is the user's to change. */
static const char *const refusals[] = {
	"unsupported", "not supported", "not support", "unknown", "unrecognized", "not permitted",
	"not allowed", "unexpected", "not available", "must be verified", "deprecated", "forbidden",
	"cannot find field", "no such", "not accept", "not implemented", "could not be verified",
	"could not be decrypted", "only works in", "only enabled when", "only supported",
	"incompatible", "does not exist", "additional propert", "not recognized",
};

static unsigned format_bit(const char *format)
{
	static const char *const formats[] = { "openai", "openai-responses", "anthropic",
	                                       "gemini" };

	for (unsigned i = 0; i < ARRAY_LEN(formats); i++)
		if (strcmp(formats[i], format) == 0)
			return 1U << i;
	return 0;
}

/* ---- in a body ------------------------------------------------------------------------------- */

/* A search for the parameter, which changes the request only with `act`. */
struct visit {
	const struct refusable_row *row;
	bool change;
};

static bool visit_leaf(const struct visit *visit, json_t *object, const char *member)
{
	json_t *value = json_object_get(object, member);

	if (!value || !visit->change)
		return value != NULL;
	if (visit->row->act == ACT_RENAME)
		json_object_set(object, visit->row->instead, value);
	if (visit->row->act == ACT_FUNCTION)
		json_object_update_new(object, json_pack(
			"{s:s, s:b, s:{s:s, s:[s], s:{s:{s:s}}}}", "type", "function", "strict", 0,
			"parameters", "type", "object", "required", "input", "properties", "input",
			"type", "string"));
	json_object_del(object, member);
	return true;
}

static bool visit_path(const struct visit *visit, json_t *value, const char *path, unsigned depth)
{
	size_t len = strcspn(path, "."), i;
	_cleanup_free_ char *member = mem_dup(path, len);
	const char *rest = path[len] ? path + len + 1 : NULL;
	json_t *child;
	bool found = false;

	if (depth == 0)
		return false;
	if (strcmp(member, "[]") == 0) {
		json_array_foreach(value, i, child)
			found |= visit_path(visit, child, rest, depth - 1);
		return found;
	}
	if (!rest)
		return visit_leaf(visit, value, member);
	child = json_object_get(value, member);
	found = child && visit_path(visit, child, rest, depth - 1);
	if (found && visit->change && json_is_object(child) && !json_object_size(child))
		json_object_del(value, member);
	return found;
}

static bool visit_deep(const struct visit *visit, json_t *value, unsigned depth)
{
	bool found = false;
	const char *name;
	json_t *child;
	size_t i;

	if (depth == 0)
		return false;
	json_array_foreach(value, i, child)
		found |= visit_deep(visit, child, depth - 1);
	json_object_foreach(value, name, child)
		found |= visit_deep(visit, child, depth - 1);
	return (json_is_object(value) && visit_leaf(visit, value, visit->row->path)) || found;
}

static bool visit_reasoning(const struct visit *visit, json_t *body)
{
	json_t *items = json_object_get(body, "input");
	bool found = false;

	for (size_t i = json_array_size(items); i-- > 0;) {
		if (!span_eq(json_span(json_object_get(json_array_get(items, i), "type")),
		             SPAN("reasoning")))
			continue;
		found = true;
		if (visit->change)
			json_array_remove(items, i);
	}
	return found;
}

static bool visit_body(const struct visit *visit, json_t *body)
{
	if (visit->row->act == ACT_DEEP)
		return visit_deep(visit, body, JSON_DEPTH_MAX);
	if (visit->row->act == ACT_REASONING)
		return visit_reasoning(visit, body);
	return visit_path(visit, body, visit->row->path, JSON_DEPTH_MAX);
}

refusable_set refusable_in(const char *format, const json_t *body)
{
	unsigned bit = format_bit(format);
	refusable_set found = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if ((rows[i].formats & bit) &&
		    visit_body(&(struct visit){ .row = &rows[i] }, (json_t *)body))
			found |= (refusable_set)1 << i;
	return found;
}

void refusable_drop(const char *format, json_t *body, refusable_set without)
{
	unsigned bit = format_bit(format);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if ((rows[i].formats & bit) && (without >> i & 1))
			visit_body(&(struct visit){ .row = &rows[i], .change = true }, body);
}

/* ---- in an answer ---------------------------------------------------------------------------- */

enum { ANSWER_DEPTH = 6, ANSWER_BYTES = 4000 };

/* What an answer says, as one text: its strings, each on a line, but not what it repeats of the
 * request. A location (["body", "top_k"]) becomes a path. */
static void gather_strings(const json_t *value, struct buf *out, unsigned depth, char end)
{
	const char *name;
	json_t *child;
	size_t i;

	if (depth == 0)
		return;
	if (json_is_string(value)) {
		buf_span(out, span_head(json_span(value), ANSWER_BYTES));
		buf_char(out, end);
	}
	json_array_foreach(value, i, child)
		gather_strings(child, out, depth - 1, json_is_string(child) ? '.' : '\n');
	json_object_foreach((json_t *)value, name, child)
		if (strcmp(name, "input") != 0 && strcmp(name, "ctx") != 0)
			gather_strings(child, out, depth - 1, '\n');
}

static bool is_parameter_char(char c)
{
	return ascii_is_alnum(c) || c == '_';
}

/* Whether the text has the phrase, in any case; `whole`: not as a part of longer words. */
static bool has_phrase(struct span text, const char *phrase, bool whole)
{
	size_t len = strlen(phrase);

	for (size_t i = 0; i + len <= text.len; i++) {
		if (strncasecmp(text.data + i, phrase, len) != 0)
			continue;
		if (!whole || ((i == 0 || !is_parameter_char(text.data[i - 1])) &&
		               (i + len == text.len || !is_parameter_char(text.data[i + len]))))
			return true;
	}
	return false;
}

/* The last member of a path is a name too, if it is no word of everyday. */
static const char *leaf_name(const struct refusable_row *row)
{
	static const char *const everyday[] = { "include", "store", "strict", "effort", "summary",
	                                        "reasoning", "thinking", "metadata", "display" };
	const char *dot = strrchr(row->path, '.');
	const char *leaf = dot ? dot + 1 : row->path;

	for (size_t i = 0; i < ARRAY_LEN(everyday); i++)
		if (strcmp(leaf, everyday[i]) == 0)
			return NULL;
	return leaf;
}

static bool is_named(const struct refusable_row *row, struct span text)
{
	const char *leaf = leaf_name(row);

	if (strchr(row->path, '.') && has_phrase(text, row->path, true))
		return true;
	if (leaf && has_phrase(text, leaf, true))
		return true;
	for (size_t i = 0; i < NAMES && row->names[i]; i++)
		if (has_phrase(text, row->names[i], false))
			return true;
	return false;
}

/* A path without its indexes: "tools[0].strict" and "tools.[].strict" become "tools.strict". */
static void put_plain_path(struct buf *out, struct span path)
{
	for (size_t i = 0; i < path.len; i++) {
		bool index = path.data[i] == '[';

		while (index && i < path.len && path.data[i] != ']')
			i++;
		if (!index &&
		    (path.data[i] != '.' || (i + 1 < path.len && path.data[i + 1] != '[')))
			buf_char(out, path.data[i]);
	}
}

/* "body.reasoning.effort" and "reasoning.effort" are the same. */
static bool is_param(const struct refusable_row *row, struct span param)
{
	_cleanup_buf_ struct buf own = BUF_INIT(256), given = BUF_INIT(ANSWER_BYTES);

	if (span_starts(param, SPAN("body.")))
		param = span_skip(param, 5);
	put_plain_path(&own, span_str(row->path));
	put_plain_path(&given, span_head(param, ANSWER_BYTES));
	return param.len && span_eq(buf_view(&given), buf_view(&own));
}

static json_t *answer_value(struct span answer)
{
	struct err ignored = ERR_INIT;
	json_t *value;

	if (json_parse_foreign(span_trim(answer), JSON_DEPTH_MAX, &value, NULL, &ignored))
		return value;
	return json_text(span_head(answer, ANSWER_BYTES));
}

refusable_set refusable_refused(struct span answer, refusable_set sent)
{
	_cleanup_buf_ struct buf out = BUF_INIT(8 * ANSWER_BYTES);
	json_auto_t *value = answer_value(answer);
	const json_t *error = json_object_get(value, "error");
	struct span param = json_span(json_object_get(error, "param")), text;
	bool refuses = false;

	gather_strings(value, &out, ANSWER_DEPTH, '\n');
	text = buf_view(&out);
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
		refuses |= has_phrase(text, refusals[i], false);
	if (!refuses)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if ((sent >> i & 1) && is_param(&rows[i], param))
			return (refusable_set)1 << i;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if ((sent >> i & 1) && is_named(&rows[i], text))
			return (refusable_set)1 << i;
	return 0;
}

/* ---- tools ----------------------------------------------------------------------------------- */

/* The names of a request's tools, in the order in which refusals count them. */
static json_t *declared_names(const json_t *body)
{
	json_t *names = json_array(), *tool, *inner;
	size_t i, j;

	json_array_foreach(json_object_get(body, "tools"), i, tool) {
		const json_t *function = json_object_get(tool, "function");
		json_t *name = json_object_get(function ? function : tool, "name");
		const json_t *several = json_object_get(tool, "functionDeclarations");

		json_array_foreach(several, j, inner)
			json_array_append(names, json_object_get(inner, "name"));
		if (!several)
			json_array_append(names, name ? name : json_null());
	}
	return names;
}

/* The number after a word: "tools[5]", "tools.5.custom", "tools/5"; -1: none.  What is
 * within a message ("input[3].tools[0]") is not among the tools of the request. */
static long index_after(struct span text, const char *word)
{
	const size_t len = strlen(word);
	const char *at = text.len ? text.data : NULL, *end = at ? at + text.len : NULL;

	while (at && (at = memmem(at, (size_t)(end - at), word, len))) {
		struct span before = span_of(text.data, (size_t)(at - text.data));
		struct span digits = span_skip(span_of(at, (size_t)(end - at)), len + 1);
		bool inside = word[0] == 't' && span_ends(before, SPAN("]."));

		if (!inside && at + len < end && strchr("[./", at[len]) && span_digits(digits) &&
		    span_digits(digits) < 6)
			return strtol(digits.data, NULL, 10);
		at += len;
	}
	return -1;
}

/* Whether the text has the name as one: in quotation marks, or as a word that is no everyday
 * one. */
static bool names_tool(struct span text, const char *name)
{
	static const char marks[] = "'\"`";
	const bool rare = strlen(name) >= 8 && strpbrk(name, "_-.0123456789");

	for (const char *mark = marks; *mark; mark++) {
		char quoted[256];

		snprintf(quoted, sizeof(quoted), "%c%.200s%c", *mark, name, *mark);
		if (has_phrase(text, quoted, false))
			return true;
	}
	return rare && has_phrase(text, name, true);
}

/* *ret_sure: by its place. */
static const char *blamed_name(const json_t *names, struct span text, bool *ret_sure)
{
	static const char *const counted[] = { "function_declarations", "functionDeclarations",
	                                       "tools" };
	const json_t *name;
	long index = -1;
	size_t i;

	for (i = 0; i < ARRAY_LEN(counted) && index < 0; i++)
		index = index_after(text, counted[i]);
	*ret_sure = index >= 0 && json_string_value(json_array_get(names, (size_t)index));
	if (*ret_sure)
		return json_string_value(json_array_get(names, (size_t)index));
	json_array_foreach(names, i, name)
		if (json_is_string(name) && names_tool(text, json_string_value(name)))
			return json_string_value(name);
	return NULL;
}

enum tool_blame tool_fit_blame(const json_t *body, struct span answer, char **ret_name)
{
	static const char *const about[] = { "tool", "function", "schema", "declaration",
	                                     "parameters", "properties" };
	static const char *const nothing[] = { "invalid argument", "bad request",
	                                       "invalid request", "invalid_argument" };
	/* The model takes no tools at all. */
	static const char *const none[] = { "support tool", "support function", "tool use",
	                                    "tool calling", "function calling" };
	_cleanup_buf_ struct buf out = BUF_INIT(8 * ANSWER_BYTES);
	json_auto_t *names = declared_names(body), *value = answer_value(answer);
	enum tool_blame blame = TOOL_BLAME_NONE;
	const char *name;
	bool sure = false;

	*ret_name = NULL;
	if (!json_array_size(names))
		return blame;
	gather_strings(value, &out, ANSWER_DEPTH, '\n');
	for (size_t i = 0; i < ARRAY_LEN(nothing); i++)
		if (has_phrase(buf_view(&out), nothing[i], false))
			blame = TOOL_BLAME_POSSIBLE;
	for (size_t i = 0; i < ARRAY_LEN(about); i++)
		if (has_phrase(buf_view(&out), about[i], false))
			blame = TOOL_BLAME_SOME;
	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		if (has_phrase(buf_view(&out), none[i], false))
			blame = TOOL_BLAME_NONE;
	name = blame == TOOL_BLAME_SOME ? blamed_name(names, buf_view(&out), &sure) : NULL;
	*ret_name = mem_strdup(name);
	return sure ? TOOL_BLAME_NAMED : blame;
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *refusable_name(refusable_set set)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (set >> i & 1)
			return rows[i].path;
	return "";
}

refusable_set refusable_named(const char *name)
{
	refusable_set found = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].path, name) == 0)
			found |= (refusable_set)1 << i;
	return found;
}

bool refusable_lasts(refusable_set row)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (row >> i & 1)
			return !rows[i].passing;
	return false;
}
