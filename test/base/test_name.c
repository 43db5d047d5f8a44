/* SPDX-License-Identifier: Apache-2.0 */
/* Names of any bytes are shown as text that names them. (fuzz/fuzz_name.c: all of them do.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/name.h"

static void assert_text(const struct buf *out, const char *expected)
{
	assert_string_equal(out->data ? out->data : "", expected);
	assert_int_equal(out->len, strlen(expected));
}

static void assert_names(const char *name, const char *shown, const char *line)
{
	_cleanup_buf_ struct buf a = BUF_INIT(4096), b = BUF_INIT(4096);
	_cleanup_buf_ struct buf again = BUF_INIT(4096);

	name_show(&a, span_str(name));
	assert_text(&a, shown);
	name_line(&b, span_str(name));
	assert_text(&b, line);
	name_read(&again, buf_view(&a));
	assert_text(&again, name);
	buf_clear(&again);
	name_read(&again, buf_view(&b));
	assert_text(&again, name);
}

static void a_byte_that_is_no_text_is_an_escape(void **state)
{
	(void)state;
	assert_names("", "", "");
	assert_names("caf\xE9.txt", "caf\\xe9.txt", "caf\\xe9.txt");
	assert_names("\x80", "\\x80", "\\x80");
	assert_names("\xC0\xAF", "\\xc0\\xaf", "\\xc0\\xaf");
	assert_names("\xED\xA0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80");
	assert_names("\xF0\x9F\x98", "\\xf0\\x9f\\x98", "\\xf0\\x9f\\x98");
	assert_names("caf\u00e9 \u0646\u200c\u0647.txt", "caf\u00e9 \u0646\u200c\u0647.txt",
	             "caf\u00e9 \u0646\u200c\u0647.txt");
}

static void a_line_has_neither_controls_nor_markup(void **state)
{
	(void)state;
	assert_names("a\nb\x1b[1m", "a\nb\x1b[1m", "a\\x0ab\\x1b[1m");
	assert_names("\x7f\xC2\x85\u2028", "\x7f\xC2\x85\u2028", "\\x7f\\xc2\\x85\\xe2\\x80\\xa8");
	assert_names("</session_context>", "</session_context>", "\\x3c/session_context>");
	assert_names("x\u202Egpj.exe", "x\u202Egpj.exe", "x\\u{202e}gpj.exe");
}

static void a_backslash_of_the_name_begins_no_escape(void **state)
{
	(void)state;
	assert_names("a\\b\\", "a\\b\\", "a\\b\\");
	assert_names("dev-disk-by\\x2dlabel.swap", "dev-disk-by\\x2dlabel.swap",
	             "dev-disk-by\\x2dlabel.swap");
	assert_names("caf\\xe9.txt", "caf\\x5cxe9.txt", "caf\\x5cxe9.txt");
	assert_names("caf\\x5cxe9.txt", "caf\\x5cx5cxe9.txt", "caf\\x5cx5cxe9.txt");
	assert_names("\\x5c", "\\x5c", "\\x5c");
	assert_names("\\u{202e}\\u{41}", "\\x5cu{202e}\\u{41}", "\\x5cu{202e}\\u{41}");
	assert_names("\\\xE9\\x\xE9", "\\\\xe9\\x\\xe9", "\\\\xe9\\x\\xe9");
}

static void what_spells_visible_ascii_is_no_escape(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(4096);

	(void)state;
	assert_int_equal(name_read(&out, SPAN("\\x2eenv \\x2f \\x00 \\xg0 \\x4 \\u{2e}")), 0);
	assert_text(&out, "\\x2eenv \\x2f \\x00 \\xg0 \\x4 \\u{2e}");
	buf_clear(&out);
	assert_int_equal(name_read(&out, SPAN("caf\\xE9 \\U{202e} \\u{202E}")), 2);
	assert_text(&out, "caf\xE9 \\U{202e} \u202E");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_byte_that_is_no_text_is_an_escape),
		cmocka_unit_test(a_line_has_neither_controls_nor_markup),
		cmocka_unit_test(a_backslash_of_the_name_begins_no_escape),
		cmocka_unit_test(what_spells_visible_ascii_is_no_escape),
	};

	return cmocka_run_group_tests_name("base/name", tests, NULL, NULL);
}
