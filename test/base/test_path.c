/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/path.h"

static void paths_are_resolved_by_name(void **state)
{
	static const char *const cases[][2] = {
		{ "a", "/w/a" },         { "a/../b", "/w/b" },       { "/x/./y/", "/x/y" },
		{ "../../..", "/" },     { "../../../etc", "/etc" }, { "", "/w" },
		{ "a//b", "/w/a/b" },    { "...", "/w/..." },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_free_ char *path = path_join("/w", cases[i][0]);

		assert_string_equal(path, cases[i][1]);
	}
}

static void beneath_means_by_whole_names(void **state)
{
	(void)state;
	assert_true(path_is_under("/w", "/w"));
	assert_true(path_is_under("/w/a", "/w"));
	assert_false(path_is_under("/wa", "/w"));
	assert_false(path_is_under("/", "/w"));
	assert_true(path_is_under("/w", "/"));
}

static void folders_end_at_the_root(void **state)
{
	static const char *const cases[][2] = { { "/a/b", "/a" }, { "/a", "/" }, { "/", "/" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_free_ char *folder = path_folder(cases[i][0]);

		assert_string_equal(folder, cases[i][1]);
	}
}

static void addresses_of_files_have_paths(void **state)
{
	static const char *const cases[][2] = {
		{ "file:///a%20b/c", "/a b/c" }, { "file://localhost/a", "/a" },
		{ "file:///%41%zz%4", "/A%zz%4" }, { "file:///", "/" },
		{ "file://elsewhere.invalid/a", NULL }, { "file://", NULL }, { "file:/a", NULL },
		{ "https://a/b", NULL }, { "file:///a%00b", NULL }, { "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_free_ char *path = path_of_address(span_str(cases[i][0]));

		assert_true(!path == !cases[i][1]);
		if (path)
			assert_string_equal(path, cases[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_resolved_by_name),
		cmocka_unit_test(beneath_means_by_whole_names),
		cmocka_unit_test(folders_end_at_the_root),
		cmocka_unit_test(addresses_of_files_have_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
