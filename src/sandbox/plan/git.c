/* SPDX-License-Identifier: Apache-2.0 */
/* What git would run or obey, in and around a writable folder; and which files its repositories
 * describe (view.c).
 *
 * A git folder stays writable, so that add, commit, branch, checkout, gc and "worktree add" work;
 * what names programs in it (names_git) is read-only, and the folder is a mount, so that it keeps
 * its name.
 *
 *   .git is missing       commands may make it ("git init"; the guard looks at what they leave),
 *                         file tools may not; the folder must not become a bare repository
 *   .git is a folder      that; its submodules (.git/modules) likewise; their .git files must not
 *                         be replaced, but may be removed with their whole folder
 *   .git is a file        it is read-only.  What it points to is protected where it can be written;
 *                         a worktree whose repository knows it may write there, as git does
 *   .git is a symlink     its target is protected, and the symlink listed
 *   no .git in a root     repositories one level down are looked into (a folder of projects), and
 *                         the repository that the root is a part of may be written to by commands,
 *                         as git does
 *
 * Linked worktrees (.git/worktrees/x) that are checked out where commands cannot write are
 * protected. Those inside the writable paths are not: a command can do with them what it likes
 * anyway, and "git worktree remove" has to work; the guard looks at them.  But what the
 * repository's configuration names is protected in them too, as in each folder where git runs
 * commands.
 *
 * Read are git's own one-line pointers (.git, commondir, gitdir), a submodule's core.worktree, and
 * what configurations name (config.c).  Who opens them: read.c.
 */
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/span.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "sandbox/plan/private.h"

/* Submodules' names may have slashes: how deep a repository is looked for beneath .git/modules. */
enum { MODULE_DEPTH = 4 };

static const struct sandbox_name dot_git = {
	".git", SANDBOX_READ, SANDBOX_REASON_GIT, NAME_ABSENT, "whose repository the folder is in",
	"version control", "gitrepository-layout(5)",
};

static enum location_kind location_kind_beneath(const char *base, const char *rel)
{
	_cleanup_free_ char *path = location_join(base, rel);

	return location_kind_of(path);
}

/* Calls `visit` for the subfolders of `folder`; false when there are too many, or the user may not
 * list them. */
static bool each_folder(const char *folder, bool (*visit)(void *data, const char *path), void *data)
{
	DIR *dir = opendir(folder);
	size_t left = LIMIT_SANDBOX_SIBLINGS;
	struct dirent *entry;
	bool ok = dir || errno != EACCES;

	while (ok && dir && (entry = readdir(dir)) != NULL) {
		_cleanup_free_ char *path = NULL;

		if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)
			continue;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		path = location_join(folder, entry->d_name);
		ok = left-- > 0 && visit(data, path);
	}
	if (dir)
		closedir(dir);
	return ok;
}

struct git_walk {
	struct plan_draft *draft;
	const char *git;      /* the repository's folder */
	const char *worktree; /* where submodules are checked out; NULL not known */
	const char *modules;  /* the folder that submodules' names are relative to */
	unsigned depth;
};

static void protect_git_folder(struct plan_draft *draft, const char *folder, const char *worktree);

/* The folder that core.worktree of a repository leads to, which is noted, if commands can write
 * there: git runs commands in it.  NULL: it is not set, or is no such folder; the caller frees. */
static char *configured_top(struct plan_draft *draft, const char *git)
{
	static const char *const files[] = { "config.worktree", "config" };

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		_cleanup_free_ char *file = location_join(git, files[i]), *rel = NULL;
		_cleanup_location_ struct location place = { 0 };

		if (location_kind_of(file) != LOCATION_FILE)
			continue;
		rel = plan_read(draft, SANDBOX_POINTER_WORKTREE, file);
		if (!rel)
			continue;
		location_resolve(git, rel, NULL, NULL, &place);
		if (place.kind != LOCATION_FOLDER)
			continue;
		plan_describes(draft, git, place.path, NULL);
		if (draft_in_writable(draft, place.path))
			return mem_steal(&place.path);
	}
	return NULL;
}

/* A submodule's .git.  Commands may remove it with the submodule's files, so it is no mount. */
static void protect_link(struct plan_draft *draft, const char *checkout)
{
	_cleanup_free_ char *path = location_join(checkout, ".git");
	_cleanup_location_ struct location place = { 0 };

	location_resolve("/", path, NULL, NULL, &place);
	if (draft->options->use == SANDBOX_USE_COMMAND && place.path &&
	    strcmp(place.path, path) == 0 && draft_in_writable(draft, path))
		draft_absent(draft, mem_steal(&path), SANDBOX_REASON_GIT, dot_git.why);
	else
		plan_names(draft, checkout, (struct sandbox_names){ &dot_git, 1 });
}

/* One folder beneath .git/modules: a submodule's repository, or a part of its name. */
static bool protect_module(void *data, const char *path)
{
	struct git_walk *walk = data;
	bool ok = true;

	if (location_kind_beneath(path, "HEAD") == LOCATION_CLOSED)
		return false;
	if (location_kind_beneath(path, "HEAD") == LOCATION_FILE) {
		_cleanup_free_ char *checkout = NULL;

		if (walk->draft->git_folders >= LIMIT_SANDBOX_GIT_FOLDERS)
			return false;
		/* A submodule's name is the path that it had at first. */
		checkout = configured_top(walk->draft, path);
		if (!checkout && walk->worktree)
			checkout = location_join(walk->worktree, path + strlen(walk->modules) + 1);
		if (!checkout || location_kind_beneath(checkout, ".git") != LOCATION_FILE) {
			protect_git_folder(walk->draft, path, NULL);
			return true;
		}
		protect_git_folder(walk->draft, path, checkout);
		protect_link(walk->draft, checkout);
		return true;
	}
	if (walk->depth < MODULE_DEPTH) {
		walk->depth++;
		ok = each_folder(path, protect_module, data);
		walk->depth--;
	}
	return ok;
}

static void note_git_link(void *data, const char *path)
{
	struct plan_draft *draft = data;

	if (draft_in_writable(draft, path))
		draft_absent(draft, mem_strdup(path), SANDBOX_REASON_GIT, dot_git.why);
}

/* What is on the way to a part of a repository, and may not be searched. */
static void note_closed_repository(struct plan_draft *draft, const char *start, const char *path)
{
	draft_closed(draft, start, path, &(struct sandbox_rule){
		.access = SANDBOX_READ, .reason = SANDBOX_REASON_GIT, .why = dot_git.why,
	}, DRAFT_TABLE);
}

/* Looks into each folder of `folder`/`name`; too many, or closed: they are read-only as a whole. */
static void protect_each(struct git_walk *walk, const char *folder, const char *name,
                         bool (*visit)(void *data, const char *path))
{
	_cleanup_location_ struct location place = { 0 };

	location_resolve(folder, name, note_git_link, walk->draft, &place);
	walk->modules = place.path;
	if (!place.path)
		note_closed_repository(walk->draft, folder, name);
	if (place.kind == LOCATION_FOLDER && !each_folder(place.path, visit, walk))
		draft_rule(walk->draft, mem_steal(&place.path), true, SANDBOX_READ,
		           SANDBOX_REASON_GIT, DRAFT_TABLE,
		           "more repositories than are looked into one by one");
}

/* What the configuration names is protected in a linked worktree that commands can write. */
static void protect_checkout(struct git_walk *walk, const char *own, const char *pointed)
{
	_cleanup_free_ char *top = path_folder(pointed);

	plan_config(walk->draft, walk->git, top);
	if (location_kind_beneath(own, "config.worktree") == LOCATION_FILE)
		plan_config(walk->draft, own, top);
}

static bool protect_worktree(void *data, const char *path)
{
	struct git_walk *walk = data;
	struct plan_draft *draft = walk->draft;
	_cleanup_free_ char *pointer = location_join(path, "gitdir");
	_cleanup_free_ char *checkout = plan_read(draft, SANDBOX_POINTER_LINE, pointer);
	_cleanup_location_ struct location place = { 0 };

	if (draft->git_folders++ >= LIMIT_SANDBOX_GIT_FOLDERS)
		return false;
	if (checkout)
		location_resolve(path, checkout, NULL, NULL, &place);
	if (place.kind == LOCATION_FILE) {
		_cleanup_free_ char *top = path_folder(place.path);

		plan_describes(draft, walk->git, top, path);
	}
	if (!place.path || !draft_in_writable(draft, place.path))
		plan_names(draft, path, names_git_worktree());
	else if (place.kind == LOCATION_FILE)
		protect_checkout(walk, path, place.path);
	return true;
}

/* `folder` is canonical and can be written to. */
static void protect_git_folder(struct plan_draft *draft, const char *folder, const char *worktree)
{
	_cleanup_free_ char *top = configured_top(draft, folder);
	_cleanup_free_ char *above = path_folder(folder);
	struct git_walk walk = { .draft = draft, .git = folder, .worktree = top ? top : worktree };

	draft->git_folders++;
	plan_describes(draft, folder, worktree, NULL);
	if (strcmp(folder + strlen(above), "/.git") == 0)
		plan_describes(draft, folder, above, NULL);
	draft_rule(draft, mem_strdup(folder), true, SANDBOX_WRITE, SANDBOX_REASON_GIT, DRAFT_TABLE,
	           "a repository");
	plan_names(draft, folder, names_git());
	plan_config(draft, folder, worktree ? worktree : folder);
	if (top && (!worktree || strcmp(top, worktree) != 0))
		plan_config(draft, folder, top);
	protect_each(&walk, folder, "modules", protect_module);
	protect_each(&walk, folder, "worktrees", protect_worktree);
}

static bool leads_to(const char *start, const char *rel, const char *wanted)
{
	struct location place = { 0 };
	bool same;

	if (!rel)
		return false;
	location_resolve(start, rel, NULL, NULL, &place);
	same = place.path && strcmp(place.path, wanted) == 0;
	location_release(&place);
	return same;
}

/* Whether the repository itself knows this worktree: a .git file alone, which could have come with
 * an archive, must not open another repository. `common` is the folder with config and hooks. */
static bool points_back(struct plan_draft *draft, const char *git_folder, const char *common,
                        const char *worktree)
{
	_cleanup_free_ char *pointer = location_join(git_folder, "gitdir");
	_cleanup_free_ char *back = plan_read(draft, SANDBOX_POINTER_LINE, pointer);
	_cleanup_free_ char *pointed = location_join(worktree, ".git");
	_cleanup_free_ char *above = location_join(common, "worktrees");
	_cleanup_free_ char *config = NULL, *file = NULL;

	if (strcmp(common, git_folder) != 0)
		return leads_to(git_folder, back, pointed) && location_within(git_folder, above);
	file = location_join(git_folder, "config");
	config = plan_read(draft, SANDBOX_POINTER_WORKTREE, file);
	return leads_to(git_folder, config, worktree);
}

static void common_folder(struct plan_draft *draft, const char *git_folder, struct location *ret)
{
	_cleanup_free_ char *pointer = location_join(git_folder, "commondir");
	_cleanup_free_ char *rel = plan_read(draft, SANDBOX_POINTER_LINE, pointer);

	location_resolve(git_folder, rel ? rel : ".", NULL, NULL, ret);
	if (!ret->path)
		note_closed_repository(draft, git_folder, rel ? rel : ".");
}

/* What a .git file points to. */
static void follow_pointer(struct plan_draft *draft, const char *worktree, const char *pointer,
                           bool root)
{
	_cleanup_free_ char *line = plan_read(draft, SANDBOX_POINTER_LINE, pointer);
	_cleanup_location_ struct location own = { 0 }, common = { 0 };
	struct span target = span_str(line);
	bool inside;

	if (!span_starts(target, SPAN("gitdir:")))
		return;
	location_resolve(worktree, span_trim(span_skip(target, strlen("gitdir:"))).data, NULL, NULL,
	                 &own);
	if (!own.path)
		note_closed_repository(draft, worktree,
		                       span_trim(span_skip(target, strlen("gitdir:"))).data);
	if (own.kind == LOCATION_MISSING && draft_in_writable(draft, own.path))
		draft_absent(draft, mem_strdup(own.path), SANDBOX_REASON_GIT, dot_git.why);
	if (own.kind != LOCATION_FOLDER)
		return;
	common_folder(draft, own.path, &common);
	if (common.kind != LOCATION_FOLDER)
		return;
	inside = draft_in_writable(draft, common.path);
	if (!inside && root && points_back(draft, own.path, common.path, worktree)) {
		draft_writable(draft, &common, SANDBOX_REASON_GIT, DRAFT_TABLE);
		inside = true;
	}
	if (inside)
		protect_git_folder(draft, common.path, worktree);
	else
		plan_config(draft, common.path, worktree);
	if (strcmp(own.path, common.path) == 0)
		return;
	if (draft_in_writable(draft, own.path))
		plan_names(draft, own.path, names_git_worktree());
	plan_config(draft, own.path, worktree);
}

/* A folder with HEAD, objects and refs is a repository to git, wherever it is. */
static void protect_bare(struct plan_draft *draft, const char *folder)
{
	static const char *const parts[] = { "HEAD", "objects", "refs" };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (location_kind_beneath(folder, parts[i]) != LOCATION_MISSING)
			continue;
		draft_absent(draft, location_join(folder, parts[i]), SANDBOX_REASON_GIT,
		             "would make a repository of the folder");
		return;
	}
	protect_git_folder(draft, folder, NULL);
}

static bool protect_project(void *data, const char *path)
{
	struct plan_draft *draft = data;

	if (location_kind_beneath(path, ".git") == LOCATION_CLOSED)
		note_closed_repository(draft, path, ".git");
	if (draft->git_folders < LIMIT_SANDBOX_GIT_FOLDERS &&
	    location_kind_beneath(path, ".git") == LOCATION_FOLDER) {
		_cleanup_free_ char *git = location_join(path, ".git");

		protect_git_folder(draft, git, path);
	}
	return true;
}

static void follow_link(struct plan_draft *draft, const char *folder)
{
	_cleanup_location_ struct location place = { 0 };

	location_resolve(folder, ".git", note_git_link, draft, &place);
	if (!place.path)
		note_closed_repository(draft, folder, ".git");
	if (!place.path || !draft_in_writable(draft, place.path))
		return;
	if (place.kind == LOCATION_FOLDER) {
		protect_git_folder(draft, place.path, folder);
	} else if (place.kind == LOCATION_MISSING) {
		note_git_link(draft, place.path);
	} else {
		follow_pointer(draft, folder, place.path, false);
		draft_rule(draft, mem_steal(&place.path), false, SANDBOX_READ, SANDBOX_REASON_GIT,
		           DRAFT_TABLE, dot_git.why);
	}
}

/* ---- the repository that a root is a part of --------------------------------------------- */

/* Without $HOME, which may load libraries (NSS), the home folder of the user database. */
static const char *home_text(const struct plan_draft *draft)
{
	const char *text = plan_home_text(draft);
	const struct passwd *user = text ? NULL : getpwuid(geteuid());

	if (user && user->pw_dir && user->pw_dir[0] == '/')
		text = user->pw_dir;
	return text;
}

/* As git has it: the next `.git` above, on the same file system and of the same owner.  Not the
 * home folder's, in which everything is, nor that of "/"; none if the home folder is not known.
 * NULL: there is none; the caller frees. */
static char *enclosing_top(struct plan_draft *draft, const char *folder)
{
	_cleanup_free_ char *top = mem_strdup(folder);
	const char *text = home_text(draft);
	_cleanup_location_ struct location home = { 0 };
	struct stat below, st;

	if (!text || lstat(top, &below) != 0)
		return NULL;
	location_canonical(text, &home);
	for (char *slash = strrchr(top, '/'); slash && slash > top; slash = strrchr(top, '/')) {
		*slash = '\0';
		if ((home.path && location_within(home.path, top)) || lstat(top, &st) != 0 ||
		    st.st_dev != below.st_dev)
			return NULL;
		if (location_kind_beneath(top, ".git") != LOCATION_MISSING)
			return mem_steal(&top);
	}
	return NULL;
}

static bool is_repository(const char *git)
{
	struct stat st;

	return lstat(git, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       location_kind_beneath(git, "HEAD") != LOCATION_MISSING &&
	       location_kind_beneath(git, "objects") == LOCATION_FOLDER &&
	       location_kind_beneath(git, "refs") == LOCATION_FOLDER;
}

static void open_enclosing(struct plan_draft *draft, const char *folder)
{
	_cleanup_free_ char *top = enclosing_top(draft, folder);
	_cleanup_free_ char *git = top ? location_join(top, ".git") : NULL;
	enum location_kind kind = git ? location_kind_of(git) : LOCATION_MISSING;

	if (!git || draft_in_writable(draft, git))
		return;
	if (kind == LOCATION_FILE)
		follow_pointer(draft, top, git, true);
	if (kind != LOCATION_FOLDER || !is_repository(git))
		return;
	draft_writable(draft, &(struct location){ git, LOCATION_FOLDER }, SANDBOX_REASON_GIT,
	               DRAFT_TABLE);
	protect_git_folder(draft, git, top);
}

/* No repository is in the folder. */
static void plan_no_git(struct plan_draft *draft, const char *folder, bool root)
{
	bool command = draft->options->use == SANDBOX_USE_COMMAND;

	if (!command)
		plan_names(draft, folder, (struct sandbox_names){ &dot_git, 1 });
	protect_bare(draft, folder);
	plan_config(draft, NULL, folder);
	if (!root)
		return;
	if (command)
		open_enclosing(draft, folder);
	each_folder(folder, protect_project, draft);
}

void plan_git(struct plan_draft *draft, const char *folder, bool root)
{
	_cleanup_free_ char *path = location_join(folder, ".git");
	enum location_kind kind = location_kind_of(path);

	if (kind == LOCATION_FOLDER)
		protect_git_folder(draft, path, folder);
	if (kind == LOCATION_LINK)
		follow_link(draft, folder);
	if (kind == LOCATION_FILE)
		plan_names(draft, folder, (struct sandbox_names){ &dot_git, 1 });
	if (kind == LOCATION_FILE)
		follow_pointer(draft, folder, path, root);
	if (kind == LOCATION_MISSING)
		plan_no_git(draft, folder, root);
}
