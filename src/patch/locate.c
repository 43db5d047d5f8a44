/* SPDX-License-Identifier: Apache-2.0 */
/* Placing hunks: those that fit nowhere are put right if they can be, then candidates are found and
 * settled, and what is doubtful is refused. */
#include "patch/private.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "patch/parse.h"

/* ---- hunks that go on where another ends ------------------------------------------ */

/* Hunks written against the file as an earlier hunk of the same diff leaves it.
 *
 * All hunks of a unified diff speak of one old file, but a model that writes
 * them one by one may show, as context of the next, the lines that the one before
 * has just added.  Such context is turned back into what the file has there.
 */

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

static bool block_has_text(const struct diff_text *diff, size_t at, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (span_trim(diff->lines[at + i].text).len)
			return true;
	return false;
}

static void block_append(struct diff_text *diff, size_t from, size_t count, char op)
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
static void block_replace(struct diff_text *diff, struct hunk *hunk, size_t count, size_t at,
                          size_t seen,
                          const struct block *block, bool whole)
{
	size_t first = diff->line_count, start = hunk->first;

	block_append(diff, start, at - start, 0);
	if (whole)
		block_append(diff, block->removed, block->removed_count, ' ');
	block_append(diff, at + seen, start + count - at - seen, 0);
	hunk->first = first;
	hunk->count = hunk->cut = diff->line_count - first;
	hunk->echo = 0;
}

/* Looks for the block's added lines in the hunk's context: all of them anywhere, the
 * last of them at its beginning, the first of them at its end. */
static bool undo_block(struct diff_text *diff, struct hunk *hunk, size_t count,
                       const struct block *block)
{
	size_t start = hunk->first, end = hunk->first + count, n = block->added_count;

	if (!n || !block_has_text(diff, block->added, n))
		return false;
	for (size_t at = start; at + n <= end; at++)
		if (is_context_of(diff, at, block->added, n)) {
			block_replace(diff, hunk, count, at, n, block, true);
			return true;
		}
	for (size_t k = n - 1; k > 0; k--) {
		if (k < count && block_has_text(diff, start, k) &&
		    is_context_of(diff, start, block->added + n - k, k)) {
			block_replace(diff, hunk, count, start, k, block, false);
			return true;
		}
		if (k < count && block_has_text(diff, end - k, k) &&
		    is_context_of(diff, end - k, block->added, k)) {
			block_replace(diff, hunk, count, end - k, k, block, false);
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

/* Such a hunk stands beside the one that it follows; locate_hunks holds it to that
 * (hunk.sequel_of).
 *
 * Rewrites hunk `h` (its first `count` lines count), which fits nowhere as it is: context
 * that is the added lines of another hunk becomes the removed lines in their place.  False
 * (nothing changed) when there is no such context. */
static bool sequel_rewrite(struct diff_text *diff, size_t h, size_t count)
{
	for (size_t back = 1; back <= LOOKED_BACK && back <= h; back++)
		if (undo_hunk(diff, h - back, h, count)) {
			diff->hunks[h].sequel_of = h - back + 1;
			return true;
		}
	return false;
}

/* ---- blank lines left out --------------------------------------------------------- */

/* Blank context lines that a model left out.
 *
 * A hunk that fits nowhere may fit once the blank lines of the file are allowed
 * for between its lines.  Where the rest stands in one place only, the hunk is
 * completed with them, and then placed like any other.  Not where a change
 * adjoins the gap: whether it belongs before or after the blank line is not said.
 */

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
	struct fold_index index;

	fold_index_build(&index, base, diff, FOLD_TRAILING, false);
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
	fold_index_release(&index);
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
static void blanks_rewrite(struct diff_text *diff, struct hunk *hunk, size_t count,
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
	hunk->echo = 0;
}

/* Completes hunk `h`, of which the first `count` lines count; false (nothing changed)
 * when that does not lead to one place. */
static bool blanks_restore(const struct lines *base, struct diff_text *diff, size_t h, size_t count)
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
		blanks_rewrite(diff, hunk, count, missing);
	return ok && total;
}

/* ---- doubts ----------------------------------------------------------------------- */

/* Reasons to refuse a hunk although it fits one place only.
 */

/* How far a number that means the right place may be off. */
enum { NUMBER_SLIP = 6 };

/* How far the lines at some place are the hunk's, at the most tolerant level. */
struct resemblance {
	size_t lines, equal;             /* all old lines */
	size_t solid_lines, solid_equal; /* those that are not blank */
};

static struct resemblance compare_at(const struct settling *s, size_t i, size_t at)
{
	struct buf one = BUF_INIT(LIMIT_FILE_BYTES), other = BUF_INIT(LIMIT_FILE_BYTES);
	const struct hunk *hunk = &s->diff->hunks[i];
	struct resemblance r = { 0 };

	for (size_t j = 0; j < s->hunks[i].count; j++) {
		const struct hunk_line *old = &s->diff->lines[hunk->first + j];
		struct span want, have = span_of(NULL, 0);
		size_t line = at + r.lines;
		bool equal;

		if (old->op == '+')
			continue;
		want = fold_line(FOLD_LOOKALIKE_DROP, old->text, &one);
		if (line < s->base->count)
			have = fold_line(FOLD_LOOKALIKE_DROP, line_body(lines_at(s->base, line)),
			                 &other);
		equal = line < s->base->count && span_eq(want, have);
		r.lines++;
		r.equal += equal;
		r.solid_lines += want.len > 0;
		r.solid_equal += equal && want.len;
	}
	buf_release(&one);
	buf_release(&other);
	return r;
}

/* Whether the lines at `at` are mostly the hunk's, but not all. */
static bool hunk_resembles_lines(const struct settling *s, size_t i, size_t at, bool stated)
{
	const struct candidates *hunk = &s->hunks[i];
	struct resemblance r;

	/* Where it overlaps the place that was found, it resembles it anyway. */
	if (at < hunk->at + hunk->old_count && hunk->at < at + hunk->old_count)
		return false;
	r = compare_at(s, i, at);
	if (r.solid_equal >= 2 && 2 * r.solid_equal >= r.solid_lines)
		return true;
	return stated && r.solid_equal && 2 * r.equal >= r.lines;
}

/* Whether a placed hunk contradicts its own header in a way that means "the file has
 * changed there": its number is to be believed, the lines near it resemble the hunk,
 * but it was found elsewhere. *ret_expected is the 0-based line. */
static bool doubt_contradiction(const struct settling *s, size_t i, size_t *ret_expected)
{
	int64_t expected, offset, found_away;

	if (!settle_expects(s, i, &expected, &offset) || (size_t)expected == s->hunks[i].at)
		return false;
	/* A place that is nearer to the number than a similar one is what it means. */
	found_away = llabs((int64_t)s->hunks[i].at - expected);
	for (int64_t away = 0; away <= NUMBER_SLIP && away <= found_away; away++)
		for (int64_t sign = -1; sign <= 1; sign += 2) {
			int64_t at = expected + sign * away;

			if (at < 0 || (size_t)at >= s->base->count ||
			    !hunk_resembles_lines(s, i, (size_t)at, !away))
				continue;
			*ret_expected = (size_t)at;
			return true;
		}
	return false;
}

/* Whether a placed hunk seems to have lost context lines: its header counts more old lines,
 * names another place, and one side of it has no context to hold it. */
static bool doubt_lost_lines(const struct settling *s, size_t i)
{
	const struct candidates *hunk = &s->hunks[i];
	bool open_above = !hunk->lead && hunk->at > 0;
	bool open_below = !hunk->trail && hunk->at + hunk->old_count < s->base->count;

	return hunk->has_stated && hunk->at != hunk->stated && (open_above || open_below) &&
	       s->diff->hunks[i].old_count > hunk->old_count;
}

/* Whether the change of hunk `i` ends before that of hunk `j` begins. */
static bool comes_before(const struct settling *s, size_t i, size_t j)
{
	const struct candidates *one = &s->hunks[i], *other = &s->hunks[j];

	return candidates_core_end(one, one->at) <= candidates_core_start(other, other->at);
}

/* Whether any of their places would have hunk `i` before hunk `j`. A hunk without old lines
 * could be anywhere. */
static bool could_come_before(const struct settling *s, size_t i, size_t j)
{
	const struct candidates *one = &s->hunks[i], *other = &s->hunks[j];

	if (!one->kept || !other->kept || one->total > one->kept || other->total > other->kept)
		return true;
	return candidates_core_end(one, one->places[0]) <=
	       candidates_core_start(other, other->places[other->kept - 1]);
}

/* Hunks with the same lines may change places: the result is the same. */
static bool same_lines(const struct settling *s, size_t i, size_t j)
{
	const struct hunk *one = &s->diff->hunks[i], *other = &s->diff->hunks[j];

	if (s->hunks[i].count != s->hunks[j].count)
		return false;
	for (size_t k = 0; k < s->hunks[i].count; k++) {
		const struct hunk_line *a = &s->diff->lines[one->first + k];
		const struct hunk_line *b = &s->diff->lines[other->first + k];

		if (a->op != b->op || !span_eq(a->text, b->text))
			return false;
	}
	return true;
}

/* Whether all hunks, which must be placed, come in the order of the diff. */
static bool doubt_none_out_of_order(const struct settling *s)
{
	for (size_t i = 1; i < s->count; i++)
		if (!comes_before(s, i - 1, i))
			return false;
	return true;
}

/* Whether a hunk that fits several places was put out of the diff's own order, which another
 * of its places would keep. *ret_other is the hunk that it stands on the wrong side of. All hunks
 * must be placed. */
static bool doubt_order(const struct settling *s, size_t i, size_t *ret_other)
{
	if (s->hunks[i].total == 1 || s->hunks[i].settled == PATCH_SETTLED_SAME)
		return false;
	for (size_t j = 0; j < s->count; j++) {
		size_t first = i < j ? i : j, second = i < j ? j : i;

		if (i == j || comes_before(s, first, second) ||
		    !could_come_before(s, first, second) || same_lines(s, i, j))
			continue;
		*ret_other = j;
		return true;
	}
	return false;
}

/* ---- placing ---------------------------------------------------------------------- */

/* Hunks for which that is tried: each costs a pass over the base. */
enum { REWRITES_TRIED = 16 };

/* ---- the common case: every number is right ---- */

/* Whether all old lines of the hunk stand, byte for byte, where its header says. */
static bool stands_at_stated(const struct lines *base, const struct diff_text *diff,
                             const struct hunk *hunk, const struct candidates *c, bool strip_bom)
{
	size_t line = c->stated;

	if (!c->has_stated || !c->old_count || c->stated > base->count ||
	    c->old_count > base->count - c->stated)
		return false;
	for (size_t i = 0; i < c->count; i++) {
		const struct hunk_line *old = &diff->lines[hunk->first + i];

		if (old->op == '+')
			continue;
		if (!span_eq(line_body(lines_at(base, line)),
		             strip_bom ? utf8_skip_mark(old->text) : old->text))
			return false;
		line++;
	}
	return true;
}

/* All hunks in one look, without reading the rest of the base. Only for diffs
 * whose numbers agree with each other and whose hunks end where their counts say. */
static bool locate_as_stated(const struct lines *base, const struct diff_text *diff,
                             bool strip_bom, struct placement *ret)
{
	struct candidates *hunks = mem_alloc(diff->hunk_count, sizeof(*hunks));
	struct settling settling;
	bool fits = true;

	for (size_t h = 0; h < diff->hunk_count && fits; h++) {
		const struct hunk *hunk = &diff->hunks[h];

		fits = hunk->has_old && hunk->has_new && hunk->cut == hunk->count;
		candidates_measure(diff, hunk, hunk->count, &hunks[h]);
		hunks[h].has_stated = true;
		hunks[h].stated = hunk->old_start - (hunk->old_start && hunks[h].old_count);
		hunks[h].at = hunks[h].stated;
		fits = fits && stands_at_stated(base, diff, hunk, &hunks[h], strip_bom);
	}
	if (fits) {
		settle_init(&settling, base, diff, hunks);
		/* Against the order of the hunks the numbers could be exchanged. */
		fits = settling.chained && doubt_none_out_of_order(&settling);
		settle_release(&settling);
	}
	for (size_t h = 0; h < diff->hunk_count && fits; h++)
		ret[h] = (struct placement){ hunks[h].stated, hunks[h].count, hunks[h].old_count,
		                             FOLD_EXACT, PATCH_SETTLED_NUMBER };
	candidates_release(hunks, diff->hunk_count);
	return fits;
}

/* ---- what must hold of any placement ---- */

struct range {
	size_t start, end, hunk;
};

static int compare_ranges(const void *a, const void *b)
{
	const struct range *one = a, *other = b;

	if (one->start != other->start)
		return (one->start > other->start) - (one->start < other->start);
	return (one->hunk > other->hunk) - (one->hunk < other->hunk);
}

/* Two hunks must not change the same lines; shared context is fine. */
static bool check_overlap(const struct diff_text *diff, const struct placement *places,
                          struct patch_failure *failure, struct err *err)
{
	struct range *ranges = mem_alloc(diff->hunk_count, sizeof(*ranges));
	bool ok = true;

	for (size_t h = 0; h < diff->hunk_count; h++) {
		const struct placement *p = &places[h];
		struct candidates c = { 0 };

		candidates_measure(diff, &diff->hunks[h], p->count, &c);
		ranges[h] = (struct range){ p->at + c.lead, p->at + p->old_count - c.trail, h };
	}
	qsort(ranges, diff->hunk_count, sizeof(*ranges), compare_ranges);
	for (size_t i = 1; i < diff->hunk_count && ok; i++) {
		if (ranges[i].start >= ranges[i - 1].end && ranges[i].end > ranges[i - 1].start &&
		    !(ranges[i].start == ranges[i - 1].start && ranges[i].end == ranges[i - 1].end))
			continue;
		explain_hunk(diff, ranges[i].hunk, failure);
		ok = err_set(err, ERR_INVALID_DIFF,
		             "Invalid Diff: hunks %zu and %zu of %zu change the same lines of the "
		             "file (around line %zu).", ranges[i - 1].hunk + 1, ranges[i].hunk + 1,
		             diff->hunk_count, ranges[i].start + 1);
	}
	free(ranges);
	return ok;
}

static bool run_is_there(const struct lines *base, const struct hunk_line *added, size_t count,
                         size_t at)
{
	bool text = false;

	if (!count || at > base->count || count > base->count - at)
		return false;
	for (size_t i = 0; i < count; i++) {
		text |= span_trim(added[i].text).len > 0;
		if (!span_eq(added[i].text, line_body(lines_at(base, at + i))))
			return false;
	}
	return text;
}

/* Whether a hunk that only adds, and has context on one side only, would add
 * what is there already: the sign of a diff that was applied before. */
static bool already_there(const struct lines *base, const struct diff_text *diff,
                          const struct hunk *hunk, const struct placement *place)
{
	const struct hunk_line *lines = &diff->lines[hunk->first];
	size_t head = 0, tail = 0;

	if (!place->old_count)
		return false;
	for (size_t i = 0; i < place->count; i++)
		if (lines[i].op == '-')
			return false;
	while (head < place->count && lines[head].op == '+')
		head++;
	while (tail < place->count && lines[place->count - 1 - tail].op == '+')
		tail++;
	return run_is_there(base, lines + place->count - tail, tail,
	                    place->at + place->old_count) ||
	       (head <= place->at && run_is_there(base, lines, head, place->at - head));
}

static bool check_applied(const struct lines *base, const struct diff_text *diff,
                          const struct placement *places, struct patch_failure *failure,
                          struct err *err)
{
	for (size_t h = 0; h < diff->hunk_count; h++) {
		if (!already_there(base, diff, &diff->hunks[h], &places[h]))
			continue;
		explain_hunk(diff, h, failure);
		failure->candidates[0] = (struct patch_candidate){ places[h].at + 1,
		                                                   places[h].old_count };
		failure->candidate_count = failure->candidates_total = 1;
		return err_set(err, ERR_NO_MATCH,
		               "Invalid Diff: The provided diff content does not match the file's "
		               "content. The lines that hunk %zu of %zu adds after line %zu are "
		               "there already. If they are to be there twice, add context on both "
		               "sides.",
		               h + 1, diff->hunk_count, places[h].at + places[h].old_count);
	}
	return true;
}

/* ---- the general case ---- */

/* A hunk whose context was read as the result of another must stand beside that one. */
static bool is_astray(const struct settling *s, size_t h)
{
	const struct candidates *hunk = &s->hunks[h], *other;
	size_t of = s->diff->hunks[h].sequel_of;

	if (!of)
		return false;
	other = &s->hunks[of - 1];
	return !other->placed || hunk->at > other->at + other->old_count - other->trail ||
	       hunk->at + hunk->old_count < other->at + other->lead;
}

static bool explain_unplaced(const struct settling *s, struct patch_failure *failure,
                             struct err *err)
{
	size_t expected, other;

	for (size_t h = 0; h < s->count; h++) {
		const struct candidates *hunk = &s->hunks[h];

		if (!hunk->placed && hunk->old_count && !hunk->total)
			return explain_no_match(s->base, s->diff, h, hunk, failure, err);
	}
	for (size_t h = 0; h < s->count; h++) {
		if (!s->hunks[h].placed)
			return explain_ambiguous(s->diff, h, &s->hunks[h], failure, err);
		if (is_astray(s, h))
			return explain_no_match(s->base, s->diff, h, &s->hunks[h], failure, err);
		if (doubt_contradiction(s, h, &expected))
			return explain_contradiction(s->diff, h, &s->hunks[h], expected, failure,
			                             err);
		if (doubt_lost_lines(s, h))
			return explain_lost_lines(s->diff, h, &s->hunks[h], failure, err);
	}
	if (doubt_none_out_of_order(s))
		return true;
	for (size_t h = 0; h < s->count; h++)
		if (doubt_order(s, h, &other))
			return explain_order(s->diff, h, other, &s->hunks[h], failure, err);
	return true;
}

/* Rewrites hunks that fit nowhere as they would be if the model had not made one of its
 * habitual mistakes; true if any was rewritten. */
static bool rewrite_lost(const struct lines *base, struct diff_text *diff,
                         const struct candidates *hunks)
{
	size_t tried = 0;
	bool any = false;

	for (size_t h = 0; h < diff->hunk_count && tried < REWRITES_TRIED; h++) {
		if (hunks[h].total || !hunks[h].old_count)
			continue;
		tried++;
		/* A count that is met says that no line was left out. */
		any |= (!diff->hunks[h].cut && blanks_restore(base, diff, h, hunks[h].count)) ||
		       sequel_rewrite(diff, h, hunks[h].count);
	}
	return any;
}

/* The candidates of all hunks; NULL when the search was given up. */
static struct candidates *find_candidates(const struct lines *base, struct diff_text *diff,
                                          bool base_has_bom)
{
	for (int attempt = 0;; attempt++) {
		struct candidates *hunks = mem_alloc(diff->hunk_count, sizeof(*hunks));
		bool done = candidates_find(base, diff, base_has_bom, hunks);

		if (done && (attempt || !rewrite_lost(base, diff, hunks)))
			return hunks;
		candidates_release(hunks, diff->hunk_count);
		if (!done)
			return NULL;
	}
}

/* Chooses among the candidates that were found. */
static bool locate_found(const struct lines *base, struct diff_text *diff,
                         struct candidates *hunks, struct placement *ret,
                         struct patch_failure *failure, struct err *err)
{
	bool anchored = anchors_any(diff), ok;
	struct settling settling;

	if (anchored && !anchors_narrow(base, diff, hunks, failure, err))
		return false;
	settle_init(&settling, base, diff, hunks);
	settle_all(&settling);
	ok = explain_unplaced(&settling, failure, err) &&
	     (!anchored || anchors_check_order(base, diff, hunks, failure, err));
	for (size_t h = 0; h < diff->hunk_count && ok; h++)
		ret[h] = (struct placement){ hunks[h].at, hunks[h].count, hunks[h].old_count,
		                             hunks[h].fold, hunks[h].settled };
	settle_release(&settling);
	return ok;
}

bool locate_hunks(const struct lines *base, struct diff_text *diff, bool base_has_bom,
                  struct placement *ret, struct patch_failure *failure, struct err *err)
{
	struct candidates *hunks;
	bool ok;

	if (anchors_any(diff) || !locate_as_stated(base, diff, base_has_bom, ret)) {
		hunks = find_candidates(base, diff, base_has_bom);
		if (!hunks)
			return err_set(err, ERR_TOO_LARGE,
			               "The diff and the file are too large and too repetitive to "
			               "place %zu hunks. Send fewer hunks at a time.",
			               diff->hunk_count);
		ok = locate_found(base, diff, hunks, ret, failure, err);
		candidates_release(hunks, diff->hunk_count);
		if (!ok)
			return false;
	}
	return check_overlap(diff, ret, failure, err) &&
	       check_applied(base, diff, ret, failure, err);
}
