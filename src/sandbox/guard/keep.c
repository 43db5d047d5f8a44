/* SPDX-License-Identifier: Apache-2.0 */
/* Protected files that no mount keeps: they are remembered, and put back if they were changed.  At
 * level full that is git's configuration, if it goes missing or gets another mode: a mount is on
 * it, until a process outside of the sandbox renames another in its place, git itself or hasp
 * (worker/front/git_config.c).
 *
 * The supervisor refuses calls that name such a file; this is for what gets past it.  Files are
 * remembered whole, within limits.  Of a file that is too large a change is reported but not
 * undone.  Where there are too many names, the rest are judged by times: new ones made while the
 * command ran are taken away, and changed ones are reported. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/guard/private.h"
#include "sandbox/guard/walk.h"
#include "sandbox/plan/git_change.h"

enum kept_kind {
	KEPT_ABOVE,  /* a folder on the way to a protected place: it must stay the same folder */
	KEPT_FOLDER, /* protected, with all that is in it */
	KEPT_FILE,
	KEPT_LINK,
	KEPT_OTHER,  /* not remembered */
};

struct kept_item {
	const struct guard_root *root;
	char *path; /* owned */
	enum sandbox_reason reason;
	enum kept_kind kind;
	bool top; /* a rule names it; not what is in it */
	bool goes; /* it may be removed with all of its folder (plan_may_go) */
	struct stat st;
	struct folder_birth birth;
	char *data; /* owned; content of a file, target of a link */
	size_t len;
};

struct kept_name {
	struct kept_item *list; /* owned; a folder comes before what is in it */
	size_t count, cap, bytes;
	uint32_t *slots;        /* owned; 1 + the place in the list of each path, 0: none */
	size_t mask;
	bool partly;            /* there are names that are not in the list */
};

struct folder_birth guard_birth_of(int folder, const char *name)
{
	struct statx stx;

	if (statx(folder, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
	          STATX_TYPE | STATX_INO | STATX_BTIME, &stx) != 0 ||
	    !S_ISDIR(stx.stx_mode))
		return (struct folder_birth){ 0 };
	return (struct folder_birth){ stx.stx_ino, stx.stx_btime.tv_sec, stx.stx_btime.tv_nsec };
}

static bool same_birth(struct folder_birth a, struct folder_birth b)
{
	return a.inode == b.inode && a.seconds == b.seconds && a.nanoseconds == b.nanoseconds;
}

static bool is_git_config(enum sandbox_reason reason, const char *path)
{
	const char *slash = strrchr(path, '/');

	return reason == SANDBOX_REASON_GIT && strcmp(slash ? slash + 1 : path, "config") == 0;
}

/* ---- where each is found ---- */

/* FNV-1a */
static size_t kept_hash(const struct guard_root *root, const char *path)
{
	uint64_t hash = 14695981039346656037u ^ (uintptr_t)root;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 1099511628211u;
	return (size_t)(hash ^ hash >> 29);
}

/* The slot of this path, or the free one where it belongs. */
static uint32_t *kept_slot(const struct kept_name *kept, const struct guard_root *root,
                           const char *path)
{
	for (size_t at = kept_hash(root, path);; at++) {
		uint32_t *slot = &kept->slots[at & kept->mask];

		if (!*slot || (kept->list[*slot - 1].root == root &&
		               strcmp(kept->list[*slot - 1].path, path) == 0))
			return slot;
	}
}

bool guard_keep_has(const struct guard *guard, const struct guard_root *root, const char *path)
{
	return *kept_slot(guard->kept, root, path) != 0;
}

static void grow_slots(struct kept_name *kept)
{
	const size_t size = kept->slots ? 2 * (kept->mask + 1) : 256;

	free(kept->slots);
	kept->slots = mem_alloc(size, sizeof(*kept->slots));
	kept->mask = size - 1;
	for (size_t i = 0; i < kept->count; i++)
		*kept_slot(kept, kept->list[i].root, kept->list[i].path) = (uint32_t)i + 1;
}

/* ---- remembering ---- */

static bool keep_link(struct kept_item *item, int fd)
{
	char target[LIMIT_PATH_BYTES];
	ssize_t n = readlinkat(fd, "", target, sizeof(target));

	if (n <= 0 || n == (ssize_t)sizeof(target))
		return false;
	item->data = mem_dup(target, (size_t)n);
	item->len = (size_t)n;
	return true;
}

static enum kept_kind kept_read_item(struct kept_name *kept, struct kept_item *item, int fd)
{
	if (S_ISDIR(item->st.st_mode))
		return KEPT_FOLDER;
	if (S_ISLNK(item->st.st_mode))
		return keep_link(item, fd) ? KEPT_LINK : KEPT_OTHER;
	if (kept->bytes + (size_t)item->st.st_size > LIMIT_GUARD_KEPT_BYTES ||
	    !guard_read(item->root->fd, item->path, &item->data, &item->len))
		return KEPT_OTHER;
	kept->bytes += item->len;
	return KEPT_FILE;
}

/* NULL: it is in the list. */
static struct kept_item *kept_append_item(struct kept_name *kept, const struct guard_root *root,
                                          const char *path,
                                          enum sandbox_reason reason, int fd, const struct stat *st)
{
	uint32_t *slot = kept_slot(kept, root, path);
	struct kept_item *item;

	if (*slot)
		return NULL;
	if (kept->count * 2 > kept->mask) {
		grow_slots(kept);
		slot = kept_slot(kept, root, path);
	}
	kept->list = mem_grow(kept->list, &kept->cap, kept->count + 1, sizeof(*kept->list));
	item = &kept->list[kept->count++];
	*slot = (uint32_t)kept->count;
	*item = (struct kept_item){ .root = root, .path = mem_strdup(path), .reason = reason,
		                    .st = *st, .birth = guard_birth_of(fd, "") };
	return item;
}

/* A protected folder and what is in it. */
struct keep_walk {
	struct guard *guard;
	const struct guard_root *root;
	const char *path; /* borrowed; of the folder, beneath the root */
	enum sandbox_reason reason;
};

/* The caller frees. */
static char *keeping_path(const struct keep_walk *keeping, const struct guard_walk *walk,
                          const char *name)
{
	_cleanup_free_ char *beneath = name[0] ? walk_join(walk, name) : mem_strdup(walk->path);

	return beneath[0] ? mem_printf("%s/%s", keeping->path, beneath) : mem_strdup(keeping->path);
}

/* What has this name in the folder.  What a rule names has its place always. */
static struct kept_item *keep_one(struct keep_walk *keeping, int folder, const char *name,
                                  const char *path)
{
	struct kept_name *kept = keeping->guard->kept;
	_cleanup_fd_ int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	const bool top = strcmp(path, keeping->path) == 0;
	struct kept_item *item;
	struct stat st;

	if (kept->count >= LIMIT_GUARD_KEPT_FILES && !top) {
		kept->partly = true;
		return NULL;
	}
	if (fd < 0 || fstat(fd, &st) != 0)
		return NULL;
	item = kept_append_item(kept, keeping->root, path, keeping->reason, fd, &st);
	if (item) {
		item->kind = kept_read_item(kept, item, fd);
		item->top = top;
	}
	return item;
}

static enum walk_answer keep_enter(struct guard_walk *walk, struct walk_folder *folder,
                                   const char *name)
{
	struct keep_walk *keeping = walk->data;
	const struct walk_folder *above = walk_above(walk);
	const int fd = above ? above->fd : walk->top;
	_cleanup_free_ char *path = keeping_path(keeping, walk, "");
	struct kept_item *item = keep_one(keeping, fd, above ? name : ".", path);

	(void)folder;
	if (!item)
		return WALK_SKIP;
	if (faccessat(fd, above ? name : ".", R_OK | X_OK, AT_EACCESS) == 0)
		return WALK_LIST;
	item->kind = KEPT_ABOVE; /* what is in it is not known, so nothing in it is new */
	return WALK_SKIP;
}

static bool keep_entry(struct guard_walk *walk, struct walk_folder *folder, const char *name,
                       unsigned char type)
{
	struct keep_walk *keeping = walk->data;
	_cleanup_free_ char *path = NULL;

	if (type == DT_DIR || keeping->guard->kept->partly)
		return !keeping->guard->kept->partly;
	path = keeping_path(keeping, walk, name);
	keep_one(keeping, folder->fd, name, path);
	return true;
}

static void keep_failed(struct guard_walk *walk, int error)
{
	const struct keep_walk *keeping = walk->data;

	(void)error;
	keeping->guard->kept->partly = true;
}

static void keep_tree(struct guard *guard, const struct guard_root *root, const char *path,
                      enum sandbox_reason reason)
{
	struct keep_walk keeping = { guard, root, path, reason };
	struct guard_walk walk = { .guard = guard, .data = &keeping, .enter = keep_enter,
		                   .entry = keep_entry, .failed = keep_failed };
	_cleanup_fd_ int fd = guard_open(root->fd, path, O_PATH), above = -1;
	const char *name;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return;
	if (S_ISDIR(st.st_mode)) {
		walk_run(&walk, fd);
		return;
	}
	above = guard_open_parent(root->fd, path, &name);
	if (above >= 0)
		keep_one(&keeping, above, name, path);
}

static void keep_above(struct guard *guard, const struct guard_root *root, const char *path,
                       enum sandbox_reason reason)
{
	_cleanup_free_ char *folder = mem_strdup(path);

	for (char *slash = strchr(folder, '/'); slash; slash = strchr(slash + 1, '/')) {
		_cleanup_fd_ int fd = -1;
		struct kept_item *item = NULL;
		struct stat st;

		*slash = '\0';
		fd = guard_open(root->fd, folder, O_PATH | O_DIRECTORY);
		if (fd >= 0 && fstat(fd, &st) == 0)
			item = kept_append_item(guard->kept, root, folder, reason, fd, &st);
		if (item)
			item->kind = KEPT_ABOVE;
		*slash = '/';
	}
}

static void keep_path(struct guard *guard, const char *path, enum sandbox_reason reason)
{
	const char *rest = "";
	const struct guard_root *root = guard_find_root(guard, path, &rest);
	const bool goes = plan_may_go(guard->plan, path);
	const size_t count = guard->kept->count;

	if (!root || !rest[0] || guard_keep_has(guard, root, rest))
		return;
	if (!goes)
		keep_above(guard, root, rest, reason);
	keep_tree(guard, root, rest, reason);
	if (goes && guard->kept->count == count + 1)
		guard->kept->list[count].goes = true;
}

void guard_keep_take(struct guard *guard)
{
	const struct sandbox_plan *plan = guard->plan;
	struct stat st;

	guard->kept = mem_alloc(1, sizeof(*guard->kept));
	grow_slots(guard->kept);
	for (size_t i = 0; plan->level != SANDBOX_PATHS && i < plan->rule_count; i++) {
		const struct sandbox_rule *rule = &plan->rules[i];

		if (rule->access != SANDBOX_WRITE && (plan->level == SANDBOX_LANDLOCK ||
		                                      is_git_config(rule->reason, rule->path)))
			keep_path(guard, rule->path, rule->reason);
	}
	for (size_t i = 0; i < plan->absent_count; i++) {
		if (lstat(plan->absent[i].path, &st) == 0)
			keep_path(guard, plan->absent[i].path, plan->absent[i].reason);
	}
}

/* ---- putting back ---- */

static void report_kept(struct guard *guard, const struct kept_item *item, bool done)
{
	if (done)
		guard_report(guard, item->reason, item->root, item->path, "put back as it was");
	else
		guard_report_failed(guard, item->reason, item->root, item->path, "put back");
}

struct kept_search {
	int folder;
	struct folder_birth wanted;
	char name[256];
};

static bool find_same_birth(void *data, const char *name, unsigned char type)
{
	struct kept_search *search = data;

	(void)type;
	if (!same_birth(guard_birth_of(search->folder, name), search->wanted))
		return true;
	memcpy(search->name, name, strlen(name) + 1);
	return false;
}

/* The folder got another name: it gets its own back. */
static bool rename_back(struct guard *guard, const struct kept_item *item)
{
	const char *name;
	_cleanup_fd_ int parent = guard_open_parent(item->root->fd, item->path, &name);
	_cleanup_fd_ int list = parent < 0 ? -1 : guard_open(parent, "", O_RDONLY | O_DIRECTORY);
	struct kept_search search = { .folder = list, .wanted = item->birth };
	char aside[256];

	if (list < 0)
		return false;
	guard_list(list, LIMIT_FOLDER_ENTRIES, find_same_birth, &search);
	if (guard_put_aside(guard, parent, name, aside))
		guard_report(guard, item->reason, item->root, item->path,
		             "taken away: it is %s now", aside);
	if (search.name[0])
		return renameat2(parent, search.name, parent, name, RENAME_NOREPLACE) == 0;
	return mkdirat(parent, name, item->st.st_mode & 07777) == 0;
}

static void check_folder_itself(struct guard *guard, const struct kept_item *item)
{
	_cleanup_fd_ int fd = guard_open(item->root->fd, item->path, O_PATH);

	if (fd >= 0 && same_birth(guard_birth_of(fd, ""), item->birth))
		return;
	report_kept(guard, item, rename_back(guard, item));
}

/* A name that is not in the list.  Where the list is whole it came into being; else its times
 * say.  True if it stays. */
static bool check_unknown(struct guard *guard, const struct kept_item *folder, int fd,
                          const char *name, const char *path)
{
	struct statx stx;
	struct stat st;

	if (guard_is_taken(name))
		return true;
	if (guard->kept->partly) {
		if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !guard_changed_since(guard, &st))
			return true;
		if (statx(fd, name, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &stx) != 0 ||
		    !guard_is_since(guard, &stx)) {
			guard_report(guard, folder->reason, folder->root, path,
			             "it was changed and there are too many files to remember");
			return true;
		}
	}
	return !guard_take_away(guard, folder->reason, folder->root, path);
}

/* ---- where there were too many ---- */

/* A protected folder, all of which is looked through. */
struct through {
	struct guard *guard;
	const struct kept_item *top; /* borrowed */
};

static char *through_path(const struct through *through, const char *beneath)
{
	return beneath[0] ? mem_printf("%s/%s", through->top->path, beneath) :
	                    mem_strdup(through->top->path);
}

static enum walk_answer through_enter(struct guard_walk *walk, struct walk_folder *folder,
                                      const char *name)
{
	(void)walk;
	(void)folder;
	return guard_is_taken(name) ? WALK_SKIP : WALK_LIST;
}

/* Names that went away show in their folder's time. */
static bool through_entry(struct guard_walk *walk, struct walk_folder *folder, const char *name,
                          unsigned char type)
{
	const struct through *through = walk->data;
	_cleanup_free_ char *beneath = walk_join(walk, name);
	_cleanup_free_ char *path = through_path(through, beneath);

	(void)type;
	return guard_keep_has(through->guard, through->top->root, path) ||
	       check_unknown(through->guard, through->top, folder->fd, name, path);
}

static void through_failed(struct guard_walk *walk, int error)
{
	const struct through *through = walk->data;
	_cleanup_free_ char *path = through_path(through, walk->path);

	guard_report_unchecked(through->guard, through->top->root, path, error);
}

static void look_through(struct guard *guard, const struct kept_item *item)
{
	struct through through = { guard, item };
	struct guard_walk walk = { .guard = guard, .data = &through, .enter = through_enter,
		                   .entry = through_entry, .failed = through_failed };
	_cleanup_fd_ int fd = guard_open(item->root->fd, item->path, O_PATH | O_DIRECTORY);

	if (fd >= 0)
		walk_run(&walk, fd);
}

/* ---- what was there ---- */

struct unknown {
	struct guard *guard;
	const struct kept_item *folder;
	int fd; /* borrowed */
};

static bool check_entry(void *data, const char *name, unsigned char type)
{
	const struct unknown *unknown = data;
	const struct kept_item *folder = unknown->folder;
	_cleanup_free_ char *path = mem_printf("%s/%s", folder->path, name);

	(void)type;
	if (!guard_keep_has(unknown->guard, folder->root, path))
		check_unknown(unknown->guard, folder, unknown->fd, name, path);
	return true;
}

static void check_kept_folder(struct guard *guard, const struct kept_item *item)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;

	check_folder_itself(guard, item);
	if (guard->kept->partly) {
		if (item->top)
			look_through(guard, item);
		return;
	}
	fd = guard_open_folder(guard, item->root->fd, item->path);
	if (fd < 0 || fstat(fd, &st) != 0 || guard_same(&st, &item->st))
		return;
	guard_list(fd, LIMIT_FOLDER_ENTRIES, check_entry, &(struct unknown){ guard, item, fd });
}

/* Whether a file still has its content; of git's configuration the rest may differ by what hasp
 * writes for a command. */
static bool has_content(const struct kept_item *item)
{
	const struct span old = span_of(item->data, item->len);
	_cleanup_free_ char *data = NULL;
	char keys[GIT_CHANGE_KEYS];
	size_t len;

	if (!guard_read(item->root->fd, item->path, &data, &len))
		return false;
	return span_eq(span_of(data, len), old) ||
	       (is_git_config(item->reason, item->path) &&
	        git_change_judge(old, span_of(data, len), keys) != GIT_CHANGE_REFUSED);
}

static bool put_link_back(struct guard *guard, const struct kept_item *item, int folder,
                          const char *name)
{
	char aside[256];

	if (!guard_put_aside(guard, folder, name, aside) && errno != ENOENT)
		return false;
	return symlinkat(item->data, folder, name) == 0;
}

static void put_kept_back(struct guard *guard, const struct kept_item *item)
{
	const char *name;
	_cleanup_fd_ int folder = guard_open_parent(item->root->fd, item->path, &name);
	char aside[256];
	bool done = folder >= 0;

	if (done && item->kind == KEPT_LINK)
		done = put_link_back(guard, item, folder, name);
	else if (done)
		done = guard_replace(guard, folder, name, span_of(item->data, item->len),
		                     item->st.st_mode, aside);
	report_kept(guard, item, done);
}

/* Of what has another mode: without a mount fchmod of a descriptor that is open for reading changes
 * it. */
static void put_mode_back(struct guard *guard, const struct kept_item *item, int fd)
{
	const char *name;
	_cleanup_fd_ int folder = -1;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_mode == item->st.st_mode)
		return;
	folder = guard_open_parent(item->root->fd, item->path, &name);
	report_kept(guard, item, folder >= 0 &&
	                         fchmodat(folder, name, item->st.st_mode & 07777, 0) == 0);
}

/* Whether the folder of a name is not there, or empty. */
static bool all_went(const struct kept_item *item)
{
	const char *name;
	_cleanup_fd_ int above = guard_open_parent(item->root->fd, item->path, &name);
	_cleanup_fd_ int fd = above < 0 ? -1 : guard_open(above, "", O_RDONLY | O_DIRECTORY);

	return fd < 0 ? errno == ENOENT : guard_list(fd, 0, NULL, NULL);
}

static void check_kept_file(struct guard *guard, const struct kept_item *item)
{
	_cleanup_fd_ int fd = guard_open(item->root->fd, item->path, O_PATH);
	const bool mounted = guard->plan->level == SANDBOX_FULL && item->kind == KEPT_FILE &&
	                     is_git_config(item->reason, item->path);
	char target[LIMIT_PATH_BYTES];
	struct stat st;
	ssize_t n;

	if (fd < 0 && item->goes && item->kind == KEPT_FILE && all_went(item))
		return;
	if (fd >= 0 && mounted) { /* what is there a process outside has written */
		put_mode_back(guard, item, fd);
		return;
	}
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_mode == item->st.st_mode) {
		if (guard_same(&st, &item->st) || (item->kind == KEPT_FILE && has_content(item)))
			return;
		n = item->kind == KEPT_LINK ? readlinkat(fd, "", target, sizeof(target)) : -1;
		if (n == (ssize_t)item->len && memcmp(target, item->data, item->len) == 0)
			return;
	}
	if (item->kind != KEPT_OTHER)
		put_kept_back(guard, item);
	else
		guard_report(guard, item->reason, item->root, item->path,
		             "it was changed and is too large to have been remembered");
}

void guard_keep_check(struct guard *guard)
{
	struct kept_name *kept = guard->kept;

	for (size_t i = 0; kept && i < kept->count; i++) {
		const struct kept_item *item = &kept->list[i];

		if (item->kind == KEPT_ABOVE)
			check_folder_itself(guard, item);
		else if (item->kind == KEPT_FOLDER)
			check_kept_folder(guard, item);
		else
			check_kept_file(guard, item);
	}
}

void guard_keep_free(struct kept_name *kept)
{
	if (!kept)
		return;
	for (size_t i = 0; i < kept->count; i++) {
		free(kept->list[i].path);
		free(kept->list[i].data);
	}
	free(kept->list);
	free(kept->slots);
	free(kept);
}

