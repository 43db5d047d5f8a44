/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/doubt.h"

#include <stdlib.h>

#include "base/limits.h"

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
			have = fold_line(FOLD_LOOKALIKE_DROP, line_body(lines_at(s->base, line)), &other);
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
static bool resembles(const struct settling *s, size_t i, size_t at, bool stated)
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

bool doubt_contradiction(const struct settling *s, size_t i, size_t *ret_expected)
{
	int64_t expected, offset, found_away;

	if (!settling_expects(s, i, &expected, &offset) || (size_t)expected == s->hunks[i].at)
		return false;
	/* A place that is nearer to the number than a similar one is what it means. */
	found_away = llabs((int64_t)s->hunks[i].at - expected);
	for (int64_t away = 0; away <= NUMBER_SLIP && away <= found_away; away++)
		for (int64_t sign = -1; sign <= 1; sign += 2) {
			int64_t at = expected + sign * away;

			if (at < 0 || (size_t)at >= s->base->count || !resembles(s, i, (size_t)at, !away))
				continue;
			*ret_expected = (size_t)at;
			return true;
		}
	return false;
}

bool doubt_lost_lines(const struct settling *s, size_t i)
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

bool doubt_none_out_of_order(const struct settling *s)
{
	for (size_t i = 1; i < s->count; i++)
		if (!comes_before(s, i - 1, i))
			return false;
	return true;
}

bool doubt_order(const struct settling *s, size_t i, size_t *ret_other)
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
