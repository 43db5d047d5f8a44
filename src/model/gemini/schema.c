/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Schema, cut down to what parametersJsonSchema and responseJsonSchema take.  Other keywords are
 * refused by the server; they only narrow what is valid, which the tool checks anyway. */
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "model/gemini/gemini.h"

enum { SCHEMA_DEPTH = 64 };

enum keyword_kind { KEEP, SCHEMA, SCHEMA_OR_BOOLEAN, SCHEMA_LIST, SCHEMA_MAP };

static const struct keyword {
	const char *name;
	enum keyword_kind kind;
} keywords[] = {
	{ "$id", KEEP },              { "$anchor", KEEP },       { "type", KEEP },
	{ "format", KEEP },           { "title", KEEP },         { "description", KEEP },
	{ "enum", KEEP },             { "minItems", KEEP },      { "maxItems", KEEP },
	{ "minimum", KEEP },          { "maximum", KEEP },       { "required", KEEP },
	{ "propertyOrdering", KEEP }, { "items", SCHEMA },
	{ "additionalProperties", SCHEMA_OR_BOOLEAN },
	{ "prefixItems", SCHEMA_LIST }, { "anyOf", SCHEMA_LIST }, { "oneOf", SCHEMA_LIST },
	{ "properties", SCHEMA_MAP }, { "$defs", SCHEMA_MAP },
};

static json_t *convert(const json_t *schema, unsigned depth);

static json_t *convert_list(const json_t *list, unsigned depth)
{
	json_t *out = json_array();
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
		json_array_append_new(out, convert(one, depth));
	return out;
}

static json_t *convert_map(const json_t *map, unsigned depth)
{
	json_t *out = json_object();
	const char *name;
	json_t *one;

	json_object_foreach((json_t *)map, name, one)
		json_object_set_new_nocheck(out, name, convert(one, depth));
	return out;
}

static json_t *convert_keyword(enum keyword_kind kind, json_t *value, unsigned depth)
{
	if (kind == SCHEMA_LIST)
		return convert_list(value, depth);
	if (kind == SCHEMA_MAP)
		return convert_map(value, depth);
	if (kind == KEEP || (kind == SCHEMA_OR_BOOLEAN && json_is_boolean(value)))
		return json_incref(value);
	return convert(value, depth);
}

/* Drafts before 2019-09 say "definitions". */
static json_t *convert_reference(const json_t *reference)
{
	struct span text = json_span(reference);
	_cleanup_free_ char *moved = NULL;

	if (!span_starts(text, SPAN("#/definitions/")))
		return json_incref((json_t *)reference);
	moved = mem_printf("#/$defs/%s", span_skip(text, 14).data);
	return json_cstr(moved);
}

static json_t *convert(const json_t *schema, unsigned depth)
{
	const json_t *all = json_object_get(schema, "allOf");
	json_t *out = json_object(), *value;

	if (depth >= SCHEMA_DEPTH)
		return out;
	value = json_object_get(schema, "$ref");
	if (value) { /* nothing else may stand beside it */
		json_object_set_new(out, "$ref", convert_reference(value));
		if (depth)
			return out;
	}
	if (json_array_size(all) == 1) { /* how generators hang a description on a reference */
		json_t *only = convert(json_array_get(all, 0), depth + 1);

		json_object_update(out, only);
		json_decref(only);
	}
	for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
		if ((value = json_object_get(schema, keywords[i].name)))
			json_object_set_new(out, keywords[i].name,
			                    convert_keyword(keywords[i].kind, value, depth + 1));
	if ((value = json_object_get(schema, "const")))
		json_object_set_new(out, "enum", json_pack("[O]", value));
	if ((value = json_object_get(schema, "definitions")))
		json_object_set_new(out, "$defs", convert_map(value, depth + 1));
	return out;
}

json_t *gemini_schema(const json_t *schema)
{
	return convert(schema, 0);
}
