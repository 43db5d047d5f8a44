/* SPDX-License-Identifier: Apache-2.0 */
/* json: text of any bytes, printing, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "data/json.h"

static void printed_as(const char *text, unsigned indent, const char *wanted)
{
	_cleanup_buf_ struct buf out = BUF_INIT(65536);
	struct err err = ERR_INIT;
	json_t *value;

	assert_true(json_parse(span_str(text), &value, &err));
	assert_true(json_print(&out, value, indent));
	assert_string_equal(out.data, wanted);
	json_decref(value);
}

static void objects_keep_their_order(void **state)
{
	(void)state;
	printed_as(" {\"b\" : 1, \"a\" : [true, false, null, -2, 1.5] } ", 0,
	           "{\"b\":1,\"a\":[true,false,null,-2,1.5]}");
}

static void indented_printing_puts_each_member_on_a_line(void **state)
{
	(void)state;
	printed_as("{\"b\":1,\"a\":[1,2],\"c\":{},\"d\":[]}", 2,
	           "{\n  \"b\": 1,\n  \"a\": [\n    1,\n    2\n  ],\n  \"c\": {},\n  \"d\": []\n}");
}

static void strings_are_escaped_as_little_as_the_format_allows(void **state)
{
	(void)state;
	printed_as("\"\\u0001\\b\\f\\n\\r\\t\\\"\\\\\\/\\u00e9\\ud83d\\ude00\\u007f\\u0000x\"", 0,
	           "\"\\u0001\\b\\f\\n\\r\\t\\\"\\\\/\xc3\xa9\xf0\x9f\x98\x80\x7f\\u0000x\"");
}

static void every_single_byte_survives_the_way_out_and_back(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 128; c++) {
		_cleanup_buf_ struct buf out = BUF_INIT(64);
		char text[2] = { (char)c, 'x' };
		json_t *value = json_text(span_of(text, 2));
		json_t *back;
		struct err err = ERR_INIT;

		assert_true(json_print(&out, value, 0));
		assert_true(json_parse(buf_view(&out), &back, &err));
		assert_true(span_eq(json_span(back), span_of(text, 2)));
		json_decref(value);
		json_decref(back);
	}
}

/* Printing takes eight bytes at a time and strings in pieces: an escape may be anywhere. */
static void an_escape_is_found_at_every_place_of_a_long_string(void **state)
{
	static const char specials[] = { '"', '\\', '\n', 1, 31 };
	enum { LENGTH = 16384 + 40 };
	char *text = malloc(LENGTH);

	(void)state;
	memset(text, 'a', LENGTH);
	memcpy(text + 100, "\xc3\xa9\xf0\x9f\x98\x80", 6);
	for (size_t at = 0; at < LENGTH; at += at > 40 && at < 16360 ? 331 : 1) {
		_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
		char before = text[at];
		json_t *value, *back;
		struct err err = ERR_INIT;

		if ((unsigned char)before >= 0x80)
			continue;
		text[at] = specials[at % sizeof(specials)];
		value = json_text(span_of(text, LENGTH));
		assert_true(json_print(&out, value, 0));
		assert_true(json_parse(buf_view(&out), &back, &err));
		assert_true(json_equal(value, back));
		json_decref(value);
		json_decref(back);
		text[at] = before;
	}
	free(text);
}

static void printing_more_than_the_buffer_may_hold_fails(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1000);
	json_t *value = json_array();

	(void)state;
	for (int i = 0; i < 1000; i++)
		json_array_append_new(value, json_cstr("abc"));
	assert_false(json_print(&out, value, 0));
	json_decref(value);
}

static void bytes_that_are_not_utf8_are_shown_escaped(void **state)
{
	json_t *value = json_text(SPAN("a\xff\xc3\xa9\xed\xa0\x80z"));

	(void)state;
	assert_string_equal(json_string_value(value), "a\\xff\xc3\xa9\\xed\\xa0\\x80z");
	json_decref(value);
}

static void a_syntax_error_says_where(void **state)
{
	struct err err = ERR_INIT;
	json_t *value = NULL;

	(void)state;
	assert_false(json_parse(SPAN("{\n \"a\": }"), &value, &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	assert_non_null(strstr(err.message, "line 2"));
	assert_false(json_parse(SPAN(""), &value, &err));
	assert_false(json_parse(SPAN("{} x"), &value, &err));
	assert_false(json_parse(SPAN("\"\xff\""), &value, &err));
	assert_false(json_parse(SPAN("{\"a\":1,\"a\":2}"), &value, &err));
	assert_null(value);
}

static void nesting_past_the_limit_is_not_printed(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(65536);
	json_t *value = json_array();

	(void)state;
	for (int i = 0; i < JSON_DEPTH_MAX + 5; i++) {
		json_t *outer = json_array();

		json_array_append_new(outer, value);
		value = outer;
	}
	assert_false(json_print(&out, value, 0));
	json_decref(value);
}

static void base64_is_that_of_rfc_4648(void **state)
{
	static const char *const pairs[][2] = {
		{ "", "" },         { "f", "Zg==" },         { "fo", "Zm8=" },
		{ "foo", "Zm9v" },  { "foob", "Zm9vYg==" },  { "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" }, { "\xff\xfe\xfd", "//79" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		json_t *value = json_base64(span_str(pairs[i][0]));

		assert_string_equal(json_string_value(value), pairs[i][1]);
		json_decref(value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_keep_their_order),
		cmocka_unit_test(indented_printing_puts_each_member_on_a_line),
		cmocka_unit_test(strings_are_escaped_as_little_as_the_format_allows),
		cmocka_unit_test(every_single_byte_survives_the_way_out_and_back),
		cmocka_unit_test(an_escape_is_found_at_every_place_of_a_long_string),
		cmocka_unit_test(printing_more_than_the_buffer_may_hold_fails),
		cmocka_unit_test(bytes_that_are_not_utf8_are_shown_escaped),
		cmocka_unit_test(a_syntax_error_says_where),
		cmocka_unit_test(nesting_past_the_limit_is_not_printed),
		cmocka_unit_test(base64_is_that_of_rfc_4648),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
