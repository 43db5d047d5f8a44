/* SPDX-License-Identifier: Apache-2.0 */
/* Which files of many the rules keep from a call. */
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "policy/decide.h"
#include "policy/names.h"
#include "policy/stable.h"

/* A path is at most LIMIT_PATH_BYTES; escaped and in five members it is still far below this. */
enum { TEXT_MAX = 1 << 20, SPELLINGS_MAX = 4 };

struct policy_files {
	const struct rule **rules; /* owned array, the highest first; rules live as long as the policy */
	size_t count, cap;
	bool reads;                /* the call is one of read_file */
	bool interactive;
	char *tool;                /* owned */
};

/* Whether modes and names are the call's: of an allowing rule, for all that the call does. */
static bool is_about(const struct policy *policy, const struct policy_call *call,
                     const struct acts *acts, const struct rule *rule)
{
	const bool strict = rule->decision != POLICY_ALLOW;
	size_t fits = 0;

	if ((rule->always && policy->no_always) || !decide_applies(&rule->selector, call))
		return false;
	for (size_t i = 0; i < acts->count; i++)
		fits += act_fit(&acts->items[i], call, &rule->selector, strict) != FIT_NONE;
	return strict ? fits > 0 : fits == acts->count;
}

static bool is_by_arguments(const struct rule *rule)
{
	return rule->selector.narrow == NARROW_ARGUMENTS;
}

bool policy_judges_files(const struct policy *policy, const struct policy_call *call)
{
	pthread_rwlock_t *lock = (pthread_rwlock_t *)&policy->lock;
	struct policy_call any = *call;
	_cleanup_acts_ struct acts acts;
	bool found = false;

	any.tool = call->server ? call->tool : names_canonical(call->tool);
	any.arguments = any.other_arguments = NULL;
	acts_make(&any, &acts);
	pthread_rwlock_rdlock(lock);
	for (size_t i = 0; i < policy->rule_count && !found; i++) {
		const struct rule *rule = policy->rules[i];

		/* One kind of change that is allowed by its path is enough. */
		if (is_by_arguments(rule) && !(rule->always && policy->no_always) &&
		    decide_applies(&rule->selector, &any))
			for (size_t k = 0; k < acts.count && !found; k++)
				found = act_fit(&acts.items[k], &any, &rule->selector,
				                rule->decision != POLICY_ALLOW) != FIT_NONE;
	}
	pthread_rwlock_unlock(lock);
	return found;
}

/* ---- the rules of a call ---------------------------------------------------------- */

static void collect(struct policy_files *files, const struct policy *policy,
                    const struct policy_call *call, const struct acts *acts)
{
	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct rule *rule = policy->rules[i];

		if (!is_about(policy, call, acts, rule))
			continue;
		if (rule->selector.narrow == NARROW_NONE)
			return; /* it decides on all that is left */
		if (!is_by_arguments(rule))
			continue;
		files->rules = mem_grow(files->rules, &files->cap, files->count + 1,
		                        sizeof(*files->rules));
		files->rules[files->count++] = rule;
	}
}

struct policy_files *policy_files_new(const struct policy *policy, const struct policy_call *call)
{
	pthread_rwlock_t *lock = (pthread_rwlock_t *)&policy->lock;
	struct policy_files *files = mem_alloc(1, sizeof(*files));
	struct policy_call any = *call;
	_cleanup_acts_ struct acts acts;
	bool keeps = false;

	any.tool = call->server ? call->tool : names_canonical(call->tool);
	any.arguments = any.other_arguments = NULL;
	acts_make(&any, &acts);
	pthread_rwlock_rdlock(lock);
	collect(files, policy, &any, &acts);
	pthread_rwlock_unlock(lock);
	for (size_t i = 0; i < files->count; i++)
		keeps |= files->rules[i]->decision != POLICY_ALLOW;
	files->reads = strcmp(any.tool, "read_file") == 0;
	files->interactive = call->interactive;
	files->tool = mem_strdup(any.tool);
	if (keeps)
		return files;
	policy_files_free(files);
	return NULL;
}

void policy_files_free(struct policy_files *files)
{
	if (!files)
		return;
	free(files->rules);
	free(files->tool);
	free(files);
}

/* ---- one file ---------------------------------------------------------------------- */

static void put_member(struct buf *out, const char *name, struct span path, bool listed)
{
	if (out->len > 1)
		buf_char(out, ',');
	buf_append(out, "", 1);
	stable_string(out, span_str(name));
	buf_str(out, listed ? ":[" : ":");
	stable_string(out, path);
	if (listed)
		buf_char(out, ']');
	buf_append(out, "", 1);
}

/* As stable_json prints such arguments. */
static void put_arguments(struct buf *out, const struct policy_files *files, const char *path)
{
	json_auto_t *text = json_name(path); /* as results show it, and as calls name it */
	struct span shown = json_span(text);

	buf_char(out, '{');
	if (!files->reads)
		put_member(out, "dir_path", shown, false);
	put_member(out, "file_path", shown, false);
	if (!files->reads) {
		put_member(out, "include", shown, true);
		put_member(out, "path", shown, false);
		put_member(out, "paths", shown, true);
	}
	buf_char(out, '}');
}

static bool is_found(const struct rule *rule, const struct buf *texts, size_t count)
{
	const enum js_regex_result least = rule->decision == POLICY_ALLOW ? JS_REGEX_YES :
	                                                                    JS_REGEX_UNKNOWN;

	for (size_t i = 0; i < count; i++) {
		enum js_regex_result found = texts[i].overflowed ? JS_REGEX_UNKNOWN :
			js_regex_test(rule->selector.regex, buf_view(&texts[i]));

		if (found == JS_REGEX_YES || found == least)
			return true;
	}
	return false;
}

static char *reason_of(const struct policy_files *files, const struct rule *rule)
{
	if (rule->decision == POLICY_ASK && files->interactive)
		return mem_printf("Rule %s asks before this file is read; call read_file to ask.", rule->origin);
	if (rule->decision == POLICY_ASK)
		return mem_printf("Somebody has to be asked about it, and nobody can be (%s).",
		                  rule->origin);
	return rule->message ? mem_strdup(rule->message) :
	                       mem_printf("A policy denies %s (%s).", files->tool, rule->origin);
}

enum policy_decision policy_files_judge(const struct policy_files *files,
                                        const char *const *spellings, size_t count,
                                        char **ret_why)
{
	struct buf texts[SPELLINGS_MAX];
	const struct rule *rule = NULL;

	if (!files)
		return POLICY_ALLOW;
	count = count < SPELLINGS_MAX ? count : SPELLINGS_MAX;
	for (size_t i = 0; i < count; i++) {
		texts[i] = (struct buf)BUF_INIT(TEXT_MAX);
		put_arguments(&texts[i], files, spellings[i]);
	}
	for (size_t i = 0; i < files->count && !rule; i++)
		if (is_found(files->rules[i], texts, count))
			rule = files->rules[i];
	for (size_t i = 0; i < count; i++)
		buf_release(&texts[i]);
	if (!rule || rule->decision == POLICY_ALLOW)
		return POLICY_ALLOW;
	*ret_why = reason_of(files, rule);
	return rule->decision;
}
