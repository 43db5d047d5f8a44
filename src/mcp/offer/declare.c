/* SPDX-License-Identifier: Apache-2.0 */
/* A tool's row as MCP declares it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "mcp/offer/internal.h"
#include "mcp/offer/result.h"

enum { DECLARATION_MAX = 1 << 20 };

/* With the names of other tools in it as they are offered. */
static char *rewritten(const struct names *names, const char *text)
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

static bool is_list(const json_t *schema)
{
	return span_eq(json_span(json_object_get(schema, "type")), SPAN("array"));
}

/* MCP demands an object, and says so at the outermost level (2025-11-25, server/tools). */
static char *output_schema(const struct names *names, const char *text)
{
	_cleanup_buf_ struct buf printed = BUF_INIT(DECLARATION_MAX);
	struct err err = ERR_INIT;
	json_t *schema = NULL;
	json_t *branches;

	json_parse(span_str(text), &schema, &err);
	branches = json_object_get(schema, "oneOf");
	for (size_t i = 0; i < json_array_size(branches); i++)
		if (is_list(json_array_get(branches, i)))
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
	static const char *const repeatable[] = { "safe_patch", "write_file" };

	for (size_t i = 0; i < ARRAY_LEN(repeatable); i++)
		if (strcmp(tool->name, repeatable[i]) == 0)
			return true;
	return tool_kind_reads(tool->kind);
}

static char *annotations(const struct tool *tool)
{
	bool changes = !tool_kind_reads(tool->kind);
	struct buf out = BUF_INIT(DECLARATION_MAX);

	buf_str(&out, "{\"title\":");
	json_print_string(&out, span_str(tool->title));
	buf_printf(&out, ",\"readOnlyHint\":%s,\"destructiveHint\":%s,\"idempotentHint\":%s,"
	                 "\"openWorldHint\":false}",
	           changes ? "false" : "true", changes ? "true" : "false",
	           is_idempotent(tool) ? "true" : "false");
	return buf_steal(&out);
}

void declare_tool(const struct names *names, struct offered *offered)
{
	const struct tool *tool = offered->item->tool;

	offered->description = rewritten(names, tool->description);
	offered->input_schema = rewritten(names, tool->arguments_schema);
	offered->output_schema = output_schema(names, tool->result_schema);
	offered->annotations = annotations(tool);
	offered->at_once = strcmp(tool->name, "read_file") == 0;
	offered->begins = tool->begin && tool_kind_changes(tool->kind);
}

void declare_release(struct offered *offered)
{
	free(offered->description);
	free(offered->input_schema);
	free(offered->output_schema);
	free(offered->annotations);
}
