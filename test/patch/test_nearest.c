/* SPDX-License-Identifier: Apache-2.0 */
/* What explaining costs, and what it names: the nearest place in a million lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/mem.h"
#include "patch/patch.h"

enum { LINES = 1000000, PLACE = 700000 };

/* Processor time that is far more than one pass takes, also with sanitizers on a slow machine, and far
 * less than a pass for each line of a text. */
#define SECONDS_MAX 4.0

static struct buf text;
static struct lines file;

static void put_line(struct buf *out, size_t i, const char *words)
{
	static const char *const names[] = { "alpha", "beta", "gamma", "delta", "epsilon" };

	buf_printf(out, "    %s_%s = %s(%zu);\n", names[i % 5], names[i / 5 % 5], words, i);
}

static int make_file(void **state)
{
	(void)state;
	text = (struct buf)BUF_INIT((size_t)1 << 28);
	for (size_t i = 0; i < LINES; i++)
		put_line(&text, i, "parse_request");
	lines_index(&file, buf_view(&text));
	return 0;
}

static int free_file(void **state)
{
	(void)state;
	lines_release(&file);
	buf_release(&text);
	return 0;
}

static double seconds_since(clock_t begun)
{
	return (double)(clock() - begun) / CLOCKS_PER_SEC;
}

static void a_near_miss_is_found_in_one_pass(void **state)
{
	_cleanup_buf_ struct buf wanted = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
	struct patch_failure failure = { 0 };
	clock_t begun = clock();

	(void)state;
	for (size_t i = 0; i < 200; i++)
		put_line(&wanted, PLACE + i, i == 150 ? "parse_response" : "parse_request");
	patch_explain_absence(&file, buf_view(&wanted), &failure, &out);
	assert_true(seconds_since(begun) < SECONDS_MAX);
	assert_int_equal(failure.candidates[0].line, PLACE + 1);
	assert_int_equal(failure.candidates[0].lines_equal, 199);
	assert_int_equal(failure.found_line, PLACE + 151);
	assert_non_null(strstr(out.data, "199 of 200 lines are the same"));
	patch_failure_release(&failure);
}

static void a_line_that_is_only_like_one_is_found_in_one_pass(void **state)
{
	_cleanup_buf_ struct buf wanted = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
	struct patch_failure failure = { 0 };
	clock_t begun = clock();

	(void)state;
	for (size_t i = 0; i < 50; i++)
		put_line(&wanted, PLACE + i, "parse_requests");
	patch_explain_absence(&file, buf_view(&wanted), &failure, &out);
	assert_true(seconds_since(begun) < SECONDS_MAX);
	assert_int_equal(failure.found_line, PLACE + 1);
	patch_failure_release(&failure);
}

static void whether_it_is_done_already_takes_one_pass(void **state)
{
	_cleanup_buf_ struct buf old = BUF_INIT(1 << 20), new = BUF_INIT(1 << 20);
	_cleanup_other_reading_ struct other_reading reading = { 0 };
	clock_t begun = clock();

	(void)state;
	for (size_t i = 0; i < 60; i++) {
		buf_printf(&old, "unlike_anything_else_%zu();\n", i);
		put_line(&new, PLACE + i, "parse_request");
	}
	other_reading_done(&file, buf_view(&old), buf_view(&new), &reading);
	assert_true(seconds_since(begun) < SECONDS_MAX);
}

static void many_hunks_that_fail_are_counted_and_the_first_explained(void **state)
{
	_cleanup_buf_ struct buf diff = BUF_INIT(1 << 20);
	struct patch_failure failure;
	struct patch_plan plan = { 0 };
	struct err err = ERR_INIT;
	clock_t begun = clock();

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		buf_printf(&diff, "@@\n-");
		put_line(&diff, PLACE + 10 * i, "parse_response");
		buf_printf(&diff, "+gone();\n ");
		put_line(&diff, PLACE + 10 * i + 1, "parse_request");
	}
	assert_false(patch_make(&file, buf_view(&diff), NULL, &plan, &failure, &err));
	assert_true(seconds_since(begun) < 4 * SECONDS_MAX);
	assert_int_equal(err.code, ERR_NO_MATCH);
	assert_int_equal(failure.failed_total, 40);
	assert_in_range(failure.failed_count, 2, LIMIT_FAILED_HUNKS);
	assert_int_equal(failure.failed[1].hunk, 2);
	assert_int_equal(failure.failed[1].found_line, PLACE + 11);
	patch_failure_release(&failure);
}

/* Two lines in turn, and one of them twice: only there does the hunk fit. */
static void a_hunk_of_lines_that_are_everywhere_is_found_in_one_pass(void **state)
{
	enum { PAIRS = 200000, TWICE = 150000, AROUND = 8 };
	_cleanup_buf_ struct buf diff = BUF_INIT(1 << 16), often = BUF_INIT(1 << 22);
	struct patch_failure failure;
	struct patch_plan plan = { 0 };
	struct err err = ERR_INIT;
	struct lines base;
	clock_t begun;

	(void)state;
	for (size_t i = 0; i < PAIRS; i++)
		buf_str(&often, i == TWICE ? "even\neven\nodd\n" : "even\nodd\n");
	lines_index(&base, buf_view(&often));
	buf_str(&diff, "@@\n");
	for (size_t i = 0; i < AROUND; i++)
		buf_str(&diff, " even\n odd\n");
	buf_str(&diff, "-even\n+EVEN\n");
	for (size_t i = 0; i < AROUND; i++)
		buf_str(&diff, " even\n odd\n");
	begun = clock();
	if (!patch_make(&base, buf_view(&diff), NULL, &plan, &failure, &err))
		fail_msg("%s", err.message);
	assert_true(seconds_since(begun) < SECONDS_MAX);
	assert_int_equal(plan.script.count, 1);
	assert_int_equal(plan.script.edits[0].at, 2 * TWICE);
	patch_plan_release(&plan);
	patch_failure_release(&failure);
	lines_release(&base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_near_miss_is_found_in_one_pass),
		cmocka_unit_test(a_line_that_is_only_like_one_is_found_in_one_pass),
		cmocka_unit_test(whether_it_is_done_already_takes_one_pass),
		cmocka_unit_test(many_hunks_that_fail_are_counted_and_the_first_explained),
		cmocka_unit_test(a_hunk_of_lines_that_are_everywhere_is_found_in_one_pass),
	};

	return cmocka_run_group_tests(tests, make_file, free_file);
}
