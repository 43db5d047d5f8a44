/* SPDX-License-Identifier: Apache-2.0 */
/* Permissions as other agents write them, as rules. */
#include "policy/permissions.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/json.h"
#include "policy/rule.h"

/* STARS_MAX: each may cost a search over the text again. */
enum { ENTRY_SHOWN = 200, STARS_MAX = 10 };

/* One entry that is being read. */
struct permission {
	struct policy *policy;
	const struct permission_place *place;
	enum policy_decision decision;
	unsigned line;
	char *shown;  /* owned: the entry for messages */
	char *origin; /* owned */
};

/* ---- what is said, and where a rule stands ---------------------------------------- */

/* What a terminal obeys. */
static void without_controls(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

/* For people and models, and not too long. */
static char *shown_entry(const char *entry)
{
	json_t *text = json_text(span_head(span_str(entry), ENTRY_SHOWN));
	char *shown = mem_strdup(json_string_value(text));

	without_controls(shown);
	json_decref(text);
	return shown;
}

void policy_complain(const struct permission_place *place, unsigned line, const char *kind,
                        const char *format, ...)
{
	char message[1024];
	va_list args;

	if (!place->problems)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	without_controls(message);
	json_array_append_new(place->problems, json_pack(
		"{s:o, s:i, s:s, s:o}", "file", json_text(span_str(place->file)), "line", (int)line,
		"kind", kind, "message", json_text(span_str(message))));
}

/* What follows from an entry that makes no rule. */
static const char *consequence(const struct permission *permission)
{
	static const char *const words[] = {
		[POLICY_ALLOW] = "It allows nothing here.",
		[POLICY_ASK] = "Nothing is asked about because of it.",
		[POLICY_DENY] = "IT FORBIDS NOTHING HERE.",
	};

	return words[permission->decision];
}

static void not_used(const struct permission *permission, const char *why)
{
	policy_complain(permission->place, permission->line,
	                   permission->decision == POLICY_ALLOW ? OTHERS_UNUSED : OTHERS_LOST,
	                   "%s is not used: %s%s %s", permission->shown, why,
	                   strchr("?.", why[strlen(why) - 1]) ? "" : ".",
	                   consequence(permission));
}

/* Deny, then ask, then allow, wherever each is said; the administrator's first. */
static double permission_priority(enum policy_tier tier, enum policy_decision decision)
{
	const double admin = POLICY_ADMIN, user = POLICY_USER;
	const bool high = tier == POLICY_ADMIN, low = tier == POLICY_WORKSPACE;

	switch (decision) {
	case POLICY_DENY:
		return high ? admin + 0.9994 : low ? user + 0.9993 : user + 0.9994;
	case POLICY_ASK:
		return high ? user + 0.9992 : low ? user + 0.99905 : user + 0.9991;
	case POLICY_ALLOW:
		return high ? user + 0.998 : (double)tier;
	}
	return user;
}

static struct policy_rule *permission_rule(const struct permission *permission)
{
	struct policy_rule *rule = rule_new(
		permission->decision,
		permission_priority(permission->place->tier, permission->decision),
		permission->origin);

	rule->others = true;
	/* In plan mode nothing is changed, whatever is allowed. */
	if (permission->decision == POLICY_ALLOW)
		rule->selector.modes = policy_modes_from(MODE_DEFAULT);
	return rule;
}

/* Adds the rule, if the pattern (NUL and all) is an expression; else says so. */
static void add_with_pattern(const struct permission *permission, struct policy_rule *rule,
                             enum narrow narrow, struct buf *pattern)
{
	struct err err = ERR_INIT;

	rule->selector.narrow = narrow;
	if (!pattern->overflowed &&
	    js_regex_compile_with(buf_view(pattern), JS_REGEX_BOUNDED, &rule->selector.regex,
	                          &err)) {
		policy_add_rule(permission->policy, rule);
		return;
	}
	/* What restricts then restricts more. */
	if (permission->decision != POLICY_ALLOW) {
		policy_complain(permission->place, permission->line, OTHERS_LOST,
		                   "%s cannot be matched, so every such call counts as "
		                   "meant: %s", permission->shown,
		                   pattern->overflowed ? "it is too long." : err.message);
		rule->selector.narrow = NARROW_NONE;
		policy_add_rule(permission->policy, rule);
		return;
	}
	not_used(permission, "it is too long, or no pattern");
	rule_free(rule);
}

/* ---- commands ---------------------------------------------------------------------- */

static size_t stars_in(struct span text)
{
	size_t count = 0;

	for (size_t i = 0; i < text.len; i++)
		count += text.data[i] == '*';
	return count;
}

/* Literal text, with any characters for each '*'. */
static void put_stars(struct buf *out, struct span text)
{
	while (text.len) {
		const char *star = memchr(text.data, '*', text.len);
		const size_t len = star ? (size_t)(star - text.data) : text.len;

		policy_put_literal(out, span_head(text, len));
		buf_str(out, star ? "[^\\x00]*" : "");
		text = span_skip(text, star ? len + 1 : len);
	}
}

bool rule_take_command(struct policy_rule *rule, struct span text, enum command_form form,
                       struct err *err)
{
	_cleanup_buf_ struct buf pattern = BUF_INIT(JS_REGEX_BYTES_MAX);
	_cleanup_free_ char *words = NULL;

	text = span_trim(text);
	if (!text.len || span_eq(text, SPAN("*")) || span_eq(text, SPAN(":*")))
		return true;
	if (stars_in(text) > STARS_MAX)
		return err_set(err, ERR_TOO_LARGE, "it has more than %d \"*\".", STARS_MAX);
	if ((span_ends(text, SPAN(":*")) || span_ends(text, SPAN(" *"))) && stars_in(text) == 1) {
		text = span_trim(span_head(text, text.len - 2));
		form = COMMAND_PREFIX;
	}
	if (form == COMMAND_PREFIX && !stars_in(text)) {
		words = mem_dup(text.data, text.len);
		rule_selector_add_prefix(&rule->selector, words);
		return true;
	}
	buf_str(&pattern, "\\x00\"command\":\"\\s*");
	put_stars(&pattern, text);
	buf_str(&pattern, form == COMMAND_PREFIX ? "(?:[\\s\\\\\"'][^\\x00]*)?\"\\x00" :
	                                           "\\s*\"\\x00");
	rule->selector.narrow = NARROW_COMMAND;
	if (pattern.overflowed)
		return err_set(err, ERR_TOO_LARGE, "it is too long.");
	return js_regex_compile_with(buf_view(&pattern), JS_REGEX_BOUNDED, &rule->selector.regex,
	                             err);
}

static void take_command(const struct permission *permission, struct span text)
{
	struct policy_rule *rule = permission_rule(permission);
	const struct span first = span_head(text, text.len ? strcspn(text.data, " \t)") : 0);
	struct err err = ERR_INIT;

	rule_selector_add_name(&rule->selector, tool_name(TOOL_RUN_SHELL_COMMAND));
	if (permission->decision == POLICY_ALLOW && stars_in(first) && stars_in(text) &&
	    !span_eq(span_trim(text), SPAN("*")) && !span_ends(first, SPAN(":*"))) {
		not_used(permission, "hasp allows no command whose program may be any");
	} else if (span_starts(text, SPAN("run_in_background:"))) {
		not_used(permission, "hasp has no rules on this argument");
	} else if (rule_take_command(rule, text, COMMAND_WHOLE, &err)) {
		policy_add_rule(permission->policy, rule);
		return;
	} else if (permission->decision != POLICY_ALLOW) {
		policy_complain(permission->place, permission->line, OTHERS_LOST,
		                   "%s cannot be matched, so every command counts as "
		                   "meant: %s", permission->shown,
		                   err.message);
		rule->selector.narrow = NARROW_NONE;
		policy_add_rule(permission->policy, rule);
		return;
	} else {
		not_used(permission, err.message);
	}
	rule_free(rule);
}

/* ---- paths: gitignore's patterns ---------------------------------------------------------- */

/* A pattern for paths, and where it begins. */
struct place_pattern {
	char *base;       /* owned: absolute, without "/" at its end; "" is the root */
	char *pattern;    /* owned: below it, without "/" at either end; "": all that is there */
	bool any_depth;   /* in any folder below it */
	bool beneath;     /* what is in it is meant, and not itself ("src" "/" "**") */
};

static void place_pattern_release(struct place_pattern *place)
{
	free(place->base);
	free(place->pattern);
}

static bool pattern_is_literal(const char *pattern)
{
	return !strpbrk(pattern, "*?[\\");
}

/* Moves what the project's path and the pattern have in common to the base, so that a pattern for
 * the whole disk knows relative paths. */
static void approach_project(struct place_pattern *place, const char *project)
{
	for (;;) {
		const size_t base = strlen(place->base);
		const char *rest = project + base;
		size_t len;

		if (strncmp(project, place->base, base) != 0 || *rest != '/')
			return;
		len = strcspn(rest + 1, "/");
		if (!len || strncmp(place->pattern, rest + 1, len) != 0 ||
		    place->pattern[len] != '/')
			return;
		char *base_below = mem_printf("%s/%.*s", place->base, (int)len, rest + 1);
		char *pattern = mem_strdup(place->pattern + len + 1);

		place_pattern_release(place);
		place->base = base_below;
		place->pattern = pattern;
	}
}

/* Takes "../" at the beginning off; false: there is another "..". */
static bool leave_folders(struct place_pattern *place, struct span *text)
{
	while (span_starts(*text, SPAN("../"))) {
		char *slash = strrchr(place->base, '/');

		if (slash)
			*slash = '\0';
		*text = span_skip(*text, 3);
	}
	return !memmem(text->data, text->len, "../", 3) && !span_ends(*text, SPAN("/..")) &&
	       !span_eq(*text, SPAN(".."));
}

/* False: it is not understood. */
static bool place_pattern_read(const struct permission *permission, struct span text,
                               struct place_pattern *ret)
{
	const struct permission_place *place = permission->place;
	bool relative = false, dotted = false;

	*ret = (struct place_pattern){ 0 };
	if (span_starts(text, SPAN("//"))) {
		ret->base = mem_strdup("");
		text = span_skip(text, 2);
	} else if (span_starts(text, SPAN("~/"))) {
		ret->base = mem_strdup(place->home);
		text = span_skip(text, 2);
	} else if (span_starts(text, SPAN("/"))) {
		ret->base = mem_strdup(place->folder);
		text = span_skip(text, 1);
	} else {
		ret->base = mem_strdup(place->project);
		relative = true;
		while (span_starts(text, SPAN("./"))) {
			text = span_skip(text, 2);
			dotted = true;
		}
	}
	if (stars_in(text) > 2 * STARS_MAX || !leave_folders(ret, &text))
		return false;
	while (span_ends(text, SPAN("/")))
		text.len--;
	while (span_eq(text, SPAN("**")) || span_ends(text, SPAN("/**"))) {
		text.len -= text.len > 2 ? 3 : 2;
		ret->beneath = true;
	}
	while (span_starts(text, SPAN("**/"))) {
		ret->any_depth = true;
		text = span_skip(text, 3);
	}
	if (relative && text.len && !memchr(text.data, '/', text.len) &&
	    (permission->decision != POLICY_ALLOW || (!dotted && !ret->beneath)))
		ret->any_depth = true;
	ret->pattern = mem_dup(text.data, text.len);
	if (!ret->any_depth)
		approach_project(ret, place->project);
	return true;
}

/* How paths stand in a text: as a whole string, or as a word of a command. */
struct path_text {
	const char *any;     /* a character of a path */
	const char *segment; /* the same without '/' */
};
static const struct path_text whole_path = { "[^\\x00]", "[^\\x00\\/]" };
static const struct path_text word_path = { "[^\\x00\\s]", "[^\\x00\\s\\/]" };

/* The length of what a class, "[a-z]", is; 0: it is none. */
static size_t class_length(struct span text)
{
	const char *end = text.len > 2 ? memchr(text.data + 2, ']', text.len - 2) : NULL;

	return end ? (size_t)(end + 1 - text.data) : 0;
}

/* gitignore's pattern. A class stands for any character: it only restricts. */
static void put_pattern_text(struct buf *out, const struct path_text *how, struct span text)
{
	while (text.len) {
		size_t len = 1;

		if (span_starts(text, SPAN("**/"))) {
			buf_printf(out, "(?:%s*\\/)?", how->any);
			len = 3;
		} else if (span_starts(text, SPAN("**"))) {
			buf_printf(out, "%s*", how->any);
			len = 2;
		} else if (text.data[0] == '*') {
			buf_printf(out, "%s*", how->segment);
		} else if (text.data[0] == '?') {
			buf_str(out, how->segment);
		} else if (text.data[0] == '[' && class_length(text)) {
			buf_str(out, how->segment);
			len = class_length(text);
		} else if (text.data[0] == '\\' && text.len > 1) {
			policy_put_literal(out, span_head(span_skip(text, 1), 1));
			len = 2;
		} else {
			while (len < text.len && !strchr("*?[\\", text.data[len]))
				len++;
			policy_put_literal(out, span_head(text, len));
		}
		text = span_skip(text, len);
	}
}

static void put_base(struct buf *out, const char *base)
{
	_cleanup_free_ char *real = *base ? realpath(base, NULL) : NULL;

	policy_put_literal(out, span_str(base));
	buf_str(out, "\\/");
	if (!real || strcmp(real, base) == 0)
		return;
	buf_char(out, '|');
	policy_put_literal(out, span_str(real));
	buf_str(out, "\\/");
}

/* What stands before the pattern's own text: the base, absolute or relative. */
static void put_bases(struct buf *out, const struct permission_place *place,
                      const struct place_pattern *given, const struct path_text *how)
{
	const bool project = path_is_under(place->project, given->base) || !*given->base;
	const bool whole = !*given->pattern;

	buf_str(out, "(?:");
	put_base(out, given->base);
	if (how == &word_path && path_is_under(given->base, place->home)) {
		buf_str(out, "|~");
		policy_put_literal(out, span_str(given->base + strlen(place->home)));
		buf_str(out, "\\/");
	}
	if (strcmp(given->base, place->project) == 0 ? !whole : project && given->any_depth)
		buf_str(out, "|(?:\\.\\/)?");
	else if (project && whole)
		buf_str(out, "|(?!\\/)");
	buf_char(out, ')');
	if (given->any_depth)
		buf_printf(out, "(?:%s*\\/)?", how->any);
}

/* All paths that the pattern is about. */
static void put_place_paths(struct buf *out, const struct permission *permission,
                      const struct place_pattern *given, const struct path_text *how)
{
	put_bases(out, permission->place, given, how);
	put_pattern_text(out, how, span_str(given->pattern));
	if (!*given->pattern)
		buf_printf(out, "%s*", how->any);
	else if (given->beneath && permission->decision == POLICY_ALLOW)
		buf_printf(out, "\\/%s*", how->any);
	else
		buf_printf(out, "(?:\\/%s*)?", how->any);
}

/* The tools whose paths are meant. */
static void add_path_tools(struct selector *selector, bool reads, bool writes)
{
	for (size_t i = 0; i < tool_info_count(); i++) {
		const enum tool_files files = tool_infos[i].files;

		if (files == TOOL_FILES_WRITE ? writes : reads && files != TOOL_FILES_NONE)
			rule_selector_add_name(selector, tool_infos[i].name);
	}
}

/* Programs that read and write the files that they are given. */
#define READERS "cat|tac|nl|head|tail|less|more|bat|batcat|sed|awk|gawk|mawk|grep|egrep|fgrep|" \
	"rg|cut|sort|uniq|paste|wc|od|xxd|hexdump|strings|base64|jq|diff|cmp|cp|mv|ln|dd|tee|" \
	"source|\\."
#define WRITERS "tee|cp|mv|rm|ln|dd|sed|touch|truncate|install|rsync|patch"

/* The same for commands that name such a path, as far as their words say it. */
static void add_command_words(const struct permission *permission,
                              const struct place_pattern *given, const char *programs,
                              const char *redirections)
{
	struct policy_rule *rule = permission_rule(permission);
	_cleanup_buf_ struct buf pattern = BUF_INIT(JS_REGEX_BYTES_MAX);

	rule_selector_add_name(&rule->selector, tool_name(TOOL_RUN_SHELL_COMMAND));
	buf_printf(&pattern, "\\x00\"command\":\"(?:(?:%s)\\s(?:[^\\x00]*[\\s'\"=:,(])?|"
	           "[^\\x00]*[%s]\\s?\\\\?['\"]?)", programs, redirections);
	put_place_paths(&pattern, permission, given, &word_path);
	buf_str(&pattern, "[\\s'\"\\\\;)&|<>,]");
	add_with_pattern(permission, rule, NARROW_COMMAND, &pattern);
}

/* What the sandbox can keep commands from: it knows files and folders, and no patterns.  A file of
 * a project says that of the project's files alone.  NULL: nothing; the caller frees. */
static char *sandbox_path(const struct permission *permission, const struct place_pattern *given)
{
	const struct permission_place *place = permission->place;
	char *path;

	if (permission->decision != POLICY_DENY || !*given->pattern ||
	    !pattern_is_literal(given->pattern))
		return NULL;
	path = mem_printf("%s/%s", given->base, given->pattern);
	if (place->tier != POLICY_WORKSPACE || path_is_under(path, place->project))
		return path;
	free(path);
	return NULL;
}

static void take_sandbox_path(struct policy_rule *rule, char *path, bool hidden)
{
	if (!path)
		return;
	rule->paths = mem_alloc(2, sizeof(*rule->paths));
	rule->paths[rule->path_count++] = path;
	rule->hides = hidden;
}

static void take_file_paths(const struct permission *permission, bool writes, struct span text)
{
	const bool denies = permission->decision == POLICY_DENY;
	_cleanup_buf_ struct buf pattern = BUF_INIT(JS_REGEX_BYTES_MAX);
	struct policy_rule *rule = permission_rule(permission);
	struct place_pattern given;
	char *path;
	bool words;

	if (span_starts(text, SPAN("!"))) {
		policy_complain(permission->place, permission->line, OTHERS_UNUSED, "%s takes "
		                "nothing out here: what the rules before it are about stays so.",
		                permission->shown);
		rule_free(rule);
		return;
	}
	if (!place_pattern_read(permission, text, &given) ||
	    (permission->decision == POLICY_ALLOW && strchr(given.pattern, '['))) {
		not_used(permission, "hasp does not know such a pattern");
		place_pattern_release(&given);
		rule_free(rule);
		return;
	}
	/* As there, what may not be read is not edited either. */
	add_path_tools(&rule->selector, !writes, writes || denies);
	path = sandbox_path(permission, &given);
	words = permission->decision != POLICY_ALLOW && (!writes || !path || given.any_depth);
	take_sandbox_path(rule, path, !writes);
	buf_str(&pattern, "\\x00\"(?:file_path|new_path|path|dir_path)\":\"");
	put_place_paths(&pattern, permission, &given, &whole_path);
	buf_str(&pattern, "\"\\x00");
	add_with_pattern(permission, rule, NARROW_ARGUMENTS, &pattern);
	if (words)
		add_command_words(permission, &given, writes ? WRITERS : READERS,
		                  writes ? ">" : "<>");
	place_pattern_release(&given);
}

/* ---- hosts, skills, agents, servers ---------------------------------------------------------- */

static void take_domain(const struct permission *permission, const struct tool_info *info,
                        struct span text)
{
	struct policy_rule *rule;
	char *host;

	if (!span_starts(text, SPAN("domain:")) || text.len <= strlen("domain:")) {
		not_used(permission, "hasp knows WebFetch(domain:HOST) alone");
		return;
	}
	text = span_trim(span_skip(text, strlen("domain:")));
	while (span_ends(text, SPAN(".")))
		text.len--;
	host = mem_dup(text.data, text.len);
	for (char *c = host; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	rule = permission_rule(permission);
	rule_selector_add_name(&rule->selector, info->name);
	rule->selector.hosts = json_pack("[o]", json_text(span_str(host)));
	rule->selector.any_host = permission->decision != POLICY_ALLOW;
	policy_add_rule(permission->policy, rule);
	free(host);
}

/* Skill(NAME), Skill(NAME *): the arguments of a skill are no part of the call here.  What
 * restricts is also about OWNER:NAME. */
static void take_one(const struct permission *permission, const struct tool_info *info,
                     struct span text)
{
	struct policy_rule *rule = permission_rule(permission);
	_cleanup_buf_ struct buf pattern = BUF_INIT(JS_REGEX_BYTES_MAX);

	if (span_ends(text, SPAN(" *")) || span_ends(text, SPAN(":*")))
		text.len -= 2;
	rule_selector_add_name(&rule->selector, info->name);
	buf_printf(&pattern, "\\x00\"%s\":\"", info->one);
	if (permission->decision != POLICY_ALLOW)
		buf_str(&pattern, "(?:[^\\x00]*[:.])?");
	put_stars(&pattern, text);
	buf_str(&pattern, "\"\\x00");
	add_with_pattern(permission, rule, NARROW_ARGUMENTS, &pattern);
}

static void take_agent(const struct permission *permission, const struct tool_info *info,
                       struct span text)
{
	_cleanup_free_ char *name = mem_dup(text.data, text.len);

	/* Agent(model:opus) is about an argument, which hasp's agents do not have. */
	if (span_starts(text, SPAN("model:")) || span_starts(text, SPAN("isolation:")))
		not_used(permission, "hasp has no rules on this argument");
	else
		take_one(permission, info, span_str(name));
}

static void add_named_tool(const struct permission *permission, const char *name)
{
	struct policy_rule *rule = permission_rule(permission);
	const struct tool_info *info = tool_info_find(name);

	if (info && info->files == TOOL_FILES_WRITE && strcmp(name, info->name) != 0)
		rule_selector_add_editors(&rule->selector);
	else
		rule_selector_add_name(&rule->selector, name);
	policy_add_rule(permission->policy, rule);
}

static void take_server_tool(const struct permission *permission, const char *name)
{
	const char *rest = name + strlen("mcp__");
	const bool all = strcmp(rest, "*") == 0;

	if (strpbrk(name, "()"))
		not_used(permission, "rules on servers' tools have no brackets");
	else if (permission->decision == POLICY_ALLOW && *rest == '*')
		not_used(permission, "what allows must name a server, such as mcp__SERVER__*");
	else
		add_named_tool(permission, all ? "mcp_*" : name);
}

/* ---- entries ------------------------------------------------------------------------------- */

static void report_unknown_tool(const struct permission *permission, const char *name)
{
	const struct tool_info *like = tool_info_find(tool_info_nearest(name) ?
	                                              tool_info_nearest(name) : "");
	const char *near = like && like->claude ? like->claude : like ? like->name : NULL;
	_cleanup_free_ char *why = mem_printf(
		"there is no tool \"%.100s\"%s%s%s", name, near ? "; did you mean \"" : "",
		near ? near : "", near ? "\"?" : "");

	/* Other agents' tools that hasp has no like of cannot be called here. */
	if (!tool_info_foreign(name) && strcmp(name, "Cd") != 0)
		not_used(permission, why);
}

static void take_specified(const struct permission *permission, const char *name,
                           struct span text)
{
	const struct tool_info *info = tool_info_find(name);
	const bool allows = permission->decision == POLICY_ALLOW;

	if (!info)
		report_unknown_tool(permission, name);
	else if (info->runs)
		take_command(permission, text);
	else if (info->files == TOOL_FILES_WRITE && allows && strcmp(name, "Edit") != 0)
		not_used(permission, "as in Claude Code, write Edit(PATH)");
	else if (info->files == TOOL_FILES_WRITE)
		take_file_paths(permission, /* writes= */ true, text);
	else if (info->files != TOOL_FILES_NONE && allows && strcmp(name, "Read") != 0)
		not_used(permission, "as in Claude Code, write Read(PATH)");
	else if (info->files != TOOL_FILES_NONE)
		take_file_paths(permission, /* writes= */ false, text);
	else if (info->kind == TOOL_KIND_FETCH)
		take_domain(permission, info, text);
	else if (info->kind == TOOL_KIND_AGENT)
		take_agent(permission, info, text);
	else if (info->one)
		take_one(permission, info, text);
	else
		not_used(permission, "hasp has no rules on arguments of this tool");
}

static void take_bare(const struct permission *permission, const char *name)
{
	const bool star = strchr(name, '*') != NULL;

	if (star && permission->decision == POLICY_ALLOW)
		not_used(permission, "what allows must name one tool");
	else if (!star && !tool_info_find(name))
		report_unknown_tool(permission, name);
	else
		add_named_tool(permission, name);
}

static void permission_begin(struct permission *permission, const char *entry)
{
	const struct permission_place *place = permission->place;

	permission->shown = shown_entry(entry);
	permission->origin = permission->line ?
		mem_printf("%s:%u: %s", place->file, permission->line, permission->shown) :
		mem_printf("%s: %s", place->file, permission->shown);
}

static void permission_end(struct permission *permission)
{
	free(permission->shown);
	free(permission->origin);
}

void policy_add_permission(struct policy *policy, const struct permission_place *place,
                           enum policy_decision decision, const char *entry,
                           const char *written, unsigned line)
{
	struct permission permission = { policy, place, decision, line, NULL, NULL };
	const struct span text = span_trim(span_str(entry));
	_cleanup_free_ char *whole = mem_dup(text.data, text.len);
	const size_t head = strcspn(whole, "(");
	const bool specified = whole[head] && span_ends(text, SPAN(")"));
	_cleanup_free_ char *name = mem_dup(whole, head);

	permission_begin(&permission, written ? written : whole);
	if (strncmp(whole, "mcp__", 5) == 0)
		take_server_tool(&permission, whole);
	else if (!head || (whole[head] && !specified))
		not_used(&permission, "it must be TOOL or TOOL(WHAT)");
	else if (specified && !span_eq(span_skip(text, head), SPAN("(*)")) &&
	         !span_eq(span_skip(text, head), SPAN("()")))
		take_specified(&permission, name,
		               span_of(whole + head + 1, text.len - head - 2));
	else
		take_bare(&permission, name);
	permission_end(&permission);
}

void policy_add_command(struct policy *policy, const struct permission_place *place,
                        enum policy_decision decision, const char *words, const char *entry,
                        unsigned line)
{
	struct permission permission = { policy, place, decision, line, NULL, NULL };
	struct policy_rule *rule;

	permission_begin(&permission, entry);
	rule = permission_rule(&permission);
	rule_selector_add_name(&rule->selector, tool_name(TOOL_RUN_SHELL_COMMAND));
	rule_selector_add_prefix(&rule->selector, words);
	policy_add_rule(policy, rule);
	permission_end(&permission);
}

void policy_add_read_only(struct policy *policy, const struct permission_place *place,
                          enum policy_decision decision, const char *entry, unsigned line)
{
	struct permission permission = { policy, place, decision, line, NULL, NULL };
	struct policy_rule *rule;

	permission_begin(&permission, entry);
	rule = permission_rule(&permission);
	rule_selector_add_editors(&rule->selector);
	policy->read_only |= decision == POLICY_DENY;
	policy_add_rule(policy, rule);
	permission_end(&permission);
}

bool policy_is_read_only(const struct policy *policy)
{
	return policy->read_only;
}
