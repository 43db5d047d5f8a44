/* SPDX-License-Identifier: Apache-2.0 */
/* The set of rules and its words. */
#include "policy/policy.h"

#include <string.h>

#include "base/mem.h"
#include "policy/rule.h"

const char *policy_decision_name(enum policy_decision decision)
{
	static const char *const names[] = {
		[POLICY_ALLOW] = "allow", [POLICY_ASK] = "ask_user", [POLICY_DENY] = "deny",
	};

	return (unsigned)decision < ARRAY_LEN(names) ? names[decision] : "deny";
}

const char *approval_mode_name(enum approval_mode mode)
{
	static const char *const names[] = {
		[MODE_PLAN] = "plan",
		[MODE_DEFAULT] = "default",
		[MODE_AUTO_EDIT] = "autoEdit",
		[MODE_YOLO] = "yolo",
	};

	return (unsigned)mode < ARRAY_LEN(names) ? names[mode] : "default";
}

bool approval_mode_parse(const char *word, enum approval_mode *ret)
{
	static const struct {
		const char *word;
		enum approval_mode mode;
	} others[] = {
		{ "auto_edit", MODE_AUTO_EDIT },
		{ "accepting_edits", MODE_AUTO_EDIT },
	};

	for (int mode = 0; mode < MODE_COUNT; mode++) {
		if (strcmp(word, approval_mode_name((enum approval_mode)mode)) == 0) {
			*ret = (enum approval_mode)mode;
			return true;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		if (strcmp(word, others[i].word) == 0) {
			*ret = others[i].mode;
			return true;
		}
	}
	return false;
}

unsigned modes_from(enum approval_mode mode)
{
	unsigned modes = 0;

	for (int m = (int)mode; m < MODE_COUNT; m++)
		modes |= 1u << m;
	return modes;
}

/* ---- selectors, rules, checkers ------------------------------------------------- */

void selector_init(struct selector *selector)
{
	*selector = (struct selector){ .interactive = -1 };
}

static void strings_free(char **strings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(strings[i]);
	free(strings);
}

void selector_release(struct selector *selector)
{
	strings_free(selector->names, selector->name_count);
	strings_free(selector->prefixes, selector->prefix_count);
	free(selector->server);
	free(selector->subagent);
	json_decref(selector->annotations);
	js_regex_free(selector->regex);
}

/* Lists are short: no spare room. */
static char **strings_add(char **strings, size_t *count, const char *string)
{
	char **more = mem_alloc(*count + 1, sizeof(*more));

	if (*count)
		memcpy(more, strings, *count * sizeof(*more));
	free(strings);
	more[(*count)++] = mem_strdup(string);
	return more;
}

void selector_add_name(struct selector *selector, const char *name)
{
	selector->names = strings_add(selector->names, &selector->name_count, name);
}

void selector_add_prefix(struct selector *selector, const char *prefix)
{
	selector->prefixes = strings_add(selector->prefixes, &selector->prefix_count, prefix);
	selector->narrow = NARROW_PREFIX;
}

struct rule *rule_new(enum policy_decision decision, double priority, const char *origin)
{
	struct rule *rule = mem_alloc(1, sizeof(*rule));

	selector_init(&rule->selector);
	rule->decision = decision;
	rule->priority = priority;
	rule->origin = mem_strdup(origin);
	return rule;
}

void rule_free(struct rule *rule)
{
	if (!rule)
		return;
	selector_release(&rule->selector);
	free(rule->message);
	free(rule->origin);
	free(rule);
}

void checker_free(struct checker *checker)
{
	if (!checker)
		return;
	selector_release(&checker->selector);
	json_decref(checker->included);
	json_decref(checker->excluded);
	free(checker->name);
	free(checker->origin);
	free(checker);
}

/* ---- the set --------------------------------------------------------------------- */

struct policy *policy_new(void)
{
	struct policy *policy = mem_alloc(1, sizeof(*policy));

	pthread_rwlock_init(&policy->lock, NULL);
	return policy;
}

void policy_free(struct policy *policy)
{
	if (!policy)
		return;
	for (size_t i = 0; i < policy->rule_count; i++)
		rule_free(policy->rules[i]);
	for (size_t i = 0; i < policy->checker_count; i++)
		checker_free(policy->checkers[i]);
	free(policy->rules);
	free(policy->checkers);
	pthread_rwlock_destroy(&policy->lock);
	free(policy);
}

void policy_add_rule(struct policy *policy, struct rule *rule)
{
	size_t at;

	pthread_rwlock_wrlock(&policy->lock);
	rule->order = policy->added++;
	if (policy->rule_count == policy->rule_cap)
		policy->rules = mem_grow(policy->rules, &policy->rule_cap, policy->rule_count + 1,
		                         sizeof(struct rule *));
	for (at = policy->rule_count; at > 0; at--) {
		if (policy->rules[at - 1]->priority >= rule->priority)
			break;
		policy->rules[at] = policy->rules[at - 1];
	}
	policy->rules[at] = rule;
	policy->rule_count++;
	pthread_rwlock_unlock(&policy->lock);
}

void policy_add_checker(struct policy *policy, struct checker *checker)
{
	size_t at;

	pthread_rwlock_wrlock(&policy->lock);
	checker->order = policy->added++;
	if (policy->checker_count == policy->checker_cap)
		policy->checkers = mem_grow(policy->checkers, &policy->checker_cap,
		                            policy->checker_count + 1, sizeof(struct checker *));
	for (at = policy->checker_count; at > 0; at--) {
		if (policy->checkers[at - 1]->priority >= checker->priority)
			break;
		policy->checkers[at] = policy->checkers[at - 1];
	}
	policy->checkers[at] = checker;
	policy->checker_count++;
	pthread_rwlock_unlock(&policy->lock);
}

void policy_forget_always(struct policy *policy)
{
	policy->no_always = true;
}

size_t policy_drop_allowing(struct policy *policy, enum policy_tier tier)
{
	size_t kept = 0, dropped;

	pthread_rwlock_wrlock(&policy->lock);
	for (size_t i = 0; i < policy->rule_count; i++) {
		struct rule *rule = policy->rules[i];
		bool of_tier = rule->priority >= (double)tier && rule->priority < (double)tier + 1;

		if (of_tier && rule->decision == POLICY_ALLOW)
			rule_free(rule);
		else
			policy->rules[kept++] = rule;
	}
	dropped = policy->rule_count - kept;
	policy->rule_count = kept;
	pthread_rwlock_unlock(&policy->lock);
	return dropped;
}
