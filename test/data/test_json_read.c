/* SPDX-License-Identifier: Apache-2.0 */
/* json_read: what is JSON, where it is not, and the same as jansson's own reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"

/* Reads a copy of exactly its size, so that a sanitizer sees a byte too many. */
static bool read_copy(struct span text, json_t **ret, struct err *err)
{
	_cleanup_free_ char *copy = mem_alloc(text.len + !text.len, 1);

	if (text.len)
		memcpy(copy, text.data, text.len);
	return json_parse(span_of(copy, text.len), ret, err);
}

static void values_are_read(void **state)
{
	static const struct {
		const char *text, *printed;
	} cases[] = {
		{ "null", "null" },
		{ " \t\r\ntrue\n", "true" },
		{ "false", "false" },
		{ "0", "0" },
		{ "-0", "0" },
		{ "-12", "-12" },
		{ "9223372036854775807", "9223372036854775807" },
		{ "-9223372036854775808", "-9223372036854775808" },
		{ "123456789012345678", "123456789012345678" },
		{ "1.5", "1.5" },
		{ "-1e2", "-100.0" },
		{ "1E+2", "100.0" },
		{ "25e-1", "2.5" },
		{ "0.0", "0.0" },
		{ "1e-999", "0.0" },
		{ "\"\"", "\"\"" },
		{ "\"plain text of more than eight bytes\"",
		  "\"plain text of more than eight bytes\"" },
		{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\"" },
		{ "\"a\\u00e9b\\u20ACc\\ud83d\\ude00d\"",
		  "\"a\xc3\xa9" "b\xe2\x82\xac" "c\xf0\x9f\x98\x80" "d\"" },
		{ "\"\\u0000x\\u001f\"", "\"\\u0000x\\u001f\"" },
		{ "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"",
		  "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"" },
		{ "[]", "[]" },
		{ "[ 1 ,\n[ ] , {} ]", "[1,[],{}]" },
		{ "{}", "{}" },
		{ "{ \"b\" : 1 , \"a\\n\" : { \"\" : [ null ] } }",
		  "{\"b\":1,\"a\\n\":{\"\":[null]}}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
		struct err err = ERR_INIT;
		json_t *value;

		if (!read_copy(span_str(cases[i].text), &value, &err))
			fail_msg("%s: %s", cases[i].text, err.message);
		assert_true(json_print(&out, value, 0));
		assert_string_equal(out.data, cases[i].printed);
		json_decref(value);
	}
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
	static const struct {
		const char *text, *place, *says;
	} cases[] = {
		{ "", "line 1, column 1:", "ends too early" },
		{ " \n ", "line 2, column 2:", "ends too early" },
		{ "nul", "line 1, column 1:", "a value" },
		{ "nullx", "line 1, column 5:", "follows" },
		{ "True", "line 1, column 1:", "a value" },
		{ "'a'", "line 1, column 1:", "a value" },
		{ "1 2", "line 1, column 3:", "follows" },
		{ "01", "line 1, column 2:", "number" },
		{ "-", "line 1, column 2:", "number" },
		{ "+1", "line 1, column 1:", "a value" },
		{ ".5", "line 1, column 1:", "a value" },
		{ "1.", "line 1, column 3:", "number" },
		{ "1.e5", "line 1, column 3:", "number" },
		{ "1e", "line 1, column 3:", "number" },
		{ "1e+", "line 1, column 4:", "number" },
		{ "0x10", "line 1, column 2:", "follows" },
		{ "9223372036854775808", "line 1, column 1:", "64 bits" },
		{ "[-9223372036854775809]", "line 1, column 2:", "64 bits" },
		{ "1e309", "line 1, column 1:", "too large" },
		{ "-1e309", "line 1, column 1:", "too large" },
		{ "NaN", "line 1, column 1:", "a value" },
		{ "\"", "line 1, column 2:", "no end" },
		{ "\"abc", "line 1, column 5:", "no end" },
		{ "\"abc\\", "line 1, column 5:", "no end" },
		{ "\"abc\\\"", "line 1, column 7:", "no end" },
		{ "\"a\nb\"", "line 1, column 3:", "control" },
		{ "\"\\x\"", "line 1, column 2:", "escape" },
		{ "\"\\u12\"", "line 1, column 2:", "four" },
		{ "\"\\u12G4\"", "line 1, column 2:", "four" },
		{ "\"\\u", "line 1, column 2:", "four" },
		{ "\"\\ud800\"", "line 1, column 2:", "surrogate" },
		{ "\"x\\ud800\\u0041\"", "line 1, column 3:", "surrogate" },
		{ "\"\\ud800\\n\"", "line 1, column 2:", "surrogate" },
		{ "\"\\udc00\\ud800\"", "line 1, column 2:", "surrogate" },
		{ "\"\xff\"", "line 1, column 2:", "UTF-8" },
		{ "\"\xc3\xa9\xc3\"", "line 1, column 3:", "UTF-8" },
		{ "\"\xc0\x80\"", "line 1, column 2:", "UTF-8" },
		{ "\"\xed\xa0\x80\"", "line 1, column 2:", "UTF-8" },
		{ "\"\xf4\x90\x80\x80\"", "line 1, column 2:", "UTF-8" },
		{ "\xef\xbb\xbf{}", "line 1, column 1:", "a value" },
		{ "[", "line 1, column 2:", "ends too early" },
		{ "[1", "line 1, column 3:", "',' or ']'" },
		{ "[1,]", "line 1, column 4:", "a value" },
		{ "[1 2]", "line 1, column 4:", "',' or ']'" },
		{ "[1}", "line 1, column 3:", "',' or ']'" },
		{ "{", "line 1, column 2:", "a name" },
		{ "{1:2}", "line 1, column 2:", "a name" },
		{ "{\"a\"}", "line 1, column 5:", "':'" },
		{ "{\"a\":}", "line 1, column 6:", "a value" },
		{ "{\"a\":1,}", "line 1, column 8:", "a name" },
		{ "{\"a\":1]", "line 1, column 7:", "',' or '}'" },
		{ "{\"a\":1,\n\"\\u0061\":2}", "line 2, column 1:", "duplicate" },
		{ "{\"a\\u0000\":1}", "line 1, column 2:", "\\u0000" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;
		json_t *value = NULL;

		if (read_copy(span_str(cases[i].text), &value, &err))
			fail_msg("taken for JSON: %s", cases[i].text);
		assert_null(value);
		assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
		if (!strstr(err.message, cases[i].place) || !strstr(err.message, cases[i].says))
			fail_msg("%s: %s", cases[i].text, err.message);
	}
}

static void a_byte_of_zero_is_no_end(void **state)
{
	struct err err = ERR_INIT;
	json_t *value = NULL;

	(void)state;
	assert_false(read_copy(span_of("{}\0", 3), &value, &err));
	assert_false(read_copy(span_of("\"a\0b\"", 5), &value, &err));
	assert_false(read_copy(span_of("\"\\\0\"", 4), &value, &err));
	assert_false(read_copy(span_of("[\0]", 3), &value, &err));
	assert_false(json_parse(span_of(NULL, 0), &value, &err));
	assert_null(value);
}

static bool nested(size_t levels, unsigned depth)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 24);
	struct err err = ERR_INIT;
	json_t *value;

	for (size_t i = 0; i < levels; i++)
		buf_str(&text, i % 2 ? "[" : "{\"a\":");
	buf_str(&text, "1");
	for (size_t i = levels; i > 0; i--)
		buf_char(&text, (i - 1) % 2 ? ']' : '}');
	if (!json_parse_depth(buf_view(&text), depth, &value, &err)) {
		assert_non_null(strstr(err.message, "too deep"));
		return false;
	}
	json_decref(value);
	return true;
}

static void nesting_is_bounded(void **state)
{
	(void)state;
	assert_true(nested(0, 0));
	assert_false(nested(1, 0));
	assert_true(nested(7, 7));
	assert_false(nested(8, 7));
	assert_true(nested(JSON_READ_DEPTH_MAX, JSON_READ_DEPTH_MAX));
	assert_false(nested(JSON_READ_DEPTH_MAX + 1, JSON_READ_DEPTH_MAX));
	assert_false(nested(1000000, JSON_READ_DEPTH_MAX));
}

/* Strings are taken eight bytes at a time: whatever is special may be anywhere. */
static void a_special_character_is_found_at_every_place(void **state)
{
	static const char *const specials[] = { "\"", "\\", "\\n", "\n", "\x1f", "\x80", "\xff",
	                                        "\xc3\xa9", "\xf0\x9f\x98\x80", "\x7f", "\\u00e9" };
	enum { LENGTH = 40 };

	(void)state;
	for (size_t at = 0; at < LENGTH; at++) {
		for (size_t i = 0; i < ARRAY_LEN(specials); i++) {
			_cleanup_buf_ struct buf text = BUF_INIT(1024);
			struct err err = ERR_INIT;
			json_error_t error;
			json_t *ours = NULL, *theirs;
			bool read;

			buf_char(&text, '"');
			for (size_t j = 0; j < LENGTH; j++)
				buf_str(&text, j == at ? specials[i] : "a");
			buf_char(&text, '"');
			read = read_copy(buf_view(&text), &ours, &err);
			theirs = json_loadb(text.data, text.len,
			  JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
			assert_int_equal(read, theirs != NULL);
			if (theirs)
				assert_true(json_equal(ours, theirs));
			json_decref(ours);
			json_decref(theirs);
		}
	}
}

/* --- What strangers print ----------------------------------------------------------------- */

static void the_encoding_of_strangers_is_repaired(void **state)
{
	static const struct {
		const char *text, *same; /* as JSON that is read strictly */
		size_t repaired;
	} rows[] = {
		{ "[\"a\"]", "[\"a\"]", 0 },
		{ "\"\\ud83d\"", "\"\\ufffd\"", 1 },
		{ "\"x\\ude00y\"", "\"x\\ufffdy\"", 1 },
		{ "\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\"", 0 },
		{ "\"\\ude00\\ud83d\"", "\"\\ufffd\\ufffd\"", 2 },
		{ "\"\xff\xc3\"", "\"\\ufffd\\ufffd\"", 2 },
		{ "\"\xed\xa0\xbd\"", "\"\\ufffd\"", 1 },
		{ "{\"\\ud83d\":1}", "{\"\\ufffd\":1}", 1 },
		{ "\xef\xbb\xbf{}", "{}", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;
		json_auto_t *value = NULL, *same = NULL;
		size_t repaired = 0;

		assert_true(json_parse(span_str(rows[i].same), &same, &err));
		assert_true(json_parse_foreign(span_str(rows[i].text), 8, &value, &repaired, &err));
		assert_true(json_equal(value, same));
		assert_int_equal(repaired, rows[i].repaired);
	}
}

/* All else is refused, with its place. */
static void strangers_are_refused_as_others_are(void **state)
{
	static const char *const texts[] = { "{\"a\":1,\"a\":2}", "[NaN]", "{\"a\\u0000\":1}", "[1,]",
		                             "\"a\nb\"", "99999999999999999999", "{} {}", "",
		                             "[[[[[[[[[1]]]]]]]]]", "{'a':1}" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct err err = ERR_INIT;
		json_t *value = NULL;

		assert_false(json_parse_foreign(span_str(texts[i]), 8, &value, NULL, &err));
		assert_null(value);
		assert_non_null(strstr(err.message, "line 1, column "));
	}
}

/* --- Beside jansson ----------------------------------------------------------------------- */

/* A small generator of numbers that are the same in every run. */
static uint32_t next_number(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void random_string(struct buf *out, uint32_t *seed)
{
	static const char *const pieces[] = { "a", "bcdefghi", "\\n", "\\\"", "\\u0041",
	  "\\ud83d\\ude00",
		"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\\\\", "\\/", " ", "\\u0000",
		  "{", "]", "," };

	buf_char(out, '"');
	for (uint32_t i = next_number(seed) % 8; i; i--)
		buf_str(out, pieces[next_number(seed) % ARRAY_LEN(pieces)]);
	buf_char(out, '"');
}

static void random_value(struct buf *out, uint32_t *seed, unsigned depth)
{
	static const char *const scalars[] = { "null", "true", "false", "0", "-1",
	  "12345678901234567",
		"9223372036854775807", "-9223372036854775808", "1.5", "-2e10", "1E-5", "0.1" };
	uint32_t kind = next_number(seed) % (depth ? 5 : 3);
	uint32_t count = next_number(seed) % 5;

	if (kind < 2) {
		buf_str(out, scalars[next_number(seed) % ARRAY_LEN(scalars)]);
		return;
	}
	if (kind == 2) {
		random_string(out, seed);
		return;
	}
	buf_str(out, kind == 3 ? "[ " : "{\n");
	for (uint32_t i = 0; i < count; i++) {
		buf_str(out, i ? "," : "");
		if (kind == 4) {
			buf_printf(out, "\"%u", i);
			buf_str(out, next_number(seed) % 8 ? "\": " : "\\u00e9\":");
		}
		random_value(out, seed, depth - 1);
	}
	buf_str(out, kind == 3 ? "]" : " }");
}

static void damage(struct buf *text, uint32_t *seed)
{
	static const char bytes[] = "{}[]\",:\\0129.-+eEtfnu/ \n\t\x01\x80\xc3\xed\xf4\xff";

	for (uint32_t i = next_number(seed) % 4; i && text->len; i--)
		text->data[next_number(seed) % text->len] =
			bytes[next_number(seed) % (sizeof(bytes) - 1)];
	if (next_number(seed) % 8 == 0)
		text->len -= next_number(seed) % (text->len + 1);
}

static void the_same_is_read_as_by_jansson(void **state)
{
	uint32_t seed = 20260728;
	size_t valid = 0, invalid = 0;

	(void)state;
	for (int i = 0; i < 60000; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
		struct err err = ERR_INIT;
		json_error_t error;
		json_t *ours = NULL, *theirs;
		bool read;

		random_value(&text, &seed, 4);
		if (i % 3)
			damage(&text, &seed);
		read = read_copy(buf_view(&text), &ours, &err);
		theirs = json_loadb(text.data, text.len,
		                    JSON_ALLOW_NUL | JSON_DECODE_ANY | JSON_REJECT_DUPLICATES,
		                    &error);
		if (read != (theirs != NULL) || (read && !json_equal(ours, theirs)))
			fail_msg("%.*s: ours: %s; theirs: %s", (int)text.len, text.data,
			         read ? "read" : err.message, theirs ? "read" : error.text);
		*(read ? &valid : &invalid) += 1;
		json_decref(ours);
		json_decref(theirs);
	}
	/* Both kinds were really tried. */
	assert_true(valid > 20000);
	assert_true(invalid > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read),
		cmocka_unit_test(what_is_wrong_is_told_with_its_place),
		cmocka_unit_test(a_byte_of_zero_is_no_end),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(a_special_character_is_found_at_every_place),
		cmocka_unit_test(the_encoding_of_strangers_is_repaired),
		cmocka_unit_test(strangers_are_refused_as_others_are),
		cmocka_unit_test(the_same_is_read_as_by_jansson),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
