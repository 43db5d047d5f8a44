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
static bool is_known_draft(const char *draft, bool *ret_ref_alone)
{
	static const struct {
		const char *part;
		bool ref_alone;
	} drafts[] = {
		{ "json-schema.org/draft-04/", true }, { "json-schema.org/draft-06/", true },
		{ "json-schema.org/draft-07/", true }, { "json-schema.org/schema", true },
		{ "json-schema.org/draft/2019-09/", false },
		{ "json-schema.org/draft/2020-12/", false },
	};

	*ret_ref_alone = false;
	for (size_t i = 0; draft && i < ARRAY_LEN(drafts); i++)
		if (strstr(draft, drafts[i].part)) {
			*ret_ref_alone = drafts[i].ref_alone;
			return true;
		}
	return !draft;
}

bool json_schema_load(struct span text, struct json_schema **ret, struct err *err)
{
	json_auto_t *root = NULL;
	struct json_schema *schema;
	const json_t *draft;
	bool ref_alone;

	if (text.len > SCHEMA_BYTES_MAX)
		return err_set(err, ERR_TOO_LARGE, "The schema has more than %d bytes.",
		               SCHEMA_BYTES_MAX);
	if (!jsonc_parse(text, &root, err))
		return false;
	draft = json_object_get(root, "$schema");
	if (!json_is_object(root) || (draft && !json_is_string(draft)) ||
	    !is_known_draft(json_string_value(draft), &ref_alone))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "It is not a JSON Schema of draft 4, 6, 7, 2019-09 or 2020-12.");
	schema = mem_alloc(1, sizeof(*schema));
	schema->root = mem_steal(&root);
	schema->ref_alone = ref_alone;
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
			return schema_both(all, SCHEMA_UNKNOWN);
		all = schema_both(all, check(judge, schema, says, value, place));
		if (all == SCHEMA_INVALID && judge->quiet)
			break;
	}
	return all;
}

static schema_value_check judge_value;

static enum schema_verdict judge_referred(struct schema_judge *judge, const char *ref,
                                          const json_t *value, const struct schema_place *place)
{
	const json_t *referred = schema_referred(judge->schema, ref);

	return referred ? judge_value(judge, referred, value, place) : SCHEMA_UNKNOWN;
}

static enum schema_verdict judge_value(struct schema_judge *judge, const json_t *schema,
                                       const json_t *value,
                                       const struct schema_place *place)
{
	const char *ref = json_string_value(json_object_get(schema, "$ref"));
	enum schema_verdict all = SCHEMA_VALID;

	if (json_is_false(schema))
		return schema_problem(judge, place, "false", "is not allowed");
	if (!json_is_object(schema))
		return json_is_true(schema) ? SCHEMA_VALID : SCHEMA_UNKNOWN;
	if (judge->frames >= SCHEMA_FRAMES_MAX || !schema_spend(judge, 1))
		return SCHEMA_UNKNOWN;
	judge->frames++;
	if (ref)
		all = judge_referred(judge, ref, value, place);
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
		.problems = problems,
	};
	const enum schema_verdict verdict = judge_value(&judge, schema->root, value, &root);

	*ret_count = judge.count;
	return verdict;
}
