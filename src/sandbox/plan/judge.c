/* SPDX-License-Identifier: Apache-2.0 */
/* Rules and absent names are sorted as strcmp sorts.  The rule that decides is the longest of the
 * path's own prefixes that has one, so each prefix that ends at a slash is looked up: a path
 * has few, and "/t/proj" is no prefix of "/t/proj-evil". */
#include "sandbox/plan/judge.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sandbox/plan/names.h"
#include "sandbox/plan/plan.h"

/* Both tables begin with the path; what is compared is `len` bytes of text with all of it. */
static int compare(const char *text, size_t len, const char *path)
{
	int order = strncmp(text, path, len);

	return order ? order : path[len] ? -1 : 0;
}

static const struct sandbox_rule *rule_at(const struct sandbox_plan *plan, const char *text,
                                          size_t len)
{
	size_t low = 0, high = plan->rule_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare(text, len, plan->rules[middle].path);

		if (order == 0)
			return &plan->rules[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static const struct sandbox_absent *absent_at(const struct sandbox_plan *plan, const char *text,
                                              size_t len)
{
	size_t low = 0, high = plan->absent_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare(text, len, plan->absent[middle].path);

		if (order == 0)
			return &plan->absent[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* The length of the next shorter prefix that ends before a slash ("/" is its own); 0: none. */
static size_t shorter(const char *path, size_t len)
{
	if (len <= 1)
		return 0;
	while (len > 1 && path[len - 1] != '/')
		len--;
	return len > 1 ? len - 1 : 1;
}

static const struct sandbox_rule *deciding(const struct sandbox_plan *plan, const char *path)
{
	for (size_t len = strlen(path); len; len = shorter(path, len)) {
		const struct sandbox_rule *rule = rule_at(plan, path, len);

		/* A rule for a file says nothing about what is beneath that name. */
		if (rule && (rule->folder || path[len] == '\0'))
			return rule;
	}
	return NULL;
}

static const struct sandbox_absent *absent_above(const struct sandbox_plan *plan, const char *path)
{
	for (size_t len = strlen(path); plan->absent_count && len; len = shorter(path, len)) {
		const struct sandbox_absent *absent = absent_at(plan, path, len);

		if (absent)
			return absent;
	}
	return NULL;
}

static bool is_beneath(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	if (len == 1)
		return true;
	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

/* What a folder's removal would take along: something protected, or the place of a name that must
 * not come into being.  Only renames ask, so a walk over all rules will do. */
static const char *protected_beneath(const struct sandbox_plan *plan, const char *folder,
                                     enum sandbox_reason *ret_reason)
{
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct sandbox_rule *rule = &plan->rules[i];

		if (rule->access != SANDBOX_WRITE && is_beneath(rule->path, folder)) {
			*ret_reason = rule->reason;
			return rule->path;
		}
	}
	for (size_t i = 0; i < plan->absent_count; i++) {
		if (is_beneath(plan->absent[i].path, folder)) {
			*ret_reason = plan->absent[i].reason;
			return plan->absent[i].path;
		}
	}
	return NULL;
}

static bool denied(const struct sandbox_plan *plan, const char *path, enum sandbox_access wanted,
                   enum sandbox_reason reason, const char *rule, struct denial *ret)
{
	if (!ret)
		return false;
	ret->kind = wanted == SANDBOX_WRITE ? DENIAL_WRITE : DENIAL_READ;
	ret->reason = reason;
	ret->level = plan->level;
	snprintf(ret->what, sizeof(ret->what), "%s", path);
	snprintf(ret->rule, sizeof(ret->rule), "%s", rule);
	return false;
}

/* At full the session's temporary folder is mounted over /tmp, and rules of the plan that lie
 * there (workspaces, bound into it) are longer than "/tmp". */
static bool in_temp(const struct sandbox_plan *plan, const struct sandbox_rule *rule,
                    const char *path)
{
	return plan->level == SANDBOX_FULL && plan->temp &&
	       (strcmp(path, "/tmp") == 0 || is_beneath(path, "/tmp")) &&
	       (!rule || strcmp(rule->path, "/") == 0);
}

/* The longest path that is a root, or was named by --write, and is `path` or above it; 0: none. */
static size_t named_above(const struct sandbox_plan *plan, const char *path)
{
	size_t longest = 0;

	for (size_t i = 0; i < plan->root_count + plan->given_count; i++) {
		const char *named = i < plan->root_count ? plan->roots[i] :
		                                           plan->given[i - plan->root_count];
		size_t len = strlen(named);

		if (len > longest && (strcmp(path, named) == 0 || is_beneath(path, named)))
			longest = len;
	}
	return longest;
}

const struct sandbox_name *plan_obeyed(const struct sandbox_plan *plan, const char *path,
                                       size_t *ret_at, size_t *ret_end)
{
	size_t skip = named_above(plan, path);
	const struct sandbox_name *row;

	if (!skip || path[skip] != '/')
		return NULL;
	row = names_obeyed_beneath(path + skip + 1, ret_at, ret_end);
	*ret_at += skip + 1;
	*ret_end += skip + 1;
	return row;
}

bool plan_judge_obeyed(const struct sandbox_plan *plan, const char *path, struct denial *ret_denial)
{
	size_t at = 0, end = 0;
	const struct sandbox_name *row = plan_obeyed(plan, path, &at, &end);
	_cleanup_free_ char *name = row ? mem_dup(path, end) : NULL;

	return !row || denied(plan, path, SANDBOX_WRITE, row->reason, name, ret_denial);
}

bool plan_judge_rules(const struct sandbox_plan *plan, const char *path,
                      enum sandbox_access wanted, bool removes, struct denial *ret_denial)
{
	const struct sandbox_rule *rule = deciding(plan, path);
	const struct sandbox_absent *absent;
	enum sandbox_access access = rule ? rule->access : SANDBOX_READ;
	enum sandbox_reason reason = rule ? rule->reason : SANDBOX_REASON_DEFAULT;
	const char *beneath;

	if (in_temp(plan, rule, path))
		access = SANDBOX_WRITE;
	if (access < wanted)
		return denied(plan, path, wanted, reason, rule ? rule->path : "", ret_denial);
	if (wanted != SANDBOX_WRITE)
		return true;
	absent = absent_above(plan, path);
	if (absent)
		return denied(plan, path, wanted, absent->reason, absent->path, ret_denial);
	beneath = removes ? protected_beneath(plan, path, &reason) : NULL;
	if (beneath)
		return denied(plan, path, wanted, reason, beneath, ret_denial);
	return true;
}

bool plan_judge(const struct sandbox_plan *plan, const char *path, enum sandbox_access wanted,
                bool removes, struct denial *ret_denial)
{
	return plan_judge_rules(plan, path, wanted, removes, ret_denial) &&
	       (wanted != SANDBOX_WRITE || plan_judge_obeyed(plan, path, ret_denial));
}
