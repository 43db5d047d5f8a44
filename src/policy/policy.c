/* SPDX-License-Identifier: Apache-2.0 */
/* The set of rules and its words. */
#include "policy/policy.h"

#include <string.h>

#include "base/mem.h"
#include "policy/rule.h"

/* ---- the set of rules and its words ---- */

const char *policy_decision_name(enum policy_decision decision)
{
	static const char *const names[] = {
		[POLICY_ALLOW] = "allow", [POLICY_ASK] = "ask_user", [POLICY_DENY] = "deny",
	};

	return (unsigned)decision < ARRAY_LEN(names) ? names[decision] : "deny";
}

const char *policy_mode_name(enum approval_mode mode)
{
	static const char *const names[] = {
		[MODE_PLAN] = "plan",
		[MODE_DEFAULT] = "default",
		[MODE_AUTO_EDIT] = "autoEdit",
		[MODE_YOLO] = "yolo",
	};

	return (unsigned)mode < ARRAY_LEN(names) ? names[mode] : "default";
}

bool policy_mode_parse(const char *word, enum approval_mode *ret)
{
	static const struct {
		const char *word;
		enum approval_mode mode;
	} others[] = {
		{ "auto_edit", MODE_AUTO_EDIT },
		{ "accepting_edits", MODE_AUTO_EDIT },
	};

	for (int mode = 0; mode < MODE_COUNT; mode++) {
		if (strcmp(word, policy_mode_name((enum approval_mode)mode)) == 0) {
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

unsigned policy_modes_from(enum approval_mode mode)
{
	unsigned modes = 0;

	for (int m = (int)mode; m < MODE_COUNT; m++)
		modes |= 1u << m;
	return modes;
}

/* ---- selectors, rules, checkers ------------------------------------------------- */

void rule_selector_init(struct selector *selector)
{
	*selector = (struct selector){ .interactive = -1 };
}

static void strings_free(char **strings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(strings[i]);
	free(strings);
}

static void selector_release(struct selector *selector)
{
	strings_free(selector->names, selector->name_count);
	free(selector->known);
	strings_free(selector->prefixes, selector->prefix_count);
	free(selector->server);
	free(selector->server_identity);
	free(selector->subagent);
	json_decref(selector->callers);
	json_decref(selector->annotations);
	json_decref(selector->hosts);
	js_regex_free(selector->regex);
	free(selector->exact);
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

/* mcp__SERVER__TOOL and SERVER__TOOL, as other agents write mcp_SERVER_TOOL, and mcp__SERVER. The
 * caller frees. */
static char *server_tool_name(const char *name)
{
	const char *rest = strncmp(name, "mcp__", 5) == 0 ? name + 5 : name;
	const char *tool = strstr(rest, "__");

	if (rest == name && (!tool || tool == name || strncmp(name, "mcp_", 4) == 0 ||
	                     strncmp(name, "discovered_tool_", 16) == 0))
		return mem_strdup(name);
	return tool ? mem_printf("mcp_%.*s_%s", (int)(tool - rest), rest, tool + 2) :
	              mem_printf("mcp_%s_*", rest);
}

void rule_selector_add_name(struct selector *selector, const char *given)
{
	_cleanup_free_ char *name = selector->server ? mem_strdup(given) : server_tool_name(given);
	const size_t count = selector->name_count;
	const struct tool_info **known = mem_alloc(count + 1, sizeof(*known));

	if (count)
		memcpy(known, selector->known, count * sizeof(*known));
	known[count] = tool_info_find(name);
	free(selector->known);
	selector->known = known;
	selector->names = strings_add(selector->names, &selector->name_count, name);
}

void rule_selector_add_editors(struct selector *selector)
{
	for (size_t i = 0; i < tool_info_count(); i++)
		if (tool_infos[i].edit)
			rule_selector_add_name(selector, tool_infos[i].name);
}

void rule_selector_add_prefix(struct selector *selector, const char *prefix)
{
	selector->prefixes = strings_add(selector->prefixes, &selector->prefix_count, prefix);
	selector->narrow = NARROW_PREFIX;
}

struct policy_rule *rule_new(enum policy_decision decision, double priority, const char *origin)
{
	struct policy_rule *rule = mem_alloc(1, sizeof(*rule));

	rule_selector_init(&rule->selector);
	rule->decision = decision;
	rule->priority = priority;
	rule->origin = mem_strdup(origin);
	return rule;
}

void rule_free(struct policy_rule *rule)
{
	if (!rule)
		return;
	selector_release(&rule->selector);
	strings_free(rule->paths, rule->path_count);
	json_decref(rule->approvals);
	free(rule->message);
	free(rule->origin);
	free(rule);
}

void rule_checker_free(struct checker *checker)
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
		rule_checker_free(policy->checkers[i]);
	free(policy->rules);
	free(policy->checkers);
	if (policy->renewal.release)
		policy->renewal.release(policy->renewal.data);
	free(policy->caller);
	free(policy->unasked);
	pthread_rwlock_destroy(&policy->lock);
	free(policy);
}

void policy_set_renewal(struct policy *policy, const struct policy_renewal *renewal)
{
	policy->renewal = *renewal;
}

/* Not so: its names are names of hasp's own tools, which no server's tool has. */
static bool selector_is_foreign(const struct selector *selector)
{
	for (size_t i = 0; i < selector->name_count; i++)
		if (selector->server || strchr(selector->names[i], '*') ||
		    strncmp(selector->names[i], "mcp_", strlen("mcp_")) == 0)
			return true;
	return false;
}

void policy_add_rule(struct policy *policy, struct policy_rule *rule)
{
	size_t at;

	rule->foreign = selector_is_foreign(&rule->selector);
	pthread_rwlock_wrlock(&policy->lock);
	rule->order = policy->added++;
	policy->has_approvals |= rule->approvals != NULL;
	if (policy->rule_count == policy->rule_cap)
		policy->rules = mem_grow(policy->rules, &policy->rule_cap, policy->rule_count + 1,
		                         sizeof(struct policy_rule *));
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

void policy_set_unasked(struct policy *policy, const char *origin)
{
	free(policy->unasked);
	policy->unasked = mem_strdup(origin);
}

void policy_set_caller(struct policy *policy, const char *caller)
{
	free(policy->caller);
	policy->caller = mem_strdup(caller);
}

const char *policy_caller(const struct policy *policy)
{
	return policy ? policy->caller : NULL;
}

void policy_drop_rules(struct policy *policy, bool (*drops)(const struct policy_rule *rule))
{
	size_t kept = 0;

	pthread_rwlock_wrlock(&policy->lock);
	for (size_t i = 0; i < policy->rule_count; i++) {
		struct policy_rule *rule = policy->rules[i];

		if (drops(rule))
			rule_free(rule);
		else
			policy->rules[kept++] = rule;
	}
	policy->rule_count = kept;
	pthread_rwlock_unlock(&policy->lock);
}

static bool is_of_tier(double priority, enum policy_tier tier)
{
	return priority >= (double)tier && priority < (double)tier + 1;
}

bool rule_is_of_session(const struct policy_rule *rule)
{
	return strcmp(rule->origin, RULE_OF_SESSION) == 0;
}

void policy_session_end(struct policy *policy)
{
	policy_drop_rules(policy, rule_is_of_session);
}

void policy_drop_tier(struct policy *policy, enum policy_tier tier)
{
	size_t rules = 0, checkers = 0;

	pthread_rwlock_wrlock(&policy->lock);
	for (size_t i = 0; i < policy->rule_count; i++)
		if (is_of_tier(policy->rules[i]->priority, tier))
			rule_free(policy->rules[i]);
		else
			policy->rules[rules++] = policy->rules[i];
	policy->rule_count = rules;
	for (size_t i = 0; i < policy->checker_count; i++)
		if (is_of_tier(policy->checkers[i]->priority, tier))
			rule_checker_free(policy->checkers[i]);
		else
			policy->checkers[checkers++] = policy->checkers[i];
	policy->checker_count = checkers;
	pthread_rwlock_unlock(&policy->lock);
}

size_t policy_drop_allowing(struct policy *policy, enum policy_tier tier)
{
	size_t kept = 0, dropped;

	pthread_rwlock_wrlock(&policy->lock);
	for (size_t i = 0; i < policy->rule_count; i++) {
		struct policy_rule *rule = policy->rules[i];

		if (is_of_tier(rule->priority, tier) && rule->decision == POLICY_ALLOW)
			rule_free(rule);
		else
			policy->rules[kept++] = rule;
	}
	dropped = policy->rule_count - kept;
	policy->rule_count = kept;
	pthread_rwlock_unlock(&policy->lock);
	return dropped;
}

/* ---- all rules as data, for people who ask which there are ---- */

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

static json_t *changes_json(unsigned changes)
{
	static const char *const words[] = { "edit", "create", "delete", "move" };
	json_t *array = json_array();

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (changes & 1u << i)
			json_array_append_new(array, json_string(words[i]));
	return array;
}

static void set_selector(json_t *row, const struct selector *selector)
{
	json_t *array;

	json_object_set_new(row, "toolName", strings(selector->names, selector->name_count));
	set_string(row, "mcpName", selector->server);
	set_string(row, "subagent", selector->subagent);
	if (selector->callers)
		json_object_set(row, "caller", selector->callers);
	if (selector->narrow == NARROW_PREFIX)
		json_object_set_new(row, "commandPrefix",
		                    strings(selector->prefixes, selector->prefix_count));
	else if (selector->narrow == NARROW_EXACT)
		set_string(row, "call", selector->exact);
	else if (selector->narrow != NARROW_NONE)
		set_string(row, selector->narrow == NARROW_COMMAND ? "commandRegex" : "argsPattern",
		           js_regex_pattern(selector->regex));
	if (selector->annotations)
		json_object_set(row, "toolAnnotations", selector->annotations);
	if (selector->changes)
		json_object_set_new(row, "changes", changes_json(selector->changes));
	if (selector->hosts)
		json_object_set_new(row, "hosts", json_deep_copy(selector->hosts));
	if (selector->interactive >= 0)
		json_object_set_new(row, "interactive", json_boolean(selector->interactive));
	array = json_array();
	for (int mode = 0; mode < MODE_COUNT; mode++)
		if (!selector->modes || selector->modes & 1u << mode)
			json_array_append_new(array, json_string(policy_mode_name(
				(enum approval_mode)mode)));
	json_object_set_new(row, "modes", array);
}

static void set_approvals(json_t *row, const json_t *approvals)
{
	json_object_set(row, "approvals", json_object_get(approvals, "needed"));
	json_object_set(row, "owner", json_object_get(approvals, "owner"));
	if (json_object_get(approvals, "reviewers"))
		json_object_set(row, "reviewers", json_object_get(approvals, "reviewers"));
}

static json_t *rule_json(const struct policy_rule *rule)
{
	json_t *row = json_pack("{s:s, s:f}", "decision", policy_decision_name(rule->decision),
	                        "priority", rule->priority);

	set_selector(row, &rule->selector);
	if (rule->allow_redirection)
		json_object_set_new(row, "allowRedirection", json_true());
	if (rule->approvals)
		set_approvals(row, rule->approvals);
	set_string(row, rule_is_of_session(rule) ? "scope" : "denyMessage", rule->message);
	set_string(row, "rule", rule->origin);
	if (rule->since)
		json_object_set_new(row, "since", json_integer((json_int_t)rule->since));
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

/* The next rule of the session in the order in which they were added, after `order`; NULL: none. */
static struct policy_rule *session_next(const struct policy *policy, size_t order)
{
	struct policy_rule *next = NULL;

	for (size_t i = 0; i < policy->rule_count; i++) {
		struct policy_rule *rule = policy->rules[i];

		if (rule_is_of_session(rule) && rule->order >= order &&
		    (!next || rule->order < next->order))
			next = rule;
	}
	return next;
}

json_t *policy_session_list(const struct policy *policy)
{
	pthread_rwlock_t *lock = (pthread_rwlock_t *)&policy->lock;
	json_t *rows = json_array();
	const struct policy_rule *rule;

	pthread_rwlock_rdlock(lock);
	for (size_t order = 0; (rule = session_next(policy, order)); order = rule->order + 1)
		json_array_append_new(rows, rule_json(rule));
	pthread_rwlock_unlock(lock);
	return rows;
}

bool policy_session_drop(struct policy *policy, size_t at)
{
	struct policy_rule *rule;
	size_t kept = 0;

	pthread_rwlock_wrlock(&policy->lock);
	rule = session_next(policy, 0);
	for (size_t i = 0; i < at && rule; i++)
		rule = session_next(policy, rule->order + 1);
	for (size_t i = 0; i < policy->rule_count; i++)
		if (policy->rules[i] != rule)
			policy->rules[kept++] = policy->rules[i];
	policy->rule_count = kept;
	pthread_rwlock_unlock(&policy->lock);
	rule_free(rule);
	return rule;
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
