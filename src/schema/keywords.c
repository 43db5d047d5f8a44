/* SPDX-License-Identifier: Apache-2.0 */
/* Keywords that judge one value: its type, its size, its members and items. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "schema/private.h"

enum { NAMES_SHOWN = 12, NAMES_BYTES = 1024, UNIQUE_ITEMS_MAX = 2000 };

#define KEYWORD(NAME) \
	static enum schema_verdict NAME(struct schema_judge *judge, const json_t *schema, \
	                                const json_t *says, const json_t *value, \
	                                const struct schema_place *place)

/* ---- types ---------------------------------------------------------------------- */

/* The texts of an array as JSON, separated by commas, as many as there is room for. */
static const char *listed(const json_t *values, char *out, size_t size)
{
	_cleanup_buf_ struct buf text = BUF_INIT(NAMES_BYTES);
	const size_t count = json_array_size(values);

	for (size_t i = 0; i < count && i < NAMES_SHOWN; i++) {
		buf_str(&text, i ? ", " : "");
		json_print(&text, json_array_get(values, i), 0);
	}
	if (count > NAMES_SHOWN)
		buf_printf(&text, " or %zu others", count - NAMES_SHOWN);
	snprintf(out, size, "%s", text.overflowed || !text.data ? "one of many" : text.data);
	return out;
}

KEYWORD(check_type)
{
	char names[NAMES_BYTES];

	(void)schema;
	if (schema_type_fits(says, value))
		return SCHEMA_VALID;
	if (json_is_string(says))
		snprintf(names, sizeof(names), "%s", json_string_value(says));
	else
		listed(says, names, sizeof(names));
	return schema_problem(judge, place, "type", "must be of type %s, and is %s", names,
	                      schema_value_phrase(value));
}

/* As values: 1 and 1.0 are one, at any depth.  Recursion as deep as JSON is. */
static bool schema_values_equal(const json_t *a, const json_t *b)
{
	const char *name;
	json_t *member;
	size_t i;

	if (json_is_number(a) && json_is_number(b))
		return json_number_value(a) == json_number_value(b);
	if (json_typeof(a) != json_typeof(b) || json_array_size(a) != json_array_size(b) ||
	    json_object_size(a) != json_object_size(b))
		return false;
	json_array_foreach((json_t *)a, i, member)
		if (!schema_values_equal(member, json_array_get(b, i)))
			return false;
	json_object_foreach((json_t *)a, name, member) {
		const json_t *other = json_object_get(b, name);

		if (!other || !schema_values_equal(member, other))
			return false;
	}
	return !json_is_string(a) || json_equal(a, b);
}

KEYWORD(check_enum)
{
	char names[NAMES_BYTES];

	(void)schema;
	if (!schema_spend(judge, json_array_size(says)))
		return schema_unfinished(judge, place);
	for (size_t i = 0; i < json_array_size(says); i++)
		if (schema_values_equal(json_array_get(says, i), value))
			return SCHEMA_VALID;
	return schema_problem(judge, place, "enum", "must be one of: %s",
	                      listed(says, names, sizeof(names)));
}

KEYWORD(check_const)
{
	json_auto_t *one = NULL;
	char names[NAMES_BYTES];

	(void)schema;
	if (schema_values_equal(says, value))
		return SCHEMA_VALID;
	one = json_pack("[O]", says);
	return schema_problem(judge, place, "const", "must be %s",
	                      listed(one, names, sizeof(names)));
}

/* ---- numbers -------------------------------------------------------------------- */

/* A boundary: `sign` is 1 for a least, -1 for a greatest value. */
static enum schema_verdict judge_bound(struct schema_judge *judge, const char *keyword,
                                       const json_t *says, const json_t *value, int sign,
                                       bool excluded, const struct schema_place *place)
{
	const double bound = json_number_value(says);
	const double over = sign * (json_number_value(value) - bound);

	if (!json_is_number(says) || !json_is_number(value) || over > 0 || (over == 0 && !excluded))
		return SCHEMA_VALID;
	return schema_problem(judge, place, keyword, "must be %s %s%.17g",
	                      sign > 0 ? "greater than" : "less than",
	                      excluded ? "" : "or equal to ", bound);
}

KEYWORD(check_minimum)
{
	const bool excluded = json_is_true(json_object_get(schema, "exclusiveMinimum"));

	return judge_bound(judge, "minimum", says, value, 1, excluded, place);
}

KEYWORD(check_maximum)
{
	const bool excluded = json_is_true(json_object_get(schema, "exclusiveMaximum"));

	return judge_bound(judge, "maximum", says, value, -1, excluded, place);
}

KEYWORD(check_exclusive_minimum)
{
	(void)schema;
	return judge_bound(judge, "exclusiveMinimum", says, value, 1, true, place);
}

KEYWORD(check_exclusive_maximum)
{
	(void)schema;
	return judge_bound(judge, "exclusiveMaximum", says, value, -1, true, place);
}

/* 0.3 is a multiple of 0.1, as people mean it.  Without libm, which nothing else needs. */
static bool is_whole_nearly(double size)
{
	return size > 1e15 ||
	       fabs(size - (double)(int64_t)(size + 0.5)) <= 1e-9 * (size > 1 ? size : 1);
}

KEYWORD(check_multiple_of)
{
	const double step = json_number_value(says), number = json_number_value(value);
	const double times = step > 0 ? number / step : 0;

	(void)schema;
	if (!json_is_number(value) || step <= 0)
		return SCHEMA_VALID;
	if (!isfinite(times) || (fabs(times) > 1e15 && floor(step) != step))
		return schema_unknown(judge, place, "%.17g is too large for multipleOf", number);
	if (is_whole_nearly(fabs(times)))
		return SCHEMA_VALID;
	return schema_problem(judge, place, "multipleOf", "must be a multiple of %.17g", step);
}

/* ---- sizes ---------------------------------------------------------------------- */

static size_t schema_text_length(const json_t *text)
{
	const char *at = json_string_value(text), *end = at + json_string_length(text);
	size_t count = 0;

	for (; at < end; at++)
		count += ((unsigned char)*at & 0xc0) != 0x80;
	return count;
}

/* `sign` as above; nothing if the value is not of the type that is counted. */
static enum schema_verdict judge_size(struct schema_judge *judge, const char *keyword,
                                      const char *what, const json_t *says, size_t size, int sign,
                                      const struct schema_place *place)
{
	const double limit = json_number_value(says);

	if (!json_is_number(says) || sign * ((double)size - limit) >= 0)
		return SCHEMA_VALID;
	return schema_problem(judge, place, keyword, "must have at %s %.0f %s, and has %zu",
	                      sign > 0 ? "least" : "most", limit, what, size);
}

#define SIZE_KEYWORD(NAME, KEYWORD_NAME, TYPE, COUNT, WHAT, SIGN) \
	KEYWORD(NAME) \
	{ \
		(void)schema; \
		if (!TYPE(value)) \
			return SCHEMA_VALID; \
		return judge_size(judge, KEYWORD_NAME, WHAT, says, COUNT(value), SIGN, place); \
	}

SIZE_KEYWORD(check_min_length, "minLength", json_is_string, schema_text_length, "characters", 1)
SIZE_KEYWORD(check_max_length, "maxLength", json_is_string, schema_text_length, "characters", -1)
SIZE_KEYWORD(check_min_items, "minItems", json_is_array, json_array_size, "items", 1)
SIZE_KEYWORD(check_max_items, "maxItems", json_is_array, json_array_size, "items", -1)
SIZE_KEYWORD(check_min_members, "minProperties", json_is_object, json_object_size, "members", 1)
SIZE_KEYWORD(check_max_members, "maxProperties", json_is_object, json_object_size, "members", -1)

KEYWORD(check_pattern)
{
	enum schema_verdict verdict;

	(void)schema;
	if (!json_is_string(value) || !json_is_string(says))
		return SCHEMA_VALID;
	verdict = schema_judge_pattern(judge, json_string_value(says), json_string_value(value),
	                               place);
	return verdict != SCHEMA_INVALID ?
	               verdict :
	               schema_problem(judge, place, "pattern", "must match the pattern %.*s",
	                              schema_shown(json_string_value(says)),
	                              json_string_value(says));
}

/* ---- objects -------------------------------------------------------------------- */

KEYWORD(check_properties)
{
	enum schema_verdict all = SCHEMA_VALID;
	const char *name;
	json_t *member;

	(void)schema;
	json_object_foreach((json_t *)value, name, member) {
		const struct schema_place below = { .above = place, .name = name };
		const json_t *rule = json_object_get(says, name);

		if (rule)
			all = schema_both(all, judge->value(judge, rule, member, &below));
	}
	return all;
}

KEYWORD(check_pattern_properties)
{
	enum schema_verdict all = SCHEMA_VALID, fits;
	const char *name, *pattern;
	json_t *member, *rule;

	(void)schema;
	json_object_foreach((json_t *)value, name, member)
		json_object_foreach((json_t *)says, pattern, rule) {
			const struct schema_place below = { .above = place, .name = name };

			if (!schema_spend(judge, 1))
				return schema_both(all, schema_unfinished(judge, &below));
			fits = schema_judge_pattern(judge, pattern, name, &below);
			if (fits == SCHEMA_UNKNOWN)
				all = schema_both(all, SCHEMA_UNKNOWN);
			else if (fits == SCHEMA_VALID)
				all = schema_both(all, judge->value(judge, rule, member,
				                                          &below));
		}
	return all;
}

/* Whether neither `properties` nor a pattern names the member. */
static enum schema_verdict is_additional(struct schema_judge *judge, const json_t *schema,
                                         const char *name, const struct schema_place *place)
{
	const json_t *patterns = json_object_get(schema, "patternProperties");
	enum schema_verdict additional = SCHEMA_VALID;
	const char *pattern;
	json_t *rule;

	if (json_object_get(json_object_get(schema, "properties"), name))
		return SCHEMA_INVALID;
	json_object_foreach((json_t *)patterns, pattern, rule) {
		const enum schema_verdict fits = schema_judge_pattern(judge, pattern, name, place);

		if (fits == SCHEMA_VALID)
			return SCHEMA_INVALID;
		if (fits == SCHEMA_UNKNOWN)
			additional = SCHEMA_UNKNOWN;
	}
	return additional;
}

static enum schema_verdict refuse_member(struct schema_judge *judge, const json_t *schema,
                                         const char *name, const struct schema_place *place)
{
	const json_t *properties = json_object_get(schema, "properties");
	json_auto_t *names = json_array();
	char shown[NAMES_BYTES];
	const char *known;
	json_t *rule;

	json_object_foreach((json_t *)properties, known, rule)
		json_array_append_new(names, json_string(known));
	return schema_problem(judge, place, "additionalProperties",
	                      "has the member \"%.*s\", which is not allowed; allowed: %s",
	                      schema_shown(name), name,
	                      json_array_size(names) ? listed(names, shown, sizeof(shown))
	                                             : "none");
}

KEYWORD(check_additional_properties)
{
	enum schema_verdict all = SCHEMA_VALID, additional;
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)value, name, member) {
		const struct schema_place below = { .above = place, .name = name };

		if (!schema_spend(judge, 1))
			return schema_both(all, schema_unfinished(judge, &below));
		/* A file may name its schema, whether that says so or not, as in editors. */
		if (!place->above && strcmp(name, "$schema") == 0)
			continue;
		additional = is_additional(judge, schema, name, &below);
		if (additional == SCHEMA_UNKNOWN)
			all = schema_both(all, SCHEMA_UNKNOWN);
		else if (additional == SCHEMA_VALID && json_is_false(says))
			all = refuse_member(judge, schema, name, place);
		else if (additional == SCHEMA_VALID)
			all = schema_both(all, judge->value(judge, says, member, &below));
	}
	return all;
}

KEYWORD(check_property_names)
{
	enum schema_verdict all = SCHEMA_VALID;
	const char *name;
	json_t *member;

	(void)schema;
	json_object_foreach((json_t *)value, name, member) {
		json_auto_t *text = json_string(name);
		const struct schema_place below = { .above = place, .name = name };

		all = schema_both(all, judge->value(judge, says, text, &below));
	}
	return all;
}

/* `because`: the member that requires them, or NULL. */
static enum schema_verdict judge_required(struct schema_judge *judge, const char *keyword,
                                          const json_t *names, const json_t *value,
                                          const char *because, const struct schema_place *place)
{
	enum schema_verdict all = SCHEMA_VALID;

	for (size_t i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));

		if (!name || json_object_get(value, name))
			continue;
		all = schema_problem(judge, place, keyword,
		                     "must have the member \"%.*s\"%s%.*s", schema_shown(name),
		                     name, because ? " because it has " : "",
		                     because ? schema_shown(because) : 0, because ? because : "");
	}
	return all;
}

KEYWORD(check_required)
{
	(void)schema;
	return json_is_object(value) ?
	               judge_required(judge, "required", says, value, NULL, place) : SCHEMA_VALID;
}

KEYWORD(check_dependencies)
{
	enum schema_verdict all = SCHEMA_VALID;
	const char *name;
	json_t *needs;

	(void)schema;
	json_object_foreach((json_t *)says, name, needs) {
		if (!json_is_object(value) || !json_object_get(value, name))
			continue;
		all = schema_both(all, json_is_array(needs) ?
		                               judge_required(judge, "dependencies", needs, value,
		                                              name, place) :
		                               judge->value(judge, needs, value, place));
	}
	return all;
}

/* ---- arrays --------------------------------------------------------------------- */

/* One schema for the items from `first` on. */
static enum schema_verdict judge_items(struct schema_judge *judge, const json_t *rule,
                                       const json_t *value, size_t first,
                                       const struct schema_place *place)
{
	enum schema_verdict all = SCHEMA_VALID;

	if (json_is_false(rule) && json_array_size(value) > first)
		return schema_problem(judge, place, "items", "must have at most %zu items, and has "
		                      "%zu", first, json_array_size(value));
	for (size_t i = first; i < json_array_size(value); i++) {
		const struct schema_place below = { .above = place, .item = i };

		all = schema_both(all, judge->value(judge, rule, json_array_get(value, i),
		                                          &below));
	}
	return all;
}

/* A schema for each item. */
static enum schema_verdict judge_tuple(struct schema_judge *judge, const json_t *rules,
                                       const json_t *value, const struct schema_place *place)
{
	enum schema_verdict all = SCHEMA_VALID;

	for (size_t i = 0; i < json_array_size(rules) && i < json_array_size(value); i++) {
		const struct schema_place below = { .above = place, .item = i };

		all = schema_both(all, judge->value(judge, json_array_get(rules, i),
		                                          json_array_get(value, i), &below));
	}
	return all;
}

KEYWORD(check_items)
{
	const json_t *prefix = json_object_get(schema, "prefixItems");

	return json_is_array(says) ?
	               judge_tuple(judge, says, value, place) :
	               judge_items(judge, says, value, json_array_size(prefix), place);
}

KEYWORD(check_prefix_items)
{
	(void)schema;
	return judge_tuple(judge, says, value, place);
}

KEYWORD(check_additional_items)
{
	const json_t *items = json_object_get(schema, "items");

	return json_is_array(items) ? judge_items(judge, says, value, json_array_size(items), place)
	                            : SCHEMA_VALID;
}

KEYWORD(check_contains)
{
	const json_t *min = json_object_get(schema, "minContains");
	const json_t *max = json_object_get(schema, "maxContains");
	const double least = min ? json_number_value(min) : 1;
	size_t found = 0, unknown = 0;

	if (!json_is_array(value))
		return SCHEMA_VALID;
	judge->quiet++;
	for (size_t i = 0; i < json_array_size(value); i++) {
		const enum schema_verdict verdict =
			judge->value(judge, says, json_array_get(value, i), place);

		found += verdict == SCHEMA_VALID;
		unknown += verdict == SCHEMA_UNKNOWN;
	}
	judge->quiet--;
	if (max && (double)found > json_number_value(max))
		return schema_problem(judge, place, "maxContains",
		                      "has too many items of one form");
	if ((double)found >= least)
		return max && unknown ? SCHEMA_UNKNOWN : SCHEMA_VALID;
	return (double)(found + unknown) >= least ?
	               SCHEMA_UNKNOWN :
	               schema_problem(judge, place, "contains", "has too few items of one form");
}

KEYWORD(check_unique_items)
{
	const size_t count = json_array_size(value);

	(void)schema;
	if (!json_is_true(says))
		return SCHEMA_VALID;
	if (count > UNIQUE_ITEMS_MAX)
		return schema_unknown(judge, place, "uniqueItems is judged for at most %d items",
		                      UNIQUE_ITEMS_MAX);
	if (!schema_spend(judge, count * count / 2))
		return schema_unfinished(judge, place);
	for (size_t i = 1; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (schema_values_equal(json_array_get(value, i), json_array_get(value, k)))
				return schema_problem(judge, place, "uniqueItems",
				                      "has the same item at %zu and %zu", k, i);
	return SCHEMA_VALID;
}

/* ---- the table ------------------------------------------------------------------ */

struct keyword {
	const char *name;
	schema_keyword_check *check;
};

static int compare_keyword(const void *name, const void *keyword)
{
	return strcmp(name, ((const struct keyword *)keyword)->name);
}

schema_keyword_check *schema_keyword(const char *name)
{
	static const struct keyword keywords[] = { /* sorted */
		{ "additionalItems", check_additional_items },
		{ "additionalProperties", check_additional_properties },
		{ "allOf", schema_all_of },
		{ "anyOf", schema_any_of },
		{ "const", check_const },
		{ "contains", check_contains },
		{ "dependencies", check_dependencies },
		{ "dependentRequired", check_dependencies },
		{ "dependentSchemas", check_dependencies },
		{ "enum", check_enum },
		{ "exclusiveMaximum", check_exclusive_maximum },
		{ "exclusiveMinimum", check_exclusive_minimum },
		{ "if", schema_if },
		{ "items", check_items },
		{ "maxItems", check_max_items },
		{ "maxLength", check_max_length },
		{ "maxProperties", check_max_members },
		{ "maximum", check_maximum },
		{ "minItems", check_min_items },
		{ "minLength", check_min_length },
		{ "minProperties", check_min_members },
		{ "minimum", check_minimum },
		{ "multipleOf", check_multiple_of },
		{ "not", schema_not },
		{ "oneOf", schema_one_of },
		{ "pattern", check_pattern },
		{ "patternProperties", check_pattern_properties },
		{ "prefixItems", check_prefix_items },
		{ "properties", check_properties },
		{ "propertyNames", check_property_names },
		{ "required", check_required },
		{ "type", check_type },
		{ "unevaluatedItems", schema_unevaluated_items },
		{ "unevaluatedProperties", schema_unevaluated_members },
		{ "uniqueItems", check_unique_items },
	};

	const struct keyword *found = bsearch(name, keywords, ARRAY_LEN(keywords),
	                                      sizeof(keywords[0]), compare_keyword);

	return found ? found->check : NULL;
}
