/* SPDX-License-Identifier: Apache-2.0 */
/* The one function that runs every call: names, validation, confirmation, the run. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/schema.h"
#include "tool/alias.h"
#include "tool/confirm.h"
#include "tool/schemas.h"

/* A list of problems is for one model's next try. */
enum { PROBLEMS_MAX = 16 << 10 };

static json_t *unknown_tool(const char *name)
{
	_cleanup_free_ const char **names = mem_alloc(tool_count(), sizeof(*names));
	_cleanup_buf_ struct buf list = BUF_INIT(PROBLEMS_MAX);
	struct span shown = utf8_head(span_str(name), 80);
	struct err err = ERR_INIT;
	const char *near;

	for (size_t i = 0; i < tool_count(); i++) {
		names[i] = tool_at(i)->name;
		buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
	}
	near = nearest_name(name, names, tool_count());
	err_set(&err, ERR_UNKNOWN_TOOL, "There is no tool \"%.*s\"%s%s. The tools are: %s.",
	        (int)shown.len, shown.data, near ? "; did you mean " : "", near ? near : "",
	        list.data);
	return tool_failure(&err);
}

static json_t *invalid_arguments(struct session *session, const struct tool *tool,
                                 const json_t *arguments, const struct buf *problems)
{
	struct err err = ERR_INIT;
	json_t *result;
	_cleanup_free_ char *message = NULL;

	err_set(&err, ERR_INVALID_ARGUMENT, "Invalid arguments.");
	result = tool_failure(&err);
	message = mem_printf("Invalid Arguments: %s.", problems->data);
	json_object_set_new(result, "message", json_cstr(message));
	if (tool->explain)
		tool->explain(session, arguments, result);
	return result;
}

/* Canonical names, right types; what is wrong goes to `problems`. */
static json_t *normalise(const struct tool *tool, const char *called,
                         const struct schema *schema, const json_t *arguments,
                         struct buf *problems)
{
	_cleanup_buf_ struct buf more = BUF_INIT(PROBLEMS_MAX);
	json_t *renamed, *checked;

	if (!json_is_object(arguments))
		return schema_check(schema, (json_t *)arguments, problems);
	renamed = alias_resolve(tool, called, arguments, problems);
	checked = schema_check(schema, renamed, &more);
	json_decref(renamed);
	if (problems->len && more.len)
		buf_str(problems, "; ");
	buf_span(problems, buf_view(&more));
	return checked;
}

json_t *tool_call(struct session *session, const char *name, const json_t *arguments)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(PROBLEMS_MAX);
	const struct tool *tool = tool_find(name);
	struct err err = ERR_INIT;
	struct schema *schema;
	json_auto_t *nothing = json_object();
	json_auto_t *checked = NULL;
	json_t *ended;

	if (!tool)
		return unknown_tool(name);
	schema = session_schema(session, tool, &err);
	if (!schema)
		return tool_failure(&err);
	checked = normalise(tool, name, schema, arguments ? arguments : nothing, &problems);
	if (problems.len)
		return invalid_arguments(session, tool, checked, &problems);
	ended = confirm_call(session, tool, &checked);
	if (ended)
		return ended;
	if (session_cancelled(session)) {
		err_set(&err, ERR_CANCELLED, "The call was cancelled; nothing was done.");
		return tool_failure(&err);
	}
	return tool->run(session, checked);
}
