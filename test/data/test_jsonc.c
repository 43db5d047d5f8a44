/* SPDX-License-Identifier: Apache-2.0 */
/* jsonc: what is read, where things stand, and changes that leave all else as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/jsonc.h"

static void comments_and_trailing_commas_are_read(void **state)
{
	static const struct {
		const char *text, *printed;
	} cases[] = {
		{ "", "{}" },
		{ " // nothing\n/* at all */", "{}" },
		{ "\xEF\xBB\xBF{\"a\": 1}", "{\"a\":1}" },
		{ "{ // one\n \"a\": /* two */ 1, // three\n}", "{\"a\":1}" },
		{ "[1, 2 /* last */ , ]", "[1,2]" },
		{ "{\"a\": \"// no /* comment */\"}", "{\"a\":\"// no /* comment */\"}" },
		{ "{\"a\": \"\\\"// no\"}", "{\"a\":\"\\\"// no\"}" },
		{ "{\"a\": [{\"b\": [],},],}", "{\"a\":[{\"b\":[]}]}" },
		{ "/**/ 5 //", "5" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(1000);
		struct err err = ERR_INIT;
		json_t *value;

		assert_true(jsonc_parse(span_str(cases[i].text), &value, &err));
		assert_true(json_print(&out, value, 0));
		assert_string_equal(out.data, cases[i].printed);
		json_decref(value);
	}
}

static void what_is_wrong_is_named_with_its_place(void **state)
{
	static const struct {
		const char *text, *place;
	} cases[] = {
		{ "{\"a\": 1,, }", "line 1, column 9" },
		{ "[,]", "line 1, column 2" },
		{ "{,}", "line 1, column 2" },
		{ "{\n  // \xc3\xa9\n  /* \xc3\xa9\xc3\xa9 */ x}", "line 3, column 12" },
		{ "{\"a\": 1}\n/* open", "line 2" },
		{ "{\"a\": 1 / 2}", "line 1, column 9" },
		{ "{\"a\": \"b}", "line 1" },
		{ "{\"a\": 1, \"a\": 2}", "line 1" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;
		json_t *value;

		assert_false(jsonc_parse(span_str(cases[i].text), &value, &err));
		assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
		if (!strstr(err.message, cases[i].place))
			fail_msg("%s: %s", cases[i].text, err.message);
	}
}

static void the_last_of_a_name_counts_where_names_may_repeat(void **state)
{
	static const char text[] = "{ // one\n\"a\": 1, \"b\": {\"c\": 1,\n\"c\": 2},\n\"a\": 3}";
	_cleanup_buf_ struct buf out = BUF_INIT(1000);
	struct err err = ERR_INIT;
	unsigned line = 77;
	json_t *value;

	(void)state;
	assert_true(jsonc_parse_repeating(span_str(text), &value, &line, &err));
	assert_true(json_print(&out, value, 0));
	assert_string_equal(out.data, "{\"a\":3,\"b\":{\"c\":2}}");
	assert_int_equal(line, 3);
	json_decref(value);
	assert_true(jsonc_parse_repeating(SPAN("{\"a\": 1}"), &value, &line, &err));
	assert_int_equal(line, 0);
	json_decref(value);
	assert_false(jsonc_parse_repeating(SPAN("{\"a\": 1,, \"a\": 2}"), &value, &line, &err));
}

static void depth_is_bounded(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	struct err err = ERR_INIT;
	json_t *value;

	(void)state;
	for (int i = 0; i < 100000; i++)
		buf_char(&text, '[');
	assert_false(jsonc_parse(buf_view(&text), &value, &err));
	assert_non_null(strstr(err.message, "deep"));
}

static unsigned line_in(struct span text, const char *path)
{
	json_auto_t *lines = jsonc_lines(text);

	return jsonc_line(lines, path);
}

static void lines_of_members_are_found(void **state)
{
	static const char text[] = "// first\n{\n  \"a.b\": 0,\n  \"a\": {\n"
				   "    \"x\\u0079\": [\n1, {\"b\": 2}],\n    /* \"b\": 3 */\n"
				   "    \"b\": {\"c\": 4}\n  }, \"z\": 5,\n}";
	static const struct {
		const char *path;
		unsigned line;
	} cases[] = {
		{ "a", 4 },   { "a.xy", 5 }, { "a.b", 8 }, { "a.b.c", 8 },
		{ "z", 9 },   { "b", 0 },    { "z.b", 0 }, { "a.", 0 },
		{ "", 0 },    { ".a", 0 },   { "a..b", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(line_in(SPAN(text), cases[i].path), cases[i].line);
	assert_int_equal(line_in(SPAN("[1]"), "a"), 0);
	assert_int_equal(line_in(SPAN(""), "a"), 0);
	assert_int_equal(line_in(SPAN("{\"a\": 1,\n\"a\": 2}"), "a"), 1);
}

static const struct change {
	const char *text, *path, *value, *after; /* value NULL: removed */
} changes[] = {
	/* Replaced. */
	{ "{\"a\": 1}", "a", "2", "{\"a\": 2}" },
	{ "{\n\t\"a\": {\"b\": [1]} // c\n}", "a.b", "\"x\"", "{\n\t\"a\": {\"b\": \"x\"} // c\n}" },
	{ "{\n  \"a\": 1\n}", "a", "{\"b\": [1]}",
	  "{\n  \"a\": {\n    \"b\": [\n      1\n    ]\n  }\n}" },
	/* Added, like its neighbours. */
	{ "{}", "a", "1", "{\n  \"a\": 1\n}" },
	{ "{ }\n", "a.b.c", "true", "{\n  \"a\": {\n    \"b\": {\n      \"c\": true\n    }\n  }\n}\n" },
	{ "{\"a\": 1}", "b", "2", "{\"a\": 1, \"b\": 2}" },
	{ "{\n\t\"a\": 1\n}\n", "b", "2", "{\n\t\"a\": 1,\n\t\"b\": 2\n}\n" },
	{ "{\r\n    \"a\": 1 // one\r\n}\r\n", "b.c", "2",
	  "{\r\n    \"a\": 1, // one\r\n    \"b\": {\r\n        \"c\": 2\r\n    }\r\n}\r\n" },
	{ "{\n  \"a\": 1, // one\n}\n", "b", "2", "{\n  \"a\": 1, // one\n  \"b\": 2\n}\n" },
	{ "{\n  \"a\": 1 /* x */ , /* y\n */ // z\n  // last\n}\n", "b", "2",
	  "{\n  \"a\": 1 /* x */ , /* y\n */ // z\n  \"b\": 2\n  // last\n}\n" },
	{ "{\n  // nothing yet\n}\n", "a", "1", "{\n  // nothing yet\n  \"a\": 1\n}\n" },
	{ "{\n  \"a\": {}\n}", "a.b", "1", "{\n  \"a\": {\n    \"b\": 1\n  }\n}" },
	{ "", "a.b", "1", "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n" },
	{ "// mine", "a", "1", "// mine\n{\n  \"a\": 1\n}\n" },
	{ "\xEF\xBB\xBF{\"a\": 1}", "b", "2", "\xEF\xBB\xBF{\"a\": 1, \"b\": 2}" },
	{ "{\"\\u0061\": 1}", "a", "2", "{\"\\u0061\": 2}" },
	/* Taken out. */
	{ "{\"a\": 1}", "a", NULL, "{}" },
	{ "{\"a\": 1, \"b\": 2}", "b", NULL, "{\"a\": 1 }" },
	{ "{\n  // of a\n  \"a\": 1,\n  \"b\": 2\n}\n", "a", NULL, "{\n  // of a\n  \"b\": 2\n}\n" },
	{ "{\n  \"a\": 1,\n  \"b\": 2 // of b\n}\n", "b", NULL, "{\n  \"a\": 1\n   // of b\n}\n" },
	{ "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2,\n  },\n}\n", "b.c", NULL,
	  "{\n  \"a\": 1,\n  \"b\": {\n  },\n}\n" },
	{ "{\n  \"a\": 1 /* x */,\n  \"b\": 2\n}", "a", NULL, "{\n   /* x */\n  \"b\": 2\n}" },
	{ "{\"a\": 1}", "b", NULL, "{\"a\": 1}" },
	{ "", "b", NULL, "" },
};

static void changes_leave_all_else_as_it_was(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		const struct change *row = &changes[i];
		_cleanup_buf_ struct buf out = BUF_INIT(1000);
		struct err err = ERR_INIT;
		json_t *value = row->value ? json_loads(row->value, JSON_DECODE_ANY, NULL) : NULL;

		assert_true(jsonc_set(span_str(row->text), row->path, value, &out, &err));
		assert_string_equal(out.data ? out.data : "", row->after);
		json_decref(value);
	}
}

static void changes_that_cannot_be_made_are_refused(void **state)
{
	static const struct {
		const char *text, *path, *says;
	} cases[] = {
		{ "[1]", "a", "not hold an object" },        { "{\"a\": 1}", "a.b", "\"a\"" },
		{ "{\"a\": {\"b\": []}}", "a.b.c", "\"a.b\"" }, { "{", "a", "line 1" },
		{ "{}", "", "path" },               { "{}", "a..b", "path" },
		{ "{}", "a.", "path" },
	};
	json_t *value = json_true();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(1000);
		struct err err = ERR_INIT;

		assert_false(jsonc_set(span_str(cases[i].text), cases[i].path, value, &out, &err));
		assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
		assert_non_null(strstr(err.message, cases[i].says));
	}
}

static void a_text_that_becomes_too_large_is_refused(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(12);
	struct err err = ERR_INIT;

	(void)state;
	assert_false(jsonc_set(SPAN("{\"a\": 1}"), "b", json_true(), &out, &err));
	assert_int_equal(err.code, ERR_TOO_LARGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comments_and_trailing_commas_are_read),
		cmocka_unit_test(what_is_wrong_is_named_with_its_place),
		cmocka_unit_test(the_last_of_a_name_counts_where_names_may_repeat),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(lines_of_members_are_found),
		cmocka_unit_test(changes_leave_all_else_as_it_was),
		cmocka_unit_test(changes_that_cannot_be_made_are_refused),
		cmocka_unit_test(a_text_that_becomes_too_large_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
