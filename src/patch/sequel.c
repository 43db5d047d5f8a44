/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/sequel.h"

#include "base/mem.h"

/* Hunks before this one that it may follow: bounds the work on hostile diffs. */
enum { LOOKED_BACK = 8 };

/* Longer runs of added lines are not repeated as context. */
enum { BLOCK_MAX = 64 };

/* A run of removed lines and the added lines in their place, in some hunk. */
struct block {
	size_t removed, removed_count; /* index into diff->lines */
	size_t added, added_count;
};

/* The next block at or after line *at of a hunk; false when there is none. */
static bool next_block(const struct diff_text *diff, const struct hunk *hunk, size_t *at,
                       struct block *ret)
{
	const struct hunk_line *lines = diff->lines;
	size_t end = hunk->first + hunk->count;

	while (*at < end && lines[*at].op == ' ')
		(*at)++;
	*ret = (struct block){ .removed = *at };
	while (*at < end && lines[*at].op == '-')
		(*at)++;
	ret->removed_count = *at - ret->removed;
	ret->added = *at;
	while (*at < end && lines[*at].op == '+')
		(*at)++;
	ret->added_count = *at - ret->added;
	return ret->removed_count + ret->added_count > 0;
}

/* Whether lines [at, at + count) of the diff are context with the texts of [other, ...). */
static bool is_context_of(const struct diff_text *diff, size_t at, size_t other, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (diff->lines[at + i].op != ' ' ||
		    !span_eq(diff->lines[at + i].text, diff->lines[other + i].text))
			return false;
	return true;
}

static bool has_text(const struct diff_text *diff, size_t at, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (span_trim(diff->lines[at + i].text).len)
			return true;
	return false;
}

static void append(struct diff_text *diff, size_t from, size_t count, char op)
{
	for (size_t i = 0; i < count; i++) {
		struct hunk_line line = diff->lines[from + i];

		if (op)
			line.op = op;
		diff->lines = mem_grow(diff->lines, &diff->line_cap, diff->line_count + 1,
		                       sizeof(*diff->lines));
		diff->lines[diff->line_count++] = line;
	}
}

/* Replaces `seen` context lines at `at` by the block's removed lines. */
static void replace(struct diff_text *diff, struct hunk *hunk, size_t count, size_t at, size_t seen,
                    const struct block *block, bool whole)
{
	size_t first = diff->line_count, start = hunk->first;

	append(diff, start, at - start, 0);
	if (whole)
		append(diff, block->removed, block->removed_count, ' ');
	append(diff, at + seen, start + count - at - seen, 0);
	hunk->first = first;
	hunk->count = hunk->cut = diff->line_count - first;
}

/* Looks for the block's added lines in the hunk's context: all of them anywhere, the
 * last of them at its beginning, the first of them at its end. */
static bool undo_block(struct diff_text *diff, struct hunk *hunk, size_t count,
                       const struct block *block)
{
	size_t start = hunk->first, end = hunk->first + count, n = block->added_count;

	if (!n || !has_text(diff, block->added, n))
		return false;
	for (size_t at = start; at + n <= end; at++)
		if (is_context_of(diff, at, block->added, n)) {
			replace(diff, hunk, count, at, n, block, true);
			return true;
		}
	for (size_t k = n - 1; k > 0; k--) {
		if (k < count && has_text(diff, start, k) &&
		    is_context_of(diff, start, block->added + n - k, k)) {
			replace(diff, hunk, count, start, k, block, false);
			return true;
		}
		if (k < count && has_text(diff, end - k, k) &&
		    is_context_of(diff, end - k, block->added, k)) {
			replace(diff, hunk, count, end - k, k, block, false);
			return true;
		}
	}
	return false;
}

/* Undoes what the blocks of hunk `g` added in the context of hunk `h`. */
static bool undo_hunk(struct diff_text *diff, size_t g, size_t h, size_t count)
{
	size_t at = diff->hunks[g].first;
	struct block block;
	bool any = false;

	while (next_block(diff, &diff->hunks[g], &at, &block))
		if (block.added_count <= BLOCK_MAX)
			any |= undo_block(diff, &diff->hunks[h], any ? diff->hunks[h].count : count,
			                  &block);
	return any;
}

bool sequel_rewrite(struct diff_text *diff, size_t h, size_t count)
{
	for (size_t back = 1; back <= LOOKED_BACK && back <= h; back++)
		if (undo_hunk(diff, h - back, h, count)) {
			diff->hunks[h].sequel_of = h - back + 1;
			return true;
		}
	return false;
}
