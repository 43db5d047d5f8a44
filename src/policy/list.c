/* SPDX-License-Identifier: Apache-2.0 */
/* All rules as data, for people who ask which there are. */
#include "policy/rule.h"

static json_t *strings(char *const *items, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, json_string(items[i]));
	return array;
}

static void set_string(json_t *row, const char *name, const char *value)
{
	if (value)
		json_object_set_new(row, name, json_string(value));
}

static void set_modes(json_t *row, unsigned modes)
{
	json_t *array = json_array();

	for (int mode = 0; mode < MODE_COUNT; mode++)
		if (!modes || modes & 1u << mode)
			json_array_append_new(array, json_string(approval_mode_name(
				(enum approval_mode)mode)));
	json_object_set_new(row, "modes", array);
}

static void set_selector(json_t *row, const struct selector *selector)
{
	json_object_set_new(row, "toolName", strings(selector->names, selector->name_count));
	set_string(row, "mcpName", selector->server);
	set_string(row, "subagent", selector->subagent);
	if (selector->narrow == NARROW_PREFIX)
		json_object_set_new(row, "commandPrefix",
		                    strings(selector->prefixes, selector->prefix_count));
	else if (selector->narrow != NARROW_NONE)
		set_string(row, selector->narrow == NARROW_COMMAND ? "commandRegex" : "argsPattern",
		           js_regex_pattern(selector->regex));
	if (selector->annotations)
		json_object_set(row, "toolAnnotations", selector->annotations);
	if (selector->interactive >= 0)
		json_object_set_new(row, "interactive", json_boolean(selector->interactive));
	set_modes(row, selector->modes);
}

static json_t *rule_json(const struct rule *rule)
{
	json_t *row = json_pack("{s:s, s:f}", "decision", policy_decision_name(rule->decision),
	                        "priority", rule->priority);

	set_selector(row, &rule->selector);
	if (rule->allow_redirection)
		json_object_set_new(row, "allowRedirection", json_true());
	set_string(row, "denyMessage", rule->message);
	set_string(row, "rule", rule->origin);
	return row;
}

static json_t *checker_json(const struct checker *checker)
{
	json_t *row = json_pack("{s:s, s:f, s:b}", "checker", checker->name, "priority",
	                        checker->priority, "supported",
	                        checker->kind != CHECKER_UNSUPPORTED);

	set_selector(row, &checker->selector);
	set_string(row, "rule", checker->origin);
	return row;
}

json_t *policy_list(const struct policy *policy)
{
	pthread_rwlock_t *lock = (pthread_rwlock_t *)&policy->lock;
	json_t *rows = json_array();

	pthread_rwlock_rdlock(lock);
	for (size_t i = 0; i < policy->rule_count; i++)
		json_array_append_new(rows, rule_json(policy->rules[i]));
	for (size_t i = 0; i < policy->checker_count; i++)
		json_array_append_new(rows, checker_json(policy->checkers[i]));
	pthread_rwlock_unlock(lock);
	return rows;
}
