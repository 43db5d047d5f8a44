/* SPDX-License-Identifier: Apache-2.0 */
/* Rules on paths: path = "generated", decision = "deny".
 *
 * One rule for every way to write.  For the tools that write files it is a rule on their arguments,
 * which is judged again by the file that a path leads to (agent/call/path_rules.h); everything
 * else, commands above all, is kept away by the sandbox (sandbox_options.keep and .ask), which
 * knows folders and files, and no patterns: so a rule is about these.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "policy/policy.h"
#include "policy/rule.h"

enum { PATH_PRIORITY = 999, ASKED_PRIORITY = 16, PATH_TEXT_MAX = 64 * LIMIT_PATH_BYTES };

bool policy_put_literal(struct buf *out, struct span text)
{
	_cleanup_buf_ struct buf quoted = BUF_INIT(8 * LIMIT_PATH_BYTES);

	json_print_string(&quoted, text);
	for (size_t i = 1; i + 1 < quoted.len; i++) {
		if (strchr("\\^$.|?*+()[]{}/", quoted.data[i]))
			buf_char(out, '\\');
		buf_char(out, quoted.data[i]);
	}
	return !quoted.overflowed && !out->overflowed;
}

/* The path without what means "all of it" at its end. The caller frees. NULL: it cannot be kept,
 * and *ret_why says why. */
static char *kept_path(const char *given, const char **ret_why)
{
	struct span path = span_str(given);
	const char *home = getenv("HOME");

	while (span_starts(path, SPAN("./")))
		path = span_skip(path, 2);
	while (path.len > 1 && (span_ends(path, SPAN("/")) || span_ends(path, SPAN("/**"))))
		path.len -= span_ends(path, SPAN("/")) ? 1 : 3;
	*ret_why = NULL;
	for (size_t i = 0; i < path.len; i++)
		if (strchr("*?[", path.data[i]))
			*ret_why = "name a file or a folder (\"generated/**\"): commands cannot "
			           "be kept from names that only a pattern says";
	for (struct span rest = path; rest.len;) {
		const char *slash = memchr(rest.data, '/', rest.len);
		const size_t len = slash ? (size_t)(slash - rest.data) : rest.len;

		if (span_eq(span_head(rest, len), SPAN("..")))
			*ret_why = "\"..\" cannot be in it";
		rest = span_skip(rest, slash ? len + 1 : len);
	}
	if (!path.len || span_eq(path, SPAN("/")) || span_eq(path, SPAN(".")))
		*ret_why = "it is everything";
	if (*ret_why)
		return NULL;
	if (span_starts(path, SPAN("~/")) && home)
		return mem_printf("%s%.*s", home, (int)path.len - 1, path.data + 1);
	return mem_dup(path.data, path.len);
}

static void add_writers(struct policy_rule *rule)
{
	rule_selector_add_editors(&rule->selector);
}

/* Fills in rule->paths; as rule_take_paths. */
static char *take_each(struct policy_rule *rule, const json_t *given)
{
	const size_t count = json_is_array(given) ? json_array_size(given) : 1;

	rule->paths = mem_alloc(count + 1, sizeof(*rule->paths));
	for (size_t i = 0; i < count; i++) {
		const json_t *one = json_is_array(given) ? json_array_get(given, i) : given;
		const char *why;
		char *path = kept_path(json_string_value(one), &why);

		if (!path)
			return mem_printf("\"%.200s\": %s.", json_string_value(one), why);
		rule->paths[rule->path_count++] = path;
	}
	return NULL;
}

/* The rest of a rule that has its paths; as rule_take_paths. */
static char *judge_paths(struct policy_rule *rule)
{
	_cleanup_buf_ struct buf pattern = BUF_INIT(PATH_TEXT_MAX);
	struct err err = ERR_INIT;

	add_writers(rule);
	/* "file_path":"generated" or beneath, and new_path, wherever they stand in the
	 * arguments. */
	buf_str(&pattern, "\"(?:file_path|new_path)\":\"(?:\\.\\/)?(?:");
	for (size_t i = 0; i < rule->path_count; i++) {
		if (i)
			buf_char(&pattern, '|');
		policy_put_literal(&pattern, span_str(rule->paths[i]));
	}
	buf_str(&pattern, ")(?:\\/[^\"]*)?\"");
	rule->selector.narrow = NARROW_ARGUMENTS;
	if (pattern.overflowed)
		return mem_strdup("these are too many.");
	if (!js_regex_compile_with(buf_view(&pattern), JS_REGEX_BOUNDED, &rule->selector.regex,
	                           &err))
		return mem_strdup(err.message);
	return NULL;
}

char *rule_take_paths(struct policy_rule *rule, const json_t *table)
{
	char *why;

	if (rule->decision == POLICY_ALLOW)
		return mem_strdup("such a rule denies or asks; --write and the setting "
		                  "tools.sandboxAllowedPaths allow.");
	why = take_each(rule, json_object_get(table, "path"));
	if (why)
		return why;
	if (!json_object_get(table, "priority"))
		rule->priority += PATH_PRIORITY / 1000.0;
	return judge_paths(rule);
}

/* Letters in either case: some file systems take gemini.md for GEMINI.md. */
static void put_name_pattern(struct buf *out, struct span name)
{
	_cleanup_buf_ struct buf literal = BUF_INIT(PATH_TEXT_MAX);

	policy_put_literal(&literal, name);
	for (size_t i = 0; i < literal.len; i++) {
		const char c = literal.data[i], lower = (char)(c | 0x20);

		if (lower >= 'a' && lower <= 'z')
			buf_printf(out, "[%c%c]", lower, lower - 0x20);
		else
			buf_char(out, c);
	}
}

void policy_add_asked(struct policy *policy, const json_t *names)
{
	struct policy_rule *rule = rule_new(POLICY_ASK, POLICY_DEFAULT + ASKED_PRIORITY / 1000.0,
	                             "default:obeyed");
	_cleanup_buf_ struct buf pattern = BUF_INIT(PATH_TEXT_MAX);
	struct err ignored = ERR_INIT;
	size_t i;
	json_t *name;

	add_writers(rule);
	rule->selector.modes = policy_modes_from(MODE_AUTO_EDIT) & ~policy_modes_from(MODE_YOLO);
	buf_str(&pattern, "\"(?:file_path|new_path)\":\"(?:[^\"]*\\/)?(?:");
	json_array_foreach((json_t *)names, i, name) {
		buf_str(&pattern, i ? "|" : "");
		put_name_pattern(&pattern, json_span(name));
	}
	buf_str(&pattern, ")\"");
	rule->selector.narrow = NARROW_ARGUMENTS;
	/* Too many: every edit is asked about. */
	if (pattern.overflowed || !js_regex_compile_with(buf_view(&pattern), JS_REGEX_BOUNDED,
	                                                 &rule->selector.regex, &ignored))
		rule->selector.narrow = NARROW_NONE;
	policy_add_rule(policy, rule);
}

void policy_add_kept(struct policy *policy, const json_t *paths, json_t *problems)
{
	static const char origin[] = "settings: hasp.sandbox.keepPaths";
	json_auto_t *table = json_pack("{s:O?}", "path", paths);
	struct policy_rule *rule = rule_new(POLICY_DENY, POLICY_USER, origin);
	_cleanup_free_ char *why = NULL;

	if (json_array_size(paths) && !(why = rule_take_paths(rule, table))) {
		policy_add_rule(policy, rule);
		return;
	}
	rule_free(rule);
	if (why)
		json_array_append_new(problems, json_pack(
			"{s:s, s:i, s:s, s:s}", "file", origin, "line", 0, "kind",
			"rule_validation", "message", why));
}

#define HELD_ORIGIN "hasp hooks trust"

static bool has_held(struct policy *policy, const char *path)
{
	bool found = false;

	pthread_rwlock_rdlock(&policy->lock);
	for (size_t i = 0; i < policy->rule_count && !found; i++)
		found = strcmp(policy->rules[i]->origin, HELD_ORIGIN) == 0 &&
		        strcmp(policy->rules[i]->paths[0], path) == 0;
	pthread_rwlock_unlock(&policy->lock);
	return found;
}

static void add_held_rule(struct policy *policy, const char *path, enum policy_decision decision,
                          unsigned modes)
{
	const double priority = POLICY_USER + PATH_PRIORITY / 1000.0;
	struct policy_rule *rule = rule_new(decision, priority, HELD_ORIGIN);
	_cleanup_free_ char *why = NULL;

	rule->paths = mem_alloc(2, sizeof(*rule->paths));
	rule->paths[rule->path_count++] = mem_strdup(path);
	rule->selector.modes = modes;
	why = judge_paths(rule);
	if (why) /* it is about every edit then */
		rule->selector.narrow = NARROW_NONE;
	if (decision == POLICY_DENY)
		rule->message = mem_strdup(
			"the user trusts this file as it is, since a hook or another command runs "
			"it outside of the sandbox; edits of it must be confirmed, and mode yolo "
			"does not ask");
	policy_add_rule(policy, rule);
}

/* Rules for each: there may be many, with long names. */
void policy_add_held(struct policy *policy, const json_t *paths)
{
	const unsigned yolo = policy_modes_from(MODE_YOLO);

	for (size_t i = 0; i < json_array_size(paths); i++) {
		const char *path = json_string_value(json_array_get(paths, i));

		if (has_held(policy, path))
			continue;
		add_held_rule(policy, path, POLICY_ASK, policy_modes_from(MODE_DEFAULT) & ~yolo);
		add_held_rule(policy, path, POLICY_DENY, yolo);
	}
}

void policy_kept_paths(const struct policy *policy, json_t *keep, json_t *ask, json_t *voted)
{
	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct policy_rule *rule = policy->rules[i];
		const bool held = strcmp(rule->origin, HELD_ORIGIN) == 0;

		/* Of the two rules for a held file one is for commands: --write lifts it. */
		if ((held && rule->decision == POLICY_DENY) || rule->hides)
			continue;
		for (size_t k = 0; k < rule->path_count; k++)
			json_array_append_new(rule->decision == POLICY_DENY ? keep :
			                      rule->approvals ? voted : ask,
			                      json_path_bytes(rule->paths[k]));
	}
}

void policy_hidden_paths(const struct policy *policy, json_t *hide)
{
	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct policy_rule *rule = policy->rules[i];

		for (size_t k = 0; k < rule->path_count && rule->hides; k++)
			json_array_append_new(hide, json_path_bytes(rule->paths[k]));
	}
}
