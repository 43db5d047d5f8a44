/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/blanks.h"

#include <stdlib.h>

#include "base/mem.h"
#include "patch/index.h"

/* Fewer lines than this would fit by chance. */
enum { SOLID_MIN = 3 };

/* The lines that are not blank, of the base and of the hunk's old side. */
struct solid {
	uint32_t *base_ids;
	size_t *base_lines;  /* their line numbers, 0-based */
	size_t base_count;
	uint32_t *ids;
	size_t *lines;       /* indices into the hunk's lines */
	size_t count;
};

static void collect_solid(const struct lines *base, const struct diff_text *diff,
                          const struct hunk *hunk, size_t count, struct solid *ret)
{
	struct line_index index;

	line_index_build(&index, base, diff, FOLD_TRAILING, false);
	ret->base_ids = mem_alloc(base->count, sizeof(*ret->base_ids));
	ret->base_lines = mem_alloc(base->count, sizeof(*ret->base_lines));
	ret->ids = mem_alloc(count, sizeof(*ret->ids));
	ret->lines = mem_alloc(count, sizeof(*ret->lines));
	for (size_t i = 0; i < base->count; i++) {
		if (span_is_blank(lines_at(base, i)))
			continue;
		ret->base_lines[ret->base_count] = i;
		ret->base_ids[ret->base_count++] = index.base_ids[i];
	}
	for (size_t i = 0; i < count; i++) {
		const struct hunk_line *line = &diff->lines[hunk->first + i];

		if (line->op == '+' || span_is_blank(line->text))
			continue;
		ret->lines[ret->count] = i;
		ret->ids[ret->count++] = index.diff_ids[hunk->first + i];
	}
	line_index_release(&index);
}

static void release_solid(struct solid *solid)
{
	free(solid->base_ids);
	free(solid->base_lines);
	free(solid->ids);
	free(solid->lines);
}

/* The one place where the hunk's solid lines follow each other; false if none or several. */
static bool find_only(const struct solid *s, size_t *ret)
{
	size_t found = 0, work = 0;

	if (s->count < SOLID_MIN)
		return false;
	for (size_t at = 0; at + s->count <= s->base_count && found < 2; at++) {
		size_t same = 0;

		while (same < s->count && s->base_ids[at + same] == s->ids[same])
			same++;
		work += same;
		if (work > 64 * (s->base_count + 1024))
			return false; /* text made of a few lines: nothing is certain in it */
		if (same == s->count) {
			*ret = at;
			found++;
		}
	}
	return found == 1;
}

/* How many blank lines are missing after solid line `k`; false when the gap cannot be filled. */
static bool missing_after(const struct solid *s, const struct hunk_line *lines, size_t at, size_t k,
                          size_t *ret)
{
	size_t file_gap = s->base_lines[at + k + 1] - s->base_lines[at + k] - 1, diff_gap = 0;
	bool changes = false;

	for (size_t i = s->lines[k] + 1; i < s->lines[k + 1]; i++) {
		diff_gap += lines[i].op != '+';
		changes |= lines[i].op != ' ';
	}
	*ret = file_gap - diff_gap;
	if (file_gap == diff_gap)
		return true;
	return file_gap > diff_gap && !changes && lines[s->lines[k]].op == ' ' &&
	       lines[s->lines[k + 1]].op == ' ';
}

/* Appends the completed hunk at the end of the diff's lines. */
static void rewrite(struct diff_text *diff, struct hunk *hunk, size_t count,
                    const size_t *missing)
{
	size_t first = diff->line_count;

	for (size_t i = 0; i < count; i++) {
		struct hunk_line line = diff->lines[hunk->first + i];

		for (size_t k = 0; k <= missing[i]; k++) {
			diff->lines = mem_grow(diff->lines, &diff->line_cap, diff->line_count + 1,
			                       sizeof(*diff->lines));
			diff->lines[diff->line_count++] = line;
			line = (struct hunk_line){ .op = ' ', .cr = line.cr, .text = span_of("", 0),
			                           .diff_line = line.diff_line };
		}
	}
	hunk->first = first;
	hunk->count = hunk->cut = diff->line_count - first;
}

bool blanks_restore(const struct lines *base, struct diff_text *diff, size_t h, size_t count)
{
	struct hunk *hunk = &diff->hunks[h];
	const struct hunk_line *lines = &diff->lines[hunk->first];
	_cleanup_free_ size_t *missing = mem_alloc(count, sizeof(*missing));
	struct solid solid = { 0 };
	size_t at = 0, total = 0;
	bool ok;

	collect_solid(base, diff, hunk, count, &solid);
	ok = find_only(&solid, &at);
	for (size_t k = 0; k + 1 < solid.count && ok; k++) {
		ok = missing_after(&solid, lines, at, k, &missing[solid.lines[k]]);
		total += ok ? missing[solid.lines[k]] : 0;
	}
	release_solid(&solid);
	if (ok && total)
		rewrite(diff, hunk, count, missing);
	return ok && total;
}
