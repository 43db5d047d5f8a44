/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/alias.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* Sent by models to any tool, of use to none. */
static const char *const ignored_everywhere[] = { "wait_for_previous" };

/* The value under the canonical name; integers, also as text, moved by the offset. */
static json_t *moved(json_t *value, int offset_by)
{
	const char *text = json_string_value(value);
	char *end = NULL;
	long number;

	if (!offset_by || json_is_null(value))
		return json_incref(value);
	if (json_is_integer(value) && json_integer_value(value) < INT32_MAX)
		return json_integer(json_integer_value(value) + offset_by);
	number = text ? strtol(text, &end, 10) : 0;
	if (end && end != text && !*end && labs(number) < INT32_MAX)
		return json_integer(number + offset_by);
	return json_incref(value);
}

static void rename_member(json_t *object, const char *alias, const char *name, int offset_by,
                          const char *where, struct buf *problems)
{
	json_t *value = json_object_get(object, alias);
	json_t *own = name ? json_object_get(object, name) : NULL;
	json_t *other;

	if (!value)
		return;
	other = moved(value, offset_by);
	if (own && !json_is_null(own) && !json_is_null(other) && !json_equal(own, other))
		buf_printf(problems, "%s%s%s: the same as %s, but with another value; give one",
		           problems->len ? "; " : "", where, alias, name);
	else if (name && (!own || json_is_null(own)))
		json_object_set(object, name, other);
	json_object_del(object, alias);
	json_decref(other);
}

static bool any_has(const json_t *array, const char *member)
{
	size_t i;
	json_t *element;

	json_array_foreach(array, i, element)
		if (json_object_get(element, member))
			return true;
	return false;
}

/* "changes[].old_string": in a copy of each object of the array. */
static void rename_in_elements(json_t *object, const struct tool_alias *row,
                               const char *brackets, struct buf *problems)
{
	_cleanup_free_ char *array_name = mem_dup(row->alias, (size_t)(brackets - row->alias));
	json_t *array = json_object_get(object, array_name);
	json_t *copy;
	size_t i;
	json_t *element;

	if (!any_has(array, brackets + 3))
		return;
	copy = json_array();
	json_array_foreach(array, i, element) {
		_cleanup_free_ char *where = mem_printf("%s[%zu].", array_name, i);
		json_t *own = json_is_object(element) ? json_copy(element) : json_incref(element);

		if (json_is_object(own))
			rename_member(own, brackets + 3, row->name, row->offset_by, where,
			              problems);
		json_array_append_new(copy, own);
	}
	json_object_set_new(object, array_name, copy);
}

json_t *alias_resolve(const struct tool *tool, const json_t *arguments, struct buf *problems)
{
	json_t *object = json_copy((json_t *)arguments);

	for (size_t i = 0; i < ARRAY_LEN(ignored_everywhere); i++)
		json_object_del(object, ignored_everywhere[i]);
	for (const struct tool_alias *row = tool->parameter_aliases; row && row->alias; row++) {
		const char *brackets = strstr(row->alias, "[].");

		if (brackets)
			rename_in_elements(object, row, brackets, problems);
		else
			rename_member(object, row->alias, row->name, row->offset_by, "", problems);
	}
	return object;
}
