/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as Markdown: in whatever pieces they arrive, the rows are those of the whole, safe and
 * as wide as their texts; what is forgotten and told again makes no difference. */
#include <stdint.h>
#include <stdlib.h>

#include "base/text.h"
#include "tui/markdown/markdown.h"
#include "tui/text/width.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_row(const struct row *row, struct buf *out)
{
	struct span rest = buf_view(&row->text);
	struct utf8_char c;

	if (row->width != width_of(rest))
		abort();
	for (size_t i = 0; i < row->count; i++)
		buf_printf(out, "<%d %d %u>", row->runs[i].style.role, row->runs[i].style.marks,
		           row->runs[i].len);
	buf_span(out, rest);
	buf_char(out, '\n');
	while (utf8_next(&rest, &c))
		if (c.bad || c.code < 0x20 || (c.code >= 0x7f && c.code < 0xa0))
			abort();
}

static void print_rows(struct rows *rows, struct buf *out)
{
	for (size_t i = 0; i < rows->count; i++)
		print_row(&rows->at[i], out);
	rows_release(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size);
	const unsigned width = size > 0 ? data[0] % 80 : 0;
	struct buf whole = BUF_INIT(64 << 20), parts = BUF_INIT(64 << 20);
	struct markdown *md = markdown_new(width);
	struct rows rows = { 0 };
	unsigned seed = (unsigned)size;

	markdown_rows(text, width, &rows);
	print_rows(&rows, &whole);
	while (text.len > 0) {
		struct span piece;

		seed = seed * 1103515245u + 12345u + (unsigned char)text.data[0];
		piece = span_head(text, 1 + (seed >> 16) % 40);
		markdown_feed(md, piece);
		markdown_take(md, &rows);
		if ((seed >> 8) % 8 == 0 && markdown_held(md) >= piece.len) {
			if (markdown_forget(md, piece.len) != 0)
				abort();
			markdown_feed(md, piece);
		}
		text = span_skip(text, piece.len);
	}
	markdown_end(md, &rows);
	print_rows(&rows, &parts);
	markdown_free(md);
	if (!span_eq(buf_view(&whole), buf_view(&parts)))
		abort();
	buf_release(&whole);
	buf_release(&parts);
	return 0;
}
