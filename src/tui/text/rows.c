/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/text/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/text/safe.h"
#include "tui/text/cluster.h"
#include "tui/text/width.h"

enum { WIDTH_MIN = 4 };

void row_release(struct row *row)
{
	buf_release(&row->text);
	buf_release(&row->links);
	free(row->runs);
	*row = (struct row){ 0 };
}

void rows_release(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		row_release(&rows->at[i]);
	free(rows->at);
	*rows = (struct rows){ 0 };
}

/* ---- runs -------------------------------------------------------------------- */

static bool style_eq(struct style a, struct style b)
{
	return a.role == b.role && a.marks == b.marks && a.foreground == b.foreground &&
	       a.background == b.background;
}

/* Appends bytes that are safe, and make whole clusters of `width` columns, as a run `like` that. */
static void row_put(struct row *row, struct span bytes, unsigned width, struct row_run like)
{
	struct row_run *last = row->count > 0 ? &row->runs[row->count - 1] : NULL;
	const size_t start = row->text.len;

	row->text.max = ROW_BYTES_MAX;
	if (bytes.len == 0 || !buf_span(&row->text, bytes))
		return;
	row->width += width;
	if (last && style_eq(last->style, like.style) && last->link == like.link &&
	    !(last->joints & RUN_GOES_ON) && !(like.joints & RUN_CONTINUES)) {
		last->len += (uint32_t)bytes.len;
		last->joints |= like.joints;
		return;
	}
	if (row->count == row->cap)
		row->runs = mem_grow(row->runs, &row->cap, row->count + 1, sizeof(*row->runs));
	like.start = (uint32_t)start;
	like.len = (uint32_t)bytes.len;
	row->runs[row->count++] = like;
}

static void row_put_blanks(struct row *row, unsigned count, struct style style, uint32_t link)
{
	static const struct span blanks = SPAN("                                ");

	while (count > 0) {
		unsigned n = count < blanks.len ? count : (unsigned)blanks.len;

		row_put(row, span_head(blanks, n), n,
		        (struct row_run){ .style = style, .link = link });
		if (row->text.overflowed)
			return;
		count -= n;
	}
}

/* The last character of the row; 0: none. */
/* The last character of a text, which is taken off; 0: there is none. */
static uint32_t take_last(struct span *text)
{
	size_t at = text->len;
	uint32_t code;

	if (at == 0)
		return 0;
	do
		at--;
	while (at > 0 && ((unsigned char)text->data[at] & 0xc0) == 0x80);
	code = utf8_first(span_skip(*text, at)).code;
	*text = span_head(*text, at);
	return code;
}

static bool is_regional_indicator(uint32_t code)
{
	return code >= 0x1f1e6 && code <= 0x1f1ff;
}

/* What the next character may join: the last one, but of two regional indicators, which are a flag
 * already, a letter in their place. */
static uint32_t row_last(const struct row *row)
{
	struct span text = buf_view(&row->text);
	uint32_t last = take_last(&text);
	size_t indicators = is_regional_indicator(last);

	while (indicators && is_regional_indicator(take_last(&text)))
		indicators++;
	return indicators && indicators % 2 == 0 ? 'x' : last;
}

static void row_put_text(struct row *row, struct span untrusted, struct style style,
                         uint32_t link)
{
	struct safe safe = { .rest = untrusted, .before = row_last(row) };
	struct safe_piece piece;

	while (!row->text.overflowed && safe_next(&safe, &piece)) {
		if (piece.kind == SAFE_TAB)
			row_put_blanks(row, SAFE_TAB_COLUMNS - row->width % SAFE_TAB_COLUMNS,
			               style, link);
		else
			row_put(row, piece.bytes, piece.width,
			        (struct row_run){ .style = style, .link = link });
	}
}

void row_text(struct row *row, struct span untrusted, struct style style)
{
	row_put_text(row, untrusted, style, 0);
}

void row_printf(struct row *row, struct style style, const char *format, ...)
{
	va_list args;
	char *made = NULL;

	va_start(args, format);
	if (vasprintf(&made, format, args) >= 0)
		row_text(row, span_str(made), style);
	va_end(args);
	free(made);
}

/* Appends an address, percent-escaped where it is not printable ASCII, with a NUL; 0: too long. */
static uint32_t add_address(struct row *row, struct span address)
{
	const size_t at = row->links.len;

	row->links.max = ROW_BYTES_MAX;
	for (size_t i = 0; i < address.len; i++) {
		const unsigned char c = (unsigned char)address.data[i];

		if (c > 0x20 && c < 0x7f)
			buf_char(&row->links, (char)c);
		else
			buf_printf(&row->links, "%%%02X", c);
		if (row->links.len - at > ROW_ADDRESS_MAX)
			break;
	}
	if (address.len == 0 || row->links.overflowed || row->links.len - at > ROW_ADDRESS_MAX ||
	    !buf_char(&row->links, '\0')) {
		row->links.len = at;
		return 0;
	}
	return (uint32_t)at + 1;
}

void row_link(struct row *row, struct span untrusted, struct style style, struct span address)
{
	const struct row_run *last = row->count > 0 ? &row->runs[row->count - 1] : NULL;
	const size_t before = row->links.len;
	uint32_t link = add_address(row, address);

	/* Pieces of one link share its address. */
	if (link && last && last->link &&
	    strcmp(row->links.data + last->link - 1, row->links.data + link - 1) == 0) {
		row->links.len = before;
		link = last->link;
	}
	row_put_text(row, untrusted, style, link);
}

const char *row_address(const struct row *row, const struct row_run *run)
{
	return run->link ? row->links.data + run->link - 1 : NULL;
}

static void run_drop_joint(struct row_run *run, uint8_t joint)
{
	run->joints &= (uint8_t)~joint;
	if (joint == RUN_CONTINUES)
		run->blanks = 0;
}

/* Appends bytes of another row's run, whole clusters of `width` columns. */
static void row_put_run(struct row *row, const struct row *other, const struct row_run *run,
                        struct span bytes, unsigned width)
{
	const char *address = row_address(other, run);
	const struct row_run *last = row->count > 0 ? &row->runs[row->count - 1] : NULL;
	struct row_run like = *run;

	like.link = 0;
	if (address && last && last->link &&
	    strcmp(row->links.data + last->link - 1, address) == 0)
		like.link = last->link;
	else if (address)
		like.link = add_address(row, span_str(address));
	if (bytes.data != other->text.data + run->start)
		run_drop_joint(&like, RUN_CONTINUES);
	if (bytes.data + bytes.len != other->text.data + run->start + run->len)
		run_drop_joint(&like, RUN_GOES_ON);
	row_put(row, bytes, width, like);
}

static struct span run_bytes(const struct row *row, const struct row_run *run)
{
	return span_of(row->text.data + run->start, run->len);
}

void row_append(struct row *row, const struct row *other)
{
	for (size_t i = 0; i < other->count; i++) {
		const struct row_run *run = &other->runs[i];
		struct span bytes = run_bytes(other, run);
		struct utf8_char first = utf8_first(bytes);

		if (i == 0 && row->text.len > 0 && cluster_joins(row_last(row), first.code)) {
			row_put_text(row, first.bytes, run->style, 0);
			bytes = span_skip(bytes, first.bytes.len);
		}
		row_put_run(row, other, run, bytes, width_of(bytes));
	}
}

void row_pad(struct row *row, unsigned column, struct style style)
{
	if (column > row->width)
		row_put_blanks(row, column - row->width, style, 0);
}

/* Keeps the first `bytes` bytes, whole clusters. */
static void row_truncate(struct row *row, size_t bytes, unsigned width)
{
	while (row->count > 0 && row->runs[row->count - 1].start >= bytes)
		row->count--;
	if (row->count > 0) {
		row->runs[row->count - 1].len =
			(uint32_t)bytes - row->runs[row->count - 1].start;
		run_drop_joint(&row->runs[row->count - 1], RUN_GOES_ON);
	}
	row->text.len = bytes;
	row->text.overflowed = false;
	if (row->text.data)
		row->text.data[bytes] = '\0';
	row->width = width;
}

void row_clip(struct row *row, unsigned columns)
{
	struct span rest = buf_view(&row->text);
	struct cluster cluster;
	struct style style;
	unsigned width = 0;
	size_t keep = 0;

	if (row->width <= columns)
		return;
	while (cluster_next(&rest, &cluster) && width + cluster.width < columns) {
		width += cluster.width;
		keep += cluster.bytes.len;
	}
	style = row->runs[0].style;
	for (size_t i = 0; i < row->count && row->runs[i].start <= keep; i++)
		style = row->runs[i].style;
	row_truncate(row, keep, width);
	if (columns > 0)
		row_put(row, SPAN("…"), 1, (struct row_run){ .style = style });
}

/* Parts run `i` where its byte `at` of the row is; nothing at an end of it. */
static void row_part(struct row *row, size_t i, size_t at)
{
	struct row_run *run = &row->runs[i];
	const size_t head = at - run->start;

	if (head == 0 || head >= run->len)
		return;
	row->runs = mem_grow(row->runs, &row->cap, row->count + 1, sizeof(*row->runs));
	run = &row->runs[i];
	memmove(run + 1, run, (row->count - i) * sizeof(*run));
	row->count++;
	run[0].len = (uint32_t)head;
	run[1].start = (uint32_t)at;
	run[1].len -= (uint32_t)head;
	run_drop_joint(&run[0], RUN_GOES_ON);
	run_drop_joint(&run[1], RUN_CONTINUES);
}

/* Gives marks to bytes [start, end), which are whole clusters; not none. */
static void mark_clusters(struct row *row, size_t start, size_t end, uint8_t marks)
{
	size_t i = 0;

	while (row->runs[i].start + row->runs[i].len <= start)
		i++;
	row_part(row, i, start);
	i += row->runs[i].start < start;
	for (; i < row->count && row->runs[i].start < end; i++) {
		row_part(row, i, end);
		row->runs[i].style.marks |= marks;
	}
}

void row_mark_at(struct row *row, unsigned column, uint8_t marks)
{
	struct span rest = buf_view(&row->text);
	struct cluster cluster = { 0 };
	unsigned at = 0;
	size_t start;

	do {
		at += cluster.width;
		if (!cluster_next(&rest, &cluster))
			return;
	} while (at + cluster.width <= column);
	start = (size_t)(cluster.bytes.data - row->text.data);
	mark_clusters(row, start, start + cluster.bytes.len, marks);
}

void row_mark_bytes(struct row *row, size_t start, size_t len, uint8_t marks)
{
	struct span rest = buf_view(&row->text);
	struct cluster cluster;
	size_t from = SIZE_MAX, at = 0;

	while (at < start + len && cluster_next(&rest, &cluster)) {
		if (at + cluster.bytes.len > start && from == SIZE_MAX)
			from = at;
		at += cluster.bytes.len;
	}
	if (from < at)
		mark_clusters(row, from, at, marks);
}

bool row_same(const struct row *a, const struct row *b)
{
	if (a->count != b->count || !span_eq(buf_view(&a->text), buf_view(&b->text)) ||
	    !span_eq(buf_view(&a->links), buf_view(&b->links)))
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->runs[i].len != b->runs[i].len || a->runs[i].link != b->runs[i].link ||
		    !style_eq(a->runs[i].style, b->runs[i].style))
			return false;
	return true;
}

void row_plain(const struct row *row, struct buf *out)
{
	buf_span(out, buf_view(&row->text));
}

/* ---- rows -------------------------------------------------------------------- */

struct row *rows_add(struct rows *rows)
{
	if (rows->count == rows->cap)
		rows->at = mem_grow(rows->at, &rows->cap, rows->count + 1, sizeof(*rows->at));
	rows->at[rows->count] = (struct row){ 0 };
	return &rows->at[rows->count++];
}

void rows_take(struct rows *rows, struct row *row)
{
	struct row *at = rows_add(rows);

	*at = *row;
	*row = (struct row){ 0 };
}

void rows_move(struct rows *rows, struct rows *other)
{
	for (size_t i = 0; i < other->count; i++)
		rows_take(rows, &other->at[i]);
	rows_release(other);
}

void rows_copy(struct rows *rows, const struct rows *other, size_t from, size_t to)
{
	for (size_t i = from; i < to && i < other->count; i++)
		row_append(rows_add(rows), &other->at[i]);
}

/* ---- wrapping ---------------------------------------------------------------- */

/* Where text is taken from, and the row that is filled. */
struct wrap {
	const struct row *line;
	size_t run;  /* of the byte `at` */
	size_t at;   /* what is before it is in rows */
	struct rows *rows;
	const struct row *rest;
	struct row *row;  /* the last of rows */
	unsigned room;    /* columns that may be filled in a row after what stands before */
	bool continues;   /* the line was broken, and nothing of it is in the row yet */
	size_t blanks;    /* then: so many were dropped */
};

/* As much of what stands before a row as leaves room for a cluster. */
static void put_prefix(struct row *row, const struct row *prefix, unsigned width)
{
	if (!prefix)
		return;
	row_append(row, prefix);
	if (row->width + 2 > width) {
		struct span rest = buf_view(&row->text);
		struct cluster cluster;
		unsigned columns = 0;
		size_t keep = 0;

		while (cluster_next(&rest, &cluster) && columns + cluster.width + 2 <= width) {
			columns += cluster.width;
			keep += cluster.bytes.len;
		}
		row_truncate(row, keep, columns);
	}
}

/* Puts bytes of the run into the row. */
static void wrap_put(struct wrap *wrap, struct span bytes)
{
	const struct row_run *run = &wrap->line->runs[wrap->run];
	struct row_run started = *run;

	if (wrap->continues) {
		wrap->continues = false;
		started.start = (uint32_t)wrap->at;
		started.len -= started.start - run->start;
		started.joints |= RUN_CONTINUES;
		started.blanks = (uint16_t)(wrap->blanks < UINT16_MAX ? wrap->blanks : UINT16_MAX);
		run = &started;
	}
	row_put_run(wrap->row, wrap->line, run, bytes, width_of(bytes));
}

/* Moves the line's bytes up to `end` into the row. */
static void wrap_copy(struct wrap *wrap, size_t end)
{
	while (wrap->at < end) {
		const struct row_run *run = &wrap->line->runs[wrap->run];
		size_t until = run->start + run->len < end ? run->start + run->len : end;
		struct span bytes = span_of(wrap->line->text.data + wrap->at, until - wrap->at);

		wrap_put(wrap, bytes);
		wrap->at = until;
		if (until == run->start + run->len)
			wrap->run++;
	}
}

/* Leaves out bytes up to `end`. */
static void wrap_drop(struct wrap *wrap, size_t end)
{
	wrap->at = end;
	while (wrap->run < wrap->line->count &&
	       wrap->line->runs[wrap->run].start + wrap->line->runs[wrap->run].len <= end)
		wrap->run++;
}

static void wrap_row(struct wrap *wrap, const struct row *prefix, unsigned width)
{
	wrap->row = rows_add(wrap->rows);
	put_prefix(wrap->row, prefix, width);
	wrap->room = width - wrap->row->width;
}

/* The line goes on in the next row; `blanks` are dropped between. */
static void wrap_break(struct wrap *wrap, size_t blanks, unsigned width)
{
	if (wrap->row->count)
		wrap->row->runs[wrap->row->count - 1].joints |= RUN_GOES_ON;
	wrap->continues = true;
	wrap->blanks = blanks;
	wrap_row(wrap, wrap->rest, width);
}

/* A word, or a part of one that may be broken after it: letters up to a blank, or one cluster of
 * two columns. */
static size_t word_end(struct span text, size_t at, unsigned *ret_width)
{
	struct span rest = span_skip(text, at);
	struct cluster cluster;
	unsigned width = 0;

	while (rest.len > 0 && rest.data[0] != ' ') {
		struct span before = rest;

		cluster_next(&rest, &cluster);
		if (cluster.width == 2 && width > 0) {
			rest = before;
			break;
		}
		width += cluster.width;
		if (cluster.width == 2)
			break;
	}
	*ret_width = width;
	return text.len - rest.len;
}

/* A word wider than a row: cut where the rows end. `used`: columns of the row that are. */
static unsigned wrap_cut(struct wrap *wrap, size_t end, unsigned used, unsigned width)
{
	struct span rest = span_of(wrap->line->text.data + wrap->at, end - wrap->at);
	size_t at = wrap->at;
	struct cluster cluster;

	while (cluster_next(&rest, &cluster)) {
		if (used > 0 && used + cluster.width > wrap->room) {
			wrap_copy(wrap, at);
			wrap_break(wrap, 0, width);
			used = 0;
		}
		used += cluster.width;
		at += cluster.bytes.len;
	}
	wrap_copy(wrap, end);
	return used;
}

void rows_wrap(struct rows *rows, const struct row *line, unsigned width, const struct row *first,
               const struct row *rest)
{
	const struct span text = buf_view(&line->text);
	struct wrap wrap = { .line = line, .rows = rows, .rest = rest };
	unsigned used = 0;

	width = width < WIDTH_MIN ? WIDTH_MIN : width;
	wrap_row(&wrap, first, width);
	for (size_t at = 0; at < text.len;) {
		size_t blank = at, end;
		unsigned columns;

		while (blank < text.len && text.data[blank] == ' ')
			blank++;
		end = word_end(text, blank, &columns);
		if (blank == text.len && used + (blank - at) > wrap.room) {
			wrap_copy(&wrap, at + (wrap.room - used)); /* blanks at the end hang */
			return;
		}
		if (used + (blank - at) + columns <= wrap.room) {
			wrap_copy(&wrap, end);
			used += (unsigned)(blank - at) + columns;
		} else {
			const bool indented = at == 0 && blank < wrap.room;

			/* Blanks where a row ends are dropped, not those at a line's start. */
			if (indented) {
				wrap_copy(&wrap, blank);
				used = (unsigned)blank;
			}
			wrap_drop(&wrap, blank);
			if (!indented && used > 0) {
				wrap_break(&wrap, blank - at, width);
				used = 0;
			}
			used = wrap_cut(&wrap, end, used, width);
		}
		at = end;
	}
}

void rows_text(struct rows *rows, struct span untrusted, struct style style, unsigned width)
{
	struct span line;

	while (line_next(&untrusted, &line)) {
		_cleanup_row_ struct row row = { 0 };

		row_text(&row, line_body(line), style);
		rows_wrap(rows, &row, width, NULL, NULL);
	}
}
