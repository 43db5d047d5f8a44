/* SPDX-License-Identifier: Apache-2.0 */
/* schema_check: what it says about wrong values, and what it makes of nearly right ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/json.h"
#include "data/schema.h"

static json_t *parse(const char *text)
{
	struct err err = ERR_INIT;
	json_t *value = NULL;

	if (!json_parse(span_str(text), &value, &err))
		fail_msg("%s: %s", text, err.message);
	return value;
}

/* Checks `value` against `schema`: the problems must be these, and, if there are none,
 * the value that comes out must equal `meant` (NULL: the value that went in). */
static void check(const char *schema_text, const char *value_text, const char *problems_wanted,
                  const char *meant_text)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(16384);
	struct err err = ERR_INIT;
	struct schema *schema = NULL;
	json_t *value = parse(value_text);
	json_t *before = json_deep_copy(value);
	json_t *meant = parse(meant_text ? meant_text : value_text);
	json_t *got;

	if (!schema_compile(span_str(schema_text), &schema, &err))
		fail_msg("%s", err.message);
	got = schema_check(schema, value, &problems);
	assert_string_equal(problems.data ? problems.data : "", problems_wanted);
	assert_true(json_equal(value, before)); /* never changed */
	if (!*problems_wanted)
		assert_true(json_equal(got, meant));
	json_decref(got);
	json_decref(meant);
	json_decref(before);
	json_decref(value);
	schema_free(schema);
}

static const char person[] =
	"{\"type\":\"object\",\"required\":[\"name\"],\"additionalProperties\":false,"
	"\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1},"
	"\"age\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":150},"
	"\"weight\":{\"type\":\"number\"},"
	"\"alive\":{\"type\":\"boolean\"},"
	"\"note\":{\"type\":[\"string\",\"null\"]},"
	"\"mood\":{\"enum\":[\"good\",\"bad\"]},"
	"\"tags\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":3,"
	"\"items\":{\"type\":\"string\"}}}}";

static void a_right_value_has_no_problems(void **state)
{
	(void)state;
	check(person, "{\"name\":\"Ada\",\"age\":36,\"weight\":50.5,\"alive\":false,"
	              "\"note\":null,\"mood\":\"good\",\"tags\":[\"a\"]}", "", NULL);
}

static void a_missing_argument_is_named(void **state)
{
	(void)state;
	check(person, "{}", "name: required, but missing", NULL);
}

static void an_unknown_argument_is_named_with_the_nearest_known_one(void **state)
{
	(void)state;
	check(person, "{\"name\":\"Ada\",\"Wieght\":1}",
	      "Wieght: unknown argument; did you mean weight?", NULL);
	check(person, "{\"name\":\"Ada\",\"zzz\":1}", "zzz: unknown argument", NULL);
}

static void all_problems_are_told_at_once(void **state)
{
	(void)state;
	check(person, "{\"name\":5.5,\"age\":-1,\"mood\":\"so so\",\"tags\":[1.5,\"b\"]}",
	      "name: expected a string, got a number (5.5); age: must be at least 0, got -1; "
	      "mood: must be one of \"good\", \"bad\", got \"so so\"; "
	      "tags[0]: expected a string, got a number (1.5)", NULL);
}

static void a_problem_deep_inside_has_its_whole_path(void **state)
{
	(void)state;
	check("{\"type\":\"object\",\"properties\":{\"changes\":{\"type\":\"array\",\"items\":"
	      "{\"type\":\"object\",\"properties\":{\"hash\":{\"type\":\"string\"}}}}}}",
	      "{\"changes\":[{\"hash\":\"a\"},{},{\"hash\":7.5}]}",
	      "changes[2].hash: expected a string, got a number (7.5)", NULL);
}

static void a_value_of_the_wrong_type_at_the_top_is_called_arguments(void **state)
{
	(void)state;
	check(person, "[]", "arguments: expected an object, got an array ([])", NULL);
}

static void numbers_and_booleans_as_text_are_taken_as_meant(void **state)
{
	(void)state;
	check(person, "{\"name\":-5,\"tags\":[1]}", "", "{\"name\":\"-5\",\"tags\":[\"1\"]}");
	check(person, "{\"name\":\"Ada\",\"age\":\"36\",\"weight\":\"1.5\",\"alive\":\"true\"}", "",
	      "{\"name\":\"Ada\",\"age\":36,\"weight\":1.5,\"alive\":true}");
	check(person, "{\"name\":\"Ada\",\"age\":36.0}", "", "{\"name\":\"Ada\",\"age\":36}");
}

static void text_that_is_not_wholly_a_number_is_not_taken_for_one(void **state)
{
	(void)state;
	check(person, "{\"name\":\"Ada\",\"age\":\"36 years\"}",
	      "age: expected an integer, got a string (\"36 years\")", NULL);
	check(person, "{\"name\":\"Ada\",\"age\":36.5}", "age: expected an integer, got a number "
	      "(36.5)", NULL);
	check(person, "{\"name\":\"Ada\",\"age\":\"99999999999999999999\"}",
	      "age: expected an integer, got a string (\"99999999999999999999\")", NULL);
	check(person, "{\"name\":\"Ada\",\"alive\":\"yes\"}",
	      "alive: expected a boolean, got a string (\"yes\")", NULL);
}

static void a_number_given_as_text_is_still_held_to_its_bounds(void **state)
{
	(void)state;
	check(person, "{\"name\":\"Ada\",\"age\":\"151\"}", "age: must be at most 150, got 151",
	      NULL);
}

static void one_string_stands_for_a_list_of_one(void **state)
{
	(void)state;
	check(person, "{\"name\":\"Ada\",\"tags\":\"a\"}", "",
	      "{\"name\":\"Ada\",\"tags\":[\"a\"]}");
	check(person, "{\"name\":\"Ada\",\"tags\":\"[\\\"a\\\",\\\"b\\\"]\"}", "",
	      "{\"name\":\"Ada\",\"tags\":[\"a\",\"b\"]}");
}

static void null_for_what_may_be_left_out_is_as_if_left_out(void **state)
{
	(void)state;
	check(person, "{\"name\":\"Ada\",\"age\":null}", "", "{\"name\":\"Ada\"}");
	check(person, "{\"name\":null}", "name: expected a string, got null", NULL);
}

static void the_length_of_lists_and_strings_is_checked(void **state)
{
	(void)state;
	check(person, "{\"name\":\"\"}", "name: must not be empty", NULL);
	check(person, "{\"name\":\"a\",\"tags\":[]}", "tags: needs at least 1 element", NULL);
	check(person, "{\"name\":\"a\",\"tags\":[\"1\",\"2\",\"3\",\"4\"]}",
	      "tags: has 4 elements, at most 3 are possible", NULL);
}

static void a_nul_character_is_refused_in_any_string(void **state)
{
	(void)state;
	check(person, "{\"name\":\"a\\u0000b\"}", "name: must not contain a NUL character", NULL);
}

static const char shapes[] =
	"{\"oneOf\":[{\"type\":\"object\",\"required\":[\"kind\",\"radius\"],"
	"\"additionalProperties\":false,\"properties\":{\"kind\":{\"const\":\"circle\"},"
	"\"radius\":{\"type\":\"number\"}}},"
	"{\"type\":\"object\",\"required\":[\"kind\",\"side\"],\"additionalProperties\":false,"
	"\"properties\":{\"kind\":{\"const\":\"square\"},\"side\":{\"type\":\"number\"}}}]}";

static void the_kind_chooses_the_branch(void **state)
{
	(void)state;
	check(shapes, "{\"kind\":\"square\",\"side\":2}", "", NULL);
	check(shapes, "{\"kind\":\"square\",\"radius\":2}",
	      "radius: unknown argument; side: required, but missing", NULL);
}

static void an_unknown_kind_lists_the_known_ones(void **state)
{
	(void)state;
	check(shapes, "{\"kind\":\"cube\"}",
	      "kind: must be one of \"circle\", \"square\", got \"cube\"", NULL);
	check(shapes, "{\"side\":2}",
	      "kind: required, but missing; one of \"circle\", \"square\"", NULL);
}

static void branches_without_a_kind_are_tried_in_turn(void **state)
{
	static const char schema[] =
		"{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":"
		"{\"type\":\"integer\"}}]}";

	(void)state;
	check(schema, "\"a\"", "", NULL);
	check(schema, "[1,2]", "", NULL);
	check(schema, "[1,\"x\"]", "arguments: expected a string, got an array ([1,\"x\"])", NULL);
}

static void many_problems_end_in_and_more(void **state)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(16384);
	_cleanup_buf_ struct buf text = BUF_INIT(65536);
	struct err err = ERR_INIT;
	struct schema *schema;
	json_t *value;

	(void)state;
	buf_str(&text, "[0.5");
	for (int i = 0; i < 1000; i++)
		buf_str(&text, ",0.5");
	buf_str(&text, "]");
	value = parse(text.data);
	assert_true(schema_compile(SPAN("{\"items\":{\"type\":\"string\"}}"), &schema, &err));
	json_decref(schema_check(schema, value, &problems));
	assert_non_null(strstr(problems.data, "[19]: expected"));
	assert_null(strstr(problems.data, "[20]: expected"));
	assert_true(span_ends(buf_view(&problems), SPAN("; and more")));
	json_decref(value);
	schema_free(schema);
}

static void a_bad_schema_is_refused(void **state)
{
	static const char *const bad[] = {
		"", "{", "5", "{\"type\":\"text\"}", "{\"type\":7}", "{\"required\":\"a\"}",
		"{\"properties\":[]}", "{\"enum\":[]}", "{\"minimum\":\"1\"}", "{\"minItems\":-1}",
		"{\"oneOf\":[]}", "{\"items\":3}", "{\"properties\":{\"a\":{\"type\":\"x\"}}}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err err = ERR_INIT;
		struct schema *schema = NULL;

		if (schema_compile(span_str(bad[i]), &schema, &err))
			fail_msg("accepted: %s", bad[i]);
		assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	}
}

static void a_schema_nested_too_deeply_is_refused(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(65536);
	struct err err = ERR_INIT;
	struct schema *schema = NULL;

	(void)state;
	for (int i = 0; i < 100; i++)
		buf_str(&text, "{\"items\":");
	buf_str(&text, "{}");
	for (int i = 0; i < 100; i++)
		buf_str(&text, "}");
	assert_false(schema_compile(buf_view(&text), &schema, &err));
}

static void names_are_compared_without_case_and_underscores(void **state)
{
	static const char *const names[] = { "file_path", "start_line", "unified_diff" };

	(void)state;
	assert_string_equal(schema_nearest_name("filePath", names, 3), "file_path");
	assert_string_equal(schema_nearest_name("startline", names, 3), "start_line");
	assert_string_equal(schema_nearest_name("diff", names, 3), "unified_diff");
	assert_null(schema_nearest_name("colour", names, 3));
	assert_null(schema_nearest_name("", names, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_right_value_has_no_problems),
		cmocka_unit_test(a_missing_argument_is_named),
		cmocka_unit_test(an_unknown_argument_is_named_with_the_nearest_known_one),
		cmocka_unit_test(all_problems_are_told_at_once),
		cmocka_unit_test(a_problem_deep_inside_has_its_whole_path),
		cmocka_unit_test(a_value_of_the_wrong_type_at_the_top_is_called_arguments),
		cmocka_unit_test(numbers_and_booleans_as_text_are_taken_as_meant),
		cmocka_unit_test(text_that_is_not_wholly_a_number_is_not_taken_for_one),
		cmocka_unit_test(a_number_given_as_text_is_still_held_to_its_bounds),
		cmocka_unit_test(one_string_stands_for_a_list_of_one),
		cmocka_unit_test(null_for_what_may_be_left_out_is_as_if_left_out),
		cmocka_unit_test(the_length_of_lists_and_strings_is_checked),
		cmocka_unit_test(a_nul_character_is_refused_in_any_string),
		cmocka_unit_test(the_kind_chooses_the_branch),
		cmocka_unit_test(an_unknown_kind_lists_the_known_ones),
		cmocka_unit_test(branches_without_a_kind_are_tried_in_turn),
		cmocka_unit_test(many_problems_end_in_and_more),
		cmocka_unit_test(a_bad_schema_is_refused),
		cmocka_unit_test(a_schema_nested_too_deeply_is_refused),
		cmocka_unit_test(names_are_compared_without_case_and_underscores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
