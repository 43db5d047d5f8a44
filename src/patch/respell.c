/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of hunks that are spelled otherwise than the file's, in ways that can be undone. */
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/unseen.h"
#include "patch/private.h"

/* Reserve room for all lines: a respelt line is never longer, and spans into it stay valid. */
static void reserve_lines(struct diff_text *diff)
{
	size_t total = 1;

	for (size_t i = 0; i < diff->line_count; i++)
		total += diff->lines[i].text.len;
	buf_release(&diff->respelled);
	diff->respelled = (struct buf)BUF_INIT(2 * LIMIT_DIFF_BYTES);
	buf_reserve(&diff->respelled, total);
}

/* ---- escapes for invisible characters ------------------------------------------------ */

/* Which of the diff's lines stand in the base as they are. */
static bool *find_as_written(const struct lines *base, const struct diff_text *diff)
{
	bool *there = mem_alloc(diff->line_count + 1, sizeof(*there));
	struct fold_index index;

	fold_index_build(&index, base, diff, FOLD_SIDE_OLD, FOLD_TRAILING, /* strip_bom= */ false);
	for (size_t i = 0; i < diff->line_count; i++) {
		uint32_t id = index.diff_ids[i];

		there[i] = id && index.starts[id - 1] < index.starts[id];
	}
	fold_index_release(&index);
	return there;
}

/* Reads the old lines; *ret is the lines as they were. */
static bool respell_old_lines(const struct lines *base, struct diff_text *diff,
                              struct hunk_line *ret)
{
	_cleanup_free_ bool *there = find_as_written(base, diff);
	bool any = false;

	for (size_t i = 0; i < diff->line_count; i++) {
		struct hunk_line *line = &diff->lines[i];
		size_t start = diff->respelled.len;

		ret[i] = *line;
		if (line->op == '+' || there[i])
			continue;
		if (!unseen_read(&diff->respelled, line->text)) {
			diff->respelled.len = start;
			continue;
		}
		line->text = buf_from(&diff->respelled, start);
		any = true;
	}
	return any;
}

bool respell_unseen(const struct lines *base, struct diff_text *diff, size_t *ret_doubt)
{
	_cleanup_free_ struct hunk_line *was = mem_alloc(diff->line_count + 1, sizeof(*was));
	_cleanup_free_ struct placement *places = mem_alloc(diff->hunk_count + 1, sizeof(*places));
	struct pairing pairing;

	*ret_doubt = 0;
	for (size_t h = 0; h < diff->hunk_count; h++)
		places[h].count = diff->hunks[h].count;
	pairing_make(diff, places, &pairing);
	reserve_lines(diff);
	if (!respell_old_lines(base, diff, was)) {
		pairing_release(&pairing);
		return false;
	}
	for (size_t i = 0; i < diff->line_count; i++) {
		const struct hunk_line *removed = pairing.of[i].likest;
		size_t start = diff->respelled.len;

		/* What the file has as it is written stands for nothing. */
		if (!removed || span_eq(removed->text, was[removed - diff->lines].text))
			continue;
		if (!spelling_carry_unseen(was[removed - diff->lines].text, diff->lines[i].text,
		                           &diff->respelled))
			*ret_doubt = diff->lines[i].diff_line;
		else
			diff->lines[i].text = buf_from(&diff->respelled, start);
	}
	pairing_release(&pairing);
	return true;
}

/* ---- one level of escapes too much ---------------------------------------------------- */

bool respell_escapes(enum spelling_escapes level, struct diff_text *diff)
{
	size_t count = 0, ignored = 0;

	reserve_lines(diff);
	for (size_t i = 0; i < diff->line_count; i++) {
		struct hunk_line *line = &diff->lines[i];
		size_t start = diff->respelled.len;

		if (!spelling_unescape(level, line->text, &diff->respelled,
		                       line->op == '+' ? &ignored : &count))
			return false;
		line->text = buf_from(&diff->respelled, start);
	}
	return count > 0;
}
