/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with an argument is said of the name and the value that were sent: for each parameter of
 * each tool, by each of its names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/schema.h"
#include "tool/set.h"
#include "tool/tool.h"

/* One wrong value in a call. */
struct attempt {
	const struct tool *tool;
	const struct schema *schema;
	const char *list;  /* the member is one of each element of this list; NULL: of the call */
	const char *kind;  /* of the element */
	const char *name;  /* as sent */
	json_t *value;     /* owned */
};

static size_t attempts;

static json_t *arguments_of(const struct attempt *attempt)
{
	json_t *arguments = json_object(), *list, *element;

	if (!attempt->list) {
		json_object_set(arguments, attempt->name, attempt->value);
		return arguments;
	}
	element = json_object();
	if (attempt->kind)
		json_object_set_new(element, "kind", json_string(attempt->kind));
	json_object_set(element, attempt->name, attempt->value);
	list = json_array();
	json_array_append_new(list, element);
	json_object_set_new(arguments, attempt->list, list);
	return arguments;
}

/* The problem that the answer has for the name; the others are of what is missing. */
static void said_as_sent(struct attempt *attempt)
{
	json_auto_t *arguments = arguments_of(attempt), *sent = NULL, *renamed, *checked;
	_cleanup_buf_ struct buf problems = BUF_INIT(1 << 16), value = BUF_INIT(1 << 16);
	_cleanup_free_ char *where = attempt->list ?
		mem_printf("%s[0].%s: ", attempt->list, attempt->name) :
		mem_printf("%s: ", attempt->name);
	const char *said, *got;

	attempts++;
	renamed = alias_resolve(attempt->tool, attempt->tool->name, arguments, &sent, &problems);
	if (problems.len)
		buf_str(&problems, "; ");
	checked = schema_check_sent(attempt->schema, renamed, sent, &problems);
	json_print(&value, attempt->value, 0);
	said = problems.data ? strstr(problems.data, where) : NULL;
	if (!said)
		fail_msg("%s, %s: not named in: %s", attempt->tool->name, where, problems.data);
	got = strstr(said, value.data);
	if (!got || (strchr(said, ';') && got > strchr(said, ';')))
		fail_msg("%s, %s: %s is not in: %s", attempt->tool->name, where, value.data, said);
	json_decref(attempt->value);
	attempt->value = NULL;
}

static bool is_type(const json_t *property, const char *type)
{
	return span_eq(json_span(json_object_get(property, "type")), span_str(type));
}

/* A value of another type, and one out of range; `offset`: the name counts from 0. */
static void try_wrong_values(struct attempt *attempt, const json_t *property, int offset)
{
	const json_t *least = json_object_get(property, "minimum");
	const json_t *most = json_object_get(property, "maximum");

	if (!json_object_get(property, "type") && !json_object_get(property, "enum"))
		return; /* takes any value */
	attempt->value = is_type(property, "string") ||
	                                 json_is_array(json_object_get(property, "type")) ?
	                         json_pack("[i]", 77) :
	                 is_type(property, "array") ? json_integer(77) :
	                                              json_string("never a value");
	said_as_sent(attempt);
	if (least) {
		attempt->value = json_integer((json_int_t)json_number_value(least) - 1 - offset);
		said_as_sent(attempt);
	}
	if (most && json_number_value(most) < 1e6) {
		attempt->value = json_integer((json_int_t)json_number_value(most) + 1 - offset);
		said_as_sent(attempt);
	}
	if (json_object_get(property, "enum")) {
		attempt->value = json_string("none of them");
		said_as_sent(attempt);
	}
}

/* The properties of the element of a list that has the member, and the kind that it is; NULL: none. */
static const json_t *element_property(const json_t *list, const char *member, const char **ret_kind)
{
	const json_t *items = json_object_get(list, "items"), *branch;
	const json_t *one = json_object_get(json_object_get(items, "properties"), member);
	size_t i;

	json_array_foreach(json_object_get(items, "oneOf"), i, branch) {
		const json_t *properties = json_object_get(branch, "properties");

		if (one || !json_object_get(properties, member))
			continue;
		one = json_object_get(properties, member);
		*ret_kind = json_string_value(
			json_object_get(json_object_get(properties, "kind"), "const"));
	}
	return one;
}

static void try_alias(const struct tool *tool, const struct schema *schema, const json_t *properties,
                      const struct tool_alias *row)
{
	const char *brackets = strstr(row->alias, "[].");
	_cleanup_free_ char *list = brackets ? mem_dup(row->alias, (size_t)(brackets - row->alias)) :
	                                       NULL;
	struct attempt attempt = { .tool = tool, .schema = schema, .list = list,
		                   .name = brackets ? brackets + 3 : row->alias };
	const json_t *property = brackets ? element_property(json_object_get(properties, list), row->name,
	                                                     &attempt.kind) :
	                                    json_object_get(properties, row->name);

	if (strcmp(row->name, "kind") == 0)
		return; /* without it nothing else is known of the element */
	if (!property)
		fail_msg("%s: %s stands for no parameter", tool->name, row->alias);
	try_wrong_values(&attempt, property, row->offset_by);
}

static void try_tool(const struct tool *tool)
{
	json_auto_t *declared = NULL;
	struct schema *schema;
	struct err err = ERR_INIT;
	json_t *property;
	const json_t *properties;
	const char *name;

	if (!json_parse(span_str(tool->arguments_schema), &declared, &err) ||
	    !schema_compile(span_str(tool->arguments_schema), &schema, &err))
		fail_msg("%s: %s", tool->name, err.message);
	properties = json_object_get(declared, "properties");
	json_object_foreach((json_t *)properties, name, property) {
		struct attempt attempt = { .tool = tool, .schema = schema, .name = name };

		try_wrong_values(&attempt, property, 0);
	}
	for (const struct tool_alias *row = tool->parameter_aliases; row && row->alias; row++)
		if (row->name)
			try_alias(tool, schema, properties, row);
	for (const struct tool_switch *row = tool->switches; row && row->alias; row++) {
		struct attempt attempt = { .tool = tool, .schema = schema, .name = row->alias,
			                   .value = json_string("never a value") };

		said_as_sent(&attempt);
	}
	schema_free(schema);
}

static void each_name_of_each_parameter_is_named_with_its_value(void **state)
{
	(void)state;
	for (size_t i = 0; i < tool_builtin_count(); i++)
		try_tool(tool_builtin_at(i));
	print_message("%zu wrong values\n", attempts);
	assert_true(attempts > 200);
}

/* Whether every object that the schema admits as a result, or as an element of one, has `success`. */
static bool requires_success(const json_t *schema)
{
	const json_t *branch, *name, *items = json_object_get(schema, "items");
	size_t i;

	if (items)
		return requires_success(items);
	if (json_object_get(schema, "oneOf")) {
		json_array_foreach(json_object_get(schema, "oneOf"), i, branch)
			if (!requires_success(branch))
				return false;
		return true;
	}
	json_array_foreach(json_object_get(schema, "required"), i, name)
		if (span_eq(json_span(name), SPAN("success")))
			return true;
	return false;
}

static void every_result_says_whether_it_is_a_success(void **state)
{
	size_t without = 0;

	(void)state;
	for (size_t i = 0; i < tool_builtin_count(); i++) {
		const struct tool *tool = tool_builtin_at(i);
		json_auto_t *schema = NULL;
		struct err err = ERR_INIT;

		assert_true(json_parse(span_str(tool->result_schema), &schema, &err));
		if (requires_success(schema))
			continue;
		print_message("%s: no success\n", tool->name);
		without++;
	}
	assert_int_equal(without, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_name_of_each_parameter_is_named_with_its_value),
		cmocka_unit_test(every_result_says_whether_it_is_a_success),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
