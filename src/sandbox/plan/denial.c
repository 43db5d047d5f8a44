/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says about a place, and denials in words. */
#include "sandbox/plan/denial.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "sandbox/plan/location.h"
#include "sandbox/plan/names.h"
#include "sandbox/plan/plan.h"

/* ---- judging ---- */

/* The rule that decides is the longest of the path's own prefixes that has one, so each prefix that
 * ends at a slash is looked up: a path has few, and "/t/proj" is no prefix of "/t/proj-evil". */

/* As location_row requires. */
_Static_assert(offsetof(struct sandbox_rule, path) == 0, "a row begins with its path");
_Static_assert(offsetof(struct sandbox_absent, path) == 0, "a row begins with its path");

static const struct sandbox_rule *deciding(const struct sandbox_plan *plan, const char *path)
{
	for (size_t len = strlen(path); len; len = location_above(path, len)) {
		const struct sandbox_rule *rule = location_row(
			plan->rules, plan->rule_count, sizeof(*plan->rules), path, len);

		/* A rule for a file says nothing about what is beneath that name. */
		if (rule && (rule->folder || path[len] == '\0'))
			return rule;
	}
	return NULL;
}

static const struct sandbox_absent *absent_above(const struct sandbox_plan *plan, const char *path)
{
	for (size_t len = strlen(path); plan->absent_count && len;
	     len = location_above(path, len)) {
		const struct sandbox_absent *absent = location_row(
			plan->absent, plan->absent_count, sizeof(*plan->absent), path, len);

		if (absent)
			return absent;
	}
	return NULL;
}

static bool is_strictly_beneath(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	if (len == 1)
		return true;
	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

/* What a folder's removal would take along: something protected, or the place of a name that must
 * not come into being.  Only renames ask, so a walk over all rules will do. */
static const char *protected_beneath(const struct sandbox_plan *plan, const char *folder,
                                     enum sandbox_reason *ret_reason)
{
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct sandbox_rule *rule = &plan->rules[i];

		if (rule->access != SANDBOX_WRITE && is_strictly_beneath(rule->path, folder)) {
			*ret_reason = rule->reason;
			return rule->path;
		}
	}
	for (size_t i = 0; i < plan->absent_count; i++) {
		if (is_strictly_beneath(plan->absent[i].path, folder)) {
			*ret_reason = plan->absent[i].reason;
			return plan->absent[i].path;
		}
	}
	return NULL;
}

static bool fill_denial(const struct sandbox_plan *plan, const char *path,
                        enum sandbox_access wanted,
                        enum sandbox_reason reason, const char *rule, struct denial *ret)
{
	if (!ret)
		return false;
	ret->kind = wanted == SANDBOX_WRITE ? DENIAL_WRITE : DENIAL_READ;
	ret->reason = reason;
	ret->level = plan->level;
	snprintf(ret->what, sizeof(ret->what), "%s", path);
	snprintf(ret->rule, sizeof(ret->rule), "%s", rule);
	return false;
}

/* At full the session's temporary folder is mounted over /tmp, and rules of the plan that lie
 * there (workspaces, bound into it) are longer than "/tmp". */
static bool in_temp(const struct sandbox_plan *plan, const struct sandbox_rule *rule,
                    const char *path)
{
	return plan->level == SANDBOX_FULL && plan->temp &&
	       (strcmp(path, "/tmp") == 0 || is_strictly_beneath(path, "/tmp")) &&
	       (!rule || strcmp(rule->path, "/") == 0);
}

/* The longest path that is a root, or was named by --write, and is `path` or above it; 0: none. */
static size_t named_above(const struct sandbox_plan *plan, const char *path)
{
	size_t longest = 0;

	for (size_t i = 0; i < plan->root_count + plan->given_count; i++) {
		const char *named = i < plan->root_count ? plan->roots[i] :
		                                           plan->given[i - plan->root_count];
		size_t len = strlen(named);

		if (len > longest && (strcmp(path, named) == 0 || is_strictly_beneath(path, named)))
			longest = len;
	}
	return longest;
}

/* Whether `path` is a hidden entry of a home folder, or beneath one: the plan has "HOME/.*" among
 * its absent names (homes.c).  Not where a longer path was named than that of the home folder. */
static bool in_hidden_entry(const struct sandbox_plan *plan, const char *path, size_t named,
                            size_t *ret_at, size_t *ret_end)
{
	for (size_t len = strlen(path); plan->absent_count;) {
		char name[LIMIT_PATH_BYTES];

		len = location_above(path, len);
		if (len < named || len < 2)
			return false;
		if (path[len + 1] != '.' || len + 4 > sizeof(name))
			continue;
		memcpy(name, path, len);
		memcpy(name + len, "/.*", 4);
		if (!location_row(plan->absent, plan->absent_count, sizeof(*plan->absent), name,
		                  len + 3))
			continue;
		*ret_at = len + 1;
		*ret_end = len + 1 + strcspn(path + len + 1, "/");
		return names_is_hidden_entry(path + len + 1);
	}
	return false;
}

const struct sandbox_name *plan_obeyed(const struct sandbox_plan *plan, const char *path,
                                       size_t *ret_at, size_t *ret_end)
{
	size_t skip = named_above(plan, path);
	const struct sandbox_name *row;

	if (!skip || path[skip] != '/')
		return NULL;
	if (in_hidden_entry(plan, path, skip, ret_at, ret_end))
		return &names_hidden_entry;
	row = names_obeyed_beneath(path + skip + 1, ret_at, ret_end);
	*ret_at += skip + 1;
	*ret_end += skip + 1;
	return row;
}

bool plan_judge_obeyed(const struct sandbox_plan *plan, const char *path, struct denial *ret_denial)
{
	size_t at = 0, end = 0;
	const struct sandbox_name *row = plan_obeyed(plan, path, &at, &end);
	_cleanup_free_ char *name = row ? mem_dup(path, end) : NULL;

	return !row || fill_denial(plan, path, SANDBOX_WRITE, row->reason, name, ret_denial);
}

bool plan_judge_rules(const struct sandbox_plan *plan, const char *path,
                      enum sandbox_access wanted, bool removes, struct denial *ret_denial)
{
	const struct sandbox_rule *rule = deciding(plan, path);
	const struct sandbox_absent *absent;
	enum sandbox_access access = rule ? rule->access : SANDBOX_READ;
	enum sandbox_reason reason = rule ? rule->reason : SANDBOX_REASON_DEFAULT;
	const char *beneath;

	if (in_temp(plan, rule, path))
		access = SANDBOX_WRITE;
	if (access < wanted)
		return fill_denial(plan, path, wanted, reason, rule ? rule->path : "", ret_denial);
	if (wanted != SANDBOX_WRITE)
		return true;
	absent = absent_above(plan, path);
	if (absent)
		return fill_denial(plan, path, wanted, absent->reason, absent->path, ret_denial);
	beneath = removes ? protected_beneath(plan, path, &reason) : NULL;
	if (beneath)
		return fill_denial(plan, path, wanted, reason, beneath, ret_denial);
	return true;
}

const char *plan_hidden_next_to(const struct sandbox_plan *plan, const char *path)
{
	_cleanup_free_ char *folder = mem_strdup(path);

	for (size_t i = 0; plan->level == SANDBOX_LANDLOCK && i < plan->rule_count; i++) {
		const struct sandbox_rule *rule = &plan->rules[i], *above;
		size_t len = 0;

		if (rule->access != SANDBOX_HIDDEN || rule->reason == SANDBOX_REASON_SOCKETS)
			continue;
		for (size_t at = 0; path[at] && path[at] == rule->path[at]; at++)
			if (path[at] == '/')
				len = at;
		snprintf(folder, strlen(path) + 1, "%.*s", (int)len, path);
		above = len ? deciding(plan, folder) : NULL;
		if (above && above->access == SANDBOX_WRITE &&
		    !location_within(path, rule->path))
			return rule->path;
	}
	return NULL;
}

bool plan_may_go(const struct sandbox_plan *plan, const char *path)
{
	const struct sandbox_absent *row = location_row(plan->absent, plan->absent_count,
	                                                sizeof(*plan->absent), path, strlen(path));

	return row && row->reason == SANDBOX_REASON_GIT &&
	       span_ends(span_str(path), SPAN("/.git"));
}

bool plan_judge(const struct sandbox_plan *plan, const char *path, enum sandbox_access wanted,
                bool removes, struct denial *ret_denial)
{
	return plan_judge_rules(plan, path, wanted, removes, ret_denial) &&
	       (wanted != SANDBOX_WRITE || plan_judge_obeyed(plan, path, ret_denial));
}

/* ---- what a command names ---- */

static bool is_path_char(char c)
{
	return ascii_is_alnum(c) || (c && strchr("._-/~", c));
}

/* Whether a path may begin at `at` in a text; "./" may stand before it. */
static bool is_path_start(const char *text, const char *at)
{
	if (at >= text + 2 && at[-1] == '/' && at[-2] == '.')
		at -= 2;
	return at == text || !is_path_char(at[-1]);
}

/* Whether `path` stands in a text, by itself or with more of a path behind it. */
static bool text_names(const char *text, const char *path)
{
	size_t len = strlen(path);

	for (const char *at = text; len && (at = strstr(at, path)) != NULL; at++)
		if (is_path_start(text, at) && (at[len] == '/' || !is_path_char(at[len])))
			return true;
	return false;
}

static bool text_names_rule(const struct sandbox_plan *plan, const char *text, const char *home,
                            const char *path)
{
	static const char *const before[] = { "~", "$HOME", "${HOME}" };
	const char *root = plan->root_count ? plan->roots[0] : NULL;

	for (size_t i = 0; home && is_strictly_beneath(path, home) && i < ARRAY_LEN(before); i++) {
		_cleanup_free_ char *word = mem_printf("%s%s", before[i], path + strlen(home));

		if (text_names(text, word))
			return true;
	}
	return text_names(text, path) || (root && is_strictly_beneath(path, root) &&
	                                  text_names(text, path + strlen(root) + 1));
}

bool plan_names_hidden(const struct sandbox_plan *plan, const char *text, const char *home,
                       struct denial *ret)
{
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct sandbox_rule *rule = &plan->rules[i];

		if (rule->access == SANDBOX_HIDDEN && rule->reason != SANDBOX_REASON_DEVICE &&
		    text_names_rule(plan, text, home, rule->path))
			return !plan_judge_rules(plan, rule->path, SANDBOX_READ, false, ret);
	}
	return false;
}

/* ---- one file ---- */

/* Folders above a file that is offered. */
enum { EXACT_DEPTH_MAX = 32 };

/* Whether a plan with the folder as its workspace lets the file be accessed so; `home`: the folder
 * is taken for a home folder, too. */
static bool is_open_in(const char *folder, const char *path, enum sandbox_access wanted, bool home)
{
	static const struct sandbox_probe nothing = { .best = SANDBOX_PATHS };
	const char *const roots[] = { folder };
	const struct sandbox_options options = {
		.roots = roots, .root_count = 1, .use = SANDBOX_USE_COMMAND,
		/* What git's files say hides nothing. */
		.home = home ? folder : NULL, .assume = home || wanted == SANDBOX_READ,
		.level_given = true, .level = SANDBOX_PATHS,
	};
	struct err err = ERR_INIT;
	struct sandbox_plan *plan;
	bool open;

	if (!sandbox_plan_make(&options, &nothing, &plan, &err))
		return false;
	open = plan_judge(plan, path, wanted, false, NULL);
	sandbox_plan_free(plan);
	return open;
}

static bool is_open_in_all(const char *path, enum sandbox_access wanted)
{
	size_t len = strlen(path), depth = 0;

	while ((len = location_above(path, len)) > 1) {
		_cleanup_free_ char *folder = mem_dup(path, len);

		if (++depth > EXACT_DEPTH_MAX || !is_open_in(folder, path, wanted, true) ||
		    !is_open_in(folder, path, wanted, false))
			return false;
	}
	return true;
}

static const char obeyed[] = "programs obey it, or it holds secrets";

/* Kernel interfaces, and files that programs run or obey for all users: the answer to a question
 * cannot open these. */
static bool belongs_to_system(const char *path)
{
	static const char *const folders[] = { "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64",
		"/proc", "/sbin", "/sys", "/usr" };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (location_within(path, folders[i]))
			return true;
	return false;
}

bool sandbox_exact_offered(const char *path, const char **ret_why)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		*ret_why = "a new name needs the whole folder that it would be in";
	else if (S_ISDIR(st.st_mode))
		*ret_why = "it is a folder, and all in it would be writable";
	else if (!location_is_lone_file(path))
		*ret_why = "it is no regular file, or has other names";
	else if (belongs_to_system(path))
		*ret_why = "it belongs to the system";
	else if (st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH))
		*ret_why = "it is a program";
	else if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
		*ret_why = "you may not write to it yourself";
	else if (!is_open_in_all(path, SANDBOX_WRITE))
		*ret_why = obeyed;
	else
		return true;
	return false;
}

/* ---- what a file tool is offered ---- */

/* File systems whose files are interfaces of the kernel, wherever they are mounted. */
static bool is_kernel_interface(const char *path)
{
	static const unsigned long types[] = { PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC,
		TRACEFS_MAGIC, SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
		BPF_FS_MAGIC, EFIVARFS_MAGIC, DEVPTS_SUPER_MAGIC };
	struct statfs fs;

	if (location_within(path, "/proc") || location_within(path, "/sys") ||
	    location_within(path, "/dev") || statfs(path, &fs) != 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if ((unsigned long)fs.f_type == types[i])
			return true;
	return false;
}

bool sandbox_read_offered(const char *path, bool folder, const char **ret_why)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		*ret_why = "it is not there";
	else if (folder ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode))
		*ret_why = folder ? "it is no folder" : "it is no regular file";
	else if (is_kernel_interface(path))
		*ret_why = "it belongs to the kernel";
	else if (faccessat(AT_FDCWD, path, folder ? R_OK | X_OK : R_OK, AT_EACCESS) != 0)
		*ret_why = "you may not read it yourself";
	else if (!is_open_in_all(path, SANDBOX_READ))
		*ret_why = "it holds secrets";
	else
		return true;
	return false;
}

bool sandbox_new_offered(const char *path, const char **ret_why)
{
	const size_t above = location_above(path, strlen(path));
	_cleanup_free_ char *folder = mem_dup(path, above ? above : 1);
	_cleanup_location_ struct location place = { 0 };

	if (location_kind_of(path) != LOCATION_MISSING)
		*ret_why = "it is there";
	else if (above < 2)
		*ret_why = "it would be in /";
	else if (!location_canonical(folder, &place) || place.kind != LOCATION_FOLDER ||
	         strcmp(place.path, folder) != 0)
		*ret_why = "its folder is not there";
	else if (belongs_to_system(path) || is_kernel_interface(folder))
		*ret_why = "it belongs to the system";
	else if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0)
		*ret_why = "you may not write to its folder yourself";
	else if (!is_open_in_all(path, SANDBOX_WRITE))
		*ret_why = obeyed;
	else
		return true;
	return false;
}

/* ---- denials ---- */

static const struct {
	const char *name;
	const char *verb; /* in front of what it was about */
	const char *text; /* behind it; NULL: the reason's */
} kinds[DENIAL_KIND_COUNT] = {
	[DENIAL_READ] = { "read", "read", NULL },
	[DENIAL_WRITE] = { "write", "write", NULL },
	[DENIAL_METADATA] = { "metadata", "change the mode, owner, times or attributes of", NULL },
	[DENIAL_CONNECT] = { "connect", "connect to", NULL },
	[DENIAL_LISTEN] = { "listen", "listen on", NULL },
	[DENIAL_CALL] = { "call", "call", NULL },
	[DENIAL_REMOVED] = { "removed", "make or change", NULL },
	[DENIAL_LIMIT] = { "limit", "exceed", NULL },
	[DENIAL_CHANGED] = { "changed", "changed:", "other programs obey it, so review it" },
	[DENIAL_UNCHECKED] = { "unchecked", "not checked:",
		                "hasp looks at it again before the next command" },
	[DENIAL_UNSUPERVISED] = { "unsupervised", "not supervised:", "hasp ended the command" },
};

const char *denial_kind_name(enum denial_kind kind)
{
	return (unsigned)kind < DENIAL_KIND_COUNT ? kinds[kind].name : "unknown";
}

/* To add one: a row, and a job of test/honest/jobs.py that meets it and succeeds. */
static const struct {
	enum denial_kind kind;
	enum sandbox_reason reason;
	const char *begin, *end; /* of `what` */
	const char *why;
} routines[] = {
	{ DENIAL_CONNECT, SANDBOX_REASON_NETWORK, "", ":53/udp", "names are looked up" },
	{ DENIAL_CONNECT, SANDBOX_REASON_NETWORK, "", ":53/tcp", "names are looked up" },
	{ DENIAL_CALL, SANDBOX_REASON_NETWORK, "socket(AF_INET, SOCK_DGRAM, ", "",
	  "names are looked up, at level landlock" },
	{ DENIAL_CALL, SANDBOX_REASON_NETWORK, "socket(AF_INET6, SOCK_DGRAM, ", "",
	  "names are looked up, at level landlock" },
	{ DENIAL_CALL, SANDBOX_REASON_KERNEL, "socket(AF_UNIX, SOCK_DGRAM, ", "",
	  "syslog, utempter and sd_notify write to a listening process" },
	{ DENIAL_CONNECT, SANDBOX_REASON_SOCKETS, "unix:/run/systemd/resolve/", "",
	  "names are looked up by systemd-resolved" },
	{ DENIAL_WRITE, SANDBOX_REASON_SOCKETS, "/run/user/", "",
	  "gpg and others use a folder elsewhere if there is none for them" },
};

/* Folders whose contents programs recreate when needed; so are the folders below them. */
static const char *const caches[] = { ".cache", ".npm", "__pycache__" };

static bool has_component(const char *path, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
		if (strncmp(at + 1, name, len) == 0 && (at[1 + len] == '/' || !at[1 + len]))
			return true;
	return false;
}

static bool is_cache(const struct denial *denial)
{
	if (denial->kind != DENIAL_WRITE || denial->reason != SANDBOX_REASON_DEFAULT)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(caches); i++)
		if (has_component(denial->what, caches[i]))
			return true;
	return false;
}

static bool has_ends(const char *text, const char *begin, const char *end)
{
	size_t len = strlen(text), first = strlen(begin), last = strlen(end);

	return len >= first + last && strncmp(text, begin, first) == 0 &&
	       strcmp(text + len - last, end) == 0;
}

bool denial_is_routine(const struct denial *denial)
{
	for (size_t i = 0; i < ARRAY_LEN(routines); i++) {
		if (denial->kind == routines[i].kind && denial->reason == routines[i].reason &&
		    has_ends(denial->what, routines[i].begin, routines[i].end))
			return true;
	}
	return is_cache(denial);
}

bool denial_is_none(const struct denial *denial)
{
	return denial->kind == DENIAL_CHANGED || denial->kind == DENIAL_UNCHECKED ||
	       denial->kind == DENIAL_UNSUPERVISED;
}

/* Characters that change how text around them is shown (UAX 9, and those without a width). */
static bool code_point_misleads(uint32_t c)
{
	static const uint32_t ranges[][2] = {
		{ 0x7f, 0x9f }, { 0xad, 0xad }, { 0x61c, 0x61c }, { 0x200b, 0x200f },
		{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb },
		{ 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	}
	return c < 0x20 || c == '\\';
}

/* Text that a stranger chose, on one line. */
static void denial_put_escaped(struct buf *out, const char *text)
{
	struct span rest = span_str(text);
	struct utf8_char c;

	while (utf8_next(&rest, &c)) {
		if (c.bad)
			buf_printf(out, "\\x%02x", (unsigned char)c.bytes.data[0]);
		else if (c.code == '\\')
			buf_str(out, "\\\\");
		else if (!code_point_misleads(c.code))
			buf_span(out, c.bytes);
		else if (c.code < 0x80)
			buf_printf(out, "\\x%02x", (unsigned)c.code);
		else
			buf_printf(out, "\\u{%x}", (unsigned)c.code);
	}
}

/* A path as one word of a command line. */
static void put_reason_word(struct buf *out, const char *path)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);

	denial_put_escaped(&text, path);
	buf_shell_word(out, buf_view(&text));
}

static void put_flag(struct buf *out, const char *flag, const char *path)
{
	buf_printf(out, "%s ", flag);
	put_reason_word(out, path);
}

static bool is_path_within(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && (path[len] == '/' || !path[len]);
}

/* What no --write can name (plan.c). */
static bool is_never_writable(const char *path)
{
	return strcmp(path, "/") == 0 || strcmp(path, "/dev") == 0 ||
	       is_path_within(path, "/proc") ||
	       is_path_within(path, "/sys");
}

static void put_write(struct buf *out, const char *path)
{
	if (path[0] == '/' && !is_never_writable(path))
		put_flag(out, "--write", path);
}

/* A home folder itself: too much to propose for the sake of one name in it. */
static bool is_home_itself(const char *folder)
{
	const char *home = getenv("HOME"), *name = folder + strlen("/home/");

	return (home && strcmp(folder, home) == 0) || strcmp(folder, "/root") == 0 ||
	       (strncmp(folder, "/home/", strlen("/home/")) == 0 && *name && !strchr(name, '/'));
}

/* The folder to write to: that of the path, because the path itself need not exist. */
static void put_folder(struct buf *out, const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *folder =
		mem_dup(path, slash && slash > path ? (size_t)(slash - path) : 1);

	if (!is_home_itself(folder))
		put_write(out, folder);
}

/* A rule above the path, or at it, is lifted by its own path; if what the path has beneath it is
 * protected, there may be more of that. */
static void put_lifting_rule(struct buf *out, const struct denial *denial, const char *rule)
{
	if (is_path_within(denial->what, rule))
		put_write(out, rule);
}

/* What no flag lifts. */
static void put_no_rule(const struct denial *denial, struct buf *out)
{
	const bool denied = denial->reason == SANDBOX_REASON_DENY;
	const bool voted = denial->reason == SANDBOX_REASON_VOTED;

	put_flag(out,
	         denied ? "no --deny of" : voted ? "approval by the reviewers for" : "no rule for",
	         denial->rule[0] ? denial->rule : denial->what);
	if (!denied)
		buf_str(out, " (\"hasp policy list\" shows where it is)");
}

static void put_place(const struct denial *denial, struct buf *out)
{
	const char *path = denial->rule[0] ? denial->rule : denial->what;

	if (strlen(denial->what) + 1 == sizeof(denial->what) ||
	    strlen(denial->rule) + 1 == sizeof(denial->rule))
		return; /* they may have been cut */
	switch (denial->reason) {
	case SANDBOX_REASON_DEFAULT:
		if (denial->kind == DENIAL_METADATA) /* it is there */
			put_write(out, denial->what);
		else if (denial->kind == DENIAL_WRITE)
			put_folder(out, denial->what);
		break;
	case SANDBOX_REASON_CREDENTIALS:
		if (denial->kind == DENIAL_READ)
			put_flag(out, "--read", path);
		break;
	case SANDBOX_REASON_OPTION:
	case SANDBOX_REASON_GIT:
	case SANDBOX_REASON_POLICY:
	case SANDBOX_REASON_SETTINGS:
		if (denial->kind != DENIAL_READ)
			put_lifting_rule(out, denial, path);
		break;
	case SANDBOX_REASON_DENY:
	case SANDBOX_REASON_KEPT:
	case SANDBOX_REASON_VOTED:
		put_no_rule(denial, out);
		break;
	default: /* nothing does */
		break;
	}
}

/* A socket that was connected to is there; one that is bound is made in its folder. */
static void put_socket(const struct denial *denial, struct buf *out)
{
	const char *path = denial->what + strlen("unix:");

	if (denial->reason == SANDBOX_REASON_DENY || denial->reason == SANDBOX_REASON_KEPT)
		put_no_rule(denial, out);
	else if (denial->kind == DENIAL_CONNECT)
		put_write(out, path);
	else
		put_folder(out, path);
}

static bool is_unix(const char *what)
{
	return strncmp(what, "unix:/", 6) == 0;
}

void denial_remedy(const struct denial *denial, struct buf *out)
{
	switch (denial->kind) {
	case DENIAL_CONNECT:
	case DENIAL_LISTEN:
		if (is_unix(denial->what))
			put_socket(denial, out);
		else if (denial->reason == SANDBOX_REASON_NETWORK)
			buf_str(out, "--net");
		break;
	case DENIAL_CALL:
		if (denial->reason == SANDBOX_REASON_NETWORK)
			buf_str(out, "--net");
		break;
	case DENIAL_LIMIT:
	case DENIAL_REMOVED:
	case DENIAL_CHANGED:
	case DENIAL_UNCHECKED:
	case DENIAL_UNSUPERVISED:
		break;
	default:
		put_place(denial, out);
		break;
	}
}

void denial_sentence(const struct denial *denial, struct buf *out)
{
	_cleanup_buf_ struct buf remedy = BUF_INIT(out->max);
	unsigned kind = (unsigned)denial->kind < DENIAL_KIND_COUNT ? denial->kind : DENIAL_CALL;

	buf_printf(out, "%s ", kinds[kind].verb);
	denial_put_escaped(out, denial->what);
	buf_printf(out, ": %s", kinds[kind].text ? kinds[kind].text :
	                                           sandbox_reason_text(denial->reason));
	if (denial->rule[0] && strcmp(denial->rule, denial->what) != 0) {
		buf_str(out, ", ");
		denial_put_escaped(out, denial->rule);
	}
	buf_printf(out, " (rule: %s, level %s)", sandbox_reason_name(denial->reason),
	           sandbox_level_name(denial->level));
	if (denial->count > 1)
		buf_printf(out, ", %u times", denial->count);
	buf_char(out, '.');
	if (denial->keys[0]) {
		buf_str(out, " It would change ");
		denial_put_escaped(out, denial->keys);
		buf_char(out, '.');
	}
	denial_remedy(denial, &remedy);
	if (remedy.len) {
		buf_str(out, " To allow: ");
		buf_span(out, buf_view(&remedy));
	}
}

bool denial_refuse(const struct denial *denial, struct err *err)
{
	_cleanup_buf_ struct buf sentence = BUF_INIT((size_t)4 * ERR_MESSAGE_MAX);
	struct err_denial *record = &err->denial;

	denial_sentence(denial, &sentence);
	err_set(err, ERR_DENIED_BY_SANDBOX, "%s",
	        sentence.data ? sentence.data : "The sandbox forbids it.");
	record->there = true;
	record->kind = denial->kind;
	record->reason = denial->reason;
	record->level = denial->level;
	snprintf(record->what, sizeof(record->what), "%s", denial->what);
	snprintf(record->rule, sizeof(record->rule), "%s", denial->rule);
	return false;
}

bool denial_of(const struct err *err, struct denial *ret)
{
	const struct err_denial *record = &err->denial;

	if (err->code != ERR_DENIED_BY_SANDBOX || !record->there)
		return false;
	*ret = (struct denial){
		.kind = (enum denial_kind)record->kind,
		.reason = (enum sandbox_reason)record->reason,
		.level = (enum sandbox_level)record->level,
	};
	snprintf(ret->what, sizeof(ret->what), "%s", record->what);
	snprintf(ret->rule, sizeof(ret->rule), "%s", record->rule);
	return true;
}
