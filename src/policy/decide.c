/* SPDX-License-Identifier: Apache-2.0 */
/* The decision on a call: act by act, rule by rule. */
#include "policy/decide.h"

#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "policy/names.h"

static bool has_annotations(const json_t *wanted, const json_t *given)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)wanted, name, value)
		if (!json_equal(value, json_object_get(given, name)))
			return false;
	return true;
}

bool decide_applies(const struct selector *selector, const struct policy_call *call)
{
	if (selector->modes && !(selector->modes & 1u << call->mode))
		return false;
	if (selector->interactive >= 0 && selector->interactive != call->interactive)
		return false;
	if (selector->subagent &&
	    (!call->subagent || strcmp(selector->subagent, call->subagent) != 0))
		return false;
	return !selector->annotations || has_annotations(selector->annotations, call->annotations);
}

enum policy_decision decide_default(const struct policy_call *call)
{
	if (call->mode == MODE_YOLO)
		return POLICY_ALLOW;
	return call->interactive ? POLICY_ASK : POLICY_DENY;
}

/* ---- one rule and one act -------------------------------------------------------------- */

/* `writes`: files may be written, by redirections and by options alike. */
static enum prefix_match match_prefixes(const struct selector *selector, bool strict, bool writes,
                                        const struct shell_view *view)
{
	enum prefix_match best = PREFIX_NO;

	for (size_t i = 0; i < selector->prefix_count && best != PREFIX_YES; i++) {
		const char *prefix = selector->prefixes[i];
		enum prefix_match match = strict ? prefix_possible(view, prefix)
		                                 : prefix_certain(view->command, prefix, writes);

		if (match > best)
			best = match;
	}
	return best;
}

/* On the command as it is written; a denial on its other forms and the whole line too. */
static bool match_command(const struct policy_call *call, struct js_regex *regex, enum fit fit,
                          bool strict, const struct shell_view *view)
{
	struct policy_call alone = *call;

	alone.arguments = alone.other_arguments = NULL;
	return act_matches(view->raw, &alone, regex, fit, strict) ||
	       (strict && (act_whole_matches(view->whole, regex) ||
	                   act_matches(view->plain, &alone, regex, fit, strict) ||
	                   act_matches(view->base, &alone, regex, fit, strict)));
}

static enum prefix_match match_narrow(const struct policy_call *call, struct act *act,
                                      const struct rule *rule, enum fit fit,
                                      const struct shell_view *view)
{
	const struct selector *selector = &rule->selector;
	bool strict = rule->decision != POLICY_ALLOW;
	bool found;

	if (selector->narrow == NARROW_NONE)
		return PREFIX_YES;
	if (view && selector->narrow == NARROW_PREFIX)
		return match_prefixes(selector, strict,
		                      rule->allow_redirection || call->mode >= MODE_AUTO_EDIT, view);
	/* Input of a command, or a command line that is none: what it would run is not known. */
	if (selector->narrow == NARROW_PREFIX)
		return strict ? PREFIX_MAYBE : PREFIX_NO;
	found = view ? match_command(call, selector->regex, fit, strict, view)
	             : act_matches(act, call, selector->regex, fit, strict);
	return found ? PREFIX_YES : PREFIX_NO;
}

struct outcome decide_act(const struct policy *policy, const struct policy_call *call,
                          struct act *act, const struct shell_view *view)
{
	const struct rule *doubt = NULL;
	struct outcome outcome = { .decision = decide_default(call) };

	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct rule *rule = policy->rules[i];
		bool strict = rule->decision != POLICY_ALLOW;
		enum prefix_match match;
		enum fit fit;

		if ((rule->always && policy->no_always) || !decide_applies(&rule->selector, call))
			continue;
		fit = act_fit(act, call, &rule->selector, strict);
		if (fit == FIT_NONE)
			continue;
		match = match_narrow(call, act, rule, fit, view);
		if (match == PREFIX_MAYBE && !doubt)
			doubt = rule;
		if (match != PREFIX_YES)
			continue;
		outcome.decision = rule->decision;
		outcome.rule = rule;
		break;
	}
	if (doubt && outcome.decision == POLICY_ALLOW) {
		outcome.decision = POLICY_ASK;
		outcome.rule = doubt;
		outcome.why = "Whether it is what a rule is about is known only when it runs.";
	}
	return outcome;
}

/* ---- the verdict ------------------------------------------------------------------------ */

static char *message_of(const struct policy_call *call, const struct outcome *outcome)
{
	if (outcome->said)
		return mem_strdup(outcome->said);
	if (outcome->rule && outcome->rule->message && outcome->decision == POLICY_DENY)
		return mem_strdup(outcome->rule->message);
	if (outcome->why)
		return mem_strdup(outcome->why);
	if (!outcome->rule && outcome->decision == POLICY_DENY)
		return mem_printf("No rule allows %s, and nobody can be asked.", call->tool);
	if (outcome->decision == POLICY_DENY)
		return mem_printf("A policy denies %s (%s).", call->tool, outcome->rule->origin);
	return mem_strdup("");
}

/* Where nobody can be asked the answer is no. */
static void settle(const struct policy_call *call, struct outcome *outcome)
{
	const char *why = outcome->said ? outcome->said : outcome->why;
	char *said;

	if (outcome->decision != POLICY_ASK || call->interactive)
		return;
	outcome->decision = POLICY_DENY;
	said = mem_printf("Somebody has to be asked about %s, and nobody can be.%s%s", call->tool,
	                  why ? " " : "", why ? why : "");
	free(outcome->said);
	outcome->said = said;
}

static void fill(const struct policy_call *call, const struct outcome *outcome,
                 struct policy_verdict *verdict)
{
	verdict->decision = outcome->decision;
	verdict->message = message_of(call, outcome);
	verdict->rule = mem_strdup(outcome->rule ? outcome->rule->origin : "default decision");
	verdict->priority = outcome->rule ? outcome->rule->priority : 0;
	verdict->by_arguments = outcome->rule &&
	                        outcome->rule->selector.narrow == NARROW_ARGUMENTS;
	if (outcome->decision != POLICY_ASK) {
		json_decref(verdict->prefixes);
		verdict->prefixes = NULL;
		json_decref(verdict->harmless);
		verdict->harmless = NULL;
	}
}

static bool is_shell(const struct policy_call *call)
{
	return !call->server && strcmp(call->tool, "run_shell_command") == 0;
}

/* A call by another name is a call of the tool. */
static struct policy_call canonical(const struct policy_call *call)
{
	struct policy_call copy = *call;

	if (!copy.server)
		copy.tool = names_canonical(copy.tool);
	return copy;
}

/* The strictest of the acts, before the safety checkers. */
static struct outcome decide_acts(const struct policy *policy, const struct policy_call *call,
                                  struct acts *acts, struct policy_verdict *verdict)
{
	struct outcome strictest = { .decision = POLICY_ALLOW };

	for (size_t i = 0; i < acts->count; i++) {
		struct outcome outcome = is_shell(call)
			? decide_shell(policy, call, &acts->items[i], verdict)
			: decide_act(policy, call, &acts->items[i], NULL);

		if (i == 0 || is_stricter(&outcome, &strictest))
			strictest = outcome;
	}
	return strictest;
}

/* Each act of the first call is followed by the same act of the others. */
static void join_spellings(struct acts *acts, const struct policy_call *calls, size_t count)
{
	for (size_t k = 1; k < count; k++)
		for (size_t i = 0; i < acts[k].count && i < acts[k - 1].count; i++) {
			acts[k - 1].items[i].spelled = &acts[k].items[i];
			acts[k - 1].items[i].spelled_in = &calls[k];
		}
}

void policy_decide_spelled(const struct policy *policy, const struct policy_call *given,
                           size_t count, struct policy_verdict *ret)
{
	pthread_rwlock_t *lock = (pthread_rwlock_t *)&policy->lock;
	_cleanup_free_ struct policy_call *calls = mem_alloc(count, sizeof(*calls));
	_cleanup_free_ struct acts *acts = mem_alloc(count, sizeof(*acts));
	struct outcome outcome;

	*ret = (struct policy_verdict){ .decision = POLICY_DENY };
	for (size_t i = 0; i < count; i++) {
		calls[i] = canonical(&given[i]);
		acts_make(&calls[i], &acts[i]);
	}
	join_spellings(acts, calls, count);
	pthread_rwlock_rdlock(lock);
	outcome = decide_acts(policy, calls, acts, ret);
	for (size_t i = 0; i < count && outcome.decision != POLICY_DENY; i++)
		check_safety(policy, &calls[i], &acts[i], &outcome);
	settle(calls, &outcome);
	fill(calls, &outcome, ret);
	pthread_rwlock_unlock(lock);
	free(outcome.said);
	for (size_t i = 0; i < count; i++)
		acts_release(&acts[i]);
}

void policy_decide(const struct policy *policy, const struct policy_call *call,
                   struct policy_verdict *ret)
{
	policy_decide_spelled(policy, call, 1, ret);
}

void policy_verdict_release(struct policy_verdict *verdict)
{
	free(verdict->message);
	free(verdict->rule);
	json_decref(verdict->commands);
	json_decref(verdict->prefixes);
	json_decref(verdict->harmless);
	*verdict = (struct policy_verdict){ .decision = POLICY_DENY };
}

/* ---- what need not be offered -------------------------------------------------------------- */

/* Whether all calls that are this act end in a denial. */
static bool hides_act(const struct policy *policy, const struct policy_call *call,
                      const struct act *act)
{
	enum policy_decision left = decide_default(call);

	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct rule *rule = policy->rules[i];
		const struct selector *selector = &rule->selector;

		if ((rule->always && policy->no_always) || !decide_applies(selector, call) ||
		    act_fit(act, call, selector, rule->decision != POLICY_ALLOW) == FIT_NONE)
			continue;
		if (selector->narrow == NARROW_NONE) {
			left = rule->decision;
			break;
		}
		if (rule->decision != POLICY_DENY)
			return false;
	}
	/* A question may become a permission: commands that are known to be harmless. */
	return left == POLICY_DENY ||
	       (left == POLICY_ASK && !call->interactive && !is_shell(call));
}

bool policy_hides(const struct policy *policy, const struct policy_call *call)
{
	pthread_rwlock_t *lock = (pthread_rwlock_t *)&policy->lock;
	struct policy_call any = canonical(call);
	_cleanup_acts_ struct acts acts;
	bool hidden = false;

	any.arguments = any.other_arguments = NULL;
	acts_make(&any, &acts);
	pthread_rwlock_rdlock(lock);
	for (size_t i = 0; i < acts.count && !hidden; i++)
		hidden = hides_act(policy, &any, &acts.items[i]);
	pthread_rwlock_unlock(lock);
	return hidden;
}
