/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp stats`: what the work of recorded sessions came to (docs/stats.md), as tables for people,
 * JSON, or a page.  A table is a row of `sections`: text and page are drawn from the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/session/sessions.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "config/settings.h"
#include "data/json.h"
#include "model/prices.h"

enum { WIDTH = 80, COLUMNS_MAX = 7, SESSIONS_SHOWN = 20, DAYS_SHOWN = 31, CELL_BYTES = 64 };

/* ---- what is shown ----------------------------------------------------------- */

enum figure_kind { COUNT, TIME /* milliseconds */, MONEY /* millionths of a dollar */ };

struct column {
	const char *title;
	const char *group; /* the object in the row that has it; NULL: the row itself */
	const char *name;
	int width;
	enum figure_kind kind;
};

struct section {
	const char *title;
	const char *label;  /* above the names of the rows */
	const char *member; /* of the figures: an object with a row for each name */
	size_t shown;       /* at most, on a terminal: the last; 0: all */
	struct column columns[COLUMNS_MAX];
};

static const struct section sections[] = {
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
	{ "Commands", "", "commands", 0,
	  { { "run", "commands", "run", 9, COUNT },
	    { "failed", "commands", "failed", 9, COUNT } } },
	{ "Time", "", "time", 0,
	  { { "model", "ms", "model", 10, TIME }, { "tools", "ms", "tools", 10, TIME },
	    { "waiting for you", "ms", "user", 17, TIME } } },
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

/* The rows of all sections. A new reference. */
static json_t *rows_of(const json_t *figures)
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
	json_object_set(rows, "tools", json_object_get(figures, "tools"));
	json_object_set(rows, "days", json_object_get(figures, "days"));
	json_object_set_new(rows, "session_rows",
	                    sessions_as_rows(json_object_get(figures, "sessions")));
	return rows;
}

static json_int_t cell_value(const json_t *row, const struct column *column)
{
	return json_integer_value(json_object_get(
		column->group ? json_object_get(row, column->group) : row, column->name));
}

static void figure_text(const json_t *row, const struct column *column, char out[CELL_BYTES])
{
	const long long value = cell_value(row, column);

	if (column->kind == COUNT)
		snprintf(out, CELL_BYTES, "%lld", value);
	else if (column->kind == MONEY)
		prices_print(value, out, CELL_BYTES);
	else if (value < 60000)
		snprintf(out, CELL_BYTES, "%.1f s", (double)value / 1000);
	else if (value < 3600000)
		snprintf(out, CELL_BYTES, "%lld m %02lld s", value / 60000, value / 1000 % 60);
	else
		snprintf(out, CELL_BYTES, "%lld h %02lld m", value / 3600000, value / 60000 % 60);
}

/* Money stands in a table only where there are prices. */
static bool column_shown(const struct column *column, const json_t *rows)
{
	const char *name;
	json_t *row;

	if (column->kind != MONEY)
		return true;
	json_object_foreach((json_t *)rows, name, row)
		if (cell_value(row, column))
			return true;
	return false;
}

static bool section_any(const struct section *section, const json_t *rows)
{
	const char *name;
	json_t *row;

	json_object_foreach((json_t *)rows, name, row)
		for (size_t i = 0; i < COLUMNS_MAX && section->columns[i].title; i++)
			if (cell_value(row, &section->columns[i]))
				return true;
	return false;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The rows' names in order; the caller frees the array. */
static const char **sorted_names(const json_t *rows, size_t *ret_count)
{
	const char **names = mem_alloc(json_object_size(rows) + 1, sizeof(*names));
	const char *name;
	json_t *row;

	*ret_count = 0;
	json_object_foreach((json_t *)rows, name, row)
		names[(*ret_count)++] = name;
	if (*ret_count)
		qsort(names, *ret_count, sizeof(*names), compare_names);
	return names;
}

/* "~all" stands last. */
static const char *row_label(const char *name)
{
	return *name == '~' ? "all" : name;
}

/* ---- as text ----------------------------------------------------------------- */

static size_t columns_width(const struct section *section, const json_t *rows)
{
	size_t width = 0;

	for (size_t i = 0; i < COLUMNS_MAX && section->columns[i].title; i++)
		if (column_shown(&section->columns[i], rows))
			width += (size_t)section->columns[i].width;
	return width;
}

static void put_label(struct buf *out, const char *label, size_t width)
{
	_cleanup_buf_ struct buf safe = BUF_INIT(LIMIT_RESULT_BYTES);
	struct span head;
	size_t shown = 0;

	render_safe(&safe, span_str(label));
	head = safe.len > width - 1 ? utf8_head(buf_view(&safe), width - 2) : buf_view(&safe);
	buf_span(out, head);
	if (head.len < safe.len)
		buf_char(out, '~');
	for (size_t i = 0; i < head.len; i++)
		shown += ((unsigned char)head.data[i] & 0xc0) != 0x80;
	for (shown += head.len < safe.len; shown < width; shown++)
		buf_char(out, ' ');
}

static void put_stats_table(struct buf *out, const struct section *section, const json_t *rows,
                        bool colour)
{
	const size_t label = WIDTH - columns_width(section, rows);
	size_t count, from;
	_cleanup_free_ const char **names = sorted_names(rows, &count);

	if (!section_any(section, rows))
		return;
	from = section->shown && count > section->shown ? count - section->shown : 0;
	buf_printf(out, "\n%s%s%s", colour ? "\033[1m" : "", section->title,
	           colour ? "\033[0m" : "");
	if (from)
		buf_printf(out, " (the last %zu of %zu)", section->shown, count);
	buf_char(out, '\n');
	put_label(out, section->label, label);
	for (size_t i = 0; i < COLUMNS_MAX && section->columns[i].title; i++)
		if (column_shown(&section->columns[i], rows))
			buf_printf(out, "%*s", section->columns[i].width,
			           section->columns[i].title);
	for (size_t k = from; k < count; k++) {
		buf_char(out, '\n');
		put_label(out, row_label(names[k]), label);
		for (size_t i = 0; i < COLUMNS_MAX && section->columns[i].title; i++) {
			char cell[CELL_BYTES];

			if (!column_shown(&section->columns[i], rows))
				continue;
			figure_text(json_object_get(rows, names[k]), &section->columns[i], cell);
			buf_printf(out, "%*s", section->columns[i].width, cell);
		}
	}
	buf_char(out, '\n');
}

static void put_stats_heading(struct buf *out, const json_t *figures)
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

static void put_unreadable(struct buf *out, const json_t *figures)
{
	const long long lines =
		json_integer_value(json_object_get(figures, "unreadable_lines"));

	if (lines)
		buf_printf(out, "\n%lld line%s of the files cannot be read.\n", lines,
		           lines == 1 ? "" : "s");
}

/* ---- as a page --------------------------------------------------------------- */

static void put_page_text(struct buf *out, struct span text)
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

static void put_html_section(struct buf *out, const struct section *section, const json_t *rows)
{
	size_t count;
	_cleanup_free_ const char **names = sorted_names(rows, &count);

	if (!section_any(section, rows))
		return;
	buf_printf(out, "<h2>%s</h2>\n<table>\n<tr><th>%s</th>", section->title, section->label);
	for (size_t i = 0; i < COLUMNS_MAX && section->columns[i].title; i++)
		if (column_shown(&section->columns[i], rows))
			buf_printf(out, "<th>%s</th>", section->columns[i].title);
	buf_str(out, "</tr>\n");
	for (size_t k = 0; k < count; k++) {
		buf_str(out, "<tr><td>");
		put_page_text(out, span_str(row_label(names[k])));
		buf_str(out, "</td>");
		for (size_t i = 0; i < COLUMNS_MAX && section->columns[i].title; i++) {
			char cell[CELL_BYTES];

			if (!column_shown(&section->columns[i], rows))
				continue;
			figure_text(json_object_get(rows, names[k]), &section->columns[i], cell);
			buf_printf(out, "<td>%s</td>", cell);
		}
		buf_str(out, "</tr>\n");
	}
	buf_str(out, "</table>\n");
}

static void put_page(struct buf *out, const json_t *figures, const json_t *rows)
{
	_cleanup_buf_ struct buf heading = BUF_INIT(LIMIT_RESULT_BYTES);

	buf_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	             "style-src 'unsafe-inline'\">\n<title>hasp stats</title>\n<style>\n"
	             "body { font: 15px/1.4 sans-serif; margin: 2em auto; max-width: 60em; }\n"
	             "table { border-collapse: collapse; }\n"
	             "td, th { padding: 0.2em 0.8em; text-align: right; "
	             "border-bottom: 1px solid #8884; }\n"
	             "td:first-child, th:first-child { text-align: left; }\n"
	             ":root { color-scheme: light dark; }\n</style>\n</head>\n<body>\n"
	             "<h1>hasp stats</h1>\n<p>");
	put_stats_heading(&heading, figures);
	put_unreadable(&heading, figures);
	put_page_text(out, span_trim(buf_view(&heading)));
	buf_str(out, "</p>\n");
	for (size_t i = 0; i < ARRAY_LEN(sections); i++)
		put_html_section(out, &sections[i], json_object_get(rows, sections[i].member));
	buf_str(out, "</body>\n</html>\n");
}

/* ---- the command ------------------------------------------------------------- */

/* "7d", "12h" or "2w" ago, or a day, as the beginning of a time in the files. */
static bool since_read(const char *word, char out[32], struct err *err)
{
	static const struct {
		char unit;
		long seconds;
	} units[] = { { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
	struct tm parts = { 0 };
	char *end;
	const long count = strtol(word, &end, 10);
	const char *rest;
	time_t when;

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (end > word && count >= 0 && count < 100000 && end[0] == units[i].unit &&
		    !end[1]) {
			when = time(NULL) - count * units[i].seconds;
			gmtime_r(&when, &parts);
			strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &parts);
			return true;
		}
	rest = strlen(word) == 10 ? strptime(word, "%Y-%m-%d", &parts) : NULL;
	if (!rest || *rest)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--since is a day like 2026-11-20, or a time like 12h, 7d or 2w.");
	strftime(out, 32, "%Y-%m-%d", &parts);
	return true;
}

static bool stats_show(const struct invocation *invocation, const json_t *figures,
                       struct err *err)
{
	const char *page = invocation_value(invocation, FLAG_HTML);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *rows = rows_of(figures);

	if (page) {
		put_page(&out, figures, rows);
		return (!out.overflowed || err_set(err, ERR_TOO_LARGE, "The page is too large.")) &&
		       file_replace(page, buf_view(&out), 0600, err);
	}
	if (invocation_has(invocation, FLAG_JSON))
		return output_json(figures, true, err);
	put_stats_heading(&out, figures);
	for (size_t i = 0; i < ARRAY_LEN(sections); i++)
		put_stats_table(&out, &sections[i], json_object_get(rows, sections[i].member),
		            output_uses_colour(NULL));
	put_unreadable(&out, figures);
	return output_text(buf_view(&out), err);
}

/* `since`: a moment as since_read makes it, or NULL. */
static bool stats_count(const struct invocation *invocation, const char *since, struct err *err)
{
	const char *folder = invocation_value(invocation, FLAG_PROJECT);
	_cleanup_free_ char *project = realpath(folder ? folder : ".", NULL);
	struct figures_options options = { .all = invocation_has(invocation, FLAG_ALL),
		                           .model = invocation_value(invocation, FLAG_MODEL) };
	struct settings *settings = NULL;
	json_auto_t *figures = NULL;

	if (!project)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s does not exist, or is not a folder.",
		               folder ? folder : ".");
	if (!home_open(project, &options.home, err))
		return false;
	if (!settings_load_own(&settings, err)) {
		home_free(options.home);
		return false;
	}
	options.prices = settings ? settings_get(settings, "hasp.prices") : NULL;
	options.since = since;
	figures = figures_read(&options);
	json_object_set_new(figures, "version", json_integer(1));
	json_object_set_new(figures, "project", options.all ? json_null() : json_name(project));
	json_object_set_new(figures, "since", json_cstr(options.since));
	json_object_set_new(figures, "model",
	                    options.model ? json_text(span_str(options.model)) : json_null());
	home_free(options.home);
	settings_free(settings);
	return stats_show(invocation, figures, err);
}

int command_run_stats(const struct invocation *invocation)
{
	const char *since = invocation_value(invocation, FLAG_SINCE);
	struct err err = ERR_INIT;
	char moment[32];

	if (since && !since_read(since, moment, &err))
		return output_fail(&err, CLI_USAGE);
	if (invocation_has(invocation, FLAG_ALL) && invocation_has(invocation, FLAG_PROJECT)) {
		output_complain("--all and --project exclude each other.");
		return CLI_USAGE;
	}
	return stats_count(invocation, since ? moment : NULL, &err) ? CLI_OK :
	                                                   output_fail(&err, CLI_FAILED);
}
