/* SPDX-License-Identifier: Apache-2.0 */
/* structured_change for scripts: a line of JSON in, {"name", "text", "changes", "document"}; a line
 * out, {"text"} or {"code", "error"}. With "query" instead of "changes": {"value"} of that path. */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "data/json.h"
#include "data/structured/structured.h"

static json_t *answer_error(const struct err *err)
{
	return json_pack("{s:s, s:s}", "code", err_name(err->code), "error", err->message);
}

static json_t *answer_query(enum structured_format format, struct span text, struct span path)
{
	_cleanup_structured_ struct structured tree = { 0 };
	const struct structured_node *node;
	struct err err = ERR_INIT;
	json_t *value = NULL;

	if (!structured_parse(format, text, &tree, &err) ||
	    !(node = structured_find(&tree, path, &err)) ||
	    !structured_value(&tree, node, 0, &value, &err))
		return answer_error(&err);
	return json_pack("{s:o}", "value", value);
}

static json_t *answer(const json_t *request)
{
	const char *name = json_string_value(json_object_get(request, "name"));
	struct span text = json_span(json_object_get(request, "text"));
	enum structured_format format = structured_format_of(name, text);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	struct err err = ERR_INIT;

	if (json_object_get(request, "query"))
		return answer_query(format, text, json_span(json_object_get(request, "query")));
	if (!structured_change(format, text, json_object_get(request, "changes"),
	                       (unsigned)json_integer_value(json_object_get(request, "document")),
	                       &out, &err))
		return answer_error(&err);
	return json_pack("{s:o}", "text", json_utf8(buf_view(&out)));
}

int main(void)
{
	char *line = NULL;
	size_t cap = 0;

	while (getline(&line, &cap, stdin) > 0) {
		_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
		struct err err = ERR_INIT;
		json_t *request = NULL, *reply;

		if (!json_parse(span_str(line), &request, &err))
			return 1;
		reply = answer(request);
		json_print(&out, reply, 0);
		puts(out.data);
		fflush(stdout);
		json_decref(reply);
		json_decref(request);
	}
	free(line);
	return 0;
}
