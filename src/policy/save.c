/* SPDX-License-Identifier: Apache-2.0 */
/* "Always" and "always and save": rules that the user chose while being asked. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/toml.h"
#include "policy/policy.h"
#include "policy/rule.h"

/* ---- "Always": rules that the user chose while being asked ---- */

/* Whether a permission without any condition is too much to be kept for ever. */
static bool always_needs_narrowing(const char *tool)
{
	const struct tool_info *info = tool_info_find(tool);

	return info && info->narrow;
}

static void always_add_names(struct selector *selector, const struct policy_scope *scope)
{
	if (!scope->changes)
		rule_selector_add_name(selector, scope->server ? "*" : scope->tool);
	else /* how a file comes to be changed does not matter */
		rule_selector_add_editors(selector);
}

static double always_priority(enum policy_tier tier)
{
	return (double)tier + ALWAYS_PRIORITY / 1000.0;
}

static struct policy_rule *always_rule(const struct policy_scope *always, enum policy_tier tier,
                                const char *origin)
{
	struct policy_rule *rule = rule_new(POLICY_ALLOW, always_priority(tier), origin);
	struct selector *selector = &rule->selector;

	always_add_names(selector, always);
	selector->changes = always->changes;
	selector->hosts = json_copy((json_t *)always->hosts);
	selector->server = mem_strdup(always->server);
	selector->server_identity = mem_strdup(always->identity);
	selector->modes = policy_modes_from(always->mode);
	rule->always = true;
	rule->message = mem_strdup(always->text);
	for (size_t i = 0; i < json_array_size(always->prefixes); i++)
		rule_selector_add_prefix(selector,
		                         json_string_value(json_array_get(always->prefixes, i)));
	return rule;
}

static void join_host(struct policy_rule *rule, json_t *host)
{
	char *text = rule->message ? mem_printf("%s, %s", rule->message,
	                                        json_string_value(host)) : NULL;

	json_array_append(rule->selector.hosts, host);
	free(rule->message);
	rule->message = text;
}

/* A fetch may name several hosts, so the hosts of one mode are one rule. */
static bool join_hosts(struct policy *policy, const struct policy_scope *scope)
{
	struct policy_rule *rule = NULL;
	size_t i, k;
	json_t *host, *there;

	pthread_rwlock_wrlock(&policy->lock);
	for (i = 0; i < policy->rule_count && !rule; i++)
		if (rule_is_of_session(policy->rules[i]) && policy->rules[i]->selector.hosts &&
		    policy->rules[i]->selector.modes == policy_modes_from(scope->mode) &&
		    !strcmp(policy->rules[i]->selector.names[0], scope->tool))
			rule = policy->rules[i];
	json_array_foreach((json_t *)scope->hosts, i, host) {
		bool known = !rule;

		json_array_foreach(rule ? rule->selector.hosts : NULL, k, there)
			known = known || json_equal(there, host);
		if (!known)
			join_host(rule, host);
	}
	pthread_rwlock_unlock(&policy->lock);
	return rule;
}

void policy_allow_for_session(struct policy *policy, const struct policy_scope *scope)
{
	struct js_regex *regex = NULL;
	struct err ignored = ERR_INIT;
	struct policy_rule *rule;

	/* Without a prefix it would be every command. */
	if (!scope->server && tool_info_runs(scope->tool) && json_array_size(scope->prefixes) == 0)
		return;
	if (scope->args_pattern && !js_regex_compile_with(span_str(scope->args_pattern),
	                                                  JS_REGEX_BOUNDED, &regex, &ignored))
		return;
	if (scope->hosts && join_hosts(policy, scope))
		return;
	rule = always_rule(scope, POLICY_WORKSPACE, RULE_OF_SESSION);
	rule->since = time(NULL);
	if (regex) {
		rule->selector.regex = regex;
		rule->selector.narrow = NARROW_ARGUMENTS;
	}
	policy_add_rule(policy, rule);
}

bool policy_session_helps(const struct policy_verdict *verdict)
{
	return verdict->priority < always_priority(POLICY_WORKSPACE);
}

/* ---- always and save --------------------------------------------------------- */

/* "Always and save": auto-saved.toml, as Gemini CLI writes it.
 *
 * The rule is appended to the text, which keeps comments and order; the file is replaced
 * atomically, under a lock of the folder.
 */

#define FILE_NAME "auto-saved.toml"

struct saved {
	struct policy_scope always;
	const char *args_pattern;
	const char *folder;
	char *path;
};

/* ---- the text -------------------------------------------------------------------------- */

/* A TOML string: JSON's escapes are TOML's, but for DEL. */
static void append_string(struct buf *out, const char *text)
{
	_cleanup_buf_ struct buf quoted = BUF_INIT(8 * strlen(text) + 16);

	json_print_string(&quoted, span_str(text));
	for (size_t i = 0; i < quoted.len; i++) {
		if (quoted.data[i] == 0x7f)
			buf_str(out, "\\u007f");
		else
			buf_char(out, quoted.data[i]);
	}
}

static void append_member(struct buf *out, const char *name, const char *value)
{
	buf_printf(out, "%s = ", name);
	append_string(out, value);
	buf_char(out, '\n');
}

/* The name as Gemini CLI's loader joins it with mcpName again. */
static const char *saved_name(const struct saved *saved)
{
	const struct tool_info *names = tool_info_find(saved->always.tool);

	if (saved->always.server)
		return "*";
	return !names ? saved->always.tool : names->gemini ? names->gemini : names->name;
}

static void append_rule(struct buf *out, const struct saved *saved)
{
	const struct policy_scope *always = &saved->always;
	size_t count = json_array_size(always->prefixes);

	buf_str(out, out->len ? "\n[[rule]]\n" : "[[rule]]\n");
	append_member(out, "decision", "allow");
	buf_printf(out, "priority = %d\n", ALWAYS_PRIORITY);
	append_member(out, "toolName", saved_name(saved));
	if (always->server)
		append_member(out, "mcpName", always->server);
	for (size_t i = 0; i < count; i++) {
		buf_str(out, i ? ", " : "commandPrefix = [ ");
		append_string(out, json_string_value(json_array_get(always->prefixes, i)));
	}
	buf_str(out, count ? " ]\n" : "");
	if (saved->args_pattern)
		append_member(out, "argsPattern", saved->args_pattern);
	buf_str(out, "modes = [ ");
	for (int mode = (int)always->mode; mode < MODE_COUNT; mode++)
		buf_printf(out, "\"%s\"%s", policy_mode_name((enum approval_mode)mode),
		           mode + 1 < MODE_COUNT ? ", " : " ]\n");
}

/* Whether a rule of the file says the same already. */
static bool says_so(const json_t *table, const struct buf *rule)
{
	const json_t *rules = json_object_get(table, "rule");
	json_auto_t *mine = NULL;
	struct err err = ERR_INIT;

	if (!toml_parse(buf_view(rule), &mine, &err))
		return false;
	for (size_t i = 0; i < json_array_size(rules); i++)
		if (json_equal(json_array_get(rules, i),
		               json_array_get(json_object_get(mine, "rule"), 0)))
			return true;
	return false;
}

/* ---- the file --------------------------------------------------------------------------- */

/* With room for one more rule. */
static bool read_old(const struct saved *saved, struct buf *text, struct err *err)
{
	_cleanup_file_text_ struct file_text old = { 0 };

	if (!file_read(saved->path, LIMIT_POLICY_BYTES - 1, &old, err))
		return false;
	buf_span(text, file_text_span(&old));
	return true;
}

/* What cannot be read as TOML is kept under another name. */
static bool set_aside(const struct saved *saved, struct buf *text, struct err *err)
{
	_cleanup_free_ char *backup = mem_printf("%s.bak", saved->path);

	buf_clear(text);
	if (rename(saved->path, backup) != 0)
		return err_set_errno(err, errno, "%s cannot be set aside", saved->path);
	return true;
}

/* Under the lock. */
static bool append_to_file(const struct saved *saved, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2 * LIMIT_POLICY_BYTES);
	_cleanup_buf_ struct buf rule = BUF_INIT(LIMIT_POLICY_BYTES);
	json_auto_t *table = NULL;
	struct err ignored = ERR_INIT;

	append_rule(&rule, saved);
	if (rule.overflowed)
		return err_set(err, ERR_TOO_LARGE, "The rule is too long.");
	if (!read_old(saved, &text, err))
		return false;
	if (!toml_parse(buf_from(&text, 0), &table, &ignored) &&
	    !set_aside(saved, &text, err))
		return false;
	if (table && says_so(table, &rule))
		return true;
	if (text.len && text.data[text.len - 1] != '\n')
		buf_char(&text, '\n');
	append_rule(&text, saved);
	return file_replace(saved->path, buf_view(&text), 0600, err);
}

static bool append_locked(const struct saved *saved, const struct file_lock_wait *wait,
                          struct err *err)
{
	_cleanup_fd_ int lock = -1;

	if (!file_make_folders(saved->folder, err))
		return false;
	lock = open(saved->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0)
		return err_set_errno(err, errno, "%s cannot be locked", saved->folder);
	return file_lock_take(lock, saved->folder, wait, err) && append_to_file(saved, err);
}

/* ---- the rule ---------------------------------------------------------------------------- */

static bool are_prefixes(const json_t *prefixes)
{
	for (size_t i = 0; i < json_array_size(prefixes); i++)
		if (!json_is_string(json_array_get(prefixes, i)) ||
		    json_string_length(json_array_get(prefixes, i)) == 0)
			return false;
	return true;
}

static bool check_saved(const struct saved *saved, struct err *err)
{
	const struct policy_scope *always = &saved->always;
	bool narrow = json_array_size(always->prefixes) > 0;

	if (!are_prefixes(always->prefixes) || (narrow && saved->args_pattern))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A permission needs prefixes of commands or a pattern, as text.");
	if (!always->server && !narrow && !saved->args_pattern &&
	    always_needs_narrowing(always->tool))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%s cannot be allowed for ever without saying for what.",
		               always->tool);
	return true;
}

bool policy_save(struct policy *policy, const char *folder, const char *tool,
                 const json_t *prefixes, const char *server, const char *args_pattern,
                 enum approval_mode mode, const struct file_lock_wait *wait, struct err *err)
{
	_cleanup_free_ char *path = mem_printf("%s/" FILE_NAME, folder);
	const struct saved saved = {
		.always = { .tool = tool, .prefixes = prefixes, .server = server, .mode = mode },
		.args_pattern = args_pattern, .folder = folder, .path = path,
	};
	struct js_regex *regex = NULL;
	struct policy_rule *rule;

	if (!check_saved(&saved, err))
		return false;
	if (args_pattern &&
	    !js_regex_compile_with(span_str(args_pattern), JS_REGEX_BOUNDED, &regex, err))
		return false;
	if (!append_locked(&saved, wait, err)) {
		js_regex_free(regex);
		return false;
	}
	rule = always_rule(&saved.always, POLICY_USER, path);
	if (regex) {
		rule->selector.regex = regex;
		rule->selector.narrow = NARROW_ARGUMENTS;
	}
	policy_add_rule(policy, rule);
	return true;
}
