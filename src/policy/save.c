/* SPDX-License-Identifier: Apache-2.0 */
/* "Always" and "always and save": rules that the user chose while being asked; and rules that a
 * command writes. */
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
	if (always->exact) {
		selector->exact = mem_strdup(always->exact);
		selector->narrow = NARROW_EXACT;
	}
	rule->always = true;
	rule->message = mem_strdup(always->text);
	for (size_t i = 0; i < json_array_size(always->prefixes); i++)
		rule_selector_add_prefix(selector,
		                         json_string_value(json_array_get(always->prefixes, i)));
	return rule;
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
		if (!known) {
			char *text = rule->message ? mem_printf("%s, %s", rule->message,
			                                        json_string_value(host)) : NULL;

			json_array_append(rule->selector.hosts, host);
			free(rule->message);
			rule->message = text;
		}
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
	if (!scope->server && !scope->exact && tool_info_runs(scope->tool) &&
	    json_array_size(scope->prefixes) == 0)
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

void policy_lend(struct policy *policy, const struct policy_scope *scope)
{
	struct policy_scope lent = *scope;
	struct policy_rule *rule;

	lent.mode = MODE_DEFAULT;
	rule = always_rule(&lent, POLICY_DEFAULT, RULE_LENT);
	policy_add_rule(policy, rule);
}

static bool rule_is_lent(const struct policy_rule *rule)
{
	return strcmp(rule->origin, RULE_LENT) == 0;
}

void policy_lend_end(struct policy *policy)
{
	policy_drop_rules(policy, rule_is_lent);
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

/* Rules that restrict stand above those that allow. */
enum { WRITTEN_PRIORITY = ALWAYS_PRIORITY + 10 };

struct saved {
	struct policy_scope always;
	enum policy_decision decision;
	const char *args_pattern;
	const char *rule_path; /* of a rule on paths, which has no tool; or NULL */
	bool edits;            /* all editors, not always.tool alone */
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

static void append_editors(struct buf *out)
{
	size_t count = 0;

	buf_str(out, "toolName = [ ");
	for (size_t i = 0; i < TOOL_COUNT; i++) {
		if (tool_infos[i].files != TOOL_FILES_WRITE)
			continue;
		buf_str(out, count++ ? ", " : "");
		append_string(out, tool_infos[i].name);
	}
	buf_str(out, " ]\n");
}

/* What a rule is about. */
static void append_subject(struct buf *out, const struct saved *saved)
{
	const struct policy_scope *always = &saved->always;
	size_t count = json_array_size(always->prefixes);

	if (saved->rule_path) {
		append_member(out, "path", saved->rule_path);
		return;
	}
	if (saved->edits)
		append_editors(out);
	else
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
}

/* A rule that restricts holds in every mode. */
static void append_rule(struct buf *out, const struct saved *saved)
{
	const bool allows = saved->decision == POLICY_ALLOW;

	buf_str(out, out->len ? "\n[[rule]]\n" : "[[rule]]\n");
	append_member(out, "decision", policy_decision_name(saved->decision));
	buf_printf(out, "priority = %d\n", allows ? ALWAYS_PRIORITY : WRITTEN_PRIORITY);
	append_subject(out, saved);
	if (!allows)
		return;
	buf_str(out, "modes = [ ");
	for (int mode = (int)saved->always.mode; mode < MODE_COUNT; mode++)
		buf_printf(out, "\"%s\"%s", policy_mode_name((enum approval_mode)mode),
		           mode + 1 < MODE_COUNT ? ", " : " ]\n");
}

/* The rule as it will be read, a new reference; NULL: it cannot be. */
static json_t *saved_rule(const struct saved *saved)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_POLICY_BYTES);
	json_auto_t *table = NULL;
	struct err err = ERR_INIT;

	append_rule(&text, saved);
	if (text.overflowed || !toml_parse(buf_view(&text), &table, &err))
		return NULL;
	return json_incref(json_array_get(json_object_get(table, "rule"), 0));
}

/* Whether a rule of the file says the same already. */
static bool says_so(const json_t *table, const struct saved *saved)
{
	const json_t *rules = json_object_get(table, "rule");
	json_auto_t *mine = saved_rule(saved);

	for (size_t i = 0; mine && i < json_array_size(rules); i++)
		if (json_equal(json_array_get(rules, i), mine))
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
	json_auto_t *table = NULL, *rule = saved_rule(saved);
	struct err ignored = ERR_INIT;

	if (!rule)
		return err_set(err, ERR_TOO_LARGE, "The rule is too long.");
	if (!read_old(saved, &text, err))
		return false;
	if (!toml_parse(buf_from(&text, 0), &table, &ignored) &&
	    !set_aside(saved, &text, err))
		return false;
	if (table && says_so(table, saved))
		return true;
	if (text.len && text.data[text.len - 1] != '\n')
		buf_char(&text, '\n');
	append_rule(&text, saved);
	return file_replace(saved->path, buf_view(&text), 0600, err);
}

/* Calls `change` while no other process of hasp changes the folder's files. */
static bool saved_locked(const struct saved *saved, const struct file_lock_wait *wait,
                         bool (*change)(const struct saved *saved, struct err *err),
                         struct err *err)
{
	_cleanup_fd_ int lock = -1;

	if (!file_make_folders(saved->folder, err))
		return false;
	lock = open(saved->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0)
		return err_set_errno(err, errno, "Cannot lock %s", saved->folder);
	return file_lock_take(lock, saved->folder, wait, err) && change(saved, err);
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
		               "A rule that always allows %s must say for which arguments "
		               "(argsPattern, see docs/policy.md).", always->tool);
	return true;
}

bool policy_save(struct policy *policy, const char *folder, const char *tool,
                 const json_t *prefixes, const char *server, const char *args_pattern,
                 enum approval_mode mode, const struct file_lock_wait *wait, struct err *err)
{
	_cleanup_free_ char *path = mem_printf("%s/" FILE_NAME, folder);
	const struct saved saved = {
		.always = { .tool = tool, .prefixes = prefixes, .server = server, .mode = mode },
		.decision = POLICY_ALLOW,
		.args_pattern = args_pattern, .folder = folder, .path = path,
	};
	struct js_regex *regex = NULL;
	struct policy_rule *rule;

	if (!check_saved(&saved, err))
		return false;
	if (args_pattern &&
	    !js_regex_compile_with(span_str(args_pattern), JS_REGEX_BOUNDED, &regex, err))
		return false;
	if (!saved_locked(&saved, wait, append_to_file, err)) {
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

/* ---- rules that a command writes ------------------------------------------------------------- */

/* What the rule of a file is about, without what it decides: the members by which a rule is found
 * again.  A new reference. */
static json_t *saved_subject(const json_t *rule)
{
	static const char *const members[] = { "commandPrefix", "argsPattern", "mcpName", "path" };
	const char *name = json_string_value(json_object_get(rule, "toolName"));
	const struct tool_info *info = name ? tool_info_find(name) : NULL;
	json_t *subject = json_object();

	if (name)
		json_object_set_new(subject, "toolName", json_cstr(info ? info->name : name));
	else if (json_object_get(rule, "toolName"))
		json_object_set(subject, "toolName", json_object_get(rule, "toolName"));
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		json_t *value = json_object_get(rule, members[i]);

		/* A list of one is that one. */
		if (json_array_size(value) == 1)
			value = json_array_get(value, 0);
		if (value)
			json_object_set(subject, members[i], value);
	}
	return subject;
}

/* Where the table that begins on a line ends: before the next one, or at the text's end. */
static size_t table_end(struct span text, size_t from)
{
	for (size_t at = from; at < text.len;) {
		const char *end = memchr(text.data + at, '\n', text.len - at);

		at = end ? (size_t)(end + 1 - text.data) : text.len;
		if (at < text.len && text.data[at] == '[')
			return at;
	}
	return text.len;
}

static size_t rule_line_start(struct span text, json_int_t line)
{
	size_t at = 0;

	while (line-- > 1 && at < text.len) {
		const char *end = memchr(text.data + at, '\n', text.len - at);

		at = end ? (size_t)(end + 1 - text.data) : text.len;
	}
	return at;
}

/* Copies the text without the rule on these lines. */
static void cut_rule(struct span text, const json_t *rule, struct buf *out)
{
	const json_int_t line = json_integer_value(json_object_get(rule, TOML_LINE));
	const size_t from = rule_line_start(text, line);
	const size_t to = table_end(text, from);

	buf_span(out, span_head(text, from));
	buf_span(out, span_skip(text, to));
}

/* Whether the text has all rules of `table` but number `left_out`: else a line that looked like the
 * beginning of a table was none. */
static bool is_without(struct span text, const json_t *table, size_t left_out)
{
	json_auto_t *now = NULL, *expected = json_deep_copy(table);
	struct err ignored = ERR_INIT;
	json_t *rules = json_object_get(expected, "rule");

	json_array_remove(rules, left_out);
	if (!json_array_size(rules))
		json_object_del(expected, "rule");
	return toml_parse(text, &now, &ignored) && json_equal(now, expected);
}

/* Under the lock: removes the first rule about the same. *ret_found: there was one. */
static bool remove_one(const struct saved *saved, bool *ret_found, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2 * LIMIT_POLICY_BYTES);
	_cleanup_buf_ struct buf left = BUF_INIT(2 * LIMIT_POLICY_BYTES);
	json_auto_t *table = NULL, *plain = NULL, *mine = saved_rule(saved);
	json_auto_t *subject = saved_subject(mine);
	struct err why = ERR_INIT;
	size_t i;
	json_t *rule;

	*ret_found = false;
	if (!read_old(saved, &text, err))
		return false;
	if (!toml_parse_lines(buf_view(&text), &table, &why) ||
	    !toml_parse(buf_view(&text), &plain, &why))
		return err_set(err, ERR_INVALID_ARGUMENT, "%s: %s", saved->path, why.message);
	json_array_foreach(json_object_get(table, "rule"), i, rule) {
		json_auto_t *theirs = saved_subject(rule);

		if (!json_equal(theirs, subject))
			continue;
		cut_rule(buf_view(&text), rule, &left);
		if (!is_without(buf_view(&left), plain, i))
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "The rule at %s:%d cannot be cut out: remove it by hand.",
			               saved->path, (int)json_integer_value(
				               json_object_get(rule, TOML_LINE)));
		*ret_found = true;
		return file_replace(saved->path, buf_view(&left), 0600, err);
	}
	return true;
}

/* Under the lock: removes all rules about the same. FILE_NOT_FOUND: there is none. */
static bool remove_from_file(const struct saved *saved, struct err *err)
{
	bool found = true;
	size_t count = 0;

	for (; found && count <= LIMIT_POLICY_BYTES; count += found)
		if (!remove_one(saved, &found, err))
			return false;
	return count || err_set(err, ERR_FILE_NOT_FOUND, "%s has no such rule.", saved->path);
}

/* A rule about this replaces an earlier one, whatever that decided. */
static bool write_to_file(const struct saved *saved, struct err *err)
{
	struct err none = ERR_INIT;

	if (!remove_from_file(saved, &none) && none.code != ERR_FILE_NOT_FOUND) {
		*err = none;
		return false;
	}
	return append_to_file(saved, err);
}

static bool written_change(const char *folder, const struct policy_written *written,
                           const struct file_lock_wait *wait,
                           bool (*change)(const struct saved *saved, struct err *err),
                           struct err *err)
{
	_cleanup_free_ char *path = mem_printf("%s/" FILE_NAME, folder);
	json_auto_t *prefixes = written->prefix ? json_pack("[s]", written->prefix) : NULL;
	const struct saved saved = {
		.always = { .tool = written->tool, .prefixes = prefixes, .mode = MODE_DEFAULT },
		.decision = written->decision, .rule_path = written->path,
		.edits = written->edits,
		.folder = folder, .path = path,
	};

	if (change == write_to_file && written->decision == POLICY_ALLOW && !written->path &&
	    !check_saved(&saved, err))
		return false;
	return saved_locked(&saved, wait, change, err);
}

/* Whether a rule can be about that path. */
static bool check_written_path(const struct policy_written *written, struct err *err)
{
	struct policy_rule *rule = rule_new(written->decision, 0, "");
	json_auto_t *table = json_pack("{s:s}", "path", written->path);
	_cleanup_free_ char *why = rule_take_paths(rule, table);

	rule_free(rule);
	return !why || err_set(err, ERR_INVALID_ARGUMENT, "Path %s", why);
}

bool policy_write_rule(const char *folder, const struct policy_written *written,
                       const struct file_lock_wait *wait, struct err *err)
{
	if (written->path && !check_written_path(written, err))
		return false;
	return written_change(folder, written, wait, write_to_file, err);
}

bool policy_remove_rule(const char *folder, const struct policy_written *written,
                        const struct file_lock_wait *wait, struct err *err)
{
	return written_change(folder, written, wait, remove_from_file, err);
}
