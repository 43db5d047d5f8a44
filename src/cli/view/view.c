/* SPDX-License-Identifier: Apache-2.0 */
/* Results for people: files, edits, folders; what was found is in found.c. */
#include "cli/view/view.h"

#include <string.h>

#include "base/text.h"
#include "cli/view/command.h"
#include "cli/view/parts.h"
#include "cli/view/render.h"
#include "data/json.h"

/* Files */

static void content_lines(const struct shown *s, struct span text, json_int_t first)
{
	struct span line;

	for (json_int_t number = first > 0 ? first : 1; line_next(&text, &line); number++) {
		shown_style(s, STYLE_DIM);
		buf_printf(s->out, "%6" JSON_INTEGER_FORMAT "  ", number);
		shown_plain(s);
		render_safe(s->out, line_body(line));
		buf_char(s->out, '\n');
	}
}

/* The path, then what identifies its state. */
static void state_lines(const struct shown *s, const json_t *state)
{
	struct span sha256 = member_text(state, "sha256");

	shown_style(s, STYLE_NAME);
	shown_line(s, member_text(state, "file_path"));
	shown_plain(s);
	buf_char(s->out, '\n');
	shown_style(s, STYLE_DIM);
	if (sha256.data) {
		buf_printf(s->out, "version %" JSON_INTEGER_FORMAT ", sha256 ",
		           member_number(state, "version"));
		shown_line(s, sha256);
	} else {
		bool missing = json_is_false(json_object_get(state, "exists"));

		buf_str(s->out, missing ? "there is no such file" : "its state is unknown");
	}
	shown_plain(s);
	buf_char(s->out, '\n');
}

static void file_facts(const struct shown *s, const json_t *file)
{
	static const char *const facts[] = { "mime_type", "encoding", "line_endings" };

	shown_style(s, STYLE_DIM);
	if (json_object_get(file, "total_lines"))
		buf_printf(s->out, "lines %" JSON_INTEGER_FORMAT "-%" JSON_INTEGER_FORMAT
		           " of %" JSON_INTEGER_FORMAT,
		           member_number(file, "start_line"), member_number(file, "end_line"),
		           member_number(file, "total_lines"));
	else
		buf_printf(s->out, "%" JSON_INTEGER_FORMAT " bytes", member_number(file, "size"));
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		struct span fact = member_text(file, facts[i]);

		if (!fact.len)
			continue;
		buf_str(s->out, ", ");
		shown_line(s, fact);
	}
	shown_plain(s);
	buf_char(s->out, '\n');
}

static void show_file(const struct shown *s, const json_t *file)
{
	state_lines(s, file);
	file_facts(s, file);
	content_lines(s, member_text(file, "content"), member_number(file, "start_line"));
	shown_message(s, member_text(file, "message"));
}

/* Edits */

static void show_hunk(const struct shown *s, const json_t *hunk)
{
	json_int_t line = member_number(hunk, "line");
	json_int_t stated = member_number(hunk, "stated_line");

	buf_printf(s->out, "hunk %" JSON_INTEGER_FORMAT ": line %" JSON_INTEGER_FORMAT,
	           member_number(hunk, "hunk"), line);
	if (stated && stated != line)
		buf_printf(s->out, " (the diff said %" JSON_INTEGER_FORMAT ")", stated);
	buf_str(s->out, ", match ");
	shown_line(s, member_text(hunk, "matched"));
	buf_str(s->out, ", settled by ");
	shown_line(s, member_text(hunk, "settled_by"));
	buf_printf(s->out, ", +%" JSON_INTEGER_FORMAT " -%" JSON_INTEGER_FORMAT "\n",
	           member_number(hunk, "added"), member_number(hunk, "removed"));
}

static void show_candidates(const struct shown *s, const json_t *error)
{
	const json_t *candidates = json_object_get(error, "candidates");
	json_int_t more = member_number(error, "candidates_total") -
	                  (json_int_t)json_array_size(candidates);
	size_t i;
	json_t *candidate;

	json_array_foreach(candidates, i, candidate) {
		buf_str(s->out, i ? ", line " : "candidates: line ");
		buf_printf(s->out, "%" JSON_INTEGER_FORMAT, member_number(candidate, "line"));
		if (json_object_get(candidate, "lines_equal"))
			buf_printf(s->out, " (%" JSON_INTEGER_FORMAT " lines equal)",
			           member_number(candidate, "lines_equal"));
	}
	if (more > 0)
		buf_printf(s->out, " and %" JSON_INTEGER_FORMAT " more", more);
	if (json_array_size(candidates))
		buf_char(s->out, '\n');
}

/* "label 3, 7, 9" for an array of numbers. */
static void show_lines(const struct shown *s, const char *label, const json_t *lines)
{
	size_t i;
	json_t *line;

	json_array_foreach(lines, i, line)
		buf_printf(s->out, "%s %" JSON_INTEGER_FORMAT, i ? "," : label,
		           json_integer_value(line));
	if (json_array_size(lines))
		buf_char(s->out, '\n');
}

/* The word for how it went, and the sentence. */
static void show_status(const struct shown *s, const json_t *result, const json_t *error)
{
	bool failed = json_is_false(json_object_get(result, "success")) || error;
	struct span message = member_text(result, "message");

	if (failed) {
		shown_style(s, STYLE_BAD);
		buf_str(s->out, "failed");
		if (member_text(error, "code").len) {
			buf_str(s->out, " (");
			shown_line(s, member_text(error, "code"));
			buf_char(s->out, ')');
		}
		shown_plain(s);
	} else {
		shown_styled(s, STYLE_GOOD, "ok");
	}
	buf_str(s->out, ": ");
	shown_message(s, message.data ? message : member_text(error, "message"));
}

static void show_error(const struct shown *s, const json_t *error)
{
	struct span found = member_text(error, "found");

	shown_labelled(s, "the diff has", member_text(error, "expected"));
	if (found.data && json_object_get(error, "found_line")) {
		shown_styled(s, STYLE_DIM, "line ");
		buf_printf(s->out, "%" JSON_INTEGER_FORMAT " ", member_number(error, "found_line"));
	}
	shown_labelled(s, "the file has", found);
	show_candidates(s, error);
	show_lines(s, "it is at line", json_object_get(error, "match_lines"));
	shown_labelled(s, "what to do", member_text(error, "advice"));
}

static void show_counts(const struct shown *s, const json_t *result)
{
	if (!json_object_get(result, "lines_added"))
		return;
	if (json_is_true(json_object_get(result, "dry_run")))
		buf_str(s->out, "dry run, ");
	if (json_is_true(json_object_get(result, "created")))
		buf_str(s->out, "created, ");
	buf_printf(s->out, "+%" JSON_INTEGER_FORMAT " -%" JSON_INTEGER_FORMAT " lines\n",
	           member_number(result, "lines_added"), member_number(result, "lines_removed"));
}

static void show_result(const struct shown *s, const json_t *result);

/* The result of one change, or of several in `changes`. */
static void show_edit(const struct shown *s, const json_t *result)
{
	const json_t *error = json_object_get(result, "error");
	const json_t *state = json_object_get(result, "latest_file_state");
	struct span diff = member_text(result, "diff");
	size_t i;
	json_t *item;

	show_status(s, result, json_is_object(error) ? error : NULL);
	show_error(s, error);
	if (json_is_object(state))
		state_lines(s, state);
	else
		shown_labelled(s, "file", member_text(result, "file_path"));
	shown_labelled(s, "moved from", member_text(result, "moved_from"));
	show_counts(s, result);
	shown_labelled(s, "note", member_text(result, "note"));
	json_array_foreach(json_object_get(result, "hunks"), i, item)
		show_hunk(s, item);
	if (diff.len)
		render_diff(s->out, diff, s->view->colour, s->view->width);
	json_array_foreach(json_object_get(result, "changes"), i, item) {
		buf_char(s->out, '\n');
		show_result(s, item);
	}
}

/* Folders */

static size_t longest_name(const json_t *entries)
{
	size_t longest = 0, i;
	json_t *entry;

	json_array_foreach(entries, i, entry) {
		size_t len = member_text(entry, "name").len;

		if (len > longest && len <= 60)
			longest = len;
	}
	return longest;
}

static void show_entry(const struct shown *s, const json_t *entry, size_t column)
{
	struct span name = member_text(entry, "name");
	struct span kind = member_text(entry, "kind");
	bool folder = span_eq(kind, SPAN("folder"));

	if (folder)
		shown_style(s, STYLE_FOLDER);
	shown_line(s, name);
	if (folder) {
		shown_plain(s);
		buf_char(s->out, '/');
	} else if (span_eq(kind, SPAN("link"))) {
		buf_char(s->out, '@');
	} else if (json_object_get(entry, "size")) {
		for (size_t pad = name.len; pad < column; pad++)
			buf_char(s->out, ' ');
		buf_printf(s->out, "  %12" JSON_INTEGER_FORMAT, member_number(entry, "size"));
	}
	buf_char(s->out, '\n');
}

static void show_folder(const struct shown *s, const json_t *result)
{
	const json_t *entries = json_object_get(result, "entries");
	size_t column = longest_name(entries);
	size_t i;
	json_t *entry;

	shown_style(s, STYLE_NAME);
	shown_line(s, member_text(result, "path"));
	shown_plain(s);
	buf_char(s->out, '\n');
	json_array_foreach(entries, i, entry)
		show_entry(s, entry, column);
	if (member_number(result, "ignored"))
		buf_printf(s->out, "(%" JSON_INTEGER_FORMAT " left out by ignore files)\n",
		           member_number(result, "ignored"));
	shown_message(s, member_text(result, "message"));
}

/* Anything else */

static void show_json(const struct shown *s, const json_t *result)
{
	_cleanup_buf_ struct buf text = BUF_INIT(s->out->max);
	struct span rest, line;

	json_print(&text, result, 2);
	rest = buf_view(&text);
	while (line_next(&rest, &line)) {
		render_safe(s->out, line_body(line));
		buf_char(s->out, '\n');
	}
}

static void show_result(const struct shown *s, const json_t *result)
{
	if (view_is_command(result))
		view_command(s, result);
	else if (json_object_get(result, "success") || json_object_get(result, "error"))
		show_edit(s, result);
	else if (json_is_array(json_object_get(result, "files")))
		view_found(s, result);
	else if (json_is_array(json_object_get(result, "entries")))
		show_folder(s, result);
	else if (json_object_get(result, "sha256"))
		show_file(s, result);
	else
		show_json(s, result);
}

/* Whether the caller says something about the parameter, also in other words. */
static bool is_given(const struct tool *tool, const json_t *arguments, const char *name)
{
	for (const struct tool_switch *row = tool->switches; row && row->alias; row++)
		if (strcmp(row->name, name) == 0 && json_object_get(arguments, row->alias))
			return true;
	return json_object_get(arguments, name) != NULL;
}

void view_prepare(const struct tool *tool, json_t *arguments)
{
	static const struct {
		const char *parameter, *value;
	} wanted[] = {
		{ "return_content", "diff" },
		{ "output", "detailed" },
	};
	json_t *schema = json_loads(tool->arguments_schema, 0, NULL);
	const json_t *properties = json_object_get(schema, "properties");

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const char *name = wanted[i].parameter;

		if (json_object_get(properties, name) && !is_given(tool, arguments, name))
			json_object_set_new(arguments, name, json_string(wanted[i].value));
	}
	json_decref(schema);
}

bool view_result(struct buf *out, const json_t *result, const struct view *view)
{
	struct shown s = { out, view };
	size_t i;
	json_t *item;

	if (!json_is_array(result)) {
		show_result(&s, result);
		return !out->overflowed;
	}
	json_array_foreach(result, i, item) {
		if (i)
			buf_char(out, '\n');
		show_result(&s, item);
	}
	return !out->overflowed;
}
