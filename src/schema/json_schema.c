/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas as documents: loading, and the order in which keywords are judged. */
#include "schema/json_schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/jsonc.h"
#include "schema/private.h"
#include "search/match/js_regex.h"

/* ---- loading ------------------------------------------------------------------- */

/* The drafts by what their $schema ends with; no $schema: the newest. */
static const struct schema_draft {
	const char *part;
	const char *id; /* its keyword for addresses */
	bool ref_alone, contains_evaluates;
} drafts[] = {
	{ "json-schema.org/draft/2020-12/", "$id", false, true },
	{ "json-schema.org/draft/2019-09/", "$id", false, false },
	{ "json-schema.org/draft-07/", "$id", true, false },
	{ "json-schema.org/draft-06/", "$id", true, false },
	{ "json-schema.org/schema", "$id", true, false },
	{ "json-schema.org/draft-04/", "id", true, false },
};

/* NULL: none of them. */
static const struct schema_draft *draft_of(const json_t *named)
{
	const char *text = json_string_value(named);

	for (size_t i = 0; text && i < ARRAY_LEN(drafts); i++)
		if (strstr(text, drafts[i].part))
			return &drafts[i];
	return named ? NULL : &drafts[0];
}

/* Whether a schema within has an address; values are not schemas.  As deep as JSON is. */
static bool has_address_within(const json_t *json, const char *keyword, bool is_root)
{
	static const char *const values[] = { "enum", "const", "default", "examples", NULL };
	const char *id = json_string_value(json_object_get(json, keyword));
	const char *name;
	json_t *member;
	size_t i;

	if (!is_root && id && id[0] != '#')
		return true;
	json_object_foreach((json_t *)json, name, member)
		if (!text_listed(values, name) && has_address_within(member, keyword, false))
			return true;
	json_array_foreach((json_t *)json, i, member)
		if (has_address_within(member, keyword, false))
			return true;
	return false;
}

bool json_schema_load(struct span text, struct json_schema **ret, struct err *err)
{
	json_auto_t *root = NULL;
	struct json_schema *schema;
	const struct schema_draft *draft;

	if (text.len > SCHEMA_BYTES_MAX)
		return err_set(err, ERR_TOO_LARGE, "The schema has more than %d bytes.",
		               SCHEMA_BYTES_MAX);
	if (!jsonc_parse(text, &root, err))
		return false;
	draft = draft_of(json_object_get(root, "$schema"));
	if (!json_is_object(root) || !draft)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "It is not a JSON Schema of draft 4, 6, 7, 2019-09 or 2020-12.");
	schema = mem_alloc(1, sizeof(*schema));
	schema->root = mem_steal(&root);
	schema->ref_alone = draft->ref_alone;
	schema->contains_evaluates = draft->contains_evaluates;
	schema->bundled = has_address_within(schema->root, draft->id, true);
	*ret = schema;
	return true;
}

void json_schema_free(struct json_schema *schema)
{
	if (!schema)
		return;
	for (size_t i = 0; i < schema->pattern_count; i++)
		js_regex_free(schema->patterns[i].regex);
	json_decref(schema->root);
	free(schema);
}

/* ---- judging ------------------------------------------------------------------- */

static enum schema_verdict judge_keywords(struct schema_judge *judge, const json_t *schema,
                                          const json_t *value, const struct schema_place *place)
{
	enum schema_verdict all = SCHEMA_VALID;
	const char *name;
	json_t *says;

	json_object_foreach((json_t *)schema, name, says) {
		schema_keyword_check *check = schema_keyword(name);

		if (!check)
			continue;
		if (!schema_spend(judge, 1))
			return schema_both(all, schema_unfinished(judge, place));
		all = schema_both(all, check(judge, schema, says, value, place));
		if (all == SCHEMA_INVALID && judge->quiet)
			break;
	}
	return all;
}

static schema_value_check judge_value;

/* What the schemas say to which its references lead; those that depend on the way to them came with
 * 2019-09. */
static enum schema_verdict judge_references(struct schema_judge *judge, const json_t *schema,
                                            const json_t *value, const struct schema_place *place)
{
	static const char *const keywords[] = { "$ref", "$dynamicRef", "$recursiveRef" };
	const size_t count = judge->schema->ref_alone ? 1 : ARRAY_LEN(keywords);
	enum schema_verdict all = SCHEMA_VALID;

	for (size_t i = 0; i < count; i++) {
		const char *ref = json_string_value(json_object_get(schema, keywords[i]));
		const json_t *to = ref ? schema_referred(judge->schema, keywords[i], ref) : NULL;

		if (to)
			all = schema_both(all, judge_value(judge, to, value, place));
		else if (ref)
			all = schema_both(all, schema_unknown(judge, place, "where %s %.*s of the "
			                                      "schema leads is not known",
			                                      keywords[i], schema_shown(ref), ref));
	}
	return all;
}

static enum schema_verdict judge_value(struct schema_judge *judge, const json_t *schema,
                                       const json_t *value,
                                       const struct schema_place *place)
{
	const bool ref = json_is_string(json_object_get(schema, "$ref"));
	enum schema_verdict all;

	if (json_is_false(schema))
		return schema_problem(judge, place, "false", "is not allowed");
	if (!json_is_object(schema))
		return json_is_true(schema) ?
		               SCHEMA_VALID :
		               schema_unknown(judge, place, "the schema has %s where a schema "
		                              "belongs", json_type_phrase(schema));
	if (judge->frames >= SCHEMA_FRAMES_MAX)
		return schema_unknown(judge, place, "more than %d schemas are within one another",
		                      SCHEMA_FRAMES_MAX);
	if (!schema_spend(judge, 1))
		return schema_unfinished(judge, place);
	judge->frames++;
	all = judge_references(judge, schema, value, place);
	if (!ref || !judge->schema->ref_alone)
		all = schema_both(all, judge_keywords(judge, schema, value, place));
	judge->frames--;
	return all;
}

enum schema_verdict json_schema_check(struct json_schema *schema, const json_t *value,
                                      struct buf *problems, size_t *ret_count)
{
	const struct schema_place root = { 0 };
	struct schema_judge judge = {
		.schema = schema, .value = judge_value, .steps = SCHEMA_STEPS_MAX,
		.problems = problems, .unknown = BUF_INIT(SCHEMA_UNKNOWN_BYTES),
	};
	const enum schema_verdict verdict = judge_value(&judge, schema->root, value, &root);

	if (verdict == SCHEMA_UNKNOWN)
		buf_span(problems, buf_view(&judge.unknown));
	buf_release(&judge.unknown);
	*ret_count = judge.count;
	return verdict;
}
