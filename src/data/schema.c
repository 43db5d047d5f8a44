/* SPDX-License-Identifier: Apache-2.0 */
/* From the text of a schema to the structure that schema_check.c walks. */
#include "data/schema_private.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "data/json.h"

enum { SCHEMA_DEPTH_MAX = 32 };

static const struct {
	const char *name;
	unsigned bit;
	const char *phrase;
} types[] = {
	{ "object", SCHEMA_OBJECT, "an object" },    { "array", SCHEMA_ARRAY, "an array" },
	{ "string", SCHEMA_STRING, "a string" },     { "integer", SCHEMA_INTEGER, "an integer" },
	{ "number", SCHEMA_NUMBER, "a number" },     { "boolean", SCHEMA_BOOLEAN, "a boolean" },
	{ "null", SCHEMA_NULL, "null" },
};

void schema_types_phrase(unsigned set, char *out, size_t size)
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(types) && len < size; i++)
		if (set & types[i].bit)
			len += (size_t)snprintf(out + len, size - len, "%s%s",
			                        len ? " or " : "", types[i].phrase);
}

static void release(struct schema *schema)
{
	for (size_t i = 0; i < schema->property_count; i++)
		schema_free(schema->properties[i].schema);
	for (size_t i = 0; i < schema->branch_count; i++)
		schema_free(schema->branches[i]);
	schema_free(schema->items);
	free(schema->properties);
	free(schema->branches);
	json_decref(schema->source);
}

void schema_free(struct schema *schema)
{
	if (schema)
		release(schema);
	free(schema);
}

static bool bad(struct err *err, const char *keyword, const char *wanted)
{
	return err_set(err, ERR_INVALID_ARGUMENT, "Bad schema: \"%s\" must be %s.", keyword,
	               wanted);
}

static bool add_type(struct schema *schema, const json_t *name)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (span_eq(json_span(name), span_str(types[i].name))) {
			schema->types |= types[i].bit;
			return true;
		}
	return false;
}

static bool compile_types(struct schema *schema, const json_t *type, struct err *err)
{
	size_t i;
	json_t *name;

	if (!type || (json_is_string(type) && add_type(schema, type)))
		return true;
	json_array_foreach(type, i, name) {
		if (!add_type(schema, name))
			return bad(err, "type", "a type's name, or a list of them");
	}
	return json_is_array(type) || bad(err, "type", "a type's name, or a list of them");
}

static bool compile_size(const json_t *source, const char *keyword, size_t *ret,
                         struct err *err)
{
	const json_t *value = json_object_get(source, keyword);

	if (!value)
		return true;
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return bad(err, keyword, "an integer from 0");
	*ret = (size_t)json_integer_value(value);
	return true;
}

static bool compile_bound(const json_t *source, const char *keyword, double *ret, bool *ret_has,
                          struct err *err)
{
	const json_t *value = json_object_get(source, keyword);

	if (value && !json_is_number(value))
		return bad(err, keyword, "a number");
	*ret_has = value != NULL;
	*ret = json_number_value(value);
	return true;
}

static bool compile_limits(struct schema *schema, const json_t *source, struct err *err)
{
	schema->max_items = SIZE_MAX;
	return compile_bound(source, "minimum", &schema->minimum, &schema->has_minimum, err) &&
	       compile_bound(source, "maximum", &schema->maximum, &schema->has_maximum, err) &&
	       compile_size(source, "minItems", &schema->min_items, err) &&
	       compile_size(source, "maxItems", &schema->max_items, err) &&
	       compile_size(source, "minLength", &schema->min_length, err);
}

static bool compile(json_t *source, unsigned depth, struct schema **ret, struct err *err);

static bool is_required(const json_t *required, const char *name)
{
	size_t i;
	json_t *item;

	json_array_foreach(required, i, item)
		if (span_eq(json_span(item), span_str(name)))
			return true;
	return false;
}

static bool compile_properties(struct schema *schema, json_t *source, unsigned depth,
                               struct err *err)
{
	json_t *properties = json_object_get(source, "properties");
	json_t *value;
	const char *name;

	schema->required = json_object_get(source, "required");
	if (schema->required && !json_is_array(schema->required))
		return bad(err, "required", "a list of names");
	if (properties && !json_is_object(properties))
		return bad(err, "properties", "an object");
	schema->closed = json_is_false(json_object_get(source, "additionalProperties"));
	schema->properties = mem_alloc(json_object_size(properties), sizeof(*schema->properties));
	json_object_foreach(properties, name, value) {
		struct schema_property *property = &schema->properties[schema->property_count];

		if (!compile(value, depth + 1, &property->schema, err))
			return false;
		property->name = name;
		property->required = is_required(schema->required, name);
		schema->property_count++;
	}
	return true;
}

static bool compile_branches(struct schema *schema, json_t *source, unsigned depth,
                             struct err *err)
{
	json_t *branches = json_object_get(source, "oneOf");
	json_t *branch;
	size_t i;

	if (branches && !json_array_size(branches))
		return bad(err, "oneOf", "a list of schemas");
	schema->branches = mem_alloc(json_array_size(branches), sizeof(*schema->branches));
	json_array_foreach(branches, i, branch) {
		if (!compile(branch, depth + 1, &schema->branches[i], err))
			return false;
		schema->branch_count++;
	}
	return true;
}

static bool fill(struct schema *schema, json_t *source, unsigned depth, struct err *err)
{
	json_t *items = json_object_get(source, "items");

	schema->choices = json_object_get(source, "enum");
	schema->constant = json_object_get(source, "const");
	if (schema->choices && !json_array_size(schema->choices))
		return bad(err, "enum", "a list of values");
	return compile_types(schema, json_object_get(source, "type"), err) &&
	       compile_limits(schema, source, err) &&
	       compile_properties(schema, source, depth, err) &&
	       compile_branches(schema, source, depth, err) &&
	       (!items || compile(items, depth + 1, &schema->items, err));
}

/* On failure nothing is left behind and *ret is NULL. */
static bool compile(json_t *source, unsigned depth, struct schema **ret, struct err *err)
{
	struct schema *schema;

	*ret = NULL;
	if (depth > SCHEMA_DEPTH_MAX)
		return bad(err, "properties", "nested less deeply");
	if (!json_is_object(source) && !json_is_true(source))
		return bad(err, "schema", "an object");
	schema = mem_alloc(1, sizeof(*schema));
	if (!fill(schema, source, depth, err)) {
		schema_free(schema);
		return false;
	}
	*ret = schema;
	return true;
}

bool schema_compile(struct span text, struct schema **ret, struct err *err)
{
	struct schema *schema;
	json_t *source;

	if (!json_parse(text, &source, err))
		return false;
	if (!compile(source, 0, &schema, err)) {
		json_decref(source);
		return false;
	}
	schema->source = source;
	*ret = schema;
	return true;
}
