/* SPDX-License-Identifier: Apache-2.0 */
/* Which place a path argument means, held by a descriptor.
 *
 * The supervisor sees the same mounts as the process; what differs is where relative paths begin
 * and what /proc/self is.  Most paths lead to their folder in one openat2 that takes no magic link
 * of /proc.  Where that fails, or ends within /proc, the path is walked component by component:
 * /proc/self is then the caller's, magic links are taken where the caller could take them, and
 * what belongs to the supervisor itself is out of reach.
 *
 * The supervisor judges the folder's name as the kernel gives it for the descriptor, and makes the
 * call beneath that descriptor, so it does not matter what becomes of the path meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/supervise/call.h"
#include "sandbox/supervise/decode.h"
#include "sandbox/supervise/named.h"
#include "sandbox/supervise/private.h"

#ifndef ST_NOSYMFOLLOW
#define ST_NOSYMFOLLOW 0x2000 /* statfs(2), Linux 5.10 */
#endif

const char *fd_path(int fd, char text[static FD_PATH_SIZE])
{
	snprintf(text, FD_PATH_SIZE, "/proc/self/fd/%d", fd);
	return text;
}

void named_release(struct named *named)
{
	if (!named->lent)
		fd_cleanup_close(&named->folder);
	named->folder = -1;
}

static int open_how(int folder, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | flags, .resolve = resolve };

	return (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
}

/* The name that the kernel has for a descriptor; what is no path (a pipe, a place out of reach) is
 * "". 0 or an errno: ENAMETOOLONG, the kernel has no room for it. */
static int read_name(int fd, char *path)
{
	char text[FD_PATH_SIZE];
	ssize_t n = readlink(fd_path(fd, text), path, LIMIT_PATH_BYTES);

	if (n < 0)
		return errno;
	if (n == LIMIT_PATH_BYTES)
		return ENAMETOOLONG;
	path[path[0] == '/' ? n : 0] = '\0';
	return 0;
}

/* The process's working folder, or one of its descriptors: owned, or -1 with errno set. */
int named_open_folder(const struct syscall *call, int folder)
{
	char link[24] = "cwd";
	int fd;

	if (folder != AT_FDCWD)
		snprintf(link, sizeof(link), "fd/%d", folder);
	fd = folder < 0 && folder != AT_FDCWD ? -1 : call_open_proc(call, link, O_PATH);
	if (fd < 0 && (errno == ENOENT || folder < 0))
		errno = EBADF;
	return fd;
}

static int open_root_folder(void)
{
	return open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* ---- /proc ---- */

/* Whether the descriptor is of a proc file system, whichever. */
static bool is_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) != 0 || fs.f_type == PROC_SUPER_MAGIC;
}

/* The process whose folder of /proc a name lies in, in /proc's own numbers; 0: it is not in one.
 * -1: in another /proc, of which nothing is known. */
static pid_t proc_owner_of(const char *path)
{
	if (strncmp(path, "/proc", 5) != 0 || (path[5] != '/' && path[5] != '\0'))
		return -1;
	return path[5] && ascii_is_digit(path[6]) ? call_proc_group(path + 6) : 0;
}

/* Entries of other processes that may be opened for writing: the supervisor must not open their
 * memory and mappings for a caller. */
static bool is_harmless_entry(const char *name)
{
	static const char *const names[] = { "oom_score_adj", "oom_adj", "comm",
		"coredump_filter" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

/* A name in /proc: 0 if the caller itself could open it there, as far as is known; else EACCES.
 * Not `writes`: it is read, or a magic link on the way, which the kernel permits or not. */
static int judge_proc(const struct syscall *call, const char *path, const char *name, bool writes)
{
	pid_t owner = proc_owner_of(path);

	if (owner == 0)
		return 0;
	if (owner > 0 && owner != call_proc_group("self") &&
	    (!writes || owner == call_group(call) || is_harmless_entry(name)))
		return 0;
	call_record_unjudged(call, "an entry of another process in /proc");
	return EACCES;
}

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- step by step ---- */

struct path_walk {
	const struct syscall *call;
	int at;           /* owned; O_PATH */
	unsigned links;   /* that were followed */
	const char *rest; /* what is still to be walked, in `text` */
	char text[2 * LIMIT_PATH_BYTES];
};

static void path_walk_release(struct path_walk *walk)
{
	fd_cleanup_close(&walk->at);
}
#define _cleanup_path_walk_ __attribute__((cleanup(path_walk_release)))

/* Goes on from `fd`, which it takes over. */
static int path_walk_enter(struct path_walk *walk, int fd, const char *rest)
{
	if (fd < 0)
		return errno;
	close(walk->at);
	walk->at = fd;
	walk->rest = rest;
	return 0;
}

/* The kernel's protection of sticky folders that all may write to (fs.protected_symlinks), which
 * the supervisor's own following would pass by. */
static bool link_is_trusted(const struct path_walk *walk, const struct stat *link)
{
	struct stat folder;

	if (fstat(walk->at, &folder) != 0)
		return false;
	return (folder.st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH) ||
	       link->st_uid == folder.st_uid || link->st_uid == caller_user();
}

/* /proc/self and /proc/thread-self are ordinary links whose text depends on the reader. */
static const char *own_entry(const char *name)
{
	if (strcmp(name, "self") == 0)
		return "task/..";
	return strcmp(name, "thread-self") == 0 ? "." : NULL;
}

/* A link within /proc. *ret_done: it led somewhere; else it is an ordinary one. */
static int follow_in_proc(struct path_walk *walk, const char *name, const char *rest,
                          bool *ret_done)
{
	char path[LIMIT_PATH_BYTES];
	int error = read_name(walk->at, path);
	bool root = !error && strcmp(path, "/proc") == 0;

	*ret_done = !root || own_entry(name);
	if (error || !*ret_done)
		return error;
	if (root)
		return path_walk_enter(walk, call_open_proc(walk->call, own_entry(name), O_PATH),
		                       rest);
	error = judge_proc(walk->call, path, name, false);
	if (error)
		return error;
	return path_walk_enter(walk, openat(walk->at, name, O_PATH | O_CLOEXEC), rest);
}

/* The link `name`, which was opened as `fd`, with `rest` behind it. */
static int path_walk_link(struct path_walk *walk, int fd, const struct stat *st,
                          const char *name, const char *rest)
{
	char target[LIMIT_PATH_BYTES];
	struct statfs fs;
	bool done = false;
	ssize_t n;
	int error;

	if (++walk->links > LIMIT_SYMLINKS || fstatfs(fd, &fs) != 0 ||
	    ((unsigned long)fs.f_flags & ST_NOSYMFOLLOW))
		return ELOOP;
	if (!link_is_trusted(walk, st))
		return EACCES;
	error = fs.f_type == PROC_SUPER_MAGIC ? follow_in_proc(walk, name, rest, &done) : 0;
	if (error || done)
		return error;
	n = readlinkat(fd, "", target, sizeof(target) - 1);
	if (n <= 0)
		return n < 0 ? errno : ENOENT;
	target[n] = '\0';
	error = decode_splice(walk->text, sizeof(walk->text), target, rest);
	if (error == ENAMETOOLONG)
		call_record_unjudged(walk->call, "links with too long a text");
	walk->rest = walk->text;
	if (!error && target[0] == '/')
		error = path_walk_enter(walk, open_root_folder(), walk->rest);
	return error;
}

/* The last component stays a name in its folder: it is what is made, moved, removed. */
static int path_walk_finish(struct path_walk *walk, const char *name, bool slash, struct named *ret)
{
	snprintf(ret->name, sizeof(ret->name), "%s%s", name, slash ? "/" : "");
	ret->folder = fd_steal(&walk->at);
	return 0;
}

/* Nothing is left: it is a folder, or what a magic link led to, which has no name. */
static int path_walk_end(struct path_walk *walk, struct named *ret)
{
	struct stat st;

	if (fstat(walk->at, &st) != 0)
		return errno;
	if (!S_ISDIR(st.st_mode) && *walk->rest)
		return ENOTDIR;
	return path_walk_finish(walk, S_ISDIR(st.st_mode) ? "." : "", false, ret);
}

/* One component; *ret_done when `ret` was filled in. */
static int path_walk_step(struct path_walk *walk, bool follow, struct named *ret, bool *ret_done)
{
	const char *start, *next;
	size_t len = decode_component(walk->rest, &start, &next);
	_cleanup_fd_ int fd = -1;
	char name[DECODE_NAME_MAX + 1];
	bool last = !*next;
	struct stat st;

	if (len > DECODE_NAME_MAX)
		return ENAMETOOLONG;
	memcpy(name, start, len);
	name[len] = '\0';
	*ret_done = !len || (last && !follow);
	if (!len)
		return path_walk_end(walk, ret);
	if (*ret_done)
		return path_walk_finish(walk, name, start[len] == '/', ret);
	fd = openat(walk->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno != ENOENT || !last))
		return errno;
	if (fd >= 0 && fstat(fd, &st) != 0)
		return errno;
	if (fd >= 0 && S_ISLNK(st.st_mode))
		return path_walk_link(walk, fd, &st, name, start + len);
	*ret_done = last && strcmp(name, "..") != 0;
	if (*ret_done)
		return path_walk_finish(walk, name, start[len] == '/', ret);
	return path_walk_enter(walk, fd_steal(&fd), next);
}

/* The name of a folder.  The thread's own working folder says it for a quarter of the cost of
 * /proc, but for what cannot be entered, or is out of reach. */
static int read_folder_name(const struct syscall *call, int fd, char *path)
{
	long n = -1;

	if (call->supervisor->own_folder && fchdir(fd) == 0)
		n = syscall(SYS_getcwd, path, (size_t)LIMIT_PATH_BYTES);
	return n > 1 && path[0] == '/' ? 0 : read_name(fd, path);
}

/* Fills in ret->path from folder and name, and judges what lies in /proc. */
static int name_place(const struct syscall *call, bool in_proc, struct named *ret)
{
	size_t len = strcspn(ret->name, "/"), have;
	int error = len ? read_folder_name(call, ret->folder, ret->path) :
	                  read_name(ret->folder, ret->path);

	if (!error && len && !ret->path[0]) /* a folder out of reach */
		error = EACCES;
	if (error)
		call_record_unjudged(call, error == ENAMETOOLONG ? "a folder with too long a path" :
		                                                   "a folder without a path");
	if (error)
		return error;
	if (in_proc &&
	    (error = judge_proc(call, ret->path, len ? ret->name : last_of(ret->path), true)) != 0)
		return error;
	have = strlen(ret->path);
	if (!len || !have || strcmp(ret->name, ".") == 0 || strcmp(ret->name, "..") == 0)
		return 0;
	have -= have == 1; /* "/" */
	ret->path[have++] = '/';
	memcpy(ret->path + have, ret->name, len);
	ret->path[have + len] = '\0';
	return 0;
}

/* From `base`, which it takes over. */
static int path_walk(const struct syscall *call, int base, const char *path, bool follow,
                     struct named *ret)
{
	_cleanup_path_walk_ struct path_walk walk = { .call = call, .at = base, .rest = walk.text };
	bool done = false;
	int error = 0;

	snprintf(walk.text, sizeof(walk.text), "%s", path);
	while (!error && !done)
		error = path_walk_step(&walk, follow, ret, &done);
	if (!error)
		error = name_place(call, is_proc(ret->folder), ret);
	if (error)
		named_release(ret);
	return error;
}

/* ---- paths ---- */

/* Where a relative path begins; -1 for an absolute one. */
struct base {
	int fd;
	bool lent; /* not owned: see call_known_folder */
};

static void base_release(struct base *base)
{
	if (!base->lent)
		fd_cleanup_close(&base->fd);
}
#define _cleanup_base_ __attribute__((cleanup(base_release)))

/* 0 or an errno. */
static int base_open(const struct syscall *call, int folder, struct base *ret)
{
	ret->fd = call_known_folder(call, folder, &ret->lent);
	if (ret->fd >= 0)
		return 0;
	ret->fd = named_open_folder(call, folder);
	if (ret->fd < 0)
		return errno;
	if (folder == AT_FDCWD && !is_proc(ret->fd))
		ret->lent = call_keep_folder(call, ret->fd);
	return 0;
}

/* A descriptor that is the taker's own, or -1 with errno set. */
static int base_take(struct base *base)
{
	return base->lent ? fcntl(base->fd, F_DUPFD_CLOEXEC, 0) : fd_steal(&base->fd);
}

/* The usual case: a name in a folder that the kernel finds without magic links. 0, ELOOP if it is
 * not that, or another errno.  What is not found may be there for the caller: /proc/self/fd/N. */
static int find_plain(const struct syscall *call, struct base *base, const char *path,
                      const struct decoded_path *parts, struct named *ret)
{
	char folder[LIMIT_PATH_BYTES];
	_cleanup_fd_ int fd = -1;

	if (parts->folder_len) {
		memcpy(folder, path, parts->folder_len);
		folder[parts->folder_len] = '\0';
		fd = open_how(base->fd, folder, O_DIRECTORY, RESOLVE_NO_MAGICLINKS);
		if (fd < 0 || is_proc(fd))
			return ELOOP;
		ret->folder = fd_steal(&fd);
	} else {
		if (!base->lent && is_proc(base->fd))
			return ELOOP;
		ret->lent = base->lent;
		ret->folder = base->lent ? base->fd : fd_steal(&base->fd);
	}
	memcpy(ret->name, parts->name, parts->name_len);
	memcpy(ret->name + parts->name_len, "/", 2);
	ret->name[parts->name_len + parts->slash] = '\0';
	return name_place(call, false, ret);
}

int named_find(const struct syscall *call, int folder, const char *path, bool follow,
               struct named *ret)
{
	struct decoded_path parts;
	_cleanup_base_ struct base base = { .fd = -1 };
	int error = decode_path(path, &parts), fd;

	ret->folder = -1;
	ret->lent = false;
	ret->name[0] = '\0';
	if (!error && path[0] != '/')
		error = base_open(call, folder, &base);
	if (error)
		return error;
	if (parts.plain && !follow) {
		error = find_plain(call, &base, path, &parts, ret);
		if (!error)
			return 0;
		named_release(ret);
		if (error != ELOOP)
			return error;
	}
	ret->lent = false;
	fd = path[0] == '/' ? open_root_folder() : base_take(&base);
	return fd < 0 ? errno : path_walk(call, fd, path, follow, ret);
}

int named_follow(const struct syscall *call, struct named *named)
{
	struct base base = { named->folder, named->lent };
	char name[sizeof(named->name)];
	int fd = base_take(&base);

	memcpy(name, named->name, sizeof(name));
	named->name[0] = '\0';
	named->folder = -1;
	named->lent = false;
	return fd < 0 ? errno : path_walk(call, fd, name, true, named);
}

/* Opens what was found; takes it over. */
static int open_found(struct named *named)
{
	int fd;

	if (named->name[0])
		fd = openat(named->folder, named->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	else
		fd = fd_steal(&named->folder);
	return fd;
}

/* The name of what was opened for a call that still waits; takes over `fd`, and returns it or
 * -1. */
static int name_opened(const struct syscall *call, int fd, bool writes, struct named *ret)
{
	_cleanup_fd_ int opened = fd;
	int error;

	if (opened < 0)
		return -1;
	error = read_name(opened, ret->path);
	if (error == ENAMETOOLONG)
		call_record_unjudged(call, "a name with too long a path");
	if (!error && is_proc(opened))
		error = judge_proc(call, ret->path, last_of(ret->path), writes);
	if (!error && !call_alive(call))
		error = ESRCH;
	if (error) {
		errno = error;
		return -1;
	}
	return fd_steal(&opened);
}

int named_open_descriptor(const struct syscall *call, int fd, struct named *ret)
{
	ret->folder = -1;
	ret->lent = false;
	if (fd < 0) {
		errno = EBADF;
		return -1;
	}
	return name_opened(call, named_open_folder(call, fd), false, ret);
}

int named_open(const struct syscall *call, int folder, const char *path, bool follow,
               struct named *ret)
{
	_cleanup_base_ struct base base = { .fd = -1 };
	int fd, error = path[0] == '/' ? 0 : base_open(call, folder, &base);

	ret->folder = -1;
	ret->lent = false;
	ret->name[0] = '\0';
	if (error) {
		errno = error;
		return -1;
	}
	fd = open_how(base.fd, path, follow ? 0 : O_NOFOLLOW, RESOLVE_NO_MAGICLINKS);
	if (fd >= 0 && !is_proc(fd))
		return name_opened(call, fd, false, ret);
	fd_cleanup_close(&fd);
	fd = path[0] == '/' ? open_root_folder() : base_take(&base);
	if (fd < 0)
		return -1;
	error = path_walk(call, fd, path, follow, ret);
	if (error) {
		errno = error;
		return -1;
	}
	fd = open_found(ret);
	named_release(ret);
	return name_opened(call, fd, false, ret);
}

int named_open_within(const struct syscall *call, int folder, const char *path,
                      const struct open_how *how, struct named *ret)
{
	const char *from = how->resolve & RESOLVE_IN_ROOT ? "." : path;
	_cleanup_fd_ int base = from[0] == '/' ? open_root_folder() :
	                                           named_open_folder(call, folder);
	int fd;

	ret->folder = -1;
	ret->lent = false;
	ret->name[0] = '\0';
	if (base < 0)
		return -1;
	fd = open_how(base, path, how->flags & (O_DIRECTORY | O_NOFOLLOW),
	              how->resolve | RESOLVE_NO_MAGICLINKS);
	return name_opened(call, fd, how->flags & O_ACCMODE, ret);
}

bool named_exists(const struct named *named)
{
	struct stat st;

	return !named->name[0] ||
	       fstatat(named->folder, named->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool named_is_link(const struct named *named)
{
	struct stat st;

	return named->name[0] &&
	       fstatat(named->folder, named->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISLNK(st.st_mode);
}
