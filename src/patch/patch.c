/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/patch.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "diff/unified.h"
#include "patch/fix.h"
#include "patch/locate.h"
#include "patch/parse.h"
#include "patch/strict.h"

static const char *const match_names[PATCH_MATCH_COUNT] = {
	[PATCH_MATCH_EXACT] = "exact",
	[PATCH_MATCH_TRAILING_SPACE] = "trailing_space",
	[PATCH_MATCH_ALL_SPACE] = "all_space",
	[PATCH_MATCH_LOOKALIKE] = "lookalike",
};

static const char *const settled_names[PATCH_SETTLED_COUNT] = {
	[PATCH_SETTLED_UNIQUE] = "unique",     [PATCH_SETTLED_NUMBER] = "line_number",
	[PATCH_SETTLED_NEIGHBOUR] = "neighbour", [PATCH_SETTLED_ORDER] = "order",
	[PATCH_SETTLED_HEADING] = "heading",   [PATCH_SETTLED_EDGE] = "file_edge",
	[PATCH_SETTLED_SAME] = "same_result",
};

const char *patch_match_name(enum patch_match match)
{
	return match_names[match];
}

const char *patch_settled_name(enum patch_settled settled)
{
	return settled_names[settled];
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
	}
}

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
static bool verify(const struct lines *base, const struct patch_plan *plan, struct err *err)
{
	_cleanup_script_ struct script strict = { 0 };
	_cleanup_buf_ struct buf inserted = BUF_INIT(LIMIT_DIFF_BYTES * 2);

	if (!strict_apply(base, buf_view(&plan->corrected), &strict, &inserted, err))
		return false;
	if (!same_effect(&plan->script, &strict))
		return err_set(err, ERR_INTERNAL,
		               "Internal Error: The corrected patch does not do what the diff says. "
		               "Please review the diff for subtle errors.");
	return true;
}

static bool plan_hunks(const struct lines *base, struct diff_text *diff,
                       const struct patch_options *options, struct patch_plan *plan,
                       struct patch_failure *failure, struct err *err)
{
	_cleanup_free_ struct placement *places = mem_alloc(diff->hunk_count, sizeof(*places));
	struct unified_options print = { .context = options->context ? options->context : 3 };

	if (!hunks_locate(base, diff, options->base_has_bom, places, failure, err) ||
	    !hunks_fix(base, diff, places, options->base_has_bom, plan, failure, err))
		return false;
	if (!unified_print(&plan->corrected, base, &plan->script, &print))
		return err_set(err, ERR_TOO_LARGE, "The diff is too large to verify.");
	report_hunks(diff, places, plan);
	return verify(base, plan, err);
}

bool patch_make(const struct lines *base, struct span diff_bytes,
                const struct patch_options *options, struct patch_plan *ret,
                struct patch_failure *ret_failure, struct err *err)
{
	static const struct patch_options defaults = { 0 };
	struct patch_plan plan = { .inserted = BUF_INIT(LIMIT_DIFF_BYTES * 2),
	                           .corrected = BUF_INIT(LIMIT_DIFF_BYTES * 8) };
	struct diff_text diff;

	options = options ? options : &defaults;
	*ret_failure = (struct patch_failure){ 0 };
	if (!diff_text_parse(diff_bytes, &diff, &ret_failure->diff_line, err))
		return false;
	ret_failure->hunk_count = diff.hunk_count;
	if (!claims_compare(&diff.claims, options, plan.note, sizeof(plan.note), err) ||
	    !plan_hunks(base, &diff, options, &plan, ret_failure, err)) {
		patch_plan_release(&plan);
		diff_text_release(&diff);
		return false;
	}
	diff_text_release(&diff);
	*ret = plan;
	return true;
}
