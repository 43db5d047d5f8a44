/* SPDX-License-Identifier: Apache-2.0 */
/* A schema with what it is put together from: references, allOf, alternatives, conditions. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/schema_fit.h"
#include "model/tool_fit.h"

/* ---- references -------------------------------------------------------------- */

static const json_t *reference_of(const json_t *schema)
{
	const json_t *reference = json_object_get(schema, "$ref");

	if (!json_is_string(reference))
		reference = json_object_get(schema, "$dynamicRef");
	return json_is_string(reference) ? reference : NULL;
}

/* The name in $defs under which a target is sent: the last part of the reference, if it is free. */
static const char *target_name(struct schema_fitting *fitting, const json_t *reference)
{
	struct span text = json_span(reference);
	const char *slash = memrchr(text.data, '/', text.len), *known;
	_cleanup_free_ char *name = mem_strdup(slash && slash[1] ? slash + 1 : "root");
	unsigned next = 2;
	json_t *value;

	json_object_foreach(fitting->targets, known, value)
		if (json_equal(value, reference))
			return known;
	for (char *c = name; *c; c++)
		if (!ascii_is_alnum(*c) && *c != '_')
			*c = '_';
	while (json_object_get(fitting->targets, name)) {
		char *longer = mem_printf("%.40s_%u", name, next++);

		free(name);
		name = longer;
	}
	json_object_set_nocheck(fitting->targets, name, (json_t *)reference);
	return json_object_iter_key(json_object_iter_at(fitting->targets, name));
}

static size_t times_open(const struct schema_fitting *fitting, const json_t *target)
{
	size_t times = 0;

	for (size_t i = 0; i < fitting->open_count; i++)
		times += fitting->open[i] == target;
	return times;
}

/* What is sent of a schema that is too deep, or within itself: its type. */
json_t *schema_merge_stub(const struct schema_fitting *fitting, const json_t *schema)
{
	json_t *stub = json_object(), *types = schema_mend_types(schema);

	if (!json_array_size(types) && json_is_object(json_object_get(schema, "properties")))
		json_array_append_new(types, json_string("object"));
	if (json_array_size(types) == 1)
		schema_mend_set_types(stub, json_incref(types));
	if (json_lists(types, SPAN("array")))
		json_object_set_new(stub, "items", json_object());
	if (fitting->format->fills && json_lists(types, SPAN("object")))
		json_object_set_new(stub, "properties", json_object());
	if (json_is_string(json_object_get(schema, "description")))
		json_object_set(stub, "description", json_object_get(schema, "description"));
	json_decref(types);
	return stub;
}

/* ---- schemas that become one ------------------------------------------------- */

static json_t *flatten(struct schema_fitting *fitting, const json_t *schema, bool top,
                       unsigned nested);

/* A member that several alternatives have: what any of them takes. */
static void add_alternative(json_t *properties, const char *name, json_t *schema)
{
	json_t *there = json_object_get(properties, name), *any = json_object_get(there, "anyOf");
	json_auto_t *first = schema_mend_choices(there), *second = schema_mend_choices(schema);
	json_t *both, *one;
	size_t i;

	if (!there || json_equal(there, schema)) {
		json_object_set_nocheck(properties, name, schema);
	} else if (first && second) {
		both = json_copy(there);
		json_array_foreach(second, i, one)
			json_array_append(first, one);
		json_object_del(both, "const");
		json_object_set(both, "enum", first);
		json_object_set_new_nocheck(properties, name, both);
	} else if (json_is_array(any) && json_object_size(there) == 1) {
		both = json_copy(any);
		json_array_append(both, schema);
		json_object_set_new_nocheck(properties, name, json_pack("{s:o}", "anyOf", both));
	} else {
		json_object_set_new_nocheck(properties, name, json_pack("{s:[O, O]}", "anyOf",
		                                                        there, schema));
	}
}

static void merge_properties(json_t *into, const json_t *from)
{
	json_t *more = json_object_get(from, "properties"), *properties, *schema;
	const char *name;

	if (!json_object_size(more))
		return;
	properties = schema_mend_own(into, "properties", json_object());
	json_object_foreach(more, name, schema)
		add_alternative(properties, name, schema);
}

/* `from` holds as well. */
static void merge_also(json_t *into, const json_t *from)
{
	json_t *required = json_object_get(from, "required"), *value, *one;
	const char *name;
	size_t i;

	merge_properties(into, from);
	if (json_array_size(required)) {
		json_t *all = schema_mend_own(into, "required", json_array());

		json_array_foreach(required, i, one)
			if (!json_lists(all, json_span(one)))
				json_array_append(all, one);
	}
	json_object_foreach((json_t *)from, name, value)
		if (strcmp(name, "properties") != 0 && strcmp(name, "required") != 0 &&
		    !(strcmp(name, "additionalProperties") == 0 && json_is_false(value)))
			schema_mend_missing(into, name, value);
}

static void put_set(struct buf *out, const json_t *names)
{
	const json_t *name;
	size_t i;

	if (out->len)
		buf_str(out, "; or ");
	json_array_foreach(names, i, name) {
		buf_str(out, i ? ", " : "");
		buf_span(out, json_span(name));
	}
}

/* One of the alternatives holds: their members, and what all of them require. */
static void merge_either(struct schema_fitting *fitting, json_t *into, const json_t *list,
                         unsigned nested)
{
	_cleanup_buf_ struct buf sets = BUF_INIT(4 * FIT_NOTE);
	json_t *common = NULL, *alternative;
	bool differ = false;
	size_t i;

	json_array_foreach(list, i, alternative) {
		json_auto_t *one = flatten(fitting, alternative, false, nested + 1);
		const json_t *required = json_object_get(one, "required");

		merge_properties(into, one);
		if (json_array_size(required) && json_array_size(required) < 20)
			put_set(&sets, required);
		differ |= i && !json_equal(common, required);
		if (!i)
			common = json_is_array(required) ? json_copy((json_t *)required) :
			                                   json_array();
		for (size_t j = json_array_size(common); j-- > 0;)
			if (!json_lists(required, json_span(json_array_get(common, j))))
				json_array_remove(common, j);
	}
	if (json_array_size(common)) {
		json_auto_t *also = json_pack("{s:O}", "required", common);

		merge_also(into, also);
	}
	json_decref(common);
	if (differ && sets.len && !sets.overflowed) {
		const char *words = json_string_value(json_object_get(into, "description"));
		_cleanup_free_ char *text = mem_printf("%s%sGive one of: %s.", words ? words : "",
		                                       words && *words ? " " : "", sets.data);

		json_object_set_new(into, "description", json_cstr(text));
	}
}

/* Draft 7's "dependencies": a list is dependentRequired, a schema dependentSchemas. */
static void split_dependencies(json_t *schema)
{
	json_t *all = json_object_get(schema, "dependencies"), *value;
	const char *name;

	json_object_foreach(all, name, value)
		json_object_set_nocheck(json_is_array(value) ?
			schema_mend_own(schema, "dependentRequired", json_object()) :
			schema_mend_own(schema, "dependentSchemas", json_object()), name, value);
	json_object_del(schema, "dependencies");
}

/* A reference becomes what it refers to, or stays as one. False: nothing may stand next to it. */
static bool flatten_reference(struct schema_fitting *fitting, json_t *flat, bool top,
                              unsigned nested)
{
	json_auto_t *reference = json_incref((json_t *)reference_of(flat));
	const json_t *target = schema_names_target(fitting->root, fitting->labels,
	                                           json_span(reference));
	const size_t most = fitting->format->inlines ? FIT_AGAIN : 1;
	json_auto_t *more = NULL;
	bool alone;

	json_object_del(flat, "$ref");
	json_object_del(flat, "$dynamicRef");
	if (!json_is_object(target))
		return true;
	alone = times_open(fitting, target) >= most || fitting->open_count == FIT_OPEN ||
	        nested >= FIT_NESTED;
	if (fitting->format->inlines ? alone :
	    !top && (alone || (!nested && (fitting->format->points || !json_object_size(flat))))) {
		if (!fitting->format->points)
			json_object_clear(flat);
		if (fitting->format->inlines)
			more = schema_merge_stub(fitting, target);
		else
			more = json_pack("{s:o}", "$ref", json_sprintf("#/$defs/%s",
				target_name(fitting, reference)));
		json_object_update(flat, more);
		return fitting->format->points;
	}
	if (alone)
		return true;
	fitting->open[fitting->open_count++] = target;
	more = flatten(fitting, target, top, nested + 1);
	if (json_object_get(more, "$ref") && !fitting->format->points)
		json_object_clear(flat);
	merge_also(flat, more);
	return !json_object_get(flat, "$ref") || fitting->format->points;
}

static void flatten_optional(struct schema_fitting *fitting, json_t *flat, unsigned nested)
{
	static const char *const conditional[] = { "then", "else" };
	json_auto_t *dependent = json_incref(json_object_get(flat, "dependentSchemas"));
	const char *name;
	json_t *schema;

	for (size_t i = 0; i < ARRAY_LEN(conditional); i++) {
		json_auto_t *own = json_incref(json_object_get(flat, conditional[i]));
		json_auto_t *one = own ? flatten(fitting, own, false, nested + 1) : NULL;

		merge_properties(flat, one);
		json_object_del(flat, conditional[i]);
	}
	json_object_foreach(dependent, name, schema) {
		json_auto_t *one = flatten(fitting, schema, false, nested + 1);

		merge_properties(flat, one);
	}
	json_object_del(flat, "dependentSchemas");
}

static void flatten_top(struct schema_fitting *fitting, json_t *flat, unsigned nested)
{
	static const char *const either[] = { "anyOf", "oneOf" };
	static const char *const never[] = { "enum", "const", "not" };

	for (size_t i = 0; i < ARRAY_LEN(either); i++) {
		json_auto_t *list = json_incref(json_object_get(flat, either[i]));

		json_object_del(flat, either[i]);
		if (json_is_array(list))
			merge_either(fitting, flat, list, nested);
	}
	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		json_object_del(flat, never[i]);
	json_object_set_new(flat, "type", json_string("object"));
	if (fitting->column != FIT_GEMINI && !json_is_object(json_object_get(flat, "properties")))
		json_object_set_new(flat, "properties", json_object());
}

/* The schema with what it is put together from, as far as the format does not take that: a new
 * object, whose members are still those of the source. */
static json_t *flatten(struct schema_fitting *fitting, const json_t *schema, bool top,
                       unsigned nested)
{
	json_t *flat = json_is_object(schema) ? json_copy((json_t *)schema) : json_object();
	json_auto_t *all = NULL;
	json_t *one;
	size_t i;

	if (nested > FIT_NESTED || ++fitting->nodes > fitting->most) {
		json_object_clear(flat);
		return flat;
	}
	split_dependencies(flat);
	if (reference_of(flat) && !flatten_reference(fitting, flat, top, nested))
		return flat;
	if (top || fitting->format->merges) {
		all = json_incref(json_object_get(flat, "allOf"));
		json_object_del(flat, "allOf");
	}
	json_array_foreach(all, i, one) {
		json_auto_t *more = flatten(fitting, one, false, nested + 1);

		if (json_object_get(more, "$ref") && !fitting->format->points)
			json_object_del(more, "$ref");
		merge_also(flat, more);
	}
	if (fitting->format->merges)
		flatten_optional(fitting, flat, nested);
	if (top)
		flatten_top(fitting, flat, nested);
	return flat;
}

json_t *schema_merge(struct schema_fitting *fitting, const json_t *schema, bool top)
{
	return flatten(fitting, schema, top, 0);
}
