/* SPDX-License-Identifier: Apache-2.0 */
/* What people and Gemini CLI's readers are shown of a call: a line, what came of it, its error. */
#include <string.h>

#include "agent/call/call.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tool/builtin/web.h"
#include "tool/denial.h"

/* ---- errors ------------------------------------------------------------------ */

/* Where what is meant depends on the tool, the first row that fits counts; -1: any kind. */
static const struct {
	enum err_code code;
	int kind;
	const char *type;
} rows[] = {
	{ ERR_INVALID_ARGUMENT, -1, "invalid_tool_params" },
	{ ERR_BASE_REQUIRED, -1, "invalid_tool_params" },
	{ ERR_UNKNOWN_TOOL, -1, "tool_not_registered" },
	{ ERR_STATE_MISMATCH, -1, "edit_preparation_failure" },
	{ ERR_INVALID_DIFF, -1, "edit_preparation_failure" },
	{ ERR_AMBIGUOUS_DIFF, -1, "edit_expected_occurrence_mismatch" },
	{ ERR_NO_MATCH, -1, "edit_no_occurrence_found" },
	{ ERR_WRONG_MATCH_COUNT, -1, "edit_expected_occurrence_mismatch" },
	{ ERR_NO_CHANGE, -1, "edit_no_change" },
	{ ERR_FILE_NOT_FOUND, TOOL_KIND_SEARCH, "search_path_not_found" },
	{ ERR_FILE_NOT_FOUND, -1, "file_not_found" },
	{ ERR_FILE_EXISTS, -1, "attempt_to_create_existing_file" },
	{ ERR_NOT_A_FILE, -1, "target_is_directory" },
	{ ERR_NOT_A_DIRECTORY, TOOL_KIND_SEARCH, "search_path_not_a_directory" },
	{ ERR_NOT_A_DIRECTORY, -1, "path_is_not_a_directory" },
	{ ERR_NOT_TEXT, -1, "read_content_failure" },
	{ ERR_TOO_LARGE, -1, "file_too_large" },
	{ ERR_OUTSIDE_WORKSPACE, -1, "path_not_in_workspace" },
	{ ERR_PERMISSION_DENIED, -1, "permission_denied" },
	{ ERR_IGNORED, -1, "invalid_tool_params" },
	{ ERR_DENIED_BY_POLICY, -1, "policy_violation" },
	{ ERR_DENIED_BY_USER, -1, "policy_violation" },
	{ ERR_DENIED_BY_HOOK, -1, "policy_violation" },
	{ ERR_DENIED_BY_SANDBOX, -1, "permission_denied" },
	{ ERR_DISK_FULL, -1, "no_space_left" },
	{ ERR_NO_RESOURCES, TOOL_KIND_EDIT, "file_write_failure" },
	{ ERR_NO_RESOURCES, TOOL_KIND_READ, "read_content_failure" },
	{ ERR_IO_ERROR, TOOL_KIND_EDIT, "file_write_failure" },
	{ ERR_IO_ERROR, TOOL_KIND_READ, "read_content_failure" },
	{ ERR_CANNOT_PRESERVE, -1, "file_write_failure" },
	{ ERR_BUSY, -1, "file_write_failure" },
	{ ERR_ROLLED_BACK, -1, "edit_preparation_failure" },
	{ ERR_COMMAND_STOPPED, -1, "shell_execute_error" },
	{ ERR_LIMIT_REACHED, -1, "execution_failed" },
	{ ERR_INTERNAL, -1, "unhandled_exception" },
};

enum err_code call_error_code(const json_t *result)
{
	const char *name;

	if (json_is_array(result)) /* read_many_files: the first is as good as any */
		result = json_array_get(result, 0);
	name = json_string_value(json_object_get(json_object_get(result, "error"), "code"));
	for (int code = 0; name && code < ERR_CODE_COUNT; code++)
		if (!strcmp(name, err_name((enum err_code)code)))
			return (enum err_code)code;
	return ERR_INTERNAL;
}

char *call_error_text(const json_t *result)
{
	const json_t *first = json_is_array(result) ? json_array_get(result, 0) : result;
	const json_t *error = json_object_get(first, "error");
	const char *message = json_string_value(json_object_get(first, "message"));

	if (!message)
		message = json_string_value(json_object_get(error, "message"));
	return web_untrusted_plain(span_str(message ? message : ""));
}

void call_error_instruct(json_t *error)
{
	json_object_set_new(error, "advice", json_string(
		"Nothing was done. What the user says is an instruction: go on as it says, with "
		"another call if it needs one."));
}

const char *call_error_type(const struct tool *tool, const json_t *result)
{
	const json_t *error = json_object_get(result, "error");
	const char *given = json_string_value(json_object_get(error, "type"));
	enum err_code code = call_error_code(result);

	if (given)
		return given;
	/* One code here, two types there. */
	if (code == ERR_WRONG_MATCH_COUNT && json_is_integer(json_object_get(error, "matches")) &&
	    json_integer_value(json_object_get(error, "matches")) == 0)
		return "edit_no_occurrence_found";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].code == code &&
		    (rows[i].kind < 0 || (tool && rows[i].kind == (int)tool_kind_of(tool))))
			return rows[i].type;
	if (tool && tool->server)
		return "mcp_tool_error";
	return "execution_failed";
}

/* ---- lines ------------------------------------------------------------------- */

enum {
	LINE_MAX_BYTES = 200,
	OTHER_MAX = 4000, /* of a result of a form that is not known */
	DISPLAY_MAX = 1 << 20,
};

/* What is asked of a file. */
static const char *const of_file[] = { "query", "sql" };

static void say_change(struct buf *out, const json_t *change)
{
	const char *kind = json_string_value(json_object_get(change, "kind"));
	const char *path = json_string_value(json_object_get(change, "file_path"));

	buf_printf(out, "%s %s", kind ? kind : "change", path ? path : "?");
}

static void say_value(struct buf *out, const json_t *value)
{
	size_t i;
	json_t *element;

	if (json_is_integer(value))
		buf_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_string(value))
		buf_span(out, json_span(value));
	json_array_foreach((json_t *)value, i, element) {
		if (out->len > LINE_MAX_BYTES)
			return;
		buf_str(out, i ? ", " : "");
		if (json_is_string(element))
			buf_span(out, json_span(element));
		else
			say_change(out, element);
	}
}

static char *display_one_line(struct buf *text)
{
	struct span head = utf8_head(buf_view(text), LINE_MAX_BYTES);
	bool cut = head.len < text->len;
	char *line = mem_printf("%.*s%s", (int)head.len, head.data ? head.data : "",
	                        cut ? "\xe2\x80\xa6" : "");

	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	return line;
}

char *display_title(const struct tool *tool, const char *name)
{
	if (!tool || !tool->title)
		return mem_strdup(name);
	/* Whose tool it is, as Gemini CLI says it. */
	return tool->server ? mem_printf("%s (%s MCP Server)", tool->title, tool->server) :
	                      mem_strdup(tool->title);
}

char *display_call(const struct tool *tool, const json_t *args)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_ARGUMENT_BYTES);
	const struct tool_info *info = tool ? tool->info : NULL;

	say_value(&text, tool_subject(info, args));
	for (size_t i = 0; i < ARRAY_LEN(of_file) && tool_first_path(info, args); i++)
		if (json_is_string(json_object_get(args, of_file[i]))) {
			buf_str(&text, ": ");
			say_value(&text, json_object_get(args, of_file[i]));
		}
	if (!text.len)
		json_print(&text, args, 0);
	if (!text.len && tool)
		buf_str(&text, tool->title ? tool->title : tool->name);
	return display_one_line(&text);
}

static void display_add_line(struct buf *out, struct span text)
{
	if (out->len && !span_ends(buf_view(out), SPAN("\n")))
		buf_char(out, '\n');
	buf_span(out, utf8_head(text, DISPLAY_MAX / 2));
}

static void say_files(struct buf *out, const json_t *result)
{
	size_t i;
	json_t *file;

	json_array_foreach((json_t *)result, i, file) {
		const char *path = json_string_value(json_object_get(file, "file_path"));

		if (out->len > OTHER_MAX)
			return;
		buf_printf(out, "%s%s%s", i ? "\n" : "", path ? path : "",
		           json_object_get(file, "error") ? ": not read" : "");
	}
}

static void say_file(struct buf *out, const json_t *result)
{
	const json_t *total = json_object_get(result, "total_lines");

	buf_printf(out, "%s", json_string_value(json_object_get(result, "file_path")));
	if (total)
		buf_printf(out, ", lines %" JSON_INTEGER_FORMAT "-%" JSON_INTEGER_FORMAT
		                " of %" JSON_INTEGER_FORMAT,
		           json_integer_value(json_object_get(result, "start_line")),
		           json_integer_value(json_object_get(result, "end_line")),
		           json_integer_value(total));
	else if (json_object_get(result, "derived"))
		buf_printf(out, ", %s", json_string_value(json_object_get(
		                                json_object_get(result, "derived"), "from")));
}

/* Of a query: a line each. */
static void say_results(struct buf *out, const json_t *results)
{
	size_t i;
	json_t *value;

	json_array_foreach((json_t *)results, i, value) {
		if (out->len > OTHER_MAX)
			return;
		display_add_line(out, SPAN(""));
		json_print(out, value, 0);
	}
}

static void say_changes(struct buf *out, const json_t *result)
{
	size_t i;
	json_t *change;

	json_array_foreach(json_object_get(result, "changes"), i, change)
		display_add_line(out, json_span(json_object_get(change, "diff")));
}

/* The output of a command. Lines that look like hasp's reports of denials are quoted, because those
 * come next. */
static void say_output(struct buf *out, struct span text)
{
	struct span line;

	display_add_line(out, SPAN(""));
	text = utf8_head(text, DISPLAY_MAX / 2);
	while (line_next(&text, &line)) {
		if (denial_is_imitated(line))
			buf_str(out, DENIAL_QUOTE);
		buf_span(out, line);
	}
}

static void say_denials(struct buf *out, const json_t *result)
{
	size_t i;
	json_t *denial;

	json_array_foreach(json_object_get(result, "denials"), i, denial) {
		display_add_line(out, SPAN("denied: "));
		buf_span(out, json_span(json_object_get(denial, "message")));
	}
}

/* What a server answers in several parts: texts, and media by their type. */
static void say_parts(struct buf *out, const json_t *parts)
{
	size_t i;
	json_t *part;

	json_array_foreach((json_t *)parts, i, part) {
		const struct span text =
			web_untrusted_inside(json_span(json_object_get(part, "text")));
		const char *mime = json_string_value(json_object_get(part, "mime_type"));

		if (text.len)
			say_output(out, text);
		else if (mime)
			display_add_line(out, span_str(mime));
	}
}

static void say_result(struct buf *out, const struct tool *tool, const json_t *result)
{
	static const char *const parts[] = { "message", "output", "exception", "value", "diff",
		                             "text", "structure" };

	if (json_is_array(result)) {
		say_files(out, result);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const struct span text =
			web_untrusted_inside(json_span(json_object_get(result, parts[i])));

		if (text.len && !strcmp(parts[i], "output"))
			say_output(out, text);
		else if (text.len)
			display_add_line(out, text);
	}
	say_parts(out, json_object_get(result, "output"));
	if (tool && tool_kind_of(tool) == TOOL_KIND_READ)
		say_results(out, json_object_get(result, "results"));
	say_changes(out, result);
	say_denials(out, result);
	if (!out->len && tool && tool_kind_of(tool) == TOOL_KIND_READ &&
	    json_object_get(result, "file_path"))
		say_file(out, result);
}

char *display_result(const struct tool *tool, const json_t *result)
{
	_cleanup_buf_ struct buf out = BUF_INIT(DISPLAY_MAX * 4);
	_cleanup_buf_ struct buf all = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_free_ char *error = NULL;

	if (tool_result_failed(result)) {
		error = call_error_text(result);
		buf_str(&out, error);
		say_denials(&out, result);
		return buf_steal(&out);
	}
	say_result(&out, tool, result);
	if (out.len)
		return buf_steal(&out);
	json_print(&all, result, 0);
	buf_span(&out, utf8_head(buf_view(&all), OTHER_MAX));
	return buf_steal(&out);
}
