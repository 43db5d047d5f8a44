/* SPDX-License-Identifier: Apache-2.0 */
/* The rule that decides on an act: its conditions, its prefixes and patterns; and the prefix that
 * "always" would allow. */
#include "policy/decide.h"

#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "shell/programs.h"

/* ---- prefixes: what allows ---- */

/* Whether the command begins with the prefix. */
enum prefix_match { PREFIX_NO, PREFIX_MAYBE, PREFIX_YES };

/* How many words of the command the prefix is, which matches. */
static size_t words_of(const struct shell_command *command, struct span prefix)
{
	struct shell_command head = *command;

	for (head.word_count = 1; head.word_count < command->word_count; head.word_count++)
		if (shell_command_matches_prefix(&head, prefix))
			break;
	return head.word_count;
}

/* Certainly, word by word, and without options that do more than the program is there for, unless
 * the prefix itself has them: for what is allowed.  `writes`: what only writes files is fine, as
 * where redirections are allowed. */
static enum prefix_match prefix_certain(const struct shell_command *command,
                                        const char *prefix, bool writes)
{
	struct program_excess excess;

	if (!shell_command_matches_prefix(command, span_str(prefix)))
		return PREFIX_NO;
	/* Nearly always there is nothing, and the prefix need not be counted. */
	if (!program_exceeds(command, 1, &excess) ||
	    !program_exceeds(command, words_of(command, span_str(prefix)), &excess))
		return PREFIX_YES;
	return excess.effect == PROGRAM_WRITES && writes ? PREFIX_YES : PREFIX_NO;
}

/* ---- prefixes: what denies ---- */

static struct span prefix_next_word(struct span *rest)
{
	struct span text = span_trim(*rest);
	size_t len = 0;

	while (len < text.len && !strchr(" \t\r\n", text.data[len]))
		len++;
	*rest = span_skip(text, len);
	return span_head(text, len);
}

/* Gemini CLI's way: the text begins with it, and a blank or quote follows. */
static bool text_starts(struct span text, struct span prefix)
{
	text = span_trim(text);
	if (!prefix.len || !span_starts(text, prefix))
		return false;
	return text.len == prefix.len || strchr(" \t\r\n\"'", text.data[prefix.len]) != NULL;
}

/* Whether word `i` is `wanted`; the name also without its folders. */
static enum prefix_match word_is(const struct shell_command *command, size_t i, struct span wanted)
{
	const struct shell_word *word = &command->words[i];

	/* What is known of it is its beginning. */
	if (word->dynamic)
		return span_starts(wanted, word->value) ? PREFIX_MAYBE : PREFIX_NO;
	if (span_eq(word->value, wanted) ||
	    (i == 0 && span_eq(shell_command_base(command), wanted)))
		return PREFIX_YES;
	return PREFIX_NO;
}

static bool is_option(const struct shell_word *word)
{
	return word->dynamic || (word->value.len > 0 && word->value.data[0] == '-');
}

/* The place of `wanted` from `from` on, where options (and their values) may stand before it. */
static size_t find_behind_options(const struct shell_command *command, size_t from,
                                  struct span wanted)
{
	if (from >= command->word_count || !is_option(&command->words[from]))
		return SHELL_NONE;
	for (size_t i = from + 1; i < command->word_count; i++)
		if (word_is(command, i, wanted) != PREFIX_NO)
			return i;
	return SHELL_NONE;
}

static enum prefix_match match_words(const struct shell_command *command, struct span prefix)
{
	enum prefix_match result = PREFIX_YES;
	size_t i = 0;

	for (struct span word = prefix_next_word(&prefix); word.len;
	     word = prefix_next_word(&prefix), i++) {
		enum prefix_match match = i < command->word_count ? word_is(command, i, word)
		                                                  : PREFIX_NO;

		if (match == PREFIX_NO && i > 0) {
			size_t at = find_behind_options(command, i, word);

			if (at == SHELL_NONE && (command->flags & SHELL_FLAG_APPENDED) &&
			    i >= command->word_count)
				return PREFIX_MAYBE;
			i = at == SHELL_NONE ? i : at;
			match = at == SHELL_NONE ? PREFIX_NO : PREFIX_MAYBE;
		}
		if (match < result)
			result = match;
		if (result == PREFIX_NO)
			break;
	}
	return result;
}

/* Also by another path, as text, with words in between that are options, or with words that are
 * known only when it runs (MAYBE): for what is denied or asked about. */
static enum prefix_match prefix_possible(const struct shell_view *view, const char *prefix)
{
	const struct shell_command *command = view->command;
	const struct shell_script *script = &view->analysis->scripts[command->script];
	struct span raw = span_head(span_skip(script->text, command->offset), command->length);
	struct span text = span_trim(span_str(prefix));

	if (!text.len)
		return PREFIX_NO;
	if (text_starts(raw, text) || text_starts(view->analysis->scripts[0].text, text) ||
	    shell_command_matches_prefix(command, text))
		return PREFIX_YES;
	/* A name that is not known at all is the analysis's problem, and reported as such. */
	if (command->word_count == 0 || command->words[0].dynamic)
		return PREFIX_NO;
	return match_words(command, text);
}

/* ---- prefixes: what is offered ---- */

/* Programs whose first word says what they do. */
static const char *const with_verbs[] = {
	"apt", "apt-get", "brew", "bun", "bundle", "cargo", "composer", "conda", "deno", "docker",
	"dotnet", "flutter", "gh", "git", "glab", "go", "gradle", "gradlew", "hasp", "helm",
	"journalctl", "kubectl", "just", "make", "meson", "mix", "mvn", "ninja", "npm", "pip",
	"pip3", "pipx", "pnpm", "podman", "poetry", "rake", "rustup", "stack", "swift", "systemctl",
	"terraform", "uv", "yarn",
};
/* Programs that run whatever they are given: allowed, they allow all. */
static const char *const that_run_anything[] = {
	"ash", "awk", "bash", "builtin", "busybox", "chroot", "command", "dash", "doas", "env",
	"eval", "exec", "expect", "find", "fish", "gawk", "gdb", "git-shell", "ksh", "mawk", "nice",
	"nohup", "node", "npx", "parallel", "perl", "php", "pkexec", "python", "python2", "python3",
	"rm", "ruby", "script", "setsid", "sh", "source", "ssh", "stdbuf", "strace", "su", "sudo",
	"tclsh", "time", "timeout", "trap", "unshare", "watch", "xargs", "zsh", ".",
};

bool decide_is_listed(struct span name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (span_eq(name, span_str(list[i])))
			return true;
	return false;
}

/* A word that is itself when it is read again. */
static bool is_plain_word(struct span word)
{
	if (!word.len)
		return false;
	for (size_t i = 0; i < word.len; i++) {
		char c = word.data[i];

		if (!(ascii_is_alnum(c) || strchr("_-./:+@%,", c)) || c == '\0')
			return false;
	}
	return true;
}

/* The words, with the one that makes the call do more than the program is there for, if it is the
 * next; NULL: a prefix would not do. */
static char *offer_words(const struct shell_command *command, size_t count)
{
	const struct shell_word *words = command->words;
	struct program_excess excess;
	_cleanup_buf_ struct buf text = BUF_INIT(4096);

	while (program_exceeds(command, count, &excess))
		if (excess.word != count++ || count > 4)
			return NULL;
	for (size_t i = 0; i < count; i++) {
		if (i >= command->word_count || words[i].dynamic || !is_plain_word(words[i].value))
			return NULL;
		if (i > 0)
			buf_char(&text, ' ');
		buf_span(&text, words[i].value);
	}
	return text.overflowed ? NULL : mem_dup(text.data, text.len);
}

char *decide_offer_prefix(const struct shell_command *command)
{
	struct span base = shell_command_base(command);
	const struct shell_word *words = command->words;
	bool second;

	if (!base.len || command->assignment_count > 0 || !is_plain_word(words[0].value) ||
	    (command->flags & (SHELL_FLAG_WRAPPER | SHELL_FLAG_REMOTE)) ||
	    decide_is_listed(base, that_run_anything, ARRAY_LEN(that_run_anything)))
		return NULL;
	second = decide_is_listed(base, with_verbs, ARRAY_LEN(with_verbs));
	if (second && (command->word_count < 2 || words[1].dynamic ||
	               !is_plain_word(words[1].value) || words[1].value.data[0] == '-'))
		return NULL;
	return offer_words(command, second ? 2 : 1);
}

/* ---- conditions that have nothing to do with arguments ---- */

static bool has_annotations(const json_t *wanted, const json_t *given)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)wanted, name, value)
		if (!json_equal(value, json_object_get(given, name)))
			return false;
	return true;
}

/* "*" and "*.HOST" stand for any part of a name; elsewhere "*" does not stand for a ".". */
static bool host_fits(struct span host, struct span pattern)
{
	const char *dot;

	while (span_ends(host, SPAN(".")))
		host.len--;
	if (span_eq(pattern, SPAN("*")))
		return true;
	if (span_starts(pattern, SPAN("*."))) {
		pattern = span_skip(pattern, 1);
		return host.len > pattern.len && !memchr(pattern.data, '*', pattern.len) &&
		       span_ends(host, pattern);
	}
	while ((dot = memchr(pattern.data, '.', pattern.len))) {
		const char *end = memchr(host.data, '.', host.len);
		const size_t part = (size_t)(dot - pattern.data);

		if (!end || !span_fits(span_head(host, (size_t)(end - host.data)),
		                       span_head(pattern, part)))
			return false;
		host = span_skip(host, (size_t)(end - host.data) + 1);
		pattern = span_skip(pattern, part + 1);
	}
	return !memchr(host.data, '.', host.len) && span_fits(host, pattern);
}

static bool host_is_among(const json_t *patterns, const json_t *host)
{
	size_t i;
	json_t *pattern;

	json_array_foreach((json_t *)patterns, i, pattern)
		if (host_fits(json_span(host), json_span(pattern)))
			return true;
	return false;
}

/* Whether it fetches from these and nowhere else; from any of them, where the rule restricts. */
static bool hosts_fit(const struct selector *selector, const json_t *hosts)
{
	size_t i, among = 0;
	json_t *host;

	json_array_foreach((json_t *)hosts, i, host)
		among += host_is_among(selector->hosts, host);
	if (selector->any_host)
		return among || !json_array_size(hosts);
	return among && among == json_array_size(hosts);
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
	/* Whether the call does nothing beyond the scope that the user said "always" to. */
	if (selector->changes && (!call->changes || call->changes & ~selector->changes))
		return false;
	if (selector->hosts && !hosts_fit(selector, call->hosts))
		return false;
	return !selector->annotations || has_annotations(selector->annotations, call->annotations);
}

/* "Always" for a tool is not about files that hasp obeys, unless it names the file. */
static bool is_about_less(const struct policy_rule *rule, const struct policy_call *call)
{
	return rule->always && call->obeyed && rule->selector.narrow != NARROW_ARGUMENTS;
}

/* ---- whose call it is ---- */

/* The kinds of tools that leave everything as it is; web_fetch sends its address away.
 * What a server says of its tools is not enough. */
static bool only_reads(const struct policy_call *call)
{
	static const bool reading[] = {
		[TOOL_KIND_READ] = true, [TOOL_KIND_SEARCH] = true, [TOOL_KIND_THINK] = true,
		[TOOL_KIND_COMMUNICATE] = true, [TOOL_KIND_AGENT] = true,
	};
	const struct tool_info *info = call->server ? NULL : tool_info_of(call->tool);

	if (call->server)
		return false;
	return info ? info->kind < ARRAY_LEN(reading) && reading[info->kind] : call->reads;
}

static bool is_for_caller(const struct policy *policy, const struct policy_rule *rule)
{
	return json_lists(rule->selector.callers, span_str(policy->caller));
}

bool decide_only_asks(const struct policy *policy, const struct policy_rule *rule,
                      const struct policy_call *call)
{
	return policy->caller && rule->decision == POLICY_ASK && !rule->selector.callers &&
	       !only_reads(call);
}

bool decide_counts(const struct policy *policy, const struct policy_rule *rule,
                   const struct policy_call *call)
{
	if ((rule->always && policy->no_always) || !decide_applies(&rule->selector, call))
		return false;
	if (rule->selector.callers)
		return policy->caller && is_for_caller(policy, rule);
	return !policy->caller || rule->decision != POLICY_ALLOW || only_reads(call);
}

enum policy_decision decide_default(const struct policy *policy, const struct policy_call *call)
{
	if (policy->caller)
		return only_reads(call) ? POLICY_ALLOW : POLICY_DENY;
	if (call->mode == MODE_YOLO || call->reads)
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
                                      const struct policy_rule *rule, enum fit fit,
                                      const struct shell_view *view)
{
	const struct selector *selector = &rule->selector;
	bool strict = rule->decision != POLICY_ALLOW;
	bool found;

	if (selector->narrow == NARROW_NONE)
		return PREFIX_YES;
	/* It is about a line as a whole. */
	if (selector->narrow == NARROW_EXACT)
		return PREFIX_NO;
	if (view && selector->narrow == NARROW_PREFIX)
		return match_prefixes(selector, strict,
		                      rule->allow_redirection || call->mode >= MODE_AUTO_EDIT,
		                      view);
	/* Input of a command, or a command line that is none: what it would run is not known. */
	if (selector->narrow == NARROW_PREFIX)
		return strict ? PREFIX_MAYBE : PREFIX_NO;
	found = view ? match_command(call, selector->regex, fit, strict, view)
	             : act_matches(act, call, selector->regex, fit, strict);
	return found ? PREFIX_YES : PREFIX_NO;
}

/* Whether "always", a choice for calls that one person may allow, may decide in place of the rule:
 * not of the same tier. */
static bool always_yields(const struct policy_rule *always, const struct policy_rule *rule)
{
	return always->always && always->decision == POLICY_ALLOW && rule->approvals &&
	       (int)always->priority == (int)rule->priority;
}

struct outcome decide_act(const struct policy *policy, const struct policy_call *call,
                          struct act *act, const struct shell_view *view)
{
	const struct policy_rule *doubt = NULL;
	struct outcome outcome = { .decision = decide_default(policy, call) };

	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct policy_rule *rule = policy->rules[i];
		const bool asks = decide_only_asks(policy, rule, call);
		bool strict = rule->decision != POLICY_ALLOW;
		enum prefix_match match;
		enum fit fit;

		if (!decide_counts(policy, rule, call) || is_about_less(rule, call) ||
		    (outcome.rule && !always_yields(outcome.rule, rule)))
			continue;
		fit = act_fit(act, call, &rule->selector, strict);
		if (fit == FIT_NONE)
			continue;
		match = match_narrow(call, act, rule, fit, view);
		/* That several people must approve is the strictest of what it may be. */
		if (match != PREFIX_NO && (match == PREFIX_MAYBE || asks) &&
		    (!doubt || (rule->approvals && !doubt->approvals)))
			doubt = rule;
		if (match != PREFIX_YES || asks)
			continue;
		outcome.decision = rule->decision;
		outcome.rule = rule;
		if (!rule->always || rule->decision != POLICY_ALLOW)
			break;
	}
	if (doubt && (outcome.decision == POLICY_ALLOW ||
	              (outcome.decision == POLICY_ASK && doubt->approvals))) {
		outcome.decision = POLICY_ASK;
		outcome.rule = doubt;
		outcome.why = decide_only_asks(policy, doubt, call) ? NULL :
			"Whether it is what a rule is about is known only when it runs.";
	}
	return outcome;
}

/* ---- what several people must approve ---------------------------------------------- */

static void add_approvals(json_t **all, json_t *rule)
{
	size_t i;
	json_t *known;

	json_array_foreach(*all, i, known)
		if (json_equal(known, rule))
			return;
	if (!*all)
		*all = json_array();
	json_array_append(*all, rule);
}

void decide_note_approvals(const struct outcome *outcome, struct policy_verdict *verdict)
{
	if (outcome->decision == POLICY_ASK && outcome->rule && outcome->rule->approvals)
		add_approvals(&verdict->approvals, outcome->rule->approvals);
}

void policy_verdict_join(struct policy_verdict *verdict, const struct policy_verdict *other)
{
	size_t i;
	json_t *rule;

	json_array_foreach(other->approvals, i, rule)
		add_approvals(&verdict->approvals, rule);
}
