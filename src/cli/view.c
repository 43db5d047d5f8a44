/* SPDX-License-Identifier: Apache-2.0 */
/* Results for people: files, edits, folders. */
#include "cli/view.h"

#include <string.h>

#include "base/text.h"
#include "cli/render.h"
#include "data/json.h"

enum style { STYLE_NAME, STYLE_DIM, STYLE_GOOD, STYLE_BAD, STYLE_FOLDER };

/* SGR parameters (ECMA-48, 8.3.117). */
static const char *const styles[] = {
	[STYLE_NAME] = "1", [STYLE_DIM] = "2", [STYLE_GOOD] = "1;32", [STYLE_BAD] = "1;31",
	[STYLE_FOLDER] = "1;34",
};

/* One thing to show; nested results are shown by the same functions. */
struct shown {
	struct buf *out;
	const struct view *view;
};

static void style_on(const struct shown *s, enum style style)
{
	if (s->view->colour)
		buf_printf(s->out, "\033[%sm", styles[style]);
}

static void style_off(const struct shown *s)
{
	if (s->view->colour)
		buf_str(s->out, "\033[0m");
}

static void styled(const struct shown *s, enum style style, const char *own_text)
{
	style_on(s, style);
	buf_str(s->out, own_text);
	style_off(s);
}

/* Foreign text that must stay on its line: a line feed becomes visible. */
static void one_line(const struct shown *s, struct span text)
{
	struct span line;

	while (line_next(&text, &line)) {
		bool broken = span_ends(line, SPAN("\n"));

		render_safe(s->out, broken ? span_head(line, line.len - 1) : line);
		if (broken && text.len)
			buf_str(s->out, "\\n");
	}
}

static struct span text_of(const json_t *object, const char *key)
{
	return json_span(json_object_get(object, key));
}

static json_int_t number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* "label: text" on its own line, if there is such a text. */
static void labelled(const struct shown *s, const char *label, struct span text)
{
	if (!text.data)
		return;
	styled(s, STYLE_DIM, label);
	buf_str(s->out, ": ");
	one_line(s, text);
	buf_char(s->out, '\n');
}

/* A message may name a file, and so hold anything. */
static void message_line(const struct shown *s, struct span text)
{
	if (!text.len)
		return;
	one_line(s, text);
	buf_char(s->out, '\n');
}

/* Files */

static void content_lines(const struct shown *s, struct span text, json_int_t first)
{
	struct span line;

	for (json_int_t number = first > 0 ? first : 1; line_next(&text, &line); number++) {
		style_on(s, STYLE_DIM);
		buf_printf(s->out, "%6" JSON_INTEGER_FORMAT "  ", number);
		style_off(s);
		render_safe(s->out, line_body(line));
		buf_char(s->out, '\n');
	}
}

/* The path, then what identifies its state. */
static void state_lines(const struct shown *s, const json_t *state)
{
	struct span sha256 = text_of(state, "sha256");

	style_on(s, STYLE_NAME);
	one_line(s, text_of(state, "file_path"));
	style_off(s);
	buf_char(s->out, '\n');
	style_on(s, STYLE_DIM);
	if (sha256.data) {
		buf_printf(s->out, "version %" JSON_INTEGER_FORMAT ", sha256 ",
		           number_of(state, "version"));
		one_line(s, sha256);
	} else {
		bool missing = json_is_false(json_object_get(state, "exists"));

		buf_str(s->out, missing ? "there is no such file" : "its state is unknown");
	}
	style_off(s);
	buf_char(s->out, '\n');
}

static void file_facts(const struct shown *s, const json_t *file)
{
	static const char *const facts[] = { "mime_type", "encoding", "line_endings" };

	style_on(s, STYLE_DIM);
	if (json_object_get(file, "total_lines"))
		buf_printf(s->out, "lines %" JSON_INTEGER_FORMAT "-%" JSON_INTEGER_FORMAT
		           " of %" JSON_INTEGER_FORMAT,
		           number_of(file, "start_line"), number_of(file, "end_line"),
		           number_of(file, "total_lines"));
	else
		buf_printf(s->out, "%" JSON_INTEGER_FORMAT " bytes", number_of(file, "size"));
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		struct span fact = text_of(file, facts[i]);

		if (!fact.len)
			continue;
		buf_str(s->out, ", ");
		one_line(s, fact);
	}
	style_off(s);
	buf_char(s->out, '\n');
}

static void show_file(const struct shown *s, const json_t *file)
{
	state_lines(s, file);
	file_facts(s, file);
	content_lines(s, text_of(file, "content"), number_of(file, "start_line"));
	message_line(s, text_of(file, "message"));
}

/* Edits */

static void show_hunk(const struct shown *s, const json_t *hunk)
{
	json_int_t line = number_of(hunk, "line");
	json_int_t stated = number_of(hunk, "stated_line");

	buf_printf(s->out, "hunk %" JSON_INTEGER_FORMAT ": line %" JSON_INTEGER_FORMAT,
	           number_of(hunk, "hunk"), line);
	if (stated && stated != line)
		buf_printf(s->out, " (the diff said %" JSON_INTEGER_FORMAT ")", stated);
	buf_str(s->out, ", match ");
	one_line(s, text_of(hunk, "matched"));
	buf_str(s->out, ", settled by ");
	one_line(s, text_of(hunk, "settled_by"));
	buf_printf(s->out, ", +%" JSON_INTEGER_FORMAT " -%" JSON_INTEGER_FORMAT "\n",
	           number_of(hunk, "added"), number_of(hunk, "removed"));
}

static void show_candidates(const struct shown *s, const json_t *error)
{
	const json_t *candidates = json_object_get(error, "candidates");
	json_int_t more = number_of(error, "candidates_total") -
	                  (json_int_t)json_array_size(candidates);
	size_t i;
	json_t *candidate;

	json_array_foreach(candidates, i, candidate) {
		buf_str(s->out, i ? ", line " : "candidates: line ");
		buf_printf(s->out, "%" JSON_INTEGER_FORMAT, number_of(candidate, "line"));
		if (json_object_get(candidate, "lines_equal"))
			buf_printf(s->out, " (%" JSON_INTEGER_FORMAT " lines equal)",
			           number_of(candidate, "lines_equal"));
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
	struct span message = text_of(result, "message");

	if (failed) {
		style_on(s, STYLE_BAD);
		buf_str(s->out, "failed");
		if (text_of(error, "code").len) {
			buf_str(s->out, " (");
			one_line(s, text_of(error, "code"));
			buf_char(s->out, ')');
		}
		style_off(s);
	} else {
		styled(s, STYLE_GOOD, "ok");
	}
	buf_str(s->out, ": ");
	message_line(s, message.data ? message : text_of(error, "message"));
}

static void show_error(const struct shown *s, const json_t *error)
{
	struct span found = text_of(error, "found");

	labelled(s, "the diff has", text_of(error, "expected"));
	if (found.data && json_object_get(error, "found_line")) {
		styled(s, STYLE_DIM, "line ");
		buf_printf(s->out, "%" JSON_INTEGER_FORMAT " ", number_of(error, "found_line"));
	}
	labelled(s, "the file has", found);
	show_candidates(s, error);
	show_lines(s, "it is at line", json_object_get(error, "match_lines"));
	labelled(s, "what to do", text_of(error, "advice"));
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
	           number_of(result, "lines_added"), number_of(result, "lines_removed"));
}

static void show_result(const struct shown *s, const json_t *result);

/* The result of one change, or of several in `changes`. */
static void show_edit(const struct shown *s, const json_t *result)
{
	const json_t *error = json_object_get(result, "error");
	const json_t *state = json_object_get(result, "latest_file_state");
	struct span diff = text_of(result, "diff");
	size_t i;
	json_t *item;

	show_status(s, result, json_is_object(error) ? error : NULL);
	show_error(s, error);
	if (json_is_object(state))
		state_lines(s, state);
	else
		labelled(s, "file", text_of(result, "file_path"));
	labelled(s, "moved from", text_of(result, "moved_from"));
	show_counts(s, result);
	labelled(s, "note", text_of(result, "note"));
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
		size_t len = text_of(entry, "name").len;

		if (len > longest && len <= 60)
			longest = len;
	}
	return longest;
}

static void show_entry(const struct shown *s, const json_t *entry, size_t column)
{
	struct span name = text_of(entry, "name");
	struct span kind = text_of(entry, "kind");
	bool folder = span_eq(kind, SPAN("folder"));

	if (folder)
		style_on(s, STYLE_FOLDER);
	one_line(s, name);
	if (folder) {
		style_off(s);
		buf_char(s->out, '/');
	} else if (span_eq(kind, SPAN("link"))) {
		buf_char(s->out, '@');
	} else if (json_object_get(entry, "size")) {
		for (size_t pad = name.len; pad < column; pad++)
			buf_char(s->out, ' ');
		buf_printf(s->out, "  %12" JSON_INTEGER_FORMAT, number_of(entry, "size"));
	}
	buf_char(s->out, '\n');
}

static void show_folder(const struct shown *s, const json_t *result)
{
	const json_t *entries = json_object_get(result, "entries");
	size_t column = longest_name(entries);
	size_t i;
	json_t *entry;

	style_on(s, STYLE_NAME);
	one_line(s, text_of(result, "path"));
	style_off(s);
	buf_char(s->out, '\n');
	json_array_foreach(entries, i, entry)
		show_entry(s, entry, column);
	if (number_of(result, "ignored"))
		buf_printf(s->out, "(%" JSON_INTEGER_FORMAT " left out by ignore files)\n",
		           number_of(result, "ignored"));
	message_line(s, text_of(result, "message"));
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
	if (json_object_get(result, "success") || json_object_get(result, "error"))
		show_edit(s, result);
	else if (json_is_array(json_object_get(result, "entries")))
		show_folder(s, result);
	else if (json_object_get(result, "sha256"))
		show_file(s, result);
	else
		show_json(s, result);
}

void view_prepare(const struct tool *tool, json_t *arguments)
{
	json_t *schema = json_loads(tool->arguments_schema, 0, NULL);

	if (json_object_get(json_object_get(schema, "properties"), "return_content") &&
	    !json_object_get(arguments, "return_content"))
		json_object_set_new(arguments, "return_content", json_string("diff"));
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
