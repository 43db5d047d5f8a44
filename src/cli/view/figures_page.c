/* SPDX-License-Identifier: Apache-2.0 */
/* The tables as a page, and what its script needs to draw charts from them. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/view/figures.h"
#include "cli/view/view.h"
#include "data/json.h"

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
