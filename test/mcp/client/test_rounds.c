/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that need more than one answer: addresses that have to be opened first, and tasks. */
#include "client_bench.h"

/* ---- addresses that have to be opened first ---- */

static bool call_address(struct bench *bench, const char *what, bool completes, json_t **ret,
                         struct err *err)
{
	const struct mcp_wait wait = { .timeout_ms = 60000 };
	_cleanup_free_ char *path = mem_printf("%s/opened", bench->root);
	json_auto_t *arguments = json_pack("{s:s, s:s*}", "what", what, "path",
	                                   completes ? path : NULL);

	bench->person = true;
	close_fake(bench); /* it counts how often it is asked */
	if (!open_fake(bench, "usual", err))
		fail_msg("%s", err->message);
	return mcp_client_call(bench->client, "say", arguments, &wait, ret, err);
}

static void test_an_address_is_opened_first(void **state)
{
	struct bench *bench = *state;
	json_auto_t *result = NULL;
	struct err err = ERR_INIT;

	if (!call_address(bench, "address", /* completes= */ true, &result, &err))
		fail_msg("%s", err.message);
	assert_int_equal(bench->opened, 1);
	/* That it is done ended the question whether it is. */
	assert_true(bench->asked == 0 || bench->withdrawn);
}

static void test_the_user_says_that_it_is_done(void **state)
{
	struct bench *bench = *state;
	json_auto_t *result = NULL;
	struct err err = ERR_INIT;

	bench->finishes = true;
	if (!call_address(bench, "address", /* completes= */ false, &result, &err))
		fail_msg("%s", err.message);
	assert_int_equal(bench->opened, 1);
	assert_int_equal(bench->asked, 1);
}

static void test_addresses_that_lead_nowhere(void **state)
{
	static const struct {
		const char *what, *says;
		bool declines;
		unsigned opened;
	} rows[] = {
		{ "address", "which was not done: Log in", true, 1 },
		{ "address-again", "error -32042", false, 1 }, /* it is tried once more, and no more */
		{ "address-odd", "error -32042", false, 0 },
	};
	struct bench *bench = *state;

	bench->finishes = true;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		json_t *result = NULL;

		bench->opened = 0;
		bench->declines = rows[i].declines;
		assert_false(call_address(bench, rows[i].what, false, &result, &err));
		assert_non_null(strstr(err.message, rows[i].says));
		assert_null(strchr(err.message, '\x1b'));
		assert_int_equal(bench->opened, rows[i].opened);
	}
}

/* ---- tasks ---- */

static bool call_task(struct bench *bench, const char *way, const char *what,
                      const struct mcp_wait *wait, json_t **ret, struct err *err)
{
	json_auto_t *arguments = json_pack("{s:s}", "what", what), *tools = NULL;

	bench->person = true;
	*ret = NULL;
	if (!open_fake(bench, way, err) ||
	    !mcp_client_list(bench->client, MCP_TOOLS, wait, &tools, err))
		fail_msg("%s", err->message);
	return mcp_client_call(bench->client, "work", arguments, wait, ret, err);
}

static const char *result_text(const json_t *result)
{
	const json_t *first = json_array_get(json_object_get(result, "content"), 0);

	return json_string_value(json_object_get(first, "text"));
}

static const char *const task_ways[] = { "tasks", "modern,tasks" };

static void test_tasks_end_as_calls_do(void **state)
{
	static const struct {
		const char *what, *says;
	} rows[] = { { "complete", "worked" }, { "at-once", "done at once" },
		     { "input", "\"name\": \"Ada\"" } };
	struct bench *bench = *state;
	const struct mcp_wait wait = { .timeout_ms = 60000 };

	bench->finishes = true;
	for (size_t way = 0; way < ARRAY_LEN(task_ways); way++) {
		for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
			struct err err = ERR_INIT;
			json_t *result;

			bench->asked = 0;
			if (!call_task(bench, task_ways[way], rows[i].what, &wait, &result, &err))
				fail_msg("%s, %s: %s", task_ways[way], rows[i].what, err.message);
			assert_non_null(strstr(result_text(result), rows[i].says));
			assert_int_equal(bench->asked, strcmp(rows[i].what, "input") == 0);
			json_decref(result);
		}
	}
}

static void test_tasks_that_fail(void **state)
{
	static const struct {
		const char *way, *what, *says;
	} rows[] = {
		{ "tasks", "cancelled", "cancelled the task" },
		{ "tasks", "strange", "a state that hasp does not know" },
		{ "tasks", "nameless", "named none" },
		{ "no-tasks", "complete", "only as a task" },
		{ "modern,tasks", "failed", "error -5: broken" },
		{ "modern,tasks", "cancelled", "cancelled the task" },
		{ "modern,tasks", "strange", "a state that hasp does not know" },
		{ "modern,tasks", "nameless", "named none" },
	};
	const struct mcp_wait wait = { .timeout_ms = 60000 };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		json_t *result;

		assert_false(call_task(*state, rows[i].way, rows[i].what, &wait, &result, &err));
		if (!strstr(err.message, rows[i].says) || strchr(err.message, '\x1b'))
			fail_msg("%s, %s: %s", rows[i].way, rows[i].what, err.message);
	}
}

static void test_tasks_report_progress(void **state)
{
	struct bench *bench = *state;
	const struct mcp_wait wait = { .timeout_ms = 60000, .progress = keep_progress,
		                       .data = bench };
	json_auto_t *result = NULL;
	struct err err = ERR_INIT;

	if (!call_task(bench, "tasks", "progress", &wait, &result, &err))
		fail_msg("%s", err.message);
	assert_true(bench->done == 1 && bench->total == 2);
	assert_string_equal(bench->said, "half");
}

static void test_tasks_are_bounded(void **state)
{
	const struct mcp_wait wait = { .timeout_ms = 500 };
	struct cancel set = cancelled_already();
	const struct mcp_wait gone = { .timeout_ms = 60000, .cancel = &set };
	json_auto_t *arguments = json_pack("{s:s}", "what", "never");
	struct bench *bench = *state;
	struct err err = ERR_INIT;
	json_t *result;

	assert_false(call_task(bench, "tasks", "never", &wait, &result, &err));
	assert_non_null(strstr(err.message, "timeout"));
	assert_false(mcp_client_call(bench->client, "work", arguments, &gone, &result, &err));
	assert_int_equal(err.code, ERR_CANCELLED);
	cancel_release(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_an_address_is_opened_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_user_says_that_it_is_done, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_addresses_that_lead_nowhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tasks_end_as_calls_do, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tasks_that_fail, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tasks_report_progress, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tasks_are_bounded, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, set_up_folder, tear_down_folder);
}
