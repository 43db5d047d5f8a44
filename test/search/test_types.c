/* SPDX-License-Identifier: Apache-2.0 */
/* The table of file types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "search/rules/glob.h"

static void test_names_are_sorted_and_stand_for_one_type(void **state)
{
	(void)state;
	assert_true(types_count() >= 150);
	for (size_t i = 0; i < types_count(); i++) {
		const struct file_type *type = types_at(i);

		if (i > 0)
			assert_true(strcmp(types_at(i - 1)->name, type->name) < 0);
		assert_ptr_equal(types_find(type->name), type);
		for (const char *const *name = type->names; *name; name++)
			assert_ptr_equal(types_find(*name), type);
		assert_non_null(type->globs[0]);
	}
}

static void test_globs_are_globs_of_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < types_count(); i++) {
		for (const char *const *text = types_at(i)->globs; *text; text++) {
			struct err err = ERR_INIT;
			struct glob *glob;

			assert_true(glob_compile(span_str(*text), GLOB_BASENAME, &glob, &err));
			assert_null(strchr(*text, '/'));
			glob_free(glob);
		}
	}
}

static bool has(const char *type_name, const char *path)
{
	const struct file_type *type = types_find(type_name);
	bool found = false;

	for (const char *const *text = type->globs; *text; text++) {
		struct err err = ERR_INIT;
		struct glob *glob;

		assert_true(glob_compile(span_str(*text), GLOB_BASENAME, &glob, &err));
		found |= glob_match(glob, span_str(path));
		glob_free(glob);
	}
	return found;
}

static void test_types_hold_what_they_are_known_for(void **state)
{
	static const struct {
		const char *type, *path;
	} rows[] = {
		{ "c", "src/a.h" },      { "cpp", "a.cc" },           { "py", "a/b/c.py" },
		{ "rust", "lib.rs" },    { "js", "x.mjs" },           { "ts", "x.tsx" },
		{ "go", "a.go" },        { "make", "sub/Makefile" },  { "md", "README.md" },
		{ "sh", ".bashrc" },     { "docker", "Dockerfile.x" }, { "kconfig", "a/Kconfig" },
		{ "yaml", "a.yml" },     { "cmake", "CMakeLists.txt" }, { "json", "package.json" },
		{ "C++", "a.hpp" },      { "meson", "meson.build" },  { "java", "A.java" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!has(rows[i].type, rows[i].path))
			fail_msg("%s does not have %s", rows[i].type, rows[i].path);
	assert_false(has("c", "a.cc"));
	assert_false(has("ts", "a.js"));
}

static void test_extensions_lead_to_a_type(void **state)
{
	(void)state;
	assert_string_equal(types_find(".py")->name, "python");
	assert_string_equal(types_find("*.rs")->name, "rust");
	assert_string_equal(types_find("tsx")->name, "ts");
	assert_null(types_find("nothing"));
	assert_null(types_find(""));
	assert_null(types_find("."));
	assert_null(types_find("*."));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_sorted_and_stand_for_one_type),
		cmocka_unit_test(test_globs_are_globs_of_names),
		cmocka_unit_test(test_types_hold_what_they_are_known_for),
		cmocka_unit_test(test_extensions_lead_to_a_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
