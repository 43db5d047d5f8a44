/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a diff (the first byte says how it is shown): rows fit the width, hold nothing that
 * acts on a terminal, and are no more than there may be. And the text as hunks: all of them taken
 * are the new text, none the old one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tui/ask/hunks.h"
#include "tui/view/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_row(const struct row *row, unsigned width)
{
	struct span rest = buf_view(&row->text);
	struct utf8_char c;

	if (row->width > width)
		abort();
	while (utf8_next(&rest, &c))
		if (c.bad || c.code < 0x20 || (c.code >= 0x7f && c.code < 0xa0) ||
		    (c.code >= 0x202a && c.code <= 0x202e))
			abort();
}

static void check_rows(struct span diff, unsigned how_bits)
{
	static const unsigned widths[] = { 20, 40, 80, 121, 200, 3 };
	const struct view_how how = { .width = widths[(how_bits >> 2) % 6],
		                      .folded = how_bits & 1, .plain = how_bits & 2 };
	struct rows rows = { 0 };

	view_diff(&rows, diff, &how);
	for (size_t i = 0; i < rows.count; i++)
		check_row(&rows.at[i], how.width < 8 ? 8 : how.width);
	if (rows.count > (how.folded ? VIEW_FOLDED_DIFF_ROWS : VIEW_WHOLE_ROWS) + 1)
		abort();
	rows_release(&rows);
}

static void check_content(struct hunks *hunks, enum hunk_verdict verdict, struct span expected,
                          size_t max)
{
	struct buf content = BUF_INIT(max);

	for (size_t i = 0; i < hunks_count(hunks); i++)
		hunks_at(hunks, i)->verdict = verdict;
	hunks_content(hunks, &content);
	if (!span_eq(buf_view(&content), expected))
		abort();
	buf_release(&content);
}

/* The input is two texts and a diff, with a line "=" between them. */
static void check_hunks(struct span text)
{
	struct span parts[3] = { { 0 } }, line;
	size_t part = 0;

	parts[0].data = text.data;
	while (line_next(&text, &line)) {
		if (part < 2 && span_eq(line, SPAN("=\n")))
			parts[++part] = span_of(text.data, 0);
		else
			parts[part].len += line.len;
	}
	struct hunks *hunks = hunks_new(parts[0], parts[1], parts[2]);

	if (!hunks && !span_eq(parts[0], parts[1]))
		abort();
	if (!hunks)
		return;
	check_content(hunks, HUNK_TAKEN, parts[1], parts[1].len + 1);
	check_content(hunks, HUNK_LEFT, parts[0], parts[0].len + 1);
	while (hunks_split(hunks, 0))
		;
	check_content(hunks, HUNK_TAKEN, parts[1], parts[1].len + 1);
	for (size_t i = 0; i < hunks_count(hunks); i++) {
		struct buf lines = BUF_INIT(1 << 24);

		hunks_at(hunks, i)->verdict = HUNK_LEFT;
		hunks_at(hunks, i)->verdict = HUNK_OPEN;
		hunks_text(hunks, i, &lines);
		hunks_edit(hunks, i, buf_view(&lines)); /* nothing was changed */
		if (hunks_at(hunks, i)->verdict != HUNK_TAKEN)
			abort();
		buf_release(&lines);
	}
	hunks_free(hunks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size);

	if (!size)
		return 0;
	check_rows(span_skip(text, 1), data[0]);
	check_hunks(text);
	return 0;
}
