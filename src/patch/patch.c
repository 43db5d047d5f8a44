/* SPDX-License-Identifier: Apache-2.0 */
/* From the text of a diff to a plan: parse, locate, fix, apply strictly. */
#include "patch/patch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "diff/diff.h"
#include "patch/parse.h"
#include "patch/explain.h"

/* ---- reading the diff ------------------------------------------------------------- */

/* The diff's hunks, and nothing that the file shows to be prose. */
static bool read_diff(const struct lines *base, struct span diff_bytes, struct diff_text *ret,
                      size_t *ret_diff_line, struct err *err)
{
	struct diff_text diff;

	if (!parse_diff(diff_bytes, &diff, ret_diff_line, err))
		return false;
	if (!candidates_read_doubts(base, &diff, ret_diff_line, err)) {
		parse_diff_release(&diff);
		return false;
	}
	*ret = diff;
	return true;
}

/* ---- other readings of hunks ------------------------------------------------------ */

/* What hunks may plainly mean that fit nowhere as they are: the readings of other_reading.h. */

/* Appends the lines of the hunk that are one of `ops`. */
static void append_ops(const struct diff_text *diff, size_t h, const char *ops, struct buf *out)
{
	const struct hunk *hunk = &diff->hunks[h];

	for (size_t i = 0; i < hunk->count; i++) {
		const struct hunk_line *line = &diff->lines[hunk->first + i];

		if (!strchr(ops, line->op))
			continue;
		buf_span(out, line->text);
		buf_char(out, '\n');
	}
}

/* Makes the hunk's lines that are one of `ops` the ends of themselves that the text has. */
static bool shorten_lines(struct diff_text *diff, size_t h, const char *ops, struct span text)
{
	struct hunk *hunk = &diff->hunks[h];
	struct span line;

	for (size_t i = 0; i < hunk->count; i++) {
		struct hunk_line *at = &diff->lines[hunk->first + i];

		if (!strchr(ops, at->op))
			continue;
		if (!line_next(&text, &line) || !span_ends(at->text, line_body(line)))
			return false;
		at->text = span_skip(at->text, at->text.len - line_body(line).len);
	}
	return !text.len;
}

/* The two texts of a hunk as an update would have them. */
struct texts {
	struct buf old_text, text;
};

static void texts_release(struct texts *texts)
{
	buf_release(&texts->old_text);
	buf_release(&texts->text);
}
#define _cleanup_texts_ __attribute__((cleanup(texts_release)))

static void hunk_texts(const struct diff_text *diff, size_t h, const char *new_ops,
                       struct texts *ret)
{
	*ret = (struct texts){ BUF_INIT(LIMIT_DIFF_BYTES), BUF_INIT(LIMIT_DIFF_BYTES) };
	append_ops(diff, h, " -", &ret->old_text);
	append_ops(diff, h, new_ops, &ret->text);
}

/* Takes the line numbers of a listing off all hunks; the lines stay parts of the diff's text.  With
 * `space`, one space after the mark belongs to the listing, too.  False, with the diff in any
 * state, if a hunk has no old line, if an old line has no number, or not one more than the last,
 * or if only some of its added lines have one. */
static bool hunk_reading_unnumbered(struct diff_text *diff, bool space)
{
	for (size_t h = 0; h < diff->hunk_count; h++) {
		_cleanup_texts_ struct texts texts;
		_cleanup_other_reading_ struct other_reading reading = { 0 };

		hunk_texts(diff, h, "+", &texts);
		if (!other_reading_unnumbered(buf_view(&texts.old_text), buf_view(&texts.text),
		                              space, &reading) ||
		    !shorten_lines(diff, h, " -", buf_view(&reading.old_text)) ||
		    !shorten_lines(diff, h, "+", buf_view(&reading.text)))
			return false;
	}
	return diff->hunk_count > 0;
}

/* The number that the lone old line of a hunk has, as it was parsed; 0 if there are more lines. */
static size_t hunk_reading_lone_number(const struct diff_text *diff, size_t h)
{
	_cleanup_texts_ struct texts texts;
	_cleanup_other_reading_ struct other_reading reading = { 0 };

	hunk_texts(diff, h, "", &texts);
	other_reading_unnumbered(buf_view(&texts.old_text), span_of("", 0), /* space= */ false,
	                         &reading);
	return reading.line;
}

/* ---- making a plan ---------------------------------------------------------------- */

static const char *const match_names[PATCH_MATCH_COUNT] = {
	[PATCH_MATCH_EXACT] = "exact",
	[PATCH_MATCH_TRAILING_SPACE] = "trailing_space",
	[PATCH_MATCH_ALL_SPACE] = "all_space",
	[PATCH_MATCH_LOOKALIKE] = "lookalike",
};

const char *patch_match_name(enum patch_match match)
{
	return match_names[match];
}

void patch_plan_release(struct patch_plan *plan)
{
	script_release(&plan->script);
	buf_release(&plan->inserted);
	buf_release(&plan->corrected);
	free(plan->hunks);
	*plan = (struct patch_plan){ 0 };
}

static void report_hunks(const struct diff_text *diff, const struct placement *places,
                         struct patch_plan *plan)
{
	plan->hunks = mem_alloc(diff->hunk_count, sizeof(*plan->hunks));
	plan->hunk_count = diff->hunk_count;
	for (size_t h = 0; h < diff->hunk_count; h++) {
		const struct hunk *hunk = &diff->hunks[h];
		struct patch_hunk_report *report = &plan->hunks[h];

		*report = (struct patch_hunk_report){
			.hunk = h + 1,
			.stated_line = hunk->has_old ? hunk->old_start : 0,
			.line = places[h].at + 1,
			.lines = places[h].old_count,
			.match = fold_match(places[h].fold),
			.settled = places[h].settled,
		};
		for (size_t i = 0; i < places[h].count; i++) {
			report->added += diff->lines[hunk->first + i].op == '+';
			report->removed += diff->lines[hunk->first + i].op == '-';
		}
		report->added += plan->ended_by == h + 1;
		report->removed += plan->ended_by == h + 1;
	}
}

/* ---- numbers of an earlier state ---- */

/* Lines that the edit adds less those that it removes. */
static int64_t edit_delta(const struct edit *edit)
{
	return (int64_t)lines_count(edit->insert) - (int64_t)edit->remove;
}

/* By how much the line, if the edit replaces it, is past what the edit puts there. */
static int64_t past_edit(const struct edit *edit, int64_t line)
{
	int64_t past = line - (int64_t)edit->at - (int64_t)lines_count(edit->insert);

	return line >= (int64_t)edit->at && past > 0 ? past : 0;
}

/* Adds to each hunk's `moved` by how much the line that its number names is moved by a script.
 * `order` has the hunks by their numbers. */
static void move_by(struct diff_text *diff, const size_t *order, const struct script *script)
{
	int64_t delta = 0;
	size_t next = 0;

	for (size_t k = 0; k < diff->hunk_count; k++) {
		struct hunk *hunk = &diff->hunks[order[k]];
		int64_t line = (int64_t)hunk->old_start - 1 + hunk->moved;

		while (next < script->count &&
		       (int64_t)(script->edits[next].at + script->edits[next].remove) <= line)
			delta += edit_delta(&script->edits[next++]);
		hunk->moved += delta;
		if (next < script->count)
			hunk->moved -= past_edit(&script->edits[next], line);
	}
}

static int compare_numbers(const void *a, const void *b, void *hunks)
{
	const struct hunk *one = &((const struct hunk *)hunks)[*(const size_t *)a];
	const struct hunk *other = &((const struct hunk *)hunks)[*(const size_t *)b];

	return (one->old_start > other->old_start) - (one->old_start < other->old_start);
}

/* The numbers are of the state that the caller knows, and the base is not that any more. */
static void move_numbers(struct diff_text *diff, const struct patch_options *options)
{
	_cleanup_free_ size_t *order = mem_alloc(diff->hunk_count, sizeof(*order));

	for (size_t h = 0; h < diff->hunk_count; h++) {
		order[h] = h;
		diff->hunks[h].has_old &= !options->numbers_are_lost;
		diff->hunks[h].has_new &= !options->numbers_are_lost;
	}
	if (options->since_count)
		qsort_r(order, diff->hunk_count, sizeof(*order), compare_numbers, diff->hunks);
	for (size_t i = 0; i < options->since_count; i++)
		move_by(diff, order, options->since[i]);
}

/* ---- making ---- */

/* Whether two scripts do the same; touching edits count as one. */
static bool same_effect(const struct script *a, const struct script *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->edits[i].at != b->edits[i].at || a->edits[i].remove != b->edits[i].remove ||
		    !span_eq(a->edits[i].insert, b->edits[i].insert))
			return false;
	return true;
}

/* Prints the plan as a diff and applies that, strictly, from its text. */
static bool verify_strictly(const struct lines *base, const struct patch_plan *plan,
                            struct err *err)
{
	_cleanup_script_ struct script strict = { 0 };
	_cleanup_buf_ struct buf inserted = BUF_INIT(LIMIT_DIFF_BYTES * 2);

	if (!strict_apply(base, buf_view(&plan->corrected), &strict, &inserted, err))
		return false;
	if (!same_effect(&plan->script, &strict))
		return err_set(err, ERR_INTERNAL,
		               "Internal Error: The corrected patch does not do what the diff "
		               "says. Please review the diff for subtle errors.");
	return true;
}

/* Adds a sentence to the note: of how the text was read. */
static void plan_say(struct patch_plan *plan, const char *sentence)
{
	size_t len = strlen(plan->note);

	plan->reread = true;
	snprintf(plan->note + len, sizeof(plan->note) - len, "%s%s", len ? " " : "", sentence);
}

/* Ends each hunk where it was found to end; what is after it is prose, and the note says so. */
static void plan_hunk_ends(struct diff_text *diff, const struct placement *places,
                           struct patch_plan *plan)
{
	_cleanup_free_ char *sentence = NULL;

	for (size_t h = 0; h < diff->hunk_count; h++)
		hunks_end(diff, h, places[h].count);
	if (!diff->passed_over)
		return;
	sentence = mem_printf("Line %zu of the diff was read as prose, not as a change.",
	                      diff->passed_over);
	plan_say(plan, sentence);
}

/* All hunks were made before: the first stands at line `line`. */
static bool plan_already(struct patch_plan *plan, size_t line)
{
	_cleanup_free_ char *sentence = mem_printf(
		"The old lines are not in the file, and the new ones already are, at line %zu.",
		line);

	plan->already = true;
	plan_say(plan, sentence);
	return true;
}

static void plan_note_end(const struct lines *base, const struct diff_text *diff,
                          const struct placement *places, struct patch_plan *plan)
{
	for (size_t h = 0; h < diff->hunk_count; h++)
		if (diff->hunks[h].at_end && places[h].at + places[h].old_count < base->count) {
			plan_say(plan, "The file goes on after the hunk that is marked as its "
			               "end.");
			return;
		}
}

static void plan_begin(struct patch_plan *plan)
{
	*plan = (struct patch_plan){ .inserted = BUF_INIT(LIMIT_DIFF_BYTES * 2),
	                             .corrected = BUF_INIT(LIMIT_DIFF_BYTES * 8) };
}

/* ---- the hunks that do not fail ---- */

/* Gives hunk `h`, of which `count` lines count, the old lines that the base has from line `at`
 * (0-based) on: what it is once it is corrected. False: the base ends before. */
static bool hunk_correct(const struct lines *base, struct diff_text *diff, size_t h, size_t count,
                         size_t at)
{
	hunks_end(diff, h, count);
	for (size_t i = 0; i < count; i++) {
		struct hunk_line *line = &diff->lines[diff->hunks[h].first + i];

		if (line->op == '+')
			continue;
		if (at == base->count)
			return false;
		line->text = line_body(lines_at(base, at++));
	}
	return true;
}

/* Whether the hunks that do not fail will be made as they are when the others have been corrected
 * where they are nearest to, or left out if they were made already: what the others say of places
 * and of damage is evidence for these, and against them.  Rewrites the diff. */
static bool others_will_fit(const struct lines *base, struct diff_text *diff, bool base_has_bom,
                            const struct placement *places, const struct patch_failure *failure)
{
	_cleanup_free_ bool *keep = mem_alloc(diff->hunk_count, sizeof(*keep));
	_cleanup_free_ struct placement *again = mem_alloc(diff->hunk_count, sizeof(*again));
	struct patch_failure ignored_failure = { 0 };
	struct err ignored = ERR_INIT;
	struct patch_plan plan;
	size_t made;
	bool fit = failure->failed_count && failure->failed_count == failure->failed_total &&
	           failure->failed_total < diff->hunk_count;

	memset(keep, true, diff->hunk_count);
	for (size_t i = 0; i < failure->failed_count && fit; i++) {
		const struct patch_failed_hunk *failed = &failure->failed[i];
		const struct placement *place = &places[failed->hunk - 1];

		keep[failed->hunk - 1] = !place->made;
		fit = place->made ||
		      (failed->code == ERR_NO_MATCH && failed->near_line &&
		       hunk_correct(base, diff, failed->hunk - 1,
		                    place->count ? place->count : place->lost,
		                    failed->near_line - 1));
	}
	if (!fit)
		return false;
	hunks_keep(diff, keep);
	plan_begin(&plan);
	fit = locate_hunks(base, diff, base_has_bom, again, &made, &ignored_failure, &ignored) &&
	      !made &&
	      fix_hunks(base, diff, again, base_has_bom, &plan, &ignored_failure, &ignored);
	patch_plan_release(&plan);
	patch_failure_release(&ignored_failure);
	return fit;
}

/* Some hunks have no place: those that have one may fail for what they add.  Returns false. */
static bool explain_others(const struct lines *base, struct diff_text *diff,
                           const struct patch_options *options, const struct placement *places,
                           struct patch_plan *plan, struct patch_failure *failure, struct err *err)
{
	const bool bom = options->base_has_bom;
	struct err ignored = ERR_INIT;
	size_t known = failure->failed_total;

	for (size_t h = 0; h < diff->hunk_count; h++)
		known += places[h].count > 0;
	if (failure->failed_total && known == diff->hunk_count)
		fix_hunks(base, diff, places, bom, plan, failure, &ignored);
	explain_all_failed(failure, known == diff->hunk_count &&
	                            others_will_fit(base, diff, bom, places, failure), err);
	return false;
}

static bool plan_hunks(const struct lines *base, struct diff_text *diff,
                       const struct patch_options *options, struct patch_plan *plan,
                       struct patch_failure *failure, struct err *err)
{
	_cleanup_free_ struct placement *places = mem_alloc(diff->hunk_count, sizeof(*places));
	struct script_print_options print = { .context = options->context ? options->context : 3 };
	size_t made;

	move_numbers(diff, options);
	if (!locate_hunks(base, diff, options->base_has_bom, places, &made, failure, err))
		return explain_others(base, diff, options, places, plan, failure, err);
	if (made)
		return plan_already(plan, made);
	plan_note_end(base, diff, places, plan);
	if (!fix_hunks(base, diff, places, options->base_has_bom, plan, failure, err)) {
		explain_all_failed(failure, others_will_fit(base, diff, options->base_has_bom,
		                                            places, failure), err);
		return false;
	}
	if (!script_print(&plan->corrected, base, &plan->script, &print))
		return err_set(err, ERR_TOO_LARGE, "The diff is too large to verify.");
	report_hunks(diff, places, plan);
	plan_hunk_ends(diff, places, plan);
	return verify_strictly(base, plan, err);
}

static bool plan_text(const struct lines *base, struct span diff_bytes,
                      const struct patch_options *options, struct patch_plan *plan,
                      struct patch_failure *failure, struct err *err)
{
	struct diff_text diff;
	bool ok;

	plan_begin(plan);
	if (!read_diff(base, diff_bytes, &diff, &failure->diff_line, err))
		return false;
	failure->hunk_count = diff.hunk_count;
	ok = claims_compare(&diff.claims, options, plan->note, sizeof(plan->note), err) &&
	     plan_hunks(base, &diff, options, plan, failure, err);
	parse_diff_release(&diff);
	return ok;
}

/* The one line that a listing's number names is the one that is meant. */
static bool stands_where_listed(const struct diff_text *listed, const struct patch_plan *plan)
{
	for (size_t h = 0; h < listed->hunk_count; h++) {
		size_t number = hunk_reading_lone_number(listed, h);

		if (number && number != plan->hunks[h].line)
			return false;
	}
	return true;
}

/* Starts the plan again; its notes on claims stay. */
static void plan_again(struct patch_plan *plan)
{
	struct patch_plan empty;

	plan_begin(&empty);
	memcpy(empty.note, plan->note, sizeof(empty.note));
	patch_plan_release(plan);
	*plan = empty;
}

/* *ret_read: all hunks have such numbers. */
static bool plan_without_numbers(const struct lines *base, struct span diff_bytes, bool space,
                                 const struct patch_options *options, struct patch_plan *plan,
                                 bool *ret_read)
{
	struct patch_failure failure = { 0 };
	struct diff_text listed, diff;
	struct err ignored = ERR_INIT;
	bool ok;

	*ret_read = false;
	plan_again(plan);
	if (!read_diff(base, diff_bytes, &diff, &failure.diff_line, &ignored))
		return false;
	*ret_read = hunk_reading_unnumbered(&diff, space);
	ok = *ret_read &&
	     plan_hunks(base, &diff, options, plan, &failure, &ignored) &&
	     read_diff(base, diff_bytes, &listed, &failure.diff_line, &ignored);
	if (ok) {
		ok = stands_where_listed(&listed, plan);
		parse_diff_release(&listed);
	}
	if (ok)
		plan_say(plan, "The line numbers in front of the lines were taken off: they are "
		               "not in the file.");
	parse_diff_release(&diff);
	patch_failure_release(&failure);
	return ok;
}

/* The loosest comparison that a hunk needed. */
static enum patch_match loosest_match(const struct patch_plan *plan)
{
	enum patch_match loosest = PATCH_MATCH_EXACT;

	for (size_t i = 0; i < plan->hunk_count; i++)
		if (plan->hunks[i].match > loosest)
			loosest = plan->hunks[i].match;
	return loosest;
}

/* Without the numbers of a listing.  Whether a space after them belongs to it, in all lines, the
 * old ones show: they fit more exactly so, or otherwise.  If they do not show it, and it matters,
 * neither is right. */
static bool plan_unlisted(const struct lines *base, struct span diff_bytes,
                          const struct patch_options *options, struct patch_plan *plan)
{
	struct patch_plan spaced = { 0 };
	bool with, without, spaced_read, read;

	memcpy(spaced.note, plan->note, sizeof(spaced.note));
	with = plan_without_numbers(base, diff_bytes, /* space= */ true, options, &spaced,
	                            &spaced_read);
	without = plan_without_numbers(base, diff_bytes, /* space= */ false, options, plan,
	                               &read);
	if (with != without && spaced_read && read &&
	    loosest_match(with ? &spaced : plan) >= PATCH_MATCH_ALL_SPACE)
		with = without = false;
	if (with && without && loosest_match(&spaced) == loosest_match(plan) &&
	    !same_effect(&spaced.script, &plan->script))
		with = without = false;
	if (with && (!without || loosest_match(&spaced) < loosest_match(plan))) {
		struct patch_plan other = *plan;

		*plan = spaced;
		spaced = other;
	}
	patch_plan_release(&spaced);
	return with || without;
}

/* With escapes for invisible characters as these.  *refusal: they fit so, but some of an added line
 * may mean either. */
static bool plan_with_unseen(const struct lines *base, struct span diff_bytes,
                        const struct patch_options *options, struct patch_plan *plan,
                        struct err *refusal)
{
	struct patch_failure failure = { 0 };
	struct err ignored = ERR_INIT;
	struct diff_text diff;
	size_t doubt;
	bool ok;

	if (!read_diff(base, diff_bytes, &diff, &failure.diff_line, &ignored))
		return false;
	plan_again(plan);
	ok = spelling_mend_unseen(base, &diff, &doubt) &&
	     plan_hunks(base, &diff, options, plan, &failure, &ignored);
	parse_diff_release(&diff);
	patch_failure_release(&failure);
	if (!ok || !doubt)
		return ok;
	return err_set(refusal, ERR_INVALID_DIFF,
	               "Invalid Diff: line %zu of the diff has an escape such as \\u{200b}, and so "
	               "has the removed line that it replaces, where it stands for a character of "
	               "the file. It may mean that character, or the escape as it is written. "
	               "Repeat the text next to it unchanged, or leave it out.", doubt);
}

/* With one level of escapes less. */
static bool plan_unescaped(const struct lines *base, struct span diff_bytes,
                           const struct patch_options *options, struct patch_plan *plan)
{
	static const enum spelling_escapes levels[] = { SPELLING_CODE, SPELLING_QUOTES };

	for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
		struct patch_failure failure = { 0 };
		struct err ignored = ERR_INIT;
		struct diff_text diff;
		bool ok;

		if (!read_diff(base, diff_bytes, &diff, &failure.diff_line, &ignored))
			return false;
		plan_again(plan);
		ok = spelling_mend_escapes(levels[i], &diff) &&
		     plan_hunks(base, &diff, options, plan, &failure, &ignored) &&
		     loosest_match(plan) <= PATCH_MATCH_TRAILING_SPACE;
		parse_diff_release(&diff);
		patch_failure_release(&failure);
		if (!ok)
			continue;
		plan_say(plan, "All lines had a backslash before every quotation mark; these were "
		               "removed.");
		return true;
	}
	return false;
}

bool patch_make(const struct lines *base, struct span diff_bytes,
                const struct patch_options *options, struct patch_plan *ret,
                struct patch_failure *ret_failure, struct err *err)
{
	static const struct patch_options defaults = { 0 };
	struct err why = ERR_INIT;
	struct patch_plan plan;
	bool ok;

	options = options ? options : &defaults;
	*ret_failure = (struct patch_failure){ 0 };
	ok = plan_text(base, diff_bytes, options, &plan, ret_failure, &why);
	if (!ok) {
		struct err refusal = ERR_INIT;

		ok = plan_with_unseen(base, diff_bytes, options, &plan, &refusal);
		if (refusal.code)
			why = refusal;
		if (ok)
			patch_failure_release(ret_failure);
	}
	if (!ok && why.code == ERR_NO_MATCH) {
		ok = plan_unlisted(base, diff_bytes, options, &plan) ||
		     plan_unescaped(base, diff_bytes, options, &plan);
		if (ok)
			patch_failure_release(ret_failure);
	}
	if (!ok) {
		patch_plan_release(&plan);
		*err = why;
		return false;
	}
	*ret = plan;
	return true;
}
