/* SPDX-License-Identifier: Apache-2.0 */
/* unevaluatedProperties and unevaluatedItems: which members and items other keywords of the same
 * schema judge, in it or in the schemas that it puts together (JSON Schema 2020-12, core, 11). */
#include <string.h>

#include "base/mem.h"
#include "schema/private.h"

/* One member or item, and who looks. */
struct evaluation {
	struct schema_judge *judge;
	const json_t *value;             /* the object or array that has it */
	const struct schema_place *place; /* of that */
	const char *name;                /* of the member; NULL: it is an item */
	size_t item;
};

static enum schema_verdict either(enum schema_verdict a, enum schema_verdict b)
{
	return a > b ? a : b;
}

static enum schema_verdict fits_quietly(const struct evaluation *at, const json_t *schema,
                                        const json_t *value)
{
	enum schema_verdict verdict;

	at->judge->quiet++;
	verdict = at->judge->value(at->judge, schema, value, at->place);
	at->judge->quiet--;
	return verdict;
}

/* ---- by the schema's own keywords --------------------------------------------------- */

static enum schema_verdict member_is_named(const struct evaluation *at, const json_t *schema)
{
	const json_t *patterns = json_object_get(schema, "patternProperties");
	enum schema_verdict named = SCHEMA_INVALID;
	const char *pattern;
	json_t *rule;

	if (json_object_get(json_object_get(schema, "properties"), at->name) ||
	    json_object_get(schema, "additionalProperties"))
		return SCHEMA_VALID;
	json_object_foreach((json_t *)patterns, pattern, rule)
		named = either(named, schema_judge_pattern(at->judge, pattern, at->name,
		                                           at->place));
	return named;
}

static enum schema_verdict item_is_named(const struct evaluation *at, const json_t *schema)
{
	const json_t *items = json_object_get(schema, "items");
	const json_t *prefix = json_object_get(schema, "prefixItems");
	const json_t *contains = json_object_get(schema, "contains");
	const json_t *first = json_is_array(items) ? items : prefix;

	if (at->item < json_array_size(first) || (items && !json_is_array(items)) ||
	    (items && json_object_get(schema, "additionalItems")))
		return SCHEMA_VALID;
	return contains && at->judge->schema->contains_evaluates ?
	               fits_quietly(at, contains, json_array_get(at->value, at->item)) :
	               SCHEMA_INVALID;
}

/* ---- by the schemas in it ------------------------------------------------------------ */

static enum schema_verdict is_evaluated(const struct evaluation *at, const json_t *schema);

/* By schemas of which only those count that the value fits. */
static enum schema_verdict by_fitting(const struct evaluation *at, const json_t *schema)
{
	const enum schema_verdict by = is_evaluated(at, schema);

	if (by == SCHEMA_INVALID)
		return by;
	return schema_both(by, fits_quietly(at, schema, at->value));
}

static enum schema_verdict by_branches(const struct evaluation *at, const json_t *branches)
{
	enum schema_verdict found = SCHEMA_INVALID;
	json_t *branch;
	size_t i;

	json_array_foreach((json_t *)branches, i, branch)
		found = either(found, by_fitting(at, branch));
	return found;
}

static enum schema_verdict by_condition(const struct evaluation *at, const json_t *schema)
{
	const json_t *condition = json_object_get(schema, "if");
	const enum schema_verdict holds =
		condition ? fits_quietly(at, condition, at->value) : SCHEMA_UNKNOWN;
	const json_t *next = json_object_get(schema, holds == SCHEMA_VALID ? "then" : "else");

	if (!condition || holds == SCHEMA_UNKNOWN)
		return condition ? SCHEMA_UNKNOWN : SCHEMA_INVALID;
	return either(holds == SCHEMA_VALID ? is_evaluated(at, condition) : SCHEMA_INVALID,
	              next ? is_evaluated(at, next) : SCHEMA_INVALID);
}

static enum schema_verdict by_dependents(const struct evaluation *at, const json_t *schema)
{
	enum schema_verdict found = SCHEMA_INVALID;
	const char *name;
	json_t *dependent;

	json_object_foreach(json_object_get(schema, "dependentSchemas"), name, dependent)
		if (json_object_get(at->value, name))
			found = either(found, is_evaluated(at, dependent));
	return found;
}

static enum schema_verdict by_reference(const struct evaluation *at, const json_t *schema)
{
	static const char *const keywords[] = { "$ref", "$dynamicRef", "$recursiveRef" };
	enum schema_verdict found = SCHEMA_INVALID;

	for (size_t i = 0; i < ARRAY_LEN(keywords); i++) {
		const char *ref = json_string_value(json_object_get(schema, keywords[i]));
		const json_t *to = ref ? schema_referred(at->judge->schema, keywords[i], ref) :
		                         NULL;

		if (ref)
			found = either(found, to ? is_evaluated(at, to) : SCHEMA_UNKNOWN);
	}
	return found;
}

/* By all of a schema but its own unevaluated... */
static enum schema_verdict is_evaluated_here(const struct evaluation *at, const json_t *schema)
{
	enum schema_verdict found = at->name ? member_is_named(at, schema) :
	                                       item_is_named(at, schema);
	json_t *part;
	size_t i;

	if (found != SCHEMA_VALID)
		found = either(found, by_reference(at, schema));
	json_array_foreach(json_object_get(schema, "allOf"), i, part)
		found = found == SCHEMA_VALID ? found : either(found, is_evaluated(at, part));
	if (found != SCHEMA_VALID)
		found = either(found, by_branches(at, json_object_get(schema, "anyOf")));
	if (found != SCHEMA_VALID)
		found = either(found, by_branches(at, json_object_get(schema, "oneOf")));
	if (found != SCHEMA_VALID)
		found = either(found, by_condition(at, schema));
	return found == SCHEMA_VALID ? found : either(found, by_dependents(at, schema));
}

static enum schema_verdict is_evaluated(const struct evaluation *at, const json_t *schema)
{
	struct schema_judge *judge = at->judge;
	enum schema_verdict found;

	if (!json_is_object(schema))
		return SCHEMA_INVALID;
	if (json_object_get(schema, at->name ? "unevaluatedProperties" : "unevaluatedItems"))
		return SCHEMA_VALID;
	if (judge->frames >= SCHEMA_FRAMES_MAX || !schema_spend(judge, 1))
		return SCHEMA_UNKNOWN;
	judge->frames++;
	found = is_evaluated_here(at, schema);
	judge->frames--;
	return found;
}

/* ---- the keywords -------------------------------------------------------------------- */

/* One that no other keyword judges is judged by this one. */
static enum schema_verdict judge_rest(const struct evaluation *at, const json_t *schema,
                                      const json_t *says, const json_t *value)
{
	const struct schema_place below = { .above = at->place, .name = at->name,
		                            .item = at->item };
	const enum schema_verdict by = schema_spend(at->judge, 1) ? is_evaluated_here(at, schema) :
	                                                            SCHEMA_UNKNOWN;

	if (by == SCHEMA_VALID)
		return SCHEMA_VALID;
	if (by == SCHEMA_UNKNOWN)
		return schema_unknown(at->judge, &below, "whether other keywords allow it is not "
		                      "decided, which %s depends on",
		                      at->name ? "unevaluatedProperties" : "unevaluatedItems");
	return at->judge->value(at->judge, says, value, &below);
}

enum schema_verdict schema_unevaluated_members(struct schema_judge *judge, const json_t *schema,
                                               const json_t *says, const json_t *value,
                                               const struct schema_place *place)
{
	enum schema_verdict all = SCHEMA_VALID;
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)value, name, member) {
		const struct evaluation at = { .judge = judge, .value = value, .place = place,
			                       .name = name };

		/* As with additionalProperties. */
		if (json_is_true(says) || judge->schema->ref_alone ||
		    (!place->above && strcmp(name, "$schema") == 0))
			continue;
		all = schema_both(all, judge_rest(&at, schema, says, member));
	}
	return all;
}

enum schema_verdict schema_unevaluated_items(struct schema_judge *judge, const json_t *schema,
                                             const json_t *says, const json_t *value,
                                             const struct schema_place *place)
{
	enum schema_verdict all = SCHEMA_VALID;
	json_t *item;
	size_t i;

	if (json_is_true(says) || judge->schema->ref_alone)
		return SCHEMA_VALID;
	json_array_foreach((json_t *)value, i, item) {
		const struct evaluation at = { .judge = judge, .value = value, .place = place,
			                       .item = i };

		all = schema_both(all, judge_rest(&at, schema, says, item));
	}
	return all;
}
