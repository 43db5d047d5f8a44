/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a styled line, wrapped: nothing in the rows acts on a terminal, their widths are
 * those of their texts, none is too wide, and nothing but blanks is lost. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tui/text/rows.h"
#include "tui/text/width.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_row(const struct row *row)
{
	struct span rest = buf_view(&row->text);
	struct utf8_char c;
	size_t end = 0;

	if (row->width != width_of(rest))
		abort();
	for (size_t i = 0; i < row->count; i++) {
		if (row->runs[i].start != end || row->runs[i].len == 0)
			abort();
		end += row->runs[i].len;
	}
	if (end != rest.len)
		abort();
	while (utf8_next(&rest, &c))
		if (c.bad || c.code < 0x20 || (c.code >= 0x7f && c.code < 0xa0) ||
		    (c.code >= 0x202a && c.code <= 0x202e) ||
		    (c.code >= 0x2066 && c.code <= 0x2069))
			abort();
}

static void put_letters(struct buf *out, struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] != ' ')
			buf_char(out, text.data[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size);
	struct buf whole = BUF_INIT(1 << 24), parts = BUF_INIT(1 << 24);
	unsigned width = size > 0 ? data[0] % 40 : 0;
	struct row line = { 0 };
	struct rows rows = { 0 };
	struct span piece;

	while (line_next(&text, &piece))
		row_text(&line, piece, STYLE((uint8_t)(piece.len % ROLE_COUNT)));
	check_row(&line);
	rows_wrap(&rows, &line, width, NULL, NULL);
	for (size_t i = 0; i < rows.count; i++) {
		check_row(&rows.at[i]);
		if (rows.at[i].width > (width < 4 ? 4 : width))
			abort();
		put_letters(&parts, buf_view(&rows.at[i].text));
	}
	put_letters(&whole, buf_view(&line.text));
	if (!span_eq(buf_view(&whole), buf_view(&parts)))
		abort();
	row_clip(&line, width);
	check_row(&line);
	buf_release(&whole);
	buf_release(&parts);
	row_release(&line);
	rows_release(&rows);
	return 0;
}
