/* SPDX-License-Identifier: Apache-2.0 */
/* Globs: a table of patterns and paths, and patterns made to be slow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "search/rules/glob.h"
#include "meter.h"

static bool matches(const char *pattern, unsigned flags, const char *path)
{
	struct err err = ERR_INIT;
	struct glob *glob = NULL;
	bool result;

	if (!glob_compile(span_str(pattern), flags, &glob, &err))
		fail_msg("%s: %s", pattern, err.message);
	result = glob_match(glob, span_str(path));
	glob_free(glob);
	return result;
}

static void patterns_fit_the_paths_they_should(void **context)
{
	static const struct {
		const char *pattern, *path;
		bool fits;
	} rows[] = {
		{ "*.c", "a.c", true },
		{ "*.c", "x/a.c", false },
		{ "**/*.c", "a.c", true },
		{ "**/*.c", "x/y/a.c", true },
		{ "**/*.c", "x/y/a.h", false },
		{ "src/**", "src/a", true },
		{ "src/**", "src/a/b", true },
		{ "src/**", "src", false },
		{ "a/**/b", "a/b", true },
		{ "a/**/b", "a/x/y/b", true },
		{ "a/**/b", "a/x/y/c", false },
		{ "a/**/b/**/c", "a/b/b/x/c", true },
		{ "**", "a/b/c", true },
		{ "a**b", "axxb", true },
		{ "a**b", "a/b", false },
		{ "/a", "a", true },
		{ "./a/*", "a/b", true },
		{ "a?c", "abc", true },
		{ "a?c", "a/c", false },
		{ "a?c", "ac", false },
		{ "*", "", true },
		{ "a*", "a", true },
		{ "*a*b*", "xxaxxbxx", true },
		{ "*a*b*", "xxbxxaxx", false },
		{ "[abc]x", "bx", true },
		{ "[!abc]x", "bx", false },
		{ "[!abc]x", "/x", false },
		{ "[]]", "]", true },
		{ "[]-a]", "^", true },
		{ "[a-]", "-", true },
		{ "[[:alpha:][:digit:]]", "7", true },
		{ "[[:alpha:]]", "7", false },
		{ "[[:upper:]]", "A", true },
		{ "[[:upper:]]", "a", false },
		{ "[[:blank:]]", " ", true },
		{ "[[:blank:]]", "x", false },
		{ "[[:cntrl:]]", "\t", true },
		{ "[[:cntrl:]]", "t", false },
		{ "[[:graph:]]", "!", true },
		{ "[[:graph:]]", " ", false },
		{ "[[:print:]]", " ", true },
		{ "[[:print:]]", "\n", false },
		{ "[[:punct:]]", "!", true },
		{ "[[:punct:]]", "a", false },
		{ "[[:space:]]", "\n", true },
		{ "[[:space:]]", "n", false },
		{ "[[:xdigit:]]", "F", true },
		{ "[[:xdigit:]]", "g", false },
		{ "[[:lower:]]", "a", true },
		{ "[[:lower:]]", "A", false },
		{ "[[:alnum:]]", "7", true },
		{ "[[:alnum:]]", "-", false },
		{ "[[:a-c]x", ":x", true }, /* no name of a class: brackets as ever */
		{ "[\\]]", "]", true },
		{ "\\*", "*", true },
		{ "\\*", "a", false },
		{ "{a,b}.c", "b.c", true },
		{ "{a,b}.c", "c.c", false },
		{ "{a,b{c,d}}e", "bde", true },
		{ "{a,b{c,d}}e", "be", false },
		{ "{a,}b", "b", true },
		{ "{a}b", "ab", true },
		{ "x{[,}],y}", "x,", true },
		{ "x{[,}],y}", "xy", true },
		{ "\\{a,b\\}", "{a,b}", true },
		{ "a}", "a}", true },
		{ "{src,test}/**/*.{c,h}", "test/x/y.h", true },
		{ "\xc3\xa9*", "\xc3\xa9t\xc3\xa9", true },
	};

	(void)context;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (matches(rows[i].pattern, 0, rows[i].path) != rows[i].fits)
			fail_msg("%s against %s is not %d", rows[i].pattern, rows[i].path,
			         rows[i].fits);
	}
}

static void flags_ignore_case_and_fit_the_last_component(void **context)
{
	(void)context;
	assert_true(matches("ReadMe.*", GLOB_IGNORE_CASE, "README.MD"));
	assert_true(matches("[a-c]x", GLOB_IGNORE_CASE, "BX"));
	assert_false(matches("[!a-c]x", GLOB_IGNORE_CASE, "Bx"));
	assert_false(matches("a", 0, "A"));
	assert_true(matches("*.c", GLOB_BASENAME, "x/y/a.c"));
	assert_false(matches("/*.c", GLOB_BASENAME, "x/y/a.c"));
	assert_false(matches("y/*.c", GLOB_BASENAME, "x/y/a.c"));
}

static void wrong_globs_are_refused(void **context)
{
	static const char *const wrong[] = { "", "[a", "[", "a[!", "[[:wrong:]]", "[[:alpha", "[a-", "[a-\\", "{a", "{a,{b}",
		                             "a\\", "{[a}" };

	(void)context;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct err err = ERR_INIT;
		struct glob *glob = NULL;

		if (glob_compile(span_str(wrong[i]), 0, &glob, &err))
			fail_msg("%s was accepted", wrong[i]);
		assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
		assert_null(glob);
	}
}

static void repeat(struct buf *out, const char *text, int times)
{
	for (int i = 0; i < times; i++)
		buf_str(out, text);
}

static void no_pattern_is_slow(void **context)
{
	static const struct {
		const char *pattern_part, *pattern_end, *path_part;
		int times, path_times;
	} rows[] = {
		{ "a*", "b", "a", 1000, 4000 },
		{ "*a", "b", "a", 1000, 4000 },
		{ "**/a/", "b", "a/", 500, 2000 },
		{ "*/**/", "b", "a/", 500, 2000 },
		{ "{a,b}", "", "a", 20, 20 },
		{ "{a", "", "a", 2000, 20 },
		{ "{a}", "", "a", 1000, 1000 },
		{ "{,", "}", "a", 800, 20 },
		{ "[", "{a,b}{a,b}{a,b}{a,b}", "a", 4000, 20 },
		{ "[a", "]", "a", 2000, 20 },
		{ "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "{{{{{{{{{x}}}}}}}}}", "a", 1, 20 },
	};

	(void)context;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_buf_ struct buf pattern = BUF_INIT(1 << 20), path = BUF_INIT(1 << 20);
		struct err err = ERR_INIT;
		struct glob *glob = NULL;
		struct meter meter = meter_start();
		double yards;

		repeat(&pattern, rows[i].pattern_part, rows[i].times);
		buf_str(&pattern, rows[i].pattern_end);
		repeat(&path, rows[i].path_part, rows[i].path_times);
		buf_str(&path, "x");
		if (glob_compile(buf_view(&pattern), 0, &glob, &err)) {
			assert_false(glob_match(glob, buf_view(&path)));
			glob_may_match_beneath(glob, buf_view(&path));
		}
		glob_free(glob);
		yards = meter_yards(&meter);
		if (yards > 5000)
			fail_msg("row %zu took %.0f yards", i, yards);
	}
}

static bool may(const char *pattern, unsigned flags, const char *folder)
{
	struct err err = ERR_INIT;
	struct glob *glob = NULL;
	bool result;

	assert_true(glob_compile(span_str(pattern), flags, &glob, &err));
	result = glob_may_match_beneath(glob, span_str(folder));
	glob_free(glob);
	return result;
}

static void folders_that_cannot_hold_a_match_are_known(void **context)
{
	(void)context;
	assert_true(may("src/*.c", 0, "src"));
	assert_true(may("src/*.c", 0, ""));
	assert_false(may("src/*.c", 0, "test"));
	assert_false(may("src/*.c", 0, "src/x"));
	assert_true(may("src/**/*.c", 0, "src/x/y"));
	assert_true(may("src/**", 0, "src/x/y"));
	assert_false(may("src/**", 0, "test"));
	assert_true(may("**/test/*.c", 0, "a/b"));
	assert_true(may("**/a/b", 0, "a/a"));
	assert_true(may("{x,y}/*.c", 0, "y"));
	assert_false(may("*.c", 0, "src"));
	assert_true(may("*.c", GLOB_BASENAME, "src"));
}

static void magic_is_found_unless_escaped(void **context)
{
	(void)context;
	assert_true(glob_has_magic(SPAN("a*")));
	assert_true(glob_has_magic(SPAN("{a,b}")));
	assert_false(glob_has_magic(SPAN("a\\*b")));
	assert_false(glob_has_magic(SPAN("plain/name.c")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_fit_the_paths_they_should),
		cmocka_unit_test(flags_ignore_case_and_fit_the_last_component),
		cmocka_unit_test(wrong_globs_are_refused),
		cmocka_unit_test(no_pattern_is_slow),
		cmocka_unit_test(folders_that_cannot_hold_a_match_are_known),
		cmocka_unit_test(magic_is_found_unless_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
