/* SPDX-License-Identifier: Apache-2.0 */
/* Large outputs go into files, and nothing is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/context/context.h"
#include "base/mem.h"
#include "data/json.h"
#include "history.h"

static char *top, *folder;
static json_t *history;

static int begin(void **state)
{
	const char *base = getenv("TMPDIR");

	(void)state;
	top = mem_printf("%s/hasp-mask-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(top));
	folder = mem_printf("%s/deep/er", top);
	history = json_array();
	said(history, "Do it.");
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int finish(void **state)
{
	(void)state;
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(top);
	free(folder);
	json_decref(history);
	return 0;
}

static struct mask_options options(void)
{
	struct mask_options options = MASK_OPTIONS_DEFAULT;

	options.folder = folder;
	return options;
}

static json_t *output_of(size_t bytes)
{
	return json_pack("{s:b,s:s,s:i,s:o}", "success", 1, "message", "It ended.", "exit_code", 1,
	                 "output", content_of("begin", bytes));
}

static void many_calls(int count, size_t bytes)
{
	for (int i = 0; i < count; i++) {
		char id[16];

		snprintf(id, sizeof(id), "id-%d", i);
		called(history, id, "run_shell_command", NULL, output_of(bytes));
	}
}

static void expect_file(const char *name, const json_t *whole)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", folder, name);
	json_auto_t *kept = json_load_file(path, 0, NULL);
	struct stat st;

	assert_non_null(kept);
	assert_true(json_equal(kept, (json_t *)whole));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void old_results_become_pointers_and_new_ones_stay(void **state)
{
	struct mask_options mask = options();
	json_auto_t *whole = output_of(40000);

	(void)state;
	many_calls(10, 40000); /* 10,000 tokens each */
	assert_int_equal(mask_outputs(&mask, history, NULL), 5);
	for (size_t i = 0; i < 10; i++) {
		json_t *response = response_at(history, 2 + 2 * i);

		assert_int_equal(json_integer_value(json_object_get(response, "exit_code")), 1);
		if (i < 5)
			assert_true(context_weight(response) < 1200);
		else
			assert_true(json_equal(response, whole));
	}
	assert_non_null(strstr(json_string_value(json_object_get(response_at(history, 2), "masked")),
	                       "/deep/er/run_shell_command_id-0.json"));
	expect_file("run_shell_command_id-0.json", whole);
}

static void nothing_is_masked_for_little(void **state)
{
	struct mask_options mask = options();

	(void)state;
	many_calls(7, 40000); /* 20,000 tokens beyond those protected */
	assert_int_equal(mask_outputs(&mask, history, NULL), 0);
	many_calls(1, 40000);
	assert_int_equal(mask_outputs(&mask, history, NULL), 3);
	assert_int_equal(mask_outputs(&mask, history, NULL), 0);
}

static void the_last_turn_stays_whatever_its_size(void **state)
{
	struct mask_options mask = options();

	(void)state;
	many_calls(1, 400000);
	assert_int_equal(mask_outputs(&mask, history, NULL), 0);
	mask.protect_latest = false;
	mask.protect_tokens = 0;
	assert_int_equal(mask_outputs(&mask, history, NULL), 1);
}

static void without_a_file_nothing_is_taken_away(void **state)
{
	struct mask_options mask = options();
	json_auto_t *before = NULL;

	(void)state;
	many_calls(10, 40000);
	before = json_deep_copy(history);
	mask.folder = "/proc/self/nothing/here";
	assert_int_equal(mask_outputs(&mask, history, NULL), 0);
	mask.folder = NULL;
	assert_int_equal(mask_outputs(&mask, history, NULL), 0);
	assert_true(json_equal(before, history));
}

static void a_link_in_the_place_of_a_file_is_not_followed(void **state)
{
	struct mask_options mask = options();
	_cleanup_free_ char *target = mem_printf("%s/target", top);
	_cleanup_free_ char *link_path = mem_printf("%s/deep/er/run_shell_command_id-0.txt", top);
	_cleanup_free_ char *above = mem_printf("%s/deep", top);
	json_auto_t *result = output_of(50000);

	(void)state;
	assert_int_equal(mkdir(above, 0700) | mkdir(folder, 0700), 0);
	assert_int_equal(symlink(target, link_path), 0);
	assert_true(mask_truncate_output(&mask, tool_find("run_shell_command"), "run_shell_command",
	                                 "id-0", result, NULL));
	assert_int_equal(access(target, F_OK), -1);
}

static void a_long_output_keeps_head_and_tail(void **state)
{
	struct mask_options mask = options();
	json_auto_t *result = output_of(100000);
	struct mask_truncated bytes;
	struct span shown;

	(void)state;
	assert_true(mask_truncate_output(&mask, tool_find("run_shell_command"), "../run", "x/../y",
	                                 result, &bytes));
	shown = json_span(json_object_get(result, "output"));
	assert_int_equal(bytes.before, 100000);
	assert_int_equal(bytes.after, shown.len);
	assert_in_range(shown.len, 40000, 41000);
	assert_true(span_starts(shown, SPAN("begin")));
	assert_non_null(memmem(shown.data, shown.len, "60000 bytes left out", 20));
	assert_non_null(memmem(shown.data, shown.len, "/deep/er/___run_x____y.txt", 26));
	assert_false(mask_truncate_output(&mask, NULL, "x", "y", json_object_get(result, "message"),
	                                  &bytes));
}

static void contents_of_files_are_left_to_their_tools(void **state)
{
	struct mask_options mask = options();
	json_auto_t *result = reading_of("/w/a", 1, "a", 100000);

	(void)state;
	assert_false(mask_truncate_output(&mask, tool_find("read_file"), "read_file", "1", result,
	                                  NULL));
	assert_true(mask_truncate_output(&mask, NULL, "mcp_x_y", "1", result, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)
		TEST(old_results_become_pointers_and_new_ones_stay),
		TEST(nothing_is_masked_for_little),
		TEST(the_last_turn_stays_whatever_its_size),
		TEST(without_a_file_nothing_is_taken_away),
		TEST(a_link_in_the_place_of_a_file_is_not_followed),
		TEST(a_long_output_keeps_head_and_tail),
		TEST(contents_of_files_are_left_to_their_tools),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
