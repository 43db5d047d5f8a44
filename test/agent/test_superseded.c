/* SPDX-License-Identifier: Apache-2.0 */
/* What is taken out of a conversation, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/context/context.h"
#include "base/mem.h"
#include "data/json.h"
#include "history.h"

static struct superseded *superseded;
static json_t *history;

static int begin(void **state)
{
	(void)state;
	superseded = mask_superseded_new();
	history = json_array();
	said(history, "Do it.");
	return 0;
}

static int finish(void **state)
{
	(void)state;
	mask_superseded_free(superseded);
	json_decref(history);
	return 0;
}

static bool has_content(const json_t *holder)
{
	return json_string_length(json_object_get(holder, "content")) > 0;
}

static json_t *state_at(size_t message)
{
	return json_object_get(response_at(history, message), "latest_file_state");
}

static void the_newest_content_stays_and_identities_of_all(void **unused)
{
	(void)unused;
	called(history, "1", "read_file", NULL, reading_of("/w/a", 1, "one", 8000));
	mask_superseded_new_messages(superseded, history);
	called(history, "2", "safe_patch", NULL, edit_of("/w/a", 2, "two", 8000));
	mask_superseded_everywhere(superseded, history);
	assert_false(has_content(response_at(history, 2)));
	assert_true(has_content(state_at(4)));
	assert_int_equal(json_integer_value(json_object_get(response_at(history, 2), "version")),
	                 1);
	assert_int_equal(json_string_length(json_object_get(response_at(history, 2), "sha256")),
	                 64);
	assert_non_null(json_object_get(response_at(history, 2), "content_left_out"));
	assert_null(json_object_get(state_at(4), "content_left_out"));
}

static void what_was_sent_stays_until_the_conversation_begins_anew(void **unused)
{
	char mark[16];

	(void)unused;
	called(history, "0", "read_file", NULL, reading_of("/w/a", 1, "v1", 8000));
	for (int i = 2; i <= 11; i++) {
		json_auto_t *sent = json_copy(history);

		snprintf(mark, sizeof(mark), "v%d", i);
		called(history, mark, "safe_patch", NULL, edit_of("/w/a", i, mark, 8000));
		assert_int_equal(mask_superseded_new_messages(superseded, history), 0);
		for (size_t k = 0; k < json_array_size(sent); k++)
			assert_ptr_equal(json_array_get(sent, k), json_array_get(history, k));
	}
	assert_int_equal(mask_superseded_everywhere(superseded, history), 80000);
	assert_true(has_content(state_at(json_array_size(history) - 1)));
}

static void a_result_in_the_hands_of_others_is_not_changed(void **unused)
{
	json_auto_t *held = reading_of("/w/a", 1, "one", 5000);

	(void)unused;
	called(history, "1", "read_file", NULL, json_incref(held));
	called(history, "2", "safe_patch", NULL, edit_of("/w/a", 2, "two", 5000));
	assert_int_equal(mask_superseded_everywhere(superseded, history), 5000);
	assert_true(has_content(held));
	assert_false(has_content(response_at(history, 2)));
}

static void all_of_it_goes_when_it_must(void **unused)
{
	(void)unused;
	called(history, "1", "read_file", NULL, reading_of("/w/small", 1, "one", 2000));
	mask_superseded_new_messages(superseded, history);
	called(history, "2", "read_file", NULL, reading_of("/w/large", 2, "large", 90000));
	mask_superseded_new_messages(superseded, history);
	called(history, "3", "safe_patch", NULL, edit_of("/w/small", 3, "two", 2000));
	assert_int_equal(mask_superseded_everywhere(superseded, history), 2000);
}

static void a_failed_edit_brings_the_new_state_once(void **unused)
{
	json_t *failed = edit_of("/w/a", 3, "theirs", 5000);

	(void)unused;
	json_object_set_new(failed, "success", json_false());
	called(history, "1", "read_file", NULL, reading_of("/w/a", 1, "mine", 5000));
	called(history, "2", "safe_patch", NULL, failed);
	mask_superseded_everywhere(superseded, history);
	assert_false(has_content(response_at(history, 2)));
	assert_true(has_content(state_at(4)));
}

static void a_range_makes_no_whole_content_go(void **unused)
{
	json_t *range = reading_of("/w/a", 2, "part", 3000);

	(void)unused;
	json_object_set_new(range, "truncated", json_true());
	called(history, "1", "read_file", NULL, reading_of("/w/a", 1, "whole", 5000));
	called(history, "2", "read_file", NULL, range);
	assert_int_equal(mask_superseded_everywhere(superseded, history), 0);
	called(history, "3", "read_file", NULL, reading_of("/w/a", 3, "again", 5000));
	assert_int_equal(mask_superseded_everywhere(superseded, history), 8000);
}

static void a_file_that_is_gone_needs_no_content(void **unused)
{
	json_t *gone = edit_of("/w/a", 2, "", 0);
	json_t *state = json_object_get(gone, "latest_file_state");

	(void)unused;
	json_object_set_new(state, "content", json_null());
	json_object_set_new(state, "sha256", json_null());
	json_object_set_new(state, "exists", json_false());
	called(history, "1", "read_file", NULL, reading_of("/w/a", 1, "whole", 5000));
	called(history, "2", "apply_changes", NULL, gone);
	assert_int_equal(mask_superseded_everywhere(superseded, history), 5000);
}

static void an_edit_that_returns_no_content_leaves_the_last_one(void **unused)
{
	json_t *quiet = edit_of("/w/a", 2, "", 0);

	(void)unused;
	json_object_set_new(json_object_get(quiet, "latest_file_state"), "content", json_null());
	called(history, "1", "read_file", NULL, reading_of("/w/a", 1, "whole", 5000));
	called(history, "2", "safe_patch", NULL, quiet);
	assert_int_equal(mask_superseded_everywhere(superseded, history), 0);
}

static void what_the_call_wrote_is_not_said_again(void **unused)
{
	json_t *args = json_object();

	(void)unused;
	json_object_set_new(args, "content", content_of("new", 4000));
	called(history, "1", "write_file", args, edit_of("/w/a", 1, "new", 4000));
	assert_int_equal(mask_superseded_new_messages(superseded, history), 4000);
	assert_string_equal(json_string_value(json_object_get(state_at(2), "content_left_out")),
	                    "As written: the content that the call sent.");
}

static void of_parallel_results_the_highest_version_stays(void **unused)
{
	json_t *parts;

	(void)unused;
	called(history, "1", "safe_patch", NULL, edit_of("/w/a", 9, "late", 4000));
	parts = json_object_get(json_array_get(history, 2), "parts");
	json_array_append_new(parts, json_pack("{s:{s:s,s:s,s:o}}", "functionResponse", "id", "2",
	                                       "name", "safe_patch", "response",
	                                       edit_of("/w/a", 8, "early", 4000)));
	assert_int_equal(mask_superseded_new_messages(superseded, history), 4000);
	assert_true(has_content(state_at(2)));
}

static void many_files_of_one_result_go_one_by_one(void **unused)
{
	json_t *list = json_array(), *wrapped = json_object();

	(void)unused;
	json_array_append_new(list, reading_of("/w/a", 1, "a", 4000));
	json_array_append_new(list, reading_of("/w/b", 2, "b", 5000));
	json_array_append_new(list, reading_of("/w/c", 3, "c", 6000));
	json_object_set_new(wrapped, "output", list);
	called(history, "1", "read_many_files", NULL, wrapped);
	called(history, "2", "update_file", NULL, edit_of("/w/a", 4, "a2", 4000));
	assert_int_equal(mask_superseded_everywhere(superseded, history), 4000);
	called(history, "3", "replace", NULL, edit_of("/w/c", 5, "c2", 6000));
	assert_int_equal(mask_superseded_everywhere(superseded, history), 6000);
	list = json_object_get(response_at(history, 2), "output");
	assert_false(has_content(json_array_get(list, 0)));
	assert_true(has_content(json_array_get(list, 1)));
	assert_false(has_content(json_array_get(list, 2)));
}

static void a_servers_tool_makes_nothing_go(void **unused)
{
	(void)unused;
	called(history, "1", "read_file", NULL, reading_of("/w/a", 1, "true", 5000));
	called(history, "2", "mcp_evil_read_file", NULL, reading_of("/w/a", 99, "false", 5000));
	called(history, "3", "run_shell_command", NULL, reading_of("/w/a", 100, "false", 5000));
	assert_int_equal(mask_superseded_everywhere(superseded, history), 0);
}

/* ---- a resumed session ------------------------------------------------------------- */

static uint32_t next_random(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

static void add_something(json_t *to, uint32_t *seed, int version)
{
	static const char *const paths[] = { "/w/a", "/w/b", "/w/c", "/w/d" };
	static const size_t sizes[] = { 100, 700, 5000, 40000 };
	const char *path = paths[next_random(seed, 4)];
	size_t bytes = sizes[next_random(seed, 4)];
	char id[16];

	snprintf(id, sizeof(id), "%d", version);
	switch (next_random(seed, 4)) {
	case 0:
		called(to, id, "read_file", NULL, reading_of(path, version, id, bytes));
		break;
	case 1:
		called(to, id, "safe_patch", NULL, edit_of(path, version, id, bytes));
		break;
	case 2:
		replied(to, "Said.");
		said(to, "More.");
		break;
	default:
		called(to, id, "run_shell_command", NULL,
		       json_pack("{s:o}", "output", content_of(id, bytes)));
	}
}

static void one_by_one_or_all_at_once_is_the_same(void **unused)
{
	(void)unused;
	for (uint32_t seed = 1; seed <= 60; seed++) {
		json_auto_t *whole = json_array();
		json_auto_t *stepwise = NULL;
		struct superseded *at_once = mask_superseded_new(),
				  *stepping = mask_superseded_new();
		uint32_t random = seed;

		said(whole, "Do it.");
		for (int i = 1; i <= 40; i++)
			add_something(whole, &random, i);
		stepwise = json_array();
		for (size_t i = 0; i < json_array_size(whole); i++) {
			json_array_append(stepwise, json_array_get(whole, i));
			if (i % 2 == 0) /* the user's messages: a request goes out */
				mask_superseded_new_messages(stepping, stepwise);
		}
		mask_superseded_new_messages(at_once, whole);
		assert_true(json_equal(whole, stepwise));
		mask_superseded_free(at_once);
		mask_superseded_free(stepping);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)
		TEST(the_newest_content_stays_and_identities_of_all),
		TEST(what_was_sent_stays_until_the_conversation_begins_anew),
		TEST(a_result_in_the_hands_of_others_is_not_changed),
		TEST(all_of_it_goes_when_it_must),
		TEST(a_failed_edit_brings_the_new_state_once),
		TEST(a_range_makes_no_whole_content_go),
		TEST(a_file_that_is_gone_needs_no_content),
		TEST(an_edit_that_returns_no_content_leaves_the_last_one),
		TEST(what_the_call_wrote_is_not_said_again),
		TEST(of_parallel_results_the_highest_version_stays),
		TEST(many_files_of_one_result_go_one_by_one),
		TEST(a_servers_tool_makes_nothing_go),
		TEST(one_by_one_or_all_at_once_is_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
