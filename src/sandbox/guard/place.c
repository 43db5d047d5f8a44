/* SPDX-License-Identifier: Apache-2.0 */
/* Reaching, reading and renaming places beneath a writable path, and reporting what was done
 * there. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/guard/private.h"
#include "sandbox/plan/denial.h"

enum { ASIDE_MAX = 99, LIST_BYTES = 8 << 10 };

#define TAKEN ".hasp-taken"

int guard_open(int folder, const char *path, int flags)
{
	return fd_open_beneath(folder, path[0] ? path : ".", flags);
}

struct opened {
	int fd; /* owned; O_PATH */
	mode_t mode;
};

enum { OPENED_MAX = 256 };

static bool set_mode(int fd, mode_t mode)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return chmod(link, mode) == 0;
}

static bool open_up_one(struct guard *guard, int fd)
{
	struct stat st;
	int copy;

	if (fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 0700) == 0700 || guard->opened_count == OPENED_MAX)
		return false;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (copy < 0 || !set_mode(fd, (st.st_mode & 07777) | 0700)) {
		if (copy >= 0)
			close(copy);
		return false;
	}
	if (!guard->opened)
		guard->opened = mem_alloc(OPENED_MAX, sizeof(*guard->opened));
	guard->opened[guard->opened_count++] = (struct opened){ copy, st.st_mode & 07777 };
	return true;
}

bool guard_open_up(struct guard *guard, int folder, const char *path)
{
	_cleanup_fd_ int fd = guard_open(folder, path, O_RDONLY | O_DIRECTORY);
	_cleanup_free_ char *prefix = NULL;
	bool any = false;

	/* A folder that can be read, and whose files can be reached, is what it usually is. */
	if (fd >= 0 ? faccessat(fd, ".", X_OK, AT_EACCESS) == 0 : errno != EACCES)
		return false;
	for (size_t n = 0; n <= strlen(path); n++) {
		_cleanup_fd_ int one = -1;

		if (n && path[n] != '/' && path[n] != '\0')
			continue;
		free(prefix);
		prefix = mem_dup(path, n);
		one = guard_open(folder, prefix, O_PATH | O_DIRECTORY);
		if (one < 0)
			break;
		any |= open_up_one(guard, one);
	}
	return any;
}

void guard_close_up(struct guard *guard)
{
	while (guard->opened_count) {
		struct opened *one = &guard->opened[--guard->opened_count];

		set_mode(one->fd, one->mode);
		close(one->fd);
	}
	free(guard->opened);
	guard->opened = NULL;
}

int guard_open_folder(struct guard *guard, int folder, const char *path)
{
	int fd = guard_open(folder, path, O_RDONLY | O_DIRECTORY);

	if (fd < 0 && errno == EACCES) {
		guard_open_up(guard, folder, path);
		fd = guard_open(folder, path, O_RDONLY | O_DIRECTORY);
	}
	return fd;
}

int guard_open_parent(int folder, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *parent = mem_dup(path, slash ? (size_t)(slash - path) : 0);

	*ret_name = slash ? slash + 1 : path;
	return guard_open(folder, parent, O_PATH | O_DIRECTORY);
}

const struct guard_root *guard_find_root(const struct guard *guard, const char *path,
                                         const char **ret_rest)
{
	const struct guard_root *best = NULL;

	for (size_t i = 0; i < guard->root_count; i++) {
		const struct guard_root *root = &guard->roots[i];

		if (strncmp(path, root->path, root->len) == 0 &&
		    (path[root->len] == '/' || path[root->len] == '\0' || root->len == 1) &&
		    (!best || root->len > best->len))
			best = root;
	}
	if (best) {
		*ret_rest = path + best->len;
		*ret_rest += **ret_rest == '/';
	}
	return best;
}

bool guard_read(int folder, const char *path, char **ret_data, size_t *ret_len)
{
	_cleanup_fd_ int fd = guard_open(folder, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	_cleanup_free_ char *data = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) != 0)
		return false;
	if (!S_ISREG(st.st_mode) || st.st_size > (off_t)LIMIT_GUARD_FILE_BYTES) {
		errno = S_ISREG(st.st_mode) ? EFBIG : EINVAL;
		return false;
	}
	/* One byte more than it has: a file that grows is seen to do so. */
	data = mem_alloc((size_t)st.st_size + 2, 1);
	n = fd_read_full(fd, data, (size_t)st.st_size + 1);
	if (n < 0)
		return false;
	data[n] = '\0';
	*ret_data = mem_steal(&data);
	*ret_len = (size_t)n;
	return true;
}

/* renameat2 where the file system knows no flags: looked at first. */
static bool rename_to_free(int folder, const char *from, const char *to)
{
	struct stat st;

	if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0)
		return true;
	if (errno != EINVAL)
		return false;
	if (fstatat(folder, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return false;
	}
	return renameat(folder, from, folder, to) == 0;
}

static void aside_name(const char *name, int number, char out[static 256])
{
	uint64_t random = 0;

	if (number <= 1)
		snprintf(out, 256, "%.200s" TAKEN, name);
	else if (number <= ASIDE_MAX)
		snprintf(out, 256, "%.200s" TAKEN "-%d", name, number);
	else if (getrandom(&random, sizeof(random), 0) >= 0)
		snprintf(out, 256, "%.200s" TAKEN "-%016llx", name, (unsigned long long)random);
}

bool guard_put_aside(struct guard *guard, int folder, const char *name, char ret_name[static 256])
{
	for (int number = 1; number <= ASIDE_MAX + 1; number++) {
		aside_name(name, number, ret_name);
		if (rename_to_free(folder, name, ret_name))
			return true;
		if (errno == EACCES && number == 1 && open_up_one(guard, folder) &&
		    rename_to_free(folder, name, ret_name))
			return true;
		if (errno != EEXIST)
			break;
	}
	ret_name[0] = '\0';
	return false;
}

/* A new file beside the name. */
static bool write_new(int folder, struct span content, mode_t mode, char ret_name[static 64])
{
	_cleanup_fd_ int fd = -1;
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), 0) < 0)
		return false;
	snprintf(ret_name, 64, ".hasp-new-%016llx", (unsigned long long)random);
	fd = openat(folder, ret_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	if (fd_write_all(fd, content.data ? content.data : "", content.len) &&
	    fchmod(fd, mode & 0777) == 0)
		return true;
	unlinkat(folder, ret_name, 0);
	return false;
}

/* What the name `fresh` stands for after an exchange: what was there, at that instant. */
static void put_exchanged_aside(int folder, const char *fresh, const char *name,
                                char ret_name[static 256])
{
	for (int number = 1; number <= ASIDE_MAX + 1; number++) {
		aside_name(name, number, ret_name);
		if (rename_to_free(folder, fresh, ret_name))
			return;
	}
	snprintf(ret_name, 256, "%s", fresh);
}

bool guard_replace(struct guard *guard, int folder, const char *name, struct span content,
                   mode_t mode, char ret_name[static 256])
{
	char fresh[64];

	ret_name[0] = '\0';
	if (!write_new(folder, content, mode, fresh) &&
	    (errno != EACCES || !open_up_one(guard, folder) ||
	     !write_new(folder, content, mode, fresh)))
		return false;
	if (rename_to_free(folder, fresh, name))
		return true;
	if (errno == EEXIST && renameat2(folder, fresh, folder, name, RENAME_EXCHANGE) == 0) {
		put_exchanged_aside(folder, fresh, name, ret_name);
		return true;
	}
	/* No exchange on this file system: two steps. */
	if (guard_put_aside(guard, folder, name, ret_name) && rename_to_free(folder, fresh, name))
		return true;
	unlinkat(folder, fresh, 0);
	return false;
}

/* getdents64(2) */
struct entry {
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char name[];
};

bool guard_list(int folder, size_t max,
                bool (*each)(void *data, const char *name, unsigned char type), void *data)
{
	_Alignas(struct entry) char bytes[LIST_BYTES];
	size_t count = 0;

	for (;;) {
		long n = syscall(SYS_getdents64, folder, bytes, sizeof(bytes));

		if (n <= 0)
			return n == 0;
		for (long at = 0; at < n;) {
			const struct entry *entry = (const void *)(bytes + at);

			at += entry->len;
			if (strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0)
				continue;
			if (count++ == max || !each(data, entry->name, entry->type))
				return false;
		}
	}
}

bool guard_changed_since(const struct guard *guard, const struct stat *st)
{
	return st->st_ctim.tv_sec != guard->began.tv_sec ?
	               st->st_ctim.tv_sec > guard->began.tv_sec :
	               st->st_ctim.tv_nsec >= guard->began.tv_nsec;
}

bool guard_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec &&
	       a->st_mode == b->st_mode && a->st_size == b->st_size;
}

/* ---- reporting, and taking away what may not stay ---- */

char *guard_full_path(const struct guard_root *root, const char *path)
{
	return mem_printf("%s%s%s", root->len == 1 ? "" : root->path, path[0] ? "/" : "", path);
}

void guard_report(struct guard *guard, enum sandbox_reason reason, const struct guard_root *root,
                  const char *path, const char *done, ...)
{
	struct denial denial = { .kind = DENIAL_REMOVED, .reason = reason,
		.level = guard->plan->level, .count = 1 };
	_cleanup_free_ char *full = guard_full_path(root, path);
	va_list args;
	char how[400];

	va_start(args, done);
	vsnprintf(how, sizeof(how), done, args);
	va_end(args);
	if (++guard->reported > LIMIT_GUARD_TOLD || !guard->denied)
		return;
	snprintf(denial.what, sizeof(denial.what), "%.*s (%s)",
	         (int)(sizeof(denial.what) - sizeof(how) - 4), full, how);
	guard->denied(guard->data, &denial);
}

void guard_report_changed(struct guard *guard, enum sandbox_reason reason,
                          const struct guard_root *root, const char *path)
{
	struct denial denial = { .kind = DENIAL_CHANGED, .reason = reason,
		.level = guard->plan->level, .count = 1 };
	_cleanup_free_ char *full = guard_full_path(root, path);

	if (++guard->reported > LIMIT_GUARD_TOLD || !guard->denied)
		return;
	snprintf(denial.what, sizeof(denial.what), "%s", full);
	guard->denied(guard->data, &denial);
}

bool guard_take_away(struct guard *guard, enum sandbox_reason reason,
                     const struct guard_root *root, const char *path)
{
	const char *name;
	_cleanup_fd_ int folder = guard_open_parent(root->fd, path, &name);
	char aside[256];

	if (folder < 0 || !guard_put_aside(guard, folder, name, aside)) {
		if (errno != ENOENT)
			guard_report(guard, reason, root, path, "it could not be taken away: %s",
			             strerror(errno));
		return false;
	}
	guard_report(guard, reason, root, path, "taken away: it is %s now", aside);
	return true;
}

static bool is_absent(const struct sandbox_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->absent_count; i++) {
		if (strcmp(plan->absent[i].path, path) == 0)
			return true;
	}
	return false;
}

bool guard_is_protected(const struct guard *guard, const struct guard_root *root, const char *path)
{
	_cleanup_free_ char *full = guard_full_path(root, path);
	struct denial denial;

	return !plan_judge(guard->plan, full, SANDBOX_WRITE, false, &denial) &&
	       !is_absent(guard->plan, denial.rule);
}

/* ---- the list of places ---- */

struct guard_place *guard_add_place(struct guard *guard, const struct guard_root *root,
                                    const char *path, bool *ret_new)
{
	struct guard_place *place;

	*ret_new = false;
	for (size_t i = 0; i < guard->place_count; i++) {
		if (guard->places[i]->root == root && strcmp(guard->places[i]->path, path) == 0)
			return guard->places[i];
	}
	if (guard->place_count == LIMIT_GUARD_PLACES) {
		guard->lost = true;
		return NULL;
	}
	place = mem_alloc(1, sizeof(*place));
	place->root = root;
	place->path = mem_strdup(path);
	guard->places = mem_grow(guard->places, &guard->place_cap, guard->place_count + 1,
	                         sizeof(*guard->places));
	guard->places[guard->place_count++] = place;
	*ret_new = true;
	return place;
}
