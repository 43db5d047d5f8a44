/* SPDX-License-Identifier: Apache-2.0 */
/* What a recorded call and its response say, for figures.c. */
#include "agent/session/figures.h"

#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/tools.h"

/* Above it a number in a file is nonsense. */
#define NUMBER_MAX ((json_int_t)1000000000000)

json_int_t figures_number(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);
	const json_int_t number = json_is_real(value) && json_real_value(value) >= 0 &&
	                                          json_real_value(value) < (double)NUMBER_MAX ?
	                                  (json_int_t)json_real_value(value) :
	                                  json_integer_value(value);

	return number < 0 ? 0 : number > NUMBER_MAX ? NUMBER_MAX : number;
}

const json_t *figures_response(const json_t *call)
{
	const json_t *first = json_array_get(json_object_get(call, "result"), 0);

	return json_object_get(json_object_get(first, "functionResponse"), "response");
}

/* How the text of the hunks was matched; NULL: exactly. */
static const char *hunks_repaired(const json_t *hunks)
{
	const char *how = NULL, *matched;
	const json_t *stated;
	size_t i;
	json_t *hunk;

	json_array_foreach(hunks, i, hunk) {
		matched = json_string_value(json_object_get(hunk, "matched"));
		if (matched && strcmp(matched, "exact") != 0)
			return matched;
		stated = json_object_get(hunk, "stated_line");
		if (json_is_integer(stated) &&
		    !json_equal(stated, json_object_get(hunk, "line")))
			how = "line_numbers";
	}
	return how;
}

/* How the text was interpreted, from the note (edit/update.c, patch/patch.c); NULL: as written. */
static const char *note_repaired(const json_t *note)
{
	static const char *const notes[][2] = {
		{ "The line numbers in front of the lines were taken off", "listing" },
		{ "with other white space at the ends of lines", "trailing_space" },
		{ "The text stands at line ", "indentation" },
		{ "The fence around the text was taken off", "fence" },
		{ "The byte-order mark in front of the text was left out", "byte_order_mark" },
		{ "escaped as JSON strings", "escapes" },
		{ " had a backslash before every quotation mark", "escapes" },
		{ "The old text is not in the file, and the new text already is", "already" },
		{ "The old lines are not in the file, and the new ones already are", "already" },
	};

	for (size_t i = 0; i < ARRAY_LEN(notes); i++)
		if (json_is_string(note) && strstr(json_string_value(note), notes[i][0]))
			return notes[i][1];
	return NULL;
}

/* Of an answer, or of one of its changes. */
static const char *change_repaired(const json_t *change)
{
	const char *how = note_repaired(json_object_get(change, "note"));

	return how ? how : hunks_repaired(json_object_get(change, "hunks"));
}

static const char *edit_repaired(const json_t *response)
{
	const char *how = change_repaired(response);
	size_t i;
	json_t *change;

	json_array_foreach(json_object_get(response, "changes"), i, change)
		how = how ? how : change_repaired(change);
	return how;
}

json_int_t figures_changed_lines(const json_t *change, const char *name)
{
	const json_t *state = json_object_get(change, "latest_file_state");

	return !json_object_get(change, name) && json_object_get(state, "content_omitted") &&
	       !json_object_get(change, "error") &&
	       !json_object_get(change, "already_applied") ? 1 : figures_number(change, name);
}

const char *figures_denied_by(const json_t *response, const char *code)
{
	if (!strcmp(code, "denied_by_user"))
		return "user";
	if (!strcmp(code, "denied_by_policy"))
		return "policy";
	if (!strcmp(code, "denied_by_hook"))
		return "hook";
	return !strcmp(code, "denied_by_sandbox") ||
	                       json_array_size(json_object_get(response, "denials")) ?
	               "sandbox" : NULL;
}

const char *figures_error_code(const json_t *response)
{
	const char *code = json_string_value(
		json_object_get(json_object_get(response, "error"), "code"));

	return code ? code : "unnamed";
}

const char *figures_edit_end(const json_t *response, const char *status, const char **ret_what)
{
	const char *code = figures_error_code(response);

	*ret_what = NULL;
	if (json_is_true(json_object_get(response, "dry_run")))
		return NULL;
	if (!strcmp(status, "success")) {
		*ret_what = edit_repaired(response);
		return *ret_what ? "repaired" : "right";
	}
	if (strcmp(status, "error") != 0 || figures_denied_by(response, code))
		return NULL;
	*ret_what = code;
	return "refused";
}

const char *figures_dialect(const json_t *call, const char *tool)
{
	const json_t *own = json_object_get(call, "hasp");
	const char *recorded = json_string_value(json_object_get(own, "dialect"));
	const char *spelling = tool_info_spelling(tool);
	const json_t *command = json_object_get(json_object_get(call, "args"), "command");

	/* Anthropic's editor reads, too. */
	if (span_eq(json_span(command), SPAN("view")))
		return NULL;
	return recorded ? recorded : spelling ? tool_info_dialect(spelling) : NULL;
}

struct span figures_edited_path(const json_t *answer, const json_t *asked)
{
	const json_t *state = json_object_get(answer, "latest_file_state");
	const json_t *path = json_object_get(state, "file_path");

	if (!json_is_string(path))
		path = json_object_get(answer, "file_path");
	if (!json_is_string(path))
		path = json_object_get(asked, "file_path");
	return json_span(path);
}

struct span figures_path_in_project(struct span path, const char *project)
{
	const size_t len = strlen(project);

	return len && project[0] == '/' && path.len > len + 1 && path.data[len] == '/' &&
	       !memcmp(path.data, project, len) ? span_skip(path, len + 1) : path;
}
