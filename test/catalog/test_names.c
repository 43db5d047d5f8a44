/* SPDX-License-Identifier: Apache-2.0 */
/* Names of commands, skills, agents and prompts: who has the short one, what each is called, what a
 * name means; and how many of them a budget of tokens lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "catalog/names.h"

static const struct catalog_name some[] = {
	{ .name = "hi", .owner = "user", .of = CATALOG_USER },
	{ .name = "hi", .owner = "user", .kind = "claude", .of = CATALOG_USER },
	{ .name = "help", .owner = "user", .of = CATALOG_USER },
	{ .name = "hi", .owner = "project", .of = CATALOG_PROJECT },
	{ .name = "go", .owner = "project", .of = CATALOG_PROJECT },
	{ .name = "go", .owner = "one", .of = CATALOG_OTHERS },
	{ .name = "fly", .owner = "one", .of = CATALOG_OTHERS },
	{ .name = "Fly", .owner = "two.kit", .of = CATALOG_OTHERS },
	{ .name = "solo", .owner = "two.kit", .of = CATALOG_OTHERS },
	{ .name = "git:fix", .owner = "one", .of = CATALOG_OTHERS },
	{ .name = "go", .owner = "hasp", .of = CATALOG_BUILTIN },
};

static bool is_help(struct span name)
{
	return span_eq(name, SPAN("help"));
}

static struct catalog_name *named(void)
{
	struct catalog_name *names = mem_alloc(ARRAY_LEN(some), sizeof(*names));

	memcpy(names, some, sizeof(some));
	catalog_names_set(names, ARRAY_LEN(some), is_help);
	return names;
}

static void each_is_called_by_its_shortest_name(void **state)
{
	static const char *const called[] = {
		"hi", "user:hi", "user:help", "project:hi", "go", "one:go", "one:fly",
		"two.kit:Fly", "solo", "git:fix", "hasp:go",
	};
	_cleanup_free_ struct catalog_name *names = named();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(some); i++)
		assert_string_equal(names[i].called, called[i]);
	catalog_names_release(names, ARRAY_LEN(some));
}

static void a_name_means_one_or_names_all_that_have_it(void **state)
{
	static const struct {
		const char *given;
		int at;              /* -1: none */
		const char *several; /* "" without */
	} cases[] = {
		{ "hi", 0, "" }, { "HI", 0, "" }, { "user:hi", 1, "" }, { "claude:hi", 1, "" },
		{ "project:hi", 3, "" }, { "workspace.hi", 3, "" }, { "project.hi", 3, "" },
		{ "go", 4, "" }, { "one:go", 5, "" }, { "hasp:go", 10, "" },
		{ "fly", -1, "one:fly, two.kit:Fly" }, { "one.fly", 6, "" },
		{ "two.kit:fly", 7, "" }, { "two.kit.solo", 8, "" }, { "one:sub:fly", 6, "" },
		{ "git:fix", 9, "" }, { "one:git:fix", 9, "" }, { "three:go", -1, "" },
		{ "help", -1, "user:help" }, { "", -1, "" }, { ":", -1, "" }, { "one:", -1, "" },
		{ ":go", -1, "" }, { "nothing", -1, "" },
	};
	_cleanup_free_ struct catalog_name *names = named();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_buf_ struct buf several = BUF_INIT(LIMIT_MESSAGE_BYTES);
		const struct catalog_name *found = catalog_names_find(
			names, ARRAY_LEN(some), span_str(cases[i].given), &several);
		const int at = found ? (int)(found - names) : -1;

		if (at != cases[i].at ||
		    strcmp(several.data ? several.data : "", cases[i].several) != 0)
			fail_msg("\"%s\" is %d, \"%s\"", cases[i].given, at,
			         several.data ? several.data : "");
	}
	catalog_names_release(names, ARRAY_LEN(some));
}

static void none_is_called_as_another_is(void **state)
{
	struct catalog_name names[] = {
		{ .name = "acme:x", .owner = "user", .of = CATALOG_USER },
		{ .name = "x", .owner = "project", .of = CATALOG_PROJECT },
		{ .name = "x", .owner = "acme", .kind = "skill", .of = CATALOG_OTHERS },
		{ .name = "x", .owner = "acme", .kind = "skill", .of = CATALOG_OTHERS },
	};

	(void)state;
	catalog_names_set(names, ARRAY_LEN(names), NULL);
	assert_string_equal(names[0].called, "acme:x");
	assert_string_equal(names[1].called, "x");
	assert_string_equal(names[2].called, "skill:x");
	assert_null(names[3].called);
	catalog_names_release(names, ARRAY_LEN(names));
}

/* ---- what the model is offered ---------------------------------------------------- */

enum { LINES = 500 };

static void as_many_are_listed_as_a_budget_lets(void **state)
{
	static char descriptions[LINES][200], numbers[LINES][32];
	struct catalog_line lines[LINES];

	(void)state;
	for (size_t i = 0; i < LINES; i++) {
		snprintf(numbers[i], sizeof(numbers[i]), "skill-%zu", i);
		snprintf(descriptions[i], sizeof(descriptions[i]), "%0150zu words", i);
		lines[i] = (struct catalog_line){ numbers[i], descriptions[i], " (place)" };
	}
	for (size_t count = 1; count <= LINES; count += 7) {
		_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);
		const size_t left = catalog_lines_put(lines, count, 1000, &out);
		size_t rows = 0;

		for (size_t i = 0; i < out.len; i++)
			rows += out.data[i] == '\n';
		assert_true(out.len <= 4000);
		assert_int_equal(rows + left, count);
		assert_int_equal(strstr(out.data, "(place)") != NULL, count * 175 < 4000);
		assert_true(count > 250 || !left);
	}
}

static void what_is_not_listed_is_found_by_its_words(void **state)
{
	static const struct catalog_line lines[] = {
		{ "pdf-forms", "Fills in forms.", NULL }, { "notes", "Writes release notes.", NULL },
		{ "deploy", "Releases to servers; fills queues.", NULL },
	};
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);

	(void)state;
	assert_true(catalog_lines_match(lines, 3, SPAN("fill in PDF"), &out));
	assert_ptr_equal(strstr(out.data, "- pdf-forms"), out.data);
	assert_non_null(strstr(out.data, "- deploy: "));
	assert_null(strstr(out.data, "- notes"));
	assert_false(catalog_lines_match(lines, 3, SPAN("?!"), &out));
	assert_false(catalog_lines_match(lines, 3, SPAN("kubernetes"), &out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_called_by_its_shortest_name),
		cmocka_unit_test(a_name_means_one_or_names_all_that_have_it),
		cmocka_unit_test(none_is_called_as_another_is),
		cmocka_unit_test(as_many_are_listed_as_a_budget_lets),
		cmocka_unit_test(what_is_not_listed_is_found_by_its_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
