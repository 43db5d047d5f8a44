/* SPDX-License-Identifier: Apache-2.0 */
/* yaml: values of every type, what is refused with its place, depth and size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "catalog/frontmatter.h"

static void values_become_json(void **state)
{
	static const struct {
		const char *text, *printed;
	} cases[] = {
		{ "", "null" },
		{ "# nothing\n", "null" },
		{ "a: 1\nb: -7\nc: 0x1F\nd: 0o17\ne: +3", "{\"a\":1,\"b\":-7,\"c\":31,\"d\":15,\"e\":3}" },
		{ "a: 1.5\nb: -2e3\nc: .5\nd: 1.", "{\"a\":1.5,\"b\":-2000.0,\"c\":0.5,\"d\":1.0}" },
		{ "a: 9223372036854775807\nb: 9223372036854775808",
		  "{\"a\":9223372036854775807,\"b\":9.2233720368547758e18}" },
		{ "a: true\nb: False\nc: null\nd: ~\ne:", "{\"a\":true,\"b\":false,\"c\":null,\"d\":null,\"e\":null}" },
		{ "a: yes\nb: off\nc: 2026-11-27\nd: 1_000\ne: 0x\nf: .\ng: 1e\nh: .nan\ni: 1.2.3\nj: '1'",
		  "{\"a\":\"yes\",\"b\":\"off\",\"c\":\"2026-11-27\",\"d\":\"1_000\",\"e\":\"0x\",\"f\":\".\","
		  "\"g\":\"1e\",\"h\":\".nan\",\"i\":\"1.2.3\",\"j\":\"1\"}" },
		{ "a: \"x\\t\\u00e9\"\nb: 'it''s'\nc: plain text # comment",
		  "{\"a\":\"x\\t\xc3\xa9\",\"b\":\"it's\",\"c\":\"plain text\"}" },
		{ "a: >\n  one\n  two\nb: |\n  one\n  two\nc: |-\n  x\n",
		  "{\"a\":\"one two\\n\",\"b\":\"one\\ntwo\\n\",\"c\":\"x\"}" },
		{ "- 1\n- [2, x]\n- {b: 3, \"c\": [ ]}\n", "[1,[2,\"x\"],{\"b\":3,\"c\":[]}]" },
		{ "b: 1\na:\n  c:\n  - d\n  - e: f\n", "{\"b\":1,\"a\":{\"c\":[\"d\",{\"e\":\"f\"}]}}" },
		{ "---\na: &x 1\n...\n", "{\"a\":1}" },
		{ "\xEF\xBB\xBF" "a: 1\r\nb: 2\r\n", "{\"a\":1,\"b\":2}" },
		{ "word", "\"word\"" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(1000);
		struct err err = ERR_INIT;
		json_t *value;

		if (!yaml_parse(span_str(cases[i].text), &value, &err))
			fail_msg("%s: %s", cases[i].text, err.message);
		assert_true(json_print(&out, value, 0));
		assert_string_equal(out.data, cases[i].printed);
		json_decref(value);
	}
}

static void what_is_refused_is_named_with_its_place(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "a: b: c", "line 1, column 5" },
		{ "a: 1\n b: 2", "line 2" },
		{ "a: [1", "line " },
		{ "a: 'x", "line " },
		{ "a: 1\na: 2", "line 2, column 1: a key stands twice" },
		{ "a: &x [1]\nb: *x", "line 2, column 4: an alias" },
		{ "a: !!python/object:os.system x", "line 1, column 4: a tag" },
		{ "a: !!map {}", "a tag" },
		{ "a: ! x", "a tag" },
		{ "[1]: x", "a key that is no scalar" },
		{ "? {a: b}\n: x", "a key that is no scalar" },
		{ "\"a\\0b\": x", "a key with a NUL" },
		{ "a: 1\n---\nb: 2", "line 2, column 1: a second document" },
		{ "a: \"\xff\"", "invalid UTF-8" },
		{ "a: \x01", "control character" },
		{ "%FOO", "Not YAML" },
		{ "a: *unknown", "an alias" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = ERR_INIT;
		json_t *value;

		if (yaml_parse(span_str(cases[i].text), &value, &err))
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
	if (!yaml_parse(buf_view(&text), &value, err))
		return false;
	json_decref(value);
	return true;
}

static void depth_and_size_are_bounded(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_true(parses("", "- ", YAML_DEPTH_MAX, "x", &err));
	assert_true(parses("a: ", "[", YAML_DEPTH_MAX - 1, "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", &err));
	assert_false(parses("", "- ", YAML_DEPTH_MAX + 1, "x", &err));
	assert_non_null(strstr(err.message, "nested too deep"));
	assert_false(parses("a: ", "[", 100000, "", &err));
	assert_non_null(strstr(err.message, "nested too deep"));
	assert_false(parses("", "{a: ", 50000, "", &err));
	assert_non_null(strstr(err.message, "nested too deep"));
	assert_true(parses("", "- x\n", LIMIT_YAML_NODES - 1, "", &err));
	assert_false(parses("", "- x\n", LIMIT_YAML_NODES, "", &err));
	assert_int_equal(err.code, ERR_TOO_LARGE);
	assert_false(parses("a: ", "x", LIMIT_YAML_BYTES, "", &err));
	assert_int_equal(err.code, ERR_TOO_LARGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_become_json),
		cmocka_unit_test(what_is_refused_is_named_with_its_place),
		cmocka_unit_test(depth_and_size_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
