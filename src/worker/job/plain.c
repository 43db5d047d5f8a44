/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of control sequences; the lines they change are above.
 *
 * States after ECMA-48, sections 5.3 to 5.6:
 *   ground --ESC--> escape --[--> csi --final--> ground
 *                          --] P X ^ _--> string --BEL, ST--> ground
 *                          --0x20-0x2F--> intermediate --0x30-0x7E--> ground
 * CAN and SUB end any sequence; a control character inside one takes effect immediately.
 * Deviations: C1 controls count as code points only, never as bytes, since text is UTF-8;
 * a line feed ends a string, which then had no end. */
#include "worker/job/capture.h"

#include <stdint.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

/* ---- the last lines of an output, which can still be changed ---- */

/* A row is its text in UTF-8; the cursor is a row and a byte offset in it, always at a code
 * point, or some columns past the end: blanks are only made when something is written there.
 * Rows that leave at the top are emitted. */

struct plain_rows {
	void (*emit)(void *data, struct span text);
	void *data;
	struct buf rows[PLAIN_ROWS]; /* a ring */
	size_t first, count;         /* of the ring; count is at least 1 */
	size_t row;                  /* of the cursor, from `first` */
	size_t at;                   /* bytes */
	size_t past;                 /* columns past the end of the row; then `at` is its end */
};

/* How far past the end of a row the cursor goes: a terminal's width at most. */
enum { COLUMNS_MAX = 1000 };

static void plain_rows_init(struct plain_rows *rows, void (*emit)(void *data, struct span text),
                            void *data)
{
	*rows = (struct plain_rows){ .emit = emit, .data = data, .count = 1 };
	/* Each character of the longest row may be overwritten by one of four bytes. */
	for (size_t i = 0; i < PLAIN_ROWS; i++)
		rows->rows[i].max = 4 * (PLAIN_ROW_BYTES + COLUMNS_MAX) + 64;
}

static void plain_rows_release(struct plain_rows *rows)
{
	for (size_t i = 0; i < PLAIN_ROWS; i++)
		buf_release(&rows->rows[i]);
}

static struct buf *plain_row_at(struct plain_rows *rows, size_t i)
{
	return &rows->rows[(rows->first + i) % PLAIN_ROWS];
}

static struct buf *plain_current_row(struct plain_rows *rows)
{
	return plain_row_at(rows, rows->row);
}

static void emit_first(struct plain_rows *rows, bool newline)
{
	struct buf *row = plain_row_at(rows, 0);

	if (newline)
		buf_char(row, '\n');
	if (row->len)
		rows->emit(rows->data, buf_view(row));
	buf_clear(row);
}

/* Emits all; the last row without a newline */
static void plain_rows_flush(struct plain_rows *rows)
{
	while (rows->count > 1) {
		emit_first(rows, true);
		rows->first = (rows->first + 1) % PLAIN_ROWS;
		rows->count--;
	}
	emit_first(rows, false);
	rows->row = rows->at = rows->past = 0;
}

static void plain_rows_peek(const struct plain_rows *rows,
                            void (*emit)(void *data, struct span text), void *data)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct buf *row = &rows->rows[(rows->first + i) % PLAIN_ROWS];

		if (row->len)
			emit(data, buf_view(row));
		if (i + 1 < rows->count)
			emit(data, SPAN("\n"));
	}
}

static void plain_rows_newline(struct plain_rows *rows)
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

/* ---- text ---- */

static size_t character_bytes(const struct buf *row, size_t at)
{
	return at < row->len ? utf8_first(buf_from(row, at)).bytes.len : 0;
}

/* `remove` bytes at the cursor give way to `text`. */
static bool splice(struct plain_rows *rows, size_t remove, struct span text)
{
	struct buf *row = plain_current_row(rows);
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
static void make_row_room(struct plain_rows *rows)
{
	if (plain_current_row(rows)->len < PLAIN_ROW_BYTES ||
	    rows->at < plain_current_row(rows)->len)
		return;
	if (rows->row + 1 == rows->count) {
		plain_rows_flush(rows);
		return;
	}
	/* In the middle of the rows: the cursor stays at its end, and overwrites there. */
	rows->at = plain_current_row(rows)->len - 1;
	while (rows->at && (plain_current_row(rows)->data[rows->at] & 0xC0) == 0x80)
		rows->at--;
}

static void make_blanks(struct plain_rows *rows)
{
	struct buf *row = plain_current_row(rows);

	for (; rows->past; rows->past--)
		if (row->len < PLAIN_ROW_BYTES + COLUMNS_MAX)
			buf_char(row, ' ');
	rows->at = row->len;
}

static void plain_rows_put(struct plain_rows *rows, struct span code_point)
{
	if (rows->past)
		make_blanks(rows);
	make_row_room(rows);
	if (splice(rows, character_bytes(plain_current_row(rows), rows->at), code_point))
		rows->at += code_point.len;
}

static void plain_rows_put_run(struct plain_rows *rows, struct span ascii)
{
	while (ascii.len) {
		struct buf *row = plain_current_row(rows);
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

/* ---- movement ---- */

static size_t column_of(struct plain_rows *rows)
{
	size_t column = 0;

	for (size_t at = 0; at < rows->at; at += character_bytes(plain_current_row(rows), at))
		column++;
	return column + rows->past;
}

/* Also past the end */
static void plain_rows_right(struct plain_rows *rows, unsigned count)
{
	const struct buf *row = plain_current_row(rows);

	while (count && rows->at < row->len) {
		rows->at += character_bytes(row, rows->at);
		count--;
	}
	rows->past += count;
	if (rows->past > COLUMNS_MAX)
		rows->past = COLUMNS_MAX;
}

static void plain_rows_column(struct plain_rows *rows, unsigned column)
{
	rows->at = rows->past = 0;
	if (column)
		plain_rows_right(rows, column);
}

static void plain_rows_left(struct plain_rows *rows, unsigned count)
{
	const struct buf *row = plain_current_row(rows);
	size_t back = count < rows->past ? count : rows->past;

	rows->past -= back;
	count -= (unsigned)back;
	while (count-- && rows->at) {
		rows->at--;
		while (rows->at && (row->data[rows->at] & 0xC0) == 0x80)
			rows->at--;
	}
}

static void plain_rows_up(struct plain_rows *rows, unsigned count)
{
	size_t column = column_of(rows);

	rows->row -= count < rows->row ? count : rows->row;
	plain_rows_column(rows, (unsigned)column);
}

/* Makes no new rows but one */
static void plain_rows_down(struct plain_rows *rows, unsigned count)
{
	size_t column = column_of(rows), left = rows->count - 1 - rows->row;

	if (count > left && !left)
		plain_rows_newline(rows);
	else
		rows->row += count < left ? count : left;
	plain_rows_column(rows, (unsigned)column);
}

static void plain_rows_go(struct plain_rows *rows, unsigned row, unsigned column)
{
	rows->row = row < rows->count ? row : rows->count - 1;
	plain_rows_column(rows, column);
}

/* ---- erasing ---- */

static void cut_row(struct plain_rows *rows)
{
	struct buf *row = plain_current_row(rows);

	row->len = rows->at;
	if (row->data)
		row->data[row->len] = 0;
}

/* As EL: 0, 1, 2 */
static void plain_rows_erase_line(struct plain_rows *rows, unsigned how)
{
	struct buf *row = plain_current_row(rows);
	size_t column = column_of(rows);

	if (how == 0)
		cut_row(rows);
	if (how == 1 && row->len) { /* what stands at the cursor goes too */
		size_t remove = rows->at + character_bytes(row, rows->at);
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

/* As ED: 0 below, 2 all */
static void plain_rows_erase_below(struct plain_rows *rows, unsigned how)
{
	if (how == 1)
		return;
	/* A program that clears its screen has shown what was there: it is kept. */
	if (how >= 2) {
		rows->row = rows->count - 1;
		if (plain_current_row(rows)->len)
			plain_rows_newline(rows);
		plain_rows_flush(rows);
		return;
	}
	cut_row(rows);
	for (size_t i = rows->row + 1; i < rows->count; i++)
		buf_clear(plain_row_at(rows, i));
	rows->count = rows->row + 1;
}

/* As DCH */
static void plain_rows_delete(struct plain_rows *rows, unsigned count)
{
	size_t len = 0, n;

	while (count-- && (n = character_bytes(plain_current_row(rows), rows->at + len)))
		len += n;
	if (len)
		splice(rows, len, span_of("", 0));
}

/* ---- the parser ---- */

enum { PARAMETERS_MAX = 16, PARAMETER_MAX = 9999, PART_MAX = 4 };

enum state { GROUND, ESCAPE, INTERMEDIATE, CSI, STRING, STRING_ESCAPE };

struct plain {
	struct plain_rows rows;
	enum state state;
	unsigned parameters[PARAMETERS_MAX];
	size_t parameter_count; /* with the one being read */
	bool hides_alternate, alternate; /* nothing is shown while both are true */
	bool special;              /* a private marker or an intermediate: no sequence we know */
	size_t string_bytes;
	char part[PART_MAX];       /* the beginning of a code point */
	size_t part_len;
};

struct plain *plain_new(void (*emit)(void *data, struct span text), void *data)
{
	struct plain *plain = mem_alloc(1, sizeof(*plain));

	plain_rows_init(&plain->rows, emit, data);
	return plain;
}

void plain_hide_alternate(struct plain *plain)
{
	plain->hides_alternate = true;
}

void plain_free(struct plain *plain)
{
	if (!plain)
		return;
	plain_rows_release(&plain->rows);
	free(plain);
}

/* ---- control sequences ---- */

static unsigned parameter(const struct plain *plain, size_t i, unsigned otherwise)
{
	unsigned value = i < plain->parameter_count ? plain->parameters[i] : 0;

	return value ? value : otherwise;
}

/* Xterm's three ways to the alternate screen and back. */
static void csi_mode(struct plain *plain, uint32_t final)
{
	const unsigned mode = parameter(plain, 0, 0);

	if (plain->hides_alternate && (final == 'h' || final == 'l') &&
	    (mode == 47 || mode == 1047 || mode == 1049))
		plain->alternate = final == 'h';
}

static void csi_final(struct plain *plain, uint32_t final)
{
	struct plain_rows *rows = &plain->rows;
	unsigned first = parameter(plain, 0, 0), count = parameter(plain, 0, 1);

	if (plain->special) {
		csi_mode(plain, final);
		return;
	}
	if (plain->alternate)
		return;
	switch (final) {
	case 'A': plain_rows_up(rows, count); break;
	case 'B': plain_rows_down(rows, count); break;
	case 'C': plain_rows_right(rows, count); break;
	case 'D': plain_rows_left(rows, count); break;
	case 'E': plain_rows_down(rows, count); plain_rows_column(rows, 0); break;
	case 'F': plain_rows_up(rows, count); plain_rows_column(rows, 0); break;
	case 'G':
	case '`': plain_rows_column(rows, count - 1); break;
	case 'H':
	case 'f': plain_rows_go(rows, count - 1, parameter(plain, 1, 1) - 1); break;
	case 'J': plain_rows_erase_below(rows, first); break;
	case 'K': plain_rows_erase_line(rows, first); break;
	case 'P': plain_rows_delete(rows, count); break;
	default: break; /* colours, modes, reports: nothing to see */
	}
}

static void csi_begin(struct plain *plain)
{
	memset(plain->parameters, 0, sizeof(plain->parameters));
	plain->parameter_count = 0;
	plain->special = false;
	plain->state = CSI;
}

static void csi_next(struct plain *plain, uint32_t c)
{
	if (ascii_is_digit(c)) {
		unsigned *value;

		if (!plain->parameter_count)
			plain->parameter_count = 1;
		value = &plain->parameters[plain->parameter_count - 1];
		*value = *value * 10 + (c - '0');
		if (*value > PARAMETER_MAX)
			*value = PARAMETER_MAX;
	} else if (c == ';' || c == ':') {
		plain->parameter_count += plain->parameter_count ? 1 : 2;
		if (plain->parameter_count > PARAMETERS_MAX)
			plain->parameter_count = PARAMETERS_MAX;
	} else if (c >= 0x20 && c <= 0x3F) {
		plain->special = true;
	} else {
		plain->state = GROUND;
		if (c >= 0x40 && c <= 0x7E)
			csi_final(plain, c);
	}
}

/* 7-bit form of a C1 control, or the end of another escape sequence. */
static void escape_final(struct plain *plain, uint32_t c)
{
	plain->state = GROUND;
	plain->string_bytes = 0;
	switch (c) {
	case '[': csi_begin(plain); return;
	case ']': case 'P': case 'X': case '^': case '_': plain->state = STRING; return;
	case 'c': plain->alternate = false; return;
	}
	if (plain->alternate)
		return;
	switch (c) {
	case 'D': plain_rows_down(&plain->rows, 1); break;
	case 'E': plain_rows_newline(&plain->rows); break;
	case 'M': plain_rows_up(&plain->rows, 1); break;
	default: break;
	}
}

/* ---- controls and text ---- */

static void plain_control(struct plain *plain, uint32_t c)
{
	struct plain_rows *rows = &plain->rows;

	if (plain->alternate && c != 0x1B && c != 0x18 && c != 0x1A)
		return;
	switch (c) {
	case '\n': case '\v': case '\f': plain_rows_newline(rows); break;
	case '\r': plain_rows_column(rows, 0); break;
	case '\b': plain_rows_left(rows, 1); break;
	case '\t': plain_rows_put(rows, SPAN("\t")); break;
	case 0x1B: plain->state = ESCAPE; break;
	case 0x18: case 0x1A: plain->state = GROUND; break;
	default: break;
	}
}

static bool is_control(uint32_t c)
{
	return c < 0x20 || c == 0x7F;
}

static void string_next(struct plain *plain, uint32_t c)
{
	if (plain->state == STRING_ESCAPE) {
		plain->state = GROUND;
		if (c != '\\') {
			plain->state = ESCAPE;
			if (!is_control(c))
				escape_final(plain, c);
		}
		return;
	}
	if (c == 0x1B)
		plain->state = STRING_ESCAPE;
	else if (c == 0x07 || c == 0x9C || ++plain->string_bytes > PLAIN_STRING_BYTES)
		plain->state = GROUND;
	else if (c == '\n' || c == 0x18 || c == 0x1A) {
		plain->state = GROUND;
		plain_control(plain, c);
	}
}

static void sequence_next(struct plain *plain, uint32_t c)
{
	if (is_control(c)) {
		plain_control(plain, c);
	} else if (plain->state == CSI) {
		csi_next(plain, c);
	} else if (c >= 0x20 && c <= 0x2F) {
		plain->state = INTERMEDIATE;
	} else if (plain->state == INTERMEDIATE) {
		plain->state = GROUND;
	} else {
		escape_final(plain, c);
	}
}

/* One code point, with its bytes. */
static void plain_next(struct plain *plain, uint32_t c, struct span bytes)
{
	if (plain->state == STRING || plain->state == STRING_ESCAPE)
		string_next(plain, c);
	else if (plain->state != GROUND)
		sequence_next(plain, c);
	else if (is_control(c))
		plain_control(plain, c);
	else if (c >= 0x80 && c < 0xA0)
		escape_final(plain, c - 0x40);
	else if (!plain->alternate)
		plain_rows_put(&plain->rows, bytes);
}

/* ---- bytes ---- */

/* Whether a byte begins a code point of which all bytes here may be the beginning. */
static bool may_be_completed(struct span bytes)
{
	unsigned char lead = (unsigned char)bytes.data[0];
	size_t want = lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 :
	              lead >= 0xF0 && lead < 0xF5 ? 4 : 1;

	if (bytes.len >= want)
		return false;
	for (size_t i = 1; i < bytes.len; i++)
		if (((unsigned char)bytes.data[i] & 0xC0) != 0x80)
			return false;
	return true;
}

/* Takes one code point off the front; 0 when more bytes are needed. */
static size_t plain_take(struct plain *plain, struct span bytes, bool last)
{
	struct utf8_char c = utf8_first(bytes);

	if (c.bad && !last && may_be_completed(bytes))
		return 0;
	plain_next(plain, c.code, c.bad ? SPAN("\xEF\xBF\xBD") : c.bytes);
	return c.bytes.len;
}

/* Completes the code point that the last piece ended in. Returns how many bytes it took. */
static size_t finish_part(struct plain *plain, struct span bytes)
{
	size_t used = 0;

	while (plain->part_len) {
		size_t taken = plain_take(plain, span_of(plain->part, plain->part_len), false);

		if (!taken) {
			if (used == bytes.len)
				return used;
			plain->part[plain->part_len++] = bytes.data[used++];
			continue;
		}
		plain->part_len -= taken;
		memmove(plain->part, plain->part + taken, plain->part_len);
	}
	return used;
}

/* What is a character of a line in any state of it, or ends it. */
static const bool is_line_text[256] = { [' ' ... '~'] = true, ['\n'] = true };

/* Most output is plain ASCII: as much of it as needs no thought. */
static size_t ascii_run(struct span bytes)
{
	size_t len = 0;

	while (len < bytes.len && (unsigned char)bytes.data[len] >= 0x20 &&
	       (unsigned char)bytes.data[len] < 0x7F)
		len++;
	return len;
}

/* The lines at the front of plain text that the lines behind them push out of the rows: nothing can
 * change them, and they need not be made rows.  0: none, or the cursor is elsewhere. */
static size_t settled_lines(struct plain *plain, struct span bytes)
{
	struct plain_rows *rows = &plain->rows;
	size_t len = 0, lines = 0;

	if (plain->state != GROUND || plain->alternate || rows->past ||
	    rows->row + 1 != rows->count || rows->at != plain_current_row(rows)->len)
		return 0;
	while (len < bytes.len && is_line_text[(unsigned char)bytes.data[len]])
		len++;
	while (len && lines <= PLAIN_ROWS) {
		const char *newline = memrchr(bytes.data, '\n', len);

		len = newline ? (size_t)(newline - bytes.data) : 0;
		lines++;
	}
	return len ? len + 1 : 0;
}

void plain_feed(struct plain *plain, struct span bytes)
{
	size_t settled;

	bytes = span_skip(bytes, finish_part(plain, bytes));
	if (plain->part_len)
		return;
	settled = settled_lines(plain, bytes);
	if (settled) {
		plain_rows_flush(&plain->rows);
		plain->rows.emit(plain->rows.data, span_head(bytes, settled));
		bytes = span_skip(bytes, settled);
	}
	while (bytes.len) {
		size_t len = plain->state == GROUND ? ascii_run(bytes) : 0;

		if (len && plain->alternate) {
			bytes = span_skip(bytes, len);
			continue;
		} else if (len) {
			plain_rows_put_run(&plain->rows, span_head(bytes, len));
		} else {
			len = plain_take(plain, bytes, false);
			if (!len)
				break;
		}
		bytes = span_skip(bytes, len);
	}
	memcpy(plain->part, bytes.data ? bytes.data : "", bytes.len);
	plain->part_len = bytes.len;
}

void plain_end(struct plain *plain)
{
	struct span part = span_of(plain->part, plain->part_len);

	while (part.len)
		part = span_skip(part, plain_take(plain, part, true));
	plain->part_len = 0;
	plain_rows_flush(&plain->rows);
}

void plain_peek(const struct plain *plain, void (*emit)(void *data, struct span text), void *data)
{
	plain_rows_peek(&plain->rows, emit, data);
}
