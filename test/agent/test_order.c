/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls of a turn wait for which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/call/call.h"
#include "base/mem.h"
#include "history.h"

enum { MAX = 8 };

struct one {
	const char *name, *args;
};

/* Those of conversations, too. */
static const struct tool *find_builtin(const char *name)
{
	for (size_t i = 0; i < tool_builtin_count(); i++)
		if (strcmp(tool_builtin_at(i)->name, name) == 0)
			return tool_builtin_at(i);
	return tool_find(name);
}

/* "012": what may begin when nothing has ended, by number. */
static void expect_first(const struct one *calls, size_t count, const char *expected)
{
	struct order_call order[MAX];
	bool ended[MAX] = { 0 };
	char may[MAX + 1] = "";

	for (size_t i = 0; i < count; i++) {
		json_auto_t *args = json_loads(calls[i].args, 0, NULL);

		assert_non_null(args);
		call_order_describe(&order[i], find_builtin(calls[i].name), calls[i].name, args, "/w");
	}
	for (size_t i = 0; i < count; i++)
		if (call_order_may_begin(order, i, ended))
			may[strlen(may)] = (char)('0' + i);
	assert_string_equal(may, expected);
	for (size_t i = 0; i < count; i++)
		call_order_release(&order[i]);
}

#define EXPECT_FIRST(expected, ...)                                        \
	do {                                                               \
		const struct one calls[] = { __VA_ARGS__ };                \
		expect_first(calls, ARRAY_LEN(calls), expected);           \
	} while (0)

#define PATCH(path) { "safe_patch", "{\"file_path\": \"" path "\"}" }
#define READ(path) { "read_file", "{\"file_path\": \"" path "\"}" }
#define RUN { "run_shell_command", "{\"command\": \"make\"}" }
#define SEARCH { "search_files", "{\"pattern\": \"x\"}" }

static void edits_of_one_file_are_in_order(void **state)
{
	(void)state;
	EXPECT_FIRST("0", PATCH("a"), PATCH("a"), PATCH("a"));
	EXPECT_FIRST("01", PATCH("a"), PATCH("b"), PATCH("a"));
}

static void one_file_has_many_names(void **state)
{
	(void)state;
	EXPECT_FIRST("0", PATCH("a"), PATCH("./a"), PATCH("/w/a"), PATCH("b/../a"),
	             PATCH("/w//./a"));
	EXPECT_FIRST("0", PATCH("a"), { "replace", "{\"absolute_path\": \"/w/a\"}" });
	EXPECT_FIRST("01", PATCH("a"), PATCH("/v/a"));
}

static void readings_run_together_and_around_edits(void **state)
{
	(void)state;
	EXPECT_FIRST("012", READ("a"), READ("b"), SEARCH);
	EXPECT_FIRST("02", PATCH("a"), READ("a"), READ("b"));
	EXPECT_FIRST("02", READ("a"), PATCH("a"), PATCH("b"));
	EXPECT_FIRST("0", PATCH("a"), SEARCH);
	EXPECT_FIRST("0", SEARCH, PATCH("a"));
}

static void a_command_waits_for_edits_and_they_for_it(void **state)
{
	(void)state;
	EXPECT_FIRST("0", PATCH("a"), RUN);
	EXPECT_FIRST("01", PATCH("a"), PATCH("b"), RUN, RUN);
	EXPECT_FIRST("0", RUN, PATCH("a"));
	EXPECT_FIRST("012", RUN, RUN, READ("a"));
}

static void many_changes_wait_for_each_of_their_files(void **state)
{
	(void)state;
	EXPECT_FIRST("0", { "apply_changes", "{\"changes\": [{\"kind\": \"move\", \"file_path\": "
	                                     "\"a\", \"new_path\": \"b\"}, {\"kind\": \"patch\", "
	                                     "\"path\": \"c\"}]}" },
	             PATCH("a"), PATCH("b"), PATCH("c"));
}

/* A server's tool may mean anything by `file_path` and `changes`: it may touch all files. */
static void a_servers_arguments_name_no_files(void **state)
{
	static const enum tool_kind kinds[] = { TOOL_KIND_READ, TOOL_KIND_EDIT, TOOL_KIND_OTHER };
	json_auto_t *own = json_pack("{s:s, s:[{s:s}]}", "file_path", "x", "changes", "file_path",
	                             "y");
	json_auto_t *edit = json_pack("{s:s}", "file_path", "a");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct tool tool = { .name = "mcp_s_t", .server = "s", .server_tool = "t",
			                   .kind = kinds[i] };
		struct order_call order[2];
		const bool ended[2] = { false };

		call_order_describe(&order[0], &tool, tool.name, own, "/w");
		call_order_describe(&order[1], find_builtin("safe_patch"), "safe_patch", edit,
		                    "/w");
		assert_false(call_order_may_begin(order, 1, ended));
		call_order_release(&order[0]);
		call_order_release(&order[1]);
	}
}

static void who_asks_for_it_waits_for_all_and_all_for_him(void **state)
{
	(void)state;
	EXPECT_FIRST("0", READ("a"),
	             { "run_shell_command", "{\"command\": \"ls\", \"wait_for_previous\": true}" },
	             READ("b"));
}

static void a_topic_is_named_before_what_follows_begins(void **state)
{
	(void)state;
	EXPECT_FIRST("0", { "update_topic", "{\"strategic_intent\": \"x\"}" }, READ("a"), SEARCH);
	EXPECT_FIRST("01", READ("a"), READ("b"),
	             { "update_topic", "{\"strategic_intent\": \"x\"}" }, READ("c"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edits_of_one_file_are_in_order),
		cmocka_unit_test(one_file_has_many_names),
		cmocka_unit_test(readings_run_together_and_around_edits),
		cmocka_unit_test(a_command_waits_for_edits_and_they_for_it),
		cmocka_unit_test(many_changes_wait_for_each_of_their_files),
		cmocka_unit_test(a_servers_arguments_name_no_files),
		cmocka_unit_test(who_asks_for_it_waits_for_all_and_all_for_him),
		cmocka_unit_test(a_topic_is_named_before_what_follows_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
