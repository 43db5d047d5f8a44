/* SPDX-License-Identifier: Apache-2.0 */
/* Tools under the names that clients know, and as MCP declares them. */
#include "mcp/offer/serve.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/schema.h"
#include "mcp/offer/calls.h"
#include "mcp/offer/offer.h"
#include "tool/answer.h"

/* ---- names ------------------------------------------------------------------- */

enum { NAME_MAX_CHARS = 128 };

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-' || c == '.';
}

static bool check_name(const char *name, struct err *err)
{
	size_t len = strlen(name);
	struct span shown = utf8_head(span_of(name, len), NAME_MAX_CHARS);

	for (size_t i = 0; i < len && len <= NAME_MAX_CHARS; i++)
		if (!is_name_char(name[i]))
			len = 0;
	if (len == 0 || len > NAME_MAX_CHARS)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "\"%.*s\" cannot be the name of a tool: 1 to %d of the characters "
		               "A-Z a-z 0-9 _ - . are allowed.", (int)shown.len, shown.data,
		               NAME_MAX_CHARS);
	return true;
}

/* The tool of that name or alias. */
static const struct tool *find_tool(struct span name, struct err *err)
{
	_cleanup_free_ char *text = mem_dup(name.data ? name.data : "", name.len);
	_cleanup_free_ const char **all = NULL;
	const struct tool *tool = tool_find(text);
	struct span shown = utf8_head(name, NAME_MAX_CHARS);
	const char *near;

	if (tool)
		return tool;
	all = mem_alloc(tool_count(), sizeof(*all));
	for (size_t i = 0; i < tool_count(); i++)
		all[i] = tool_at(i)->name;
	near = schema_nearest_name(text, all, tool_count());
	err_set(err, ERR_INVALID_ARGUMENT, "There is no tool \"%.*s\"%s%s%s", (int)shown.len,
	        shown.data, near ? "; did you mean \"" : ". \"hasp tool --list\" shows them.",
	        near ? near : "", near ? "\"?" : "");
	return NULL;
}

static size_t index_of(const struct tool *tool)
{
	size_t i = 0;

	while (tool_at(i) != tool)
		i++;
	return i;
}

/* Sets `flags` of the tools in one list with commas. */
static bool mark_list(const char *list, bool *flags, struct err *err)
{
	for (;;) {
		size_t len = strcspn(list, ",");
		struct span name = span_trim(span_of(list, len));
		const struct tool *tool;

		if (name.len) {
			tool = find_tool(name, err);
			if (!tool)
				return false;
			flags[index_of(tool)] = true;
		}
		if (!list[len])
			return true;
		list += len + 1;
	}
}

/* Which tools are offered at all. */
static bool choose_tools(const struct names_options *options, bool *chosen, struct err *err)
{
	_cleanup_free_ bool *excluded = mem_alloc(tool_count(), sizeof(*excluded));
	size_t count = 0;

	for (size_t i = 0; i < options->tool_count; i++)
		if (!mark_list(options->tools[i], chosen, err))
			return false;
	for (size_t i = 0; i < options->exclude_count; i++)
		if (!mark_list(options->exclude[i], excluded, err))
			return false;
	for (size_t i = 0; i < tool_count(); i++) {
		chosen[i] = (chosen[i] || !options->tool_count) && !excluded[i] &&
		            !(options->read_only && !tool_kind_reads(tool_kind_of(tool_at(i))));
		count += chosen[i];
	}
	return count || err_set(err, ERR_INVALID_ARGUMENT, "No tool is left to be offered.");
}

/* OLD=NEW: puts NEW at the tool's place in `given`. */
static bool rename_one(const char *rename, const bool *chosen, const char **given, struct err *err)
{
	const char *equals = strchr(rename, '=');
	const struct tool *tool;

	if (!equals)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--tool-name takes OLD=NEW, and \"%s\" is not of that form.",
		               rename);
	tool = find_tool(span_of(rename, (size_t)(equals - rename)), err);
	if (!tool || !check_name(equals + 1, err))
		return false;
	if (!chosen[index_of(tool)])
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%s is given a name, but it is not among the tools that are "
		               "offered.",
		               tool->name);
	if (given[index_of(tool)])
		return err_set(err, ERR_INVALID_ARGUMENT, "%s is given two names.", tool->name);
	given[index_of(tool)] = equals + 1;
	return true;
}

static bool add_item(struct offered_names *names, const struct tool *tool, char *name,
                     struct err *err)
{
	names->items[names->count++] = (struct names_item){ tool, name };
	names->changed |= strcmp(name, tool->name) != 0;
	for (size_t i = 0; i + 1 < names->count; i++)
		if (strcmp(names->items[i].name, name) == 0)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "%s and %s would both be called \"%s\".",
			               names->items[i].tool->name, tool->name, name);
	return check_name(name, err);
}

bool names_make(const struct names_options *options, struct offered_names *ret, struct err *err)
{
	_cleanup_free_ bool *chosen = mem_alloc(tool_count(), sizeof(*chosen));
	_cleanup_free_ const char **given = mem_alloc(tool_count(), sizeof(*given));
	const char *prefix = options->prefix ? options->prefix : "";
	struct offered_names names = { .items = mem_alloc(tool_count(), sizeof(*names.items)) };
	bool ok = choose_tools(options, chosen, err);

	for (size_t i = 0; ok && i < options->rename_count; i++)
		ok = rename_one(options->renames[i], chosen, given, err);
	for (size_t i = 0; ok && i < tool_count(); i++) {
		const struct tool *tool = tool_at(i);

		if (!chosen[i])
			continue;
		ok = add_item(&names, tool, given[i] ? mem_strdup(given[i]) :
		                                       mem_printf("%s%s", prefix, tool->name), err);
	}
	if (!ok) {
		names_release(&names);
		return false;
	}
	*ret = names;
	return true;
}

void names_release(struct offered_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i].name);
	free(names->items);
	*names = (struct offered_names){ 0 };
}

const char *names_offered(const struct offered_names *names, const char *canonical)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i].tool->name, canonical) == 0)
			return names->items[i].name;
	return canonical;
}

/* What stands for a whole word of a text. */
static struct span offered_word(const struct offered_names *names, struct span word)
{
	for (size_t i = 0; memchr(word.data, '_', word.len) && i < names->count; i++)
		if (span_eq(word, span_str(names->items[i].tool->name)))
			return span_str(names->items[i].name);
	return word;
}

static bool is_word_in_text(char c)
{
	return is_name_char(c) && c != '.' && c != '-';
}

bool names_rewrite(const struct offered_names *names, struct span text, struct buf *out)
{
	while (text.len) {
		bool word = is_word_in_text(text.data[0]);
		size_t len = 1;

		while (len < text.len && is_word_in_text(text.data[len]) == word)
			len++;
		buf_span(out, word ? offered_word(names, span_head(text, len)) :
		         span_head(text, len));
		text = span_skip(text, len);
	}
	return !out->overflowed;
}

/* ---- declarations ------------------------------------------------------------ */

/* A tool's row as MCP declares it. */

enum { DECLARATION_MAX = 1 << 20 };

/* With the names of other tools in it as they are offered. */
static char *rewritten(const struct offered_names *names, const char *text)
{
	struct buf out = BUF_INIT(DECLARATION_MAX);

	names_rewrite(names, span_str(text), &out);
	return buf_steal(&out);
}

/* {"files": LIST} in place of the schema of a list. */
static json_t *wrapped(json_t *schema)
{
	json_t *required = json_array();
	json_t *properties = json_object();
	json_t *object = json_object();

	json_array_append_new(required, json_string(RESULT_LIST));
	json_object_set(properties, RESULT_LIST, schema);
	json_object_set_new(object, "type", json_string("object"));
	json_object_set_new(object, "required", required);
	json_object_set_new(object, "additionalProperties", json_false());
	json_object_set_new(object, "properties", properties);
	return object;
}

/* MCP demands an object, and says so at the outermost level (2025-11-25, server/tools). */
static char *output_schema(const struct offered_names *names, const char *text)
{
	_cleanup_buf_ struct buf printed = BUF_INIT(DECLARATION_MAX);
	struct err err = ERR_INIT;
	json_t *schema = NULL;
	json_t *branches;

	json_parse(span_str(text), &schema, &err);
	answer_allow_left_out(schema);
	branches = json_object_get(schema, "oneOf");
	for (size_t i = 0; i < json_array_size(branches); i++)
		if (span_eq(json_span(json_object_get(json_array_get(branches, i), "type")),
		            SPAN("array")))
			json_array_set_new(branches, i, wrapped(json_array_get(branches, i)));
	if (!json_object_get(schema, "type"))
		json_object_set_new(schema, "type", json_string("object"));
	json_print(&printed, schema, 0);
	json_decref(schema);
	return rewritten(names, printed.data);
}

/* Whether making the same call again would change nothing more.  Edits that name a state do
 * not apply twice; an exact replacement without one might. */
static bool is_idempotent(const struct tool *tool)
{
	return tool_kind_reads(tool_kind_of(tool)) || (tool->info && tool->info->repeatable);
}

static char *annotations(const struct tool *tool)
{
	bool changes = !tool_kind_reads(tool_kind_of(tool));
	struct buf out = BUF_INIT(DECLARATION_MAX);

	buf_str(&out, "{\"title\":");
	json_print_string(&out, span_str(tool->title));
	buf_printf(&out, ",\"readOnlyHint\":%s,\"destructiveHint\":%s,\"idempotentHint\":%s,"
	                 "\"openWorldHint\":false}",
	           changes ? "false" : "true", changes ? "true" : "false",
	           is_idempotent(tool) ? "true" : "false");
	return buf_steal(&out);
}

void offer_declare_tool(const struct offered_names *names, struct offered *offered)
{
	const struct tool *tool = offered->item->tool;

	offered->description = rewritten(names, tool->description);
	offered->input_schema = rewritten(names, tool->arguments_schema);
	offered->output_schema = output_schema(names, tool->result_schema);
	offered->annotations = annotations(tool);
	offered->at_once = tool->info && tool->info->files == TOOL_FILES_READ;
	offered->starts_on_loop = tool->begin && tool_kind_changes(tool_kind_of(tool));
}

void offer_declare_release(struct offered *offered)
{
	free(offered->description);
	free(offered->input_schema);
	free(offered->output_schema);
	free(offered->annotations);
}
