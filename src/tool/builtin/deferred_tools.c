/* SPDX-License-Identifier: Apache-2.0 */
/* search_tools and call_tool: access to tools that are announced but not declared (tool/set.h,
 * "deferred").
 *
 * Providers that load tools themselves get the results in their own format, and have no call_tool
 * (model/anthropic/request.c, model/openai/responses.c).  For all others:
 *
 * search_tools returns the declarations in its result, at the end of the conversation, and the
 * declaration of call_tool never changes.  So the start of each request stays the same, as
 * providers' caches require, whatever is loaded later.  (Tools added to the list would precede the
 * whole conversation.)  call_tool never runs: the receiver of the model's calls replaces it with
 * the call that it stands for (tool_meant), before hooks, rules and questions see it.
 */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/builtin.h"
#include "tool/set.h"

enum {
	FOUND_USUAL = 5,
	FOUND_BYTES = 24 << 10, /* of declarations in one answer; the first one is always there */
	WORDS_MAX = 32,
	MORE_MAX = 20,          /* names of further tools in an answer */
};

/* ---- ranking ----------------------------------------------------------------- */

struct query {
	const char *text;
	char *words[WORDS_MAX]; /* lower case, letters and digits; owned */
	size_t count;
};

static bool is_query_byte(char c)
{
	return ascii_is_alnum(c) || (unsigned char)c >= 0x80;
}

static char *lower_copy(const char *text, size_t len)
{
	char *copy = mem_dup(text, len);

	for (char *c = copy; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c += 'a' - 'A';
	return copy;
}

static void query_split(struct query *query)
{
	const char *at = query->text;

	while (*at && query->count < WORDS_MAX) {
		size_t len = 0;

		while (*at && !is_query_byte(*at))
			at++;
		while (is_query_byte(at[len]))
			len++;
		if (len)
			query->words[query->count++] = lower_copy(at, len);
		at += len;
	}
}

static void query_release(struct query *query)
{
	for (size_t i = 0; i < query->count; i++)
		free(query->words[i]);
}

/* Whether the query has the name as it is, between spaces or commas. */
static bool query_names(const struct query *query, const char *name)
{
	static const char between[] = " ,;\t\n\"'`";
	size_t len = strlen(name);

	for (const char *at = query->text; (at = strstr(at, name)); at++)
		if ((at == query->text || strchr(between, at[-1])) && strchr(between, at[len]))
			return true;
	return false;
}

/* Counts occurrences of the words in the text; a whole word counts twice. */
static unsigned words_score(const struct query *query, const char *text)
{
	_cleanup_free_ char *lower = lower_copy(text, strlen(text));
	unsigned score = 0;

	for (size_t i = 0; i < query->count; i++) {
		const char *at = strstr(lower, query->words[i]);
		size_t len = strlen(query->words[i]);

		if (!at)
			continue;
		score += (at == lower || !is_query_byte(at[-1])) && !is_query_byte(at[len]) ? 2 : 1;
	}
	return score;
}

static unsigned tool_score(const struct query *query, const struct tool *tool)
{
	if (query_names(query, tool->name))
		return UINT32_MAX;
	return 4 * words_score(query, tool->name) + 2 * words_score(query, tool->title) +
	       words_score(query, tool->description) + words_score(query, tool->arguments_schema);
}

/* ---- search_tools ------------------------------------------------------------ */

static const char search_tools_description[] =
	"Loads tools that <session_context> announces by name only: returns the declarations of "
	"those that match best.";

/* clang-format off */
static const char search_tools_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["query"], "additionalProperties": false,
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 2000, "description":
			"Exact names, or words of what the tool does."},
		"max_results": {"type": "integer", "minimum": 1, "maximum": 20, "description":
			"Default 5."}
	}
} );

static const char search_tools_result_schema[] = SCHEMA(
{"type": "object", "oneOf": [
	{"type": "object", "required": ["success", "tools"], "additionalProperties": false,
	 "properties": {"success": {"const": true},
		"tools": {"type": "array", "items": {"type": "object"}},
		"more": {"type": "array", "items": {"type": "string"}},
		"message": {"type": "string"}}}, )
	RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

struct found_tools {
	const struct tool *tool;
	unsigned score;
	size_t place;
};

static int found_compare(const void *a, const void *b)
{
	const struct found_tools *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* Those that have anything of the query, best first; the caller frees. */
static struct found_tools *find_tools(const struct session *session, const struct query *query,
                                      size_t *ret_count)
{
	size_t all = tool_set_count(session->tools);
	struct found_tools *found = mem_alloc(all + 1, sizeof(*found));

	*ret_count = 0;
	for (size_t i = 0; i < all; i++) {
		const struct tool *tool = tool_set_at(session->tools, i);
		unsigned score = 0;

		if (tool_set_is_deferred(session->tools, tool))
			score = tool_score(query, tool);
		if (score)
			found[(*ret_count)++] = (struct found_tools){ tool, score, i };
	}
	qsort(found, *ret_count, sizeof(*found), found_compare);
	return found;
}

static json_t *found_result(const struct found_tools *found, size_t count, size_t most)
{
	json_t *result = json_object(), *tools = json_array(), *more = json_array();
	size_t bytes = 0, i;

	for (i = 0; i < count && i < most; i++) {
		const struct tool *tool = found[i].tool;

		bytes += strlen(tool->arguments_schema) + strlen(tool->description);
		if (i && bytes > FOUND_BYTES)
			break;
		json_array_append_new(tools, tool_declaration(tool));
	}
	for (; i < count && json_array_size(more) < MORE_MAX; i++)
		json_array_append_new(more, json_cstr(found[i].tool->name));
	json_object_set_new(result, "tools", tools);
	if (json_array_size(more))
		json_object_set(result, "more", more);
	if (!count)
		json_object_set_new(result, "message",
		                    json_string("No tool that can be loaded matches. Try other "
		                                "words, or a name from the list."));
	json_decref(more);
	return result;
}

static json_t *run_search_tools(struct session *session, const json_t *arguments)
{
	const json_t *most = json_object_get(arguments, "max_results");
	struct query query = { .text = argument_str(arguments, "query") };
	_cleanup_free_ struct found_tools *found = NULL;
	size_t count;

	query_split(&query);
	found = find_tools(session, &query, &count);
	query_release(&query);
	return found_result(found, count,
	                    most ? (size_t)json_integer_value(most) : FOUND_USUAL);
}

const struct tool tool_search_tools = {
	.info = &tool_infos[TOOL_SEARCH_TOOLS],
	.name = "search_tools",
	.title = "Find tools",
	.rest = "Search with words that fewer tools have.",
	.description = search_tools_description,
	.arguments_schema = search_tools_arguments_schema,
	.result_schema = search_tools_result_schema,
	.run = run_search_tools,
};

/* ---- call_tool --------------------------------------------------------------- */

static const char call_tool_description[] =
	"Calls a tool that search_tools returned. It is checked, and asked about, as the tool that "
	"it names.";

/* clang-format off */
static const char call_tool_arguments_schema[] = SCHEMA(
{
	"type": "object", "required": ["name"], "additionalProperties": false,
	"properties": {
		"name": {"type": "string", "minLength": 1, "maxLength": 100},
		"arguments": {"type": "object", "description":
			"As the tool's parameters say."}
	}
} );

static const char call_tool_result_schema[] = SCHEMA(
{"type": "object", "oneOf": [ )
	RESULT_FAILURE SCHEMA(]} );
/* clang-format on */

/* Some models write an object as its text. */
static json_t *meant_arguments(const json_t *value)
{
	struct err ignored = ERR_INIT;
	json_t *parsed = NULL;

	if (json_is_string(value) && json_parse(json_span(value), &parsed, &ignored))
		return parsed;
	return value ? json_incref((json_t *)value) : json_object();
}

const struct tool *tool_meant(const struct tool_set *set, const struct tool *tool,
                              const json_t *arguments, json_t **ret_arguments)
{
	const char *name = json_string_value(json_object_get(arguments, "name"));
	const struct tool *meant = tool == &tool_call_tool && name ? tool_set_find(set, name) :
	                                                             NULL;

	if (!meant || meant == &tool_call_tool)
		return NULL;
	*ret_arguments = meant_arguments(json_object_get(arguments, "arguments"));
	return meant;
}

/* Only what names no tool comes here. */
static json_t *run_call_tool(struct session *session, const json_t *arguments)
{
	const char *name = argument_str(arguments, "name"), *near;
	size_t all = tool_set_count(session->tools), count = 0;
	_cleanup_free_ const char **names = mem_alloc(all + 1, sizeof(*names));
	struct span shown = utf8_head(span_str(name), 80);
	struct err err = ERR_INIT;

	for (size_t i = 0; i < all; i++)
		if (tool_set_is_deferred(session->tools, tool_set_at(session->tools, i)))
			names[count++] = tool_set_at(session->tools, i)->name;
	near = schema_nearest_name(name, names, count);
	err_set(&err, ERR_UNKNOWN_TOOL, "There is no tool \"%.*s\"%s%s. search_tools finds those "
	        "that there are.", (int)shown.len, shown.data, near ? "; did you mean " : "",
	        near ? near : "");
	return tool_failure(&err);
}

const struct tool tool_call_tool = {
	.info = &tool_infos[TOOL_CALL_TOOL],
	.name = "call_tool",
	.title = "Call a tool",
	.description = call_tool_description,
	.arguments_schema = call_tool_arguments_schema,
	.result_schema = call_tool_result_schema,
	.run = run_call_tool,
};
