/* SPDX-License-Identifier: Apache-2.0 */
/* Invisible characters are shown, and those that a script or an emoji needs stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/unseen.h"

static void assert_shown(const char *text, const char *shown, size_t count)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096), back = BUF_INIT(4096);

	assert_int_equal(unseen_count(span_str(text)), count);
	assert_int_equal(unseen_show(&out, span_str(text)), count);
	assert_int_equal(out.len, strlen(shown));
	assert_memory_equal(out.data, shown, out.len);
	assert_int_equal(unseen_read(&back, buf_view(&out)), count);
	assert_int_equal(back.len, strlen(text));
	assert_memory_equal(back.data, text, back.len);
}

static void assert_stays(const char *text)
{
	assert_shown(text, text, 0);
}

static void what_is_not_seen_is_an_escape(void **state)
{
	(void)state;
	assert_shown("A\U000E0041\U000E0042.", "A\\u{e0041}\\u{e0042}.", 2);
	assert_shown("x\u202Etxt.exe\u202C", "x\\u{202e}txt.exe\\u{202c}", 2);
	assert_shown("\u2066\u2067\u2068\u2069", "\\u{2066}\\u{2067}\\u{2068}\\u{2069}", 4);
	assert_shown("a\u200Eb\u200Fc\u061Cd", "a\\u{200e}b\\u{200f}c\\u{61c}d", 3);
	assert_shown("pass\u200Bword\u2060\u2064", "pass\\u{200b}word\\u{2060}\\u{2064}", 3);
	assert_shown("\uFEFFa\uFEFF", "\\u{feff}a\\u{feff}", 2);
	assert_shown("\u3164\uFFA0", "\\u{3164}\\u{ffa0}", 2);
	assert_shown("a\u200Db, a\u200Cb", "a\\u{200d}b, a\\u{200c}b", 2);
	assert_shown("\u00AD \u00ADx", "\\u{ad} \\u{ad}x", 2);
}

static void a_run_is_never_needed(void **state)
{
	(void)state;
	assert_shown("\u845B\U000E0100\U000E0101", "\u845B\U000E0100\\u{e0101}", 1);
	assert_shown("a\U000E0100", "a\\u{e0100}", 1);
	assert_shown("\u2764\uFE0F\uFE01\uFE02", "\u2764\uFE0F\\u{fe01}\\u{fe02}", 2);
	assert_shown("\u0645\u200C\u200D\u200C", "\u0645\u200C\\u{200d}\\u{200c}", 2);
	assert_shown("\u0E01\u200B\u200B", "\u0E01\u200B\\u{200b}", 1);
	assert_shown("a\uFE0F", "a\\u{fe0f}", 1);
}

static void what_a_script_or_an_emoji_needs_stays(void **state)
{
	(void)state;
	assert_stays("plain, \u00FCmlaut, \u65E5\u672C\u8A9E, \u05E9\u05DC\u05D5\u05DD, \u0645\u0631\u062D\u0628\u0627");
	assert_stays("\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645"); /* Persian */
	assert_stays("\u0915\u094D\u200D\u0937 \u0DC1\u0DCA\u200D\u0DBB\u0DD3"); /* Hindi, Sinhala */
	assert_stays("\U0001F468\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466"); /* a family */
	assert_stays("\u2764\uFE0F\u200D\U0001F525 \U0001F3F3\uFE0F\u200D\U0001F308 1\uFE0F\u20E3");
	assert_stays("\U0001F44D\U0001F3FD \U0001F469\U0001F3FD\u200D\U0001F4BB \U0001F1E9\U0001F1EA");
	assert_stays("\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F"); /* England */
	assert_stays("\u845B\U000E0100"); /* a variant of an ideograph */
	assert_stays("Donau\u00ADdampf \u0E01\u200B\u0E02 \u1820\u180B");
}

static void other_tags_after_a_flag_are_shown(void **state)
{
	(void)state;
	assert_shown("\U0001F3F4\U000E0065\U000E0076\U000E0069\U000E006C\U000E007F",
	             "\U0001F3F4\\u{e0065}\\u{e0076}\\u{e0069}\\u{e006c}\\u{e007f}", 5);
}

static void only_our_escapes_are_read(void **state)
{
	static const char text[] = "\\u{41} \\u{} \\u{e0041 \\u{E00411111} \\x \\u{E0041} \\";
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	assert_int_equal(unseen_read(&out, span_str(text)), 1);
	buf_char(&out, 0);
	assert_string_equal(out.data, "\\u{41} \\u{} \\u{e0041 \\u{E00411111} \\x \U000E0041 \\");
}

static void bytes_that_are_no_text_stay(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(64);

	(void)state;
	assert_int_equal(unseen_show(&out, span_str("\xff\xf3\xa0\x81")), 0);
	assert_int_equal(out.len, 4);
}

/* Bidi_Control (PropList.txt) and the ends of each range of the table. */
static void the_table_is_the_property(void **state)
{
	static const uint32_t in[] = {
		0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x180B, 0x180E, 0x200B, 0x200F, 0x202A,
		0x202E, 0x2060, 0x206F, 0x3164, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF0, 0xFFF8,
		0x1BCA0, 0x1D173, 0x1D17A, 0xE0000, 0xE0001, 0xE007F, 0xE01EF, 0xE0FFF,
	};
	static const uint32_t out[] = {
		'a',    0xAC,   0xAE,   0x61B,  0x2010, 0x2028,
		0x202F, 0x2070, 0xFE10, 0xFFF9, 0xFFFD, 0xE1000,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(in); i++)
		assert_true(unseen_is(in[i]));
	for (size_t i = 0; i < ARRAY_LEN(out); i++)
		assert_false(unseen_is(out[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_seen_is_an_escape),
		cmocka_unit_test(a_run_is_never_needed),
		cmocka_unit_test(what_a_script_or_an_emoji_needs_stays),
		cmocka_unit_test(other_tags_after_a_flag_are_shown),
		cmocka_unit_test(only_our_escapes_are_read),
		cmocka_unit_test(bytes_that_are_no_text_stay),
		cmocka_unit_test(the_table_is_the_property),
	};

	return cmocka_run_group_tests_name("base/unseen", tests, NULL, NULL);
}
