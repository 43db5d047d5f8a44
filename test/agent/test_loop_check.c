/* SPDX-License-Identifier: Apache-2.0 */
/* What counts as going in circles, and what does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/call/calls.h"
#include "base/mem.h"
#include "data/json.h"
#include "history.h"

static struct loop_check *check;

static int begin(void **state)
{
	(void)state;
	check = loop_check_new();
	return 0;
}

static int finish(void **state)
{
	(void)state;
	loop_check_free(check);
	return 0;
}

static void call_once(const char *name, const char *path, json_t *result)
{
	json_auto_t *args = json_pack("{s:s}", "file_path", path);
	json_auto_t *taken = result;

	loop_check_call(check, tool_find(name), name, args, taken);
}

static void the_same_call_with_the_same_result_five_times(void **unused)
{
	(void)unused;
	for (int i = 1; i <= 5; i++) {
		assert_null(loop_check_hit(check));
		call_once("read_file", "a", reading_of("/w/a", i, "one", 300));
	}
	assert_non_null(strstr(loop_check_hit(check), "5 times in a row"));
}

static void reading_a_file_that_changes_is_no_circle(void **unused)
{
	char mark[16];

	(void)unused;
	for (int i = 1; i <= 20; i++) {
		snprintf(mark, sizeof(mark), "state %d", i);
		call_once("read_file", "a", reading_of("/w/a", i, mark, 300));
	}
	assert_null(loop_check_hit(check));
}

static void reading_many_files_is_no_circle(void **unused)
{
	char path[16];

	(void)unused;
	for (int i = 1; i <= 60; i++) {
		snprintf(path, sizeof(path), "%d.c", i);
		call_once("read_file", path, reading_of(path, i, "same", 300));
	}
	assert_null(loop_check_hit(check));
}

static void edit_and_failing_test_in_turn_are_no_circle_while_they_differ(void **unused)
{
	char mark[32];

	(void)unused;
	for (int i = 1; i <= 15; i++) {
		snprintf(mark, sizeof(mark), "change %d", i);
		call_once("safe_patch", "a", edit_of("/w/a", i, mark, 300));
		call_once("run_shell_command", "make test",
		          json_pack("{s:s,s:i,s:i}", "output", "1 failed", "exit_code", 1,
		                    "duration_ms", i));
	}
	assert_null(loop_check_hit(check));
}

static void rows_of_calls_over_and_over_are_a_circle(void **unused)
{
	(void)unused;
	for (int period = 2; period <= 6; period++) {
		char path[16];
		int calls = 0;

		loop_check_begin(check);
		for (; !loop_check_hit(check) && calls < 100; calls++) {
			snprintf(path, sizeof(path), "%d", calls % period);
			call_once("read_file", path, reading_of(path, calls + 1, "x", 300));
		}
		assert_in_range(calls, 8, period * 4);
	}
}

static void waiting_for_a_command_may_take_longer(void **unused)
{
	(void)unused;
	for (int i = 1; i <= 10; i++) {
		assert_null(loop_check_hit(check));
		call_once("read_background_output", "1", json_pack("{s:s}", "output", ""));
	}
	assert_non_null(loop_check_hit(check));
}

static void the_same_call_is_not_made_forever(void **unused)
{
	int calls = 0;

	(void)unused;
	for (; !loop_check_hit(check) && calls < 100; calls++)
		call_once("run_shell_command", "date", json_pack("{s:i}", "output", calls));
	assert_int_equal(calls, 30);
}

static void forgiven_means_counted_anew(void **unused)
{
	(void)unused;
	for (int i = 0; i < 5; i++)
		call_once("read_file", "a", reading_of("/w/a", i, "one", 300));
	assert_non_null(loop_check_hit(check));
	loop_check_begin(check);
	for (int i = 0; i < 4; i++)
		call_once("read_file", "a", reading_of("/w/a", i, "one", 300));
	assert_null(loop_check_hit(check));
}

/* ---- text -------------------------------------------------------------------------- */

static void say(const char *text)
{
	/* In pieces, as it comes. */
	for (size_t i = 0, len = strlen(text); i < len; i += 7)
		loop_check_text(check, span_of(text + i, len - i < 7 ? len - i : 7));
}

static void the_same_words_over_and_over_are_a_circle(void **unused)
{
	unsigned times = 0;

	(void)unused;
	for (; !loop_check_hit(check) && times < 100; times++)
		say("I will now look at the file again to see what is wrong with it. ");
	assert_in_range(times, 10, 13);
}

static void long_sentences_over_and_over_are_a_circle(void **unused)
{
	unsigned times = 0;

	(void)unused;
	for (; !loop_check_hit(check) && times < 100; times++)
		say("Let me think about that once more, because it seems to me that the function does "
		    "not do what it should, and so the test cannot pass; I have to change one of them, "
		    "which one I do not know yet.\n");
	assert_in_range(times, 10, 13);
}

static void code_tables_lists_and_rules_repeat_by_nature(void **unused)
{
	(void)unused;
	for (int i = 0; i < 40; i++)
		say("| a cell of a table that is always the same | another cell of it |\n");
	for (int i = 0; i < 40; i++)
		say("- an item of a list that says the same as the one before it did\n");
	for (int i = 0; i < 40; i++)
		say("12. an item of a list that says the same as the one before it did\n");
	for (int i = 0; i < 40; i++)
		say("----------------------------------------------------------------\n");
	say("```c\n");
	for (int i = 0; i < 100; i++)
		say("\tassert_int_equal(function_of_something(argument), 0);\n");
	say("```\n");
	assert_null(loop_check_hit(check));
}

static void prose_is_no_circle(void **unused)
{
	char line[200];

	(void)unused;
	for (int i = 0; i < 300; i++) {
		snprintf(line, sizeof(line),
		         "The test number %d checks that the value %d is found where it belongs, and "
		         "that nothing else is changed by that.\n", i, i * 7919);
		say(line);
	}
	assert_null(loop_check_hit(check));
}

static void replies_do_not_add_up(void **unused)
{
	(void)unused;
	for (int i = 0; i < 40; i++) {
		say("I will now read the next file to see how it uses this function.\n");
		loop_check_text_end(check);
	}
	assert_null(loop_check_hit(check));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)
		TEST(the_same_call_with_the_same_result_five_times),
		TEST(reading_a_file_that_changes_is_no_circle),
		TEST(reading_many_files_is_no_circle),
		TEST(edit_and_failing_test_in_turn_are_no_circle_while_they_differ),
		TEST(rows_of_calls_over_and_over_are_a_circle),
		TEST(waiting_for_a_command_may_take_longer),
		TEST(the_same_call_is_not_made_forever),
		TEST(forgiven_means_counted_anew),
		TEST(the_same_words_over_and_over_are_a_circle),
		TEST(long_sentences_over_and_over_are_a_circle),
		TEST(code_tables_lists_and_rules_repeat_by_nature),
		TEST(prose_is_no_circle),
		TEST(replies_do_not_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
