/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a plan while it is being made: noted in any order, settled, pinned, pruned. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/plan/private.h"

static void free_strings(char **strings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(strings[i]);
	free(strings);
}

void draft_release(struct plan_draft *draft)
{
	for (size_t i = 0; i < draft->rule_count; i++)
		free(draft->rules[i].rule.path);
	for (size_t i = 0; i < draft->absent_count; i++)
		free(draft->absent[i].path);
	free(draft->rules);
	free(draft->absent);
	free_strings(draft->writable, draft->writable_count);
	free_strings(draft->lifted, draft->lifted_count);
	free_strings(draft->unjudged, draft->unjudged_count);
	for (size_t i = 0; i < draft->tree_count; i++) {
		free(draft->trees[i].git);
		free(draft->trees[i].tree);
		free(draft->trees[i].own);
	}
	free(draft->trees);
	free(draft->globals);
	plan_reader_release(&draft->reader);
	*draft = (struct plan_draft){ 0 };
}

void draft_rule(struct plan_draft *draft, char *path, bool folder, enum sandbox_access access,
                enum sandbox_reason reason, enum draft_strength strength, const char *why)
{
	if (draft->rule_count >= LIMIT_SANDBOX_RULES) {
		draft->too_many = true;
		free(path);
		return;
	}
	draft->rules = mem_grow(draft->rules, &draft->rule_cap, draft->rule_count + 1,
	                        sizeof(*draft->rules));
	draft->rules[draft->rule_count++] = (struct draft_rule){
		.rule = { path, access, reason, folder, why },
		.strength = strength,
	};
}

void draft_closed(struct plan_draft *draft, const char *start, const char *path,
                  const struct sandbox_rule *like, enum draft_strength strength)
{
	_cleanup_free_ char *closed = location_closed(start, path);

	if (closed && draft_in_writable(draft, closed))
		draft_rule(draft, mem_steal(&closed), true, like->access, like->reason, strength,
		           like->why);
}

void draft_absent(struct plan_draft *draft, char *path, enum sandbox_reason reason, const char *why)
{
	if (draft->absent_count >= LIMIT_SANDBOX_RULES) {
		draft->too_many = true;
		free(path);
		return;
	}
	draft->absent = mem_grow(draft->absent, &draft->absent_cap, draft->absent_count + 1,
	                         sizeof(*draft->absent));
	draft->absent[draft->absent_count++] = (struct sandbox_absent){ path, reason, why };
}

void draft_writable(struct plan_draft *draft, const struct location *place,
                    enum sandbox_reason reason, enum draft_strength strength)
{
	draft_rule(draft, mem_strdup(place->path), place->kind == LOCATION_FOLDER, SANDBOX_WRITE,
	           reason, strength, NULL);
	draft->writable = mem_grow(draft->writable, &draft->writable_cap,
	                           draft->writable_count + 1, sizeof(*draft->writable));
	draft->writable[draft->writable_count++] = mem_strdup(place->path);
}

bool draft_in_writable(const struct plan_draft *draft, const char *path)
{
	for (size_t i = 0; i < draft->writable_count; i++)
		if (location_within(path, draft->writable[i]))
			return true;
	return false;
}

static int compare_draft_rules(const void *a, const void *b)
{
	const struct draft_rule *left = a, *right = b;
	int order = strcmp(left->rule.path, right->rule.path);

	if (order == 0)
		order = (int)right->strength - (int)left->strength;
	return order ? order : (int)left->rule.access - (int)right->rule.access;
}

void draft_settle(struct plan_draft *draft)
{
	size_t kept = 0;

	if (draft->rule_count)
		qsort(draft->rules, draft->rule_count, sizeof(*draft->rules), compare_draft_rules);
	for (size_t i = 0; i < draft->rule_count; i++) {
		struct draft_rule *rule = &draft->rules[i];

		if (kept && strcmp(draft->rules[kept - 1].rule.path, rule->rule.path) == 0)
			free(rule->rule.path);
		else
			draft->rules[kept++] = *rule;
	}
	draft->rule_count = kept;
}

/* As location_row requires. */
_Static_assert(offsetof(struct draft_rule, rule.path) == 0, "a row begins with its path");

/* The rule that decides about the first `len` bytes of `path`. */
static const struct draft_rule *draft_decide_prefix(const struct plan_draft *draft,
                                                    const char *path, size_t len)
{
	for (; len; len = location_above(path, len)) {
		const struct draft_rule *found = location_row(
			draft->rules, draft->rule_count, sizeof(*draft->rules), path, len);

		if (found)
			return found;
	}
	return NULL;
}

const struct draft_rule *draft_decide(const struct plan_draft *draft, const char *path)
{
	return draft_decide_prefix(draft, path, strlen(path));
}

static bool is_whole_writable(const struct plan_draft *draft, const char *path, size_t len)
{
	for (size_t i = 0; i < draft->writable_count; i++)
		if (strncmp(draft->writable[i], path, len) == 0 && !draft->writable[i][len])
			return true;
	return false;
}

static void pin_above(const struct plan_draft *draft, const struct sandbox_rule *rule,
                      struct plan_draft *pins)
{
	size_t len = strlen(rule->path);

	while ((len = location_above(rule->path, len)) > 0) {
		const struct draft_rule *above = draft_decide_prefix(draft, rule->path, len);

		if (!above || above->rule.access != SANDBOX_WRITE ||
		    is_whole_writable(draft, rule->path, len))
			return;
		if (strlen(above->rule.path) != len)
			draft_rule(pins, mem_dup(rule->path, len), true, SANDBOX_WRITE,
			           rule->reason, DRAFT_PIN,
			           "keeps its name, for what is protected in it");
	}
}

void draft_pin(struct plan_draft *draft)
{
	struct plan_draft pins = { 0 };

	for (size_t i = 0; i < draft->rule_count; i++) {
		const struct sandbox_rule *rule = &draft->rules[i].rule;

		if ((rule->access != SANDBOX_WRITE || rule->reason == SANDBOX_REASON_GIT) &&
		    draft_in_writable(draft, rule->path))
			pin_above(draft, rule, &pins);
	}
	for (size_t i = 0; i < pins.rule_count; i++) {
		const struct sandbox_rule *pin = &pins.rules[i].rule;

		draft_rule(draft, mem_strdup(pin->path), true, pin->access, pin->reason, DRAFT_PIN,
		           pin->why);
	}
	draft->too_many |= pins.too_many;
	draft_release(&pins);
	draft_settle(draft);
}

static bool is_needed(const struct plan_draft *draft, const struct draft_rule *rule)
{
	size_t len = location_above(rule->rule.path, strlen(rule->rule.path));
	const struct draft_rule *found = draft_decide_prefix(draft, rule->rule.path, len);
	const struct sandbox_rule *above = found ? &found->rule : NULL;

	if (rule->strength == DRAFT_PIN ||
	    (rule->rule.access == SANDBOX_WRITE && rule->rule.reason == SANDBOX_REASON_GIT))
		return true;
	if (rule->rule.access != (above ? above->access : SANDBOX_READ))
		return true;
	/* Commands see another /dev/shm; what was named in the machine's is put there. */
	if (above && above->reason == SANDBOX_REASON_DEVICE &&
	    rule->rule.reason != SANDBOX_REASON_DEVICE)
		return true;
	/* A root that is read-only is listed as one; what --read names may lie where another
	 * folder is seen (/tmp). */
	return (!above || strcmp(above->path, "/") == 0) && rule->strength >= DRAFT_ROOT;
}

static int by_absent_path(const void *a, const void *b)
{
	const struct sandbox_absent *left = a, *right = b;

	return strcmp(left->path, right->path);
}

/* Named by --write; what is denied stays so. */
static bool is_lifted(const struct plan_draft *draft, const struct sandbox_absent *absent)
{
	for (size_t i = 0; i < draft->lifted_count; i++)
		if (location_within(absent->path, draft->lifted[i]))
			return absent->reason != SANDBOX_REASON_DENY &&
			       absent->reason != SANDBOX_REASON_KEPT;
	return false;
}

static void prune_absent(struct plan_draft *draft)
{
	size_t kept = 0;

	if (draft->absent_count)
		qsort(draft->absent, draft->absent_count, sizeof(*draft->absent), by_absent_path);
	for (size_t i = 0; i < draft->absent_count; i++) {
		struct sandbox_absent *absent = &draft->absent[i];
		const struct draft_rule *rule = draft_decide(draft, absent->path);

		if ((kept && strcmp(draft->absent[kept - 1].path, absent->path) == 0) || !rule ||
		    rule->rule.access != SANDBOX_WRITE || is_lifted(draft, absent))
			free(absent->path);
		else
			draft->absent[kept++] = *absent;
	}
	draft->absent_count = kept;
}

void draft_prune(struct plan_draft *draft)
{
	_cleanup_free_ bool *needed = mem_alloc(draft->rule_count + 1, sizeof(*needed));
	size_t kept = 0;

	prune_absent(draft);
	/* A rule that is dropped says the same as the one above it, so judging all of them before
	 * any is dropped gives the same answers. */
	for (size_t i = 0; i < draft->rule_count; i++)
		needed[i] = is_needed(draft, &draft->rules[i]);
	for (size_t i = 0; i < draft->rule_count; i++) {
		if (needed[i])
			draft->rules[kept++] = draft->rules[i];
		else
			free(draft->rules[i].rule.path);
	}
	draft->rule_count = kept;
}

