/* SPDX-License-Identifier: Apache-2.0 */
/* JSON Schema cut down, or rewritten, to the part that a format takes.
 *
 * Sources, by the names of the documents:
 *   - OpenAI (chat completions and Responses): "Function calling", "Structured outputs: Supported
 *     schemas" (types, anyOf, $ref, $defs, const, enum up to 1,000 values; not allOf, not,
 *     dependentRequired, dependentSchemas, if, then, else, patternProperties), and its refusals:
 *     "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top
 *     level", "array schema missing items", "object schema missing properties", "is not a 'regex'"
 *   - Anthropic: "Tool use", "Define tools" (input_schema: JSON Schema 2020-12), and its refusals:
 *     "JSON schema is invalid. It must match JSON Schema draft 2020-12", "input_schema does not
 *     support oneOf, allOf, or anyOf at the top level"
 *   - Gemini: "FunctionDeclaration", parametersJsonSchema; "GenerationConfig", responseJsonSchema
 *     ($id, $defs, $ref, $anchor, type, format, title, description, enum of strings and numbers,
 *     items, prefixItems, minItems, maxItems, minimum, maximum, anyOf, oneOf, properties,
 *     additionalProperties, required, propertyOrdering); Vertex AI: "When using any_of, it must be
 *     the only field set"; "enum only allowed for STRING type", "enum[0]: cannot be empty"
 *
 * What is left out only narrows what is valid; the call is checked against the original.
 */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/schema_fit.h"
#include "model/tool_fit.h"

/* ---- the table --------------------------------------------------------------- */

enum fit_kind {
	FIT_ANY,     /* copied */
	FIT_TEXT, FIT_NUMBER, FIT_COUNT, FIT_FLAG,
	FIT_NAMES,   /* names of members */
	FIT_SCHEMA,
	FIT_SCHEMAS, /* a list of them */
	FIT_MEMBERS, /* {name of a member: schema} */
	FIT_MAP,     /* {anything else: schema} */
	FIT_NEVER,   /* never in what is sent */
};

/* The letters are those of OpenAI's chat completions, OpenAI's Responses, Anthropic, Gemini:
 * S sent as it is, R rewritten as `how` says, N not sent but named in the description, L left out.
 * The rules that a letter R stands for are the functions below.  script/lib/schema_table.py reads
 * this table: one row a line, or `how` on the next. */
static const struct fit_rule {
	const char *name;
	enum fit_kind kind;
	const char *acts;
	const char *how;
} fit_rules[] = {
	{ "$schema", FIT_NEVER, "LLLL", "" },
	{ "$vocabulary", FIT_NEVER, "LLLL", "" },
	{ "$comment", FIT_NEVER, "LLLL", "" },
	{ "$id", FIT_NEVER, "LLLL", "references to it are followed" },
	{ "$anchor", FIT_NEVER, "LLLL", "references to it are followed" },
	{ "$dynamicAnchor", FIT_NEVER, "LLLL", "references to it are followed" },
	{ "$ref", FIT_ANY, "RRRR",
	  "points into `$defs`; for Gemini its target is put in its place, a recursive one twice" },
	{ "$dynamicRef", FIT_ANY, "RRRR", "like `$ref`" },
	{ "$defs", FIT_NEVER, "RRRR", "what is referred to" },
	{ "definitions", FIT_NEVER, "RRRR", "draft 7's `$defs`" },
	{ "type", FIT_ANY, "RRRR",
	  "other spellings (`int`, `STRING`, `any`) are mended; for Gemini several types become "
	  "`anyOf`" },
	{ "enum", FIT_ANY, "RRRR",
	  "an empty one, or one of more than 1,000 values, is left out; for Gemini one per type" },
	{ "const", FIT_ANY, "SSSR", "`enum`" },
	{ "properties", FIT_MEMBERS, "RRRR", "names that are not taken are replaced" },
	{ "patternProperties", FIT_MAP, "RRSR", "`additionalProperties`" },
	{ "additionalProperties", FIT_SCHEMA, "SSSS", "" },
	{ "propertyNames", FIT_SCHEMA, "LLSL", "" },
	{ "unevaluatedProperties", FIT_SCHEMA, "LLSL", "" },
	{ "unevaluatedItems", FIT_SCHEMA, "LLSL", "" },
	{ "required", FIT_NAMES, "RRRR",
	  "members that are not in `properties` are left out; draft 3's `true` becomes a name" },
	{ "minProperties", FIT_COUNT, "SSSL", "" },
	{ "maxProperties", FIT_COUNT, "SSSL", "" },
	{ "dependentRequired", FIT_ANY, "NNSN", "" },
	{ "dependentSchemas", FIT_MAP, "RRSR", "their members, as optional ones" },
	{ "dependencies", FIT_NEVER, "RRRR", "draft 7's two above" },
	{ "items", FIT_SCHEMA, "RRRR", "a list becomes `prefixItems`; arrays without it get `{}`" },
	{ "prefixItems", FIT_SCHEMAS, "RRSS", "`items` of any of them" },
	{ "additionalItems", FIT_NEVER, "RRRR", "draft 7's `items`" },
	{ "contains", FIT_SCHEMA, "LLSL", "" },
	{ "minContains", FIT_COUNT, "LLSL", "" },
	{ "maxContains", FIT_COUNT, "LLSL", "" },
	{ "uniqueItems", FIT_FLAG, "SSSN", "" },
	{ "minItems", FIT_COUNT, "SSSS", "" },
	{ "maxItems", FIT_COUNT, "SSSS", "" },
	{ "minimum", FIT_NUMBER, "SSSS", "" },
	{ "maximum", FIT_NUMBER, "SSSS", "" },
	{ "exclusiveMinimum", FIT_NUMBER, "RRRR",
	  "draft 4's `true` becomes a number; for Gemini `minimum`" },
	{ "exclusiveMaximum", FIT_NUMBER, "RRRR",
	  "draft 4's `true` becomes a number; for Gemini `maximum`" },
	{ "multipleOf", FIT_NUMBER, "SSSN", "" },
	{ "minLength", FIT_COUNT, "SSSN", "" },
	{ "maxLength", FIT_COUNT, "SSSN", "" },
	{ "pattern", FIT_TEXT, "RRRN",
	  "one that Python or JavaScript does not read is named in the description" },
	{ "format", FIT_TEXT, "SSSR",
	  "Gemini's own names are sent; others are named in the description" },
	{ "anyOf", FIT_SCHEMAS, "RRRR",
	  "at the top: one object with the members of all; for Gemini nothing stands next to it" },
	{ "oneOf", FIT_SCHEMAS, "RRRR",
	  "at the top like `anyOf`; below that `anyOf` (Anthropic: sent)" },
	{ "allOf", FIT_SCHEMAS, "RRRR", "merged (Anthropic: at the top; below that it is sent)" },
	{ "not", FIT_SCHEMA, "NNRN", "left out at the top" },
	{ "if", FIT_SCHEMA, "LLSL", "" },
	{ "then", FIT_SCHEMA, "RRSR", "its members, as optional ones" },
	{ "else", FIT_SCHEMA, "RRSR", "its members, as optional ones" },
	{ "title", FIT_TEXT, "SSSS", "" },
	{ "description", FIT_TEXT, "SSSS", "" },
	{ "default", FIT_ANY, "SSSN", "" },
	{ "examples", FIT_ANY, "SSSL", "" },
	{ "deprecated", FIT_FLAG, "SSSL", "" },
	{ "readOnly", FIT_FLAG, "SSSL", "" },
	{ "writeOnly", FIT_FLAG, "SSSL", "" },
	{ "contentEncoding", FIT_TEXT, "SSSN", "" },
	{ "contentMediaType", FIT_TEXT, "SSSN", "" },
	{ "contentSchema", FIT_SCHEMA, "LLSL", "" },
	{ "nullable", FIT_NEVER, "RRRR", "OpenAPI's: the type `null` as well" },
	{ "propertyOrdering", FIT_NAMES, "LLLS", "" },
};

static const struct fit_format fit_formats[FIT_COLUMNS] = {
	[FIT_CHAT] = { .name = "openai", .merges = true, .fills = true },
	[FIT_RESPONSES] = { .name = "openai-responses", .merges = true, .fills = true },
	[FIT_ANTHROPIC] = { .name = "anthropic", .points = true },
	[FIT_GEMINI] = { .name = "gemini", .inlines = true, .merges = true },
};

static const struct fit_rule *fit_rule_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(fit_rules); i++)
		if (fit_rules[i].name[0] == name[0] && strcmp(fit_rules[i].name, name) == 0)
			return &fit_rules[i];
	return NULL;
}

/* ---- writing it -------------------------------------------------------------- */

static json_t *fit_schema(struct schema_fitting *fitting, const json_t *schema, unsigned depth);

static json_t *fit_names(const struct schema_fitting *fitting, const json_t *names)
{
	json_t *out = json_array();
	const json_t *name;
	size_t i;

	json_array_foreach(names, i, name) {
		json_t *sent = json_object_get(fitting->sent, json_is_string(name) ?
			json_string_value(name) : "");

		if (json_is_string(name))
			json_array_append(out, sent ? sent : (json_t *)name);
	}
	return out;
}

/* A member under another name says which it has. */
static void tell_name(json_t *schema, const char *name)
{
	const char *words = json_string_value(json_object_get(schema, "description"));
	_cleanup_free_ char *text = mem_printf("%s%sOriginal name: %s", words ? words : "",
	                                       words && *words ? " " : "", name);

	if (!json_object_get(schema, "$ref"))
		json_object_set_new(schema, "description", json_text(span_str(text)));
}

static json_t *fit_map(struct schema_fitting *fitting, json_t *map, bool members, unsigned depth)
{
	json_t *out = json_object(), *schema;
	const char *name;

	json_object_foreach(map, name, schema) {
		const char *sent = members ? json_string_value(json_object_get(fitting->sent,
			name)) : NULL;
		json_t *fit;

		if (json_is_false(schema))
			continue;
		fit = fit_schema(fitting, schema, depth + 1);
		if (sent)
			tell_name(fit, name);
		json_object_set_new_nocheck(out, sent ? sent : name, fit);
	}
	return out;
}

static json_t *fit_list(struct schema_fitting *fitting, const json_t *list, unsigned depth)
{
	json_t *out = json_array(), *schema;
	size_t i;

	json_array_foreach(list, i, schema)
		if (!json_is_false(schema))
			json_array_append_new(out, fit_schema(fitting, schema, depth + 1));
	return out;
}

/* A value as its keyword has it: a new reference. NULL: it cannot be its value. */
static json_t *fit_value(struct schema_fitting *fitting, const struct fit_rule *rule, json_t *value,
                         unsigned depth)
{
	switch (rule->kind) {
	case FIT_ANY:
		return json_incref(value);
	case FIT_TEXT:
		return json_is_string(value) ? json_incref(value) : NULL;
	case FIT_NUMBER:
		return json_is_number(value) ? json_incref(value) : NULL;
	case FIT_COUNT:
		return json_is_integer(value) && json_integer_value(value) >= 0 ?
			json_incref(value) : NULL;
	case FIT_FLAG:
		return json_is_boolean(value) ? json_incref(value) : NULL;
	case FIT_NAMES:
		return json_is_array(value) ? fit_names(fitting, value) : NULL;
	case FIT_SCHEMA:
		return json_is_boolean(value) ? json_incref(value) :
		       json_is_object(value)  ? fit_schema(fitting, value, depth + 1) : NULL;
	case FIT_SCHEMAS:
		return json_array_size(value) ? fit_list(fitting, value, depth) : NULL;
	case FIT_MEMBERS:
	case FIT_MAP:
		return json_is_object(value) ? fit_map(fitting, value, rule->kind == FIT_MEMBERS,
		                                       depth) : NULL;
	case FIT_NEVER:
		break;
	}
	return NULL;
}

static bool format_of_gemini(struct span format)
{
	static const char *const known[] = { "date-time", "date", "time", "int32", "int64", "float",
		                             "double" };

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (span_eq(format, span_str(known[i])))
			return true;
	return false;
}

/* Whether the value of a keyword that is sent otherwise is not, and is named instead. */
static bool is_only_named(const struct schema_fitting *fitting, const struct fit_rule *rule,
                          const json_t *value)
{
	if (strcmp(rule->name, "pattern") == 0)
		return !schema_mend_pattern_fits(json_span(value));
	if (strcmp(rule->name, "format") == 0)
		return fitting->column == FIT_GEMINI && !format_of_gemini(json_span(value));
	if (strcmp(rule->name, "dependentRequired") == 0)
		return fitting->sent != NULL;
	return false;
}

static void put_note(struct buf *notes, const char *name, const json_t *value)
{
	_cleanup_buf_ struct buf text = BUF_INIT(FIT_NOTE + FIT_NOTE / 8);

	if (json_is_string(value))
		buf_span(&text, json_span(value));
	else
		json_print(&text, value, 0);
	if (text.overflowed || !text.len || text.len > FIT_NOTE || json_is_null(value))
		return;
	buf_printf(notes, "%s%s: ", notes->len ? ", " : "", name);
	buf_span(notes, buf_view(&text));
}

static void tell_notes(json_t *out, const struct buf *notes)
{
	const char *words = json_string_value(json_object_get(out, "description"));
	_cleanup_free_ char *text = NULL;

	if (!notes->len || notes->overflowed)
		return;
	text = mem_printf("%s%s(%.*s)", words ? words : "", words && *words ? " " : "",
	                  (int)notes->len, notes->data);
	json_object_set_new(out, "description", json_text(span_str(text)));
}

static json_t *fit_members(struct schema_fitting *fitting, json_t *flat, unsigned depth)
{
	_cleanup_buf_ struct buf notes = BUF_INIT(16 * FIT_NOTE);
	json_t *out = json_object(), *value;
	const char *name;

	json_object_foreach(flat, name, value) {
		const struct fit_rule *rule = fit_rule_of(name);
		const char act = rule ? rule->acts[fitting->column] : 'L';
		json_t *fit;

		if (act == 'L')
			continue;
		if (act == 'N' || is_only_named(fitting, rule, value)) {
			put_note(&notes, name, value);
			continue;
		}
		fit = fit_value(fitting, rule, value, depth);
		if (fit)
			json_object_set_new(out, name, fit);
	}
	tell_notes(out, &notes);
	return out;
}

/* ---- a whole schema ---------------------------------------------------------- */

static json_t *fit_schema(struct schema_fitting *fitting, const json_t *schema, unsigned depth)
{
	const size_t open = fitting->open_count;
	json_auto_t *flat = NULL;
	json_t *out;

	if (!json_is_object(schema))
		return json_object();
	if (depth > LIMIT_MODEL_SCHEMA_DEPTH || fitting->nodes >= fitting->most)
		return schema_merge_stub(fitting, schema);
	flat = schema_merge(fitting, schema, depth == 0 && fitting->arguments);
	schema_mend(fitting, flat);
	out = fit_members(fitting, flat, depth);
	fitting->open_count = open;
	return fitting->column == FIT_GEMINI ? schema_mend_for_gemini(out) : out;
}

/* The targets of references that are sent; what these refer to is added after them. */
static void add_targets(struct schema_fitting *fitting, json_t *out)
{
	json_t *all = json_object();

	for (bool more = true; more;) {
		const char *name;
		json_t *reference;

		more = false;
		json_object_foreach(fitting->targets, name, reference) {
			if (json_object_get(all, name))
				continue;
			json_object_set_new_nocheck(all, name, fit_schema(
				fitting, schema_names_target(fitting->root, fitting->labels,
				                             json_span(reference)), 1));
			more = true;
			break;
		}
	}
	if (json_object_size(all))
		json_object_set(out, "$defs", all);
	json_decref(all);
}

static json_t *fit_whole(const char *format, const json_t *schema, const json_t *names,
                         bool arguments)
{
	struct schema_fitting fitting = { .root = schema, .arguments = arguments,
		                          .sent = json_object_get(names, "sent"),
		                          .labels = schema_names_labels(schema),
		                          .targets = json_object() };
	json_t *out;

	while (fitting.column < FIT_GEMINI && strcmp(fit_formats[fitting.column].name, format) != 0)
		fitting.column++;
	fitting.format = &fit_formats[fitting.column];
	fitting.most = fitting.format->inlines ? LIMIT_MODEL_SCHEMA_INLINED :
	                                         LIMIT_MODEL_SCHEMA_NODES;
	out = fit_schema(&fitting, schema, 0);
	add_targets(&fitting, out);
	json_decref(fitting.targets);
	json_decref(fitting.labels);
	return out;
}

json_t *schema_fit_arguments(const char *format, const json_t *schema, const json_t *names)
{
	return fit_whole(format, schema, names, true);
}

json_t *schema_fit_answer(const char *format, const json_t *schema)
{
	return fit_whole(format, schema, NULL, false);
}
