/* SPDX-License-Identifier: Apache-2.0 */
/* Older forms of schemas, and those of other languages, as 2020-12 and each format have them. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/schema_fit.h"
#include "model/tool_fit.h"

json_t *schema_mend_own(json_t *schema, const char *name, json_t *if_missing)
{
	json_t *value = json_object_get(schema, name);
	json_t *copy = value && json_typeof(value) == json_typeof(if_missing) ?
		json_copy(value) : json_incref(if_missing);

	json_decref(if_missing);
	json_object_set_new(schema, name, copy);
	return copy;
}

void schema_mend_missing(json_t *object, const char *name, json_t *value)
{
	if (!json_object_get(object, name))
		json_object_set_nocheck(object, name, value);
}

json_t *schema_mend_choices(const json_t *schema)
{
	json_t *constant = json_object_get(schema, "const");
	json_t *choices = json_object_get(schema, "enum");

	if (constant)
		return json_pack("[O]", constant);
	return json_is_array(choices) ? json_copy(choices) : NULL;
}

/* ---- types ------------------------------------------------------------------- */

/* A word that some generator takes for the name of a type; NULL: it names none. */
static const char *type_meant(struct span word)
{
	static const struct { const char *word, *type; } words[] = {
		{ "string", "string" }, { "str", "string" }, { "text", "string" },
		{ "date", "string" }, { "datetime", "string" }, { "uuid", "string" },
		{ "enum", "string" }, { "integer", "integer" }, { "int", "integer" },
		{ "long", "integer" }, { "number", "number" }, { "float", "number" },
		{ "double", "number" }, { "decimal", "number" }, { "boolean", "boolean" },
		{ "bool", "boolean" }, { "array", "array" }, { "list", "array" },
		{ "tuple", "array" }, { "object", "object" }, { "dict", "object" },
		{ "map", "object" }, { "null", "null" }, { "none", "null" },
	};
	char lower[16] = "";

	if (word.len >= sizeof(lower))
		return NULL;
	for (size_t i = 0; i < word.len; i++)
		lower[i] = (char)(word.data[i] >= 'A' && word.data[i] <= 'Z' ? word.data[i] + 32 :
		                  word.data[i]);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(words[i].word, lower) == 0)
			return words[i].type;
	return NULL;
}

/* The types that a schema names, as an array; empty: any. */
json_t *schema_mend_types(const json_t *schema)
{
	const json_t *type = json_object_get(schema, "type"), *one;
	json_t *types = json_array();
	size_t i;

	if (json_is_string(type) && type_meant(json_span(type)))
		json_array_append_new(types, json_string(type_meant(json_span(type))));
	json_array_foreach(type, i, one) {
		const char *word = type_meant(json_span(one));

		if (word && !json_lists(types, span_str(word)))
			json_array_append_new(types, json_string(word));
	}
	return types;
}

static bool has_type(const json_t *schema, const char *type)
{
	json_auto_t *types = schema_mend_types(schema);

	return json_lists(types, span_str(type));
}

/* Takes `types` (taken): one is a word, none is any. */
void schema_mend_set_types(json_t *schema, json_t *types)
{
	if (json_array_size(types) > 1)
		json_object_set(schema, "type", types);
	else if (json_array_size(types))
		json_object_set(schema, "type", json_array_get(types, 0));
	else
		json_object_del(schema, "type");
	json_decref(types);
}

static void allow_null(json_t *schema)
{
	json_t *types = schema_mend_types(schema), *choices = json_object_get(schema, "enum");
	json_t *any = json_object_get(schema, "anyOf");

	if (json_array_size(types) && !json_lists(types, SPAN("null")))
		json_array_append_new(types, json_string("null"));
	else if (!json_array_size(types) && json_is_array(any))
		json_array_append_new(schema_mend_own(schema, "anyOf", json_array()),
		                      json_pack("{s:s}", "type", "null"));
	if (json_is_array(choices))
		json_array_append_new(schema_mend_own(schema, "enum", json_array()), json_null());
	schema_mend_set_types(schema, types);
}

/* ---- older forms, and forms of others ---------------------------------------- */

static void mend_items(const struct schema_fitting *fitting, json_t *flat)
{
	json_t *items = json_object_get(flat, "items"), *rest;
	json_auto_t *prefix = NULL;

	if (json_is_array(items)) {
		rest = json_object_get(flat, "additionalItems");
		json_object_set(flat, "prefixItems", items);
		json_object_del(flat, "items");
		if (rest)
			json_object_set(flat, "items", rest);
	} else if (json_is_true(items)) {
		json_object_set_new(flat, "items", json_object());
	}
	prefix = json_incref(json_object_get(flat, "prefixItems"));
	if (!json_array_size(prefix))
		json_object_del(flat, "prefixItems");
	if (json_is_false(json_object_get(flat, "items"))) {
		json_object_del(flat, "items");
		json_object_set_new(flat, "maxItems", json_integer((json_int_t)json_array_size(
			prefix)));
	}
	if (fitting->format->fills && json_array_size(prefix)) {
		json_t *any = json_copy(prefix);

		if (json_is_object(json_object_get(flat, "items")))
			json_array_append(any, json_object_get(flat, "items"));
		json_object_set_new(flat, "items", json_pack("{s:o}", "anyOf", any));
		json_object_del(flat, "prefixItems");
	}
	if (has_type(flat, "array") && fitting->column != FIT_ANTHROPIC &&
	    !json_object_get(flat, "items") && !json_object_get(flat, "prefixItems"))
		json_object_set_new(flat, "items", json_object());
}

static void mend_patterns(const struct schema_fitting *fitting, json_t *flat)
{
	json_t *patterns = json_object_get(flat, "patternProperties"), *schema, *any;
	const char *name;

	if (!fitting->format->merges || !json_object_size(patterns))
		return;
	any = json_array();
	json_object_foreach(patterns, name, schema)
		json_array_append(any, schema);
	if (json_is_object(json_object_get(flat, "additionalProperties")))
		json_array_append(any, json_object_get(flat, "additionalProperties"));
	if (json_array_size(any) == 1)
		json_object_set(flat, "additionalProperties", json_array_get(any, 0));
	else
		json_object_set_new(flat, "additionalProperties", json_pack("{s:O}", "anyOf", any));
	json_decref(any);
	json_object_del(flat, "patternProperties");
}

/* Names in `required` that are there; and members that say it of themselves (draft 3). */
static void mend_required(json_t *flat)
{
	json_t *properties = json_object_get(flat, "properties"), *schema, *one;
	json_t *required = json_object_get(flat, "required"), *kept = json_array();
	const char *name;
	size_t i;

	json_array_foreach(required, i, one)
		if (json_is_string(one) && !json_lists(kept, json_span(one)) &&
		    json_object_get(properties, json_string_value(one)) &&
		    !json_is_false(json_object_get(properties, json_string_value(one))))
			json_array_append(kept, one);
	json_object_foreach(properties, name, schema)
		if (json_is_true(json_object_get(schema, "required")) &&
		    !json_lists(kept, span_str(name)))
			json_array_append_new(kept, json_cstr(name));
	if (json_array_size(kept) || (json_is_array(required) && !json_array_size(required)))
		json_object_set(flat, "required", kept);
	else
		json_object_del(flat, "required");
	json_decref(kept);
}

/* Draft 4: {"minimum": 1, "exclusiveMinimum": true}. Gemini has no such bounds: for it the nearest
 * that is one. */
static void mend_bound(const struct schema_fitting *fitting, json_t *flat, const char *exclusive,
                       const char *plain, int step)
{
	json_t *value = json_object_get(flat, exclusive), *bound = json_object_get(flat, plain);
	json_int_t nearest;

	if (json_is_boolean(value)) {
		if (json_is_true(value) && json_is_number(bound)) {
			json_object_set(flat, exclusive, bound);
			json_object_del(flat, plain);
		} else {
			json_object_del(flat, exclusive);
		}
		value = json_object_get(flat, exclusive);
	}
	if (fitting->column != FIT_GEMINI || !json_is_number(value))
		return;
	if (json_is_integer(value) && has_type(flat, "integer") &&
	    !__builtin_add_overflow(json_integer_value(value), step, &nearest))
		json_object_set_new(flat, plain, json_integer(nearest));
	else
		json_object_set(flat, plain, value);
	json_object_del(flat, exclusive);
}

static void mend_alternatives(const struct schema_fitting *fitting, json_t *flat)
{
	json_t *one = json_object_get(flat, "oneOf");

	if (fitting->column != FIT_ANTHROPIC && json_is_array(one)) {
		schema_mend_missing(flat, "anyOf", one);
		json_object_del(flat, "oneOf");
	}
	if (json_is_array(json_object_get(flat, "anyOf")) &&
	    !json_array_size(json_object_get(flat, "anyOf")))
		json_object_del(flat, "anyOf");
}

/* Values of `enum` by what they are: strings, numbers; and whether others are
 * there. */
static void sort_choices(const json_t *choices, json_t *strings, json_t *numbers, bool *ret_flag,
                         bool *ret_null)
{
	const json_t *one;
	size_t i;

	*ret_flag = *ret_null = false;
	json_array_foreach(choices, i, one) {
		if (json_string_length(one))
			json_array_append(strings, (json_t *)one);
		else if (json_is_number(one))
			json_array_append(numbers, (json_t *)one);
		*ret_flag |= json_is_boolean(one);
		*ret_null |= json_is_null(one);
	}
}

/* Gemini's `enum` is of strings or of numbers. */
static void mend_choices_of_gemini(json_t *flat)
{
	json_auto_t *strings = json_array(), *numbers = json_array();
	json_auto_t *choices = schema_mend_choices(flat);
	json_t *any = json_array(), *only;
	bool flag, null;

	json_object_del(flat, "const");
	json_object_del(flat, "enum");
	sort_choices(choices, strings, numbers, &flag, &null);
	if (json_array_size(strings))
		json_array_append_new(any, json_pack("{s:s, s:O}", "type", "string", "enum",
		                                     strings));
	if (json_array_size(numbers))
		json_array_append_new(any, json_pack("{s:s, s:O}", "type", has_type(
			flat, "integer") ? "integer" : "number", "enum", numbers));
	if (flag)
		json_array_append_new(any, json_pack("{s:s}", "type", "boolean"));
	only = json_array_get(any, 0);
	if (json_array_size(any) > 1) {
		if (null)
			json_array_append_new(any, json_pack("{s:s}", "type", "null"));
		json_object_del(flat, "type");
		json_object_set(flat, "anyOf", any);
	} else if (only) {
		null |= has_type(flat, "null");
		json_object_update(flat, only);
		if (null)
			json_object_set_new(flat, "type", json_pack("[O, s]", json_object_get(
				only, "type"), "null"));
	}
	json_decref(any);
}

/* What both readers of patterns have: Python's re, and ECMA-262. */
bool schema_mend_pattern_fits(struct span pattern)
{
	static const char *const others[] = {
		"\\p",  "\\P",  "\\h",  "\\R",  "\\A",  "\\Z",  "\\z",   "\\G",   "\\K",
		"\\c",  "\\u{", "\\x{", "[[:",  "(?i",  "(?s",  "(?m",   "(?x",   "(?P",
		"(?<",  "(?>",  "++",   "*+",   "?+",   "[^]",  "[]",
	};

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		const char *at = !pattern.len ? NULL :
		                 memmem(pattern.data, pattern.len, others[i], strlen(others[i]));

		if (at && !(strcmp(others[i], "(?<") == 0 && at + 3 < pattern.data + pattern.len &&
		            (at[3] == '=' || at[3] == '!')))
			return false;
	}
	return true;
}

void schema_mend(const struct schema_fitting *fitting, json_t *flat)
{
	const json_t *nullable = json_object_get(flat, "nullable");
	const json_t *choices;

	if (json_object_get(flat, "type"))
		schema_mend_set_types(flat, schema_mend_types(flat));
	if (json_is_true(nullable))
		allow_null(flat);
	mend_alternatives(fitting, flat);
	mend_items(fitting, flat);
	mend_patterns(fitting, flat);
	mend_required(flat);
	mend_bound(fitting, flat, "exclusiveMinimum", "minimum", 1);
	mend_bound(fitting, flat, "exclusiveMaximum", "maximum", -1);
	choices = json_object_get(flat, "enum");
	if (choices && (!json_array_size(choices) ||
	                json_array_size(choices) > LIMIT_MODEL_SCHEMA_CHOICES))
		json_object_del(flat, "enum");
	if (fitting->column == FIT_GEMINI &&
	    (json_object_get(flat, "enum") || json_object_get(flat, "const")))
		mend_choices_of_gemini(flat);
	if (fitting->format->fills && has_type(flat, "object") &&
	    !json_is_object(json_object_get(flat, "properties")))
		json_object_set_new(flat, "properties", json_object());
}

/* ---- Gemini: one type, and nothing next to anyOf ------------------------------ */

/* The only type that a keyword says something of; NULL: of any. */
static const char *keyword_type(const char *name)
{
	static const char *const of[][2] = {
		{ "items", "array" }, { "prefixItems", "array" }, { "minItems", "array" },
		{ "maxItems", "array" }, { "properties", "object" }, { "required", "object" },
		{ "additionalProperties", "object" }, { "minimum", "number" },
		{ "maximum", "number" }, { "format", "string" }, { "enum", "string" },
	};

	for (size_t i = 0; i < ARRAY_LEN(of); i++)
		if (strcmp(of[i][0], name) == 0)
			return of[i][1];
	return NULL;
}

/* One alternative for each type, with what is said of that. */
static json_t *split_types(json_t *out)
{
	json_t *any = json_array(), *split = json_object(), *type, *value;
	const char *name;
	size_t i;

	json_array_foreach(json_object_get(out, "type"), i, type) {
		json_t *one = json_pack("{s:O}", "type", type);
		const char *word = json_string_value(type);

		json_object_foreach(out, name, value) {
			const char *of = keyword_type(name);

			if (of && (strcmp(of, word) == 0 ||
			           (strcmp(of, "number") == 0 && strcmp(word, "integer") == 0)))
				json_object_set(one, name, value);
		}
		json_array_append_new(any, one);
	}
	json_object_foreach(out, name, value)
		if (!keyword_type(name) && strcmp(name, "type") != 0)
			json_object_set(split, name, value);
	json_object_set_new(split, "anyOf", any);
	json_decref(out);
	return split;
}

/* What stands next to alternatives holds for each. */
static json_t *alternatives_alone(json_t *out)
{
	json_t *any = json_object_get(out, "anyOf"), *one, *value;
	json_t *list = json_array(), *alone;
	const char *name;
	size_t i;

	json_array_foreach(any, i, one) {
		json_t *whole = json_copy(one);

		json_object_foreach(out, name, value)
			if (strcmp(name, "anyOf") != 0 && !(json_object_get(whole, "anyOf")))
				schema_mend_missing(whole, name, value);
		json_array_append_new(list, whole);
	}
	alone = json_pack("{s:o}", "anyOf", list);
	json_decref(out);
	return alone;
}

json_t *schema_mend_for_gemini(json_t *out)
{
	const json_t *types = json_object_get(out, "type");

	if (json_array_size(types) > 2 ||
	    (json_array_size(types) == 2 && !json_lists(types, SPAN("null"))))
		out = split_types(out);
	if (json_object_get(out, "anyOf") && json_object_size(out) > 1)
		out = alternatives_alone(out);
	return out;
}
