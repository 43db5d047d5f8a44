/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of recorded sessions as tables: their rows, as text, and as a page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/view/view.h"
#include "cli/view/view.h"
#include "data/json.h"
#include "model/prices.h"

enum { FIGURES_COLUMNS = 7, FIGURES_CELL_BYTES = 64,
       FIGURES_TABLE_ROWS = 200 /* of figures_tables */ };

enum figures_kind {
	FIGURES_COUNT,
	FIGURES_TIME,  /* milliseconds */
	FIGURES_MONEY, /* millionths of a dollar */
};

struct figures_column {
	const char *title;
	const char *group; /* the object in the row that has it; NULL: the row itself */
	const char *name;
	int width;
	enum figures_kind kind;
};

struct figures_section {
	const char *title;
	const char *label;  /* above the names of the rows */
	const char *member; /* of figures_rows: an object with a row for each name */
	int shown;          /* in text: of the rows by name the last so many; below 0: the
	                     * greatest come first, and so many are shown; 0: all */
	struct figures_column columns[FIGURES_COLUMNS];
};

/* Short, for the table. */
#define COUNT FIGURES_COUNT
#define TIME FIGURES_TIME
#define MONEY FIGURES_MONEY

enum { WIDTH = 80, SESSIONS_SHOWN = 20, DAYS_SHOWN = 31, ROWS_SHOWN = 12 };

/* ---- what is shown ----------------------------------------------------------- */

#define EDIT_COLUMNS \
	{ { "right", "edits", "right", 7, COUNT }, { "repaired", "edits", "repaired", 10, COUNT }, \
	  { "refused", "edits", "refused", 9, COUNT }, \
	  { "lines +", NULL, "lines_added", 9, COUNT }, \
	  { "lines -", NULL, "lines_removed", 9, COUNT } }

/* Of answers_as_rows. */
#define ANSWER_COLUMNS \
	{ "once", "answers", "once", 7, COUNT }, { "session", "answers", "session", 9, COUNT }, \
	{ "saved", "answers", "saved", 7, COUNT }, { "edited", "answers", "edited", 8, COUNT }, \
	{ "declined", "answers", "declined", 10, COUNT }

#define QUESTION_COLUMNS \
	{ ANSWER_COLUMNS, { "by rule", "answers", "by_rule", 9, COUNT }, \
	  { "open", "answers", "withdrawn", 6, COUNT } }

static const struct figures_section figures_sections[] = {
	{ "Work", "", "work", 0,
	  { { "prompts", NULL, "prompts", 9, COUNT }, { "replies", NULL, "replies", 9, COUNT },
	    { "calls ok", "calls", "success", 10, COUNT },
	    { "failed", "calls", "error", 8, COUNT },
	    { "stopped", "calls", "cancelled", 9, COUNT },
	    { "lines +", NULL, "lines_added", 10, COUNT },
	    { "lines -", NULL, "lines_removed", 10, COUNT } } },
	{ "Edits", "model, tool", "edits", 0,
	  { { "right", "edits", "right", 9, COUNT }, { "repaired", "edits", "repaired", 10, COUNT },
	    { "refused", "edits", "refused", 9, COUNT } } },
	{ "Edits by dialect", "model, dialect", "dialects", 0,
	  { { "right", "edits", "right", 9, COUNT }, { "repaired", "edits", "repaired", 10, COUNT },
	    { "refused", "edits", "refused", 9, COUNT } } },
	{ "Refused edits by dialect", "model, dialect, error code", "dialect_codes", 0,
	  { { "edits", NULL, "times", 9, COUNT } } },
	{ "Edits that were repaired", "what was off", "repaired", 0,
	  { { "edits", NULL, "times", 9, COUNT } } },
	{ "Edits that were refused", "error code", "refused", 0,
	  { { "edits", NULL, "times", 9, COUNT } } },
	{ "Tokens", "model", "models", 0,
	  { { "in", "tokens", "input", 12, COUNT }, { "cached", "tokens", "cached", 12, COUNT },
	    { "out", "tokens", "output", 11, COUNT },
	    { "thoughts", "tokens", "thoughts", 11, COUNT },
	    { "cost", NULL, "cost_millionths", 10, MONEY } } },
	{ "Calls", "tool", "tools", 0,
	  { { "ok", "calls", "success", 8, COUNT }, { "failed", "calls", "error", 8, COUNT },
	    { "stopped", "calls", "cancelled", 8, COUNT }, { "time", "ms", "tools", 10, TIME } } },
	{ "Denied", "", "denied", 0,
	  { { "sandbox", "denials", "sandbox", 9, COUNT },
	    { "policy", "denials", "policy", 9, COUNT },
	    { "hook", "denials", "hook", 9, COUNT },
	    { "user", "denials", "user", 9, COUNT } } },
	{ "Denied by the sandbox", "kind", "denied_kinds", -ROWS_SHOWN,
	  { { "times", NULL, "times", 9, COUNT } } },
	{ "What the sandbox denied", "path, address or call", "denied_what", -ROWS_SHOWN,
	  { { "times", NULL, "times", 9, COUNT } } },
	{ "Denied by hooks", "hook", "hooks", -ROWS_SHOWN,
	  { { "times", NULL, "times", 9, COUNT } } },
	{ "Questions", "tool", "questions", 0, QUESTION_COLUMNS },
	{ "Questions by rule", "rule", "question_rules", -ROWS_SHOWN, QUESTION_COLUMNS },
	{ "Answered by", "front or reviewer", "answered_by", -ROWS_SHOWN,
	  { ANSWER_COLUMNS, { "time", NULL, "ms", 10, TIME } } },
	{ "Time to an answer", "", "approvals", 0,
	  { { "answers", NULL, "answered", 9, COUNT }, { "median", NULL, "median", 10, TIME },
	    { "90 %", NULL, "p90", 10, TIME }, { "in all", NULL, "sum", 10, TIME } } },
	{ "Allowed for a session", "what", "allowed", -ROWS_SHOWN,
	  { { "times", NULL, "times", 9, COUNT }, { "in force", NULL, "ms", 12, TIME } } },
	{ "Commands", "", "commands", 0,
	  { { "run", "commands", "run", 9, COUNT },
	    { "failed", "commands", "failed", 9, COUNT } } },
	{ "Time", "", "time", 0,
	  { { "model", "ms", "model", 10, TIME }, { "tools", "ms", "tools", 10, TIME },
	    { "waiting for you", "ms", "user", 17, TIME } } },
	{ "Folders", "of edited files", "edited_folders", -ROWS_SHOWN,
	  EDIT_COLUMNS },
	{ "Files", "edited", "edited_files", -ROWS_SHOWN, EDIT_COLUMNS },
	{ "Projects", "", "project_rows", -ROWS_SHOWN,
	  { { "prompts", NULL, "prompts", 9, COUNT }, { "right", "edits", "right", 7, COUNT },
	    { "repaired", "edits", "repaired", 10, COUNT },
	    { "refused", "edits", "refused", 9, COUNT }, { "in", "tokens", "input", 12, COUNT },
	    { "cost", NULL, "cost_millionths", 10, MONEY } } },
	{ "Days", "day (UTC)", "days", DAYS_SHOWN,
	  { { "prompts", NULL, "prompts", 9, COUNT }, { "right", "edits", "right", 7, COUNT },
	    { "repaired", "edits", "repaired", 10, COUNT },
	    { "refused", "edits", "refused", 9, COUNT }, { "in", "tokens", "input", 12, COUNT },
	    { "out", "tokens", "output", 11, COUNT },
	    { "cost", NULL, "cost_millionths", 10, MONEY } } },
	{ "Sessions", "last used (UTC), id", "session_rows", SESSIONS_SHOWN,
	  { { "prompts", NULL, "prompts", 8, COUNT }, { "right", "edits", "right", 7, COUNT },
	    { "repaired", "edits", "repaired", 9, COUNT },
	    { "refused", "edits", "refused", 8, COUNT }, { "in", "tokens", "input", 11, COUNT },
	    { "cost", NULL, "cost_millionths", 10, MONEY } } },
};

static const size_t figures_sections_count = ARRAY_LEN(figures_sections);

/* {NAME: N} as rows of one figure each. */
static json_t *counts_as_rows(const json_t *counts)
{
	json_t *rows = json_object(), *count;
	const char *name;

	json_object_foreach((json_t *)counts, name, count)
		json_object_set_new(rows, name, json_pack("{s:O}", "times", count));
	return rows;
}

/* {ANSWER: N} as {"answers": {COLUMN: N}}; `more`: another member, or NULL. */
static json_t *answers_row(const json_t *counts, json_t *more)
{
	static const struct {
		const char *answer, *column;
	} columns[] = {
		{ "proceed_once", "once" }, { "proceed_always", "session" },
		{ "proceed_always_tool", "session" }, { "proceed_always_server", "session" },
		{ "proceed_always_and_save", "saved" }, { "modify_with_editor", "edited" },
		{ "cancel", "declined" }, { "unmet", "declined" }, { "by_policy", "by_rule" },
		{ "withdrawn", "withdrawn" },
	};
	json_t *row = json_object();

	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		const json_int_t before =
			json_integer_value(json_object_get(row, columns[i].column));

		json_object_set_new(row, columns[i].column, json_integer(
			before + json_integer_value(json_object_get(counts, columns[i].answer))));
	}
	return json_pack("{s:o, s:O*}", "answers", row, "ms", more);
}

/* Rows that have {ANSWER: N}, in a member or (NULL) as they are. */
static json_t *answers_as_rows(json_t *named, const char *member)
{
	json_t *rows = json_object(), *row, *counts;
	const char *name;

	json_object_foreach(named, name, row) {
		counts = member ? json_object_get(row, member) : row;
		if (counts)
			json_object_set_new(rows, name,
			                    answers_row(counts, json_object_get(row, "ms")));
	}
	return rows;
}

/* {MODEL: {DIALECT: {"refused": {CODE: N}}}} as {"MODEL, DIALECT, CODE": {"times": N}}. */
static json_t *codes_as_rows(const json_t *by_model)
{
	json_t *rows = json_object(), *dialects, *row, *count;
	const char *model, *dialect, *code;

	json_object_foreach((json_t *)by_model, model, dialects)
		json_object_foreach(dialects, dialect, row)
			json_object_foreach(json_object_get(row, "refused"), code, count) {
				_cleanup_free_ char *label =
					mem_printf("%s, %s, %s", model, dialect, code);

				json_object_set_new(rows, label,
				                    json_pack("{s:O}", "times", count));
			}
	return rows;
}

/* {MODEL: {TOOL: row}} as {"MODEL, TOOL": row}, and their sum. */
static json_t *editors_as_rows(const json_t *editors, const json_t *total)
{
	json_t *rows = json_object(), *tools, *row;
	const char *model, *tool;

	json_object_foreach((json_t *)editors, model, tools)
		json_object_foreach(tools, tool, row) {
			_cleanup_free_ char *label = mem_printf("%s, %s", model, tool);

			json_object_set(rows, label, row);
		}
	if (json_object_size(rows) > 1)
		json_object_set(rows, "~all", (json_t *)total);
	return rows;
}

static json_t *models_as_rows(json_t *models, json_t *total)
{
	json_t *rows = json_copy(models);

	if (json_object_size(rows) > 1)
		json_object_set(rows, "~all", total);
	return rows ? rows : json_object();
}

static json_t *sessions_as_rows(const json_t *sessions)
{
	json_t *rows = json_object(), *row;
	const char *id;

	json_object_foreach((json_t *)sessions, id, row) {
		const struct span last = json_span(json_object_get(row, "last"));
		const struct span head = span_head(last, last.len < 16 ? last.len : 16);
		_cleanup_free_ char *label = mem_printf("%.*s  %.8s", (int)head.len, head.data, id);

		for (size_t i = 0; label[i]; i++)
			if (label[i] == 'T' && i == 10)
				label[i] = ' ';
		json_object_set(rows, label, row);
	}
	return rows;
}

/* The tables about questions. */
static void put_question_rows(json_t *rows, const json_t *figures)
{
	const json_t *total = json_object_get(figures, "total");
	json_t *times = json_object_get(figures, "approval_ms"), *questions;

	questions = answers_as_rows(json_object_get(figures, "tools"), "questions");
	if (json_object_size(questions) > 1)
		json_object_set_new(questions, "~all", answers_row(
			json_object_get(total, "questions"), NULL));
	json_object_set_new(rows, "questions", questions);
	json_object_set_new(rows, "question_rules", answers_as_rows(
		json_object_get(figures, "question_rules"), NULL));
	json_object_set_new(rows, "answered_by", answers_as_rows(
		json_object_get(figures, "answered_by"), "answers"));
	json_object_set_new(rows, "hooks", counts_as_rows(json_object_get(total, "hooks")));
	if (times)
		json_object_set_new(rows, "approvals", json_pack("{s:O}", "all", times));
	json_object_set(rows, "allowed", json_object_get(figures, "allowed"));
}

/* The rows of all sections by their member; a new reference. */
static json_t *figures_rows(const json_t *figures)
{
	json_t *total = json_object_get(figures, "total");
	json_t *rows = json_object();
	static const char *const single[] = { "work", "denied", "commands", "time" };

	for (size_t i = 0; i < ARRAY_LEN(single); i++)
		json_object_set_new(rows, single[i], json_pack("{s:O}", "all", total));
	json_object_set_new(rows, "edits",
	                    editors_as_rows(json_object_get(figures, "editors"), total));
	json_object_set_new(rows, "dialects",
	                    editors_as_rows(json_object_get(figures, "dialects"), total));
	json_object_set_new(rows, "dialect_codes",
	                    codes_as_rows(json_object_get(figures, "dialects")));
	json_object_set_new(rows, "repaired", counts_as_rows(json_object_get(total, "repaired")));
	json_object_set_new(rows, "refused", counts_as_rows(json_object_get(total, "refused")));
	json_object_set_new(rows, "models",
	                    models_as_rows(json_object_get(figures, "models"), total));
	json_object_set_new(rows, "denied_kinds",
	                    counts_as_rows(json_object_get(total, "denied_kinds")));
	json_object_set_new(rows, "denied_what",
	                    counts_as_rows(json_object_get(total, "denied_what")));
	put_question_rows(rows, figures);
	json_object_set(rows, "edited_folders", json_object_get(figures, "edited_folders"));
	json_object_set(rows, "edited_files", json_object_get(figures, "edited_files"));
	if (json_object_size(json_object_get(figures, "projects")) > 1)
		json_object_set(rows, "project_rows", json_object_get(figures, "projects"));
	json_object_set(rows, "tools", json_object_get(figures, "tools"));
	json_object_set(rows, "days", json_object_get(figures, "days"));
	json_object_set_new(rows, "session_rows",
	                    sessions_as_rows(json_object_get(figures, "sessions")));
	return rows;
}

static json_int_t figures_cell(const json_t *row, const struct figures_column *column)
{
	return json_integer_value(json_object_get(
		column->group ? json_object_get(row, column->group) : row, column->name));
}

/* A cell's number, and its text for people. */
static void figures_cell_print(const json_t *row, const struct figures_column *column,
                               char out[FIGURES_CELL_BYTES])
{
	const long long value = figures_cell(row, column);

	if (column->kind == COUNT)
		snprintf(out, FIGURES_CELL_BYTES, "%lld", value);
	else if (column->kind == MONEY)
		prices_print(value, out, FIGURES_CELL_BYTES);
	else if (value < 60000)
		snprintf(out, FIGURES_CELL_BYTES, "%.1f s", (double)value / 1000);
	else if (value < 3600000)
		snprintf(out, FIGURES_CELL_BYTES, "%lld m %02lld s", value / 60000,
		         value / 1000 % 60);
	else
		snprintf(out, FIGURES_CELL_BYTES, "%lld h %02lld m", value / 3600000,
		         value / 60000 % 60);
}

/* Whether a column is shown: money only where there are prices. */
static bool figures_column_shown(const struct figures_column *column, const json_t *rows)
{
	const char *name;
	json_t *row;

	if (column->kind != MONEY)
		return true;
	json_object_foreach((json_t *)rows, name, row)
		if (figures_cell(row, column))
			return true;
	return false;
}

/* Whether any cell of the section is not 0. */
static bool figures_section_any(const struct figures_section *section, const json_t *rows)
{
	const char *name;
	json_t *row;

	json_object_foreach((json_t *)rows, name, row)
		for (size_t i = 0; i < FIGURES_COLUMNS && section->columns[i].title; i++)
			if (figures_cell(row, &section->columns[i]))
				return true;
	return false;
}

struct row_order {
	const struct figures_section *section;
	const json_t *rows;
};

static json_int_t row_weight(const struct row_order *order, const char *name)
{
	const json_t *row = json_object_get(order->rows, name);
	json_int_t sum = 0;

	for (size_t i = 0; i < FIGURES_COLUMNS && order->section->columns[i].title; i++)
		if (order->section->columns[i].kind != TIME)
			sum += figures_cell(row, &order->section->columns[i]);
	return sum;
}

static int figures_rows_compare(const void *a, const void *b, void *data)
{
	const char *first = *(const char *const *)a, *second = *(const char *const *)b;
	const struct row_order *order = data;
	const json_int_t more = order->section->shown < 0 ?
		row_weight(order, second) - row_weight(order, first) : 0;

	return more ? (more > 0) - (more < 0) : strcmp(first, second);
}

/* The rows' names in the section's order; the caller frees the array. */
static const char **figures_names(const struct figures_section *section, const json_t *rows,
                                        size_t *ret_count)
{
	struct row_order order = { section, rows };
	const char **names = mem_alloc(json_object_size(rows) + 1, sizeof(*names));
	const char *name;
	json_t *row;

	*ret_count = 0;
	json_object_foreach((json_t *)rows, name, row)
		names[(*ret_count)++] = name;
	if (*ret_count)
		qsort_r(names, *ret_count, sizeof(*names), figures_rows_compare, &order);
	return names;
}

/* A row's name for people: "~all", which is the last, is "all". */
static const char *figures_label(const char *name)
{
	return *name == '~' ? "all" : name;
}

/* ---- as text ----------------------------------------------------------------- */

static size_t columns_width(const struct figures_section *section, const json_t *rows)
{
	size_t width = 0;

	for (size_t i = 0; i < FIGURES_COLUMNS && section->columns[i].title; i++)
		if (figures_column_shown(&section->columns[i], rows))
			width += (size_t)section->columns[i].width;
	return width;
}

/* Of a label that is too long: the beginning, or, of a path, the end. */
static void put_label(struct buf *out, const char *label, size_t width)
{
	_cleanup_buf_ struct buf safe = BUF_INIT(LIMIT_RESULT_BYTES);
	struct span shown;
	size_t columns = 0;

	render_safe(&safe, span_str(label));
	shown = buf_view(&safe);
	if (shown.len > width - 1 && memchr(shown.data, '/', shown.len)) {
		shown = span_skip(shown, shown.len - (width - 2));
		while (shown.len && ((unsigned char)shown.data[0] & 0xc0) == 0x80)
			shown = span_skip(shown, 1);
		buf_char(out, '~');
	} else if (shown.len > width - 1) {
		shown = utf8_head(shown, width - 2);
	}
	buf_span(out, shown);
	if (shown.len < safe.len && shown.data == safe.data)
		buf_char(out, '~');
	for (size_t i = 0; i < shown.len; i++)
		columns += ((unsigned char)shown.data[i] & 0xc0) != 0x80;
	for (columns += shown.len < safe.len; columns < width; columns++)
		buf_char(out, ' ');
}

static void figures_table_print(struct buf *out, const struct figures_section *section,
                                const json_t *rows, bool colour)
{
	const size_t label = WIDTH - columns_width(section, rows);
	size_t count, from, to;
	_cleanup_free_ const char **names = figures_names(section, rows, &count);

	if (!figures_section_any(section, rows))
		return;
	to = section->shown ? (size_t)abs(section->shown) : count;
	to = to < count ? to : count;
	from = section->shown < 0 ? 0 : count - to;
	to += from;
	buf_printf(out, "\n%s%s%s", colour ? "\033[1m" : "", section->title,
	           colour ? "\033[0m" : "");
	if (to - from < count)
		buf_printf(out, " (the %s %zu of %zu)", from ? "last" : "first", to - from, count);
	buf_char(out, '\n');
	put_label(out, section->label, label);
	for (size_t i = 0; i < FIGURES_COLUMNS && section->columns[i].title; i++)
		if (figures_column_shown(&section->columns[i], rows))
			buf_printf(out, "%*s", section->columns[i].width,
			           section->columns[i].title);
	for (size_t k = from; k < to; k++) {
		buf_char(out, '\n');
		put_label(out, figures_label(names[k]), label);
		for (size_t i = 0; i < FIGURES_COLUMNS && section->columns[i].title; i++) {
			char cell[FIGURES_CELL_BYTES];

			if (!figures_column_shown(&section->columns[i], rows))
				continue;
			figures_cell_print(json_object_get(rows, names[k]), &section->columns[i],
			                   cell);
			buf_printf(out, "%*s", section->columns[i].width, cell);
		}
	}
	buf_char(out, '\n');
}

static void figures_heading_print(struct buf *out, const json_t *figures)
{
	const size_t sessions = json_object_size(json_object_get(figures, "sessions"));
	const json_t *since = json_object_get(figures, "since");
	const json_t *model = json_object_get(figures, "model");

	buf_printf(out, "%zu session%s", sessions, sessions == 1 ? "" : "s");
	if (json_is_string(json_object_get(figures, "project"))) {
		buf_str(out, " of ");
		render_safe(out, json_span(json_object_get(figures, "project")));
	} else {
		buf_str(out, " of all projects");
	}
	if (json_is_string(since))
		buf_printf(out, ", since %.16s UTC", json_string_value(since));
	if (json_is_string(model)) {
		buf_str(out, ", model ");
		render_safe(out, json_span(model));
	}
	buf_char(out, '\n');
}

/* What was counted, as a line; and how many lines of files could not be read, if any. */
static void figures_unreadable_print(struct buf *out, const json_t *figures)
{
	const long long lines =
		json_integer_value(json_object_get(figures, "unreadable_lines"));

	if (lines)
		buf_printf(out, "\n%lld line%s of the files cannot be read.\n", lines,
		           lines == 1 ? "" : "s");
}

void figures_print(struct buf *out, const json_t *figures, bool colour)
{
	json_auto_t *rows = figures_rows(figures);

	figures_heading_print(out, figures);
	for (size_t i = 0; i < figures_sections_count; i++)
		figures_table_print(out, &figures_sections[i],
		                    json_object_get(rows, figures_sections[i].member), colour);
	figures_unreadable_print(out, figures);
}

/* The tables as a page, and what its script needs to draw charts from them. */

static void page_text(struct buf *out, struct span text)
{
	_cleanup_buf_ struct buf safe = BUF_INIT(LIMIT_RESULT_BYTES);

	render_safe(&safe, text);
	for (size_t i = 0; i < safe.len; i++) {
		const char c = safe.data[i];

		if (c == '&' || c == '<' || c == '>' || c == '"')
			buf_printf(out, "&#%d;", c);
		else
			buf_char(out, c);
	}
}

/* The columns that are shown, of which some stand in one chart: those of one group, and each that
 * has no group by itself. */
struct page_columns {
	const struct figures_column *list[FIGURES_COLUMNS];
	size_t count;
};

static struct page_columns page_columns_of(const struct figures_section *section,
                                           const json_t *rows)
{
	struct page_columns columns = { .count = 0 };

	for (size_t i = 0; i < FIGURES_COLUMNS && section->columns[i].title; i++)
		if (figures_column_shown(&section->columns[i], rows))
			columns.list[columns.count++] = &section->columns[i];
	return columns;
}

/* "1 2 3;4": the places of the columns of each chart, from 1.  Lines that were added
 * and removed belong together, too; tokens from a cache are among those that went in. */
static void page_charts(struct buf *out, const struct page_columns *columns)
{
	const char *before = NULL, *group;

	for (size_t i = 0; i < columns->count; i++) {
		group = columns->list[i]->group;
		if (!group && !strncmp(columns->list[i]->name, "lines_", 6))
			group = "lines";
		if (!strcmp(columns->list[i]->name, "cached"))
			continue;
		if (i)
			buf_char(out, group && before && !strcmp(group, before) ? ' ' : ';');
		buf_printf(out, "%zu", i + 1);
		before = group;
	}
}

static void page_row(struct buf *out, const struct page_columns *columns, const char *name,
                     const json_t *row)
{
	char cell[FIGURES_CELL_BYTES];

	buf_str(out, "<tr><th scope=\"row\">");
	page_text(out, span_str(figures_label(name)));
	buf_str(out, "</th>");
	for (size_t i = 0; i < columns->count; i++) {
		figures_cell_print(row, columns->list[i], cell);
		buf_printf(out, "<td data-value=\"%lld\">%s</td>",
		           (long long)figures_cell(row, columns->list[i]), cell);
	}
	buf_str(out, "</tr>\n");
}

static const char *const kinds[] = { [FIGURES_COUNT] = "count", [FIGURES_TIME] = "time",
	                             [FIGURES_MONEY] = "money" };

static void page_section(struct buf *out, const struct figures_section *section,
                         const json_t *rows)
{
	const struct page_columns columns = page_columns_of(section, rows);
	size_t count;
	_cleanup_free_ const char **names = figures_names(section, rows, &count);

	if (!figures_section_any(section, rows))
		return;
	buf_printf(out, "<section>\n<h2>%s</h2>\n<div class=\"scrolls\" tabindex=\"0\" "
	           "role=\"region\" aria-label=\"%s\">\n<table", section->title, section->title);
	if (count > 1) {
		buf_str(out, " data-charts=\"");
		page_charts(out, &columns);
		buf_char(out, '"');
	}
	buf_printf(out, ">\n<thead><tr><th scope=\"col\">%s</th>",
	           *section->label ? section->label : "of");
	for (size_t i = 0; i < columns.count; i++)
		buf_printf(out, "<th scope=\"col\" data-kind=\"%s\">%s</th>",
		           kinds[columns.list[i]->kind], columns.list[i]->title);
	buf_str(out, "</tr></thead>\n<tbody>\n");
	for (size_t k = 0; k < count; k++)
		page_row(out, &columns, names[k], json_object_get(rows, names[k]));
	buf_str(out, "</tbody></table></div>\n</section>\n");
}

static void page_head(struct buf *out)
{
	buf_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	             "style-src 'unsafe-inline'");
	if (*figures_script)
		buf_printf(out, "; script-src '%s'", figures_script_hash);
	buf_str(out, "\">\n<title>hasp stats</title>\n<style>\n"
	             ":root { color-scheme: light dark; }\n"
	             "body { font: 16px/1.5 system-ui, sans-serif; margin: 2em auto; "
	             "max-width: 62em; padding: 0 1em; }\n"
	             "h2 { font-size: 1.15em; margin: 2em 0 .5em; }\n"
	             ".scrolls { overflow-x: auto; }\n"
	             "table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n"
	             "td, th { padding: .2em .8em; text-align: right; font-weight: normal; "
	             "border-bottom: 1px solid #8886; }\n"
	             "thead th { font-weight: 600; }\n"
	             "th:first-child { text-align: left; overflow-wrap: anywhere; "
	             "min-width: 12em; }\n");
	buf_str(out, figures_style);
	buf_str(out, "</style>\n</head>\n<body>\n<main>\n<h1>hasp stats</h1>\n<p>");
}

void figures_page_print(struct buf *out, const json_t *figures)
{
	_cleanup_buf_ struct buf heading = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *rows = figures_rows(figures);

	page_head(out);
	figures_heading_print(&heading, figures);
	figures_unreadable_print(&heading, figures);
	page_text(out, span_trim(buf_view(&heading)));
	buf_str(out, "</p>\n");
	for (size_t i = 0; i < figures_sections_count; i++)
		page_section(out, &figures_sections[i],
		             json_object_get(rows, figures_sections[i].member));
	buf_str(out, "</main>\n");
	if (*figures_script)
		buf_printf(out, "<script>%s</script>\n", figures_script);
	buf_str(out, "</body>\n</html>\n");
}

/* ---- for the page of the web front -------------------------------------------------- */

static json_t *table_row(const struct page_columns *columns, const char *name, const json_t *row)
{
	json_t *cells = json_array(), *texts = json_array();
	char text[FIGURES_CELL_BYTES];

	for (size_t i = 0; i < columns->count; i++) {
		figures_cell_print(row, columns->list[i], text);
		json_array_append_new(cells, json_integer(figures_cell(row, columns->list[i])));
		json_array_append_new(texts, json_string(text));
	}
	return json_pack("{s:o, s:o, s:o}", "name", json_text(span_str(figures_label(name))),
	                 "cells", cells, "texts", texts);
}

static json_t *table_section(const struct figures_section *section, const json_t *rows)
{
	const struct page_columns columns = page_columns_of(section, rows);
	json_t *heads = json_array(), *lines = json_array(), *table;
	_cleanup_buf_ struct buf charts = BUF_INIT(LIMIT_MESSAGE_BYTES);
	size_t count, first, end;
	_cleanup_free_ const char **names = figures_names(section, rows, &count);

	/* Days are in order, and the last ones count. */
	end = count > FIGURES_TABLE_ROWS && section->shown <= 0 ? FIGURES_TABLE_ROWS : count;
	first = end > FIGURES_TABLE_ROWS ? end - FIGURES_TABLE_ROWS : 0;
	for (size_t i = 0; i < columns.count; i++)
		json_array_append_new(heads, json_pack("{s:s, s:s}", "title",
		                                       columns.list[i]->title, "kind",
		                                       kinds[columns.list[i]->kind]));
	for (size_t i = first; i < end; i++)
		json_array_append_new(lines, table_row(&columns, names[i],
		                                       json_object_get(rows, names[i])));
	table = json_pack("{s:s, s:s, s:o, s:o, s:I}", "title", section->title, "label",
	                  section->label, "columns", heads, "rows", lines, "left_off",
	                  (json_int_t)(count - (end - first)));
	if (count > 1) {
		page_charts(&charts, &columns);
		json_object_set_new(table, "charts", json_string(charts.data ? charts.data : ""));
	}
	return table;
}

json_t *figures_tables(const json_t *figures)
{
	_cleanup_buf_ struct buf heading = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *rows = figures_rows(figures);
	json_t *sections = json_array();

	figures_heading_print(&heading, figures);
	figures_unreadable_print(&heading, figures);
	for (size_t i = 0; i < figures_sections_count; i++) {
		const struct figures_section *section = &figures_sections[i];
		const json_t *own = json_object_get(rows, section->member);

		if (figures_section_any(section, own))
			json_array_append_new(sections, table_section(section, own));
	}
	return json_pack("{s:o, s:o}", "heading", json_text(span_trim(buf_view(&heading))),
	                 "sections", sections);
}
