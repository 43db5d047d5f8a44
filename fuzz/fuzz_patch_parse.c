/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of diffs: whatever the text, what it hands on is well formed. */
#include <stdint.h>
#include <stdlib.h>

#include "patch/parse.h"

#define CHECK(condition)             \
	do {                         \
		if (!(condition))    \
			abort();     \
	} while (0)

static bool lies_in(struct span inner, struct span outer)
{
	return inner.len == 0 || (inner.data >= outer.data &&
	                          inner.data + inner.len <= outer.data + outer.len);
}

static void check_lines(const struct diff_text *diff, struct span text)
{
	for (size_t i = 0; i < diff->line_count; i++) {
		const struct hunk_line *line = &diff->lines[i];

		CHECK(line->op == ' ' || line->op == '-' || line->op == '+');
		CHECK(lies_in(line->text, text) || lies_in(line->text, buf_view(&diff->shifted)));
		CHECK(line->text.len == 0 || !memchr(line->text.data, '\n', line->text.len));
	}
}

static void check_hunks(const struct diff_text *diff)
{
	CHECK(diff->hunk_count > 0);
	for (size_t i = 0; i < diff->hunk_count; i++) {
		const struct hunk *hunk = &diff->hunks[i];

		CHECK(hunk->first <= diff->line_count);
		CHECK(hunk->count <= diff->line_count - hunk->first);
		CHECK(hunk->cut <= hunk->count);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size);
	struct diff_text diff = { 0 };
	struct err err = ERR_INIT;
	size_t line = 0;

	if (parse_diff(text, &diff, &line, &err)) {
		check_lines(&diff, text);
		check_hunks(&diff);
		parse_diff_release(&diff);
	} else {
		CHECK(err.code != ERR_NONE && err.code != ERR_INTERNAL && err.message[0]);
	}
	return 0;
}
