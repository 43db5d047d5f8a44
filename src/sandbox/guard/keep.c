/* SPDX-License-Identifier: Apache-2.0 */
/* Where no mount protects a file, it is remembered, and put back if it was changed.
 *
 * The supervisor refuses calls that name such a file; this is for what gets past it.  Files are
 * remembered whole, within limits; of what is beyond them a change is told but not undone.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/guard/internal.h"

/* Folders inside each other beneath a protected one. */
enum { KEPT_DEPTH = 32 };

enum kept_kind {
	KEPT_ABOVE,  /* a folder on the way to a protected place: it must stay the same folder */
	KEPT_FOLDER, /* protected, with all that is in it */
	KEPT_FILE,
	KEPT_LINK,
	KEPT_OTHER,  /* not remembered */
};

/* Which folder it is, while it is there and after: numbers of inodes are used again at once. */
struct birth {
	uint64_t inode;
	int64_t seconds;
	uint32_t nanoseconds;
};

struct kept_item {
	const struct guard_root *root;
	char *path; /* owned */
	enum sandbox_reason reason;
	enum kept_kind kind;
	struct stat st;
	struct birth birth;
	char *data; /* owned; content of a file, target of a link */
	size_t len;
};

struct kept {
	struct kept_item *list; /* owned; a folder comes before what is in it */
	size_t count, cap, bytes;
};

/* Of a folder; 0 for all else. */
static struct birth birth_of(int folder, const char *name)
{
	struct statx stx;

	if (statx(folder, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
	          STATX_TYPE | STATX_INO | STATX_BTIME, &stx) != 0 ||
	    !S_ISDIR(stx.stx_mode))
		return (struct birth){ 0 };
	return (struct birth){ stx.stx_ino, stx.stx_btime.tv_sec, stx.stx_btime.tv_nsec };
}

static bool same_birth(struct birth a, struct birth b)
{
	return a.inode == b.inode && a.seconds == b.seconds && a.nanoseconds == b.nanoseconds;
}

/* ---- remembering ----------------------------------------------------------------------- */

struct listing {
	struct guard *guard;
	const struct kept_item *folder; /* borrowed */
	unsigned depth;
};

static void keep(struct guard *guard, const struct guard_root *root, const char *path,
                 enum sandbox_reason reason, unsigned depth);

static bool keep_entry(void *data, const char *name, unsigned char type)
{
	const struct listing *listing = data;
	const struct kept_item *folder = listing->folder;
	_cleanup_free_ char *path = mem_printf("%s/%s", folder->path, name);

	(void)type;
	keep(listing->guard, folder->root, path, folder->reason, listing->depth + 1);
	return true;
}

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

static enum kept_kind read_item(struct kept *kept, struct kept_item *item, int fd)
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

static struct kept_item *add(struct kept *kept, const struct guard_root *root, const char *path,
                             enum sandbox_reason reason, int fd, const struct stat *st)
{
	struct kept_item *item;

	kept->list = mem_grow(kept->list, &kept->cap, kept->count + 1, sizeof(*kept->list));
	item = &kept->list[kept->count++];
	*item = (struct kept_item){ .root = root, .path = mem_strdup(path), .reason = reason,
		                    .st = *st, .birth = birth_of(fd, "") };
	return item;
}

static void keep(struct guard *guard, const struct guard_root *root, const char *path,
                 enum sandbox_reason reason, unsigned depth)
{
	struct kept *kept = guard->kept;
	_cleanup_fd_ int fd = guard_open(root->fd, path, O_PATH), list = -1;
	struct kept_item *item, folder;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || kept->count >= LIMIT_GUARD_KEPT_FILES)
		return;
	item = add(kept, root, path, reason, fd, &st);
	item->kind = read_item(kept, item, fd);
	if (item->kind != KEPT_FOLDER || depth == KEPT_DEPTH)
		return;
	list = guard_open(root->fd, path, O_RDONLY | O_DIRECTORY);
	if (list < 0 || faccessat(list, ".", X_OK, AT_EACCESS) != 0) {
		item->kind = KEPT_ABOVE; /* what is in it is not known, so nothing in it is new */
		return;
	}
	folder = *item; /* the list moves when it grows */
	guard_list(list, LIMIT_GUARD_KEPT_FILES, keep_entry,
	           &(struct listing){ guard, &folder, depth });
}

bool keep_has(const struct guard *guard, const struct guard_root *root, const char *path)
{
	const struct kept *kept = guard->kept;

	for (size_t i = 0; i < kept->count; i++) {
		if (kept->list[i].root == root && strcmp(kept->list[i].path, path) == 0)
			return true;
	}
	return false;
}

static void keep_above(struct guard *guard, const struct guard_root *root, const char *path,
                       enum sandbox_reason reason)
{
	_cleanup_free_ char *folder = mem_strdup(path);

	for (char *slash = strchr(folder, '/'); slash; slash = strchr(slash + 1, '/')) {
		_cleanup_fd_ int fd = -1;
		struct stat st;

		*slash = '\0';
		fd = guard_open(root->fd, folder, O_PATH | O_DIRECTORY);
		if (fd >= 0 && fstat(fd, &st) == 0 && !keep_has(guard, root, folder))
			add(guard->kept, root, folder, reason, fd, &st)->kind = KEPT_ABOVE;
		*slash = '/';
	}
}

static void keep_path(struct guard *guard, const char *path, enum sandbox_reason reason)
{
	const char *rest = "";
	const struct guard_root *root = guard_find_root(guard, path, &rest);

	if (!root || !rest[0] || keep_has(guard, root, rest))
		return;
	keep_above(guard, root, rest, reason);
	keep(guard, root, rest, reason, 0);
}

void keep_take(struct guard *guard)
{
	const struct sandbox_plan *plan = guard->plan;
	struct stat st;

	guard->kept = mem_alloc(1, sizeof(*guard->kept));
	for (size_t i = 0; plan->level == SANDBOX_LANDLOCK && i < plan->rule_count; i++) {
		if (plan->rules[i].access != SANDBOX_WRITE)
			keep_path(guard, plan->rules[i].path, plan->rules[i].reason);
	}
	for (size_t i = 0; i < plan->absent_count; i++) {
		if (lstat(plan->absent[i].path, &st) == 0)
			keep_path(guard, plan->absent[i].path, plan->absent[i].reason);
	}
}

/* ---- putting back ---------------------------------------------------------------------- */

static void report_kept(struct guard *guard, const struct kept_item *item, bool done)
{
	if (done)
		guard_report(guard, item->reason, item->root, item->path, "put back as it was");
	else
		guard_report(guard, item->reason, item->root, item->path,
		             "it could not be put back: %s", strerror(errno));
}

struct search {
	int folder;
	struct birth wanted;
	char name[256];
};

static bool find_entry(void *data, const char *name, unsigned char type)
{
	struct search *search = data;

	(void)type;
	if (!same_birth(birth_of(search->folder, name), search->wanted))
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
	struct search search = { .folder = list, .wanted = item->birth };
	char aside[256];

	if (list < 0)
		return false;
	guard_list(list, LIMIT_FOLDER_ENTRIES, find_entry, &search);
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

	if (fd >= 0 && same_birth(birth_of(fd, ""), item->birth))
		return;
	report_kept(guard, item, rename_back(guard, item));
}

struct unknown {
	struct guard *guard;
	const struct kept_item *folder;
};

static bool check_entry(void *data, const char *name, unsigned char type)
{
	const struct unknown *unknown = data;
	const struct kept_item *folder = unknown->folder;
	_cleanup_free_ char *path = mem_printf("%s/%s", folder->path, name);

	(void)type;
	if (!strstr(name, ".hasp-taken") && !keep_has(unknown->guard, folder->root, path))
		guard_take_away(unknown->guard, folder->reason, folder->root, path);
	return true;
}

static void check_folder(struct guard *guard, const struct kept_item *item)
{
	_cleanup_fd_ int fd = -1;
	struct stat st;

	check_folder_itself(guard, item);
	fd = guard_open_folder(guard, item->root->fd, item->path);
	if (fd < 0 || fstat(fd, &st) != 0 || guard_same(&st, &item->st))
		return;
	guard_list(fd, LIMIT_FOLDER_ENTRIES, check_entry, &(struct unknown){ guard, item });
}

/* Whether a file still has its content. */
static bool has_content(const struct kept_item *item)
{
	_cleanup_free_ char *data = NULL;
	size_t len;

	return guard_read(item->root->fd, item->path, &data, &len) &&
	       span_eq(span_of(data, len), span_of(item->data, item->len));
}

static bool put_link_back(struct guard *guard, const struct kept_item *item, int folder,
                          const char *name)
{
	char aside[256];

	if (!guard_put_aside(guard, folder, name, aside) && errno != ENOENT)
		return false;
	return symlinkat(item->data, folder, name) == 0;
}

static void put_back(struct guard *guard, const struct kept_item *item)
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

static void check_file(struct guard *guard, const struct kept_item *item)
{
	_cleanup_fd_ int fd = guard_open(item->root->fd, item->path, O_PATH);
	char target[LIMIT_PATH_BYTES];
	struct stat st;
	ssize_t n;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_mode == item->st.st_mode) {
		if (guard_same(&st, &item->st) || (item->kind == KEPT_FILE && has_content(item)))
			return;
		n = item->kind == KEPT_LINK ? readlinkat(fd, "", target, sizeof(target)) : -1;
		if (n == (ssize_t)item->len && memcmp(target, item->data, item->len) == 0)
			return;
	}
	if (item->kind != KEPT_OTHER)
		put_back(guard, item);
	else
		guard_report(guard, item->reason, item->root, item->path,
		             "it was changed and is too large to have been remembered");
}

void keep_check(struct guard *guard)
{
	struct kept *kept = guard->kept;

	for (size_t i = 0; kept && i < kept->count; i++) {
		const struct kept_item *item = &kept->list[i];

		if (item->kind == KEPT_ABOVE)
			check_folder_itself(guard, item);
		else if (item->kind == KEPT_FOLDER)
			check_folder(guard, item);
		else
			check_file(guard, item);
	}
}

void keep_free(struct kept *kept)
{
	if (!kept)
		return;
	for (size_t i = 0; i < kept->count; i++) {
		free(kept->list[i].path);
		free(kept->list[i].data);
	}
	free(kept->list);
	free(kept);
}
