/* SPDX-License-Identifier: Apache-2.0 */
/* From places of letters to rows, from rows to tables. */
#include "read/pdf_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"

enum {
	ROWS_LEAST = 3,      /* fewer are no table */
	ROWS_LETTERS = 24,   /* of a piece of a table, on the average: columns of prose have more */
	ROWS_APART = 3,      /* times its height: the next row of a table is not further down */
	ROWS_COLUMNS = 64,
	ROWS_PIECES = 200000, /* a page with more is written as it is */
};

/* What stands together on one line, with no wide gap in it. */
struct rows_piece {
	size_t start, end; /* bytes of the text */
	double x1, x2, middle, height;
	size_t letters;
	size_t table;      /* number of the table that it is in, from 1; 0: none */
};

/* Pieces [first, first + count) of the list `by_height`. */
struct rows_row {
	size_t first, count;
	bool short_pieces;
};

struct pdf_rows {
	struct span text;
	struct rows_piece *pieces;      /* in the order of the text */
	size_t count, cap;
	struct rows_piece **by_height;  /* by row, then from left to right */
	struct rows_row *rows;
	size_t row_count;
	size_t *table_starts;           /* the first row of each table, from number 1 on */
	size_t tables, tables_cap;
	struct text_out *out;
};

/* ---- pieces ---------------------------------------------------------------------------- */

static void pdf_rows_release(struct pdf_rows *rows)
{
	free(rows->pieces);
	free(rows->by_height);
	free(rows->rows);
	free(rows->table_starts);
}

static bool is_sane(const struct pdf_place *place)
{
	return isfinite(place->x1) && isfinite(place->x2) && isfinite(place->y1) &&
	       isfinite(place->y2) && place->y2 >= place->y1 && place->x2 >= place->x1;
}

/* False: the places are not those of the text. */
static bool rows_cut(struct pdf_rows *rows, const struct pdf_place *places, size_t count)
{
	struct span rest = rows->text;
	struct utf8_char next;
	struct rows_piece *piece = NULL;
	size_t i = 0;

	for (; utf8_next(&rest, &next); i++) {
		const struct pdf_place *place = &places[i];
		const size_t at = (size_t)(next.bytes.data - rows->text.data);

		if (i == count || !is_sane(place))
			return false;
		if (next.code == '\n')
			piece = NULL;
		if (next.code <= ' ')
			continue;
		if (piece && fabs(place->x1 - piece->x2) > piece->height)
			piece = NULL;
		if (!piece) {
			if (rows->count == ROWS_PIECES)
				return false;
			rows->pieces = mem_grow(rows->pieces, &rows->cap, rows->count + 1,
			                        sizeof(*rows->pieces));
			piece = &rows->pieces[rows->count++];
			*piece = (struct rows_piece){
				.start = at, .x1 = place->x1,
				.middle = (place->y1 + place->y2) / 2,
				.height = place->y2 - place->y1,
			};
		}
		piece->end = at + next.bytes.len;
		piece->x2 = place->x2;
		piece->letters++;
	}
	return i == count;
}

/* ---- rows ------------------------------------------------------------------------------ */

static int compare_doubles(double a, double b)
{
	return a < b ? -1 : a > b;
}

static int compare_middles(const void *a, const void *b)
{
	const struct rows_piece *left = *(struct rows_piece *const *)a;
	const struct rows_piece *right = *(struct rows_piece *const *)b;

	return compare_doubles(left->middle, right->middle);
}

static int compare_lefts(const void *a, const void *b)
{
	const struct rows_piece *left = *(struct rows_piece *const *)a;
	const struct rows_piece *right = *(struct rows_piece *const *)b;

	return compare_doubles(left->x1, right->x1);
}

static void rows_group(struct pdf_rows *rows)
{
	size_t first = 0;

	rows->by_height = mem_alloc(rows->count, sizeof(struct rows_piece *));
	rows->rows = mem_alloc(rows->count, sizeof(*rows->rows));
	for (size_t i = 0; i < rows->count; i++)
		rows->by_height[i] = &rows->pieces[i];
	qsort(rows->by_height, rows->count, sizeof(struct rows_piece *), compare_middles);
	while (first < rows->count) {
		const struct rows_piece *head = rows->by_height[first];
		struct rows_row *row = &rows->rows[rows->row_count++];
		size_t letters = 0;

		*row = (struct rows_row){ .first = first };
		while (first < rows->count &&
		       rows->by_height[first]->middle - head->middle <= head->height / 2)
			letters += rows->by_height[first++]->letters;
		row->count = first - row->first;
		row->short_pieces = row->count > 1 && letters <= ROWS_LETTERS * row->count;
		qsort(rows->by_height + row->first, row->count, sizeof(struct rows_piece *),
		      compare_lefts);
	}
}

/* ---- tables ---------------------------------------------------------------------------- */

static struct rows_piece *row_head(const struct pdf_rows *rows, size_t row)
{
	return rows->by_height[rows->rows[row].first];
}

/* How many rows from `row` on are of one table. */
static size_t rows_of_table(const struct pdf_rows *rows, size_t row)
{
	size_t end = row;

	while (end < rows->row_count && rows->rows[end].short_pieces) {
		const struct rows_piece *above = end > row ? row_head(rows, end - 1) : NULL;

		if (above && row_head(rows, end)->middle - above->middle >
		    ROWS_APART * above->height)
			break;
		end++;
	}
	return end - row;
}

static void rows_find_tables(struct pdf_rows *rows)
{
	for (size_t row = 0; row < rows->row_count;) {
		const size_t count = rows_of_table(rows, row);

		if (count >= ROWS_LEAST) {
			const size_t from = rows->rows[row].first;
			const struct rows_row *last = &rows->rows[row + count - 1];

			rows->tables++;
			rows->table_starts = mem_grow(rows->table_starts, &rows->tables_cap,
			                              rows->tables + 1, sizeof(size_t));
			rows->table_starts[rows->tables] = row;
			for (size_t i = from; i < last->first + last->count; i++)
				rows->by_height[i]->table = rows->tables;
		}
		row += count ? count : 1;
	}
}

/* ---- writing --------------------------------------------------------------------------- */

struct rows_columns {
	size_t count;
	double ends[ROWS_COLUMNS]; /* where each ends, from left to right */
};

/* Columns are what is left of the width when all gaps that every row has are taken out. */
static struct rows_columns find_columns(struct rows_piece *const *pieces, size_t count)
{
	struct rows_columns columns = { 0 };
	struct rows_piece **sorted = mem_alloc(count, sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		sorted[i] = pieces[i];
	qsort(sorted, count, sizeof(struct rows_piece *), compare_lefts);
	for (size_t i = 0; i < count; i++) {
		double *end = columns.count ? &columns.ends[columns.count - 1] : NULL;

		if (!end || (sorted[i]->x1 > *end && columns.count < ROWS_COLUMNS))
			columns.ends[columns.count++] = sorted[i]->x2;
		else if (sorted[i]->x2 > *end)
			*end = sorted[i]->x2;
	}
	free(sorted);
	return columns;
}

static void write_row(struct pdf_rows *rows, struct rows_piece *const *pieces, size_t count,
                      const struct rows_columns *columns)
{
	const bool bars = columns->count > 1;
	size_t column = 0;

	text_out(rows->out, bars ? SPAN("| ") : SPAN(""));
	for (size_t i = 0; i < count; i++) {
		const struct rows_piece *piece = pieces[i];

		for (; column + 1 < columns->count && piece->x1 > columns->ends[column]; column++)
			text_out(rows->out, SPAN("| "));
		text_out(rows->out, span_of(rows->text.data + piece->start,
		                            piece->end - piece->start));
		text_out(rows->out, SPAN(" "));
	}
	for (; bars && column < columns->count; column++)
		text_out(rows->out, column + 1 < columns->count ? SPAN("| ") : SPAN("|"));
	text_out(rows->out, SPAN("\n"));
}

static void write_table(struct pdf_rows *rows, size_t table)
{
	size_t row = rows->table_starts[table], end;
	struct rows_columns columns;

	for (end = row; end < rows->row_count && row_head(rows, end)->table == table; end++)
		;
	columns = find_columns(rows->by_height + rows->rows[row].first,
	                       rows->rows[end - 1].first + rows->rows[end - 1].count -
	                       rows->rows[row].first);
	text_out_line(rows->out);
	for (; row < end; row++)
		write_row(rows, rows->by_height + rows->rows[row].first, rows->rows[row].count,
		          &columns);
}

/* The text, with each table where its first piece is. */
static void write_all(struct pdf_rows *rows)
{
	_cleanup_free_ bool *written = mem_alloc(rows->tables + 1, sizeof(*written));
	size_t at = 0;

	for (size_t i = 0; i <= rows->count; i++) {
		const struct rows_piece *piece = i < rows->count ? &rows->pieces[i] : NULL;
		const size_t from = piece ? piece->start : rows->text.len;
		const struct span between = span_of(rows->text.data + at, from - at);
		const bool hidden = i && rows->pieces[i - 1].table;

		/* What stands between two pieces of tables is their line ends. */
		if (!hidden || !piece || !piece->table)
			text_out(rows->out, hidden ? span_trim(between) : between);
		if (piece && piece->table && !written[piece->table])
			write_table(rows, piece->table);
		if (piece && piece->table)
			written[piece->table] = true;
		else if (piece)
			text_out(rows->out, span_of(rows->text.data + from, piece->end - from));
		at = piece ? piece->end : from;
	}
}

bool pdf_rows_write(struct span text, const struct pdf_place *places, size_t count,
                    struct text_out *out)
{
	struct pdf_rows rows = { .text = text, .out = out };
	const bool cut = rows_cut(&rows, places, count);

	if (cut && rows.count) {
		rows_group(&rows);
		rows_find_tables(&rows);
	}
	if (rows.tables)
		write_all(&rows);
	else
		text_out(out, text);
	pdf_rows_release(&rows);
	return !out->full;
}
