/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/job/plain_rows.h"

#include "base/text.h"

/* How far past the end of a row the cursor goes: a terminal's width at most. */
enum { COLUMNS_MAX = 1000 };

void plain_rows_init(struct plain_rows *rows, void (*emit)(void *data, struct span text),
                     void *data)
{
	*rows = (struct plain_rows){ .emit = emit, .data = data, .count = 1 };
	/* Each character of the longest row may be overwritten by one of four bytes. */
	for (size_t i = 0; i < PLAIN_ROWS; i++)
		rows->rows[i].max = 4 * (PLAIN_ROW_BYTES + COLUMNS_MAX) + 64;
}

void plain_rows_release(struct plain_rows *rows)
{
	for (size_t i = 0; i < PLAIN_ROWS; i++)
		buf_release(&rows->rows[i]);
}

static struct buf *row_at(struct plain_rows *rows, size_t i)
{
	return &rows->rows[(rows->first + i) % PLAIN_ROWS];
}

static struct buf *row_of(struct plain_rows *rows)
{
	return row_at(rows, rows->row);
}

static void emit_first(struct plain_rows *rows, bool newline)
{
	struct buf *row = row_at(rows, 0);

	if (newline)
		buf_char(row, '\n');
	if (row->len)
		rows->emit(rows->data, buf_view(row));
	buf_clear(row);
}

void plain_rows_flush(struct plain_rows *rows)
{
	while (rows->count > 1) {
		emit_first(rows, true);
		rows->first = (rows->first + 1) % PLAIN_ROWS;
		rows->count--;
	}
	emit_first(rows, false);
	rows->row = rows->at = rows->past = 0;
}

void plain_rows_peek(const struct plain_rows *rows, void (*emit)(void *data, struct span text),
                     void *data)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct buf *row = &rows->rows[(rows->first + i) % PLAIN_ROWS];

		if (row->len)
			emit(data, buf_view(row));
		if (i + 1 < rows->count)
			emit(data, SPAN("\n"));
	}
}

void plain_rows_newline(struct plain_rows *rows)
{
	rows->at = rows->past = 0;
	if (rows->row + 1 < rows->count) {
		rows->row++;
		return;
	}
	if (rows->count == PLAIN_ROWS) {
		emit_first(rows, true);
		rows->first = (rows->first + 1) % PLAIN_ROWS;
	} else {
		rows->count++;
		rows->row++;
	}
}

/* ---- text -------------------------------------------------------------------- */

static size_t step(const struct buf *row, size_t at)
{
	return at < row->len ? utf8_first(buf_from(row, at)).bytes.len : 0;
}

/* `remove` bytes at the cursor give way to `text`. */
static bool splice(struct plain_rows *rows, size_t remove, struct span text)
{
	struct buf *row = row_of(rows);
	size_t after = row->len - rows->at - remove;

	if (!buf_reserve(row, text.len))
		return false;
	if (text.len != remove)
		memmove(row->data + rows->at + text.len, row->data + rows->at + remove, after);
	memcpy(row->data + rows->at, text.data, text.len);
	row->len = rows->at + text.len + after;
	row->data[row->len] = 0;
	return true;
}

/* A row too long to be kept is emitted with all before it, and no longer there to change. */
static void make_room(struct plain_rows *rows)
{
	if (row_of(rows)->len < PLAIN_ROW_BYTES || rows->at < row_of(rows)->len)
		return;
	if (rows->row + 1 == rows->count) {
		plain_rows_flush(rows);
		return;
	}
	/* In the middle of the rows: the cursor stays at its end, and overwrites there. */
	rows->at = row_of(rows)->len - 1;
	while (rows->at && (row_of(rows)->data[rows->at] & 0xC0) == 0x80)
		rows->at--;
}

static void make_blanks(struct plain_rows *rows)
{
	struct buf *row = row_of(rows);

	for (; rows->past; rows->past--)
		if (row->len < PLAIN_ROW_BYTES + COLUMNS_MAX)
			buf_char(row, ' ');
	rows->at = row->len;
}

void plain_rows_put(struct plain_rows *rows, struct span code_point)
{
	if (rows->past)
		make_blanks(rows);
	make_room(rows);
	if (splice(rows, step(row_of(rows), rows->at), code_point))
		rows->at += code_point.len;
}

void plain_rows_put_run(struct plain_rows *rows, struct span ascii)
{
	while (ascii.len) {
		struct buf *row = row_of(rows);
		size_t room = row->len < PLAIN_ROW_BYTES ? PLAIN_ROW_BYTES - row->len : 0;
		struct span some = span_head(ascii, room);

		if (rows->at != row->len || rows->past || !room) {
			some = span_head(ascii, 1);
			plain_rows_put(rows, some);
		} else {
			buf_span(row, some);
			rows->at = row->len;
		}
		ascii = span_skip(ascii, some.len);
	}
}

/* ---- movement ------------------------------------------------------------------ */

static size_t column_of(struct plain_rows *rows)
{
	size_t column = 0;

	for (size_t at = 0; at < rows->at; at += step(row_of(rows), at))
		column++;
	return column + rows->past;
}

void plain_rows_right(struct plain_rows *rows, unsigned count)
{
	const struct buf *row = row_of(rows);

	while (count && rows->at < row->len) {
		rows->at += step(row, rows->at);
		count--;
	}
	rows->past += count;
	if (rows->past > COLUMNS_MAX)
		rows->past = COLUMNS_MAX;
}

void plain_rows_column(struct plain_rows *rows, unsigned column)
{
	rows->at = rows->past = 0;
	if (column)
		plain_rows_right(rows, column);
}

void plain_rows_left(struct plain_rows *rows, unsigned count)
{
	const struct buf *row = row_of(rows);
	size_t back = count < rows->past ? count : rows->past;

	rows->past -= back;
	count -= (unsigned)back;
	while (count-- && rows->at) {
		rows->at--;
		while (rows->at && (row->data[rows->at] & 0xC0) == 0x80)
			rows->at--;
	}
}

void plain_rows_up(struct plain_rows *rows, unsigned count)
{
	size_t column = column_of(rows);

	rows->row -= count < rows->row ? count : rows->row;
	plain_rows_column(rows, (unsigned)column);
}

void plain_rows_down(struct plain_rows *rows, unsigned count)
{
	size_t column = column_of(rows), left = rows->count - 1 - rows->row;

	if (count > left && !left)
		plain_rows_newline(rows);
	else
		rows->row += count < left ? count : left;
	plain_rows_column(rows, (unsigned)column);
}

void plain_rows_go(struct plain_rows *rows, unsigned row, unsigned column)
{
	rows->row = row < rows->count ? row : rows->count - 1;
	plain_rows_column(rows, column);
}

/* ---- erasing ------------------------------------------------------------------- */

static void cut_row(struct plain_rows *rows)
{
	struct buf *row = row_of(rows);

	row->len = rows->at;
	if (row->data)
		row->data[row->len] = 0;
}

void plain_rows_erase_line(struct plain_rows *rows, unsigned how)
{
	struct buf *row = row_of(rows);
	size_t column = column_of(rows);

	if (how == 0)
		cut_row(rows);
	if (how == 1 && row->len) { /* what stands at the cursor goes too */
		size_t remove = rows->at + step(row, rows->at);
		size_t blanks = column < remove ? column + 1 : remove;

		memset(row->data, ' ', blanks);
		memmove(row->data + blanks, row->data + remove, row->len - remove);
		row->len -= remove - blanks;
		plain_rows_column(rows, (unsigned)column);
	}
	if (how == 2) {
		buf_clear(row);
		plain_rows_column(rows, (unsigned)column);
	}
}

void plain_rows_erase_below(struct plain_rows *rows, unsigned how)
{
	if (how == 1)
		return;
	/* A program that clears its screen has shown what was there: it is kept. */
	if (how >= 2) {
		rows->row = rows->count - 1;
		if (row_of(rows)->len)
			plain_rows_newline(rows);
		plain_rows_flush(rows);
		return;
	}
	cut_row(rows);
	for (size_t i = rows->row + 1; i < rows->count; i++)
		buf_clear(row_at(rows, i));
	rows->count = rows->row + 1;
}

void plain_rows_delete(struct plain_rows *rows, unsigned count)
{
	size_t len = 0, n;

	while (count-- && (n = step(row_of(rows), rows->at + len)))
		len += n;
	if (len)
		splice(rows, len, span_of("", 0));
}
