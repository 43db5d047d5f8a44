/* SPDX-License-Identifier: Apache-2.0 */
/* Places that speak against one that a hunk was given in a loose reading: where its new lines
 * stand, or more of its old ones exactly. */
#include "patch/nearest.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

/* Old lines that occur more often do not lead to a place. */
enum { RIVAL_LINES = 64 };

/* Old lines with words, of a hunk whose other place may have none of them left as it was. */
enum { RIVAL_WORDS = 3 };

struct sides *rivals_sides(struct sides *sides, const struct lines *base,
                           const struct diff_text *diff, bool base_has_bom)
{
	if (!sides->built) {
		fold_index_build(&sides->old, base, diff, FOLD_SIDE_OLD, FOLD_TRAILING,
		                 base_has_bom);
		fold_index_build(&sides->new, base, diff, FOLD_SIDE_NEW, FOLD_TRAILING,
		                 base_has_bom);
		fold_index_build(&sides->loose, base, diff, FOLD_SIDE_NEW, FOLD_LOOKALIKE_DROP,
		                 base_has_bom);
	}
	sides->built = true;
	return sides;
}

void rivals_sides_release(struct sides *sides)
{
	fold_index_release(&sides->old);
	fold_index_release(&sides->new);
	fold_index_release(&sides->loose);
}

/* ---- looking for them ---- */

struct rival {
	size_t at, lines;
};

static int compare_rivals(const void *a, const void *b)
{
	const struct rival *one = a, *other = b;

	return (one->at > other->at) - (one->at < other->at);
}

/* What is looked at in one hunk that was placed in a loose reading. */
struct loosely {
	const struct lines *base;
	const struct diff_text *diff;
	const struct sides *sides;
	const struct hunk *hunk;
	const struct candidates *found;
	size_t at;
	size_t words; /* old lines with a word */
	size_t exact; /* of these, those that stand exactly at the place that was found */
	size_t lines, exact_lines; /* the same of all lines that are not blank */
};

/* The old lines with a word in turn: *i is an index into the hunk's lines, *offset their number
 * among the old ones.  Both begin as SIZE_MAX. */
static bool next_word_line(const struct loosely *l, size_t *i, size_t *offset)
{
	while (++*i < l->found->count) {
		const struct hunk_line *line = &l->diff->lines[l->hunk->first + *i];

		*offset += line->op != '+';
		if (line->op != '+' && candidates_has_word(line->text))
			return true;
	}
	return false;
}

static bool line_stands(const struct loosely *l, size_t i, size_t line)
{
	return line < l->base->count &&
	       l->sides->old.base_ids[line] == l->sides->old.diff_ids[l->hunk->first + i];
}

/* Whether the lines that stand at a rival's place are telling, and the others may have been made of
 * the old ones. */
static bool others_are_like(const struct loosely *l, size_t at)
{
	for (size_t i = SIZE_MAX, k = SIZE_MAX; next_word_line(l, &i, &k);) {
		struct span text = l->diff->lines[l->hunk->first + i].text;

		if (line_stands(l, i, at + k) ? !nearest_is_distinctive(text) :
		    at + k >= l->base->count ||
		    nearest_likeness(line_body(lines_at(l->base, at + k)), text) < CHANGED_LIKE)
			return false;
	}
	return true;
}

/* Places where old lines stand exactly, with how many; returns how many places. */
static size_t list_rivals(const struct loosely *l, struct rival **ret)
{
	struct rival *rivals = NULL;
	size_t n = 0, cap = 0, merged = 0;

	for (size_t i = SIZE_MAX, k = SIZE_MAX; next_word_line(l, &i, &k);) {
		uint32_t id = l->sides->old.diff_ids[l->hunk->first + i];
		size_t from = l->sides->old.starts[id - 1], to = l->sides->old.starts[id];

		for (; to - from <= RIVAL_LINES && from < to; from++) {
			if (l->sides->old.positions[from] < k)
				continue;
			rivals = mem_grow(rivals, &cap, n + 1, sizeof(*rivals));
			rivals[n++] = (struct rival){ l->sides->old.positions[from] - k, 1 };
		}
	}
	if (n)
		qsort(rivals, n, sizeof(*rivals), compare_rivals);
	for (size_t i = 0; i < n; i++) {
		if (merged && rivals[merged - 1].at == rivals[i].at)
			rivals[merged - 1].lines++;
		else
			rivals[merged++] = rivals[i];
	}
	*ret = rivals;
	return merged;
}

/* Adds the places where the new lines stand.  What only removes lines has them where it was found,
 * too. */
static void add_new_rivals(const struct loosely *l, struct fold_index index, bool adds,
                           struct against *ret)
{
	_cleanup_free_ uint32_t *ids = mem_alloc(l->found->count + 1, sizeof(*ids));
	size_t count = candidates_ids(&index, l->hunk, l->found->count, ids);
	size_t places[RIVAL_PLACES], found;

	found = fold_index_find(&index, ids, count, places, RIVAL_PLACES);
	/* Where only white space at line ends differs, the new lines may stand where the old do. */
	adds &= candidates_are_loose(l->found);
	for (size_t i = 0; i < found && i < RIVAL_PLACES; i++)
		if (adds || places[i] < l->at ||
		    places[i] + count > l->at + l->found->old_count)
			ret->at[ret->count++] = places[i];
	ret->new_count = ret->count;
}

/* Where the new lines stand: as many of them as old ones where the hunk was found, or some that
 * would not stand there by chance; or, what was made in a loose reading, in such a one. */
static void find_new_rivals(const struct loosely *l, struct against *ret)
{
	size_t lines = 0;
	bool adds = false, telling = false;

	for (size_t i = 0; i < l->found->count; i++) {
		const struct hunk_line *line = &l->diff->lines[l->hunk->first + i];

		lines += line->op != '-' && !span_is_blank(line->text);
		adds |= line->op == '+' && !span_is_blank(line->text);
		telling |= line->op == '+' && nearest_is_distinctive(line->text);
	}
	if (!lines || (lines < l->exact_lines && !telling))
		return;
	add_new_rivals(l, l->sides->new, adds, ret);
	if (!ret->count && (adds || lines >= 2) && candidates_are_loose(l->found))
		add_new_rivals(l, l->sides->loose, adds, ret);
}

/* The old lines that are not blank and stand exactly from line `at` on. */
static size_t count_exact(const struct loosely *l, size_t at)
{
	size_t exact = 0;

	for (size_t i = 0, k = 0; i < l->found->count; i++) {
		const struct hunk_line *line = &l->diff->lines[l->hunk->first + i];

		if (line->op == '+')
			continue;
		exact += !span_is_blank(line->text) && line_stands(l, i, at + k);
		k++;
	}
	return exact;
}

/* Two lines of three, and two at least. */
static bool most_stand(const struct loosely *l, size_t at)
{
	size_t exact = count_exact(l, at);

	return exact >= 2 && 3 * exact >= 2 * l->lines;
}

/* Where lines of a short hunk stand exactly, but for those with words, which are like its own. */
static void find_changed_rivals(const struct loosely *l, struct against *ret)
{
	_cleanup_buf_ struct buf old = BUF_INIT(LIMIT_DIFF_BYTES);
	_cleanup_lines_ struct lines wanted = { 0 };
	struct nearest near[RIVAL_PLACES];
	size_t count;

	if (l->words > RIVAL_WORDS)
		return;
	for (size_t i = 0; i < l->found->count; i++) {
		const struct hunk_line *line = &l->diff->lines[l->hunk->first + i];

		if (line->op != '+' && buf_span(&old, line->text))
			buf_char(&old, '\n');
	}
	lines_index(&wanted, buf_view(&old));
	count = nearest_find(l->base, &wanted, near, RIVAL_PLACES);
	for (size_t i = 0; i < count && ret->count < ARRAY_LEN(ret->at); i++) {
		size_t at = near[i].line;
		bool apart = at + l->found->old_count <= l->at ||
		              at >= l->at + l->found->old_count;

		if (apart && count_exact(l, at) > l->exact_lines && others_are_like(l, at))
			ret->at[ret->count++] = at;
	}
}

/* Where more of the old lines stand exactly, and the others may have been changed. */
static void find_old_rivals(const struct loosely *l, struct against *ret)
{
	struct rival *rivals;
	size_t count = list_rivals(l, &rivals);

	for (size_t i = 0; i < count && ret->count < ret->new_count + RIVAL_PLACES; i++) {
		bool apart = rivals[i].at + l->found->old_count <= l->at ||
		              rivals[i].at >= l->at + l->found->old_count;

		if (apart && rivals[i].lines > l->exact && 2 * rivals[i].lines >= l->words &&
		    (rivals[i].lines >= 2 || most_stand(l, rivals[i].at) ||
		     others_are_like(l, rivals[i].at)))
			ret->at[ret->count++] = rivals[i].at;
	}
	free(rivals);
	if (!ret->count)
		find_changed_rivals(l, ret);
}

struct against rivals_find(const struct sides *sides, const struct lines *base,
                                  const struct diff_text *diff, size_t h,
                                  const struct candidates *hunk, size_t at)
{
	struct loosely l = { .base = base, .diff = diff, .sides = sides, .hunk = &diff->hunks[h],
	                     .found = hunk, .at = at };
	struct against against = { 0 };

	for (size_t i = SIZE_MAX, k = SIZE_MAX; next_word_line(&l, &i, &k);) {
		l.words++;
		l.exact += line_stands(&l, i, at + k);
	}
	for (size_t i = 0; i < hunk->count; i++)
		l.lines += diff->lines[l.hunk->first + i].op != '+' &&
		           !span_is_blank(diff->lines[l.hunk->first + i].text);
	l.exact_lines = count_exact(&l, at);
	find_new_rivals(&l, &against);
	find_old_rivals(&l, &against);
	return against;
}

bool rivals_any(const struct lines *base, const struct diff_text *diff, size_t h,
                const struct candidates *hunk, size_t at, size_t *ret, bool *ret_made)
{
	struct sides sides = { 0 };
	struct against against = rivals_find(rivals_sides(&sides, base, diff, false), base, diff, h,
	                                     hunk, at);

	rivals_sides_release(&sides);
	*ret = against.at[0];
	*ret_made = against.new_count > 0;
	return against.count > 0;
}
