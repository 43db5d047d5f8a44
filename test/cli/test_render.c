/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign text on a terminal: what may pass, what becomes visible, how a diff looks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/view/view.h"
#include "meter.h"

static void assert_safe(struct span text, const char *expected)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	render_safe(&out, text);
	assert_string_equal(out.data ? out.data : "", expected);
}

static void ordinary_text_passes_as_it_is(void **context)
{
	(void)context;
	assert_safe(SPAN(""), "");
	assert_safe(SPAN("if (a < b) \"c\\n\" // ~"), "if (a < b) \"c\\n\" // ~");
	assert_safe(SPAN("caf\xc3\xa9 \xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x98\x80 "
	                 "\xe2\x80\x9cx\xe2\x80\x9d"),
	            "caf\xc3\xa9 \xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\x98\x80 \xe2\x80\x9cx\xe2\x80\x9d");
	assert_safe(SPAN("e\xcc\x81"), "e\xcc\x81");
	assert_safe(SPAN("\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82"),
	            "\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82");
}

static void control_characters_become_visible(void **context)
{
	(void)context;
	assert_safe(SPAN("\x1b[2J\x1b]0;t\x07"), "\\x1b[2J\\x1b]0;t\\x07");
	assert_safe(SPAN("a\rb\nc\bd\x7f"), "a\\rb\\nc\\x08d\\x7f");
	assert_safe(SPAN("nul\0nul"), "nul\\x00nul");
	assert_safe(SPAN("\xc2\x9b" "31m\xc2\x85"), "\\u{9b}31m\\u{85}");
	assert_safe(SPAN("\x9b" "31m"), "\\x9b31m");
}

static void deceiving_characters_become_visible(void **context)
{
	(void)context;
	assert_safe(SPAN("a\xe2\x80\xae" "b\xe2\x81\xa6"), "a\\u{202e}b\\u{2066}");
	assert_safe(SPAN("a\xe2\x80\x8b" "b\xef\xbb\xbf"), "a\\u{200b}b\\u{feff}");
	assert_safe(SPAN("\xf3\xa0\x81\x81"), "\\u{e0041}");
	assert_safe(SPAN("\xe2\x80\xa8\xe2\x80\xa9"), "\\u{2028}\\u{2029}");
	assert_safe(SPAN("x\xe3\x85\xa4y\xf3\xa0\x84\x80"), "x\\u{3164}y\\u{e0100}");
	assert_safe(SPAN("\xee\x80\x80"), "\\u{e000}");
	/* Cyrillic a in a Latin word; before, between and after. */
	assert_safe(SPAN("p\xd0\xb0th"), "p\\u{430}th");
	assert_safe(SPAN("\xd0\xb0th \xd0\xb0"), "\\u{430}th \xd0\xb0");
	assert_safe(SPAN("p\xd0\xb0"), "p\\u{430}");
	assert_safe(SPAN("\xce\xbcs \xce\x94x"), "\xce\xbcs \xce\x94x");
}

static void what_is_not_utf8_becomes_visible(void **context)
{
	(void)context;
	assert_safe(SPAN("\xff\xfe" "a"), "\\xff\\xfea");
	assert_safe(SPAN("\xc3"), "\\xc3");
	assert_safe(SPAN("\xed\xa0\x80"), "\\xed\\xa0\\x80");
	assert_safe(SPAN("\xc0\xaf"), "\\xc0\\xaf");
}

static void towers_of_marks_are_cut_off(void **context)
{
	(void)context;
	assert_safe(SPAN("a\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81"),
	            "a\xcc\x81\xcc\x81\xcc\x81\xcc\x81\\u{301}");
	assert_safe(SPAN("\xcc\x81"), "\\u{301}");
}

static void tabs_are_expanded_by_width(void **context)
{
	(void)context;
	assert_safe(SPAN("\ta"), "        a");
	assert_safe(SPAN("ab\tc"), "ab      c");
	assert_safe(SPAN("\xe4\xbd\xa0\tc"), "\xe4\xbd\xa0      c");
	assert_safe(SPAN("12345678\tc"), "12345678        c");
}

/* No input makes an escape sequence or an invisible character come out. */
static void nothing_harmful_ever_passes(void **context)
{
	uint64_t state = 5;

	(void)context;
	for (int round = 0; round < 2000; round++) {
		_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
		char text[64];

		for (size_t i = 0; i < sizeof(text); i++) {
			state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			text[i] = (char)(state >> 56);
		}
		render_safe(&out, span_of(text, sizeof(text)));
		assert_true(utf8_valid(buf_view(&out)));
		struct span rest = buf_view(&out);
		struct utf8_char c;

		while (utf8_next(&rest, &c)) {
			assert_true(c.code >= 0x20 && !(c.code >= 0x7f && c.code < 0xa0));
			assert_false(c.code >= 0x200b && c.code <= 0x200f);
			assert_false(c.code >= 0x2028 && c.code <= 0x202e);
		}
	}
}

static void assert_diff(const char *diff, bool colour, size_t width, const char *expected)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

	assert_true(render_diff(&out, span_str(diff), colour, width));
	assert_string_equal(out.data ? out.data : "", expected);
}

static void a_diff_has_line_numbers(void **context)
{
	(void)context;
	assert_diff("--- a/x\n+++ b/x\n@@ -9,3 +9,3 @@ f()\n a\n-b\n+c\n d\n", false, 80,
	            "--- a/x\n+++ b/x\n@@ -9,3 +9,3 @@ f()\n"
	            " 9  9   a\n10    - b\n   10 + c\n11 11   d\n");
}

static void removed_lines_that_look_like_headers_are_lines(void **context)
{
	(void)context;
	assert_diff("@@ -1,2 +1 @@\n--- a\n-@@ b\n+++ c\n@@ -9 +8,0 @@\n-x\n", false, 0,
	            "@@ -1,2 +1 @@\n 1    - -- a\n 2    - @@ b\n    1 + ++ c\n"
	            "@@ -9 +8,0 @@\n 9    - x\n");
}

static void missing_newlines_are_noted_under_their_line(void **context)
{
	(void)context;
	assert_diff("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", false, 0,
	            "@@ -1 +1 @@\n1   - a\n\\ No newline at end of file\n  1 + a\n");
	assert_diff("@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n", false, 0,
	            "@@ -1 +1 @@\n1   - a\n  1 + a\n\\ No newline at end of file\n");
}

static void names_hunks_and_lines_are_coloured_and_words_marked(void **context)
{
	(void)context;
	assert_diff("--- a/x\n@@ -1,2 +1,2 @@\n-int one = 1;\n+int two = 1;\n z\n", true, 0,
	            "\033[1m--- a/x\033[0m\n\033[36m@@ -1,2 +1,2 @@\033[0m\n"
	            "1   \033[31m- int \033[0m\033[7;31mone\033[0m\033[31m = 1;\033[0m\n"
	            "  1 \033[32m+ int \033[0m\033[7;32mtwo\033[0m\033[32m = 1;\033[0m\n"
	            "2 2   z\n");
}

static void lines_that_differ_wholly_are_not_marked(void **context)
{
	(void)context;
	assert_diff("@@ -1 +1 @@\n-alpha beta\n+x=gamma(y)\n", true, 0,
	            "\033[36m@@ -1 +1 @@\033[0m\n1   \033[31m- alpha beta\033[0m\n"
	            "  1 \033[32m+ x=gamma(y)\033[0m\n");
}

static void long_lines_go_on_under_the_text(void **context)
{
	(void)context;
	assert_diff("@@ -1 +1,2 @@\n+0123456789012345678901234\n abc\n", false, 26,
	            "@@ -1 +1,2 @@\n  1 + 01234567890123456789\n      01234\n1 2   abc\n");
	assert_diff("@@ -1,0 +1 @@\n+\xe4\xbd\xa0" "0123456789012345\x1b!\n", true, 26,
	            "\033[36m@@ -1,0 +1 @@\033[0m\n  1 \033[32m+ \xe4\xbd\xa0" "0123456789012345\033[0m\n"
	            "      \033[32m\\x1b!\033[0m\n");
}

static void a_diff_of_crlf_lines_does_not_show_every_cr(void **context)
{
	(void)context;
	assert_diff("@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n", false, 0,
	            "@@ -1,2 +1,2 @@\n1 1   a\n2   - b\n  2 + c\n");
	assert_diff("@@ -1 +1 @@\n-b\r\n+b\n", false, 0, "@@ -1 +1 @@\n1   - b\\r\n  1 + b\n");
}

static void a_diff_is_foreign_text_too(void **context)
{
	(void)context;
	assert_diff("--- a/\x1b]0;x\x07\n@@ -1 +1 @@ \x1b[2J\n-\x1b[31m\n+\xe2\x80\xae\n", false, 0,
	            "--- a/\\x1b]0;x\\x07\n@@ -1 +1 @@ \\x1b[2J\n1   - \\x1b[31m\n  1 + \\u{202e}\n");
	assert_diff("@@ x @@\n-a\n+b\nprose\n", false, 0, "@@ x @@\n    - a\n    + b\nprose\n");
	assert_diff("@@ -99999999999999999999999999,1 +1 @@\n", false, 0,
	            "@@ -99999999999999999999999999,1 +1 @@\n");
}

static void a_hostile_diff_is_rendered_in_linear_time(void **context)
{
	_cleanup_buf_ struct buf diff = BUF_INIT(1 << 24), out = BUF_INIT(1 << 28);
	struct meter meter;

	(void)context;
	buf_str(&diff, "@@ @@\n");
	for (int sign = 0; sign < 2; sign++) {
		for (int i = 0; i < 5000; i++) {
			buf_char(&diff, "-+"[sign]);
			for (int k = 0; k < 450; k++)
				buf_str(&diff, (k * (i + 3) + sign * k / 3) % 7 < 3 ? ";" : ",");
			buf_char(&diff, '\n');
		}
	}
	meter = meter_start();
	assert_true(render_diff(&out, buf_view(&diff), true, 80));
	assert_true(meter_yards(&meter) < 15000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_text_passes_as_it_is),
		cmocka_unit_test(control_characters_become_visible),
		cmocka_unit_test(deceiving_characters_become_visible),
		cmocka_unit_test(what_is_not_utf8_becomes_visible),
		cmocka_unit_test(towers_of_marks_are_cut_off),
		cmocka_unit_test(tabs_are_expanded_by_width),
		cmocka_unit_test(nothing_harmful_ever_passes),
		cmocka_unit_test(a_diff_has_line_numbers),
		cmocka_unit_test(removed_lines_that_look_like_headers_are_lines),
		cmocka_unit_test(missing_newlines_are_noted_under_their_line),
		cmocka_unit_test(names_hunks_and_lines_are_coloured_and_words_marked),
		cmocka_unit_test(lines_that_differ_wholly_are_not_marked),
		cmocka_unit_test(long_lines_go_on_under_the_text),
		cmocka_unit_test(a_diff_of_crlf_lines_does_not_show_every_cr),
		cmocka_unit_test(a_diff_is_foreign_text_too),
		cmocka_unit_test(a_hostile_diff_is_rendered_in_linear_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
