/* SPDX-License-Identifier: Apache-2.0 */
/* What a command did in a git folder, and what becomes of it: a function for each kind of part. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "sandbox/guard/private.h"
#include "sandbox/plan/denial.h"
#include "sandbox/plan/location.h"

/* A git folder that is looked at. */
struct git_look {
	struct guard *guard;
	struct guard_place *place;
	int folder;
};

static char *place_path(const struct guard_place *place, const char *name)
{
	return place->path[0] ? mem_printf("%s/%s", place->path, name) : mem_strdup(name);
}

static void take_part_away(const struct git_look *look, const char *name)
{
	_cleanup_free_ char *path = place_path(look->place, name);

	guard_take_away(look->guard, SANDBOX_REASON_GIT, look->place->root, path);
}

/* Puts other content in a part's place. */
static void replace_part(const struct git_look *look, const struct git_part *part,
                         struct span content, const char *how)
{
	const struct guard_root *root = look->place->root;
	_cleanup_free_ char *path = place_path(look->place, part->name);
	const char *name;
	_cleanup_fd_ int folder = guard_open_parent(root->fd, path, &name);
	char aside[256];

	if (folder < 0 ||
	    !guard_replace(look->guard, folder, name, content, part->st.st_mode, aside))
		guard_report_failed(look->guard, SANDBOX_REASON_GIT, root, path, "put right");
	else
		guard_report(look->guard, SANDBOX_REASON_GIT, root, path,
		             "%s; what it was is in %s", how, aside);
}

static struct span part_old_content(const struct git_part *old)
{
	return old && old->data ? span_of(old->data, old->len) : span_of("", 0);
}

/* What it was before, or nothing at all. */
static void restore_part(const struct git_look *look, const struct git_part *part,
                         const struct git_part *old)
{
	if (old && old->data)
		replace_part(look, part, part_old_content(old), "put back");
	else
		take_part_away(look, part->name);
}

/* ---- places that files point to -------------------------------------------------------- */

/* The text of a pointer file: one line; false if it is none. */
static bool pointer(int folder, const char *name, const char *prefix, char **ret)
{
	_cleanup_free_ char *data = NULL;
	size_t len;
	struct span text;

	if (!guard_read(folder, name, &data, &len))
		return false;
	text = span_of(data, len);
	while (span_ends(text, SPAN("\n")) || span_ends(text, SPAN("\r")))
		text.len--;
	if (!span_starts(text, span_str(prefix)) || memchr(text.data, '\0', text.len) ||
	    memchr(text.data, '\n', text.len))
		return false;
	text = span_skip(text, strlen(prefix));
	*ret = mem_dup(text.data, text.len);
	return text.len > 0;
}

/* `text`, which begins at the folder `base`, as an absolute path without "." and ".."; as text
 * alone, because what it leads to is opened without following links.  Owned. */
static char *make_absolute_text(const char *base, const char *text)
{
	_cleanup_free_ char *joined = mem_printf("%s/%s", text[0] == '/' ? "" : base, text);
	char *out = mem_alloc(strlen(joined) + 2, 1);
	size_t len = 0;

	for (const char *at = joined; *at;) {
		size_t n;

		at += strspn(at, "/");
		n = strcspn(at, "/");
		if (n == 2 && at[0] == '.' && at[1] == '.') {
			while (len && out[len - 1] != '/')
				len--;
			len -= len > 0;
		} else if (n && !(n == 1 && at[0] == '.')) {
			out[len++] = '/';
			memcpy(out + len, at, n);
			len += n;
		}
		at += n;
	}
	out[len] = '\0';
	if (len == 0)
		memcpy(out, "/", 2);
	return out;
}

/* Whether the file `.git` at the absolute path `tree`/.git leads to the git folder `target`. */
static bool leads_back(const char *git_file, const char *target)
{
	_cleanup_fd_ int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *folder = mem_strdup(git_file), *text = NULL, *reached = NULL;
	char *slash = strrchr(folder, '/');

	if (top < 0 || !slash || !pointer(top, git_file + 1, "gitdir: ", &text))
		return false;
	*slash = '\0';
	reached = make_absolute_text(folder, text);
	return strcmp(reached, target) == 0;
}

/* ---- kinds of parts -------------------------------------------------------------------- */

/* core.worktree: git writes the place of a submodule's files, which lead back by their `.git`. */
static bool worktree_is_ours(void *data, struct span value)
{
	const struct git_look *look = data;
	_cleanup_free_ char *text = mem_dup(value.data ? value.data : "", value.len);
	_cleanup_free_ char *folder = guard_full_path(look->place->root, look->place->path);
	_cleanup_free_ char *tree = make_absolute_text(folder, text);
	_cleanup_free_ char *git_file = mem_printf("%s/.git", strcmp(tree, "/") == 0 ? "" : tree);
	const char *rest;

	return guard_find_root(look->guard, tree, &rest) && leads_back(git_file, folder);
}

static void check_config(const struct git_look *look, const struct git_part *part,
                         const struct git_part *old)
{
	const struct config_reader reader = { worktree_is_ours, (void *)(uintptr_t)look };
	_cleanup_buf_ struct buf clean = BUF_INIT(LIMIT_GUARD_FILE_BYTES);
	_cleanup_buf_ struct buf keys = BUF_INIT(4096);
	_cleanup_free_ char *data = NULL, *how = NULL;
	size_t len;

	if (!guard_read(look->folder, part->name, &data, &len) ||
	    !guard_config_clean(&reader, span_of(data, len), part_old_content(old), &clean,
	                        &keys)) {
		restore_part(look, part, old);
		return;
	}
	/* A second name for the same file would let it be changed later without being seen. */
	if (!keys.len && part->st.st_nlink == 1)
		return;
	how = keys.len ? mem_printf("now without %s", keys.data) :
	                 mem_strdup("now a separate file");
	replace_part(look, part, buf_view(&clean), how);
}

static void check_hook(const struct git_look *look, const struct git_part *part,
                       const struct git_part *old)
{
	(void)old;
	take_part_away(look, part->name);
}

/* Of a git folder itself: git never makes one. */
static void check_common(const struct git_look *look, const struct git_part *part,
                         const struct git_part *old)
{
	restore_part(look, part, old);
}

static void check_tree_common(const struct git_look *look, const struct git_part *part,
                              const struct git_part *old)
{
	_cleanup_free_ char *text = NULL;

	if (!pointer(look->folder, part->name, "", &text) || strcmp(text, "../..") != 0 ||
	    part->st.st_nlink != 1)
		restore_part(look, part, old);
}

/* A worktree that hasp has made for an agent while this command ran (agent/host/isolation.c): among
 * hasp's own files, which no command sees. */
static bool tree_is_an_agents(const struct git_look *look, const char *git_file)
{
	const char *place = strstr(git_file, "/.gemini/tmp/");
	struct denial denial;

	return place && strstr(place, "/worktrees/") &&
	       !plan_judge(look->guard->plan, git_file, SANDBOX_READ, false, &denial) &&
	       denial.reason == SANDBOX_REASON_OWN_SECRETS;
}

/* worktrees/N/gitdir: TREE/.git, in a writable place, whose content leads back here; or an agent's.
 * The tree may have been removed; git then forgets about it. */
static void check_tree_gitdir(const struct git_look *look, const struct git_part *part,
                              const struct git_part *old)
{
	const struct guard_place *place = look->place;
	_cleanup_free_ char *own = guard_full_path(place->root,
	                                           place->path), *text = NULL, *path = NULL;
	_cleanup_free_ char *folder = mem_printf("%s/%s", own, part->name);
	struct stat st;
	bool fine = false;

	*strrchr(folder, '/') = '\0'; /* .../worktrees/N */
	if (pointer(look->folder, part->name, "", &text) && part->st.st_nlink == 1) {
		path = make_absolute_text(folder, text);
		fine = span_ends(span_str(path), SPAN("/.git")) &&
		       (tree_is_an_agents(look, path) ||
		        (plan_judge(look->guard->plan, path, SANDBOX_WRITE, false, NULL) &&
		         (lstat(path, &st) != 0 || leads_back(path, folder))));
	}
	if (!fine)
		restore_part(look, part, old);
}

/* A step of a rebase that runs a command (git-rebase(1)). */
static bool runs_command(struct span line)
{
	line = span_trim(line);
	return span_starts(line, SPAN("exec ")) || span_starts(line, SPAN("exec\t")) ||
	       span_starts(line, SPAN("x ")) || span_starts(line, SPAN("x\t"));
}

static bool has_line(struct span text, struct span wanted)
{
	struct span line;

	while (line_next(&text, &line)) {
		if (span_eq(line_body(line), line_body(wanted)))
			return true;
	}
	return false;
}

static void check_todo(const struct git_look *look, const struct git_part *part,
                       const struct git_part *old)
{
	_cleanup_buf_ struct buf clean = BUF_INIT(LIMIT_GUARD_FILE_BYTES);
	_cleanup_free_ char *data = NULL;
	size_t len, taken = 0;
	struct span rest, line;

	if (!guard_read(look->folder, part->name, &data, &len)) {
		restore_part(look, part, old);
		return;
	}
	rest = span_of(data, len);
	while (line_next(&rest, &line)) {
		if (runs_command(line) && !has_line(part_old_content(old), line))
			taken++;
		else
			buf_span(&clean, line);
	}
	if (taken || part->st.st_nlink != 1)
		replace_part(look, part, buf_view(&clean),
		             "now without the lines that run a command");
}

static void (*const checks[])(const struct git_look *look, const struct git_part *part,
                              const struct git_part *old) = {
	[PART_CONFIG] = check_config,
	[PART_HOOK] = check_hook,
	[PART_COMMON] = check_common,
	[PART_TREE_COMMON] = check_tree_common,
	[PART_TREE_GITDIR] = check_tree_gitdir,
	[PART_TODO] = check_todo,
	[PART_LINK] = check_hook,
	[PART_CLOSED] = check_hook,
};

/* ---- git folders ----------------------------------------------------------------------- */

static const struct git_part *find_part(const struct git_parts *parts, const char *name)
{
	for (size_t i = 0; i < parts->count; i++) {
		if (strcmp(parts->list[i].name, name) == 0)
			return &parts->list[i];
	}
	return NULL;
}

static bool is_of_command(const struct git_look *look, const struct stat *st)
{
	const struct guard_place *place = look->place;

	return place->by_time ? guard_stat_since(st, &place->from) :
	                        guard_changed_since(look->guard, st);
}

/* Links that the user's tools made (git-new-workdir, repo) stay.  What was listed while the command
 * ran may be its own, and a folder that it moved brings links with an old time. */
static bool link_is_known(const struct git_look *look, const struct git_part *part,
                          const struct git_part *old)
{
	const struct guard_place *place = look->place;
	struct stat now;

	if (is_of_command(look, &part->st))
		return false;
	if (old && old->kind == part->kind && guard_same(&old->st, &part->st))
		return true;
	if (part->moved)
		return false;
	return place->by_time || (part->deep && place->was_git &&
	                          fstat(look->folder, &now) == 0 &&
	                          now.st_ino == place->st.st_ino && now.st_dev == place->st.st_dev);
}

static bool part_is_known(const struct git_look *look, const struct git_part *part,
                          const struct git_part *old)
{
	const struct guard_place *place = look->place;

	if (part->kind == PART_LINK)
		return link_is_known(look, part, old);
	if (place->by_time)
		return !is_of_command(look, &part->st);
	return old && old->kind == part->kind && guard_same(&old->st, &part->st);
}

/* Named by the user, or in a folder of the git folder that is.  Who names the git folder itself,
 * or one above it, has not named what is protected in it. */
static bool part_is_given(const struct git_look *look, const struct git_part *part)
{
	const struct sandbox_plan *plan = look->guard->plan;
	_cleanup_free_ char *own = guard_full_path(look->place->root, look->place->path);
	_cleanup_free_ char *path = mem_printf("%s/%s", strcmp(own, "/") == 0 ? "" : own,
	                                       part->name);

	for (size_t i = 0; i < plan->given_count; i++) {
		if (strcmp(plan->given[i], own) != 0 && location_within(plan->given[i], own) &&
		    location_within(path, plan->given[i]))
			return true;
	}
	return false;
}

/* Where git follows what is no folder. */
static bool is_git_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strcasecmp(slash ? slash + 1 : path, ".git") == 0;
}

static void check_git_folder(struct guard *guard, struct guard_place *place, int folder)
{
	const struct git_look look = { guard, place, folder };
	struct git_parts now = { 0 };

	/* A `.git` that a command made need not be complete: the next command could complete it,
	 * when its hooks no longer count as new. */
	if (!guard_is_git_folder(folder) && (place->existed || !is_git_name(place->path)))
		return;
	guard_list_parts(guard, place, folder, &now);
	for (size_t i = 0; i < now.count; i++) {
		const struct git_part *part = &now.list[i];
		/* none if !was_git */
		const struct git_part *old = find_part(&place->parts, part->name);

		if (!part_is_known(&look, part, old) && !part_is_given(&look, part))
			checks[part->kind](&look, part, old);
	}
	guard_release_parts(&now);
}

/* Not touched by the command. */
static bool place_is_known(const struct guard_place *place, const struct stat *now)
{
	if (place->by_time)
		return !guard_stat_since(now, &place->from);
	return place->existed && guard_same(&place->st, now);
}

/* A folder that was found by a file that leads there. */
static void check_target(struct guard *guard, const struct guard_root *root, const char *path,
                         const struct guard_place *by)
{
	_cleanup_free_ char *owner = guard_git_owner(root, path);
	bool fresh = false;
	struct guard_place *place = guard_add_place(guard, root, owner ? owner : path, &fresh);
	_cleanup_fd_ int fd = -1;

	if (!fresh)
		return;
	place->by_time = true;
	place->from = by->by_time ? by->from : guard->began;
	fd = guard_open(root->fd, place->path, O_PATH | O_DIRECTORY);
	if (fd >= 0)
		check_git_folder(guard, place, fd);
}

/* A file named `.git` must lead to a folder that commands can write, which is looked at as well.
 * One that leads elsewhere is taken away, unless it was there before. */
static void check_git_file(struct guard *guard, struct guard_place *place, const struct stat *now)
{
	_cleanup_free_ char *own = guard_full_path(place->root, place->path);
	_cleanup_free_ char *text = NULL, *target = NULL;
	const struct guard_root *root = NULL;
	const char *rest = "";
	_cleanup_fd_ int fd = -1;

	if (pointer(place->root->fd, place->path, "gitdir: ", &text)) {
		*strrchr(own, '/') = '\0';
		target = make_absolute_text(own, text);
		root = guard_find_root(guard, target, &rest);
	}
	fd = root ? guard_open(root->fd, rest, O_PATH | O_DIRECTORY) : -1;
	if (fd >= 0)
		check_target(guard, root, rest, place);
	else if (!place_is_known(place, now))
		guard_take_away(guard, SANDBOX_REASON_GIT, place->root, place->path);
}

void git_place_check(struct guard *guard, struct guard_place *place)
{
	_cleanup_fd_ int fd = -1;
	struct stat now;

	guard_open_up(guard, place->root->fd, place->path);
	fd = guard_open(place->root->fd, place->path, O_PATH);
	if (fd < 0 || fstat(fd, &now) != 0)
		return;
	if (S_ISDIR(now.st_mode))
		check_git_folder(guard, place, fd);
	else if (S_ISREG(now.st_mode) && is_git_name(place->path))
		check_git_file(guard, place, &now);
	else if ((is_git_name(place->path) || place->is_module) &&
	         !place_is_known(place, &now))
		guard_take_away(guard, SANDBOX_REASON_GIT, place->root, place->path);
}

void git_place_take(struct guard *guard, struct guard_place *place)
{
	_cleanup_fd_ int fd = guard_open(place->root->fd, place->path, O_PATH);

	place->existed = fd >= 0 && fstat(fd, &place->st) == 0;
	if (!place->existed || !S_ISDIR(place->st.st_mode) || !guard_is_git_folder(fd))
		return;
	place->was_git = true;
	guard_take_parts(guard, place, fd, &place->parts);
}
