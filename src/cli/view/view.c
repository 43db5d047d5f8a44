/* SPDX-License-Identifier: Apache-2.0 */
/* Results for people: files, edits, folders, commands, what was found. */
#include "cli/view/view.h"

#include <string.h>

#include "base/text.h"
#include "data/json.h"
#include "tool/denial.h"

/* What the views of results are made of. Private to view.c and view.c. */

enum style { STYLE_NAME, STYLE_DIM, STYLE_GOOD, STYLE_BAD, STYLE_FOLDER, STYLE_NUMBER };

/* One thing to show; nested results are shown by the same functions. */
struct shown {
	struct buf *out;
	const struct view *view;
};

/* ---- parts ------------------------------------------------------------------- */

/* SGR parameters (ECMA-48, 8.3.117). */
static const char *const styles[] = {
	[STYLE_NAME] = "1",      [STYLE_DIM] = "2",       [STYLE_GOOD] = "1;32",
	[STYLE_BAD] = "1;31",    [STYLE_FOLDER] = "1;34", [STYLE_NUMBER] = "32",
};

/* Begins a style, if there are colours, and ends it. */
static void shown_style(const struct shown *s, enum style style)
{
	if (s->view->colour)
		buf_printf(s->out, "\033[%sm", styles[style]);
}

static void shown_plain(const struct shown *s)
{
	if (s->view->colour)
		buf_str(s->out, "\033[0m");
}

static void shown_styled(const struct shown *s, enum style style, const char *own_text)
{
	shown_style(s, style);
	buf_str(s->out, own_text);
	shown_plain(s);
}

/* Foreign text that must stay on its line: a line feed becomes visible. */
static void shown_line(const struct shown *s, struct span text)
{
	struct span line;

	while (line_next(&text, &line)) {
		bool broken = span_ends(line, SPAN("\n"));

		render_safe(s->out, broken ? span_head(line, line.len - 1) : line);
		if (broken && text.len)
			buf_str(s->out, "\\n");
	}
}

/* The member of an object; empty or 0 when it has none of that type. */
static struct span view_member_text(const json_t *object, const char *key)
{
	return json_span(json_object_get(object, key));
}

static json_int_t member_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* "label: text" on its own line, if there is such a text. */
static void shown_labelled(const struct shown *s, const char *label, struct span text)
{
	if (!text.data)
		return;
	shown_styled(s, STYLE_DIM, label);
	buf_str(s->out, ": ");
	shown_line(s, text);
	buf_char(s->out, '\n');
}

/* A message may name a file, and so hold anything. */
static void shown_message(const struct shown *s, struct span text)
{
	if (!text.len)
		return;
	shown_line(s, text);
	buf_char(s->out, '\n');
}

/* ---- commands ---------------------------------------------------------------- */

static void view_command(const struct shown *s, const json_t *result)
{
	const json_t *denials = json_object_get(result, "denials");
	struct span log = view_member_text(result, "log_path");
	size_t i;
	json_t *denial;

	if (!s->view->output_shown) {
		struct span text = view_member_text(result, "output");
		struct span line;

		while (line_next(&text, &line)) {
			if (denial_is_imitated(line))
				buf_str(s->out, DENIAL_QUOTE);
			render_safe(s->out, line_body(line));
			buf_char(s->out, '\n');
		}
	}
	shown_message(s, view_member_text(result, "message"));
	json_array_foreach(denials, i, denial) {
		shown_styled(s, STYLE_BAD, "denied: ");
		shown_line(s, view_member_text(denial, "message"));
		buf_char(s->out, '\n');
	}
	shown_labelled(s, "all of the output", log);
}

/* ---- what was found ---------------------------------------------------------- */

/* What was found, for people: in the layout of grep and its successors on a terminal, the
 * file's name above its lines, numbers before them and the match in colour. */

#define MATCH_STYLE "\033[1;31m"

/* The bytes of the first `count` characters. */
static size_t bytes_of_characters(struct span text, json_int_t count)
{
	size_t at = 0;

	for (; at < text.len; at++) {
		if (((unsigned char)text.data[at] & 0xc0) != 0x80 && count-- <= 0)
			break;
	}
	return at;
}

static void put_number(const struct shown *s, struct span number, char mark)
{
	shown_style(s, STYLE_NUMBER);
	buf_span(s->out, number);
	shown_plain(s);
	buf_char(s->out, mark);
}

/* A line with where its match is; cells keep the columns of tabs across the pieces. */
static void show_detailed(const struct shown *s, const json_t *line)
{
	const struct span text = view_member_text(line, "text");
	const bool match = json_object_get(line, "start") != NULL;
	const size_t start = bytes_of_characters(text, member_number(line, "start"));
	const size_t end = bytes_of_characters(text, member_number(line, "end"));
	struct cells cells = { .out = s->out };
	_cleanup_buf_ struct buf number = BUF_INIT(64);

	buf_printf(&number, "%" JSON_INTEGER_FORMAT, member_number(line, "line"));
	put_number(s, buf_view(&number), match ? ':' : '-');
	render_cells_text(&cells, span_head(text, match ? start : text.len));
	if (match && end > start) {
		render_cells_style(&cells, s->view->colour ? MATCH_STYLE : NULL);
		render_cells_text(&cells, span_head(span_skip(text, start), end - start));
		render_cells_style(&cells, NULL);
	}
	if (match)
		render_cells_text(&cells, span_skip(text, end > start ? end : start));
	buf_char(s->out, '\n');
}

/* "12:text", "13-text" or "--". */
static void show_match_line(const struct shown *s, struct span line)
{
	struct cells cells = { .out = s->out };
	size_t digits = span_digits(line);

	if (digits > 0 && digits < line.len) {
		put_number(s, span_head(line, digits), line.data[digits]);
		line = span_skip(line, digits + 1);
	}
	render_cells_text(&cells, line);
	buf_char(s->out, '\n');
}

/* Lines with context: "--" where numbers do not follow each other. */
static void found_show_lines(const struct shown *s, const json_t *lines)
{
	json_int_t last = 0;
	bool context = false;
	size_t i;
	json_t *line;

	json_array_foreach(lines, i, line)
		context |= json_is_object(line) && !json_object_get(line, "start");
	json_array_foreach(lines, i, line) {
		if (json_is_string(line)) {
			show_match_line(s, json_span(line));
			continue;
		}
		if (context && i > 0 && member_number(line, "line") > last + 1) {
			shown_styled(s, STYLE_DIM, "--");
			buf_char(s->out, '\n');
		}
		last = member_number(line, "line");
		show_detailed(s, line);
	}
}

/* What is known of a file besides its lines, after its name. */
static void show_facts(const struct shown *s, const json_t *file)
{
	const struct span sha256 = view_member_text(file, "sha256");
	const struct span modified = view_member_text(file, "modified");

	if (!json_object_get(file, "size") && !modified.len && !sha256.len)
		return;
	shown_style(s, STYLE_DIM);
	if (json_object_get(file, "size"))
		buf_printf(s->out, "  %" JSON_INTEGER_FORMAT " bytes", member_number(file, "size"));
	if (modified.len) {
		buf_str(s->out, "  ");
		shown_line(s, modified);
	}
	if (sha256.len) {
		buf_printf(s->out, "  version %" JSON_INTEGER_FORMAT ", sha256 ",
		           member_number(file, "version"));
		shown_line(s, sha256);
	}
	shown_plain(s);
}

static void show_name(const struct shown *s, struct span name)
{
	shown_style(s, STYLE_NAME);
	shown_line(s, name);
	shown_plain(s);
}

static void show_found_file(const struct shown *s, const json_t *file, bool first)
{
	const json_t *lines = json_object_get(file, "lines");

	if (lines && !first)
		buf_char(s->out, '\n');
	show_name(s, json_is_string(file) ? json_span(file) : view_member_text(file, "file_path"));
	if (json_object_get(file, "matches") && !lines)
		buf_printf(s->out, ":%" JSON_INTEGER_FORMAT, member_number(file, "matches"));
	show_facts(s, file);
	buf_char(s->out, '\n');
	found_show_lines(s, lines);
	if (lines && json_is_true(json_object_get(file, "more"))) {
		shown_styled(s, STYLE_DIM, "(and more)");
		buf_char(s->out, '\n');
	}
}

static void show_summary(const struct shown *s, const json_t *result, size_t files)
{
	const json_int_t lines = member_number(result, "matches");

	if (!json_object_get(result, "matches") || !files)
		return;
	buf_char(s->out, '\n');
	shown_style(s, STYLE_DIM);
	buf_printf(s->out, "%" JSON_INTEGER_FORMAT " matching line%s in %zu file%s, %"
	           JSON_INTEGER_FORMAT " searched",
	           lines, lines == 1 ? "" : "s", files, files == 1 ? "" : "s",
	           member_number(result, "searched"));
	shown_plain(s);
	buf_char(s->out, '\n');
}

/* What search_files and glob found: an object with `files`. */
static void view_found(const struct shown *s, const json_t *result)
{
	const json_t *files = json_object_get(result, "files");
	size_t i;
	json_t *file;

	json_array_foreach(files, i, file)
		show_found_file(s, file, i == 0);
	show_summary(s, result, json_array_size(files));
	shown_message(s, view_member_text(result, "message"));
}

/* ---- results ----------------------------------------------------------------- */

/* Results for people: files, edits, folders, searches. */

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
	struct span sha256 = view_member_text(state, "sha256");

	shown_style(s, STYLE_NAME);
	shown_line(s, view_member_text(state, "file_path"));
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
		struct span fact = view_member_text(file, facts[i]);

		if (!fact.len)
			continue;
		buf_str(s->out, ", ");
		shown_line(s, fact);
	}
	shown_plain(s);
	buf_char(s->out, '\n');
}

static void view_file(const struct shown *s, const json_t *file)
{
	state_lines(s, file);
	file_facts(s, file);
	content_lines(s, view_member_text(file, "content"), member_number(file, "start_line"));
	shown_message(s, view_member_text(file, "message"));
}

/* Edits */

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
static void view_show_lines(const struct shown *s, const char *label, const json_t *lines)
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
	struct span message = view_member_text(result, "message");

	if (failed) {
		shown_style(s, STYLE_BAD);
		buf_str(s->out, "failed");
		if (view_member_text(error, "code").len) {
			buf_str(s->out, " (");
			shown_line(s, view_member_text(error, "code"));
			buf_char(s->out, ')');
		}
		shown_plain(s);
	} else {
		shown_styled(s, STYLE_GOOD, "ok");
	}
	buf_str(s->out, ": ");
	shown_message(s, message.data ? message : view_member_text(error, "message"));
}

static void show_error(const struct shown *s, const json_t *error)
{
	struct span found = view_member_text(error, "found");

	shown_labelled(s, "the diff has", view_member_text(error, "expected"));
	if (found.data && json_object_get(error, "found_line")) {
		shown_styled(s, STYLE_DIM, "line ");
		buf_printf(s->out, "%" JSON_INTEGER_FORMAT " ", member_number(error, "found_line"));
	}
	shown_labelled(s, "the file has", found);
	show_candidates(s, error);
	view_show_lines(s, "it is at line", json_object_get(error, "match_lines"));
	shown_labelled(s, "what to do", view_member_text(error, "advice"));
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

static void view_any(const struct shown *s, const json_t *result);

/* The result of one change, or of several in `changes`. */
static void show_edit(const struct shown *s, const json_t *result)
{
	const json_t *error = json_object_get(result, "error");
	const json_t *state = json_object_get(result, "latest_file_state");
	struct span diff = view_member_text(result, "diff");
	size_t i;
	json_t *item;

	show_status(s, result, json_is_object(error) ? error : NULL);
	show_error(s, error);
	if (json_is_object(state))
		state_lines(s, state);
	else
		shown_labelled(s, "file", view_member_text(result, "file_path"));
	shown_labelled(s, "moved from", view_member_text(result, "moved_from"));
	show_counts(s, result);
	shown_labelled(s, "note", view_member_text(result, "note"));
	json_array_foreach(json_object_get(result, "hunks"), i, item) {
		json_int_t line = member_number(item, "line");
		json_int_t stated = member_number(item, "stated_line");

		buf_printf(s->out, "hunk %" JSON_INTEGER_FORMAT ": line %" JSON_INTEGER_FORMAT,
		           member_number(item, "hunk"), line);
		if (stated && stated != line)
			buf_printf(s->out, " (the diff said %" JSON_INTEGER_FORMAT ")", stated);
		buf_str(s->out, ", match ");
		shown_line(s, view_member_text(item, "matched"));
		buf_str(s->out, ", settled by ");
		shown_line(s, view_member_text(item, "settled_by"));
		buf_printf(s->out, ", +%" JSON_INTEGER_FORMAT " -%" JSON_INTEGER_FORMAT "\n",
		           member_number(item, "added"), member_number(item, "removed"));
	}
	if (diff.len)
		render_diff(s->out, diff, s->view->colour, s->view->width);
	json_array_foreach(json_object_get(result, "changes"), i, item) {
		buf_char(s->out, '\n');
		view_any(s, item);
	}
}

/* Folders */

static size_t longest_name(const json_t *entries)
{
	size_t longest = 0, i;
	json_t *entry;

	json_array_foreach(entries, i, entry) {
		size_t len = view_member_text(entry, "name").len;

		if (len > longest && len <= 60)
			longest = len;
	}
	return longest;
}

static void show_entry(const struct shown *s, const json_t *entry, size_t column)
{
	struct span name = view_member_text(entry, "name");
	struct span kind = view_member_text(entry, "kind");
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
	shown_line(s, view_member_text(result, "path"));
	shown_plain(s);
	buf_char(s->out, '\n');
	json_array_foreach(entries, i, entry)
		show_entry(s, entry, column);
	if (member_number(result, "ignored"))
		buf_printf(s->out, "(%" JSON_INTEGER_FORMAT " left out by ignore files)\n",
		           member_number(result, "ignored"));
	shown_message(s, view_member_text(result, "message"));
}

/* Anything else */

static void view_json(const struct shown *s, const json_t *result)
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

static void view_any(const struct shown *s, const json_t *result)
{
	if (json_object_get(result, "output_bytes") != NULL)
		view_command(s, result);
	else if (json_object_get(result, "sha256") && !json_object_get(result, "error"))
		view_file(s, result);
	else if (json_is_array(json_object_get(result, "files")))
		view_found(s, result);
	else if (json_is_array(json_object_get(result, "entries")))
		show_folder(s, result);
	else if (json_object_get(result, "message") || json_object_get(result, "error"))
		show_edit(s, result);
	else
		view_json(s, result);
}

/* Whether the caller says something about the parameter, also in other words. */
static bool is_parameter_given(const struct tool *tool, const json_t *arguments, const char *name)
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

		if (json_object_get(properties, name) && !is_parameter_given(tool, arguments, name))
			json_object_set_new(arguments, name, json_string(wanted[i].value));
	}
	json_decref(schema);
}

bool view_print(struct buf *out, const json_t *result, const struct view *view)
{
	struct shown s = { out, view };
	size_t i;
	json_t *item;

	if (!json_is_array(result)) {
		view_any(&s, result);
		return !out->overflowed;
	}
	json_array_foreach(result, i, item) {
		if (i)
			buf_char(out, '\n');
		view_any(&s, item);
	}
	return !out->overflowed;
}
