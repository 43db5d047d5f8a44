/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/private.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* Lines that occur more often say nothing about where a hunk belongs. */
enum { COMMON_LINE = 64, QUOTE_MAX = 160 };

void patch_failure_release(struct patch_failure *failure)
{
	free(failure->expected);
	free(failure->found);
	*failure = (struct patch_failure){ 0 };
}

void explain_hunk(const struct diff_text *diff, size_t hunk, struct patch_failure *failure)
{
	failure->hunk = hunk + 1;
	failure->hunk_count = diff->hunk_count;
	failure->stated_line = diff->hunks[hunk].has_old ? diff->hunks[hunk].old_start : 0;
	failure->diff_line = diff->hunks[hunk].diff_line;
}

/* "Hunk 2 of 3 (line 40 in its header)" */
static char *hunk_title(const struct patch_failure *failure)
{
	if (failure->stated_line)
		return mem_printf("Hunk %zu of %zu (line %zu in its header)", failure->hunk,
		                  failure->hunk_count, failure->stated_line);
	return mem_printf("Hunk %zu of %zu", failure->hunk, failure->hunk_count);
}

/* ---- the nearest places ---- */

struct vote {
	size_t at;
	size_t lines;
};

static int compare_votes_by_place(const void *a, const void *b)
{
	const struct vote *one = a, *other = b;

	return (one->at > other->at) - (one->at < other->at);
}

static int compare_votes_by_lines(const void *a, const void *b)
{
	const struct vote *one = a, *other = b;

	if (one->lines != other->lines)
		return (one->lines < other->lines) - (one->lines > other->lines);
	return compare_votes_by_place(a, b);
}

/* Each old line that is not everywhere votes for the places where it would be in line. */
static size_t collect_votes(const struct fold_index *index, const uint32_t *ids, size_t count,
                            struct vote **ret)
{
	struct vote *votes = NULL;
	size_t n = 0, cap = 0, merged = 0;

	for (size_t i = 0; i < count; i++) {
		size_t from = index->starts[ids[i] - 1], to = index->starts[ids[i]];

		if (to - from > COMMON_LINE)
			continue;
		for (size_t k = from; k < to; k++) {
			if (index->positions[k] < i)
				continue;
			votes = mem_grow(votes, &cap, n + 1, sizeof(*votes));
			votes[n++] = (struct vote){ index->positions[k] - i, 1 };
		}
	}
	if (n)
		qsort(votes, n, sizeof(*votes), compare_votes_by_place);
	for (size_t i = 0; i < n; i++) {
		if (merged && votes[merged - 1].at == votes[i].at)
			votes[merged - 1].lines++;
		else
			votes[merged++] = votes[i];
	}
	if (merged)
		qsort(votes, merged, sizeof(*votes), compare_votes_by_lines);
	*ret = votes;
	return merged;
}

static size_t equal_lines(const struct fold_index *index, const uint32_t *ids, size_t count,
                          size_t at)
{
	size_t equal = 0;

	for (size_t i = 0; i < count && at + i < index->base_count; i++)
		equal += index->base_ids[at + i] == ids[i];
	return equal;
}

/* Fills the candidates with the best places that votes name. */
static void list_nearest(const struct fold_index *index, const uint32_t *ids, size_t count,
                         struct patch_failure *failure)
{
	struct vote *votes = NULL;
	size_t n = collect_votes(index, ids, count, &votes);

	for (size_t i = 0; i < n && failure->candidate_count < 3; i++)
		failure->candidates[failure->candidate_count++] = (struct patch_candidate){
			votes[i].at + 1, equal_lines(index, ids, count, votes[i].at)
		};
	failure->candidates_total = failure->candidate_count;
	free(votes);
}

/* The first old line that the file does not have at the best place. */
static void find_difference(const struct lines *base, const struct diff_text *diff,
                            const struct fold_index *index, const struct hunk *hunk,
                            size_t count, struct patch_failure *failure)
{
	size_t line = failure->candidate_count ? failure->candidates[0].line - 1 : base->count;

	for (size_t i = 0; i < count; i++) {
		const struct hunk_line *old = &diff->lines[hunk->first + i];
		uint32_t id = index->diff_ids[hunk->first + i];
		bool known = id && index->starts[id] > index->starts[id - 1];

		if (!id)
			continue;
		if (failure->candidate_count ? line >= base->count || index->base_ids[line] != id
		                             : !known) {
			failure->expected = mem_dup(old->text.data, old->text.len);
			failure->diff_line = old->diff_line;
			if (line < base->count) {
				struct span body = line_body(lines_at(base, line));

				failure->found = mem_dup(body.data, body.len);
				failure->found_line = line + 1;
			}
			return;
		}
		line++;
	}
}

/* A line for a message: cut, without control characters. */
static char *quote_for_message(const char *text)
{
	struct buf out = BUF_INIT(QUOTE_MAX * 2);
	struct span rest = utf8_head(span_str(text), QUOTE_MAX);

	for (size_t i = 0; i < rest.len; i++)
		buf_char(&out, (unsigned char)rest.data[i] < ' ' && rest.data[i] != '\t'
		                       ? '?' : rest.data[i]);
	if (strlen(text) > rest.len)
		buf_str(&out, "...");
	return buf_steal(&out);
}

static bool say_no_match(const struct patch_failure *failure, size_t old_count, struct err *err)
{
	_cleanup_free_ char *title = hunk_title(failure);
	_cleanup_free_ char *expected = quote_for_message(failure->expected ? failure->expected :
	                                                  "");
	_cleanup_free_ char *found = quote_for_message(failure->found ? failure->found : "");
	_cleanup_free_ char *nearest = NULL, *difference = NULL;

	if (failure->candidate_count)
		nearest = mem_printf(" The nearest place is line %zu, where %zu of %zu old lines "
		                     "are the same.", failure->candidates[0].line,
		                     failure->candidates[0].lines_equal, old_count);
	if (failure->expected && failure->found)
		difference = mem_printf(" First difference: line %zu of the file is `%s`, the diff "
		                        "has `%s`.", failure->found_line, found, expected);
	else if (failure->expected)
		difference = mem_printf(" The file has no line `%s`.", expected);
	return err_set(err, ERR_NO_MATCH,
	               "Invalid Diff: The provided diff content does not match the file's content. "
	               "The context or lines to be removed may be incorrect. %s fits nowhere.%s%s",
	               title, nearest ? nearest : "", difference ? difference : "");
}

bool explain_no_match(const struct lines *base, const struct diff_text *diff, size_t hunk,
                      const struct candidates *found, struct patch_failure *failure,
                      struct err *err)
{
	_cleanup_free_ uint32_t *ids = mem_alloc(diff->line_count, sizeof(*ids));
	/* The second look is for hunks that are indented otherwise, too, and so have no line as the
	 * file has it. */
	static const enum fold folds[] = { FOLD_EXACT, FOLD_COLLAPSE };
	size_t count = 0;

	explain_hunk(diff, hunk, failure);
	for (size_t i = 0; i < ARRAY_LEN(folds) && !failure->found; i++) {
		struct fold_index index;

		free(mem_steal(&failure->expected));
		failure->candidate_count = 0;
		fold_index_build(&index, base, diff, folds[i], false);
		count = candidates_ids(&index, &diff->hunks[hunk], found->count, ids);
		list_nearest(&index, ids, count, failure);
		find_difference(base, diff, &index, &diff->hunks[hunk], found->count, failure);
		fold_index_release(&index);
	}
	say_no_match(failure, count, err);
	return hunks_name_cause(base, diff, hunk, err);
}

/* "12, 40 and more" */
static char *list_lines(const struct patch_failure *failure)
{
	struct buf out = BUF_INIT(512);

	for (size_t i = 0; i < failure->candidate_count; i++)
		buf_printf(&out, "%s%zu", i ? ", " : "", failure->candidates[i].line);
	if (failure->candidates_total > failure->candidate_count)
		buf_str(&out, " and more");
	return buf_steal(&out);
}

static void list_candidates(const struct candidates *found, struct patch_failure *failure)
{
	for (size_t i = 0; i < found->kept && i < ARRAY_LEN(failure->candidates); i++)
		failure->candidates[failure->candidate_count++] =
			(struct patch_candidate){ found->places[i] + 1, found->old_count };
	failure->candidates_total = found->total;
}

bool explain_ambiguous(const struct diff_text *diff, size_t hunk, const struct candidates *found,
                       struct patch_failure *failure, struct err *err)
{
	_cleanup_free_ char *title = NULL, *lines = NULL;
	bool numbered = false; /* the header already has one of the numbers */

	explain_hunk(diff, hunk, failure);
	list_candidates(found, failure);
	title = hunk_title(failure);
	if (!found->old_count)
		return err_set(err, ERR_AMBIGUOUS_DIFF,
		               "Ambiguous Diff: %s adds lines without any context, so nothing says "
		               "where they belong. Add unchanged lines before and after them.",
		               title);
	lines = list_lines(failure);
	for (size_t i = 0; i < failure->candidate_count; i++)
		numbered |= failure->candidates[i].line == failure->stated_line;
	return err_set(err, ERR_AMBIGUOUS_DIFF,
	               "Ambiguous Diff: %s fits %s%zu places in the file (lines %s). Add context "
	               "lines until it fits one%s.",
	               title, found->total > found->kept ? "more than " : "", found->kept, lines,
	               numbered ? "" : ", or give the right line number in its @@ header");
}

bool explain_order(const struct diff_text *diff, size_t hunk, size_t other,
                   const struct candidates *found, struct patch_failure *failure, struct err *err)
{
	_cleanup_free_ char *title = NULL, *lines = NULL;

	explain_hunk(diff, hunk, failure);
	list_candidates(found, failure);
	title = hunk_title(failure);
	lines = list_lines(failure);
	return err_set(err, ERR_AMBIGUOUS_DIFF,
	               "Ambiguous Diff: %s fits %s%zu places in the file (lines %s), and the line "
	               "numbers in the headers contradict the order of the hunks: it comes %s hunk "
	               "%zu in the diff, but its number puts it %s. Send the hunks in the order of "
	               "the file, or add context lines until each fits one place.",
	               title, found->total > found->kept ? "more than " : "", found->kept, lines,
	               hunk < other ? "before" : "after", other + 1,
	               hunk < other ? "behind it" : "in front of it");
}

bool explain_contradiction(const struct diff_text *diff, size_t hunk,
                           const struct candidates *found, size_t expected,
                           struct patch_failure *failure, struct err *err)
{
	_cleanup_free_ char *title = NULL;

	explain_hunk(diff, hunk, failure);
	failure->candidates[0] = (struct patch_candidate){ expected + 1, 0 };
	failure->candidates[1] = (struct patch_candidate){ found->at + 1, found->old_count };
	failure->candidate_count = failure->candidates_total = 2;
	title = hunk_title(failure);
	return err_set(err, ERR_AMBIGUOUS_DIFF,
	               "Ambiguous Diff: %s names line %zu, where the file has similar but "
	               "different lines; the very lines of the hunk stand at line %zu instead. "
	               "Read the file again and say which of the two you mean.",
	               title, expected + 1, found->at + 1);
}

bool explain_lost_lines(const struct diff_text *diff, size_t hunk, const struct candidates *found,
                        struct patch_failure *failure, struct err *err)
{
	_cleanup_free_ char *title = NULL;

	explain_hunk(diff, hunk, failure);
	failure->candidates[0] = (struct patch_candidate){ found->at + 1, found->old_count };
	failure->candidate_count = failure->candidates_total = 1;
	title = hunk_title(failure);
	return err_set(err, ERR_AMBIGUOUS_DIFF,
	               "Ambiguous Diff: %s counts %zu old lines but has %zu, and they stand at "
	               "line %zu: context lines are missing, so the place of the change is not "
	               "certain. Add unchanged lines before and after the change.",
	               title, diff->hunks[hunk].old_count, found->old_count, found->at + 1);
}
