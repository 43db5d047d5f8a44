/* SPDX-License-Identifier: Apache-2.0 */
/* Excel workbooks: ECMA-376, part 1, 18.  Sheets are parsed as streams; in memory are the strings
 * that cells share, and which styles are dates. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "read/package.h"
#include "read/sheet.h"

enum {
	STRINGS_BYTES = 96 << 20, /* all shared strings */
	STYLES_COUNT = 65536,
	FORMATS_COUNT = 4096,
	SHARED_COUNT = 65536,     /* formulas that several cells share */
	CELL_BYTES = 64 << 10,
	FIRST_CUSTOM = 164,       /* number formats below are built in */
};

enum cell_shows { SHOWS_NUMBER, SHOWS_DATE, SHOWS_TIME, SHOWS_ELAPSED };

struct xlsx {
	struct package *package;
	struct package_relations relations; /* of the workbook */
	struct sheet_list sheets;
	bool since_1904, formulas;
	/* shared strings: string i is from starts[i] up to starts[i + 1] */
	struct buf strings;
	uint32_t *starts;
	size_t string_count, string_cap;
	/* number formats of the workbook, and what each style shows */
	struct { unsigned id; enum cell_shows shows; } *formats;
	size_t format_count, format_cap;
	unsigned char *styles;
	size_t style_count, style_cap;
	bool in_styles, in_string, in_phonetic;
	/* the sheet that is read */
	struct sheet sheet;
	unsigned row, column, style;
	char type[12];                      /* of the cell */
	struct buf value, formula;
	char **shared;                      /* by index: the place of its first cell */
	size_t shared_count, shared_cap;
	enum { IN_NONE, IN_VALUE, IN_FORMULA } part;
	bool outline, stopped;
};

/* ---- the workbook ---------------------------------------------------------------------- */

static bool workbook_start(void *self, const char *name, const struct xml_attributes *attributes)
{
	struct xlsx *xlsx = self;

	if (strcmp(name, "workbookPr") == 0) {
		const struct span flag = xml_attribute(attributes, NULL, "date1904");

		xlsx->since_1904 = span_eq(flag, SPAN("1")) || span_eq(flag, SPAN("true"));
	}
	if (strcmp(name, "sheet") == 0) {
		const struct span shown = xml_attribute(attributes, NULL, "name");
		const char *part = package_target(
			&xlsx->relations, xml_attribute(attributes, "/relationships", "id"));

		if (!part || !package_has(xlsx->package, part))
			return true;
		if (!sheet_list_add(&xlsx->sheets, mem_dup(shown.data, shown.len),
		                    mem_strdup(part)))
			return false;
		xlsx->sheets.all[xlsx->sheets.count - 1].hidden =
			xml_attribute(attributes, NULL, "state").len > 0 &&
			!span_eq(xml_attribute(attributes, NULL, "state"), SPAN("visible"));
	}
	return true;
}

static bool any_text(void *self, struct span text)
{
	(void)self, (void)text;
	return true;
}

static bool any_end(void *self, const char *name)
{
	(void)self, (void)name;
	return true;
}

/* ---- shared strings -------------------------------------------------------------------- */

static bool strings_start(void *self, const char *name, const struct xml_attributes *attributes)
{
	struct xlsx *xlsx = self;

	(void)attributes;
	if (strcmp(name, "si") == 0) {
		xlsx->starts = mem_grow(xlsx->starts, &xlsx->string_cap, xlsx->string_count + 2,
		                        sizeof(*xlsx->starts));
		xlsx->starts[xlsx->string_count++] = (uint32_t)xlsx->strings.len;
	}
	xlsx->in_phonetic |= strcmp(name, "rPh") == 0;
	xlsx->in_string = strcmp(name, "t") == 0 && !xlsx->in_phonetic;
	return true;
}

static bool strings_text(void *self, struct span text)
{
	struct xlsx *xlsx = self;

	return !xlsx->in_string || buf_span(&xlsx->strings, text);
}

static bool strings_end(void *self, const char *name)
{
	struct xlsx *xlsx = self;

	xlsx->in_string = false;
	xlsx->in_phonetic &= strcmp(name, "rPh") != 0;
	return true;
}

static struct span shared_string(const struct xlsx *xlsx, struct span index)
{
	const size_t at = index.len && index.len < 10 ? strtoul(index.data, NULL, 10) : SIZE_MAX;
	size_t end;

	if (at >= xlsx->string_count)
		return SPAN("(a text that is missing)");
	end = at + 1 < xlsx->string_count ? xlsx->starts[at + 1] : xlsx->strings.len;
	return span_of(xlsx->strings.data ? xlsx->strings.data + xlsx->starts[at] : "",
	               end - xlsx->starts[at]);
}

/* ---- number formats -------------------------------------------------------------------- */

/* 18.8.30: what is neither quoted nor in brackets, of the first section. */
static enum cell_shows code_shows(struct span code)
{
	bool quoted = false, date = false, hours = false;

	for (size_t i = 0; i < code.len && (quoted || code.data[i] != ';'); i++) {
		const char c = (char)(code.data[i] | 32);

		if (code.data[i] == '"')
			quoted = !quoted;
		if (quoted)
			continue;
		if (code.data[i] == '\\' || code.data[i] == '_' || code.data[i] == '*') {
			i++;
		} else if (code.data[i] == '[') {
			const char next = i + 1 < code.len ? (char)(code.data[i + 1] | 32) : 0;
			const char after = i + 2 < code.len ? code.data[i + 2] : 0;

			if ((next == 'h' || next == 'm' || next == 's') &&
			    (after == ']' || (after | 32) == next))
				return SHOWS_ELAPSED;
			while (i < code.len && code.data[i] != ']')
				i++;
		} else {
			date |= c == 'y' || c == 'd' || c == 'm';
			hours |= c == 'h' || c == 's';
		}
	}
	return hours ? SHOWS_TIME : date ? SHOWS_DATE : SHOWS_NUMBER;
}

static enum cell_shows format_shows(const struct xlsx *xlsx, unsigned id)
{
	for (size_t i = 0; i < xlsx->format_count; i++)
		if (xlsx->formats[i].id == id)
			return xlsx->formats[i].shows;
	if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id == 36 ||
	    (id >= 50 && id <= 54) || id == 57 || id == 58)
		return SHOWS_DATE;
	if ((id >= 18 && id <= 22) || (id >= 32 && id <= 35) || id == 45 || id == 47 ||
	    id == 55 || id == 56)
		return SHOWS_TIME;
	return id == 46 ? SHOWS_ELAPSED : SHOWS_NUMBER;
}

static bool number_styles_start(void *self, const char *name,
                                const struct xml_attributes *attributes)
{
	struct xlsx *xlsx = self;
	const unsigned id = xml_attribute_count(attributes, "numFmtId", 0, 100000);

	if (strcmp(name, "numFmt") == 0 && xlsx->format_count < FORMATS_COUNT) {
		xlsx->formats = mem_grow(xlsx->formats, &xlsx->format_cap,
		                         xlsx->format_count + 1, sizeof(*xlsx->formats));
		xlsx->formats[xlsx->format_count].id = id;
		xlsx->formats[xlsx->format_count++].shows =
			code_shows(xml_attribute(attributes, NULL, "formatCode"));
	}
	xlsx->in_styles |= strcmp(name, "cellXfs") == 0;
	if (xlsx->in_styles && strcmp(name, "xf") == 0) {
		xlsx->styles = mem_grow(xlsx->styles, &xlsx->style_cap, xlsx->style_count + 1,
		                        1);
		xlsx->styles[xlsx->style_count++] = (unsigned char)format_shows(xlsx, id);
	}
	return xlsx->style_count < STYLES_COUNT;
}

static bool number_styles_end(void *self, const char *name)
{
	struct xlsx *xlsx = self;

	xlsx->in_styles &= strcmp(name, "cellXfs") != 0;
	return true;
}

/* ---- values ---------------------------------------------------------------------------- */

/* `serial`: from 0 to the year 9999. */
static void put_date(struct buf *out, double serial, bool since_1904, bool with_time)
{
	const int64_t seconds = (int64_t)(serial * 86400 + 0.5);
	const int64_t days = seconds / 86400;
	const unsigned rest = (unsigned)(seconds % 86400);
	/* 1900 has a 29th of February in these, whose day is 60. */
	const int days_before = since_1904 ? 1462 : serial < 60 ? 1 : 0;
	const time_t moment = (time_t)((days + days_before - 25569) * 86400);
	struct tm parts;
	char text[32];

	if (!gmtime_r(&moment, &parts) || !strftime(text, sizeof(text), "%Y-%m-%d", &parts))
		return;
	if (!with_time || serial >= 1)
		buf_str(out, text);
	if (rest || (with_time && serial < 1))
		buf_printf(out, "%s%02u:%02u:%02u", with_time && serial < 1 ? "" : " ",
		           rest / 3600, rest / 60 % 60, rest % 60);
}

static void put_cell_number(struct buf *out, struct span text, enum cell_shows shows,
                       bool since_1904)
{
	char digits[64], *end;
	double number;

	if (!text.len || text.len >= sizeof(digits)) {
		buf_span(out, text);
		return;
	}
	memcpy(digits, text.data, text.len);
	digits[text.len] = '\0';
	number = strtod(digits, &end);
	if (*end || !isfinite(number)) {
		buf_span(out, text);
	} else if (shows == SHOWS_ELAPSED && fabs(number) < 1e7) {
		const unsigned long seconds = (unsigned long)(fabs(number) * 86400 + 0.5);

		buf_printf(out, "%s%lu:%02lu:%02lu", number < 0 ? "-" : "", seconds / 3600,
		           seconds / 60 % 60, seconds % 60);
	} else if (shows != SHOWS_NUMBER && number >= 0 && number < 2958466) {
		put_date(out, number, since_1904, shows == SHOWS_TIME);
	} else if (strpbrk(digits, ".eE")) {
		/* Excel's own precision: 0.1 + 0.2 is stored as 0.30000000000000004. */
		buf_printf(out, "%.15g", number);
	} else {
		buf_span(out, text);
	}
}

static void put_cell_value(const struct xlsx *xlsx, struct buf *out)
{
	const struct span value = buf_view(&xlsx->value);

	if (strcmp(xlsx->type, "s") == 0)
		buf_span(out, shared_string(xlsx, value));
	else if (strcmp(xlsx->type, "b") == 0)
		buf_str(out, span_eq(value, SPAN("1")) ? "TRUE" : "FALSE");
	else if (!xlsx->type[0] || strcmp(xlsx->type, "n") == 0)
		put_cell_number(out, value, xlsx->style < xlsx->style_count ?
		           (enum cell_shows)xlsx->styles[xlsx->style] : SHOWS_NUMBER,
		           xlsx->since_1904);
	else
		buf_span(out, value);
}

/* ---- a sheet --------------------------------------------------------------------------- */

static void xlsx_cell_begin(struct xlsx *xlsx, const struct xml_attributes *attributes)
{
	const struct span type = xml_attribute(attributes, NULL, "t"),
	                  place = xml_attribute(attributes, NULL, "r");
	unsigned column = 0, row = 0;

	sheet_place(place, &column, &row);
	xlsx->column = column ? column : xlsx->column + 1;
	xlsx->style = xml_attribute_count(attributes, "s", 0, STYLES_COUNT);
	snprintf(xlsx->type, sizeof(xlsx->type), "%.*s", (int)type.len,
	         type.data ? type.data : "");
	buf_clear(&xlsx->value);
	buf_clear(&xlsx->formula);
}

/* A formula that was moved from the first of the cells that share it, and is not repeated. */
static void formula_begin(struct xlsx *xlsx, const struct xml_attributes *attributes)
{
	const unsigned at = xml_attribute_count(attributes, "si", SHARED_COUNT, SHARED_COUNT);
	const struct span range = xml_attribute(attributes, NULL, "ref");

	if (!xlsx->formulas || at == SHARED_COUNT)
		return;
	while (xlsx->shared_count <= at) {
		xlsx->shared = mem_grow(xlsx->shared, &xlsx->shared_cap,
		                        xlsx->shared_count + 1, sizeof(char *));
		xlsx->shared[xlsx->shared_count++] = NULL;
	}
	if (range.len && !xlsx->shared[at]) {
		_cleanup_buf_ struct buf place = BUF_INIT(32);

		sheet_letters(&place, xlsx->column);
		buf_printf(&place, "%u", xlsx->row);
		xlsx->shared[at] = buf_steal(&place);
	} else if (!range.len && xlsx->shared[at]) {
		buf_printf(&xlsx->formula, "(as in %s)", xlsx->shared[at]);
	}
}

static bool sheet_start(void *self, const char *name, const struct xml_attributes *attributes)
{
	struct xlsx *xlsx = self;

	xlsx->part = IN_NONE;
	if (strcmp(name, "c") == 0) {
		xlsx_cell_begin(xlsx, attributes);
	} else if (strcmp(name, "v") == 0 || strcmp(name, "t") == 0) {
		xlsx->part = IN_VALUE;
	} else if (strcmp(name, "f") == 0) {
		formula_begin(xlsx, attributes);
		xlsx->part = IN_FORMULA;
	} else if (strcmp(name, "row") == 0) {
		const unsigned row = xml_attribute_count(attributes, "r", 0, SHEET_ROWS);

		xlsx->row = row ? row : xlsx->row + 1;
		xlsx->column = 0;
		xlsx->stopped = xlsx->row > xlsx->sheet.range.last_row;
	} else if (strcmp(name, "dimension") == 0 && !xlsx->sheet.columns) {
		const struct span range = xml_attribute(attributes, NULL, "ref");
		struct span rest = sheet_place(range, &xlsx->sheet.columns, &xlsx->sheet.rows);

		if (span_starts(rest, SPAN(":")))
			sheet_place(span_skip(rest, 1), &xlsx->sheet.columns,
			            &xlsx->sheet.rows);
	} else if (strcmp(name, "sheetData") == 0) {
		xlsx->stopped = xlsx->outline;
	} else if (strcmp(name, "mergeCell") == 0) {
		sheet_merged(&xlsx->sheet, xml_attribute(attributes, NULL, "ref"));
	}
	return !xlsx->stopped;
}

static bool sheet_text(void *self, struct span text)
{
	struct xlsx *xlsx = self;

	if (xlsx->part == IN_VALUE)
		buf_span(&xlsx->value, text);
	else if (xlsx->part == IN_FORMULA && xlsx->formulas)
		buf_span(&xlsx->formula, text);
	return true;
}

static void xlsx_cell_end(struct xlsx *xlsx)
{
	_cleanup_buf_ struct buf shown = BUF_INIT(CELL_BYTES);

	if (xlsx->row < xlsx->sheet.range.first_row ||
	    !sheet_has_column(&xlsx->sheet, xlsx->column))
		return;
	if (xlsx->formula.len) {
		buf_char(&shown, '=');
		buf_span(&shown, buf_view(&xlsx->formula));
		buf_str(&shown, xlsx->value.len ? " [" : "");
	}
	put_cell_value(xlsx, &shown);
	if (xlsx->formula.len && xlsx->value.len)
		buf_char(&shown, ']');
	sheet_cell(&xlsx->sheet, xlsx->column, 1, buf_view(&shown));
}

static bool sheet_element_end(void *self, const char *name)
{
	struct xlsx *xlsx = self;

	xlsx->part = IN_NONE;
	if (strcmp(name, "c") == 0)
		xlsx_cell_end(xlsx);
	else if (strcmp(name, "row") == 0)
		sheet_row(&xlsx->sheet, xlsx->row, 1);
	return !xlsx->sheet.out->full;
}

static void forget_shared(struct xlsx *xlsx)
{
	for (size_t i = 0; i < xlsx->shared_count; i++)
		free(xlsx->shared[i]);
	xlsx->shared_count = 0;
}

static bool read_sheet(struct xlsx *xlsx, struct sheet_entry *entry, struct err *err)
{
	static const struct xml_events events = { sheet_start, sheet_text, sheet_element_end };

	forget_shared(xlsx);
	xlsx->row = xlsx->column = 0;
	xlsx->stopped = false;
	sheet_begin(&xlsx->sheet, entry);
	if (!package_parse(xlsx->package, entry->part, &events, xlsx, err))
		return false;
	entry->rows = xlsx->sheet.rows;
	entry->columns = xlsx->sheet.columns;
	sheet_end(&xlsx->sheet);
	return true;
}

/* ---- all of it ------------------------------------------------------------------------- */

static bool read_workbook_parts(struct xlsx *xlsx, const char *main, struct err *err)
{
	static const struct xml_events workbook = { workbook_start, any_text, any_end },
		strings = { strings_start, strings_text, strings_end },
		styles = { number_styles_start, any_text, number_styles_end };
	const char *part;

	if (!package_relations(xlsx->package, main, &xlsx->relations, err) ||
	    !package_parse(xlsx->package, main, &workbook, xlsx, err))
		return false;
	part = package_target_of_type(&xlsx->relations, "sharedStrings");
	if (part && package_has(xlsx->package, part) && !xlsx->outline &&
	    !package_parse(xlsx->package, part, &strings, xlsx, err))
		return false;
	part = package_target_of_type(&xlsx->relations, "styles");
	return !part || !package_has(xlsx->package, part) || xlsx->outline ||
	       package_parse(xlsx->package, part, &styles, xlsx, err);
}

static bool read_sheets(struct xlsx *xlsx, const struct derive_request *request,
                        struct derive_result *ret, struct err *err)
{
	struct text_out out;
	size_t i, end;
	bool ok = true;

	if (!sheet_list_find(&xlsx->sheets, request, &i, &end, err) ||
	    !sheet_range(request->range, &xlsx->sheet.range, err))
		return false;
	text_out_init(&out, request, ret);
	out.first_line = xlsx->outline ? SIZE_MAX : out.first_line;
	xlsx->sheet.out = &out;
	for (; ok && i < end && !out.full; i++)
		ok = read_sheet(xlsx, &xlsx->sheets.all[i], err);
	text_out_end(&out);
	if (xlsx->strings.overflowed)
		format_fact(ret, "note", SPAN("It has more than 96 MB of texts: some cells' "
		                              "are missing."));
	return ok;
}

static void xlsx_release(struct xlsx *xlsx)
{
	forget_shared(xlsx);
	free(xlsx->shared);
	free(xlsx->starts);
	free(xlsx->formats);
	free(xlsx->styles);
	buf_release(&xlsx->strings);
	buf_release(&xlsx->value);
	buf_release(&xlsx->formula);
	sheet_release(&xlsx->sheet);
	sheet_list_release(&xlsx->sheets);
	package_relations_release(&xlsx->relations);
}

bool format_xlsx_read(const struct format_input *input, const struct derive_request *request,
                      struct derive_result *ret, struct err *err)
{
	_cleanup_package_ struct package *package = package_open(input, err);
	struct xlsx xlsx = { .package = package, .formulas = request->formulas,
		             .outline = request->want == DERIVE_OUTLINE,
		             .strings = BUF_INIT(STRINGS_BYTES),
		             .value = BUF_INIT(CELL_BYTES), .formula = BUF_INIT(CELL_BYTES) };
	_cleanup_free_ char *main = package ? package_main(package, "xl/workbook.xml", err) : NULL;
	bool ok;

	package_library(ret);
	ok = main && read_workbook_parts(&xlsx, main, err) && read_sheets(&xlsx, request, ret, err);
	if (ok) {
		sheet_list_facts(&xlsx.sheets, request, ret);
		package_facts(package, "docProps/core.xml", ret);
	}
	xlsx_release(&xlsx);
	return ok;
}
