/* SPDX-License-Identifier: Apache-2.0 */
/* How other products' models write edits: lists of them, envelopes, blocks, editors with a
 * `command`. */
#include "tool/reading.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/tools.h"
#include "tool/spelling.h"

/* ---- lists of changes -------------------------------------------------------- */

/* A list with one change becomes a call of the tool for it, so that its rules, questions and
 * answers apply. */
static void take_changes(struct reading *reading, json_t *changes)
{
	json_t *only = json_array_size(changes) == 1 ? json_array_get(changes, 0) : NULL;
	const struct tool_info *alone =
		tool_info_of_change(json_span(json_object_get(only, "kind")));

	if (alone) {
		json_t *copy = json_copy(only);

		json_object_del(copy, "kind");
		reading_take(reading, alone->name, copy);
		json_decref(changes);
		return;
	}
	reading_take(reading, tool_name(TOOL_APPLY_CHANGES),
	             json_pack("{s:o}", "changes", changes));
}

/* What the state of a file is called. */
#define BASE_NAMES "base_content_sha256 base_sha256 sha256"

/* The state that a change or a call names; borrowed, or NULL. */
static json_t *named_base(const json_t *object)
{
	json_t *named = reading_member(object, BASE_NAMES);

	return json_is_null(named) || span_eq(json_span(named), SPAN("")) ? NULL : named;
}

/* The state that a change is made on: what the change or the call names, else what was seen. */
static void name_base(const struct reading *reading, json_t *change)
{
	json_t *named = named_base(reading->args);

	if (named_base(change))
		return;
	if (named)
		json_object_set(change, "base_content_sha256", named);
	else
		json_object_set_new(change, "base_content_sha256", json_string(BASE_SEEN));
}

/* One of a list of edits: its texts, by any of their names. */
static json_t *edit_change(const json_t *edit, json_t *path)
{
	json_auto_t *members = reading_snake(edit, NULL);
	json_t *old = reading_member(members, "old_string old_content old_text old_str search");
	json_t *new = reading_member(members, "new_string new_content new_text new_str replace");
	json_t *all = reading_member(members, "replace_all allow_multiple");
	json_t *count = reading_member(members, "expected_replacements expected_matches");
	json_t *change;

	if (!old || !new)
		return NULL;
	change = json_pack("{s:s, s:O, s:O, s:O}", "kind", "update", "file_path", path,
	                   "old_content", old, "new_content", new);
	if (all)
		json_object_set(change, "allow_multiple", all);
	if (count)
		json_object_set(change, "expected_matches", count);
	return change;
}

/* MultiEdit: {file_path, edits: [{old_string, new_string, replace_all}]}, made in order. */
bool reading_edits(struct reading *reading)
{
	json_t *edits = json_object_get(reading->args, "edits"), *edit;
	json_t *path = reading_member(reading->args, READING_PATHS), *changes;
	size_t i;

	if (!json_is_array(edits) || !json_array_size(edits) || !path)
		return reading_refuse(reading, "give file_path and edits, a list of {old_string, "
		                        "new_string}");
	changes = json_array();
	json_array_foreach(edits, i, edit) {
		json_t *change = edit_change(edit, path);

		if (!change) {
			buf_printf(reading->problems, "edits[%zu] needs old_string and new_string",
			           i);
			json_decref(changes);
			return false;
		}
		if (!i)
			name_base(reading, change);
		json_array_append_new(changes, change);
	}
	take_changes(reading, changes);
	return true;
}

/* Edit and its like. */
bool reading_edit(struct reading *reading)
{
	json_t *args = reading->args;

	if (json_object_get(args, "edits"))
		return reading_edits(reading);
	if (json_object_get(args, "code_edit"))
		return reading_refuse(reading, "code_edit leaves text out, and hasp does not guess "
		                               "what: give old_string and new_string");
	if (!reading_member(args, "new_string new_content new_text new_str") &&
	    reading_member(args, "old_string old_content old_text old_str"))
		return reading_refuse(reading, "new_string is missing; \"\" deletes old_string");
	name_base(reading, args);
	return true;
}

bool reading_write(struct reading *reading)
{
	name_base(reading, reading->args);
	return true;
}

bool reading_delete(struct reading *reading)
{
	json_t *path = reading_member(reading->args, READING_PATHS);
	json_t *change;

	if (!path)
		return reading_refuse(reading, "give file_path");
	change = json_pack("{s:s, s:O}", "kind", "delete", "file_path", path);
	name_base(reading, change);
	reading_take(reading, tool_name(TOOL_APPLY_CHANGES),
	             json_pack("{s:[o]}", "changes", change));
	return true;
}

/* ---- patches ----------------------------------------------------------------- */

/* The state that a call names next to an envelope is that of the envelope's one file; false: it has
 * several. */
static bool name_base_of_one(const struct reading *reading, json_t *changes)
{
	json_t *named = named_base(reading->args);
	json_t *first = json_array_get(changes, 0), *change;
	size_t i;

	if (!named)
		return true;
	json_array_foreach(changes, i, change)
		if (!json_equal(json_object_get(change, "file_path"),
		                json_object_get(first, "file_path")))
			return false;
	return json_object_set(first, "base_content_sha256", named) == 0;
}

bool reading_envelope(struct reading *reading, struct span text, struct span folder)
{
	json_t *changes = envelope_changes(text, folder, reading->problems);

	if (!changes)
		return false;
	if (!name_base_of_one(reading, changes)) {
		json_decref(changes);
		return reading_refuse(reading, "base_content_sha256 names the state of one file, "
		                               "and the patch has several: leave it out");
	}
	take_changes(reading, changes);
	return true;
}

/* {input} or {patch}; each product has its own name for the parameter. */
bool reading_patch(struct reading *reading)
{
	json_t *text = reading_member(reading->args, "input patch patch_text diff unified_diff "
	                                             "content arguments");
	json_t *path = reading_member(reading->args, READING_PATHS), *change;

	if (json_object_get(reading->args, "changes"))
		return true;
	if (json_is_array(text)) /* ["apply_patch", "*** Begin Patch..."] */
		text = json_array_get(text, json_array_size(text) - 1);
	if (!json_is_string(text))
		return reading_refuse(reading, "give input: the patch from *** Begin Patch to "
		                        "*** End Patch");
	if (envelope_is(json_span(text)) || !path)
		return reading_envelope(reading, json_span(text), span_of("", 0));
	change = json_pack("{s:O, s:O}", "file_path", path, "unified_diff", text);
	name_base(reading, change);
	reading_take(reading, tool_name(TOOL_SAFE_PATCH), change);
	return true;
}

/* ---- SEARCH and REPLACE ------------------------------------------------------ */

struct edit_block {
	struct span old, new;
};

static bool is_block_mark(struct span line, char sign, const char *word)
{
	size_t len = 0;

	line = span_trim(line);
	while (len < line.len && line.data[len] == sign)
		len++;
	line = span_trim(span_skip(line, len));
	if (*word && span_ends(line, SPAN(">")))
		line = span_trim(span_head(line, line.len - 1));
	return len >= 5 && span_eq(line, span_str(word));
}

/* Takes lines up to one that is the fence; false: none. */
static bool lines_before(struct span *rest, char sign, char other, const char *word,
                         struct span *ret)
{
	const struct span all = *rest;
	struct span line;

	while (line_next(rest, &line))
		if (is_block_mark(line, sign, word) ||
		    (other && is_block_mark(line, other, word))) {
			*ret = span_head(all, (size_t)(line.data - all.data));
			return true;
		}
	return false;
}

/* Cline's replace_in_file: "------- SEARCH", "=======", "+++++++ REPLACE"; git's marks, too. */
bool reading_blocks(struct reading *reading)
{
	json_t *path = reading_member(reading->args, READING_PATHS), *changes;
	struct span rest = json_span(json_object_get(reading->args, "diff")), before;
	struct edit_block block;

	if (!path || !rest.len)
		return reading_edit(reading);
	changes = json_array();
	while (lines_before(&rest, '-', '<', "SEARCH", &before)) {
		json_t *change;

		if (!lines_before(&rest, '=', '\0', "", &block.old) ||
		    !lines_before(&rest, '+', '>', "REPLACE", &block.new)) {
			json_decref(changes);
			return reading_refuse(reading, "diff: a block after ------- SEARCH has no "
			                        "======= or no +++++++ REPLACE");
		}
		change = json_pack("{s:s, s:O, s:o, s:o}", "kind", "update", "file_path", path,
		                   "old_content", json_text(block.old), "new_content",
		                   json_text(block.new));
		if (!json_array_size(changes))
			name_base(reading, change);
		json_array_append_new(changes, change);
	}
	if (json_array_size(changes)) {
		take_changes(reading, changes);
		return true;
	}
	json_decref(changes);
	return reading_refuse(reading, "diff has no block ------- SEARCH, =======, +++++++ "
	                               "REPLACE");
}

/* ---- editors with a command -------------------------------------------------- */

/* {command: "view", path, view_range: [first, last]}; a last of -1 is the end. */
bool reading_view(struct reading *reading)
{
	const json_t *range = json_object_get(reading->args, "view_range");
	const json_int_t last = json_integer_value(json_array_get(range, 1));
	json_t *path = reading_member(reading->args, READING_PATHS);
	const struct span name = json_span(path);
	json_t *args;

	if (!path)
		return reading_refuse(reading, "give path");
	if (span_eq(name, SPAN(".")) || span_ends(name, SPAN("/"))) {
		reading_take(reading, tool_name(TOOL_LIST_DIRECTORY),
		             json_pack("{s:O}", "path", path));
		return true;
	}
	args = json_pack("{s:O}", "file_path", path);
	if (json_is_array(range) && json_array_get(range, 0))
		json_object_set(args, "start_line", json_array_get(range, 0));
	if (last > 0)
		json_object_set_new(args, "end_line", json_integer(last));
	reading_take(reading, tool_name(TOOL_READ_FILE), args);
	return true;
}

/* Lines after line N, 0 for the beginning: a patch, once the lines around are known
 * (editor_expand_insert). */
static bool read_insert(struct reading *reading)
{
	json_t *at = json_object_get(reading->args, "insert_line");
	json_t *text = reading_member(reading->args, "insert_text new_str new_string text");
	json_t *path = reading_member(reading->args, READING_PATHS), *change;

	if (!path || !at || !json_string_length(text))
		return reading_refuse(reading, "insert needs path, insert_line (0: the beginning) "
		                               "and insert_text");
	change = json_pack("{s:O, s:O, s:O}", "file_path", path, "insert_line", at, "insert_text",
	                   text);
	name_base(reading, change);
	reading_take(reading, tool_name(TOOL_SAFE_PATCH), change);
	return true;
}

static bool read_command_replace(struct reading *reading)
{
	if (!json_object_get(reading->args, "new_str") &&
	    !reading_member(reading->args, "new_string new_content"))
		json_object_set_new(reading->args, "new_content", json_string(""));
	json_object_del(reading->args, "command");
	reading->tool = tool_name(TOOL_UPDATE_FILE);
	return reading_edit(reading);
}

static bool read_command_create(struct reading *reading)
{
	json_object_del(reading->args, "command");
	reading_rename(reading, "file_text", "content");
	reading->tool = tool_name(TOOL_WRITE_FILE);
	return reading_write(reading);
}

static bool read_command_undo(struct reading *reading)
{
	return reading_refuse(reading, "undo_edit is not available: replace the new text by the "
	                               "old one (str_replace)");
}

bool reading_commands(struct reading *reading)
{
	static const struct {
		const char *name;
		bool (*read)(struct reading *reading);
	} commands[] = {
		{ "view", reading_view },
		{ "create", read_command_create },
		{ "str_replace", read_command_replace },
		{ "insert", read_insert },
		{ "undo_edit", read_command_undo },
	};
	const struct span command = json_span(json_object_get(reading->args, "command"));

	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (span_eq(command, span_str(commands[i].name)))
			return commands[i].read(reading);
	if (command.len)
		return reading_refuse(reading, "command must be view, create, str_replace or "
		                               "insert");
	return reading_edit(reading);
}
