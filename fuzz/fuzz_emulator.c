/* SPDX-License-Identifier: Apache-2.0 */
/* What a command writes, to the rows that are shown of it: no more rows than were asked for, no
 * control characters; the window has another size in between.  Past the guard comes the same
 * whole and in pieces, and no string.  The first two bytes are sizes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* Shows what there is after `bytes` in pieces. */
static void show(struct span bytes, size_t piece, unsigned rows, unsigned columns)
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
	for (size_t i = 0; i < shown.count; i++)
		check_row(&shown.at[i]);
	emulator_free(emulator);
}

static void guard_all(struct span bytes, size_t piece, struct buf *out)
{
	struct emulator_guard guard = { 0 };

	while (bytes.len) {
		guard_feed(&guard, span_head(bytes, piece), out);
		bytes = span_skip(bytes, piece);
	}
}

static void check_guard(struct span bytes, size_t piece)
{
	const size_t most = (bytes.len / GUARD_HEAVY_BYTES + 1) * GUARD_OUT_MAX;
	_cleanup_buf_ struct buf whole = BUF_INIT(most), pieces = BUF_INIT(most);

	guard_all(bytes, bytes.len, &whole);
	guard_all(bytes, piece, &pieces);
	if (whole.overflowed || !span_eq(buf_view(&whole), buf_view(&pieces)) ||
	    !utf8_valid(buf_view(&whole)))
		abort();
	for (size_t i = 0; i + 1 < whole.len; i++)
		if (whole.data[i] == '\33' && whole.data[i + 1] && strchr("]P_^X", whole.data[i + 1]))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span bytes;

	if (size < 3)
		return 0;
	bytes = span_of((const char *)data + 2, size - 2);
	check_guard(bytes, 1 + data[0] % 7);
	show(bytes, size, 1 + data[0] % 60, 1 + data[1] % 120);
	show(bytes, 1 + data[0] % 7, 1 + data[0] % 60, 1 + data[1] % 120);
	return 0;
}
