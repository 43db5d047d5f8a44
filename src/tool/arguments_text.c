/* SPDX-License-Identifier: Apache-2.0 */
/* A call's arguments as text for people, and what they need permission for. */
#include "tool/tool.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tool/spelling.h"

/* "name: value"; the lines of a text stand below its name, indented, so that none looks like the
 * next argument. */
static void put_argument(struct buf *out, const char *name, const json_t *value)
{
	struct span text = json_is_string(value) ? json_span(value) : SPAN("");
	bool lines = text.len && memchr(text.data, '\n', text.len);

	buf_printf(out, "%s%s:%s", out->len ? "\n" : "", name, lines ? "" : " ");
	while (lines && text.len) {
		const char *end = memchr(text.data, '\n', text.len);
		const size_t len = end ? (size_t)(end - text.data) : text.len;

		buf_str(out, "\n  ");
		buf_span(out, span_of(text.data, len));
		text = span_skip(text, len + (end != NULL));
	}
	if (json_is_string(value))
		buf_span(out, text);
	else
		json_print(out, value, 0);
}

static bool is_shown_elsewhere(const char *name, const char *const *without)
{
	for (; without && *without; without++)
		if (!strcmp(name, *without))
			return true;
	return false;
}

const char *const tool_arguments_of_edit[] = {
	"file_path",   "new_path",    "content", "unified_diff",        "old_content",
	"new_content", "changes",     "base_content_sha256", "return_content", NULL,
};

char *tool_arguments_text(const json_t *arguments, const char *const *without)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_QUESTION_BYTES);
	size_t lines = 0;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)arguments, name, value) {
		if (is_shown_elsewhere(name, without))
			continue;
		if (json_object_size(arguments) == 1 && json_is_string(value))
			buf_span(&text, json_span(value));
		else
			put_argument(&text, name, value);
	}
	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	if (text.overflowed || lines > LIMIT_QUESTION_LINES)
		return NULL;
	return text.len ? buf_steal(&text) : mem_strdup("");
}

bool tool_requires_more(const struct tool *tool, const json_t *arguments)
{
	const json_t *more = tool_command_permissions(tool->info, arguments);
	const json_t *files = json_object_get(more, "fileSystem");

	return json_is_true(json_object_get(more, "network")) ||
	       json_array_size(json_object_get(files, "read")) ||
	       json_array_size(json_object_get(files, "write"));
}
