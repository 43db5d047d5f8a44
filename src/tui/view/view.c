/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and results: the line that says what was done, and what is worth seeing beneath it. */
#include "tui/view/view.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/tools.h"
#include "tui/markdown/highlight.h"
#include "tui/markdown/markdown.h"
#include "tui/view/private.h"

enum { BODY_INDENT = 2 }; /* beneath a result's first line */

/* ---- members ----------------------------------------------------------------- */

static struct span member_span(const json_t *object, const char *key)
{
	return json_span(json_object_get(object, key));
}

static json_int_t member_integer(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* "1 line", "2 lines". */
static void row_count(struct row *row, json_int_t count, const char *one, const char *many)
{
	row_printf(row, STYLE(ROLE_DIM), "%" JSON_INTEGER_FORMAT " %s", count,
	           count == 1 ? one : many);
}

/* ---- heads ------------------------------------------------------------------- */

static void head_subject(struct row *row, const json_t *call, const json_t *result)
{
	const char *name = json_string_value(json_object_get(call ? call : result, "toolName"));
	struct span title = member_span(call, "title");
	struct span description = member_span(call, "description");
	const struct span server = member_span(call ? call : result, "serverName");
	const struct tool_info *info = name ? tool_info_find(name) : NULL;

	if (info && info->verb)
		row_text(row, span_str(info->verb), STYLE_BOLD(ROLE_TEXT));
	else
		row_text(row, title.len ? title : span_str(name ? name : "Call"),
		         STYLE_BOLD(ROLE_TEXT));
	if (server.len) {
		row_text(row, SPAN(" ("), STYLE(ROLE_DIM));
		row_text(row, server, STYLE(ROLE_DIM));
		row_text(row, SPAN(")"), STYLE(ROLE_DIM));
	}
	if (!description.len || (info && info->verb_alone) || span_eq(description, title))
		return;
	row_printf(row, STYLE(ROLE_TEXT), " ");
	row_text(row, description, STYLE(ROLE_TEXT));
}

void view_call(struct rows *rows, const json_t *call, const struct view_how *how)
{
	struct body body;
	struct row row = { 0 };

	body_init(&body, how, 1, 0);
	if (!how->plain)
		row_printf(&row, STYLE(ROLE_ACCENT), "\xe2\x80\xa2 ");
	head_subject(&row, call, NULL);
	body_take(&body, &row, NULL);
	body_finish(&body, rows, 0);
}

/* The user said no to it. */
static bool is_declined(const json_t *result)
{
	const json_t *value = json_object_get(result, "result");

	return span_eq(member_span(json_object_get(value, "error"), "code"),
	               SPAN("denied_by_user")) &&
	       span_starts(member_span(value, "message"),
	                   SPAN("Denied By User: The user declined"));
}

static void head_mark(struct row *row, const json_t *result, bool plain)
{
	static const struct {
		const char *status, *mark, *word;
		enum role role;
	} marks[] = {
		{ "success", "\xe2\x9c\x93 ", "Done: ", ROLE_SUCCESS },
		{ "error", "\xe2\x9c\x97 ", "Failed: ", ROLE_ERROR },
		{ "cancelled", "- ", "Cancelled: ", ROLE_DIM },
		{ "declined", "- ", "Declined: ", ROLE_DIM },
	};
	const json_t *value = json_object_get(result, "result");
	const char *status = json_string_value(json_object_get(result, "status"));

	/* A command or code that failed is a call that succeeded. */
	if (json_integer_value(json_object_get(value, "exit_code")) ||
	    json_object_get(value, "signal") || json_object_get(value, "exception"))
		status = "error";
	if (is_declined(result))
		status = "declined";
	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (status && !strcmp(status, marks[i].status))
			row_printf(row, STYLE(marks[i].role), "%s",
			           plain ? marks[i].word : marks[i].mark);
}

/* ---- edits ------------------------------------------------------------------- */

static void add_line_counts(const json_t *edit, json_int_t *added, json_int_t *removed)
{
	*added += member_integer(edit, "lines_added");
	*removed += member_integer(edit, "lines_removed");
}

static void edit_facts(struct row *row, const json_t *value)
{
	const json_t *changes = json_object_get(value, "changes");
	const json_t *hunks = json_object_get(json_object_get(value, "user_review"), "hunks");
	json_int_t added = 0, removed = 0;
	size_t i, taken = 0;
	json_t *change;

	add_line_counts(value, &added, &removed);
	json_array_foreach(changes, i, change)
		add_line_counts(change, &added, &removed);
	if (json_is_true(json_object_get(value, "created")))
		row_printf(row, STYLE(ROLE_DIM), "  new file");
	if (added || removed) {
		row_printf(row, STYLE(ROLE_ADDED), "  +%" JSON_INTEGER_FORMAT, added);
		row_printf(row, STYLE(ROLE_REMOVED), " -%" JSON_INTEGER_FORMAT, removed);
	}
	if (!json_array_size(hunks))
		return;
	json_array_foreach(hunks, i, change)
		taken += !json_is_false(json_object_get(change, "taken"));
	row_printf(row, STYLE(ROLE_DIM), "  %zu of %zu hunks", taken, json_array_size(hunks));
}

static void edit_body(struct body *body, const json_t *value)
{
	struct span diff = member_span(value, "diff");
	size_t i;
	json_t *change;

	if (body->how.brief)
		return;
	if (body->how.folded)
		body->max = VIEW_FOLDED_DIFF_ROWS;
	if (diff.len)
		diff_body(body, diff);
	body->unnamed = false;
	json_array_foreach(json_object_get(value, "changes"), i, change) {
		struct span text = member_span(change, "diff");

		if (text.len)
			diff_body(body, text);
	}
	if (!body->how.folded)
		body_lines(body, member_span(value, "note"), STYLE(ROLE_DIM));
}

/* ---- commands ---------------------------------------------------------------- */

static void command_facts(struct row *row, const json_t *value)
{
	const json_t *code = json_object_get(value, "exit_code");
	json_int_t ms = member_integer(value, "duration_ms");
	struct span state = member_span(value, "state");
	json_int_t runs = member_integer(json_object_get(value, "user_review"), "runs");
	size_t pictures = json_array_size(json_object_get(value, "pictures"));

	if (pictures)
		row_printf(row, STYLE(ROLE_DIM), "  %zu %s", pictures,
		           pictures == 1 ? "picture" : "pictures");
	if (member_span(value, "signal").len) {
		row_printf(row, STYLE(ROLE_ERROR), "  ");
		row_text(row, member_span(value, "signal"), STYLE(ROLE_ERROR));
	} else if (code) {
		row_printf(row, STYLE(json_integer_value(code) ? ROLE_ERROR : ROLE_DIM),
		           "  exit %" JSON_INTEGER_FORMAT, json_integer_value(code));
	}
	if (member_span(value, "ended_by").len) {
		row_printf(row, STYLE(ROLE_ERROR), "  ");
		row_text(row, member_span(value, "ended_by"), STYLE(ROLE_ERROR));
	}
	if (runs)
		row_printf(row, STYLE(ROLE_DIM), "  run %" JSON_INTEGER_FORMAT, runs);
	if (span_eq(state, SPAN("running")))
		row_printf(row, STYLE(ROLE_DIM), "  running as %" JSON_INTEGER_FORMAT,
		           member_integer(value, "pid"));
	else if (ms >= 1000)
		row_printf(row, STYLE(ROLE_DIM), "  %.1f s", (double)ms / 1000);
}

/* Whole also when folded: their end says what would allow it. */
static void command_denials(struct body *body, const json_t *value)
{
	_cleanup_row_ struct row rest = { 0 };
	size_t i;
	json_t *denial;

	row_text(&rest, SPAN("        "), STYLE(ROLE_TEXT));
	json_array_foreach(json_object_get(value, "denials"), i, denial) {
		struct row row = { 0 };

		row_printf(&row, STYLE(ROLE_WARNING), "Denied: ");
		row_text(&row, member_span(denial, "message"), STYLE(ROLE_TEXT));
		body_wrap(body, &row, &rest);
	}
}

/* The last lines, after a word about those before them. */
static void command_tail(struct body *body, struct span output)
{
	size_t count = lines_count(output), skip = 0;
	struct span line;
	struct row row = { 0 };

	if (count > VIEW_FOLDED_OUTPUT_ROWS) {
		skip = count - VIEW_FOLDED_OUTPUT_ROWS;
		row_printf(&row, STYLE(ROLE_DIM), "\xe2\x80\xa6 %zu %s more (Ctrl+O)", skip,
		           skip == 1 ? "line" : "lines");
		body_take(body, &row, NULL);
	}
	while (skip-- && line_next(&output, &line))
		;
	body_lines(body, output, STYLE(ROLE_DIM));
}

/* What the code of run_python ended in. Folded, the last line of a traceback, which names the
 * exception. */
static void command_ending(struct body *body, const json_t *value)
{
	struct span exception = member_span(value, "exception"), rest = exception, line;

	while (body->how.folded && line_next(&rest, &line))
		exception = line;
	body_lines(body, exception, STYLE(ROLE_ERROR));
	body_lines(body, member_span(value, "value"), STYLE(ROLE_TEXT));
}

static void command_body(struct body *body, const json_t *value)
{
	struct span output = member_span(value, "output");

	if (body->how.folded) {
		command_tail(body, output);
		command_ending(body, value);
		command_denials(body, value);
		return;
	}
	body_lines(body, output, STYLE(ROLE_TEXT));
	command_ending(body, value);
	command_denials(body, value);
	body_lines(body, member_span(value, "message"), STYLE(ROLE_DIM));
	if (member_span(value, "log_path").len) {
		struct row row = { 0 };

		row_printf(&row, STYLE(ROLE_DIM), "All of the output: ");
		row_text(&row, member_span(value, "log_path"), STYLE(ROLE_DIM));
		body_take(body, &row, NULL);
	}
}

/* ---- files ------------------------------------------------------------------- */

static void read_facts(struct row *row, const json_t *value)
{
	json_int_t total = member_integer(value, "total_lines");
	json_int_t first = member_integer(value, "start_line");
	json_int_t last = member_integer(value, "end_line");

	if (!json_object_get(value, "total_lines")) {
		row_printf(row, STYLE(ROLE_DIM), "  ");
		row_text(row, member_span(value, "mime_type"), STYLE(ROLE_DIM));
		row_text(row, member_span(json_object_get(value, "derived"), "from"),
		         STYLE(ROLE_DIM));
		return;
	}
	row_printf(row, STYLE(ROLE_DIM), "  ");
	if (first <= 1 && last >= total)
		row_count(row, total, "line", "lines");
	else
		row_printf(row, STYLE(ROLE_DIM),
		           "lines %" JSON_INTEGER_FORMAT "-%" JSON_INTEGER_FORMAT
		           " of %" JSON_INTEGER_FORMAT, first, last, total);
}

/* The lines with their numbers. */
static void file_body(struct body *body, const json_t *value)
{
	struct span text = member_span(value, "content"), rest_of_code = text, line;
	json_int_t number = member_integer(value, "start_line");
	struct highlight *code;

	if (body->how.folded)
		return;
	code = highlight_new(member_span(value, "file_path"));
	for (size_t i = body->rows.count; i < body->max && line_next(&rest_of_code, &line); i++)
		highlight_add(code, line_body(line));
	for (number = number > 0 ? number : 1; !body_full(body) && line_next(&text, &line);
	     number++) {
		struct row row = { 0 };
		_cleanup_row_ struct row rest = { 0 }, coloured = { 0 };

		row_printf(&row, STYLE(ROLE_DIM), "%5" JSON_INTEGER_FORMAT " ", number);
		row_pad(&rest, row.width, STYLE(ROLE_TEXT));
		highlight_line(code, line_body(line), &coloured);
		row_append(&row, &coloured);
		body_take(body, &row, &rest);
	}
	body->left_out += lines_count(text);
	highlight_free(code);
	body_lines(body, member_span(value, "message"), STYLE(ROLE_DIM));
}

static void files_facts(struct row *row, const json_t *value)
{
	row_printf(row, STYLE(ROLE_DIM), "  ");
	row_count(row, (json_int_t)json_array_size(value), "file", "files");
}

static void files_body(struct body *body, const json_t *value)
{
	size_t i;
	json_t *file;

	json_array_foreach(value, i, file) {
		const json_t *error = json_object_get(file, "error");
		struct row row = { 0 };

		row_text(&row, member_span(file, "file_path"), STYLE(ROLE_TEXT));
		if (error)
			row_printf(&row, STYLE(ROLE_ERROR), "  not read: ");
		else
			read_facts(&row, file);
		if (error)
			row_text(&row, member_span(file, "message"), STYLE(ROLE_ERROR));
		body_take(body, &row, NULL);
		if (!body->how.folded)
			file_body(body, file);
	}
}

/* ---- what was found ---------------------------------------------------------- */

static void found_facts(struct row *row, const json_t *value)
{
	const json_t *files = json_object_get(value, "files");
	const bool more = json_is_true(json_object_get(value, "more"));

	row_printf(row, STYLE(ROLE_DIM), "  %s", more ? "the first " : "");
	if (json_object_get(value, "matches")) {
		row_count(row, member_integer(value, "matches"), "line", "lines");
		row_printf(row, STYLE(ROLE_DIM), " in ");
	}
	row_count(row, (json_int_t)json_array_size(files), "file", "files");
}

/* The bytes of the first `count` characters. */
static size_t found_offset(struct span text, json_int_t count)
{
	struct span rest = text;
	struct utf8_char c;

	while (count-- > 0 && utf8_next(&rest, &c))
		;
	return text.len - rest.len;
}

/* "12:text", or an object of "detailed". */
static void found_line(struct body *body, const json_t *line)
{
	struct row row = { 0 };
	struct span text = json_is_string(line) ? json_span(line) : member_span(line, "text");
	size_t start, end;

	row_pad(&row, 2, STYLE(ROLE_TEXT));
	if (json_is_string(line)) {
		row_text(&row, text, STYLE(ROLE_DIM));
		body_take(body, &row, NULL);
		return;
	}
	start = found_offset(text, member_integer(line, "start"));
	end = found_offset(text, member_integer(line, "end"));
	end = end < start ? start : end;
	row_printf(&row, STYLE(ROLE_DIM), "%" JSON_INTEGER_FORMAT ":",
	           member_integer(line, "line"));
	row_text(&row, span_head(text, start), STYLE(ROLE_DIM));
	row_text(&row, span_of(text.data + start, end - start), STYLE_BOLD(ROLE_ACCENT));
	row_text(&row, span_skip(text, end), STYLE(ROLE_DIM));
	body_take(body, &row, NULL);
}

static void found_body(struct body *body, const json_t *value)
{
	size_t i, k;
	json_t *file, *line;

	json_array_foreach(json_object_get(value, "files"), i, file) {
		struct row row = { 0 };

		row_text(&row, json_is_string(file) ? json_span(file) :
		                                      member_span(file, "file_path"),
		         STYLE(ROLE_TEXT));
		if (json_object_get(file, "matches") && !json_object_get(file, "lines"))
			row_printf(&row, STYLE(ROLE_DIM), ": %" JSON_INTEGER_FORMAT,
			           member_integer(file, "matches"));
		body_take(body, &row, NULL);
		json_array_foreach(json_object_get(file, "lines"), k, line)
			found_line(body, line);
	}
	if (!body->how.folded)
		body_lines(body, member_span(value, "message"), STYLE(ROLE_DIM));
}

static void folder_facts(struct row *row, const json_t *value)
{
	row_printf(row, STYLE(ROLE_DIM), "  ");
	row_count(row, (json_int_t)json_array_size(json_object_get(value, "entries")), "entry",
	          "entries");
}

static void folder_body(struct body *body, const json_t *value)
{
	size_t i;
	json_t *entry;

	json_array_foreach(json_object_get(value, "entries"), i, entry) {
		struct span kind = member_span(entry, "kind");
		bool folder = span_eq(kind, SPAN("folder"));
		struct row row = { 0 };

		row_text(&row, member_span(entry, "name"),
		         STYLE(folder ? ROLE_ACCENT : ROLE_TEXT));
		if (folder)
			row_printf(&row, STYLE(ROLE_ACCENT), "/");
		else if (span_eq(kind, SPAN("link")))
			row_printf(&row, STYLE(ROLE_DIM), "@");
		body_take(body, &row, NULL);
	}
}

/* ---- the web, and anything else ---------------------------------------------- */

static void web_facts(struct row *row, const json_t *value)
{
	const json_t *pages = json_object_get(value, "pages");

	row_printf(row, STYLE(ROLE_DIM), "  ");
	if (pages)
		row_count(row, (json_int_t)json_array_size(pages), "page", "pages");
	else
		row_count(row, (json_int_t)json_array_size(json_object_get(value, "sources")),
		          "source", "sources");
}

/* A member without the marks that say to a model whose words it is. */
static struct span web_member(const json_t *value, const char *name)
{
	const struct span begin = SPAN("<untrusted_context>"), end = SPAN("</untrusted_context>");
	struct span text = member_span(value, name);

	if (!span_starts(text, begin) || !span_ends(text, end))
		return text;
	text = span_head(span_skip(text, begin.len), text.len - begin.len - end.len);
	if (span_starts(text, SPAN("\n")))
		text = span_skip(text, 1);
	text.len -= span_ends(text, SPAN("\n"));
	return text;
}

static void web_body(struct body *body, const json_t *value)
{
	const char *const lists[] = { "pages", "sources" };
	size_t i;
	json_t *page;

	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		json_array_foreach(json_object_get(value, lists[k]), i, page) {
			struct span url = member_span(page, "url");
			struct span title = web_member(page, "title");
			struct row row = { 0 };

			row_link(&row, url, STYLE(ROLE_LINK), url);
			if (title.len)
				row_printf(&row, STYLE(ROLE_DIM), "  ");
			row_text(&row, title, STYLE(ROLE_DIM));
			body_take(body, &row, NULL);
			if (!body->how.folded)
				body_lines(body, web_member(page, "content"), STYLE(ROLE_TEXT));
		}
	body_lines(body, web_member(value, "text"), STYLE(ROLE_TEXT));
}

static void todo_row(struct row *row, const json_t *todo, bool plain)
{
	static const struct {
		const char *status, *mark, *word;
		enum role role;
	} marks[] = {
		{ "completed", "[x] ", "done: ", ROLE_DIM },
		{ "in_progress", "[>] ", "now: ", ROLE_ACCENT },
		{ "pending", "[ ] ", "to do: ", ROLE_TEXT },
		{ "cancelled", "[-] ", "cancelled: ", ROLE_DIM },
		{ "blocked", "[!] ", "blocked: ", ROLE_WARNING },
	};
	struct span status = member_span(todo, "status");
	size_t i = 0;

	while (i + 1 < ARRAY_LEN(marks) && !span_eq(status, span_str(marks[i].status)))
		i++;
	row_printf(row, STYLE(marks[i].role), "%s", plain ? marks[i].word : marks[i].mark);
	row_text(row, member_span(todo, "description"), STYLE(marks[i].role));
}

static void todos_body(struct body *body, const json_t *todos)
{
	size_t i;
	json_t *todo;

	json_array_foreach((json_t *)todos, i, todo) {
		struct row row = { 0 };
		_cleanup_row_ struct row rest = { 0 };

		todo_row(&row, todo, body->how.plain);
		row_pad(&rest, 4, STYLE(ROLE_TEXT));
		body_take(body, &row, body->how.plain ? NULL : &rest);
	}
}

/* What is done next, and what was done: the title stands in the head, if there is one. */
static void topic_body(struct body *body, const json_t *call, const json_t *arguments)
{
	const struct span title = member_span(arguments, "title");

	if (title.len && !member_span(call, "description").len)
		body_lines(body, title, STYLE(ROLE_TEXT));
	if (title.len || !member_span(call, "description").len)
		body_lines(body, member_span(arguments, "strategic_intent"), STYLE(ROLE_DIM));
	body_lines(body, member_span(arguments, "summary"), STYLE(ROLE_DIM));
}

/* What the user answered, each behind its question. */
static void answers_body(struct body *body, const json_t *questions, const json_t *answers)
{
	size_t i, k;
	json_t *question, *one;

	json_array_foreach(questions, i, question) {
		char number[24];
		const json_t *answer;
		const struct span asked = member_span(question, "question");
		struct row row = { 0 };

		snprintf(number, sizeof(number), "%zu", i);
		answer = json_object_get(answers, number);
		row_text(&row, asked.len ? asked : member_span(question, "header"),
		         STYLE(ROLE_DIM));
		row_printf(&row, STYLE(ROLE_DIM), asked.len ? " " : ": ");
		row_text(&row, json_span(answer), STYLE(ROLE_TEXT));
		json_array_foreach(answer, k, one) {
			row_printf(&row, STYLE(ROLE_TEXT), "%s", k ? ", " : "");
			row_text(&row, json_span(one), STYLE(ROLE_TEXT));
		}
		body_take(body, &row, NULL);
	}
}

/* ---- results ----------------------------------------------------------------- */

static bool is_command(const json_t *value)
{
	return json_object_get(value, "output_bytes") != NULL;
}

static bool is_edit(const json_t *value)
{
	return json_object_get(value, "latest_file_state") || json_object_get(value, "changes");
}

static bool has_found_files(const json_t *value)
{
	return json_is_array(json_object_get(value, "files"));
}

static bool has_entries(const json_t *value)
{
	return json_is_array(json_object_get(value, "entries"));
}

static bool is_file(const json_t *value)
{
	return json_object_get(value, "sha256") != NULL;
}

static bool is_list_of_files(const json_t *value)
{
	return json_is_array(value) && json_object_get(json_array_get(value, 0), "file_path");
}

static bool is_web(const json_t *value)
{
	return json_is_array(json_object_get(value, "sources")) ||
	       json_is_array(json_object_get(value, "pages"));
}

/* The first row that fits decides. */
static const struct {
	bool (*fits)(const json_t *value);
	void (*facts)(struct row *row, const json_t *value);
	void (*body)(struct body *body, const json_t *value);
} shapes[] = {
	{ is_command, command_facts, command_body },
	{ is_edit, edit_facts, edit_body },
	{ is_list_of_files, files_facts, files_body },
	{ has_found_files, found_facts, found_body },
	{ has_entries, folder_facts, folder_body },
	{ is_web, web_facts, web_body },
	{ is_file, read_facts, file_body },
};

static size_t shape_of(const json_t *value)
{
	size_t i = 0;

	while (i < ARRAY_LEN(shapes) && !shapes[i].fits(value))
		i++;
	return i;
}

/* What was done, and in what it ended; of a long line the end stays. */
static void result_head(struct rows *rows, const json_t *call, const json_t *result,
                        const struct view_how *how)
{
	const json_t *value = json_object_get(result, "result");
	const bool success = span_eq(member_span(result, "status"), SPAN("success"));
	size_t shape = shape_of(value);
	_cleanup_row_ struct row facts = { 0 };
	struct row row = { 0 };

	head_mark(&row, result, how->plain);
	head_subject(&row, call, result);
	if (shape < ARRAY_LEN(shapes) && (success || is_command(value)))
		shapes[shape].facts(&facts, value);
	if (how->folded) {
		row_clip(&row, how->width > facts.width + 12 ? how->width - facts.width :
		                                               how->width);
		row_append(&row, &facts);
		row_clip(&row, how->width);
		rows_take(rows, &row);
		return;
	}
	row_append(&row, &facts);
	rows_wrap(rows, &row, how->width, NULL, NULL);
	row_release(&row);
}

static void error_body(struct body *body, const json_t *result, const json_t *value)
{
	struct span message = member_span(json_object_get(result, "error"), "message");

	if (is_command(value))
		command_body(body, value);
	if (!message.len)
		message = member_span(value, "message");
	if (!is_command(value) || body->how.folded)
		body_lines(body, message, STYLE(ROLE_ERROR));
}

/* As the user was asked to approve it, all of it. */
static void plan_body(struct body *body, struct span plan)
{
	body->max = VIEW_WHOLE_ROWS;
	markdown_rows(plan, body->how.width, &body->rows);
}

/* What the user said instead, and the edit that was not made. */
static void declined_body(struct body *body, const json_t *call, const json_t *result)
{
	struct span said = member_span(json_object_get(result, "result"), "message");
	const struct span before = SPAN("Denied By User: The user declined this call and says: ");
	struct span diff = member_span(call, "declined");
	struct row row = { 0 };

	row_printf(&row, STYLE(ROLE_WARNING), "You declined this");
	if (span_starts(said, before)) {
		row_printf(&row, STYLE(ROLE_WARNING), ": ");
		row_text(&row, span_skip(said, before.len), STYLE(ROLE_TEXT));
	}
	body_wrap(body, &row, NULL);
	if (member_span(call, "plan").len)
		plan_body(body, member_span(call, "plan"));
	if (!diff.len)
		return;
	if (body->how.folded)
		body->max = VIEW_FOLDED_DIFF_ROWS;
	diff_body(body, diff);
}

static void result_body(struct body *body, const json_t *call, const json_t *result)
{
	const json_t *value = json_object_get(result, "result");
	const json_t *arguments = json_object_get(call, "arguments");
	const char *tool = json_string_value(json_object_get(call, "toolName"));
	const struct tool_info *info = tool ? tool_info_find(tool) : NULL;
	const json_t *todos = info == &tool_infos[TOOL_WRITE_TODOS] ?
		json_object_get(arguments, "todos") : NULL;
	const json_t *questions = info == &tool_infos[TOOL_ASK_USER] ?
		json_object_get(arguments, "questions") : NULL;
	/* As it reads after the user has edited it. */
	const struct span asked = member_span(call, "plan"), edited = member_span(value, "plan");
	const struct span plan = asked.len && edited.len ? edited : asked;
	size_t shape = shape_of(value);

	body->unnamed = member_span(call, "description").len;
	if (is_declined(result))
		declined_body(body, call, result);
	else if (!span_eq(member_span(result, "status"), SPAN("success")))
		error_body(body, result, value);
	else if (json_is_array(todos))
		todos_body(body, todos);
	else if (plan.len)
		plan_body(body, plan);
	else if (info && info->topic)
		topic_body(body, call, arguments);
	else if (json_is_array(questions))
		answers_body(body, questions, json_object_get(value, "answers"));
	else if (shape < ARRAY_LEN(shapes))
		shapes[shape].body(body, value);
	else
		body_lines(body, member_span(result, "display"), STYLE(ROLE_DIM));
}

/* An error is a sentence: it is wrapped even where lines are clipped. */
static bool is_bare_error(const json_t *result)
{
	return !span_eq(member_span(result, "status"), SPAN("success")) && !is_declined(result) &&
	       !is_command(json_object_get(result, "result"));
}

void view_result(struct rows *rows, const json_t *call, const json_t *result,
                 const struct view_how *how)
{
	struct body body;

	result_head(rows, call, result, how);
	body_init(&body, how, VIEW_FOLDED_ROWS, how->plain ? 0 : BODY_INDENT);
	if (is_bare_error(result))
		body.how.folded = false;
	result_body(&body, call, result);
	body_more(&body);
	body_finish(&body, rows, BODY_INDENT);
}
