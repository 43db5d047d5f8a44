/* SPDX-License-Identifier: Apache-2.0 */
/* Placing hunks: those that fit nowhere are put right if they can be, then candidates are found and
 * settled, and what is doubtful (doubts.c) is refused. */
#include "patch/explain.h"

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

/* Such a hunk is next to the one that it follows; locate_hunks enforces that (hunk.sequel_of).
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
	size_t base_count;
	uint32_t *ids;
	size_t *lines;       /* indices into the hunk's lines */
	size_t *base_lines;  /* of each, once it has a place: the line of the base, 0-based */
	size_t count;
};

static void collect_solid(const struct lines *base, const struct diff_text *diff,
                          const struct hunk *hunk, size_t count, struct solid *ret)
{
	struct fold_index index;

	fold_index_build(&index, base, diff, FOLD_SIDE_OLD, FOLD_TRAILING, false);
	ret->base_ids = mem_steal(&index.base_ids); /* and those that stay move up in it */
	ret->ids = mem_alloc(count, sizeof(*ret->ids));
	ret->lines = mem_alloc(count, sizeof(*ret->lines));
	ret->base_lines = mem_alloc(count, sizeof(*ret->base_lines));
	for (size_t i = 0; i < base->count; i++) {
		if (span_is_blank(lines_at(base, i)))
			continue;
		/* What is not written takes no memory (fold.c). */
		if (ret->base_ids[ret->base_count] != ret->base_ids[i])
			ret->base_ids[ret->base_count] = ret->base_ids[i];
		ret->base_count++;
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

/* Fills base_lines: the first of the hunk's solid lines is the base's number `at`. */
static void find_base_lines(struct solid *s, const struct lines *base, size_t at)
{
	size_t solid = 0;

	for (size_t i = 0; i < base->count && solid < at + s->count; i++) {
		if (span_is_blank(lines_at(base, i)))
			continue;
		if (solid >= at)
			s->base_lines[solid - at] = i;
		solid++;
	}
}

/* How many blank lines are missing after solid line `k`; false when the gap cannot be filled. */
static bool missing_after(const struct solid *s, const struct hunk_line *lines, size_t k,
                          size_t *ret)
{
	size_t file_gap = s->base_lines[k + 1] - s->base_lines[k] - 1, diff_gap = 0;
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
	if (ok)
		find_base_lines(&solid, base, at);
	for (size_t k = 0; k + 1 < solid.count && ok; k++) {
		ok = missing_after(&solid, lines, k, &missing[solid.lines[k]]);
		total += ok ? missing[solid.lines[k]] : 0;
	}
	release_solid(&solid);
	if (ok && total)
		blanks_rewrite(diff, hunk, count, missing);
	return ok && total;
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

/* Whether every hunk that is marked as the file's end stands there. */
static bool ends_are_ends(const struct settling *s)
{
	bool marked;

	for (size_t h = 0; h < s->count; h++)
		if (!settle_ends_file(s, h, s->hunks[h].at, &marked))
			return false;
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
		candidates_note_stated(hunk, &hunks[h]);
		hunks[h].at = hunks[h].stated;
		/* A lone number 1 may be a guess. */
		fits = fits && (diff->hunk_count > 1 || !settle_number_is_idle(hunk, &hunks[h])) &&
		       stands_at_stated(base, diff, hunk, &hunks[h], strip_bom);
	}
	if (fits) {
		settle_init(&settling, base, diff, NULL, hunks);
		/* Against the order of the hunks the numbers could be exchanged. */
		fits = settling.chained && doubts_in_order(&settling) && ends_are_ends(&settling);
		settle_release(&settling);
	}
	for (size_t h = 0; h < diff->hunk_count && fits; h++)
		ret[h] = (struct placement){ hunks[h].stated, hunks[h].count, hunks[h].old_count,
		                             FOLD_EXACT, PATCH_SETTLED_NUMBER, 0, false };
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

/* Two hunks must not change the same lines; shared context is fine.  A hunk without a place is
 * passed over. */
static bool check_overlap(const struct diff_text *diff, const struct placement *places,
                          struct patch_failure *failure, struct err *err)
{
	struct range *ranges = mem_alloc(diff->hunk_count, sizeof(*ranges));
	size_t count = 0;
	bool ok = true;

	for (size_t h = 0; h < diff->hunk_count; h++) {
		const struct placement *p = &places[h];
		struct candidates c = { 0 };

		if (!p->count)
			continue;
		candidates_measure(diff, &diff->hunks[h], p->count, &c);
		ranges[count++] = (struct range){ p->at + c.lead,
		                                  p->at + p->old_count - c.trail, h };
	}
	qsort(ranges, count, sizeof(*ranges), compare_ranges);
	for (size_t i = 1; i < count && ok; i++) {
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
                         size_t at, enum fold fold)
{
	_cleanup_buf_ struct buf one = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_buf_ struct buf other = BUF_INIT(LIMIT_FILE_BYTES);
	bool text = false;

	if (!count || at > base->count || count > base->count - at)
		return false;
	for (size_t i = 0; i < count; i++) {
		text |= span_trim(added[i].text).len > 0;
		if (!span_eq(fold_line(fold, added[i].text, &one),
		             fold_line(fold, line_body(lines_at(base, at + i)), &other)))
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
	                    place->at + place->old_count, place->fold) ||
	       (head <= place->at && run_is_there(base, lines, head, place->at - head,
	                                          place->fold));
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
		               "there already. To add them a second time, add context on both "
		               "sides.",
		               h + 1, diff->hunk_count, places[h].at + places[h].old_count);
	}
	return true;
}

/* ---- the general case ---- */

/* Rewrites hunks that fit nowhere as they would be if the model had not made one of its
 * habitual mistakes; true if any was rewritten. */
static bool rewrite_lost(const struct lines *base, struct diff_text *diff,
                         bool base_has_bom, const struct candidates *hunks)
{
	struct fold_index new_side = { 0 };
	size_t tried = 0;
	bool any = false;

	for (size_t h = 0; h < diff->hunk_count && tried < REWRITES_TRIED; h++) {
		if (hunks[h].total || !hunks[h].old_count || hunks[h].made)
			continue;
		if (!tried++)
			fold_index_build(&new_side, base, diff, FOLD_SIDE_NEW, FOLD_LOOKALIKE_DROP,
			                 base_has_bom);
		/* It may have been made where it was meant. */
		if (made_stands(&new_side, diff, h, &hunks[h]))
			continue;
		/* A count that is met says that no line was left out. */
		any |= (!diff->hunks[h].cut && blanks_restore(base, diff, h, hunks[h].count)) ||
		       sequel_rewrite(diff, h, hunks[h].count);
	}
	fold_index_release(&new_side);
	return any;
}

/* The candidates of all hunks; NULL when the search was given up. */
static struct candidates *find_candidates(const struct lines *base, struct diff_text *diff,
                                          bool base_has_bom)
{
	for (int attempt = 0;; attempt++) {
		struct candidates *hunks = mem_alloc(diff->hunk_count, sizeof(*hunks));
		bool done = candidates_find(base, diff, base_has_bom, hunks);

		if (done) {
			made_find(base, diff, base_has_bom, hunks);
			done = candidates_find_looser(base, diff, base_has_bom, hunks);
			made_confirm(diff, hunks);
		}
		if (done && (attempt || !rewrite_lost(base, diff, base_has_bom, hunks)))
			return hunks;
		candidates_release(hunks, diff->hunk_count);
		if (!done)
			return NULL;
	}
}

/* Chooses among the candidates that were found. */
static bool locate_found(const struct lines *base, struct diff_text *diff, bool base_has_bom,
                         struct candidates *hunks, struct placement *ret,
                         struct patch_failure *failure, struct err *err)
{
	struct headings *headings = headings_make(base, diff);
	bool anchored = anchors_any(diff);
	bool ok = !anchored || anchors_narrow(base, diff, headings, hunks, failure, err);
	struct settling settling;

	if (ok) {
		settle_init(&settling, base, diff, headings, hunks);
		settle_all(&settling);
		ok = !doubts_refuse(&settling, base_has_bom, failure, err) &&
		     (!anchored || anchors_check_order(base, diff, headings, hunks, failure, err));
		settle_release(&settling);
	}
	for (size_t h = 0; h < diff->hunk_count && (ok || failure->failed_total); h++)
		if (hunks[h].placed)
			ret[h] = (struct placement){ hunks[h].at, hunks[h].count,
			                             hunks[h].old_count, hunks[h].fold,
			                             hunks[h].settled, 0, false };
		else
			ret[h] = (struct placement){ .lost = hunks[h].count,
			                             .made = hunks[h].made };
	headings_free(headings);
	return ok;
}

/* Of hunks that fail, and others that change the same lines, only the first matter. */
static void forget_overlapping(const struct diff_text *diff, struct placement *places)
{
	struct patch_failure ignored = { 0 };
	struct err why = ERR_INIT;

	if (!check_overlap(diff, places, &ignored, &why))
		memset(places, 0, diff->hunk_count * sizeof(*places));
	patch_failure_release(&ignored);
}

/* The line where the first hunk was made, if all were; otherwise 0. */
static size_t made_before(const struct candidates *hunks, size_t count)
{
	for (size_t h = 0; h < count; h++)
		if (!hunks[h].made)
			return 0;
	return count ? hunks[0].made_at + 1 : 0;
}

bool locate_hunks(const struct lines *base, struct diff_text *diff, bool base_has_bom,
                  struct placement *ret, size_t *ret_made, struct patch_failure *failure,
                  struct err *err)
{
	struct candidates *hunks;
	bool ok;

	*ret_made = 0;
	if (anchors_any(diff) || !locate_as_stated(base, diff, base_has_bom, ret)) {
		hunks = find_candidates(base, diff, base_has_bom);
		if (!hunks)
			return err_set(err, ERR_TOO_LARGE,
			               "The diff and the file are too large and too repetitive to "
			               "place %zu hunks. Send fewer hunks at a time.",
			               diff->hunk_count);
		*ret_made = made_before(hunks, diff->hunk_count);
		ok = *ret_made || locate_found(base, diff, base_has_bom, hunks, ret, failure, err);
		candidates_release(hunks, diff->hunk_count);
		if (!ok && failure->failed_total)
			forget_overlapping(diff, ret);
		if (!ok || *ret_made)
			return ok;
	}
	return check_overlap(diff, ret, failure, err) &&
	       check_applied(base, diff, ret, failure, err);
}
