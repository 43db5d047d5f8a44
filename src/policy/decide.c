/* SPDX-License-Identifier: Apache-2.0 */
/* The decision on a call: act by act, rule by rule; safety checkers; files that rules keep from
 * it. */
#include "policy/decide.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "data/json.h"
#include "policy/approvals.h"
#include "policy/policy.h"

/* ---- safety checkers --------------------------------------------------------- */

/* Safety checkers: what they say about a call that the rules let through.
 *
 * allowed-path: every argument whose name says that it is a path must lie in the workspace.
 * Links are followed as far as there is something; the tools themselves are kept inside by the
 * workspace and the sandbox, so this is for tools of others.
 */

enum { DEPTH_MAX = 32 };

struct path_check {
	const struct policy_call *call;
	const struct checker *checker;
	char *said; /* owned: what is wrong; NULL: nothing yet */
};

static bool array_lists(const json_t *array, const char *name)
{
	for (size_t i = 0; i < json_array_size(array); i++) {
		const char *item = json_string_value(json_array_get(array, i));

		if (item && strcmp(item, name) == 0)
			return true;
	}
	return false;
}

/* Gemini CLI's choice of names. */
static bool is_path_name(const char *name)
{
	return strstr(name, "path") || strstr(name, "directory") || strstr(name, "file") ||
	       strcmp(name, "source") == 0 || strcmp(name, "destination") == 0;
}

/* ---- places --------------------------------------------------------------------------------- */

/* Whether the first `len` bytes are the path of something; `real`: which. */
static bool existing_part(char *full, size_t len, char real[PATH_MAX])
{
	char was = full[len];
	bool exists;

	if (was != '/' && was != '\0')
		return false;
	full[len] = '\0';
	exists = realpath(full, real) != NULL;
	full[len] = was;
	return exists;
}

/* The path with the links of its existing part followed. The caller frees. */
static char *resolve_links(const char *base, const char *path)
{
	_cleanup_free_ char *full = path[0] == '/' ? mem_strdup(path)
	                                           : mem_printf("%s/%s", base, path);
	char real[PATH_MAX];
	size_t len;

	/* Links first, then "..": so does the kernel. */
	if (realpath(full, real))
		return mem_strdup(real);
	len = strlen(full);
	while (len > 0 && !existing_part(full, len, real))
		len--;
	return len > 0 ? path_join(real, full + len + strspn(full + len, "/")) :
	                 path_join("/", full);
}

static bool path_is_inside(const struct policy_call *call, const char *path)
{
	_cleanup_free_ char *place = NULL;

	if (!call->roots || !call->roots[0])
		return !call->server;
	if (strlen(path) >= PATH_MAX)
		return false;
	place = resolve_links(call->roots[0], path);
	for (const char *const *root = call->roots; *root; root++) {
		_cleanup_free_ char *real = resolve_links("/", *root);

		if (path_is_under(place, real))
			return true;
	}
	return false;
}

/* ---- arguments ---- */

static void check_arguments(struct path_check *search, const char *prefix, const json_t *value,
                            unsigned depth);

/* `name`: the member's own; `full`: with those above it, joined by dots. */
static void check_argument(struct path_check *search, const char *name, const char *full,
                           const json_t *value, unsigned depth)
{
	const struct checker *checker = search->checker;

	if (search->said || array_lists(checker->excluded, full))
		return;
	if (!json_is_string(value)) {
		check_arguments(search, full, value, depth + 1);
		return;
	}
	if (!array_lists(checker->included, full) && !is_path_name(name))
		return;
	if (!path_is_inside(search->call, json_string_value(value)))
		search->said = mem_printf("The path in the argument %s is outside of the workspace "
		                          "(safety checker allowed-path, %s).", full,
		                          checker->origin);
}

static void check_arguments(struct path_check *search, const char *prefix, const json_t *value,
                            unsigned depth)
{
	const char *name;
	json_t *member;

	if (depth > DEPTH_MAX) {
		if (!search->said)
			search->said =
				mem_strdup("The arguments are nested too deep to be checked.");
		return;
	}
	for (size_t i = 0; i < json_array_size(value); i++) {
		_cleanup_free_ char *full = mem_printf("%s.%zu", prefix, i);
		json_t *item = json_array_get(value, i);

		/* Elements go by the name of their array: paths = ["..."]. */
		check_argument(search, strrchr(prefix, '.') ? strrchr(prefix, '.') + 1 : prefix,
		               full, item, depth);
	}
	json_object_foreach((json_t *)value, name, member) {
		_cleanup_free_ char *full = *prefix ? mem_printf("%s.%s", prefix, name)
		                                    : mem_strdup(name);

		check_argument(search, name, full, member, depth);
	}
}

/* ---- checkers ---- */

static bool checker_is_about(const struct checker *checker, const struct policy_call *call,
                             const struct acts *acts)
{
	const struct selector *selector = &checker->selector;

	if (!decide_applies(selector, call))
		return false;
	for (size_t i = 0; i < acts->count; i++) {
		struct act *act = &acts->items[i];
		enum fit fit = act_fit(act, call, selector, /* strict= */ true);

		if (fit == FIT_NONE)
			continue;
		/* Prefixes are about parts of a command line: one that may be meant is checked. */
		if (selector->narrow == NARROW_NONE || selector->narrow == NARROW_PREFIX ||
		    act_matches(act, call, selector->regex, fit, /* strict= */ true))
			return true;
	}
	return false;
}

static void check_argument_paths(const struct policy_call *call, const struct checker *checker,
                                 struct outcome *outcome)
{
	struct path_check search = { .call = call, .checker = checker };

	check_arguments(&search, "", call->arguments, 0);
	if (!search.said)
		return;
	free(outcome->said);
	outcome->said = search.said;
	outcome->decision = POLICY_DENY;
}

/* What the safety checkers say about a call that `outcome` does not deny. */
static void check_safety(const struct policy *policy, const struct policy_call *call,
                         const struct acts *acts, struct outcome *outcome)
{
	for (size_t i = 0; i < policy->checker_count && outcome->decision != POLICY_DENY; i++) {
		const struct checker *checker = policy->checkers[i];

		if (!checker_is_about(checker, call, acts))
			continue;
		if (checker->kind == CHECKER_ALLOWED_PATH) {
			check_argument_paths(call, checker, outcome);
		} else if (outcome->decision == POLICY_ALLOW) {
			outcome->decision = POLICY_ASK;
			outcome->why = "A safety checker that hasp does not have is asked for.";
		}
	}
}

/* ---- the verdict ------------------------------------------------------------------------ */

/* What a caller's task may not do, and the rule that would permit it. */
static char *message_for_caller(const struct policy *policy, const struct policy_call *call)
{
	return mem_printf("No rule lets the caller \"%s\" use %s. To permit it, the user adds to a "
	                  "file in ~/.gemini/policies: [[rule]] caller = \"%s\", toolName = "
	                  "\"%s\", decision = \"allow\" and a priority.", policy->caller,
	                  call->tool, policy->caller, call->tool);
}

static char *verdict_message(const struct policy *policy, const struct policy_call *call,
                             const struct outcome *outcome)
{
	if (outcome->said)
		return mem_strdup(outcome->said);
	if (outcome->rule && outcome->rule->message && outcome->decision == POLICY_DENY)
		return mem_strdup(outcome->rule->message);
	if (outcome->why)
		return mem_strdup(outcome->why);
	if (!outcome->rule && outcome->decision == POLICY_DENY && policy->caller)
		return message_for_caller(policy, call);
	if (!outcome->rule && outcome->decision == POLICY_DENY)
		return mem_printf("No rule allows %s, and this run has no way to ask.", call->tool);
	if (outcome->decision == POLICY_DENY)
		return mem_printf("Tool execution denied by policy: %s (%s).", call->tool,
		                  outcome->rule->origin);
	return mem_strdup("");
}

/* A question that cannot be asked is a denial. */
static void settle_question(const struct policy *policy, const struct policy_call *call,
                            const json_t *approvals, struct outcome *outcome)
{
	_cleanup_buf_ struct buf people = BUF_INIT(64 << 10);
	const char *why = outcome->said ? outcome->said : outcome->why;
	char *said;

	if (approvals) {
		buf_str(&people, "It needs ");
		approvals_put_rules(approvals, &people);
		buf_char(&people, '.');
		why = people.data;
	}

	if (outcome->decision != POLICY_ASK || (call->interactive && !policy->unasked))
		return;
	outcome->decision = POLICY_DENY;
	said = call->interactive ?
		mem_printf("%s requires approval, and %s says that no questions are asked.%s%s",
		           call->tool, policy->unasked, why ? " " : "", why ? why : "") :
		mem_printf("%s requires approval, but this run has no way to ask.%s%s", call->tool,
		           why ? " " : "", why ? why : "");
	free(outcome->said);
	outcome->said = said;
}

static bool is_shell_call(const struct policy_call *call)
{
	return !call->server && tool_info_runs(call->tool);
}

/* A call by another name is a call of the tool.  No mode permits callers more than the default. */
static struct policy_call canonical_call(const struct policy *policy,
                                         const struct policy_call *call)
{
	struct policy_call copy = *call;

	if (!copy.server)
		copy.tool = tool_info_canonical(copy.tool);
	if (policy->caller && copy.mode > MODE_DEFAULT)
		copy.mode = MODE_DEFAULT;
	return copy;
}

/* One part of a call may also meet a rule because of another part, which hides the rule that is
 * about it: what that asks of several people counts. */
static void note_part(const struct policy *policy, const struct policy_call *call, struct act *act,
                      struct policy_verdict *verdict)
{
	struct outcome outcome;

	if (!act->part || !policy->has_approvals)
		return;
	act->alone = true;
	outcome = decide_act(policy, call, act, NULL);
	act->alone = false;
	decide_note_approvals(&outcome, verdict);
}

/* The strictest of the acts, before the safety checkers. */
static struct outcome decide_acts(const struct policy *policy, const struct policy_call *call,
                                  struct acts *acts, struct policy_verdict *verdict)
{
	const struct tool_info *info = call->server ? NULL : tool_info_of(call->tool);
	const bool types = info && info->acts == TOOL_ACTS_TYPED;
	struct outcome strictest = { .decision = POLICY_ALLOW }, typed;

	for (size_t i = 0; i < acts->count; i++) {
		struct outcome outcome = is_shell_call(call)
			? decide_shell(policy, call, &acts->items[i], verdict)
			: decide_act(policy, call, &acts->items[i], NULL);

		decide_note_approvals(&outcome, verdict);
		note_part(policy, call, &acts->items[i], verdict);
		if (i == 0 || is_stricter(&outcome, &strictest))
			strictest = outcome;
	}
	if (types) {
		typed = decide_typed(policy, call);
		decide_note_approvals(&typed, verdict);
		if (is_stricter(&typed, &strictest))
			strictest = typed;
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

	if (policy->renewal.renew)
		policy->renewal.renew((struct policy *)policy, policy->renewal.data);
	*ret = (struct policy_verdict){ .decision = POLICY_DENY };
	for (size_t i = 0; i < count; i++) {
		calls[i] = canonical_call(policy, &given[i]);
		acts_make(&calls[i], &acts[i]);
	}
	join_spellings(acts, calls, count);
	pthread_rwlock_rdlock(lock);
	outcome = decide_acts(policy, calls, acts, ret);
	for (size_t i = 0; i < count && outcome.decision != POLICY_DENY; i++)
		check_safety(policy, &calls[i], &acts[i], &outcome);
	settle_question(policy, calls, ret->approvals, &outcome);
	ret->decision = outcome.decision;
	ret->message = verdict_message(policy, calls, &outcome);
	ret->rule = mem_strdup(outcome.rule ? outcome.rule->origin : "default decision");
	ret->priority = outcome.rule ? outcome.rule->priority : 0;
	if (outcome.decision != POLICY_ASK) {
		json_decref(ret->approvals);
		ret->approvals = NULL;
		json_decref(ret->prefixes);
		ret->prefixes = NULL;
		json_decref(ret->harmless);
		ret->harmless = NULL;
	}
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
	json_decref(verdict->approvals);
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
	enum policy_decision left = decide_default(policy, call);
	/* It goes by no name of hasp's own tools. */
	const bool foreign = call->server && !act->info && !act->covers && !act->strict &&
	                     strncmp(call->tool, "mcp_", strlen("mcp_")) == 0;

	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct policy_rule *rule = policy->rules[i];
		const struct selector *selector = &rule->selector;

		if ((foreign && !rule->foreign) || !decide_counts(policy, rule, call) ||
		    decide_only_asks(policy, rule, call) ||
		    act_fit(act, call, selector, rule->decision != POLICY_ALLOW) == FIT_NONE)
			continue;
		if (selector->narrow == NARROW_NONE && !selector->hosts) {
			left = rule->decision;
			break;
		}
		if (rule->decision != POLICY_DENY)
			return false;
	}
	/* A question may become a permission: commands that are known to be harmless. */
	return left == POLICY_DENY ||
	       (left == POLICY_ASK && !call->interactive && !is_shell_call(call));
}

bool policy_hides(const struct policy *policy, const struct policy_call *call)
{
	pthread_rwlock_t *lock = (pthread_rwlock_t *)&policy->lock;
	struct policy_call any = canonical_call(policy, call);
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

/* ---- which files of many the rules keep from a call ---- */

/* A path is at most LIMIT_PATH_BYTES; escaped and in five members it is still far below this. */
enum { TEXT_MAX = 1 << 20, SPELLINGS_MAX = 4 };

struct policy_files {
	const struct policy_rule **rules; /* owned array, the highest first; rules live as long
	                                   * as the policy */
	size_t count, cap;
	bool reads;                /* the call is one of read_file */
	bool interactive;
	char *tool;                /* owned */
};

/* Whether modes and names are the call's: of an allowing rule, for all that the call does. */
static bool files_is_about(const struct policy *policy, const struct policy_call *call,
                           const struct acts *acts, const struct policy_rule *rule)
{
	const bool strict = rule->decision != POLICY_ALLOW;
	size_t fits = 0;

	if (!decide_counts(policy, rule, call))
		return false;
	for (size_t i = 0; i < acts->count; i++)
		fits += act_fit(&acts->items[i], call, &rule->selector, strict) != FIT_NONE;
	return strict ? fits > 0 : fits == acts->count;
}

static bool is_by_arguments(const struct policy_rule *rule)
{
	return rule->selector.narrow == NARROW_ARGUMENTS;
}

bool policy_judges_files(const struct policy *policy, const struct policy_call *call)
{
	pthread_rwlock_t *lock = (pthread_rwlock_t *)&policy->lock;
	struct policy_call any = canonical_call(policy, call);
	_cleanup_acts_ struct acts acts;
	bool found = false;

	any.arguments = any.other_arguments = NULL;
	acts_make(&any, &acts);
	pthread_rwlock_rdlock(lock);
	for (size_t i = 0; i < policy->rule_count && !found; i++) {
		const struct policy_rule *rule = policy->rules[i];

		/* One kind of change that is allowed by its path is enough. */
		if (is_by_arguments(rule) && decide_counts(policy, rule, &any))
			for (size_t k = 0; k < acts.count && !found; k++)
				found = act_fit(&acts.items[k], &any, &rule->selector,
				                rule->decision != POLICY_ALLOW) != FIT_NONE;
	}
	pthread_rwlock_unlock(lock);
	return found;
}

/* ---- the rules of a call ---------------------------------------------------------- */

static void collect_file_rules(struct policy_files *files, const struct policy *policy,
                               const struct policy_call *call, const struct acts *acts)
{
	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct policy_rule *rule = policy->rules[i];

		if (!files_is_about(policy, call, acts, rule))
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
	const struct tool_info *info = call->server ? NULL : tool_info_find(call->tool);
	struct policy_call any = canonical_call(policy, call);
	_cleanup_acts_ struct acts acts;
	bool keeps = false;

	any.arguments = any.other_arguments = NULL;
	acts_make(&any, &acts);
	pthread_rwlock_rdlock(lock);
	collect_file_rules(files, policy, &any, &acts);
	pthread_rwlock_unlock(lock);
	for (size_t i = 0; i < files->count; i++)
		keeps |= files->rules[i]->decision != POLICY_ALLOW;
	files->reads = info && info->files == TOOL_FILES_READ;
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
	act_write_string(out, span_str(name));
	buf_str(out, listed ? ":[" : ":");
	act_write_string(out, path);
	if (listed)
		buf_char(out, ']');
	buf_append(out, "", 1);
}

/* As act_write_json prints such arguments. */
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

static bool is_found(const struct policy_rule *rule, const struct buf *texts, size_t count)
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

static char *reason_of(const struct policy_files *files, const struct policy_rule *rule)
{
	if (rule->decision == POLICY_ASK && files->interactive)
		return mem_printf("Rule %s asks before this file is read; call read_file to ask.",
		                  rule->origin);
	if (rule->decision == POLICY_ASK)
		return mem_printf("It requires approval (%s), but this run has no way to ask.",
		                  rule->origin);
	return rule->message ? mem_strdup(rule->message) :
	                       mem_printf("Tool execution denied by policy: %s (%s).",
	                                  files->tool, rule->origin);
}

enum policy_decision policy_files_judge(const struct policy_files *files,
                                        const char *const *spellings, size_t count,
                                        char **ret_why)
{
	struct buf texts[SPELLINGS_MAX];
	const struct policy_rule *rule = NULL;

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
