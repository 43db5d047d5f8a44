/* SPDX-License-Identifier: Apache-2.0 */
/* Which line of a new text stands for which of the old one. */
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "patch/nearest.h"

/* ---- two texts -------------------------------------------------------------------- */

/* The lines with LF throughout, as diff_lines compares them. */
static void put_with_lf(const struct lines *lines, struct buf *out)
{
	for (size_t i = 0; i < lines->count; i++) {
		buf_span(out, line_body(lines_at(lines, i)));
		buf_char(out, '\n');
	}
}

/* Runs of lines that differ are compared, each line with each, up to so many pairs. */
enum { PAIRS_COMPARED = 256 };

/* Two lines with less in common, of 100, have nothing to do with each other. */
enum { PAIR_LIKE = 50 };

/* A run of lines that the new text has otherwise, and the old lines in its place. */
struct pairing_gap {
	const struct lines *old, *new;
	size_t old_at, old_count, new_at, new_count;
};

static void pair_by_order(const struct pairing_gap *gap, size_t *ret)
{
	for (size_t k = 0; k < gap->new_count; k++)
		ret[gap->new_at + k] = k < gap->old_count ? gap->old_at + k : SIZE_MAX;
}

/* Fills best[i][j]: how much the lines from the i-th old one and the j-th new one on can have in
 * common, pair by pair, in order. */
static void weigh_pairs(const struct pairing_gap *gap, unsigned *likeness, unsigned *best)
{
	size_t width = gap->new_count + 1;

	for (size_t i = gap->old_count; i-- > 0;)
		for (size_t j = gap->new_count; j-- > 0;) {
			unsigned *cell = &best[i * width + j], skip_old = cell[width];
			unsigned like = nearest_likeness(lines_at(gap->old, gap->old_at + i),
			                                 lines_at(gap->new, gap->new_at + j));

			likeness[i * width + j] = like;
			*cell = cell[1] > skip_old ? cell[1] : skip_old;
			if (like >= PAIR_LIKE && like + cell[width + 1] > *cell)
				*cell = like + cell[width + 1];
		}
}

/* Lines that have most in common stand for each other; between those, it goes by their order. */
static void pair_by_likeness(const struct pairing_gap *gap, size_t *ret)
{
	size_t width = gap->new_count + 1, i = 0, j = 0;
	size_t cells = (gap->old_count + 1) * width;
	_cleanup_free_ unsigned *likeness = mem_alloc(cells, sizeof(*likeness));
	_cleanup_free_ unsigned *best = mem_alloc(cells, sizeof(*best));
	struct pairing_gap part = *gap;

	weigh_pairs(gap, likeness, best);
	while (i < gap->old_count && j < gap->new_count) {
		const unsigned *cell = &best[i * width + j];
		unsigned like = likeness[i * width + j];

		if (like >= PAIR_LIKE && *cell == like + cell[width + 1]) {
			part.old_count = gap->old_at + i - part.old_at;
			part.new_count = gap->new_at + j - part.new_at;
			pair_by_order(&part, ret);
			ret[gap->new_at + j++] = gap->old_at + i++;
			part.old_at = gap->old_at + i;
			part.new_at = gap->new_at + j;
		} else if (*cell == cell[1]) {
			j++;
		} else {
			i++;
		}
	}
	part.old_count = gap->old_at + gap->old_count - part.old_at;
	part.new_count = gap->new_at + gap->new_count - part.new_at;
	pair_by_order(&part, ret);
}

/* `by_likeness`: lines that differ stand for the ones they are most like, and not for the ones at
 * their place. */
static size_t *pair_lines(const struct lines *old, const struct lines *new, bool by_likeness)
{
	_cleanup_buf_ struct buf old_text = BUF_INIT(2 * LIMIT_FILE_BYTES);
	_cleanup_buf_ struct buf new_text = BUF_INIT(2 * LIMIT_FILE_BYTES);
	_cleanup_lines_ struct lines old_lines = { 0 }, new_lines = { 0 };
	_cleanup_script_ struct script script = { 0 };
	size_t *ret = mem_alloc(new->count + 1, sizeof(*ret)), old_at = 0, new_at = 0;

	put_with_lf(old, &old_text);
	put_with_lf(new, &new_text);
	lines_index(&old_lines, buf_view(&old_text));
	lines_index(&new_lines, buf_view(&new_text));
	diff_lines(&old_lines, &new_lines, &script);
	for (size_t i = 0; i < script.count; i++) {
		const struct edit *edit = &script.edits[i];
		struct pairing_gap gap = { .old = &old_lines, .new = &new_lines,
		                           .old_count = edit->remove,
		                           .new_count = lines_count(edit->insert) };

		while (old_at < edit->at)
			ret[new_at++] = old_at++;
		gap.old_at = old_at;
		gap.new_at = new_at;
		if (!by_likeness || gap.old_count * gap.new_count <= 1 ||
		    gap.old_count * gap.new_count > PAIRS_COMPARED)
			pair_by_order(&gap, ret);
		else
			pair_by_likeness(&gap, ret);
		old_at += gap.old_count;
		new_at += gap.new_count;
	}
	while (new_at < new_lines.count)
		ret[new_at++] = old_at++;
	return ret;
}

size_t *patch_pair_lines(const struct lines *old, const struct lines *new)
{
	return pair_lines(old, new, /* by_likeness= */ true);
}

/* ---- hunks ------------------------------------------------------------------------ */

/* A run of removed lines and the run of added ones that takes its place; indices into
 * diff->lines. */
struct change_block {
	size_t removed, removed_count;
	size_t added, added_count;
};

static void index_run(const struct diff_text *diff, size_t first, size_t count, struct buf *text,
                      struct lines *ret)
{
	for (size_t i = 0; i < count; i++) {
		buf_span(text, diff->lines[first + i].text);
		buf_char(text, '\n');
	}
	lines_index(ret, buf_view(text));
}

static void append_folded(const struct diff_text *diff, size_t first, size_t count, struct buf *out)
{
	_cleanup_buf_ struct buf scratch = BUF_INIT(LIMIT_DIFF_BYTES);

	for (size_t i = 0; i < count; i++)
		buf_span(out, fold_line(FOLD_DROP, diff->lines[first + i].text, &scratch));
}

/* Whether the block adds what it removes. */
static enum block_change compare_block(const struct diff_text *diff,
                                       const struct change_block *block)
{
	_cleanup_buf_ struct buf removed = BUF_INIT(LIMIT_DIFF_BYTES);
	_cleanup_buf_ struct buf added = BUF_INIT(LIMIT_DIFF_BYTES);
	bool same = block->removed_count == block->added_count;

	for (size_t i = 0; i < block->added_count && same; i++)
		same = span_eq(diff->lines[block->removed + i].text,
		               diff->lines[block->added + i].text);
	if (same)
		return BLOCK_IDLE;
	append_folded(diff, block->removed, block->removed_count, &removed);
	append_folded(diff, block->added, block->added_count, &added);
	return span_eq(buf_view(&removed), buf_view(&added)) ? BLOCK_RESPACES : BLOCK_CHANGES;
}

static bool has_same_blanks(const struct diff_text *diff, const struct change_block *block)
{
	size_t removed = 0, added = 0;

	for (size_t i = 0; i < block->removed_count; i++)
		removed += span_is_blank(diff->lines[block->removed + i].text);
	for (size_t i = 0; i < block->added_count; i++)
		added += span_is_blank(diff->lines[block->added + i].text);
	return removed == added;
}

static void pair_block(const struct diff_text *diff, const struct change_block *block,
                       struct pairing *ret)
{
	_cleanup_buf_ struct buf removed = BUF_INIT(2 * LIMIT_DIFF_BYTES);
	_cleanup_buf_ struct buf added = BUF_INIT(2 * LIMIT_DIFF_BYTES);
	_cleanup_lines_ struct lines old = { 0 }, new = { 0 };
	_cleanup_free_ size_t *pairs = NULL, *likest = NULL;
	enum block_change change;
	bool same_blanks, replaces;
	size_t repeated = 0;

	if (!block->removed_count || !block->added_count)
		return;
	change = compare_block(diff, block);
	same_blanks = has_same_blanks(diff, block);
	index_run(diff, block->removed, block->removed_count, &removed, &old);
	index_run(diff, block->added, block->added_count, &added, &new);
	pairs = pair_lines(&old, &new, /* by_likeness= */ false);
	likest = pair_lines(&old, &new, /* by_likeness= */ true);
	for (size_t i = 0; i < block->added_count; i++)
		repeated += pairs[i] != SIZE_MAX && span_eq(lines_at(&old, pairs[i]),
		                                            lines_at(&new, i));
	replaces = repeated < block->removed_count;
	for (size_t i = 0; i < block->added_count; i++) {
		struct line_pair *pair = &ret->of[block->added + i];

		if (pairs[i] != SIZE_MAX)
			pair->removed = &diff->lines[block->removed + pairs[i]];
		if (pairs[i] != SIZE_MAX)
			pair->base_line = ret->of[block->removed + pairs[i]].base_line;
		if (likest[i] != SIZE_MAX)
			pair->likest = &diff->lines[block->removed + likest[i]];
		pair->change = change;
		pair->same_blanks = same_blanks;
		pair->replaces = replaces;
	}
}

static void pair_hunk(const struct diff_text *diff, const struct placement *place, size_t first,
                      struct pairing *ret)
{
	const struct hunk_line *lines = diff->lines;
	size_t at = first, end = first + place->count, base_line = place->at;

	while (at < end) {
		struct change_block block = { .removed = at };

		for (; at < end && lines[at].op == '-'; at++)
			ret->of[at].base_line = base_line++;
		block.removed_count = at - block.removed;
		for (block.added = at; at < end && lines[at].op == '+';)
			at++;
		block.added_count = at - block.added;
		pair_block(diff, &block, ret);
		if (at < end && lines[at].op == ' ')
			ret->of[at++].base_line = base_line++;
	}
}

void pairing_make(const struct diff_text *diff, const struct placement *places,
                  struct pairing *ret)
{
	ret->of = mem_alloc(diff->line_count + 1, sizeof(*ret->of));
	for (size_t h = 0; h < diff->hunk_count; h++)
		pair_hunk(diff, &places[h], diff->hunks[h].first, ret);
}

void pairing_release(struct pairing *pairing)
{
	free(pairing->of);
}
