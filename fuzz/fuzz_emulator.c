/* SPDX-License-Identifier: Apache-2.0 */
/* What a command writes, to the rows that are shown of it: the same whole and in pieces, no more
 * rows and columns than the screen has, no control characters, no string past the guard; the window
 * has another size in between.  The first two bytes are sizes. */
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/text.h"
#include "tui/emulator/emulator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void answered(void *count, struct span bytes)
{
	*(size_t *)count += bytes.len;
}

static void check_row(const struct row *row)
{
	for (size_t i = 0; i < row->text.len; i++)
		if ((unsigned char)row->text.data[i] < 0x20 || row->text.data[i] == 0x7F)
			abort();
	if (!utf8_valid(buf_view(&row->text)))
		abort();
}

/* What is shown after `bytes` in pieces. */
static void show(struct span bytes, size_t piece, unsigned rows, unsigned columns,
                 struct buf *out)
{
	const struct emulator_view view = { .rows = 8, .cursor = true, .colours = true };
	const struct key up = { .code = KEY_UP, .mods = KEY_CTRL };
	size_t answers = 0, half = bytes.len / 2;
	struct emulator *emulator = emulator_new(rows, columns, answered, &answers);
	_cleanup_buf_ struct buf keys = BUF_INIT(4096);
	_cleanup_rows_ struct rows shown = { 0 };

	if (!emulator)
		exit(77);
	for (size_t at = 0; at < bytes.len;) {
		size_t len = at < half && half - at < piece ? half - at : piece;

		if (at == half)
			emulator_resize(emulator, columns, rows);
		emulator_feed(emulator, span_head(span_skip(bytes, at), len));
		at += len;
	}
	emulator_key(emulator, &up, &keys);
	emulator_paste(emulator, span_head(bytes, 100), &keys);
	emulator_rows(emulator, &view, &shown);
	if (shown.count > view.rows || answers > 256 * (bytes.len + 1))
		abort();
	for (size_t i = 0; i < shown.count; i++) {
		check_row(&shown.at[i]);
		row_plain(&shown.at[i], out);
		buf_char(out, '\n');
	}
	emulator_free(emulator);
}

static void check_guard(struct span bytes)
{
	_cleanup_buf_ struct buf out = BUF_INIT((bytes.len / GUARD_HEAVY_BYTES + 1) * GUARD_OUT_MAX);
	struct guard guard = { 0 };

	guard_feed(&guard, bytes, &out);
	for (size_t i = 0; i + 1 < out.len; i++)
		if (out.data[i] == '\33' && !ascii_is_digit(out.data[i + 1]) &&
		    (out.data[i + 1] == ']' || out.data[i + 1] == 'P' || out.data[i + 1] == '_' ||
		     out.data[i + 1] == '^' || out.data[i + 1] == 'X'))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf whole = BUF_INIT((size_t)1 << 20);
	_cleanup_buf_ struct buf pieces = BUF_INIT((size_t)1 << 20);
	struct span bytes;

	if (size < 2)
		return 0;
	bytes = span_of((const char *)data + 2, size - 2);
	check_guard(bytes);
	show(bytes, size, 1 + data[0] % 60, 1 + data[1] % 120, &whole);
	show(bytes, 1 + data[0] % 7, 1 + data[0] % 60, 1 + data[1] % 120, &pieces);
	if (!span_eq(buf_view(&whole), buf_view(&pieces)))
		abort();
	return 0;
}
