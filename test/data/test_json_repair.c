/* SPDX-License-Identifier: Apache-2.0 */
/* Text that models write for JSON: what is repaired, what is refused and with which words, and that the
 * cost is that of the text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "data/json_repair.h"
#include "meter.h"

static const struct {
	const char *text, *json, *words;
} repaired[] = {
	{ "{\"a\": 1}", "{\"a\":1}", "" },
	{ " [1, -0.5e+3, \"\\u00e9\", true] ", "[1,-0.5e+3,\"\\u00e9\",true]", "" },
	{ "{\"a\": [1, 2,], }", "{\"a\":[1,2]}", "trailing comma removed" },
	{ "{\"a\": \"x\n\ty\x01\"}", "{\"a\":\"x\\n\\ty\\u0001\"}",
	  "raw control characters in a string escaped" },
	{ "{\"a\": \"\\d+\\.\\1 \\\"\"}", "{\"a\":\"\\\\d+\\\\.\\\\1 \\\"\"}",
	  "invalid escapes taken as a backslash and the character" },
	{ "{\"a\": \"\\u12\"}", "{\"a\":\"\\\\u12\"}",
	  "invalid escapes taken as a backslash and the character" },
	{ "{'a': 'say \"hi\"'}", "{\"a\":\"say \\\"hi\\\"\"}",
	  "single quotes replaced by double quotes" },
	{ "{'a': 'it\\'s'}", "{\"a\":\"it's\"}", "single quotes replaced by double quotes" },
	{ "{\"a\": True, \"b\": [None, undefined, NaN, False]}",
	  "{\"a\":true,\"b\":[null,null,null,false]}",
	  "literals of other languages replaced by true, false or null" },
	{ "{a_b: 1, $c-d: 2}", "{\"a_b\":1,\"$c-d\":2}", "names quoted" },
	{ "// so\n{\"a\": /* x */ 1, // y\n\"b\": \"// no\"}", "{\"a\":1,\"b\":\"// no\"}",
	  "comments removed" },
	{ "{\"a\": [{\"b\": \"c\"", "{\"a\":[{\"b\":\"c\"}]}",
	  "missing closing brackets added at the end" },
	{ "{\"a\": [1, 2]", "{\"a\":[1,2]}", "missing closing brackets added at the end" },
	{ "{\"a\": 1}}]", "{\"a\":1}", "extra closing brackets removed at the end" },
	{ "{\"a\": {\"b\": 1}, \"c\": 2, \"a\": {\"b\": 1}, \"d\": 3}",
	  "{\"a\":{\"b\":1},\"c\":2,\"d\":3}", "a repeated member dropped" },
	{ "{\"a\": 1, \"a\": 1, }", "{\"a\":1}",
	  "trailing comma removed, a repeated member dropped" },
	{ "```json\n{\"a\": 1}\n```\n", "{\"a\":1}", "code fence removed" },
	{ "{\"a\": \"\\ud83d\", \"b\": \"\xff\", \"c\": \"\\ud83d\\ude00\"}",
	  "{\"a\":\"\xef\xbf\xbd\",\"b\":\"\xef\xbf\xbd\",\"c\":\"\\ud83d\\ude00\"}",
	  "invalid characters replaced by U+FFFD" },
};

static const struct {
	const char *text, *says;
} refused[] = {
	{ "", "Line 1, column 1: expected a value, but the text ends there" },
	{ "{\"a\": \"he said \"hi\" there\"}",
	  "Line 1, column 17: expected a comma or }, found `hi\" there\"}`" },
	{ "{\"a\": \"\\d\\n\"}", "every backslash that is meant is written \\\\" },
	/* A path in a pattern, or one backslash less? */
	{ "{\"a\": \"\\d\\\\\"}", "it has invalid escapes and valid ones" },
	{ "{\"a\": \"\\/\\d\"}", "it has invalid escapes and valid ones" },
	{ "{\"a\": \"\\u00e9\\d\"}", "it has invalid escapes and valid ones" },
	/* The shell's way to quote one: it is another command without the backslash. */
	{ "{\"a\": \"echo 'it'\\''s'\"}", "a string without \\'" },
	{ "{'a': \"it\\'s\"}", "a string without \\'" },
	{ "{'a': 'caf\\xe9'}", "a string without \\x" },
	{ "{\"a\": \"\\u{1f600}\"}", "a string without \\x, \\U or \\u{" },
	{ "{\"a\": \"\\U0001f600\"}", "a string without \\x" },
	/* Source as it is, with a "\n" in it? */
	{ "{\"a\": \"x\ny\\nz\"}", "whose line ends are all written \\n" },
	{ "{\"a\": \"\tx\\ty\"}", "whose tabs are all written \\t" },
	{ "```{\"a\": 1}\n{\"a\": 2}\n```", "expected a value" },
	{ "{'a': 'it's'}", "expected a comma or }, found `s'}`" },
	{ "{\"a\":\n  src/main.c}",
	  "Line 2, column 3: expected a value (text goes in quotation marks), found `src/main.c}`" },
	{ "{\"a\": 1, \"a\": 2}", "\"a\" is there twice with different values" },
	{ "{\"a\": 12", "expected }, but the text ends there" },
	{ "{\"a\": \"x", "expected a string that is closed" },
	{ "{\"a\": 1,", "expected a name or }" },
	{ "{\"a\"", "expected a colon" },
	{ "{\"a\": 1,, \"b\": 2}", "expected a name in quotation marks" },
	{ "[1,,2]", "expected a value" },
	{ "[1}", "expected a comma or ]" },
	{ "{\"a\": 1} and so on", "expected the end of the text, found `and so on`" },
	{ "{\"a\": 1}{\"a\": 1}", "expected the end of the text" },
	{ "{\"a\": 007}", "a number of JSON" },
	{ "{\"a\": 1.}", "a number of JSON" },
	{ "{\"a\": /* 1}", "the end of this comment" },
	{ "Sure! {\"a\": 1}", "expected a value" },
};

static void one_reading_is_repaired(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(repaired); i++) {
		struct json_repair repair = { .complete = true };
		_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);
		_cleanup_buf_ struct buf words = BUF_INIT(1 << 12);
		struct err err = ERR_INIT;
		json_auto_t *value = NULL;

		if (!json_repair(span_str(repaired[i].text), &repair, &out, &err))
			fail_msg("%s: %s", repaired[i].text, err.message);
		json_repair_words(repair.made, &words);
		assert_string_equal(out.data, repaired[i].json);
		assert_string_equal(words.data ? words.data : "", repaired[i].words);
		assert_true(json_parse(buf_view(&out), &value, &err));
	}
}

static void what_may_be_two_things_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		struct json_repair repair = { .complete = true };
		_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);
		struct err err = ERR_INIT;

		if (json_repair(span_str(refused[i].text), &repair, &out, &err))
			fail_msg("%s: %s", refused[i].text, out.data);
		if (!strstr(err.message, refused[i].says))
			fail_msg("%s: %s", refused[i].text, err.message);
	}
}

static void brackets_of_a_cut_text_are_not_added(void **state)
{
	struct json_repair repair = { .complete = false };
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 16);
	struct err err = ERR_INIT;

	(void)state;
	assert_false(json_repair(SPAN("{\"a\": \"b\""), &repair, &out, &err));
}

static double cost_of(const char *piece, size_t bytes)
{
	_cleanup_buf_ struct buf text = BUF_INIT(bytes + 64);
	_cleanup_buf_ struct buf out = BUF_INIT(8 * bytes);
	struct json_repair repair = { .complete = true };
	struct err err = ERR_INIT;
	double began;

	buf_str(&text, "{");
	while (text.len < bytes)
		buf_str(&text, piece);
	began = meter_cpu_us();
	json_repair(buf_view(&text), &repair, &out, &err);
	return meter_cpu_us() - began;
}

/* Eight times the text for less than forty times the cost: what is quadratic takes 64 times. */
static void the_cost_is_linear(void **state)
{
	static const char *const pieces[] = {
		"\"a\": 1,", "'a': [[[[[[1]]]]]],", "a:1,", "/*x*/", "\"a\": {\"a\": {\"a\": 1}},",
		"\"a\\d\": \"\\d\",", "\n", "//\n", "{\"a\":",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		const double small = cost_of(pieces[i], 100000), large = cost_of(pieces[i], 800000);

		if (large > 40 * small + 50 * meter_yard_us())
			fail_msg("%s: %g, then %g", pieces[i], small, large);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_reading_is_repaired),
		cmocka_unit_test(what_may_be_two_things_is_refused),
		cmocka_unit_test(brackets_of_a_cut_text_are_not_added),
		cmocka_unit_test(the_cost_is_linear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
