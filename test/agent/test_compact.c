/* SPDX-License-Identifier: Apache-2.0 */
/* Where a conversation is cut, and its record as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/context/context.h"
#include "base/limits.h"
#include "base/mem.h"
#include "history.h"
#include "model/content.h"

static json_t *history;

static int begin(void **state)
{
	(void)state;
	history = json_array();
	return 0;
}

static int finish(void **state)
{
	(void)state;
	json_decref(history);
	return 0;
}

static void some_calls(int from, int count)
{
	for (int i = from; i < from + count; i++) {
		char id[16];

		snprintf(id, sizeof(id), "%d", i);
		called(history, id, "run_shell_command", NULL,
		       json_pack("{s:o}", "output", content_of(id, 1000)));
	}
}

static bool begins_well(size_t first)
{
	json_t *parts = json_object_get(json_array_get(history, first), "parts");

	return !part_get_response(json_array_get(parts, 0));
}

static void a_tail_begins_at_a_prompt_if_it_can(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		said(history, "Next.");
		some_calls(i * 3, 3);
		replied(history, "Done.");
	}
	for (double share = 0; share < 1; share += 0.05) {
		size_t first = compact_tail(history, share);

		assert_true(begins_well(first));
		if (share > 0.15 && share < 0.95)
			assert_int_equal(first % 8, 0);
	}
	assert_in_range(compact_tail(history, 0.3), 48, 64);
}

static void one_long_turn_is_cut_between_calls(void **state)
{
	(void)state;
	said(history, "Do all of it.");
	some_calls(0, 100);
	for (double share = 0; share < 0.95; share += 0.05) {
		size_t first = compact_tail(history, share);

		assert_int_equal(first % 2, 1); /* the model's message with the call */
		assert_true(first > 0);
	}
}

static void the_last_call_is_kept_with_its_result(void **state)
{
	(void)state;
	said(history, "Do it.");
	some_calls(0, 1);
	assert_int_equal(compact_tail(history, 0), 1);
	assert_int_equal(compact_tail(history, 1), 0);
}

static void a_record_fits_whatever_it_is_of(void **state)
{
	static const size_t rooms[] = { 2000, 20000, 60000, 1000000 };

	(void)state;
	said(history, "The goal.");
	some_calls(0, 100);
	for (size_t i = 0; i < ARRAY_LEN(rooms); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);

		compact_transcript_write(&text, history, rooms[i]);
		assert_in_range(text.len, 1000, rooms[i] + 100);
		assert_true(span_starts(buf_view(&text), SPAN("USER: The goal.\n")));
		assert_non_null(memmem(text.data, text.len,
		                       "RESULT run_shell_command {\"output\":\"99",
		                       37));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)
		TEST(a_tail_begins_at_a_prompt_if_it_can),
		TEST(one_long_turn_is_cut_between_calls),
		TEST(the_last_call_is_kept_with_its_result),
		TEST(a_record_fits_whatever_it_is_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
