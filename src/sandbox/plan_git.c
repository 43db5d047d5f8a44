/* SPDX-License-Identifier: Apache-2.0 */
/* What git would run or obey, in and around a writable folder.
 *
 * A git folder stays writable, so that add, commit, branch, checkout, gc and "worktree add" work;
 * what names programs in it (names_git) is read-only, and the folder is a mount, so that it keeps
 * its name.
 *
 *   .git is missing       it must not come into being; nor must the folder become a bare repository
 *   .git is a folder      that; its submodules (.git/modules) likewise
 *   .git is a file        it is read-only.  What it points to is protected where it can be written;
 *                         a worktree whose repository knows it may write there, as git does
 *   .git is a symlink     its target is protected, and the symlink listed
 *   no .git in a root     repositories one level down are looked into (a folder of projects)
 *
 * Linked worktrees (.git/worktrees/x) that are checked out where commands cannot write are
 * protected. Those inside the writable paths are not: a command can do with them what it likes
 * anyway, and "git worktree remove" has to work; the guard looks at them.
 *
 * Read are git's own one-line pointers (.git, commondir, gitdir) and two values of config
 * (core.hooksPath, a submodule's worktree); each must be a regular file.  Who opens them:
 * plan_read.c.
 */
#include <dirent.h>
#include <string.h>

#include "base/span.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/plan_private.h"

/* Submodules' names may have slashes: how deep a repository is looked for beneath .git/modules. */
enum { MODULE_DEPTH = 4 };

static const struct sandbox_name dot_git = {
	".git", SANDBOX_READ, SANDBOX_REASON_GIT, NAME_ABSENT, "whose repository the folder is in",
	"version control", "gitrepository-layout(5)",
};

static enum spot_kind look_at(const char *base, const char *rel)
{
	_cleanup_free_ char *path = spot_join(base, rel);

	return spot_kind_of(path);
}

/* Calls `visit` for the subfolders of `folder`/`rel`; false when there are too many. */
static bool each_folder(const char *folder, bool (*visit)(void *data, const char *path), void *data)
{
	DIR *dir = opendir(folder);
	size_t left = LIMIT_SANDBOX_SIBLINGS;
	struct dirent *entry;
	bool ok = true;

	while (ok && dir && (entry = readdir(dir)) != NULL) {
		_cleanup_free_ char *path = NULL;

		if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)
			continue;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		path = spot_join(folder, entry->d_name);
		ok = left-- > 0 && visit(data, path);
	}
	if (dir)
		closedir(dir);
	return ok;
}

struct git_walk {
	struct draft *draft;
	const char *worktree; /* where submodules are checked out; NULL not known */
	const char *modules;  /* the folder that submodules' names are relative to */
	unsigned depth;
};

static void protect_git_folder(struct draft *draft, const char *folder, const char *worktree);

/* One folder beneath .git/modules: a submodule's repository, or a part of its name. */
static bool protect_module(void *data, const char *path)
{
	struct git_walk *walk = data;
	bool ok = true;

	if (look_at(path, "HEAD") == SPOT_FILE) {
		_cleanup_free_ char *checkout = NULL;

		if (walk->draft->git_folders >= LIMIT_SANDBOX_GIT_FOLDERS)
			return false;
		protect_git_folder(walk->draft, path, NULL);
		if (!walk->worktree)
			return true;
		/* A submodule is usually checked out at the path that is its name. */
		checkout = spot_join(walk->worktree, path + strlen(walk->modules) + 1);
		if (look_at(checkout, ".git") == SPOT_FILE)
			plan_names(walk->draft, checkout, (struct sandbox_names){ &dot_git, 1 });
		return true;
	}
	if (walk->depth < MODULE_DEPTH) {
		walk->depth++;
		ok = each_folder(path, protect_module, data);
		walk->depth--;
	}
	return ok;
}

static void note_link(void *data, const char *path)
{
	struct draft *draft = data;

	if (draft_in_writable(draft, path))
		draft_absent(draft, mem_strdup(path), SANDBOX_REASON_GIT, dot_git.why);
}

/* Looks into each folder of `folder`/`name`; too many: they are read-only as a whole. */
static void protect_each(struct git_walk *walk, const char *folder, const char *name,
                         bool (*visit)(void *data, const char *path))
{
	_cleanup_spot_ struct spot place = { 0 };

	spot_resolve(folder, name, note_link, walk->draft, &place);
	walk->modules = place.path;
	if (place.kind == SPOT_FOLDER && !each_folder(place.path, visit, walk))
		draft_rule(walk->draft, mem_steal(&place.path), true, SANDBOX_READ,
		           SANDBOX_REASON_GIT, DRAFT_TABLE,
		           "more repositories than are looked into one by one");
}

static bool protect_worktree(void *data, const char *path)
{
	struct draft *draft = ((struct git_walk *)data)->draft;
	_cleanup_free_ char *pointer = spot_join(path, "gitdir");
	_cleanup_free_ char *checkout = plan_read(draft, SANDBOX_POINTER_LINE, pointer);
	_cleanup_spot_ struct spot place = { 0 };

	if (draft->git_folders++ >= LIMIT_SANDBOX_GIT_FOLDERS)
		return false;
	if (checkout)
		spot_resolve(path, checkout, NULL, NULL, &place);
	if (!place.path || !draft_in_writable(draft, place.path))
		plan_names(draft, path, names_git_worktree());
	return true;
}

static char *value_in_config(struct draft *draft, const char *git_folder,
                             enum sandbox_pointer_kind kind)
{
	_cleanup_free_ char *path = spot_join(git_folder, "config");

	return plan_read(draft, kind, path);
}

/* core.hooksPath may name a folder of the tree. */
static void protect_hooks(struct draft *draft, const char *git_folder, const char *worktree)
{
	_cleanup_free_ char *value = value_in_config(draft, git_folder, SANDBOX_POINTER_HOOKS);
	_cleanup_spot_ struct spot place = { 0 };

	if (!value)
		return;
	spot_resolve(worktree, value, note_link, draft, &place);
	if (!place.path || !spot_within(place.path, worktree) || strcmp(place.path, worktree) == 0)
		return;
	if (place.kind == SPOT_MISSING)
		draft_absent(draft, mem_steal(&place.path), SANDBOX_REASON_GIT, "core.hooksPath");
	else
		draft_rule(draft, mem_steal(&place.path), place.kind == SPOT_FOLDER, SANDBOX_READ,
		           SANDBOX_REASON_GIT, DRAFT_TABLE, "core.hooksPath");
}

/* `folder` is canonical and can be written to. */
static void protect_git_folder(struct draft *draft, const char *folder, const char *worktree)
{
	struct git_walk walk = { .draft = draft, .worktree = worktree };

	draft->git_folders++;
	draft_rule(draft, mem_strdup(folder), true, SANDBOX_WRITE, SANDBOX_REASON_GIT, DRAFT_TABLE,
	           "a repository");
	plan_names(draft, folder, names_git());
	if (worktree)
		protect_hooks(draft, folder, worktree);
	protect_each(&walk, folder, "modules", protect_module);
	protect_each(&walk, folder, "worktrees", protect_worktree);
}

static bool leads_to(const char *start, const char *rel, const char *wanted)
{
	struct spot place = { 0 };
	bool same;

	if (!rel)
		return false;
	spot_resolve(start, rel, NULL, NULL, &place);
	same = place.path && strcmp(place.path, wanted) == 0;
	spot_release(&place);
	return same;
}

/* Whether the repository itself knows this worktree: a .git file alone, which could have come with
 * an archive, must not open another repository. `common` is the folder with config and hooks. */
static bool points_back(struct draft *draft, const char *git_folder, const char *common,
                        const char *worktree)
{
	_cleanup_free_ char *pointer = spot_join(git_folder, "gitdir");
	_cleanup_free_ char *back = plan_read(draft, SANDBOX_POINTER_LINE, pointer);
	_cleanup_free_ char *pointed = spot_join(worktree, ".git");
	_cleanup_free_ char *above = spot_join(common, "worktrees");
	_cleanup_free_ char *config = NULL;

	if (strcmp(common, git_folder) != 0)
		return leads_to(git_folder, back, pointed) && spot_within(git_folder, above);
	config = value_in_config(draft, git_folder, SANDBOX_POINTER_WORKTREE);
	return leads_to(git_folder, config, worktree);
}

static void common_folder(struct draft *draft, const char *git_folder, struct spot *ret)
{
	_cleanup_free_ char *pointer = spot_join(git_folder, "commondir");
	_cleanup_free_ char *rel = plan_read(draft, SANDBOX_POINTER_LINE, pointer);

	spot_resolve(git_folder, rel ? rel : ".", NULL, NULL, ret);
}

/* What a .git file points to. */
static void follow_pointer(struct draft *draft, const char *worktree, const char *pointer,
                           bool root)
{
	_cleanup_free_ char *line = plan_read(draft, SANDBOX_POINTER_LINE, pointer);
	_cleanup_spot_ struct spot own = { 0 }, common = { 0 };
	struct span target = span_str(line);
	bool inside;

	if (!span_starts(target, SPAN("gitdir:")))
		return;
	spot_resolve(worktree, span_trim(span_skip(target, strlen("gitdir:"))).data, NULL, NULL,
	             &own);
	if (own.kind == SPOT_MISSING && draft_in_writable(draft, own.path))
		draft_absent(draft, mem_strdup(own.path), SANDBOX_REASON_GIT, dot_git.why);
	if (own.kind != SPOT_FOLDER)
		return;
	common_folder(draft, own.path, &common);
	if (common.kind != SPOT_FOLDER)
		return;
	inside = draft_in_writable(draft, common.path);
	if (!inside && root && points_back(draft, own.path, common.path, worktree)) {
		draft_writable(draft, &common, SANDBOX_REASON_GIT, DRAFT_TABLE);
		inside = true;
	}
	if (inside)
		protect_git_folder(draft, common.path, NULL);
	if (strcmp(own.path, common.path) == 0)
		return;
	if (draft_in_writable(draft, own.path))
		plan_names(draft, own.path, names_git_worktree());
}

/* A folder with HEAD, objects and refs is a repository to git, wherever it is. */
static void protect_bare(struct draft *draft, const char *folder)
{
	static const char *const parts[] = { "HEAD", "objects", "refs" };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (look_at(folder, parts[i]) != SPOT_MISSING)
			continue;
		draft_absent(draft, spot_join(folder, parts[i]), SANDBOX_REASON_GIT,
		             "would make a repository of the folder");
		return;
	}
	protect_git_folder(draft, folder, NULL);
}

static bool protect_project(void *data, const char *path)
{
	struct draft *draft = data;

	if (draft->git_folders < LIMIT_SANDBOX_GIT_FOLDERS &&
	    look_at(path, ".git") == SPOT_FOLDER) {
		_cleanup_free_ char *git = spot_join(path, ".git");

		protect_git_folder(draft, git, path);
	}
	return true;
}

static void follow_link(struct draft *draft, const char *folder)
{
	_cleanup_spot_ struct spot place = { 0 };

	spot_resolve(folder, ".git", note_link, draft, &place);
	if (!place.path || !draft_in_writable(draft, place.path))
		return;
	if (place.kind == SPOT_FOLDER) {
		protect_git_folder(draft, place.path, folder);
	} else if (place.kind == SPOT_MISSING) {
		note_link(draft, place.path);
	} else {
		follow_pointer(draft, folder, place.path, false);
		draft_rule(draft, mem_steal(&place.path), false, SANDBOX_READ, SANDBOX_REASON_GIT,
		           DRAFT_TABLE, dot_git.why);
	}
}

void plan_git(struct draft *draft, const char *folder, bool root)
{
	_cleanup_free_ char *path = spot_join(folder, ".git");
	enum spot_kind kind = spot_kind_of(path);

	if (kind == SPOT_FOLDER)
		protect_git_folder(draft, path, folder);
	if (kind == SPOT_LINK)
		follow_link(draft, folder);
	if (kind == SPOT_FILE || kind == SPOT_MISSING)
		plan_names(draft, folder, (struct sandbox_names){ &dot_git, 1 });
	if (kind == SPOT_FILE)
		follow_pointer(draft, folder, path, root);
	if (kind == SPOT_MISSING) {
		protect_bare(draft, folder);
		if (root)
			each_folder(folder, protect_project, draft);
	}
}
