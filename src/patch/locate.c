/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/locate.h"

#include <stdlib.h>

#include "base/mem.h"
#include "patch/anchors.h"
#include "patch/blanks.h"
#include "patch/candidates.h"
#include "patch/doubt.h"
#include "patch/explain.h"
#include "patch/sequel.h"
#include "patch/settle.h"

/* Hunks for which that is tried: each costs a pass over the base. */
enum { REWRITES_TRIED = 16 };

/* ---- the common case: every number is right ---- */

static struct span without_bom(struct span text, bool strip)
{
	return strip && span_starts(text, SPAN("\xEF\xBB\xBF")) ? span_skip(text, 3) : text;
}

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
		if (!span_eq(line_body(lines_at(base, line)), without_bom(old->text, strip_bom)))
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
		settling_init(&settling, base, diff, hunks);
		/* Against the order of the hunks the numbers could be exchanged. */
		fits = settling.chained && doubt_none_out_of_order(&settling);
		settling_release(&settling);
	}
	for (size_t h = 0; h < diff->hunk_count && fits; h++)
		ret[h] = (struct placement){ hunks[h].stated, hunks[h].count, hunks[h].old_count,
		                             FOLD_EXACT, PATCH_SETTLED_NUMBER };
	candidates_release(hunks, diff->hunk_count);
	return fits;
}

/* ---- what must hold of any placement ---- */

static size_t change_start(const struct placement *p, const struct candidates *c)
{
	return p->at + c->lead;
}

static size_t change_end(const struct placement *p, const struct candidates *c)
{
	return p->at + p->old_count - c->trail;
}

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
		struct candidates c = { 0 };

		candidates_measure(diff, &diff->hunks[h], places[h].count, &c);
		ranges[h] = (struct range){ change_start(&places[h], &c), change_end(&places[h], &c), h };
	}
	qsort(ranges, diff->hunk_count, sizeof(*ranges), compare_ranges);
	for (size_t i = 1; i < diff->hunk_count && ok; i++) {
		if (ranges[i].start >= ranges[i - 1].end && ranges[i].end > ranges[i - 1].start &&
		    !(ranges[i].start == ranges[i - 1].start && ranges[i].end == ranges[i - 1].end))
			continue;
		explain_hunk(diff, ranges[i].hunk, failure);
		ok = err_set(err, ERR_INVALID_DIFF,
		             "Invalid Diff: hunks %zu and %zu of %zu change the same lines of the file "
		             "(around line %zu).", ranges[i - 1].hunk + 1, ranges[i].hunk + 1,
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
	return run_is_there(base, lines + place->count - tail, tail, place->at + place->old_count) ||
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
		               "content. The lines that hunk %zu of %zu adds after line %zu are there "
		               "already. If they are to be there twice, add context on both sides.",
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
			return explain_contradiction(s->diff, h, &s->hunks[h], expected, failure, err);
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
	settling_init(&settling, base, diff, hunks);
	settle_all(&settling);
	ok = explain_unplaced(&settling, failure, err) &&
	     (!anchored || anchors_check_order(base, diff, hunks, failure, err));
	for (size_t h = 0; h < diff->hunk_count && ok; h++)
		ret[h] = (struct placement){ hunks[h].at, hunks[h].count, hunks[h].old_count,
		                             hunks[h].fold, hunks[h].settled };
	settling_release(&settling);
	return ok;
}

bool hunks_locate(const struct lines *base, struct diff_text *diff, bool base_has_bom,
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
	return check_overlap(diff, ret, failure, err) && check_applied(base, diff, ret, failure, err);
}
