/* SPDX-License-Identifier: Apache-2.0 */
/* The tables, their rows, and the tables as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/view/figures.h"
#include "cli/view/view.h"
#include "data/json.h"
#include "model/prices.h"

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

const struct figures_section figures_sections[] = {
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

const size_t figures_sections_count = ARRAY_LEN(figures_sections);

/* {NAME: N} as rows of one figure each. */
static json_t *counts_as_rows(const json_t *counts)
{
	json_t *rows = json_object(), *count;
	const char *name;

	json_object_foreach((json_t *)counts, name, count)
		json_object_set_new(rows, name, json_pack("{s:O}", "times", count));
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

json_t *figures_rows(const json_t *figures)
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

json_int_t figures_cell(const json_t *row, const struct figures_column *column)
{
	return json_integer_value(json_object_get(
		column->group ? json_object_get(row, column->group) : row, column->name));
}

void figures_cell_print(const json_t *row, const struct figures_column *column,
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

bool figures_column_shown(const struct figures_column *column, const json_t *rows)
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

bool figures_section_any(const struct figures_section *section, const json_t *rows)
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

const char **figures_names(const struct figures_section *section, const json_t *rows,
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

const char *figures_label(const char *name)
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

void figures_heading_print(struct buf *out, const json_t *figures)
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

void figures_unreadable_print(struct buf *out, const json_t *figures)
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
