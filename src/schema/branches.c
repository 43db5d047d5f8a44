/* SPDX-License-Identifier: Apache-2.0 */
/* Keywords that put schemas together: allOf, anyOf, oneOf, not, if. */
#include "schema/private.h"

static enum schema_verdict judge_quietly(struct schema_judge *judge, const json_t *schema,
                                         const json_t *value, const struct schema_place *place)
{
	enum schema_verdict verdict;

	judge->quiet++;
	verdict = judge->value(judge, schema, value, place);
	judge->quiet--;
	return verdict;
}

enum schema_verdict schema_all_of(struct schema_judge *judge, const json_t *schema,
                                  const json_t *says, const json_t *value,
                                  const struct schema_place *place)
{
	enum schema_verdict all = SCHEMA_VALID;
	json_t *branch;
	size_t i;

	(void)schema;
	json_array_foreach((json_t *)says, i, branch)
		all = schema_both(all, judge->value(judge, branch, value, place));
	return all;
}

/* How many of the branches are valid, and how many cannot be judged. */
struct branches {
	size_t valid, unknown, count;
};

static struct branches count_branches(struct schema_judge *judge, const json_t *says,
                                      const json_t *value, const struct schema_place *place)
{
	struct branches branches = { .count = json_array_size(says) };

	for (size_t i = 0; i < branches.count; i++) {
		const enum schema_verdict verdict =
			judge_quietly(judge, json_array_get(says, i), value, place);

		branches.valid += verdict == SCHEMA_VALID;
		branches.unknown += verdict == SCHEMA_UNKNOWN;
	}
	return branches;
}

/* The type that a branch requires, by itself or by its $ref; NULL: any. */
static const json_t *branch_type(const struct schema_judge *judge, const json_t *branch)
{
	const char *ref = json_string_value(json_object_get(branch, "$ref"));

	return json_object_get(ref ? schema_referred(judge->schema, "$ref", ref) : branch, "type");
}

/* Where each branch only requires one member: `"uses" or "run"`. */
static bool list_required(const json_t *says, struct buf *out)
{
	json_t *branch;
	size_t i;

	json_array_foreach((json_t *)says, i, branch) {
		const json_t *names = json_object_get(branch, "required");
		const char *name = json_string_value(json_array_get(names, 0));

		if (json_object_size(branch) != 1 || json_array_size(names) != 1 || !name)
			return false;
		buf_printf(out, "%s\"%s\"", i ? " or " : "", name);
	}
	return !out->overflowed && out->data;
}

/* If one branch alone takes values of this type, its own problems say more. */
static enum schema_verdict no_branch_fits(struct schema_judge *judge, const json_t *says,
                                     const char *keyword, const json_t *value,
                                     const struct schema_place *place)
{
	_cleanup_buf_ struct buf names = BUF_INIT(1024);
	const json_t *meant = NULL;
	size_t fitting = 0, i;
	json_t *branch;

	json_array_foreach((json_t *)says, i, branch) {
		const json_t *type = branch_type(judge, branch);

		if (type && !schema_type_fits(type, value))
			continue;
		meant = branch;
		fitting++;
	}
	if (fitting == 1 && !judge->quiet)
		return judge->value(judge, meant, value, place);
	if (json_is_object(value) && list_required(says, &names))
		return schema_problem(judge, place, keyword, "must have the member %s", names.data);
	return schema_problem(judge, place, keyword, "is none of the %zu forms that are allowed",
	                      json_array_size(says));
}

enum schema_verdict schema_any_of(struct schema_judge *judge, const json_t *schema,
                                  const json_t *says, const json_t *value,
                                  const struct schema_place *place)
{
	const struct branches branches = count_branches(judge, says, value, place);

	(void)schema;
	if (branches.valid || !branches.count)
		return SCHEMA_VALID;
	return branches.unknown ? SCHEMA_UNKNOWN :
	                          no_branch_fits(judge, says, "anyOf", value, place);
}

enum schema_verdict schema_one_of(struct schema_judge *judge, const json_t *schema,
                                  const json_t *says, const json_t *value,
                                  const struct schema_place *place)
{
	const struct branches branches = count_branches(judge, says, value, place);

	(void)schema;
	if (branches.valid > 1)
		return schema_problem(judge, place, "oneOf",
		                      "fits %zu of %zu forms of which one must fit",
		                      branches.valid, branches.count);
	if (branches.unknown)
		return SCHEMA_UNKNOWN;
	return branches.valid || !branches.count ?
	               SCHEMA_VALID : no_branch_fits(judge, says, "oneOf", value, place);
}

enum schema_verdict schema_not(struct schema_judge *judge, const json_t *schema,
                               const json_t *says, const json_t *value,
                               const struct schema_place *place)
{
	(void)schema;
	switch (judge_quietly(judge, says, value, place)) {
	case SCHEMA_VALID:
		return schema_problem(judge, place, "not", "has a form that is excluded");
	case SCHEMA_INVALID:
		return SCHEMA_VALID;
	default:
		return SCHEMA_UNKNOWN;
	}
}

enum schema_verdict schema_if(struct schema_judge *judge, const json_t *schema, const json_t *says,
                              const json_t *value, const struct schema_place *place)
{
	static const char *const then[] = { [SCHEMA_INVALID] = "else", [SCHEMA_VALID] = "then" };
	const enum schema_verdict verdict = judge_quietly(judge, says, value, place);
	const json_t *next;

	if (verdict == SCHEMA_UNKNOWN)
		return SCHEMA_UNKNOWN;
	next = json_object_get(schema, then[verdict]);
	return next ? judge->value(judge, next, value, place) : SCHEMA_VALID;
}
