/* SPDX-License-Identifier: Apache-2.0 */
/* What alone two lines differ in, and where a text that begins or ends within a line was meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "patch/patch.h"

static const struct {
	const char *file, *given;
	const char *name; /* NULL: otherwise */
} kinds[] = {
	{ "one", "two", NULL },
	{ "\xEF\xBB\xBFone", "one", "byte_order_mark" },
	{ "one", "\xEF\xBB\xBFone", "byte_order_mark" },
	{ "one  ", "one", "trailing_space" },
	{ "one", "one\t", "trailing_space" },
	{ "one\r", "one", "trailing_space" },
	{ "\tone", "    one", "indentation_tabs" },
	{ "        one", "\tone", "indentation_tabs" },
	{ "    one", "  one", "indentation_depth" },
	{ "\tone", "one", "indentation_depth" },
	{ "\tone", "\t\tone", "indentation_depth" },
	{ "one, two", "one,two", "inner_space" },
	{ "one  two", "one two", "inner_space" },
	{ "\tone, two", "    one,two", "inner_space" },
	{ "say \"one\"", "say \xE2\x80\x9Cone\xE2\x80\x9D", "lookalikes" },
	{ "one \xE2\x80\x94 two", "one - two", "lookalikes" },
	{ "one\xC2\xA0two", "one two", "lookalikes" },
	{ "caf\xC3\xA9", "cafe\xCC\x81", "normalization" },
	{ "say(\"one\\n\");", "say(\\\"one\\\\n\\\");", "escapes" },
	{ "say('it');", "say(\\'it\\');", "escapes" },
	{ "    one", "12\t    one", "listing_number" },
	{ "one", "  12: one", "listing_number" },
	{ "one", "L12 | one", "listing_number" },
	{ "    one", "12\xE2\x86\x92    one", "listing_number" },
	{ "one", "-one", "diff_sign" },
	{ "    one", "+    one", "diff_sign" },
	{ "One", "one", "letter_case" },
	{ "    One", "one", NULL },
	{ "one two", "onetwo three", NULL },
	{ "", "one", NULL },
};

static void the_one_difference_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const char *name = patch_difference_name(
			patch_difference(span_str(kinds[i].file), span_str(kinds[i].given)));

		print_message("%s | %s\n", kinds[i].file, kinds[i].given);
		if (kinds[i].name)
			assert_string_equal(name, kinds[i].name);
		else
			assert_null(name);
	}
}

/* ---- long lines ---- */

enum { WORDS = 200000 };

/* One line of numbered words, each of twelve bytes. */
static void make_line(struct buf *out)
{
	for (size_t i = 0; i < WORDS; i++)
		buf_printf(out, "word%07zu ", i * 7919 % WORDS);
}

static void a_miss_in_a_long_line_names_the_column(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_FILE_BYTES), out = BUF_INIT(4096);
	_cleanup_buf_ struct buf wanted = BUF_INIT(4096);
	struct patch_failure failure = { 0 };
	_cleanup_lines_ struct lines file = { 0 };

	(void)state;
	buf_str(&text, "first line\n\xC3\xA9");
	make_line(&text);
	lines_index(&file, buf_view(&text));
	/* 1,000 words from the 100,000th on, with another letter in the 501st. */
	buf_append(&wanted, text.data + 13 + 100000 * 12, 100 * 12);
	wanted.data[50 * 12] = 'W';
	patch_explain_absence(&file, buf_view(&wanted), &failure, &out);
	assert_non_null(strstr(out.data, "The nearest place is line 2, column 1200002."));
	assert_non_null(strstr(out.data, "line 2, column 1200602, of the file is"));
	assert_int_equal(failure.found_line, 2);
	assert_true(out.len < 800 && strlen(failure.found) <= 400);
	patch_failure_release(&failure);
}

static void what_is_not_like_it_is_not_taken_for_it(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_FILE_BYTES), out = BUF_INIT(4096);
	struct patch_failure failure = { 0 };
	_cleanup_lines_ struct lines file = { 0 };

	(void)state;
	make_line(&text);
	lines_index(&file, buf_view(&text));
	patch_explain_absence(&file, SPAN("nothing of this is in there anywhere at all"), &failure,
	                      &out);
	assert_string_equal(out.data, " Nothing in the file is like it.");
	patch_failure_release(&failure);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_one_difference_is_named),
		cmocka_unit_test(a_miss_in_a_long_line_names_the_column),
		cmocka_unit_test(what_is_not_like_it_is_not_taken_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
