/* SPDX-License-Identifier: Apache-2.0 */
/* JavaScript's regular expressions: what they match, what is refused, and that they end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "search/match/js_regex.h"
#include "meter.h"

static const struct {
	const char *pattern, *text;
	enum js_regex_result expected;
} rows[] = {
	{ "abc", "xabcx", JS_REGEX_YES },
	{ "^abc$", "abc\n", JS_REGEX_NO }, /* $ is the very end */
	{ "a.c", "a\nc", JS_REGEX_NO },
	{ "a.c", "a\rc", JS_REGEX_NO },
	{ "a[^]c", "a\nc", JS_REGEX_YES },
	{ "a[]c", "ac", JS_REGEX_NO },
	{ "[[:alpha:]]", "b]", JS_REGEX_NO }, /* JavaScript has no such classes */
	{ "[[:alpha:]]", ":]", JS_REGEX_YES },
	{ "[\\w-]+\\.md", "my-plan.md", JS_REGEX_YES },
	{ "\\d", "\xd9\xa3", JS_REGEX_NO }, /* an Arabic digit */
	{ "\\s", "\xc2\xa0", JS_REGEX_YES },
	{ "\\s", "\xef\xbb\xbf", JS_REGEX_YES },
	{ "^\\S$", "\xc2\xa0", JS_REGEX_NO },
	{ "[\\s]x", "\xe2\x80\xa8x", JS_REGEX_YES },
	{ "\\v", "\n", JS_REGEX_NO },
	{ "\\v", "\v", JS_REGEX_YES },
	{ "\\h", "h", JS_REGEX_YES },
	{ "\\Aa", "Aa", JS_REGEX_YES },
	{ "\\Qa.b\\E", "Qa.bE", JS_REGEX_YES },
	{ "\\x41\\u0042", "AB", JS_REGEX_YES },
	{ "\\x4", "x4", JS_REGEX_YES },
	{ "\\cJ", "\n", JS_REGEX_YES },
	{ "a{,3}", "a{,3}", JS_REGEX_YES },
	{ "a{2}", "aa", JS_REGEX_YES },
	{ "x{", "x{", JS_REGEX_YES },
	{ "}]", "}]", JS_REGEX_YES },
	{ "(?<n>a)\\k<n>", "aa", JS_REGEX_YES },
	{ "\\k", "k", JS_REGEX_YES },
	{ "(?<=a)b", "ab", JS_REGEX_YES },
	{ "(?<!a)b", "ab", JS_REGEX_NO },
	{ "(a)|\\1b", "b", JS_REGEX_YES }, /* a group that is not set matches nothing */
	{ "\\/", "/", JS_REGEX_YES },
	{ "\\-\\#\\ ", "-# ", JS_REGEX_YES },
	{ "^\\\xc3\xa9$", "\xc3\xa9", JS_REGEX_YES },
	{ "^a+?b??$", "aab", JS_REGEX_YES },
	{ "[\\b]", "\b", JS_REGEX_YES },
	{ "\xc3\xa9+", "\xc3\xa9\xc3\xa9", JS_REGEX_YES },
	{ "^.$", "\xc3\xa9", JS_REGEX_YES },
	{ "(?:a|b)*c", "ababc", JS_REGEX_YES },
	{ "", "", JS_REGEX_YES },
};

static void they_mean_what_they_mean_in_javascript(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		struct js_regex *regex = NULL;
		enum js_regex_result outcome;

		if (!js_regex_compile(span_str(rows[i].pattern), &regex, &err))
			fail_msg("%s: %s", rows[i].pattern, err.message);
		outcome = js_regex_test(regex, span_str(rows[i].text));
		if (outcome != rows[i].expected)
			fail_msg("%s on %s: %d", rows[i].pattern, rows[i].text, (int)outcome);
		assert_string_equal(js_regex_pattern(regex), rows[i].pattern);
		js_regex_free(regex);
	}
}

static void what_javascript_refuses_is_refused(void **state)
{
	static const char *const bad[] = {
		"(", ")", "[a", "a**", "a++", "*a", "+", "(?i)a", "(?>a)", "(?#c)", "(*ACCEPT)",
		"(?R)", "(?1)", "(?|a)", "(?P<n>a)", "(?<1>a)", "[b-a]", "a{2,1}", "\\",
		"(?<=a", "^*", "[\\S]", "\xff",
	};
	/* What can take for ever, where that is not wanted. */
	static const char *const nested[] = {
		"(a+)+", "(a*)*b", "((a+)b)+", "(?:x+)*", "(a{1,})+", "([a-z]+)*$",
	};
	_cleanup_free_ char *text = mem_alloc(JS_REGEX_BYTES_MAX + 2, 1);

	(void)state;
	memset(text, 'a', JS_REGEX_BYTES_MAX + 1);
	for (size_t i = 0; i <= ARRAY_LEN(bad); i++) {
		const char *pattern = i < ARRAY_LEN(bad) ? bad[i] : text;
		struct err err = ERR_INIT;
		struct js_regex *regex = NULL;

		if (js_regex_compile(span_str(pattern), &regex, &err))
			fail_msg("not refused: %s", pattern);
		assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	}
	for (size_t i = 0; i < ARRAY_LEN(nested); i++) {
		struct err err = ERR_INIT;
		struct js_regex *regex = NULL;

		assert_false(js_regex_compile_with(span_str(nested[i]), JS_REGEX_BOUNDED, &regex,
		                                   &err));
		assert_true(js_regex_compile(span_str(nested[i]), &regex, &err));
		js_regex_free(regex);
	}
}

static void all_of_them_end(void **state)
{
	static const char *const slow[] = {
		"(?:a|a)*b", "(?:a|aa)*b", "a*a*a*a*a*a*b", "(?:.*.*.*=.*)x", "(?:a?){30}a{30}b",
		"x.*y.*z.*w.*v.*u", "(a|b|ab)*c", "(?:a|aa)*[bc]", "(?:a|a)*[bc]", "a*a*a*a*a*[bc]",
		".*.*.*.*[bc]", "(?:[^x]|[^y])*[bc]", "(a+)+[bc]", "(a*)*[bc]",
	};
	static const size_t sizes[] = { 40, 4000, 400000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(slow); i++) {
		for (size_t s = 0; s < ARRAY_LEN(sizes); s++) {
			_cleanup_free_ char *text = mem_alloc(sizes[s] + 1, 1);
			struct err err = ERR_INIT;
			struct js_regex *regex = NULL;
			struct meter meter = meter_start();
			double yards;

			memset(text, s == 1 ? 'x' : 'a', sizes[s]);
			memset(text, 'a', sizes[s] / 2);
			assert_true(js_regex_compile(span_str(slow[i]), &regex, &err));
			assert_int_not_equal(js_regex_test(regex, span_of(text, sizes[s])),
			                     JS_REGEX_YES);
			yards = meter_yards(&meter);
			if (yards > 2000)
				fail_msg("%s took %.0f yards", slow[i], yards);
			js_regex_free(regex);
		}
	}
}

/* Lazily, what is wrong in a way that only compiling shows says nothing. */
static void what_is_compiled_late_says_nothing_if_it_cannot_be(void **state)
{
	struct err err = ERR_INIT;
	struct js_regex *regex = NULL;

	(void)state;
	assert_true(js_regex_compile_with(SPAN("[b-a]"), JS_REGEX_LAZY, &regex, &err));
	assert_int_equal(js_regex_test(regex, SPAN("b")), JS_REGEX_UNKNOWN);
	js_regex_free(regex);
	assert_true(js_regex_compile_with(SPAN("[a-b]"), JS_REGEX_LAZY, &regex, &err));
	assert_int_equal(js_regex_test(regex, SPAN("b")), JS_REGEX_YES);
	js_regex_free(regex);
	js_regex_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_mean_what_they_mean_in_javascript),
		cmocka_unit_test(what_javascript_refuses_is_refused),
		cmocka_unit_test(all_of_them_end),
		cmocka_unit_test(what_is_compiled_late_says_nothing_if_it_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
