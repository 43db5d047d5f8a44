/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons to refuse a hunk although a place was found for it.
 *
 * To add one: a function that fills *err and returns true, and its row in the table below. */
#include "patch/explain.h"
#include "patch/nearest.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

/* How far a number that means the right place may be off. */
enum { NUMBER_SLIP = 6 };

struct doubting {
	struct settling *s;
	bool base_has_bom;
	struct sides sides;
	struct patch_failure *failure;
	struct err *err;
};

/* The new side as the hunk is read: what is made in a loose reading stands so. */
static const struct fold_index *new_side_for(struct doubting *d, const struct candidates *hunk)
{
	struct settling *s = d->s;

	rivals_sides(&d->sides, s->base, s->diff, d->base_has_bom);
	return candidates_are_loose(hunk) ? &d->sides.loose : &d->sides.new;
}

/* Starts a refusal: the hunk, the two places, and in *ret_title what to call it. */
static char *doubt_begin(struct doubting *d, size_t h, size_t meant, size_t found)
{
	struct patch_failure *failure = d->failure;

	explain_hunk(d->s->diff, h, failure);
	failure->candidates[0] = (struct patch_candidate){ meant + 1, 0 };
	failure->candidates[1] = (struct patch_candidate){ found + 1, d->s->hunks[h].old_count };
	failure->candidate_count = failure->candidates_total = 2;
	return mem_printf("Hunk %zu of %zu", h + 1, d->s->count);
}

/* A place that is in doubt because lines differ there: shows them. */
static void doubt_lines(struct doubting *d, size_t h)
{
	const struct candidates *hunk = &d->s->hunks[h];
	const struct placement place = { .at = hunk->at, .count = hunk->count };

	explain_hunk_lines(d->s->base, d->s->diff, h, &place, d->failure);
}

/* ---- no place ---- */

static bool refuse_missing(struct doubting *d, size_t h)
{
	const struct candidates *hunk = &d->s->hunks[h];
	size_t made = 0;

	if (hunk->made || hunk->placed || !hunk->old_count || hunk->total)
		return false;
	explain_no_match(d->s->base, d->s->diff, h, hunk, d->failure, d->err);
	while (made < d->s->count && !d->s->hunks[made].made)
		made++;
	if (made < d->s->count) {
		_cleanup_free_ char *why = mem_printf("%s", d->err->message);

		err_set(d->err, d->err->code, "%s What hunk %zu does is there already, at line "
		        "%zu.", why, made + 1, d->s->hunks[made].made_at + 1);
	}
	return true;
}

static bool refuse_made(struct doubting *d, size_t h)
{
	const struct candidates *hunk = &d->s->hunks[h];

	if (!hunk->made)
		return false;
	explain_hunk(d->s->diff, h, d->failure);
	d->failure->candidates[0] = (struct patch_candidate){ hunk->made_at + 1, 0 };
	d->failure->candidate_count = d->failure->candidates_total = 1;
	err_set(d->err, ERR_NO_MATCH,
	        "Invalid Diff: The provided diff content does not match the file's content. What "
	        "hunk %zu does is there already, at line %zu: send the diff without it.", h + 1,
	        hunk->made_at + 1);
	return true;
}

/* The text after the @@ heads a block of the file that has none of the hunk's places. */
static bool heads_another(struct doubting *d, size_t h)
{
	const struct candidates *hunk = &d->s->hunks[h];
	struct span heading = settle_heading(d->s, h);

	if (!heading.len || !headings_opens(d->s->headings, heading) || hunk->total > hunk->kept)
		return false;
	for (size_t i = 0; i < hunk->kept; i++)
		if ((!hunk->placed || hunk->at == hunk->places[i]) &&
		    headings_hold(d->s->headings, heading, hunk, hunk->places[i]) !=
		            HEADING_ELSEWHERE)
			return false;
	return hunk->kept > 0;
}

static bool refuse_heading(struct doubting *d, size_t h)
{
	const struct candidates *hunk = &d->s->hunks[h];
	struct span heading = settle_heading(d->s, h), words = utf8_head(heading, 120);
	_cleanup_free_ char *title = NULL;
	size_t named, found;

	if (!heads_another(d, h))
		return false;
	named = headings_find(d->s->headings, heading, 0);
	found = hunk->placed ? hunk->at : hunk->places[0];
	title = doubt_begin(d, h, named, found);
	err_set(d->err, ERR_AMBIGUOUS_DIFF,
	        "Ambiguous Diff: %s names `%.*s` (line %zu) as its heading, but the file has its "
	        "lines only outside of that (first at line %zu). Read the file again: copy the "
	        "lines of the place that you mean, or the line that heads it.",
	        title, (int)words.len, words.data, named + 1, found + 1);
	return true;
}

static bool refuse_ambiguous(struct doubting *d, size_t h)
{
	return !d->s->hunks[h].placed &&
	       !explain_ambiguous(d->s->diff, h, &d->s->hunks[h], d->failure, d->err);
}

/* A hunk whose context was read as the result of another must be next to that one. */
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

static bool refuse_astray(struct doubting *d, size_t h)
{
	return is_astray(d->s, h) && !explain_no_match(d->s->base, d->s->diff, h,
	                                               &d->s->hunks[h], d->failure, d->err);
}

/* ---- the number ---- */

/* How far the lines at some place are the hunk's, at the most tolerant level. */
struct resemblance {
	size_t lines, equal;             /* all old lines */
	size_t solid_lines, solid_equal; /* those that are not blank */
	size_t solid_like;               /* lines that may have been made of the old one */
	size_t solid_context;            /* solid lines that the hunk does not remove */
};

/* With `likeness`, lines that differ are compared letter by letter, too. */
static struct resemblance compare_at(const struct settling *s, size_t i, size_t at, bool likeness)
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
		r.solid_like += likeness && !equal && want.len &&
		                nearest_likeness(want, have) >= CHANGED_LIKE;
		r.solid_context += want.len && old->op == ' ';
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
	r = compare_at(s, i, at, stated);
	if (r.solid_equal >= 2 && 2 * r.solid_equal >= r.solid_lines)
		return true;
	if (!stated)
		return false;
	/* Without context, all that a changed line has in common with the old one is its words. */
	return (r.solid_equal && 2 * r.equal >= r.lines) ||
	       (!r.solid_context && r.solid_like &&
	        r.solid_equal + r.solid_like == r.solid_lines);
}

/* Whether a placed hunk contradicts its own header in a way that means "the file has changed
 * there": its number is credible and the lines near it resemble the hunk, but it was found
 * elsewhere. *ret_expected is the 0-based line. */
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

static bool refuse_contradiction(struct doubting *d, size_t h)
{
	size_t expected;

	return doubt_contradiction(d->s, h, &expected) &&
	       !explain_contradiction(d->s->diff, h, &d->s->hunks[h], expected, d->failure,
	                              d->err);
}

/* Whether the hunk's new lines stand at line `at`, away from the place that was found. */
static bool is_made_at(struct doubting *d, size_t h, int64_t at)
{
	const struct candidates *hunk = &d->s->hunks[h];
	const struct fold_index *index = new_side_for(d, hunk);
	_cleanup_free_ uint32_t *ids = mem_alloc(hunk->count + 1, sizeof(*ids));
	size_t count = candidates_ids(index, &d->s->diff->hunks[h], hunk->count, ids);

	return count && at >= 0 && (size_t)at < d->s->base->count &&
	       ((size_t)at >= hunk->at + hunk->old_count || (size_t)at + count <= hunk->at) &&
	       fold_index_fits(index, ids, count, (size_t)at);
}

/* The place that the number names was changed already, and a copy of the old lines is elsewhere. */
static bool refuse_made_there(struct doubting *d, size_t h)
{
	const struct hunk *hunk = &d->s->diff->hunks[h];
	const struct candidates *found = &d->s->hunks[h];
	_cleanup_free_ char *title = NULL;
	int64_t at, offset;

	if (!found->has_stated || settle_number_is_idle(hunk, found) ||
	    found->at == found->stated)
		return false;
	if (!settle_expects(d->s, h, &at, &offset) || !is_made_at(d, h, at))
		at = hunk->has_new ? (int64_t)hunk->new_start - 1 + hunk->moved : -1;
	if (!is_made_at(d, h, at))
		return false;
	title = doubt_begin(d, h, (size_t)at, found->at);
	err_set(d->err, ERR_AMBIGUOUS_DIFF,
	        "Ambiguous Diff: %s names line %zu, where the file has the new lines already; the "
	        "old lines stand at line %zu. If that place is meant, give its line number.",
	        title, (size_t)at + 1, found->at + 1);
	return true;
}

/* Whether an added line says enough not to stand somewhere by chance. */
static bool adds_words(const struct doubting *d, size_t h)
{
	const struct hunk *hunk = &d->s->diff->hunks[h];

	for (size_t i = 0; i < d->s->hunks[h].count; i++)
		if (d->s->diff->lines[hunk->first + i].op == '+' &&
		    nearest_is_distinctive(d->s->diff->lines[hunk->first + i].text))
			return true;
	return false;
}

/* The new lines stand between the line that the hunk is under and the place that was found: it was
 * made there, and the lines that were found are another block's. */
static bool refuse_passed(struct doubting *d, size_t h)
{
	const struct candidates *hunk = &d->s->hunks[h];
	struct span heading = settle_heading(d->s, h), words = utf8_head(heading, 120);
	const struct fold_index *index;
	_cleanup_free_ uint32_t *ids = NULL;
	_cleanup_free_ char *title = NULL;
	size_t named, next, places[RIVAL_PLACES], count, found;
	struct fold_index copy;

	named = heading.len && !hunk->has_stated ? headings_find(d->s->headings, heading, 0) :
	                                           SIZE_MAX;
	if (named == SIZE_MAX || named >= hunk->at || !adds_words(d, h))
		return false;
	while ((next = headings_find(d->s->headings, heading, named + 1)) < hunk->at)
		named = next;
	index = new_side_for(d, hunk);
	copy = *index;
	ids = mem_alloc(hunk->count + 1, sizeof(*ids));
	count = candidates_ids(index, &d->s->diff->hunks[h], hunk->count, ids);
	found = count ? fold_index_find(&copy, ids, count, places, RIVAL_PLACES) : 0;
	for (size_t i = 0; i < found && i < RIVAL_PLACES; i++) {
		if (places[i] < named || places[i] + count > hunk->at + hunk->lead)
			continue;
		title = doubt_begin(d, h, places[i], hunk->at);
		err_set(d->err, ERR_AMBIGUOUS_DIFF,
		        "Ambiguous Diff: %s is for `%.*s` (line %zu), where the file has the new "
		        "lines already (line %zu); the old lines stand behind that, at line %zu. "
		        "If that place is meant, name the line that heads it.", title,
		        (int)words.len, words.data, named + 1, places[i] + 1, hunk->at + 1);
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

static bool refuse_lost_lines(struct doubting *d, size_t h)
{
	return doubt_lost_lines(d->s, h) &&
	       !explain_lost_lines(d->s->diff, h, &d->s->hunks[h], d->failure, d->err);
}

/* ---- the end of the file ---- */

/* The hunk has the mark of a file's end, and stands elsewhere.  The mark may be wrong where nothing
 * is like the hunk at the end; but not if the hunk says little. */
static bool refuse_end(struct doubting *d, size_t h)
{
	const struct settling *s = d->s;
	const struct candidates *hunk = &s->hunks[h];
	_cleanup_free_ char *title = NULL;
	bool marked, telling = false;
	size_t end = s->base->count - hunk->old_count;

	if (settle_ends_file(s, h, hunk->at, &marked) || !s->diff->hunks[h].at_end)
		return false;
	for (size_t i = 0; i < hunk->count; i++) {
		const struct hunk_line *line = &s->diff->lines[s->diff->hunks[h].first + i];

		telling |= line->op != '+' && nearest_is_distinctive(line->text);
	}
	if (telling && hunk->total == 1 && !candidates_are_loose(hunk) &&
	    !hunk_resembles_lines(s, h, end, /* stated= */ true))
		return false;
	title = doubt_begin(d, h, end, hunk->at);
	err_set(d->err, ERR_AMBIGUOUS_DIFF,
	        "Ambiguous Diff: %s is marked as the end of the file, but its lines stand at line "
	        "%zu only, and the file goes on after them. Leave the end-of-file mark out if that "
	        "place is meant.", title, hunk->at + 1);
	return true;
}

/* ---- a loose reading ---- */

/* Whether the heading says that the found place is meant, and not this one. */
static bool heading_speaks(const struct doubting *d, size_t h, size_t rival)
{
	const struct candidates *hunk = &d->s->hunks[h];
	struct span heading = settle_heading(d->s, h);

	return heading.len &&
	       headings_hold(d->s->headings, heading, hunk, hunk->at) >= HEADING_ABOVE &&
	       headings_hold(d->s->headings, heading, hunk, rival) == HEADING_ELSEWHERE;
}

/* Whether the place is under the only line that its heading names. */
static bool has_sole_heading(const struct doubting *d, size_t h)
{
	const struct candidates *hunk = &d->s->hunks[h];
	struct span heading = settle_heading(d->s, h);
	size_t first = heading.len ? headings_find(d->s->headings, heading, 0) : SIZE_MAX;

	return first != SIZE_MAX &&
	       headings_find(d->s->headings, heading, first + 1) == SIZE_MAX &&
	       headings_hold(d->s->headings, heading, hunk, hunk->at) >= HEADING_ABOVE;
}

/* Whether the number, a neighbour or the end of the file speaks for the place. */
static bool has_loose_evidence(const struct doubting *d, size_t h)
{
	static const bool speaks[PATCH_SETTLED_COUNT] = {
		[PATCH_SETTLED_NUMBER] = true, [PATCH_SETTLED_NEIGHBOUR] = true,
		[PATCH_SETTLED_END] = true,
	};
	int64_t expected, offset;

	return speaks[d->s->hunks[h].settled] ||
	       (settle_expects(d->s, h, &expected, &offset) &&
	        (size_t)expected == d->s->hunks[h].at);
}

/* Whether the hunk says too little for a loose reading: nothing that would be in the file if it was
 * made already. */
static bool says_little(const struct doubting *d, size_t h)
{
	const struct hunk *hunk = &d->s->diff->hunks[h];

	for (size_t i = 0; i < d->s->hunks[h].count; i++) {
		const struct hunk_line *line = &d->s->diff->lines[hunk->first + i];

		if (line->op != '-' && !span_is_blank(line->text))
			return false;
	}
	return true;
}

static bool refuse_little(struct doubting *d, size_t h)
{
	const struct candidates *hunk = &d->s->hunks[h];
	_cleanup_free_ char *title = NULL;

	if (!candidates_are_loose(hunk) || has_loose_evidence(d, h) || !says_little(d, h) ||
	    has_sole_heading(d, h))
		return false;
	title = doubt_begin(d, h, hunk->at, hunk->at);
	d->failure->candidate_count = d->failure->candidates_total = 1;
	doubt_lines(d, h);
	err_set(d->err, ERR_AMBIGUOUS_DIFF,
	        "Ambiguous Diff: %s fits line %zu, but only if white space and look-alikes are "
	        "ignored, and it says too little to be sure of that. Copy the line from the file "
	        "as it is, and unchanged lines before and after it.", title, hunk->at + 1);
	return true;
}

/* The hunk was found in a loose reading, nothing else speaks for the place, and at another as many
 * lines stand exactly as the hunk has them. */
static bool refuse_loose(struct doubting *d, size_t h)
{
	const struct candidates *hunk = &d->s->hunks[h];
	_cleanup_free_ char *title = NULL;
	struct against against;
	size_t i = 0;

	if (!hunk->total || hunk->fold < FOLD_TRAILING || has_loose_evidence(d, h))
		return false;
	against = rivals_find(rivals_sides(&d->sides, d->s->base, d->s->diff, d->base_has_bom),
	                      d->s->base, d->s->diff, h, hunk, hunk->at);
	/* White space at line ends is easily lost: only a hunk that was made speaks against it. */
	if (!candidates_are_loose(hunk))
		against.count = against.new_count;
	while (i < against.count && heading_speaks(d, h, against.at[i]))
		i++;
	if (i == against.count)
		return false;
	title = doubt_begin(d, h, against.at[i], hunk->at);
	doubt_lines(d, h);
	err_set(d->err, ERR_AMBIGUOUS_DIFF,
	        "Ambiguous Diff: %s fits line %zu, but only if white space and look-alikes are "
	        "ignored; at line %zu the file has %s. Read the file again, and copy the lines of "
	        "the place that you mean, with their indentation.", title, hunk->at + 1,
	        against.at[i] + 1, i < against.new_count ? "the new lines already" :
	                                                   "more of its lines exactly");
	return true;
}

/* ---- the order ---- */

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

bool doubts_in_order(const struct settling *s)
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

static bool refuse_order(struct doubting *d, size_t h)
{
	size_t other;

	return doubt_order(d->s, h, &other) &&
	       !explain_order(d->s->diff, h, other, &d->s->hunks[h], d->failure, d->err);
}

/* ---- all together ---- */

/* Each is asked of all hunks before the next. */
static const struct {
	bool (*refuses)(struct doubting *d, size_t h);
} doubts[] = {
	{ refuse_missing },
	{ refuse_made },
	{ refuse_heading },
	{ refuse_ambiguous },
	{ refuse_astray },
	{ refuse_contradiction },
	{ refuse_made_there },
	{ refuse_passed },
	{ refuse_lost_lines },
	{ refuse_end },
	{ refuse_little },
	{ refuse_loose },
};

/* Lines of the base that are looked through to explain the hunks after the first that failed. */
enum { EXPLAINED_LINES_MAX = 2 << 20 };

/* One answer names all the hunks that fail.  Those that are no longer explained count if they have
 * no place. */
static void refuse_others(struct doubting *d)
{
	struct patch_failure *answer = d->failure;
	struct err *err = d->err;
	const size_t first = answer->hunk - 1, lines = d->s->base->count;
	_cleanup_free_ bool *fails = mem_alloc(d->s->count, sizeof(*fails));
	size_t left = EXPLAINED_LINES_MAX;

	explain_add_failed(answer, err->code, answer);
	fails[first] = true;
	for (size_t h = 0; h < d->s->count; h++) {
		struct patch_failure failure = { 0 };
		struct err other = ERR_INIT;
		bool refused = false;

		if (h == first)
			continue;
		if (left < lines) {
			answer->failed_total += !d->s->hunks[h].placed;
			continue;
		}
		d->failure = &failure;
		d->err = &other;
		for (size_t i = 0; i < ARRAY_LEN(doubts) && !refused; i++)
			refused = doubts[i].refuses(d, h);
		if (refused) {
			explain_add_failed(answer, other.code, &failure);
			left -= lines;
		}
		fails[h] = refused;
		patch_failure_release(&failure);
	}
	for (size_t h = 0; h < d->s->count; h++)
		d->s->hunks[h].placed &= !fails[h];
	d->failure = answer;
	d->err = err;
}

bool doubts_refuse(struct settling *s, bool base_has_bom, struct patch_failure *failure,
                   struct err *err)
{
	struct doubting d = { .s = s, .base_has_bom = base_has_bom, .failure = failure,
	                      .err = err };
	bool refused = false;

	for (size_t i = 0; i < ARRAY_LEN(doubts) && !refused; i++)
		for (size_t h = 0; h < s->count && !refused; h++)
			refused = doubts[i].refuses(&d, h);
	if (refused)
		refuse_others(&d);
	else if (!doubts_in_order(s))
		for (size_t h = 0; h < s->count && !refused; h++)
			refused = refuse_order(&d, h);
	rivals_sides_release(&d.sides);
	return refused;
}
