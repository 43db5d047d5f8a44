/* SPDX-License-Identifier: Apache-2.0 */
/* A worksheet as text: one line a row, "12 | left | | right", under a line with the letters of the
 * columns; empty rows are left out, and all that is outside the range that was asked for.
 *
 *     sheet_begin(&sheet, name, columns);
 *     for each row:
 *             for each cell that is not empty, from left to right:
 *                     sheet_cell(&sheet, column, repeat, text);
 *             more = sheet_row(&sheet, row, repeat);
 *     sheet_end(&sheet);
 */
#ifndef HASP_READ_SHEET_H
#define HASP_READ_SHEET_H

#include "base/buf.h"
#include "read/text_out.h"

enum { SHEET_ROWS = 1048576, SHEET_COLUMNS = 16384, SHEETS_MAX = 1000 };

/* All from 1, and included. */
struct sheet_range {
	unsigned first_row, last_row, first_column, last_column;
};

/* The sheets of a workbook. */
struct sheet_list {
	struct sheet_entry {
		char *name;
		char *part;             /* of an .xlsx: the member with it */
		bool hidden;
		unsigned rows, columns; /* as far as something is in them; 0: not known */
	} *all;
	size_t count, cap;
};

struct sheet {
	struct text_out *out;     /* borrowed */
	struct sheet_range range;
	const char *name;         /* borrowed, of the one that is written */
	unsigned columns, rows;   /* of it */
	unsigned column;          /* the last one in the line */
	bool head;                /* the letters are written */
	struct buf line;          /* the row so far */
	struct buf merged;        /* ranges of merged cells, as text */
	size_t merges;
};

/* "A1:C20", "B7", "A:C", "5:20"; NULL: all of it.  INVALID_ARGUMENT. */
bool sheet_range(const char *text, struct sheet_range *ret, struct err *err);
/* "B7": the rest of what begins with a cell's name; 0 for what is missing. */
struct span sheet_place(struct span text, unsigned *ret_column, unsigned *ret_row);

/* Adds one; false: there are SHEETS_MAX.  Both texts are the list's from then on. */
bool sheet_list_add(struct sheet_list *list, char *name, char *part);
void sheet_list_release(struct sheet_list *list); /* frees all names */
/* Facts, and the outline if it is asked for. */
void sheet_list_facts(const struct sheet_list *list, const struct derive_request *request,
                      struct derive_result *ret);
/* Which are asked for: [*ret_first, *ret_end).  INVALID_ARGUMENT names those that there are. */
bool sheet_list_find(const struct sheet_list *list, const struct derive_request *request,
                     size_t *ret_first, size_t *ret_end, struct err *err);

/* The sheet of a workbook that is written next; the range and `out` stay. */
void sheet_begin(struct sheet *sheet, const struct sheet_entry *entry);
/* Whether cells of the column are of interest. */
bool sheet_has_column(const struct sheet *sheet, unsigned column);
/* Adds a cell that stands in `repeat` columns. */
void sheet_cell(struct sheet *sheet, unsigned column, unsigned repeat, struct span text);
/* Ends a row that stands `repeat` times; false: no row that follows is wanted. */
bool sheet_row(struct sheet *sheet, unsigned row, unsigned repeat);
/* Notes merged cells. */
void sheet_merged(struct sheet *sheet, struct span range);
void sheet_end(struct sheet *sheet);
/* Frees what it holds. */
void sheet_release(struct sheet *sheet);
/* Appends the letters of a column. */
void sheet_letters(struct buf *out, unsigned column);

#endif
