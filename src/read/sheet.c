/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of cells to lines of text. */
#include "read/sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "read/format.h"

enum {
	SHEET_LINE = 1 << 20,
	SHEET_CELL = 32 << 10,  /* what Excel allows in one */
	SHEET_GAP = 20,         /* empty cells, above which the column's letters are written */
	SHEET_HEAD = 100,       /* columns whose letters are */
	SHEET_MERGED = 4 << 10,
	SHEET_NAMES = 400,      /* bytes of names in an error */
};

/* ---- ranges ---------------------------------------------------------------------------- */

struct span sheet_place(struct span text, unsigned *ret_column, unsigned *ret_row)
{
	unsigned column = 0, row = 0;

	while (text.len && (ascii_is_letter(text.data[0]) || text.data[0] == '$')) {
		if (text.data[0] != '$' && column <= SHEET_COLUMNS)
			column = column * 26 + (unsigned)((text.data[0] | 32) - 'a' + 1);
		text = span_skip(text, 1);
	}
	while (text.len && ascii_is_digit(text.data[0])) {
		if (row <= SHEET_ROWS)
			row = row * 10 + (unsigned)(text.data[0] - '0');
		text = span_skip(text, 1);
	}
	*ret_column = column <= SHEET_COLUMNS ? column : SHEET_COLUMNS;
	*ret_row = row <= SHEET_ROWS ? row : SHEET_ROWS;
	return text;
}

bool sheet_range(const char *text, struct sheet_range *ret, struct err *err)
{
	struct sheet_range range = { 1, SHEET_ROWS, 1, SHEET_COLUMNS };
	struct span rest = span_trim(span_str(text));
	unsigned column, row;
	bool cell;

	*ret = range;
	if (!text)
		return true;
	rest = sheet_place(rest, &column, &row);
	cell = column && row;
	range.first_column = column ? column : 1;
	range.first_row = row ? row : 1;
	if (cell && !rest.len) {
		range.last_column = column;
		range.last_row = row;
	}
	if (span_starts(rest, SPAN(":"))) {
		rest = sheet_place(span_skip(rest, 1), &column, &row);
		range.last_column = column ? column : SHEET_COLUMNS;
		range.last_row = row ? row : SHEET_ROWS;
		cell = true;
	}
	if (!cell || rest.len || range.last_row < range.first_row ||
	    range.last_column < range.first_column)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "\"%.100s\" is no range of cells: give one such as \"A1:C20\", "
		               "\"A:C\" or \"5:20\".", text);
	*ret = range;
	return true;
}

void sheet_letters(struct buf *out, unsigned column)
{
	char letters[8];
	size_t at = sizeof(letters);

	for (; column && at; column = (column - 1) / 26)
		letters[--at] = (char)('A' + (column - 1) % 26);
	buf_append(out, letters + at, sizeof(letters) - at);
}

/* ---- the list -------------------------------------------------------------------------- */

bool sheet_list_add(struct sheet_list *list, char *name, char *part)
{
	if (list->count == SHEETS_MAX) {
		free(name);
		free(part);
		return false;
	}
	list->all = mem_grow(list->all, &list->cap, list->count + 1, sizeof(*list->all));
	list->all[list->count++] = (struct sheet_entry){ .name = name, .part = part };
	return true;
}

void sheet_list_release(struct sheet_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->all[i].name);
		free(list->all[i].part);
	}
	free(list->all);
	*list = (struct sheet_list){ 0 };
}

void sheet_list_facts(const struct sheet_list *list, const struct derive_request *request,
                      struct derive_result *ret)
{
	format_fact_count(ret, "sheets", list->count);
	for (size_t i = 0; request->want == DERIVE_OUTLINE && i < list->count; i++) {
		const struct sheet_entry *entry = &list->all[i];
		json_t *shown = format_outline(ret, span_str(entry->name), "sheet",
		                               span_str(entry->name));

		if (entry->rows) {
			format_entry_count(shown, "rows", entry->rows);
			format_entry_count(shown, "columns", entry->columns);
		}
		if (entry->hidden && shown)
			json_object_set_new(shown, "hidden", json_true());
	}
}

static bool refuse_sheet(const struct sheet_list *list, const char *name, struct err *err)
{
	_cleanup_buf_ struct buf names = BUF_INIT(SHEET_NAMES);

	for (size_t i = 0; i < list->count && !names.overflowed; i++)
		buf_printf(&names, "%s\"%.60s\"", i ? ", " : "", list->all[i].name);
	return err_set(err, ERR_INVALID_ARGUMENT, "It has no sheet \"%.100s\". It has %zu: %s%s.",
	               name, list->count, names.data ? names.data : "",
	               names.overflowed ? " and more" : "");
}

bool sheet_list_find(const struct sheet_list *list, const struct derive_request *request,
                     size_t *ret_first, size_t *ret_end, struct err *err)
{
	const struct span number = span_str(request->sheet);
	size_t at = list->count;

	*ret_first = 0;
	*ret_end = list->count;
	if (!request->sheet) {
		*ret_end = request->range && list->count ? 1 : list->count;
		return true;
	}
	for (size_t i = list->count; i > 0; i--)
		if (strcmp(list->all[i - 1].name, request->sheet) == 0)
			at = i - 1;
	if (at == list->count && number.len && number.len < 5 &&
	    span_digits(number) == number.len)
		at = strtoul(request->sheet, NULL, 10) - 1;
	if (at >= list->count)
		return refuse_sheet(list, request->sheet, err);
	*ret_first = at;
	*ret_end = at + 1;
	return true;
}

/* ---- rows ------------------------------------------------------------------------------ */

void sheet_begin(struct sheet *sheet, const struct sheet_entry *entry)
{
	sheet->name = entry->name;
	sheet->columns = entry->columns;
	sheet->rows = entry->rows;
	sheet->head = false;
	sheet->column = sheet->range.first_column - 1;
	sheet->merges = 0;
	sheet->line.max = SHEET_LINE;
	sheet->merged.max = SHEET_MERGED;
	buf_clear(&sheet->line);
	buf_clear(&sheet->merged);
	text_out_printf(sheet->out, "## %.200s%s\n", entry->name,
	                entry->hidden ? " (hidden)" : "");
}

bool sheet_has_column(const struct sheet *sheet, unsigned column)
{
	return column >= sheet->range.first_column && column <= sheet->range.last_column;
}

/* In one line: line ends are blanks, a bar has a backslash. */
static void put_cell(struct buf *line, struct span text)
{
	const size_t full = text.len;

	text = utf8_head(span_trim(text), SHEET_CELL);
	for (size_t i = 0; i < text.len; i++) {
		const char c = text.data[i];

		if (c == '|')
			buf_char(line, '\\');
		buf_char(line, c == '\n' || c == '\r' || c == '\t' ? ' ' : c);
	}
	if (full > SHEET_CELL)
		buf_str(line, "...");
}

static void put_gap(struct sheet *sheet, unsigned column)
{
	const bool far = column - sheet->column > SHEET_GAP;

	for (unsigned i = sheet->column + 1; !far && i < column; i++)
		buf_str(&sheet->line, " |");
	buf_str(&sheet->line, " | ");
	if (far) {
		sheet_letters(&sheet->line, column);
		buf_str(&sheet->line, ": ");
	}
}

void sheet_cell(struct sheet *sheet, unsigned column, unsigned repeat, struct span text)
{
	const unsigned end = column + repeat - 1;
	const unsigned last = end < sheet->range.last_column ? end : sheet->range.last_column;

	if (column < sheet->range.first_column)
		column = sheet->range.first_column;
	if (span_is_blank(text))
		return;
	for (; column <= last && column > sheet->column && !sheet->line.overflowed; column++) {
		put_gap(sheet, column);
		put_cell(&sheet->line, text);
		sheet->column = column;
	}
}

static void write_head(struct sheet *sheet)
{
	_cleanup_buf_ struct buf head = BUF_INIT(8 << 10);
	unsigned last = sheet->columns > sheet->column ? sheet->columns : sheet->column;

	if (last > sheet->range.last_column)
		last = sheet->range.last_column;
	buf_str(&head, "row");
	for (unsigned i = sheet->range.first_column;
	     i <= last && i < sheet->range.first_column + SHEET_HEAD; i++) {
		buf_str(&head, " | ");
		sheet_letters(&head, i);
	}
	buf_char(&head, '\n');
	text_out(sheet->out, buf_view(&head));
	sheet->head = true;
}

/* The part that begins with the row that did not fit. */
static void name_next(struct sheet *sheet, unsigned row)
{
	_cleanup_buf_ struct buf letters = BUF_INIT(32);
	const struct sheet_range *range = &sheet->range;
	const unsigned rows = sheet->rows && sheet->rows < range->last_row ? sheet->rows :
	                      range->last_row;
	const unsigned columns = sheet->columns && sheet->columns < range->last_column ?
	                         sheet->columns : range->last_column;
	char *next = sheet->out->ret->next;

	sheet_letters(&letters, range->first_column);
	buf_printf(&letters, "%u:", row);
	sheet_letters(&letters, columns > range->first_column ? columns : range->first_column);
	buf_printf(&letters, "%u", rows > row ? rows : row);
	if (strlen(sheet->name) < 60 && !strchr(sheet->name, '"'))
		snprintf(next, sizeof(sheet->out->ret->next), "sheet \"%s\" %s", sheet->name,
		         letters.data);
}

bool sheet_row(struct sheet *sheet, unsigned row, unsigned repeat)
{
	const struct sheet_range *range = &sheet->range;
	unsigned end = row + repeat - 1;

	if (end > range->last_row)
		end = range->last_row;
	if (row < range->first_row)
		row = range->first_row;
	if (sheet->line.len && row <= end && !sheet->head)
		write_head(sheet);
	for (; sheet->line.len && row <= end && !sheet->out->full; row++) {
		text_out_printf(sheet->out, "%u", row);
		text_out(sheet->out, buf_view(&sheet->line));
		text_out(sheet->out, sheet->line.overflowed ? SPAN(" | (cut)\n") : SPAN("\n"));
		if (sheet->out->full)
			name_next(sheet, row);
	}
	buf_clear(&sheet->line);
	sheet->column = range->first_column - 1;
	return end < range->last_row && !sheet->out->full;
}

void sheet_merged(struct sheet *sheet, struct span range)
{
	sheet->merges++;
	if (sheet->merged.overflowed)
		return;
	if (sheet->merged.len)
		buf_str(&sheet->merged, ", ");
	buf_span(&sheet->merged, range);
}

void sheet_end(struct sheet *sheet)
{
	if (!sheet->head)
		text_out_printf(sheet->out, "(No cells.)\n");
	if (sheet->merges) {
		text_out_printf(sheet->out, "merged: ");
		text_out(sheet->out, buf_view(&sheet->merged));
		if (sheet->merged.overflowed)
			text_out_printf(sheet->out, " and more (%zu in all)", sheet->merges);
		text_out(sheet->out, SPAN("\n"));
	}
}

void sheet_release(struct sheet *sheet)
{
	buf_release(&sheet->line);
	buf_release(&sheet->merged);
}
