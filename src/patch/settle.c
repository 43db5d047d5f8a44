/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/private.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

/* A shifted number is believed only where candidates are this far apart: in a
 * run of equal blocks a wrong number hits one of them by chance. */
enum { SPACING_MIN = 16 };

/* Lines of context that tools print, and old lines that are few. */
enum { CUSTOMARY_CONTEXT = 3, FEW_LINES = 6 };

/* Candidates that are tried out for giving the same result: each costs an application. */
enum { SAME_RESULT_MAX = 32 };

static const struct hunk *hunk_of(const struct settling *s, size_t i)
{
	return &s->diff->hunks[i];
}

/* ---- reading the numbers ---- */

static size_t new_count_of(const struct settling *s, size_t i)
{
	size_t n = 0;

	for (size_t j = 0; j < s->hunks[i].count; j++)
		n += s->diff->lines[hunk_of(s, i)->first + j].op != '-';
	return n;
}

/* 0-based start of a side from its stated start. */
static int64_t zero_based(size_t start, size_t count)
{
	return (int64_t)start - (count && start ? 1 : 0);
}

/* In an honest diff each new start is the old start plus what the hunks before
 * it added and removed. */
static bool numbers_chain(const struct settling *s)
{
	int64_t delta = 0;

	for (size_t k = 0; k < s->count; k++) {
		size_t i = s->by_number[k];
		const struct hunk *hunk = hunk_of(s, i);
		size_t old_count = s->hunks[i].old_count, new_count = new_count_of(s, i);

		if (!hunk->has_old)
			return false;
		if (hunk->has_new && zero_based(hunk->new_start, new_count) -
		                             zero_based(hunk->old_start, old_count) != delta)
			return false;
		delta += (int64_t)new_count - (int64_t)old_count;
	}
	return true;
}

static void sort_by_number(struct settling *s)
{
	for (size_t i = 0; i < s->count; i++)
		s->by_number[i] = i;
	if (!s->numbered)
		return;
	/* Insertion sort: diffs are in order but for a few. */
	for (size_t i = 1; i < s->count; i++) {
		size_t moving = s->by_number[i], j = i;

		while (j && s->hunks[s->by_number[j - 1]].stated > s->hunks[moving].stated) {
			s->by_number[j] = s->by_number[j - 1];
			j--;
		}
		s->by_number[j] = moving;
	}
}

/* Whether a hunk states a smaller line than one before it in the diff.  Zero is what models write
 * that do not know the line. */
static bool numbers_run_back(const struct settling *s)
{
	size_t highest = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct hunk *hunk = hunk_of(s, i);

		if (!hunk->has_old || !hunk->old_start)
			continue;
		if (hunk->old_start < highest)
			return true;
		highest = hunk->old_start;
	}
	return false;
}

/* Lines a hunk adds less those it removes. */
static int64_t hunk_delta(const struct settling *s, size_t i)
{
	return (int64_t)new_count_of(s, i) - (int64_t)s->hunks[i].old_count;
}

/* Whether all hunks that fit one place are where their numbers say, taken as numbers of the base
 * or of the result. */
static bool anchors_agree(const struct settling *s, bool of_result)
{
	int64_t delta = 0;
	bool any = false;

	for (size_t k = 0; k < s->count; k++) {
		const struct candidates *hunk = &s->hunks[s->by_number[k]];

		if (hunk->total == 1) {
			any = true;
			if ((int64_t)hunk->places[0] !=
			    (int64_t)hunk->stated - (of_result ? delta : 0))
				return false;
		}
		delta += hunk_delta(s, s->by_number[k]);
	}
	return any;
}

/* Models number hunks by the lines of the result. Where the hunks that fit one place
 * prove it, the numbers are turned into those of the base. */
static void renumber_from_result(struct settling *s)
{
	int64_t delta = 0;

	if (!s->numbered || anchors_agree(s, false) || !anchors_agree(s, true))
		return;
	for (size_t k = 0; k < s->count; k++) {
		struct candidates *hunk = &s->hunks[s->by_number[k]];

		if ((int64_t)hunk->stated >= delta)
			hunk->stated = (size_t)((int64_t)hunk->stated - delta);
		delta += hunk_delta(s, s->by_number[k]);
	}
}

void settle_init(struct settling *s, const struct lines *base, const struct diff_text *diff,
                 struct headings *headings, struct candidates *hunks)
{
	*s = (struct settling){ .base = base, .diff = diff, .hunks = hunks, .headings = headings,
	                        .count = diff->hunk_count, .numbered = true };
	for (size_t i = 0; i < s->count; i++)
		s->numbered &= hunks[i].has_stated;
	s->by_number = mem_alloc(s->count, sizeof(*s->by_number));
	sort_by_number(s);
	s->chained = numbers_chain(s);
	s->backward = numbers_run_back(s);
	renumber_from_result(s);
	s->distinct = true;
	for (size_t k = 1; k < s->count && s->numbered; k++)
		s->distinct &= hunks[s->by_number[k]].stated != hunks[s->by_number[k - 1]].stated;
}

void settle_release(struct settling *s)
{
	free(s->by_number);
}

static int64_t offset_of(const struct candidates *hunk)
{
	return (int64_t)hunk->at - (int64_t)hunk->stated;
}

/* The one distance by which all placed hunks but `except` are off; false when
 * there is no such hunk or they differ. */
static bool common_offset(const struct settling *s, size_t except, int64_t *ret)
{
	bool any = false;

	for (size_t i = 0; i < s->count; i++) {
		const struct candidates *hunk = &s->hunks[i];

		if (i == except || !hunk->placed || !hunk->has_stated)
			continue;
		if (any && offset_of(hunk) != *ret)
			return false;
		*ret = offset_of(hunk);
		any = true;
	}
	return any;
}

static bool any_anchor(const struct settling *s, size_t except)
{
	for (size_t i = 0; i < s->count; i++)
		if (i != except && s->hunks[i].placed && s->hunks[i].has_stated)
			return true;
	return false;
}

bool settle_number_is_idle(const struct hunk *hunk, const struct candidates *measured)
{
	return hunk->old_start <= 1 && !measured->lead &&
	       measured->trail < CUSTOMARY_CONTEXT && measured->old_count <= FEW_LINES;
}

bool settle_expects(const struct settling *s, size_t i, int64_t *ret, int64_t *ret_offset)
{
	bool anchored = any_anchor(s, i);
	int64_t offset = 0;

	if (!s->hunks[i].has_stated || !s->distinct ||
	    (!anchored && settle_number_is_idle(hunk_of(s, i), &s->hunks[i])))
		return false;
	if (anchored) {
		if (!common_offset(s, i, &offset))
			return false;
	} else if (!s->chained) {
		return false;
	}
	*ret = (int64_t)s->hunks[i].stated + offset;
	*ret_offset = offset;
	return *ret >= 0;
}

/* ---- the kinds of evidence ---- */

static bool has_place(const struct candidates *hunk, int64_t at)
{
	for (size_t i = 0; i < hunk->kept; i++)
		if ((int64_t)hunk->places[i] == at)
			return true;
	return false;
}

static bool well_spaced(const struct candidates *hunk, int64_t at)
{
	for (size_t i = 0; i < hunk->kept; i++) {
		int64_t distance = (int64_t)hunk->places[i] - at;

		if (distance && distance < SPACING_MIN && distance > -SPACING_MIN)
			return false;
	}
	return hunk->kept == hunk->total;
}

static void settle_place(struct candidates *hunk, size_t at, enum patch_settled settled)
{
	hunk->placed = true;
	hunk->at = at;
	hunk->settled = settled;
}

static bool by_number(struct settling *s, size_t i)
{
	int64_t at, offset;

	if (!settle_expects(s, i, &at, &offset) || !has_place(&s->hunks[i], at))
		return false;
	if (offset && !well_spaced(&s->hunks[i], at))
		return false;
	settle_place(&s->hunks[i], (size_t)at, offset ? PATCH_SETTLED_NEIGHBOUR :
	             PATCH_SETTLED_NUMBER);
	return true;
}

/* The nearest placed hunks before and after, in the order of the numbers. */
static bool by_neighbours(struct settling *s, size_t i)
{
	const struct candidates *before = NULL, *after = NULL;
	bool passed = false;
	int64_t at;

	if (!s->numbered)
		return false;
	for (size_t k = 0; k < s->count; k++) {
		struct candidates *hunk = &s->hunks[s->by_number[k]];

		if (s->by_number[k] == i)
			passed = true;
		else if (hunk->placed && !passed)
			before = hunk;
		else if (hunk->placed && !after)
			after = hunk;
	}
	if (!before || !after || offset_of(before) != offset_of(after))
		return false;
	at = (int64_t)s->hunks[i].stated + offset_of(before);
	if (!has_place(&s->hunks[i], at) || !well_spaced(&s->hunks[i], at))
		return false;
	settle_place(&s->hunks[i], (size_t)at, PATCH_SETTLED_NEIGHBOUR);
	return true;
}

/* The first place whose change begins at or after `from` (in half lines); false if none. */
static bool candidate_first_from(const struct candidates *hunk, size_t from, size_t *ret)
{
	if (hunk->placed) {
		*ret = hunk->at;
		return candidates_core_start(hunk, hunk->at) >= from;
	}
	for (size_t i = 0; i < hunk->kept; i++)
		if (candidates_core_start(hunk, hunk->places[i]) >= from) {
			*ret = hunk->places[i];
			return true;
		}
	return false;
}

static bool last_until(const struct candidates *hunk, size_t until, size_t *ret)
{
	if (hunk->placed) {
		*ret = hunk->at;
		return candidates_core_end(hunk, hunk->at) <= until;
	}
	for (size_t i = hunk->kept; i-- > 0;)
		if (candidates_core_end(hunk, hunk->places[i]) <= until) {
			*ret = hunk->places[i];
			return true;
		}
	return false;
}

/* Whether the header names another place of the hunk: whichever is right, the other is wrong. */
static bool number_says_another(const struct settling *s, size_t i, size_t at)
{
	const struct candidates *hunk = &s->hunks[i];

	return hunk->has_stated && !settle_number_is_idle(hunk_of(s, i), hunk) &&
	       hunk->stated != at && has_place(hunk, (int64_t)hunk->stated);
}

/* Hunks whose earliest and latest place in any orderly choice are the same
 * have one place only.  The order is the diff's own; numbers that run against it leave
 * open which of the two is wrong, so then neither settles anything. */
static void by_order(struct settling *s)
{
	size_t *earliest = mem_alloc(s->count, sizeof(*earliest));
	size_t *latest = mem_alloc(s->count, sizeof(*latest));
	bool orderly = !s->backward;
	size_t bound = 0;

	for (size_t i = 0; i < s->count && orderly; i++) {
		struct candidates *hunk = &s->hunks[i];

		orderly = hunk->total == hunk->kept &&
		          candidate_first_from(hunk, bound, &earliest[i]);
		if (orderly)
			bound = candidates_core_end(hunk, earliest[i]);
	}
	bound = 2 * s->base->count + 1;
	for (size_t i = s->count; i-- > 0 && orderly;) {
		struct candidates *hunk = &s->hunks[i];

		orderly = last_until(hunk, bound, &latest[i]);
		if (orderly)
			bound = candidates_core_start(hunk, latest[i]);
	}
	for (size_t i = 0; i < s->count && orderly; i++) {
		struct candidates *hunk = &s->hunks[i];

		if (!hunk->placed && earliest[i] == latest[i] &&
		    !number_says_another(s, i, earliest[i]))
			settle_place(hunk, earliest[i], PATCH_SETTLED_ORDER);
	}
	free(earliest);
	free(latest);
}

struct span settle_heading(const struct settling *s, size_t i)
{
	const struct hunk *hunk = hunk_of(s, i);

	/* Next to a wrong number, the heading may be just as outdated. */
	if (s->hunks[i].has_stated && !settle_number_is_idle(hunk_of(s, i), &s->hunks[i]))
		return span_of("", 0);
	return hunk->heading.len ? hunk->heading : hunk->within;
}

/* Of the places under the heading those that are deeper than it, if there are any. */
static bool by_heading(struct settling *s, size_t i)
{
	struct candidates *hunk = &s->hunks[i];
	struct span heading = settle_heading(s, i);
	size_t found[HEADING_INSIDE + 1] = { 0 }, at[HEADING_INSIDE + 1] = { 0 };

	if (!heading.len || hunk->kept != hunk->total)
		return false;
	for (size_t k = 0; k < hunk->kept; k++) {
		enum heading_hold hold = headings_hold(s->headings, heading, hunk,
		                                       hunk->places[k]);

		found[hold]++;
		at[hold] = hunk->places[k];
	}
	for (int hold = HEADING_INSIDE; hold >= HEADING_ABOVE; hold--) {
		if (found[hold] == 1)
			settle_place(hunk, at[hold], PATCH_SETTLED_HEADING);
		if (found[hold])
			break;
	}
	return hunk->placed;
}

static bool is_marked_as_end(const struct settling *s, size_t i)
{
	bool marked = hunk_of(s, i)->at_end;

	for (size_t j = 0; j < s->hunks[i].count; j++) {
		const struct hunk_line *line = &s->diff->lines[hunk_of(s, i)->first + j];

		marked |= line->op != '+' && line->no_newline;
	}
	return marked;
}

/* The file may go on with blank lines. */
bool settle_ends_file(const struct settling *s, size_t i, size_t at, bool *ret_marked)
{
	size_t line = at + s->hunks[i].old_count;

	*ret_marked = is_marked_as_end(s, i);
	if (!*ret_marked)
		return true;
	while (line < s->base->count && span_is_blank(lines_at(s->base, line)))
		line++;
	return line >= s->base->count;
}

static bool by_end_of_file(struct settling *s, size_t i)
{
	struct candidates *hunk = &s->hunks[i];
	size_t found = 0, at = 0;
	bool marked;

	if (hunk->kept != hunk->total)
		return false;
	for (size_t k = 0; k < hunk->kept; k++) {
		if (!settle_ends_file(s, i, hunk->places[k], &marked) || !marked)
			continue;
		at = hunk->places[k];
		found++;
	}
	if (found == 1)
		settle_place(hunk, at, PATCH_SETTLED_END);
	return found == 1;
}

/* A tool's diff has equal context before and after a change unless the file ends. */
static bool by_edge(struct settling *s, size_t i)
{
	struct candidates *hunk = &s->hunks[i];
	size_t customary = 0;

	if (s->count < 2 || hunk->kept != hunk->total)
		return false;
	for (size_t k = 0; k < s->count; k++) {
		const struct candidates *other = &s->hunks[k];

		if (k == i || other->lead != other->trail)
			continue;
		if (customary && other->lead != customary)
			return false;
		customary = other->lead;
	}
	if (customary < CUSTOMARY_CONTEXT)
		return false;
	if (hunk->lead < customary && hunk->trail == customary && hunk->places[0] == 0) {
		settle_place(hunk, 0, PATCH_SETTLED_EDGE);
		return true;
	}
	if (hunk->trail < customary && hunk->lead == customary &&
	    hunk->places[hunk->kept - 1] + hunk->old_count == s->base->count) {
		settle_place(hunk, hunk->places[hunk->kept - 1], PATCH_SETTLED_EDGE);
		return true;
	}
	return false;
}

/* Appends lines [from, to) of the base with the hunk applied at `at`. */
static void apply_between(const struct settling *s, size_t i, size_t at, size_t from, size_t to,
                          struct buf *out)
{
	const struct hunk *hunk = hunk_of(s, i);
	size_t next = at;

	buf_span(out, lines_range(s->base, from, at));
	for (size_t j = 0; j < s->hunks[i].count; j++) {
		const struct hunk_line *line = &s->diff->lines[hunk->first + j];

		if (line->op == '+') {
			buf_span(out, line->text);
			buf_char(out, '\n');
			continue;
		}
		if (line->op == ' ')
			buf_span(out, lines_at(s->base, next));
		next++;
	}
	buf_span(out, lines_range(s->base, next, to));
}

/* Removing one of several equal lines gives the same file whichever it is. */
static bool by_same_result(struct settling *s, size_t i)
{
	struct candidates *hunk = &s->hunks[i];
	size_t first, last, from, to;
	bool same = true;

	if (!hunk->kept || hunk->kept != hunk->total || hunk->kept > SAME_RESULT_MAX)
		return false;
	first = hunk->places[0];
	last = hunk->places[hunk->kept - 1];
	from = first;
	to = last + hunk->old_count;
	if (to - from > 64 * (hunk->old_count + 4))
		return false;
	for (size_t k = 1; k < hunk->kept && same; k++) {
		_cleanup_buf_ struct buf one = BUF_INIT(LIMIT_FILE_BYTES);
		_cleanup_buf_ struct buf other = BUF_INIT(LIMIT_FILE_BYTES);

		apply_between(s, i, first, from, to, &one);
		apply_between(s, i, hunk->places[k], from, to, &other);
		same = !one.overflowed && span_eq(buf_view(&one), buf_view(&other));
	}
	if (same)
		settle_place(hunk, first, PATCH_SETTLED_SAME);
	return same;
}

static bool by_being_alone(struct settling *s, size_t i)
{
	struct candidates *hunk = &s->hunks[i];

	/* Without old lines there is no context to check. Any place would do, but an empty file has
	 * only one. */
	if (!hunk->old_count && !s->base->count)
		settle_place(hunk, 0, PATCH_SETTLED_UNIQUE);
	else if (hunk->total == 1)
		settle_place(hunk, hunk->places[0], hunk->narrowed ? PATCH_SETTLED_HEADING :
		                                    PATCH_SETTLED_UNIQUE);
	return hunk->placed;
}

/* A hunk without old lines is believed only when other hunks prove every number right. */
static bool by_number_alone(struct settling *s, size_t i)
{
	int64_t at, offset;

	if (!s->chained || !any_anchor(s, i) || !settle_expects(s, i, &at, &offset) || offset ||
	    (size_t)at > s->base->count)
		return false;
	settle_place(&s->hunks[i], (size_t)at, PATCH_SETTLED_NUMBER);
	return true;
}

/* ---- the rules ---- */

/* What may settle a hunk, strongest first: each is tried on all hunks that are still open before
 * the next.  docs/edits.md has these rows, and a test compares them.  To add one: a value of enum
 * patch_settled, a function, its row here and in the document. */
static const struct settle_rule {
	enum patch_settled settled;
	const char *name, *because;
	bool (*one)(struct settling *s, size_t i); /* places hunk `i`, or leaves it */
	void (*all)(struct settling *s);           /* or looks at all of them together */
} rules[] = {
	{ PATCH_SETTLED_UNIQUE, "unique", "it fits nowhere else", by_being_alone, NULL },
	{ PATCH_SETTLED_NUMBER, "line_number", "the header names exactly this line, and the other "
	  "hunks show that its numbers can be believed", by_number, NULL },
	{ PATCH_SETTLED_END, "end_of_file", "the diff marks its last old line as the file's last, "
	  "and only here the file ends", by_end_of_file, NULL },
	{ PATCH_SETTLED_NEIGHBOUR, "neighbour", "the hunks before and after are off by the same "
	  "distance", by_neighbours, NULL },
	{ PATCH_SETTLED_ORDER, "order", "only one choice keeps the hunks in the diff's own order, "
	  "and their numbers do not run against it", NULL, by_order },
	{ PATCH_SETTLED_HEADING, "heading", "the hunk has no number, and only this place is under "
	  "the line that the text after the `@@` names, or follows the lines that the patch names "
	  "before it", by_heading, NULL },
	{ PATCH_SETTLED_EDGE, "file_edge", "the context is short on one side because the file ends "
	  "there", by_edge, NULL },
	{ PATCH_SETTLED_SAME, "same_result", "all places give the same bytes", by_same_result,
	  NULL },
};

static const struct settle_rule *rule_of(enum patch_settled settled)
{
	const struct settle_rule *rule = rules;

	while (rule->settled != settled)
		rule++;
	return rule;
}

const char *patch_settled_name(enum patch_settled settled)
{
	return rule_of(settled)->name;
}

const char *patch_settled_because(enum patch_settled settled)
{
	return rule_of(settled)->because;
}

static void each_open(struct settling *s, bool (*settle)(struct settling *, size_t))
{
	for (size_t i = 0; i < s->count; i++)
		if (!s->hunks[i].placed && !s->hunks[i].made &&
		    (s->hunks[i].total || settle == by_being_alone))
			settle(s, i);
}

void settle_all(struct settling *s)
{
	for (size_t k = 0; k < ARRAY_LEN(rules); k++) {
		if (rules[k].all)
			rules[k].all(s);
		else
			each_open(s, rules[k].one);
		for (size_t i = 0; i < s->count && rules[k].one == by_number; i++)
			if (!s->hunks[i].placed && !s->hunks[i].old_count)
				by_number_alone(s, i);
		/* What a heading or an edge settled may leave the order one choice. */
		if (rules[k].one == by_edge)
			by_order(s);
	}
	for (size_t i = 0; i < s->count; i++)
		if (s->hunks[i].placed && candidates_are_loose(&s->hunks[i]))
			s->hunks[i].fold = candidates_fold_at(s->base, s->diff, i, &s->hunks[i],
			                                      s->hunks[i].at);
}
