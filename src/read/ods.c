/* SPDX-License-Identifier: Apache-2.0 */
/* OpenDocument spreadsheets: OpenDocument 1.3, part 3, 9.  All sheets are in one stream, which is
 * parsed twice: for their names and sizes, then for the cells. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/package.h"
#include "read/sheet.h"

enum { CELL_TEXT = 64 << 10 };

struct ods {
	struct sheet_list sheets;
	struct sheet sheet;
	const struct derive_request *request;
	size_t first, end;       /* the sheets that are wanted */
	size_t at;               /* number of the open sheet, from 1; 0 before the first */
	unsigned depth;          /* tables that are open: one in a cell is no sheet */
	unsigned row, row_repeat, column, column_repeat;
	unsigned used;           /* columns of the row, as far as there is something in them */
	unsigned skip;           /* elements that are open in an annotation */
	unsigned paragraph;
	bool counting, wanted;
	bool has_text;           /* the cell's value is its text */
	struct buf text, value;
};

static bool is_annotation(const char *name)
{
	return strcmp(name, "annotation") == 0 || strcmp(name, "shapes") == 0 ||
	       strcmp(name, "tracked-changes") == 0;
}

static bool table_begin(struct ods *ods, const struct xml_attributes *attributes)
{
	const struct span name = xml_attribute(attributes, NULL, "name");

	if (ods->depth++)
		return true;
	ods->at++;
	ods->row = 0;
	if (ods->counting)
		return sheet_list_add(&ods->sheets, mem_dup(name.data ? name.data : "", name.len),
		                      NULL);
	ods->wanted = ods->at > ods->first && ods->at <= ods->end;
	if (ods->wanted)
		sheet_begin(&ods->sheet, &ods->sheets.all[ods->at - 1]);
	return ods->at <= ods->end;
}

static void note_merged(struct ods *ods, unsigned columns, unsigned rows)
{
	_cleanup_buf_ struct buf range = BUF_INIT(64);

	sheet_letters(&range, ods->column);
	buf_printf(&range, "%u:", ods->row);
	sheet_letters(&range, ods->column + columns - 1);
	buf_printf(&range, "%u", ods->row + rows - 1);
	sheet_merged(&ods->sheet, buf_view(&range));
}

/* 19.385: the attributes with a value, by its type. */
static void cell_value(struct ods *ods, const struct xml_attributes *attributes)
{
	static const char *const values[] = { "date-value", "time-value", "boolean-value",
		                              "value" };
	const struct span formula = xml_attribute(attributes, NULL, "formula");

	buf_clear(&ods->text);
	buf_clear(&ods->value);
	ods->has_text = true;
	if (ods->request->formulas && formula.len) {
		const char *colon = memchr(formula.data, ':', formula.len);
		const size_t prefix = colon && colon < formula.data + 8 && colon[1] == '=' ?
		                      (size_t)(colon - formula.data) + 1 : 0;

		buf_span(&ods->value, span_skip(formula, prefix));
		buf_str(&ods->value, " [");
	}
	for (size_t i = 0; i < ARRAY_LEN(values) && ods->has_text; i++) {
		const struct span value = xml_attribute(attributes, NULL, values[i]);

		if (value.len) {
			const char *time = i == 0 ? memchr(value.data, 'T', value.len) : NULL;

			ods->has_text = false;
			buf_span(&ods->value, value);
			if (time)
				ods->value.data[ods->value.len - value.len +
				                (size_t)(time - value.data)] = ' ';
		}
	}
}

static void ods_cell_begin(struct ods *ods, const struct xml_attributes *attributes)
{
	const unsigned columns = xml_attribute_count(attributes, "number-columns-spanned", 1,
	                                             SHEET_COLUMNS),
	               rows = xml_attribute_count(attributes, "number-rows-spanned", 1,
	                                          SHEET_ROWS);

	ods->column += ods->column < SHEET_COLUMNS;
	ods->column_repeat = xml_attribute_count(attributes, "number-columns-repeated", 1,
	                                         SHEET_COLUMNS);
	cell_value(ods, attributes);
	if (ods->wanted && (columns > 1 || rows > 1) && columns && rows)
		note_merged(ods, columns, rows);
}

static bool ods_start(void *self, const char *name, const struct xml_attributes *attributes)
{
	struct ods *ods = self;

	if (ods->skip || is_annotation(name)) {
		ods->skip++;
	} else if (strcmp(name, "table") == 0) {
		return table_begin(ods, attributes);
	} else if (ods->depth != 1) {
		return true;
	} else if (strcmp(name, "table-row") == 0) {
		ods->row++;
		ods->column = ods->used = 0;
		ods->row_repeat = xml_attribute_count(attributes, "number-rows-repeated", 1,
		                                      SHEET_ROWS);
	} else if (strcmp(name, "table-cell") == 0 || strcmp(name, "covered-table-cell") == 0) {
		ods_cell_begin(ods, attributes);
	} else if (strcmp(name, "p") == 0) {
		if (!ods->paragraph++ && ods->text.len)
			buf_char(&ods->text, ' ');
	} else if (ods->paragraph && (strcmp(name, "s") == 0 || strcmp(name, "tab") == 0 ||
	                              strcmp(name, "line-break") == 0)) {
		buf_char(&ods->text, ' ');
	}
	return true;
}

static bool ods_text(void *self, struct span text)
{
	struct ods *ods = self;

	if (ods->paragraph && !ods->skip && ods->depth == 1)
		buf_span(&ods->text, text);
	return true;
}

static void ods_cell_end(struct ods *ods)
{
	const unsigned last = ods->column + (ods->column_repeat ? ods->column_repeat - 1 : 0);

	if (ods->has_text)
		buf_span(&ods->value, span_trim(buf_view(&ods->text)));
	if (ods->request->formulas && ods->value.len && ods->value.data[0] == '=')
		buf_char(&ods->value, ']');
	if (ods->value.len && ods->column_repeat) {
		ods->used = last < SHEET_COLUMNS ? last : SHEET_COLUMNS;
		if (ods->wanted)
			sheet_cell(&ods->sheet, ods->column, ods->column_repeat,
			           buf_view(&ods->value));
	}
	buf_clear(&ods->value);
	ods->column = last < SHEET_COLUMNS ? last : SHEET_COLUMNS;
}

static bool row_end(struct ods *ods)
{
	const unsigned row = ods->row;
	unsigned last = row + (ods->row_repeat ? ods->row_repeat - 1 : 0);

	last = last < SHEET_ROWS ? last : SHEET_ROWS;
	ods->row = last;
	if (ods->counting && ods->used && ods->sheets.count) {
		struct sheet_entry *entry = &ods->sheets.all[ods->sheets.count - 1];

		entry->rows = last;
		entry->columns = entry->columns > ods->used ? entry->columns : ods->used;
	}
	if (ods->wanted && row <= last)
		sheet_row(&ods->sheet, row, last - row + 1);
	return ods->counting || !ods->sheet.out->full;
}

static bool ods_end(void *self, const char *name)
{
	struct ods *ods = self;

	if (ods->skip) {
		ods->skip--;
	} else if (strcmp(name, "table") == 0) {
		if (ods->depth && --ods->depth == 0 && ods->wanted) {
			sheet_end(&ods->sheet);
			ods->wanted = false;
		}
	} else if (ods->depth != 1) {
		return true;
	} else if (strcmp(name, "table-cell") == 0 || strcmp(name, "covered-table-cell") == 0) {
		ods_cell_end(ods);
	} else if (strcmp(name, "table-row") == 0) {
		return row_end(ods);
	} else if (strcmp(name, "p") == 0 && ods->paragraph) {
		ods->paragraph--;
	}
	return true;
}

static const struct xml_events ods_events = { ods_start, ods_text, ods_end };

static bool ods_read(struct package *package, struct ods *ods, struct derive_result *ret,
                     struct err *err)
{
	struct text_out out;
	bool ok;

	ods->counting = true;
	if (!package_parse(package, "content.xml", &ods_events, ods, err))
		return false;
	sheet_list_facts(&ods->sheets, ods->request, ret);
	package_facts(package, "meta.xml", ret);
	if (ods->request->want == DERIVE_OUTLINE)
		return true;
	if (!sheet_list_find(&ods->sheets, ods->request, &ods->first, &ods->end, err) ||
	    !sheet_range(ods->request->range, &ods->sheet.range, err))
		return false;
	ods->counting = false;
	ods->at = ods->depth = ods->skip = ods->paragraph = 0;
	text_out_init(&out, ods->request, ret);
	ods->sheet.out = &out;
	ok = package_parse(package, "content.xml", &ods_events, ods, err);
	text_out_end(&out);
	return ok;
}

bool format_ods_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err)
{
	_cleanup_package_ struct package *package = package_open(input, err);
	struct ods ods = { .request = request, .text = BUF_INIT(CELL_TEXT),
		           .value = BUF_INIT(CELL_TEXT) };
	bool ok;

	package_library(ret);
	ok = package && ods_read(package, &ods, ret, err);
	buf_release(&ods.text);
	buf_release(&ods.value);
	sheet_release(&ods.sheet);
	sheet_list_release(&ods.sheets);
	return ok;
}
