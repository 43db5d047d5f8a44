/* SPDX-License-Identifier: Apache-2.0 */
/* Reading validated arguments: the types are known to be right, only presence is not. */
#ifndef HASP_TOOL_BUILTIN_ARGUMENTS_H
#define HASP_TOOL_BUILTIN_ARGUMENTS_H

#include "base/mem.h"
#include "data/json.h"

/* Borrowed; NULL when absent or empty. */
static inline const char *argument_str(const json_t *arguments, const char *name)
{
	const char *text = json_string_value(json_object_get(arguments, name));

	return text && *text ? text : NULL;
}

static inline struct span argument_span(const json_t *arguments, const char *name)
{
	return json_span(json_object_get(arguments, name));
}

/* An integer of the schema's minimum or more; `otherwise` when absent. */
static inline size_t argument_size(const json_t *arguments, const char *name, size_t otherwise)
{
	const json_t *value = json_object_get(arguments, name);

	return json_is_integer(value) ? (size_t)json_integer_value(value) : otherwise;
}

static inline bool argument_bool(const json_t *arguments, const char *name, bool otherwise)
{
	const json_t *value = json_object_get(arguments, name);

	return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

/* One of the two respect_... options: as given flat, else as Gemini CLI nests it. */
static inline bool argument_respects(const json_t *arguments, const char *name, bool otherwise)
{
	const json_t *nested = json_object_get(arguments, "file_filtering_options");

	return argument_bool(arguments, name, argument_bool(nested, name, otherwise));
}

/* The strings of an array, borrowed; the array of pointers is the caller's to free.
 * *ret_count is 0 when absent. */
static inline const char **argument_strings(const json_t *arguments, const char *name,
                                            size_t *ret_count)
{
	const json_t *array = json_object_get(arguments, name);
	const char **strings = mem_alloc(json_array_size(array), sizeof(*strings));

	*ret_count = json_array_size(array);
	for (size_t i = 0; i < *ret_count; i++)
		strings[i] = json_string_value(json_array_get(array, i));
	return strings;
}

#endif
