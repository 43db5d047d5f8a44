/* SPDX-License-Identifier: Apache-2.0 */
/* The walk: one folder after the other, without recursion. */
#include "sandbox/guard/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/guard/private.h"

/* Descriptors that a walk has open; deeper down the uppermost are closed meanwhile. */
enum { WALK_FDS = 64, WALK_TRIES = 3, ENTER_FLAGS = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static struct walk_folder *current(struct guard_walk *walk)
{
	return &walk->folders[walk->depth - 1];
}

const struct walk_folder *walk_above(const struct guard_walk *walk)
{
	return walk->depth > 1 ? &walk->folders[walk->depth - 2] : NULL;
}

char *walk_join(const struct guard_walk *walk, const char *name)
{
	return walk->path[0] ? mem_printf("%s/%s", walk->path, name) : mem_strdup(name);
}

void walk_push(struct guard_walk *walk, const char *name)
{
	size_t len = strlen(name) + 1;

	walk->names = mem_grow(walk->names, &walk->names_cap, walk->names_len + len, 1);
	memcpy(walk->names + walk->names_len, name, len);
	walk->names_len += len;
}

void walk_forget(struct guard_walk *walk)
{
	walk->names_len = current(walk)->names;
}

static bool same_folder(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

/* ---- the way down ---- */

static void append_path(struct guard_walk *walk, size_t len, const char *name)
{
	size_t slash = len > 0 && name[0], add = strlen(name);

	walk->path = mem_grow(walk->path, &walk->path_cap, len + add + 2, 1);
	if (slash)
		walk->path[len] = '/';
	memcpy(walk->path + len + slash, name, add + 1);
}

static void push_folder(struct guard_walk *walk, const struct stat *st, const char *name)
{
	struct walk_folder *above = walk->depth ? current(walk) : NULL, *folder;
	size_t len = above ? above->path_len : 0;
	unsigned marks = above ? above->marks : 0;

	append_path(walk, len, name);
	walk->folders = mem_grow(walk->folders, &walk->cap, walk->depth + 1,
	                         sizeof(*walk->folders));
	folder = &walk->folders[walk->depth++];
	*folder = (struct walk_folder){ .st = *st, .marks = marks, .fd = -1,
		                        .path_len = strlen(walk->path),
		                        .names = walk->names_len, .next = walk->names_len };
}

static void pop_folder(struct guard_walk *walk)
{
	struct walk_folder *folder = current(walk);

	if (folder->opened_up)
		guard_set_mode(folder->fd, folder->st.st_mode & 07777);
	fd_cleanup_close(&folder->fd);
	walk->names_len = folder->names;
	walk->depth--;
	walk->path[walk->depth ? current(walk)->path_len : 0] = '\0';
}

/* Its owner can have closed it. */
static int open_closed(struct walk_folder *folder, int above, const char *name, int flags)
{
	_cleanup_fd_ int fd = openat(above, name, O_PATH | ENTER_FLAGS);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || st.st_uid != geteuid() ||
	    !guard_set_mode(fd, (st.st_mode & 07777) | 0700)) {
		errno = EACCES;
		return -1;
	}
	folder->st.st_mode = st.st_mode;
	folder->opened_up = true;
	return openat(above, name, flags | ENTER_FLAGS);
}

static int open_entered(struct walk_folder *folder, int above, const char *name, int flags)
{
	int fd = openat(above, name, flags | ENTER_FLAGS);
	bool whole = (folder->st.st_mode & 0700) == 0700;

	if (fd >= 0 && !whole && faccessat(fd, ".", X_OK, AT_EACCESS) != 0) {
		close(fd);
		fd = -1;
		errno = EACCES;
	}
	return fd < 0 && errno == EACCES && !whole ?
	               open_closed(folder, above, name, flags) : fd;
}

static bool push_entry(void *data, const char *name, unsigned char type)
{
	struct guard_walk *walk = data;
	struct walk_folder *folder = current(walk);
	struct stat st;

	if (type == DT_UNKNOWN && fstatat(folder->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		type = IFTODT(st.st_mode);
	if (walk->entry(walk, folder, name, type) && type == DT_DIR)
		walk_push(walk, name);
	return true;
}

static void walk_list(struct guard_walk *walk)
{
	errno = EOVERFLOW;
	if (!guard_list(current(walk)->fd, LIMIT_FOLDER_ENTRIES, push_entry, walk) &&
	    errno != ENOENT)
		walk->failed(walk, errno);
	if (walk->listed)
		walk->listed(walk, current(walk));
}

/* What cannot be entered is no matter if it is not there, or not the user's. */
static void entering_failed(struct guard_walk *walk, int error)
{
	if (error != ENOENT && error != ENOTDIR && error != ELOOP && error != EACCES)
		walk->failed(walk, error);
}

/* Opens the current folder, which must be the one that `enter` was asked about. */
static bool open_current(struct guard_walk *walk, int above, const char *name,
                         enum walk_answer answer)
{
	struct walk_folder *folder = current(walk);
	struct stat now;

	folder->fd = open_entered(folder, above, name, answer == WALK_LIST ? O_RDONLY : O_PATH);
	if (folder->fd < 0 || fstat(folder->fd, &now) != 0) {
		entering_failed(walk, errno);
		return false;
	}
	if (same_folder(&now, &folder->st))
		return true;
	errno = ESTALE;
	return false;
}

static bool try_to_enter(struct guard_walk *walk, int above, const char *name)
{
	enum walk_answer answer;
	struct stat st;

	if (fstatat(above, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		entering_failed(walk, errno);
		return true;
	}
	if (!S_ISDIR(st.st_mode))
		return true;
	push_folder(walk, &st, strcmp(name, ".") == 0 ? "" : name);
	answer = walk->enter(walk, current(walk), walk->depth > 1 ? name : "");
	if (answer == WALK_SKIP) {
		pop_folder(walk);
		return true;
	}
	if (!open_current(walk, above, name, answer)) {
		bool swapped = errno == ESTALE;

		pop_folder(walk);
		return !swapped;
	}
	if (answer == WALK_LIST)
		walk_list(walk);
	if (walk->depth > WALK_FDS) {
		fd_cleanup_close(&walk->folders[walk->depth - 1 - WALK_FDS].fd);
		walk->folders[walk->depth - 1 - WALK_FDS].fd = -1;
	}
	return true;
}

/* Another folder may take its place at any time; not for ever. */
static void enter_folder(struct guard_walk *walk, int above, const char *name)
{
	for (int tries = 0; tries < WALK_TRIES; tries++)
		if (try_to_enter(walk, above, name))
			return;
	walk->failed(walk, ESTALE);
}

/* ---- the way up ---- */

/* The folder above, whose descriptor was closed: by "..", or by its path. */
static void open_above_again(struct guard_walk *walk)
{
	struct walk_folder *folder = current(walk), *above = folder - 1;
	struct stat st;
	char kept;
	int fd = folder->fd < 0 ? -1 : openat(folder->fd, "..", O_PATH | ENTER_FLAGS);

	if (fd >= 0 && fstat(fd, &st) == 0 && same_folder(&st, &above->st)) {
		above->fd = fd;
		return;
	}
	fd_cleanup_close(&fd);
	kept = walk->path[above->path_len];
	walk->path[above->path_len] = '\0';
	fd = guard_open(walk->top, walk->path, O_PATH | O_DIRECTORY);
	if (fd >= 0 && fstat(fd, &st) == 0 && same_folder(&st, &above->st)) {
		above->fd = fd;
	} else {
		fd_cleanup_close(&fd);
		if (above->next < folder->names) { /* there are others in it */
			walk->failed(walk, ESTALE);
			above->next = folder->names;
		}
	}
	walk->path[above->path_len] = kept;
}

static void walk_leave(struct guard_walk *walk)
{
	if (walk->depth > 1 && walk_above(walk)->fd < 0)
		open_above_again(walk);
	pop_folder(walk);
}

void walk_run(struct guard_walk *walk, int top)
{
	walk->top = top;
	walk->path = mem_grow(walk->path, &walk->path_cap, 1, 1);
	walk->path[0] = '\0';
	enter_folder(walk, top, ".");
	while (walk->depth) {
		struct walk_folder *folder = current(walk);

		if (folder->next < walk->names_len) {
			/* The names move when there are more of them. */
			_cleanup_free_ char *name = mem_strdup(walk->names + folder->next);

			folder->next += strlen(name) + 1;
			enter_folder(walk, folder->fd, name);
		} else {
			walk_leave(walk);
		}
	}
	free(walk->path);
	free(walk->names);
	free(walk->folders);
}
