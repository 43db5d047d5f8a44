/* SPDX-License-Identifier: Apache-2.0 */
/* PDF by poppler-glib: the text in the order in which it is read, page by page; tables row by row
 *; pages as pictures by cairo. */
#include <cairo.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poppler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "read/format.h"
#include "read/text_out.h"

enum {
	PDF_PAGES_MAX = 1000000, /* the largest documents that are printed have tens of thousands */
	PDF_BOOKMARK_DEPTH = 6,
	PDF_BOOKMARKS = 2000,
	PDF_PICTURE_SIDE = 1500, /* pixels of a page's longer side: what models look at */
	PDF_PICTURES = 8,
	PDF_FIRST_LINES = 200,   /* pages whose first line is looked for */
};

struct pdf_library {
	__typeof__(poppler_document_new_from_fd) *open_fd;
	__typeof__(poppler_document_get_n_pages) *page_count;
	__typeof__(poppler_document_get_page) *page;
	__typeof__(poppler_document_get_title) *title;
	__typeof__(poppler_document_get_author) *author;
	__typeof__(poppler_document_get_producer) *producer;
	__typeof__(poppler_document_get_creation_date) *created;
	__typeof__(poppler_document_get_pdf_version_string) *format;
	__typeof__(poppler_page_get_text) *text;
	__typeof__(poppler_page_get_text_layout) *layout;
	__typeof__(poppler_page_get_size) *page_size;
	__typeof__(poppler_page_render) *render;
	__typeof__(poppler_page_get_label) *label;
	__typeof__(poppler_index_iter_new) *index_new;
	__typeof__(poppler_index_iter_free) *index_free;
	__typeof__(poppler_index_iter_next) *index_next;
	__typeof__(poppler_index_iter_get_child) *index_child;
	__typeof__(poppler_index_iter_get_action) *index_action;
	__typeof__(poppler_action_free) *action_free;
	__typeof__(poppler_document_find_dest) *find_dest;
	__typeof__(poppler_dest_free) *dest_free;
	__typeof__(poppler_get_version) *version;
};

struct pdf_glib {
	__typeof__(g_object_unref) *unref;
};

struct pdf_basics {
	__typeof__(g_free) *free;
	__typeof__(g_error_free) *error_free;
};

struct pdf_cairo {
	__typeof__(cairo_image_surface_create) *surface;
	__typeof__(cairo_surface_status) *surface_status;
	__typeof__(cairo_surface_destroy) *surface_destroy;
	__typeof__(cairo_create) *create;
	__typeof__(cairo_destroy) *destroy;
	__typeof__(cairo_scale) *scale;
	__typeof__(cairo_set_source_rgb) *color;
	__typeof__(cairo_paint) *paint;
	__typeof__(cairo_surface_write_to_png_stream) *png;
};

#define ROW(member, name) { name, offsetof(struct pdf_library, member) }
static const struct library_symbol pdf_symbols[] = {
	ROW(open_fd, "poppler_document_new_from_fd"),
	ROW(page_count, "poppler_document_get_n_pages"),
	ROW(page, "poppler_document_get_page"),
	ROW(title, "poppler_document_get_title"),
	ROW(author, "poppler_document_get_author"),
	ROW(producer, "poppler_document_get_producer"),
	ROW(created, "poppler_document_get_creation_date"),
	ROW(format, "poppler_document_get_pdf_version_string"),
	ROW(text, "poppler_page_get_text"),
	ROW(layout, "poppler_page_get_text_layout"),
	ROW(page_size, "poppler_page_get_size"),
	ROW(render, "poppler_page_render"),
	ROW(label, "poppler_page_get_label"),
	ROW(index_new, "poppler_index_iter_new"),
	ROW(index_free, "poppler_index_iter_free"),
	ROW(index_next, "poppler_index_iter_next"),
	ROW(index_child, "poppler_index_iter_get_child"),
	ROW(index_action, "poppler_index_iter_get_action"),
	ROW(action_free, "poppler_action_free"),
	ROW(find_dest, "poppler_document_find_dest"),
	ROW(dest_free, "poppler_dest_free"),
	ROW(version, "poppler_get_version"),
};
#undef ROW
#define ROW(member, name) { name, offsetof(struct pdf_cairo, member) }
static const struct library_symbol cairo_symbols[] = {
	ROW(surface, "cairo_image_surface_create"),
	ROW(surface_status, "cairo_surface_status"),
	ROW(surface_destroy, "cairo_surface_destroy"),
	ROW(create, "cairo_create"),
	ROW(destroy, "cairo_destroy"),
	ROW(scale, "cairo_scale"),
	ROW(color, "cairo_set_source_rgb"),
	ROW(paint, "cairo_paint"),
	ROW(png, "cairo_surface_write_to_png_stream"),
};
#undef ROW
static const struct library_symbol object_symbols[] = {
	{ "g_object_unref", offsetof(struct pdf_glib, unref) },
};
static const struct library_symbol basic_symbols[] = {
	{ "g_free", offsetof(struct pdf_basics, free) },
	{ "g_error_free", offsetof(struct pdf_basics, error_free) },
};

static const struct library pdf_rows_of[] = {
	{ { "libpoppler-glib.so.8" }, "PDF documents need", "libpoppler-glib8", pdf_symbols,
	  ARRAY_LEN(pdf_symbols) },
	{ { "libgobject-2.0.so.0" }, "PDF documents need", "libglib2.0-0", object_symbols,
	  ARRAY_LEN(object_symbols) },
	{ { "libglib-2.0.so.0" }, "PDF documents need", "libglib2.0-0", basic_symbols,
	  ARRAY_LEN(basic_symbols) },
	{ { "libcairo.so.2" }, "Pictures of pages need", "libcairo2", cairo_symbols,
	  ARRAY_LEN(cairo_symbols) },
};

static struct pdf_library pdf;
static struct pdf_glib object;
static struct pdf_basics glib;
static struct pdf_cairo cairo;

/* What of the library's data it reads later on: letters of Asian scripts, fonts for pictures. */
const char *const format_pdf_data[] = { "/usr/share/poppler", "/usr/share/fonts", "/etc/fonts",
	                                "/usr/share/fontconfig", "/var/cache/fontconfig",
	                                "/usr/local/share/fonts", NULL };

bool format_pdf_load(struct err *err)
{
	return library_load(&pdf_rows_of[0], &pdf, err) &&
	       library_load(&pdf_rows_of[1], &object, err) &&
	       library_load(&pdf_rows_of[2], &glib, err) &&
	       library_load(&pdf_rows_of[3], &cairo, err);
}

bool format_pdf_sniff(struct span head)
{
	head = span_head(head, 1024);
	return head.len && memmem(head.data, head.len, "%PDF-", 5) != NULL;
}

/* ---- facts and outline ----------------------------------------------------------------- */

/* Frees what the library allocated for it. */
static void pdf_fact(struct derive_result *ret, const char *name, char *text)
{
	format_fact(ret, name, span_str(text));
	glib.free(text);
}

static void pdf_facts(PopplerDocument *document, int count, struct derive_result *ret)
{
	const time_t created = pdf.created(document);
	char day[24];
	struct tm parts;

	format_library(ret, "poppler %s", pdf.version());
	format_fact_count(ret, "pages", (uint64_t)count);
	pdf_fact(ret, "title", pdf.title(document));
	pdf_fact(ret, "author", pdf.author(document));
	if (created > 0 && gmtime_r(&created, &parts) &&
	    strftime(day, sizeof(day), "%Y-%m-%d", &parts))
		format_fact(ret, "created", span_str(day));
	pdf_fact(ret, "producer", pdf.producer(document));
	pdf_fact(ret, "version", pdf.format(document));
}

/* The page that a bookmark leads to; 0: none of this document. */
static int bookmark_page(PopplerDocument *document, const PopplerAction *action)
{
	const PopplerDest *dest = action->goto_dest.dest;
	int page;

	if (action->type != POPPLER_ACTION_GOTO_DEST || !dest)
		return 0;
	if (dest->type == POPPLER_DEST_NAMED && dest->named_dest) {
		PopplerDest *found = pdf.find_dest(document, dest->named_dest);

		page = found ? found->page_num : 0;
		if (found)
			pdf.dest_free(found);
		return page;
	}
	return dest->page_num;
}

/* recursive to PDF_BOOKMARK_DEPTH; `left` ends loops. */
static void pdf_bookmarks(PopplerDocument *document, PopplerIndexIter *at, unsigned level,
                          int pages, unsigned *left, struct derive_result *ret)
{
	do {
		PopplerAction *action = pdf.index_action(at);
		PopplerIndexIter *child;
		const int page = action ? bookmark_page(document, action) : 0;

		if (action && page > 0 && page <= pages)
			format_entry_count(format_outline_at(ret, span_str(action->any.title),
			                                     "pages", (uint64_t)page),
			                   "level", level);
		if (action)
			pdf.action_free(action);
		if (level < PDF_BOOKMARK_DEPTH && *left && (child = pdf.index_child(at))) {
			pdf_bookmarks(document, child, level + 1, pages, left, ret);
			pdf.index_free(child);
		}
	} while (*left && --*left && pdf.index_next(at));
}

/* Without bookmarks: the first line of each page. */
static void pdf_first_lines(PopplerDocument *document, int pages, struct derive_result *ret)
{
	for (int i = 0; i < pages && i < PDF_FIRST_LINES; i++) {
		PopplerPage *page = pdf.page(document, i);
		char *text = page ? pdf.text(page) : NULL;
		struct span rest = span_str(text), line;
		bool found = false;

		while (!found && line_next(&rest, &line))
			found = !span_is_blank(line);
		format_outline_at(ret, found ? line : SPAN("(no text)"), "pages", (uint64_t)i + 1);
		glib.free(text);
		if (page)
			object.unref(page);
	}
}

static void pdf_outline(PopplerDocument *document, int pages, struct derive_result *ret)
{
	PopplerIndexIter *top = pdf.index_new(document);
	unsigned left = PDF_BOOKMARKS;

	if (top) {
		pdf_bookmarks(document, top, 1, pages, &left, ret);
		pdf.index_free(top);
	}
	if (!ret->outline)
		pdf_first_lines(document, pages, ret);
}

/* ---- tables --------------------------------------------------------------------------- */

/* Tables on a page, as far as places of letters show them.
 *
 * The text of a page is in the order in which it is read, so the columns of a table come one below
 * the other.  Pieces of text that stand on one height belong to a row; three rows or more in a
 * row, each of short pieces, are a table, which is written row by row with bars between its
 * columns, where its first piece is in the text.  All else stays as it is.
 */

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

static bool is_sane(const PopplerRectangle *place)
{
	return isfinite(place->x1) && isfinite(place->x2) && isfinite(place->y1) &&
	       isfinite(place->y2) && place->y2 >= place->y1 && place->x2 >= place->x1;
}

/* False: the places are not those of the text. */
static bool rows_cut(struct pdf_rows *rows, const PopplerRectangle *places, size_t count)
{
	struct span rest = rows->text;
	struct utf8_char next;
	struct rows_piece *piece = NULL;
	size_t i = 0;

	for (; utf8_next(&rest, &next); i++) {
		const PopplerRectangle *place = &places[i];
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

/* ---- which rows are a table ------------------------------------------------------------- */

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

/* ---- tables as text --------------------------------------------------------------------- */

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

/* Writes the text of a page, of whose characters (line ends are some, too) `count` places are
 * known. */
static bool write_rows(struct span text, const PopplerRectangle *places, size_t count,
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

/* ---- text ------------------------------------------------------------------------------ */

static bool pdf_page_text(PopplerPage *page, int number, struct text_out *out)
{
	char *text = pdf.text(page), *label = pdf.label(page), own[16];
	PopplerRectangle *places = NULL;
	unsigned count = 0;
	bool more;

	snprintf(own, sizeof(own), "%d", number);
	text_out_line(out);
	more = label && *label && strcmp(label, own) != 0 ?
	       text_out_printf(out, "--- page %d (%.40s) ---\n", number, label) :
	       text_out_printf(out, "--- page %d ---\n", number);
	if (text && pdf.layout(page, &places, &count) && places)
		more = more && write_rows(span_str(text), places, count, out);
	else
		more = more && text_out(out, span_str(text));
	glib.free(text);
	glib.free(label);
	glib.free(places);
	return more;
}

/* All pages that are asked for, until there is enough. */
static bool pdf_text(PopplerDocument *document, const struct format_pages *pages,
                     const struct derive_request *request, struct derive_result *ret)
{
	struct text_out out;
	uint64_t letters = 0, seen = 0;
	bool more = true;

	text_out_init(&out, request, ret);
	for (size_t range = 0; more && range < pages->count; range++)
		for (uint64_t i = pages->ranges[range].first;
		     more && i <= pages->ranges[range].last; i++) {
			PopplerPage *page = pdf.page(document, (int)i - 1);
			const size_t before = ret->text.len;

			if (!page) {
				text_out_printf(&out, "--- page %llu: damaged ---\n",
				                (unsigned long long)i);
				continue;
			}
			more = pdf_page_text(page, (int)i, &out);
			letters += ret->text.len > before + 24 ? ret->text.len - before : 0;
			seen++;
			object.unref(page);
			/* A page that does not fit is left for the next call. */
			if (!more && i > pages->ranges[range].first)
				snprintf(ret->next, sizeof(ret->next), "pages %llu-%llu",
				         (unsigned long long)i,
				         (unsigned long long)pages->ranges[pages->count - 1].last);
		}
	text_out_end(&out);
	if (!letters && seen)
		format_fact(ret, "note", SPAN("The pages have no text: they are pictures. Ask for "
		                              "\"render\" to see them."));
	return true;
}

/* ---- pictures -------------------------------------------------------------------------- */

static cairo_status_t take_png(void *closure, const unsigned char *data, unsigned len)
{
	return buf_append(closure, data, len) ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static bool pdf_page_picture(PopplerPage *page, struct derive_result *ret)
{
	_cleanup_buf_ struct buf png = BUF_INIT(LIMIT_DERIVE_PICTURES);
	double width = 0, height = 0, scale;
	cairo_surface_t *surface;
	cairo_t *context;
	bool ok;

	pdf.page_size(page, &width, &height);
	if (!(width >= 1) || !(height >= 1))
		return false;
	scale = PDF_PICTURE_SIDE / (width > height ? width : height);
	surface = cairo.surface(CAIRO_FORMAT_RGB24, 1 + (int)(width * scale),
	                        1 + (int)(height * scale));
	ok = cairo.surface_status(surface) == CAIRO_STATUS_SUCCESS;
	if (ok) {
		context = cairo.create(surface);
		cairo.color(context, 1, 1, 1);
		cairo.paint(context);
		cairo.scale(context, scale, scale);
		pdf.render(page, context);
		cairo.destroy(context);
		ok = cairo.png(surface, take_png, &png) == CAIRO_STATUS_SUCCESS &&
		     format_picture(ret, "image/png", buf_view(&png));
	}
	cairo.surface_destroy(surface);
	return ok;
}

static void pdf_pictures(PopplerDocument *document, const struct format_pages *pages,
                         struct derive_result *ret)
{
	const uint64_t last = pages->ranges[pages->count - 1].last;
	bool more = true;

	for (size_t range = 0; more && range < pages->count; range++)
		for (uint64_t i = pages->ranges[range].first;
		     more && i <= pages->ranges[range].last; i++) {
			PopplerPage *page = pdf.page(document, (int)i - 1);

			more = json_array_size(ret->pictures) < PDF_PICTURES &&
			       (!page || pdf_page_picture(page, ret));
			if (page)
				object.unref(page);
			if (!more) {
				ret->truncated = true;
				snprintf(ret->next, sizeof(ret->next), "pages %llu-%llu, render",
				         (unsigned long long)i, (unsigned long long)last);
			}
		}
	format_fact_count(ret, "pictures", json_array_size(ret->pictures));
}

/* ---- the document ---------------------------------------------------------------------- */

static PopplerDocument *pdf_open(const struct format_input *input, struct err *err)
{
	const int fd = fcntl(input->fd, F_DUPFD_CLOEXEC, 0);
	GError *error = NULL;
	PopplerDocument *document;

	if (fd < 0) {
		err_set_errno(err, errno, "It cannot be read");
		return NULL;
	}
	document = pdf.open_fd(fd, NULL, &error);
	if (document)
		return document;
	if (error && error->code == POPPLER_ERROR_ENCRYPTED)
		err_set(err, ERR_NOT_TEXT, "It is encrypted: its text needs a password.");
	else
		err_set(err, ERR_NOT_TEXT, "It is damaged: %.200s.",
		        error && error->message ? error->message : "it cannot be parsed");
	if (error)
		glib.error_free(error);
	return NULL;
}

static bool pdf_read(PopplerDocument *document, const struct derive_request *request,
                     struct derive_result *ret, struct err *err)
{
	const int count = pdf.page_count(document);
	struct format_pages pages;

	if (count < 1)
		return err_set(err, ERR_NOT_TEXT, "It is damaged: it has no pages.");
	if (count >= PDF_PAGES_MAX)
		return err_set(err, ERR_TOO_LARGE,
		               "It is a bomb: it claims to have %d pages.", count);
	if (!format_pages(request->pages, "page", (uint64_t)count, &pages, err))
		return false;
	pdf_facts(document, count, ret);
	if (request->want == DERIVE_OUTLINE)
		pdf_outline(document, count, ret);
	else if (request->render)
		pdf_pictures(document, &pages, ret);
	else
		return pdf_text(document, &pages, request, ret);
	return true;
}

bool format_pdf_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err)
{
	PopplerDocument *document = pdf_open(input, err);
	bool ok;

	if (!document)
		return false;
	ok = pdf_read(document, request, ret, err);
	object.unref(document);
	return ok;
}
