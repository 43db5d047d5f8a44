/* SPDX-License-Identifier: Apache-2.0 */
/* What an edit breaks, with an editor that is played: what is reported, when, and how long the wait
 * for it is.  Waits are counted in lists that were asked for, or by bounds that only a wait would
 * exceed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "ide/link.h"

enum {
	LONG_MS = 60000, /* a wait that would fail the test */
	SHORT_MS = 400,
};

struct editor {
	json_t *shown;  /* its problems of every file */
	unsigned lists; /* it was asked so often */
	bool fails;
	/* At the nth list of them: */
	unsigned change_at;
	json_t *changed;              /* what it shows from then on */
	struct ide_problems *announces_to; /* or NULL */
	const char *path;
};

static void announce(struct ide_problems *problems, const char *path)
{
	json_auto_t *files = json_pack("[s, i]", path, 7);

	ide_problems_announce(problems, files);
}

static bool list(void *data, const char *path, json_t **ret)
{
	struct editor *editor = data;

	(void)path;
	if (editor->fails)
		return false;
	if (++editor->lists == editor->change_at) {
		json_decref(editor->shown);
		editor->shown = json_incref(editor->changed);
		if (editor->announces_to)
			announce(editor->announces_to, editor->path);
	}
	*ret = json_incref(editor->shown);
	return true;
}

static json_t *problem(const char *message, int line)
{
	return json_pack("{s:s, s:i, s:i, s:s, s:s}", "file", "/a.c", "line", line, "column", 1,
	                 "severity", "Error", "message", message);
}

struct fixture {
	struct editor editor;
	struct ide_problems *problems;
};

static int begin(void **state)
{
	struct fixture *fixture = mem_alloc(1, sizeof(*fixture));

	fixture->editor.shown = json_pack("[o]", problem("old", 7));
	fixture->editor.changed = json_pack("[o, o]", problem("new", 1), problem("old", 8));
	fixture->problems = ide_problems_new(list);
	*state = fixture;
	return 0;
}

static int end(void **state)
{
	struct fixture *fixture = *state;

	json_decref(fixture->editor.shown);
	json_decref(fixture->editor.changed);
	ide_problems_free(fixture->problems);
	free(fixture);
	return 0;
}

static void expect(char *text, const char *expected)
{
	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
	free(text);
}

static char *edit(struct fixture *fixture, const char *path, unsigned wait_ms)
{
	ide_problems_before(fixture->problems, &fixture->editor, path);
	return ide_problems_after(fixture->problems, &fixture->editor, path, wait_ms);
}

static const char report[] = "The editor reports new problems in /a.c:\nline 1, column 1: Error: new";

static void a_problem_ends_the_wait(void **state)
{
	struct fixture *fixture = *state;

	fixture->editor.change_at = 5;
	expect(edit(fixture, "/a.c", LONG_MS), report);
	assert_int_equal(fixture->editor.lists, 5);
	/* It was reported: it is an old one now. */
	announce(fixture->problems, "/a.c");
	expect(ide_problems_late(fixture->problems, &fixture->editor), NULL);
	expect(edit(fixture, "/a.c", 0), NULL);
}

static void an_announcement_without_a_problem_ends_the_wait(void **state)
{
	struct fixture *fixture = *state;

	fixture->editor = (struct editor){ .shown = fixture->editor.shown, .change_at = 3,
		.changed = fixture->editor.shown, .announces_to = fixture->problems,
		.path = "file:///a%2ec" };
	json_incref(fixture->editor.shown);
	expect(edit(fixture, "/a.c", LONG_MS), NULL);
	assert_in_range(fixture->editor.lists, 4, 5);
}

static void *announce_later(void *data)
{
	struct fixture *fixture = data;

	/* It waits for an announcement, and asks no more. */
	while (__atomic_load_n(&fixture->editor.lists, __ATOMIC_SEQ_CST) < 2)
		usleep(1000);
	announce(fixture->problems, "/other.c");
	announce(fixture->problems, "/a.c");
	return NULL;
}

static void an_editor_that_announces_is_not_polled(void **state)
{
	struct fixture *fixture = *state;
	pthread_t thread;

	announce(fixture->problems, "/b.c");
	assert_int_equal(pthread_create(&thread, NULL, announce_later, fixture), 0);
	expect(edit(fixture, "/a.c", LONG_MS), NULL);
	pthread_join(thread, NULL);
	assert_int_equal(fixture->editor.lists, 3);
}

static void clean_edits_cost_two_waits_in_all(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t start = clock_monotonic_ms();
	unsigned lists;

	for (unsigned i = 0; i < 12; i++)
		expect(edit(fixture, "/a.c", SHORT_MS), NULL);
	/* 12 whole ones would be 4.8 s. */
	assert_in_range(clock_monotonic_ms() - start, SHORT_MS, 6 * SHORT_MS);
	/* By now one list is all. */
	lists = fixture->editor.lists;
	expect(edit(fixture, "/a.c", SHORT_MS), NULL);
	assert_int_equal(fixture->editor.lists, lists + 1);
	/* Another suffix is checked by another program. */
	expect(edit(fixture, "/b.py", 50), NULL);
	assert_true(fixture->editor.lists > lists + 3);
}

static void what_comes_after_the_wait_is_reported_later(void **state)
{
	struct fixture *fixture = *state;
	struct editor *editor = &fixture->editor;

	for (unsigned i = 0; i < 10; i++)
		expect(edit(fixture, "/a.c", 20), NULL);
	expect(ide_problems_late(fixture->problems, editor), NULL);
	editor->change_at = editor->lists + 1;
	expect(ide_problems_late(fixture->problems, editor), report);
	expect(ide_problems_late(fixture->problems, editor), NULL);
	/* The wait is the whole one again. */
	json_decref(editor->changed);
	editor->changed = json_pack("[o]", problem("newer", 3));
	editor->change_at = editor->lists + 6;
	expect(edit(fixture, "/a.c", LONG_MS),
	       "The editor reports new problems in /a.c:\nline 3, column 1: Error: newer");
}

static void late_ones_of_an_edit_come_with_the_next_edit(void **state)
{
	struct fixture *fixture = *state;

	expect(edit(fixture, "/a.c", 0), NULL);
	fixture->editor.change_at = fixture->editor.lists + 1;
	expect(edit(fixture, "/a.c", 0), report);
}

static void what_is_not_known_is_not_reported(void **state)
{
	struct fixture *fixture = *state;

	fixture->editor.fails = true;
	ide_problems_before(fixture->problems, &fixture->editor, "/a.c");
	fixture->editor.fails = false;
	expect(ide_problems_after(fixture->problems, &fixture->editor, "/a.c", LONG_MS), NULL);
	ide_problems_before(fixture->problems, &fixture->editor, "/a.c");
	ide_problems_clear(fixture->problems);
	expect(ide_problems_after(fixture->problems, &fixture->editor, "/a.c", LONG_MS), NULL);
	ide_problems_before(fixture->problems, &fixture->editor, "/a.c");
	fixture->editor.fails = true;
	expect(ide_problems_after(fixture->problems, &fixture->editor, "/a.c", LONG_MS), NULL);
}

static void the_same_problem_twice_is_a_new_one(void **state)
{
	struct fixture *fixture = *state;

	json_array_clear(fixture->editor.changed);
	json_array_append_new(fixture->editor.changed, problem("old", 1));
	json_array_append_new(fixture->editor.changed, problem("old", 2));
	fixture->editor.change_at = 2;
	expect(edit(fixture, "/a.c", LONG_MS),
	       "The editor reports new problems in /a.c:\nline 2, column 1: Error: old");
}

static void many_problems_are_compared_quickly_and_bounded(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t start = clock_monotonic_ms();
	char text[32], *told;

	json_array_clear(fixture->editor.shown);
	json_array_clear(fixture->editor.changed);
	for (unsigned i = 0; i < LIMIT_IDE_PROBLEMS; i++) {
		snprintf(text, sizeof(text), "old %u", i);
		json_array_append_new(fixture->editor.shown, problem(text, 1));
		snprintf(text, sizeof(text), "new %u", i);
		json_array_append_new(fixture->editor.changed, problem(text, 1));
	}
	json_array_append_new(fixture->editor.changed,
	                      json_pack("{s:s}", "message", "9 more problems are left out"));
	fixture->editor.change_at = 50;
	told = edit(fixture, "/a.c", LONG_MS);
	assert_non_null(strstr(told, "Error: new 19\n1980 more"));
	assert_null(strstr(told, "left out"));
	free(told);
	assert_true(clock_monotonic_ms() - start < 20000);
}

static void only_so_many_files_are_watched(void **state)
{
	struct fixture *fixture = *state;
	char path[32], *told;
	unsigned reported = 0;

	for (unsigned i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "/%u.c", i);
		expect(edit(fixture, path, 0), NULL);
	}
	fixture->editor.change_at = fixture->editor.lists + 1;
	told = ide_problems_late(fixture->problems, &fixture->editor);
	for (const char *at = told; (at = strstr(at, "new problems in")); at++)
		reported++;
	assert_int_equal(reported, 8);
	assert_non_null(strstr(told, "/99.c"));
	free(told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_problem_ends_the_wait, begin, end),
		cmocka_unit_test_setup_teardown(an_announcement_without_a_problem_ends_the_wait,
		                                begin, end),
		cmocka_unit_test_setup_teardown(an_editor_that_announces_is_not_polled, begin, end),
		cmocka_unit_test_setup_teardown(clean_edits_cost_two_waits_in_all, begin, end),
		cmocka_unit_test_setup_teardown(what_comes_after_the_wait_is_reported_later, begin,
		                                end),
		cmocka_unit_test_setup_teardown(late_ones_of_an_edit_come_with_the_next_edit, begin,
		                                end),
		cmocka_unit_test_setup_teardown(what_is_not_known_is_not_reported, begin, end),
		cmocka_unit_test_setup_teardown(the_same_problem_twice_is_a_new_one, begin, end),
		cmocka_unit_test_setup_teardown(many_problems_are_compared_quickly_and_bounded,
		                                begin, end),
		cmocka_unit_test_setup_teardown(only_so_many_files_are_watched, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
