/* SPDX-License-Identifier: Apache-2.0 */
/* Answers many patch cases on one pipe, so that the damage tests can ask by the thousand.
 *
 * Request:  u32 base length, u32 diff length (both little-endian), base, diff
 * Answer:   u32 error code (0: applied), u32 text length, u32 note length, text, note
 *
 * The text is the file's new bytes.  The note is for a reader: where each hunk went, or the
 * name of the error and its message.  A byte-order mark is treated as file/ treats it: the
 * engine does not see it, and it stays unless the diff removes it.  Ends with the input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "patch/patch.h"

#define BYTE_ORDER_MARK SPAN("\xef\xbb\xbf")

enum { FRAME_BYTES_MAX = 256 << 20 }; /* more is a defect of the caller */

static bool read_exactly(void *data, size_t len)
{
	return len == 0 || fread(data, 1, len, stdin) == len;
}

static void write_exactly(const void *data, size_t len)
{
	if (len && fwrite(data, 1, len, stdout) != len)
		exit(1);
}

static char *read_block(uint32_t len)
{
	char *data = mem_alloc((size_t)len + 1, 1);

	if (len > FRAME_BYTES_MAX || !read_exactly(data, len))
		exit(1);
	return data;
}

static void answer(enum err_code code, struct span text, struct span note)
{
	uint32_t head[3] = { (uint32_t)code, (uint32_t)text.len, (uint32_t)note.len };

	write_exactly(head, sizeof(head));
	write_exactly(text.data, text.len);
	write_exactly(note.data, note.len);
	fflush(stdout);
}

static void answer_plan(const struct lines *base, const struct patch_plan *plan, bool bom)
{
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)1 << 30);
	_cleanup_buf_ struct buf note = BUF_INIT((size_t)1 << 24);

	if (bom && !plan->drops_bom)
		buf_span(&text, BYTE_ORDER_MARK);
	script_apply(base, &plan->script, &text);
	for (size_t i = 0; i < plan->hunk_count; i++) {
		const struct patch_hunk_report *hunk = &plan->hunks[i];

		buf_printf(&note, "hunk %zu, stated line %zu, at line %zu: %s, %s\n", hunk->hunk,
		           hunk->stated_line, hunk->line, patch_match_name(hunk->match),
		           patch_settled_name(hunk->settled));
	}
	answer(ERR_NONE, buf_view(&text), buf_view(&note));
}

static void answer_case(struct span bytes, struct span diff)
{
	struct patch_plan plan = { 0 };
	struct patch_failure failure = { 0 };
	struct err err = ERR_INIT;
	_cleanup_lines_ struct lines base = { 0 };
	bool bom = span_starts(bytes, BYTE_ORDER_MARK);
	struct patch_options options = { .base_has_bom = bom };

	lines_index(&base, bom ? span_skip(bytes, BYTE_ORDER_MARK.len) : bytes);
	if (patch_make(&base, diff, &options, &plan, &failure, &err)) {
		answer_plan(&base, &plan, bom);
	} else {
		_cleanup_buf_ struct buf note = BUF_INIT(ERR_MESSAGE_MAX + 64);

		buf_printf(&note, "%s: %s", err_name(err.code), err.message);
		answer(err.code, span_of("", 0), buf_view(&note));
	}
	patch_plan_release(&plan);
	patch_failure_release(&failure);
}

int main(void)
{
	uint32_t lengths[2];

	while (read_exactly(lengths, sizeof(lengths))) {
		_cleanup_free_ char *base = read_block(lengths[0]);
		_cleanup_free_ char *diff = read_block(lengths[1]);

		answer_case(span_of(base, lengths[0]), span_of(diff, lengths[1]));
	}
	return 0;
}
