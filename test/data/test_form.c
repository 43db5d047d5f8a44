/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "data/form.h"
#include "data/json.h"

static json_t *parsed(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

	assert_non_null(value);
	return value;
}

/* The only field of a form with this property. */
static json_t *one_field(const char *property)
{
	json_auto_t *schema = json_pack("{s:s, s:{s:o}, s:[s]}", "type", "object", "properties", "a",
	                                parsed(property), "required", "a");
	json_auto_t *fields = NULL;
	struct err err = ERR_INIT;

	if (!form_read(schema, &fields, &err))
		fail_msg("%s: %s", property, err.message);
	assert_int_equal(json_array_size(fields), 1);
	return json_incref(json_array_get(fields, 0));
}

static void test_values(void **state)
{
	static const struct {
		const char *property, *value;
		bool fits;
	} rows[] = {
		{ "{\"type\":\"string\"}", "\"x\"", true },
		{ "{\"type\":\"string\"}", "5", false },
		{ "{\"type\":\"string\",\"minLength\":2}", "\"\u00e4\"", false },
		{ "{\"type\":\"string\",\"maxLength\":2}", "\"\u00e4\u00e4\"", true },
		{ "{\"type\":\"string\",\"maxLength\":2}", "\"abc\"", false },
		{ "{\"type\":\"string\",\"format\":\"email\"}", "\"a@b.example\"", true },
		{ "{\"type\":\"string\",\"format\":\"email\"}", "\"a@b@c\"", false },
		{ "{\"type\":\"string\",\"format\":\"email\"}", "\"@b\"", false },
		{ "{\"type\":\"string\",\"format\":\"email\"}", "\"a b@c\"", false },
		{ "{\"type\":\"string\",\"format\":\"uri\"}", "\"https://a.example/\"", true },
		{ "{\"type\":\"string\",\"format\":\"uri\"}", "\"a.example\"", false },
		{ "{\"type\":\"string\",\"format\":\"uri\"}", "\"\"", false },
		{ "{\"type\":\"string\",\"format\":\"date\"}", "\"2024-02-29\"", true },
		{ "{\"type\":\"string\",\"format\":\"date\"}", "\"2025-02-29\"", false },
		{ "{\"type\":\"string\",\"format\":\"date\"}", "\"2025-13-01\"", false },
		{ "{\"type\":\"string\",\"format\":\"date\"}", "\"\"", false },
		{ "{\"type\":\"string\",\"format\":\"date-time\"}", "\"2024-02-29T23:59:60Z\"", true },
		{ "{\"type\":\"string\",\"format\":\"date-time\"}", "\"2024-02-29T23:59:00.5+01:00\"",
		  true },
		{ "{\"type\":\"string\",\"format\":\"date-time\"}", "\"2024-02-29T24:00:00Z\"", false },
		{ "{\"type\":\"string\",\"format\":\"date-time\"}", "\"2024-02-29T23:59:00.\"", false },
		{ "{\"type\":\"string\",\"format\":\"date-time\"}", "\"2024-02-29T23:59:00\"", false },
		{ "{\"type\":\"integer\",\"minimum\":1}", "1", true },
		{ "{\"type\":\"integer\",\"minimum\":1}", "0", false },
		{ "{\"type\":\"integer\"}", "2.0", true },
		{ "{\"type\":\"integer\"}", "2.5", false },
		{ "{\"type\":\"number\",\"maximum\":2}", "2.5", false },
		{ "{\"type\":\"number\"}", "2.5", true },
		{ "{\"type\":\"boolean\"}", "false", true },
		{ "{\"type\":\"boolean\"}", "\"false\"", false },
		{ "{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}", "\"b\"", true },
		{ "{\"type\":\"string\",\"enum\":[\"a\",\"b\"]}", "\"c\"", false },
		{ "{\"type\":\"string\",\"oneOf\":[{\"const\":\"a\",\"title\":\"A\"}]}", "\"a\"", true },
		{ "{\"type\":\"string\",\"oneOf\":[{\"const\":\"a\",\"title\":\"A\"}]}", "\"A\"", false },
		{ "{\"type\":\"array\",\"items\":{\"enum\":[\"a\",\"b\"]}}", "[\"a\",\"b\"]", true },
		{ "{\"type\":\"array\",\"items\":{\"enum\":[\"a\",\"b\"]}}", "[\"c\"]", false },
		{ "{\"type\":\"array\",\"items\":{\"enum\":[\"a\"]}}", "[\"a\",\"a\"]", false },
		{ "{\"type\":\"array\",\"minItems\":1,\"items\":{\"enum\":[\"a\"]}}", "[]", false },
		{ "{\"type\":\"array\",\"maxItems\":1,\"items\":{\"enum\":[\"a\",\"b\"]}}",
		  "[\"a\",\"b\"]", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *field = one_field(rows[i].property), *value = parsed(rows[i].value);
		struct err err = ERR_INIT;

		if (form_check_value(field, value, &err) != rows[i].fits)
			fail_msg("%s, %s: %s", rows[i].property, rows[i].value, err.message);
	}
}

static void test_forms_that_are_none(void **state)
{
	static const char *const properties[] = {
		"{}", "5", "{\"type\":\"object\"}", "{\"type\":[\"string\"]}", "{\"type\":\"array\"}",
		"{\"type\":\"string\",\"enum\":[]}", "{\"type\":\"string\",\"enum\":[5]}",
		"{\"type\":\"integer\",\"enum\":[\"a\"]}",
		"{\"type\":\"string\",\"enum\":[\"a\\u202eb\"]}",
		"{\"type\":\"string\",\"oneOf\":[{\"title\":\"A\"}]}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(properties); i++) {
		json_auto_t *schema = json_pack("{s:{s:o}}", "properties", "a",
		                                parsed(properties[i]));
		struct err err = ERR_INIT;
		json_t *fields = NULL;

		if (form_read(schema, &fields, &err))
			fail_msg("%s", properties[i]);
		assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	}
}

static void test_what_is_typed(void **state)
{
	json_auto_t *field = one_field("{\"type\":\"integer\",\"maximum\":9}");
	json_auto_t *value = NULL, *none = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_true(form_parse(field, SPAN(" 7 "), &value, &err));
	assert_int_equal(json_integer_value(value), 7);
	assert_false(form_parse(field, SPAN("seven"), &none, &err));
	assert_false(form_parse(field, SPAN("[7]"), &none, &err));
	assert_false(form_parse(field, SPAN("10"), &none, &err));
	assert_false(form_parse(field, SPAN(""), &none, &err));
	json_object_set_new(field, "required", json_false());
	assert_true(form_parse(field, SPAN(""), &none, &err));
	assert_null(none);
}

static void test_content_has_the_fields_alone(void **state)
{
	json_auto_t *schema = parsed("{\"properties\":{\"a\":{\"type\":\"string\"},"
	                             "\"b\":{\"type\":\"boolean\"}},\"required\":[\"b\"]}");
	json_auto_t *given = parsed("{\"b\":true,\"c\":1}"), *lacking = parsed("{\"a\":\"x\"}");
	json_auto_t *expected = parsed("{\"b\":true}"), *fields = NULL, *content = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_true(form_read(schema, &fields, &err));
	content = form_check(fields, given, &err);
	assert_true(json_equal(content, expected));
	assert_null(form_check(fields, lacking, &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
}

static void test_a_default_that_does_not_fit_is_none(void **state)
{
	json_auto_t *wrong = one_field("{\"type\":\"integer\",\"default\":\"x\"}");
	json_auto_t *right = one_field("{\"type\":\"integer\",\"default\":5}");

	(void)state;
	assert_null(json_object_get(wrong, "default"));
	assert_int_equal(json_integer_value(json_object_get(right, "default")), 5);
	assert_false(form_requires_secret(right));
	json_object_set_new(right, "title", json_string("Your API key"));
	assert_true(form_requires_secret(right));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_forms_that_are_none),
		cmocka_unit_test(test_what_is_typed),
		cmocka_unit_test(test_content_has_the_fields_alone),
		cmocka_unit_test(test_a_default_that_does_not_fit_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
