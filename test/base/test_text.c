/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and UTF-8 against the plainest way to compute the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/text.h"

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void check_lines(struct span text)
{
	_cleanup_lines_ struct lines lines = { 0 };
	struct span rest = text;
	struct span line;
	size_t count = 0;

	lines_index(&lines, text);
	while (line_next(&rest, &line)) {
		assert_true(count < lines.count);
		assert_int_equal(lines_at(&lines, count).len, line.len);
		assert_ptr_equal(lines_at(&lines, count).data, line.data);
		count++;
	}
	assert_int_equal(lines.count, count);
	assert_int_equal(lines_count(text), count);
	assert_int_equal(lines_start(&lines, count), text.len);
}

static void lines_are_where_the_line_feeds_are(void **state)
{
	uint32_t seed = 1;

	(void)state;
	check_lines(span_of(NULL, 0));
	for (size_t len = 0; len < 400; len++) {
		/* Exactly as long as the text, so that reading past it is seen. */
		_cleanup_free_ char *text = mem_alloc(len, 1);

		for (uint32_t one_in = 1; one_in < 100; one_in *= 3) {
			for (size_t i = 0; i < len; i++)
				text[i] = next_random(&seed) % one_in ? 'x' : '\n';
			check_lines(span_of(text, len));
		}
	}
}

static bool plainly_valid(struct span text)
{
	struct utf8_char c;

	while (utf8_next(&text, &c))
		if (c.bad)
			return false;
	return true;
}

static void validity_is_that_of_each_character(void **state)
{
	static const uint32_t codes[] = { 'a',    ' ',    0x7F,   0x80,   0x7FF,  0x800,  0xFFF,
		                          0x1000, 0xD7FF, 0xE000, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF };
	uint32_t seed = 2;
	size_t invalid = 0;

	(void)state;
	for (int round = 0; round < 100000; round++) {
		char text[64];
		size_t len = 0;

		while (len < next_random(&seed) % 60)
			len += utf8_put(codes[next_random(&seed) % ARRAY_LEN(codes)], text + len);
		_cleanup_free_ char *copy = mem_dup(text, len);

		assert_true(utf8_valid(span_of(copy, len)));
		if (!len)
			continue;
		copy[next_random(&seed) % len] = (char)next_random(&seed);
		len -= next_random(&seed) % 2;
		invalid += !plainly_valid(span_of(copy, len));
		assert_int_equal(utf8_valid(span_of(copy, len)), plainly_valid(span_of(copy, len)));
	}
	assert_true(invalid > 10000);
}

static void what_is_not_well_formed_is_refused(void **state)
{
	static const char *const bad[] = { "\x80",         "\xC0\x80",     "\xC1\xBF",
		                           "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
		                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3",
		                           "\xE2\x82",     "\xFF",         "\xE2\x82 abc" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		_cleanup_free_ char *long_text = mem_printf("aaaaaaaaaaaaaaaa%s", bad[i]);

		assert_false(utf8_valid(span_str(bad[i])));
		assert_false(utf8_valid(span_str(long_text)));
	}
}

static void a_star_is_any_text(void **state)
{
	static const struct {
		const char *text, *pattern;
		bool fits;
	} cases[] = {
		{ "", "", true },           { "", "*", true },        { "a", "", false },
		{ "abc", "abc", true },     { "abc", "ab", false },   { "ab", "abc", false },
		{ "abc", "*", true },       { "abc", "a*", true },    { "abc", "*c", true },
		{ "abc", "a*c", true },     { "abc", "a**c", true },  { "abc", "b*", false },
		{ "abcbc", "a*bc", true },  { "abcb", "a*bc", false }, { "a/b", "a*b", true },
		{ "mcp_x_y", "mcp_*_y", true }, { "a*b", "a*b", true }, { "aab", "*ab", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(span_fits(span_str(cases[i].text), span_str(cases[i].pattern)),
		                 cases[i].fits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_where_the_line_feeds_are),
		cmocka_unit_test(validity_is_that_of_each_character),
		cmocka_unit_test(what_is_not_well_formed_is_refused),
		cmocka_unit_test(a_star_is_any_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
