/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters and their columns (tui/text/width.h). */
#include "tui/text/width.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

static void columns_are_those_of_terminals(void **state)
{
	static const struct {
		const char *text, *what;
		unsigned width;
	} rows[] = {
		{ "", "nothing", 0 },
		{ "hasp", "ASCII", 4 },
		{ "e\xcc\x81", "a letter with a mark", 1 },
		{ "漢字", "ideographs", 4 },
		{ "ｱ", "a halfwidth letter", 1 },
		{ "Ａ", "a fullwidth letter", 2 },
		{ "한글", "syllables", 4 },
		{ "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", "a syllable of letters", 2 },
		{ "😀", "an emoji", 2 },
		{ "❤", "a sign that is text", 1 },
		{ "❤\xef\xb8\x8f", "the same as an emoji", 2 },
		{ "1\xef\xb8\x8f\xe2\x83\xa3", "a keycap", 2 },
		{ "👍🏽", "a skin tone", 2 },
		{ "👨‍👩‍👧‍👦", "a family", 2 },
		{ "🏳️‍🌈", "a flag of two emoji", 2 },
		{ "🇩🇪", "a country's flag", 2 },
		{ "🇩🇪🇫🇷", "two of them", 4 },
		{ "🇩", "half a flag", 1 },
		{ "कि", "a letter with a spacing mark", 2 },
		{ "ก็", "a letter with a mark above", 1 },
		{ "مرحبا", "Arabic", 5 },
		{ "─│→…", "what is narrow or wide elsewhere", 4 },
		{ "\xff", "a byte that is not UTF-8", 1 },
		{ "\xcc\x81", "a lone mark", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		unsigned width = width_of(span_str(rows[i].text));

		if (width != rows[i].width)
			fail_msg("%s: %u columns, not %u", rows[i].what, width, rows[i].width);
	}
}

static void a_cluster_is_what_a_reader_calls_a_character(void **state)
{
	struct span rest = SPAN("a👨‍👩‍👧é\r\n🇩🇪🇫🇷\xff\xcc");
	static const char *const clusters[] = { "a", "👨‍👩‍👧", "é", "\r\n", "🇩🇪", "🇫🇷", "\xff", "\xcc" };
	struct cluster cluster;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(clusters); i++) {
		assert_true(cluster_next(&rest, &cluster));
		assert_true(span_eq(cluster.bytes, span_str(clusters[i])));
	}
	assert_false(cluster_next(&rest, &cluster));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_those_of_terminals),
		cmocka_unit_test(a_cluster_is_what_a_reader_calls_a_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
