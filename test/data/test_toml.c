/* SPDX-License-Identifier: Apache-2.0 */
/* toml: values of every type, lines of tables, places of mistakes, and depth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "data/toml.h"

static void values_become_json(void **state)
{
	static const struct {
		const char *text, *printed;
	} cases[] = {
		{ "", "{}" },
		{ "a = 1\nb = 0x1f\nc = 1_000", "{\"a\":1,\"b\":31,\"c\":1000}" },
		{ "a = 9223372036854775807", "{\"a\":9223372036854775807}" },
		{ "a = 1.5\nb = -2e3\nc = 1_0.2_5", "{\"a\":1.5,\"b\":-2000.0,\"c\":10.25}" },
		{ "a = true\nb = false", "{\"a\":true,\"b\":false}" },
		{ "a = \"x\\t\\u00e9\"\nb = 'c:\\n'\nc = '''\nl1\nl2'''",
		  "{\"a\":\"x\\t\xc3\xa9\",\"b\":\"c:\\\\n\",\"c\":\"l1\\nl2\"}" },
		{ "a = [1, [2, \"x\"], {b = 3}]", "{\"a\":[1,[2,\"x\"],{\"b\":3}]}" },
		{ "a.b.c = 1\n[d.e]\nf = 2\n[[g]]\n[[g]]\nh = 3",
		  "{\"a\":{\"b\":{\"c\":1}},\"d\":{\"e\":{\"f\":2}},\"g\":[{},{\"h\":3}]}" },
		{ "a = 1979-05-27T07:32:00Z\nb = 1979-05-27 07:32:00.25-07:30\n"
		  "c = 1979-05-27T00:32:00\nd = 1979-05-27\ne = 07:32:00.999999999",
		  "{\"a\":\"1979-05-27T07:32:00Z\",\"b\":\"1979-05-27T07:32:00.25-07:30\","
		  "\"c\":\"1979-05-27T00:32:00\",\"d\":\"1979-05-27\",\"e\":\"07:32:00.999999999\"}" },
		{ "\"quoted.key\" = 1 # comment\n", "{\"quoted.key\":1}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(1000);
		struct err err = ERR_INIT;
		json_t *value;

		if (!toml_parse(span_str(cases[i].text), &value, &err))
			fail_msg("%s", err.message);
		assert_true(json_print(&out, value, 0));
		assert_string_equal(out.data, cases[i].printed);
		json_decref(value);
	}
}

static json_int_t line_of(const json_t *table)
{
	return json_integer_value(json_object_get(table, TOML_LINE));
}

static void tables_have_lines(void **state)
{
	static const char text[] = "# rules\n\n[[rule]]\na = 1\n\n[[rule]]\nb = {c = 1}\n[t]\n";
	struct err err = ERR_INIT;
	json_t *value, *rules;

	(void)state;
	assert_true(toml_parse_lines(SPAN(text), &value, &err));
	rules = json_object_get(value, "rule");
	assert_int_equal(line_of(json_array_get(rules, 0)), 3);
	assert_int_equal(line_of(json_array_get(rules, 1)), 6);
	assert_int_equal(line_of(json_object_get(json_array_get(rules, 1), "b")), 7);
	assert_int_equal(line_of(json_object_get(value, "t")), 8);
	json_decref(value);
}

static void what_is_wrong_is_named_with_its_place(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "a = 1\nb", "line 2" },
		{ "a = 1\na = 2", "line 2" },
		{ "a = nan", "line 1, column 5: a float that is not finite" },
		{ "\n\na = [1, -inf]", "line 3, column 9: a float" },
		{ "a = 1e400", "line 1" },
		{ "a = 9223372036854775808", "line 1" },
		{ "a = \"\xff\"", "line 1" },
		{ "\"a\\u0000b\" = 1", "\\u0000" },
		{ "\"\\u0001line\" = 1", "cannot be used" },
		{ "a = '''", "line 1" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;
		json_t *value;

		if (toml_parse_lines(span_str(cases[i].text), &value, &err))
			fail_msg("taken: %s", cases[i].text);
		assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
		if (!strstr(err.message, cases[i].says))
			fail_msg("%s: %s", cases[i].text, err.message);
	}
}

/* `piece` so many times between `before` and `after`. */
static bool parses(const char *before, const char *piece, size_t times, const char *after,
                   struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(16 << 20);
	json_t *value;

	buf_str(&text, before);
	for (size_t i = 0; i < times; i++)
		buf_str(&text, piece);
	buf_str(&text, after);
	if (!toml_parse(buf_view(&text), &value, err))
		return false;
	json_decref(value);
	return true;
}

static void depth_is_bounded(void **state)
{
	static const struct {
		const char *before, *piece, *after;
		size_t good;
	} cases[] = {
		{ "a = ", "[", "", 0 },     { "a = ", "{a=", "", 0 },     { "a", ".a", " = 1", 90 },
		{ "[a", ".a", "]", 90 },    { "[[a", ".a", "]]", 90 },    { "a = {b", ".b", " = 1}", 90 },
		{ "a", " . \"b\"", " = 1", 90 }, { "a = [{b", ".b", "=1}]", 90 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;

		if (cases[i].good &&
		    !parses(cases[i].before, cases[i].piece, cases[i].good, cases[i].after, &err))
			fail_msg("case %zu: %s", i, err.message);
		assert_false(
			parses(cases[i].before, cases[i].piece, 500000, cases[i].after, &err));
		assert_non_null(strstr(err.message, "deep"));
	}
}

/* Dots that lead nowhere: in strings, comments and numbers. */
static void dots_elsewhere_do_not_count(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_true(parses("a = \"", ".", 5000, "\"", &err));
	assert_true(parses("a = '''\n", "..\n", 5000, "'''", &err));
	assert_true(parses("a = 1 # ", ".", 5000, "", &err));
	assert_true(parses("a = [", "1.5, ", 5000, "]", &err));
	assert_true(parses("a = [", "1.5,\n", 5000, "]", &err));
	assert_true(parses("", "[[r]]\nb.c = 1.5\n", 500, "", &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_become_json),
		cmocka_unit_test(tables_have_lines),
		cmocka_unit_test(what_is_wrong_is_named_with_its_place),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(dots_elsewhere_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
