/* SPDX-License-Identifier: Apache-2.0 */
/* What is in a git folder that can make git run something (gitrepository-layout(5)). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/guard/private.h"
#include "sandbox/guard/walk.h"

/* A hook has one of a dozen names; folders that hold more are not what git makes. */
enum { HOOKS_MAX = 1000 };

static const struct {
	const char *name;
	enum part_kind kind;
} git_files[] = {
	{ "config", PART_CONFIG },
	{ "config.worktree", PART_CONFIG },
	{ "commondir", PART_COMMON },
	{ "rebase-merge/git-rebase-todo", PART_TODO },
}, worktree_files[] = {
	{ "commondir", PART_TREE_COMMON },
	{ "gitdir", PART_TREE_GITDIR },
	{ "config.worktree", PART_CONFIG },
	{ "rebase-merge/git-rebase-todo", PART_TODO },
};

struct parts_reading {
	struct guard *guard;
	const struct guard_place *place;
	int folder; /* the git folder */
	bool content;
	struct git_parts *parts;
};

static bool exists(int folder, const char *name)
{
	struct stat st;

	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool guard_is_git_folder(int folder)
{
	if (!exists(folder, "HEAD"))
		return false;
	return exists(folder, "commondir") || (exists(folder, "objects") && exists(folder, "refs"));
}

static bool is_protected(const struct parts_reading *reading, const char *name)
{
	const struct guard_place *place = reading->place;
	_cleanup_free_ char *path = place->path[0] ? mem_printf("%s/%s", place->path, name) :
	                                             mem_strdup(name);

	return guard_is_protected(reading->guard, place->root, path);
}

static struct git_part *parts_append(const struct parts_reading *reading, const char *name,
                                     enum part_kind kind,
                                     const struct stat *st)
{
	struct git_parts *parts = reading->parts;
	struct git_part *part;

	parts->list = mem_grow(parts->list, &parts->cap, parts->count + 1, sizeof(*parts->list));
	part = &parts->list[parts->count++];
	*part = (struct git_part){ .name = mem_strdup(name), .kind = kind, .st = *st };
	return part;
}

/* The first symbolic link on the way to a name: git makes none there. */
static void add_link(const struct parts_reading *reading, const char *name)
{
	_cleanup_free_ char *path = mem_strdup(name);

	for (char *at = path; at; at = strchr(at + 1, '/')) {
		char *slash = strchr(at + 1, '/');
		struct stat st;

		if (slash)
			*slash = '\0';
		if (!guard_stat(reading->folder, path, &st))
			return;
		if (S_ISLNK(st.st_mode)) {
			parts_append(reading, path, PART_LINK, &st);
			return;
		}
		if (slash)
			*slash = '/';
	}
}

static void parts_read_file(const struct parts_reading *reading, const char *name,
                            enum part_kind kind)
{
	_cleanup_fd_ int fd = guard_open(reading->folder, name, O_PATH);
	struct git_part *part;
	struct stat st;

	if (fd < 0) {
		if (errno == ELOOP)
			add_link(reading, name);
		return;
	}
	if (fstat(fd, &st) != 0 || is_protected(reading, name))
		return;
	if (S_ISLNK(st.st_mode)) {
		parts_append(reading, name, PART_LINK, &st);
		return;
	}
	part = parts_append(reading, name, kind, &st);
	if (reading->content && !guard_read(reading->folder, name, &part->data, &part->len))
		part->data = NULL;
}

/* Opens a folder of the git folder for its list; adds what stands in the way. */
static int open_list(const struct parts_reading *reading, const char *name)
{
	int fd = guard_open_folder(reading->guard, reading->folder, name);
	struct stat st;

	if (fd >= 0 || fstatat(reading->folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return fd;
	if (S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode))
		parts_append(reading, name, S_ISLNK(st.st_mode) ? PART_LINK : PART_CLOSED, &st);
	return -1;
}

/* Git runs files with the names of hooks; the samples that it brings along have an ending. */
static bool is_hook(const char *name)
{
	return !span_ends(span_str(name), SPAN(".sample")) && !guard_is_taken(name);
}

static bool each_hook(void *data, const char *name, unsigned char type)
{
	struct parts_reading *reading = data;
	_cleanup_free_ char *path = mem_printf("hooks/%s", name);
	struct stat st;

	if (type != DT_DIR && is_hook(name) &&
	    fstatat(reading->folder, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(st.st_mode))
		parts_append(reading, path, PART_HOOK, &st);
	return true;
}

static void read_hooks(struct parts_reading *reading)
{
	_cleanup_fd_ int fd = is_protected(reading, "hooks") ? -1 : open_list(reading, "hooks");
	struct stat st;

	if (fd >= 0 && !guard_list(fd, HOOKS_MAX, each_hook, reading) && fstat(fd, &st) == 0)
		parts_append(reading, "hooks", PART_CLOSED, &st);
}

static bool each_worktree(void *data, const char *name, unsigned char type)
{
	struct parts_reading *reading = data;

	if (type == DT_REG || guard_is_taken(name))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(worktree_files); i++) {
		_cleanup_free_ char *path = NULL;

		path = mem_printf("worktrees/%s/%s", name, worktree_files[i].name);
		parts_read_file(reading, path, worktree_files[i].kind);
	}
	return true;
}

/* ---- symbolic links -------------------------------------------------------------------- */

/* Git opens logs, FETCH_HEAD, COMMIT_EDITMSG and others by their names, and so writes to what a
 * link leads to.  Not walked: `objects`, where git writes to a temporary name and renames it;
 * `hooks`, read above; `modules`, each checked as a separate place.  With thousands of
 * references, the time spent before a command matters: only the folders at the top are listed then,
 * and deeper ones are judged by their times (git_place_check). */
struct link_walk {
	struct parts_reading *reading;
	struct timespec from; /* what changed since is the command's */
};

enum { LINK_CHANGED = 1 }; /* the folder, or one above it in the git folder, changed since */

static bool is_skipped(const char *path)
{
	static const char *const skipped[] = { "hooks", "modules", "objects", "lfs/objects",
		                               "annex/objects" };

	for (size_t i = 0; i < ARRAY_LEN(skipped); i++)
		if (strcmp(path, skipped[i]) == 0)
			return true;
	return false;
}

/* Whether the folder is listed before a command. */
static bool is_near(const char *path)
{
	const char *slash = strchr(path, '/');

	return !slash ||
	       (span_starts(span_str(path), SPAN("worktrees/")) && !strchr(slash + 1, '/'));
}

/* What git itself makes with core.preferSymlinkRefs: it reads the text, and replaces the link. */
static bool is_reference(int folder, const char *name, const char *path)
{
	char text[1024];
	ssize_t n = readlinkat(folder, name, text, sizeof(text) - 1);

	if (n <= 0 || n == sizeof(text) - 1)
		return false;
	text[n] = '\0';
	return (strcmp(path, "HEAD") == 0 || span_starts(span_str(path), SPAN("refs/"))) &&
	       span_starts(span_str(text), SPAN("refs/")) && !strstr(text, "..");
}

static enum walk_answer link_walk_enter(struct guard_walk *walk, struct walk_folder *folder,
                                        const char *name)
{
	const struct link_walk *links = walk->data;

	(void)name;
	if (!walk->path[0])
		return WALK_LIST;
	if (is_skipped(walk->path) || (links->reading->content && !is_near(walk->path)))
		return WALK_SKIP;
	if (guard_stat_since(&folder->st, &links->from))
		folder->marks |= LINK_CHANGED;
	return WALK_LIST;
}

static bool link_walk_entry(struct guard_walk *walk, struct walk_folder *folder, const char *name,
                            unsigned char type)
{
	const struct link_walk *links = walk->data;
	_cleanup_free_ char *path = NULL;
	struct git_part *part;
	struct stat st;

	if (guard_is_taken(name))
		return false;
	if (type != DT_LNK)
		return true;
	path = walk_join(walk, name);
	if (fstatat(folder->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode) &&
	    !is_protected(links->reading, path) && !is_reference(folder->fd, name, path)) {
		part = parts_append(links->reading, path, PART_LINK, &st);
		part->deep = !is_near(walk->path);
		part->moved = folder->marks & LINK_CHANGED;
	}
	return true;
}

static void link_walk_failed(struct guard_walk *walk, int error)
{
	const struct parts_reading *reading = ((const struct link_walk *)walk->data)->reading;
	const struct guard_place *place = reading->place;
	_cleanup_free_ char *path = place->path[0] ? mem_printf("%s/%s", place->path, walk->path) :
	                                             mem_strdup(walk->path);

	if (!reading->content)
		guard_report_unchecked(reading->guard, place->root, path, error);
}

static void read_links(struct parts_reading *reading)
{
	const struct guard_place *place = reading->place;
	struct link_walk links = { reading, place->by_time ? place->from :
		                                             reading->guard->began };
	struct guard_walk walk = { .guard = reading->guard, .data = &links,
		                   .enter = link_walk_enter, .entry = link_walk_entry,
		                   .failed = link_walk_failed };

	walk_run(&walk, reading->folder);
}

static void read_all_parts(struct parts_reading *reading)
{
	_cleanup_fd_ int worktrees = -1;
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(git_files); i++)
		parts_read_file(reading, git_files[i].name, git_files[i].kind);
	read_hooks(reading);
	worktrees = open_list(reading, "worktrees");
	if (worktrees >= 0 && !guard_list(worktrees, LIMIT_GUARD_PLACES, each_worktree, reading) &&
	    fstat(worktrees, &st) == 0)
		parts_append(reading, "worktrees", PART_CLOSED, &st);
	read_links(reading);
}

void guard_take_parts(struct guard *guard, const struct guard_place *place, int folder,
                      struct git_parts *ret)
{
	struct parts_reading reading = { guard, place, folder, true, ret };

	read_all_parts(&reading);
}

void guard_list_parts(struct guard *guard, const struct guard_place *place, int folder,
                      struct git_parts *ret)
{
	struct parts_reading reading = { guard, place, folder, false, ret };

	read_all_parts(&reading);
}

char *guard_git_owner(const struct guard_root *root, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;
	_cleanup_free_ char *owner = NULL;
	_cleanup_fd_ int fd = -1;

	if (!slash || !span_ends(span_of(path, len), SPAN("worktrees")) ||
	    (len > 9 && path[len - 10] != '/'))
		return NULL;
	owner = mem_dup(path, len > 9 ? len - 10 : 0);
	fd = guard_open(root->fd, owner, O_PATH | O_DIRECTORY);
	return fd >= 0 && guard_is_git_folder(fd) ? mem_steal(&owner) : NULL;
}

void guard_release_parts(struct git_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		free(parts->list[i].name);
		free(parts->list[i].data);
	}
	free(parts->list);
	*parts = (struct git_parts){ 0 };
}

/* ---- modules --------------------------------------------------------------------------- */

struct modules {
	const struct guard_root *root;
	const char *folder; /* REPOSITORY/modules */
	void (*found)(struct guard *guard, const struct guard_root *root, const char *path);
};

enum { MODULE_ITSELF = 1 }; /* the folder is a git folder: only its own modules count */

static enum walk_answer modules_enter(struct guard_walk *walk, struct walk_folder *folder,
                                      const char *name)
{
	const struct modules *modules = walk->data;
	_cleanup_free_ char *path = mem_printf("%s%s%s", modules->folder, name[0] ? "/" : "",
	                                       walk->path);
	_cleanup_fd_ int fd = -1;

	if (guard_is_taken(name))
		return WALK_SKIP;
	if (folder->marks & MODULE_ITSELF) { /* its "modules" */
		folder->marks = 0;
		return WALK_LIST;
	}
	fd = name[0] ? guard_open(modules->root->fd, path, O_PATH | O_DIRECTORY) : -1;
	if (fd >= 0 && guard_is_git_folder(fd)) {
		modules->found(walk->guard, modules->root, path);
		folder->marks = MODULE_ITSELF;
	}
	return WALK_LIST;
}

/* A module's name may have slashes: what is no git folder is a part of a name. */
static bool modules_entry(struct guard_walk *walk, struct walk_folder *folder, const char *name,
                          unsigned char type)
{
	const struct modules *modules = walk->data;
	_cleanup_free_ char *inner = NULL, *path = NULL;

	if (folder->marks & MODULE_ITSELF)
		return strcmp(name, "modules") == 0;
	if (type == DT_LNK && !guard_is_taken(name)) { /* git makes none: it is looked at */
		inner = walk_join(walk, name);
		path = mem_printf("%s/%s", modules->folder, inner);
		modules->found(walk->guard, modules->root, path);
	}
	return true;
}

static void modules_failed(struct guard_walk *walk, int error)
{
	const struct modules *modules = walk->data;

	guard_report_unchecked(walk->guard, modules->root, modules->folder, error);
}

void guard_git_modules(struct guard *guard, const struct guard_root *root, const char *git_folder,
                       void (*found)(struct guard *guard, const struct guard_root *root,
                                     const char *path))
{
	_cleanup_free_ char *folder = git_folder[0] ? mem_printf("%s/modules", git_folder) :
	                                              mem_strdup("modules");
	_cleanup_fd_ int fd = guard_open_folder(guard, root->fd, folder);
	struct modules modules = { root, folder, found };
	struct guard_walk walk = { .guard = guard, .data = &modules, .enter = modules_enter,
		                   .entry = modules_entry, .failed = modules_failed };

	if (fd >= 0)
		walk_run(&walk, fd);
}
