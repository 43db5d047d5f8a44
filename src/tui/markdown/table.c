/* SPDX-License-Identifier: Apache-2.0 */
/* Tables, laid out for a width: columns are as wide as their texts where that fits; else those that
 * are wider than their share are wrapped. Where columns would be too narrow to read, each row is a
 * list of its cells. No signs stand between columns, so that rows can be copied. */
#include <stdlib.h>

#include "base/mem.h"
#include "tui/markdown/private.h"

enum { TABLE_GAP = 2, TABLE_COLUMN_MIN = 6 };

struct block_table {
	const struct table_cells *cells;
	unsigned *widths; /* per column; owned */
	bool wrapped;     /* some cell of the body is */
};

/* The rows [*from, to) of a cell. */
static size_t cell_rows(const struct table_cells *cells, size_t cell, size_t *from)
{
	*from = cell > 0 ? cells->ends[cell - 1] : 0;
	return cells->ends[cell];
}

static unsigned cell_width(const struct table_cells *cells, size_t cell)
{
	size_t from, to = cell_rows(cells, cell, &from);
	unsigned width = 0;

	for (; from < to; from++)
		if (cells->rows.at[from].width > width)
			width = cells->rows.at[from].width;
	return width;
}

/* Gives each column its share of `room` columns; false: too little to read. */
static bool share_widths(struct block_table *table, unsigned room)
{
	const unsigned count = table->cells->columns;
	unsigned left = room, open = count, cut = 0;
	bool *set = mem_alloc(count, sizeof(*set));
	bool more = true;

	while (more && open > 0) {
		const unsigned share = left / open;

		more = false;
		for (unsigned i = 0; i < count && open > 0; i++) {
			if (set[i] || table->widths[i] > share)
				continue;
			set[i] = more = true;
			left -= table->widths[i];
			open--;
		}
	}
	for (unsigned i = 0; i < count; i++) {
		if (set[i])
			continue;
		table->widths[i] = left / open + (cut < left % open);
		cut++;
	}
	free(set);
	return open == 0 || left / open >= TABLE_COLUMN_MIN;
}

static void pad_cell(struct row *row, const struct row *text, unsigned width, unsigned align)
{
	const unsigned free_columns = width > text->width ? width - text->width : 0;
	const unsigned begin = row->width;

	row_pad(row, begin + (align == 2 ? free_columns : align == 1 ? free_columns / 2 : 0),
	        STYLE(ROLE_TEXT));
	row_append(row, text);
}

/* One row of the table, of as many rows as its highest cell. */
static void put_table_row(struct rows *out, struct block_table *table, size_t first)
{
	const struct table_cells *cells = table->cells;
	struct rows *wrapped = mem_alloc(cells->columns, sizeof(*wrapped));
	size_t height = 0;

	for (unsigned i = 0; i < cells->columns; i++) {
		size_t from, to = cell_rows(cells, first + i, &from);

		for (; from < to; from++) {
			struct row *line = &cells->rows.at[from];

			if (line->width <= table->widths[i])
				row_append(rows_add(&wrapped[i]), line);
			else
				rows_wrap(&wrapped[i], line, table->widths[i], NULL, NULL);
		}
		height = wrapped[i].count > height ? wrapped[i].count : height;
	}
	for (size_t y = 0; y < height; y++) {
		struct row *row = rows_add(out);
		unsigned column = 0;

		for (unsigned i = 0; i < cells->columns; i++) {
			if (y < wrapped[i].count && wrapped[i].at[y].width > 0) {
				row_pad(row, column, STYLE(ROLE_TEXT));
				pad_cell(row, &wrapped[i].at[y], table->widths[i],
				         cells->align[i]);
			}
			column += table->widths[i] + TABLE_GAP;
		}
	}
	for (unsigned i = 0; i < cells->columns; i++)
		rows_release(&wrapped[i]);
	free(wrapped);
}

static void put_line(struct row *row, unsigned columns)
{
	for (unsigned i = 0; i < columns; i++)
		row_text(row, SPAN("─"), STYLE(ROLE_BORDER));
}

/* A line under the header, or a row: as wide as the columns. */
static void put_table_line(struct rows *out, const struct block_table *table)
{
	struct row *row = rows_add(out);

	for (unsigned i = 0; i < table->cells->columns; i++) {
		if (i > 0)
			row_pad(row, row->width + TABLE_GAP, STYLE(ROLE_BORDER));
		put_line(row, table->widths[i] > 0 ? table->widths[i] : 1);
	}
}

static void put_table(struct rows *out, struct block_table *table)
{
	const struct table_cells *cells = table->cells;

	put_table_row(out, table, 0);
	put_table_line(out, table);
	for (size_t at = cells->columns; at < cells->count; at += cells->columns) {
		if (table->wrapped && at > cells->columns)
			put_table_line(out, table);
		put_table_row(out, table, at);
	}
}

/* "header: cell" for each cell, rows apart; of a table without rows its headers. */
static void put_records(struct rows *out, const struct table_cells *cells, unsigned width)
{
	for (size_t i = 0; cells->count == cells->columns && i < cells->rows.count; i++)
		rows_wrap(out, &cells->rows.at[i], width, NULL, NULL);
	for (size_t at = cells->columns; at < cells->count; at += cells->columns) {
		if (at > cells->columns)
			rows_add(out);
		for (unsigned i = 0; i < cells->columns; i++) {
			_cleanup_row_ struct row line = { 0 }, rest = { 0 };
			size_t from, to = cell_rows(cells, i, &from);

			for (; from < to; from++) {
				row_append(&line, &cells->rows.at[from]);
				row_text(&line, from + 1 < to ? SPAN(" ") : SPAN(": "),
				         STYLE(ROLE_TEXT));
			}
			for (to = cell_rows(cells, at + i, &from); from < to; from++) {
				row_append(&line, &cells->rows.at[from]);
				if (from + 1 < to)
					row_text(&line, SPAN(" "), STYLE(ROLE_TEXT));
			}
			row_text(&rest, SPAN("  "), STYLE(ROLE_TEXT));
			rows_wrap(out, &line, width, NULL, &rest);
		}
	}
}

bool table_rows(struct rows *out, struct span source, unsigned width)
{
	struct table_cells cells = { 0 };
	struct block_table table = { .cells = &cells };
	bool ok = inline_table(&cells, source);

	if (ok) {
		const unsigned gaps = TABLE_GAP * (cells.columns - 1);
		unsigned sum = 0;

		table.widths = mem_alloc(cells.columns, sizeof(*table.widths));
		for (size_t i = 0; i < cells.count; i++) {
			unsigned *column = &table.widths[i % cells.columns];
			unsigned columns = cell_width(&cells, i);

			*column = columns > *column ? columns : *column;
		}
		for (unsigned i = 0; i < cells.columns; i++)
			sum += table.widths[i];
		table.wrapped = sum + gaps > width;
		if (!table.wrapped || (gaps < width && share_widths(&table, width - gaps)))
			put_table(out, &table);
		else
			put_records(out, &cells, width);
	}
	free(table.widths);
	inline_release(&cells);
	return ok;
}
