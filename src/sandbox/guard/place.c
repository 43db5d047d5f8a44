/* SPDX-License-Identifier: Apache-2.0 */
/* Reaching, reading and renaming places beneath a writable path, and reporting what was done
 * there. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "sandbox/guard/private.h"
#include "sandbox/plan/denial.h"

enum { ASIDE_MAX = 99, LIST_BYTES = 8 << 10 };

#define TAKEN ".hasp-taken"

/* The kernel takes PATH_MAX bytes at a time; a component has 255 at most. */
enum { PIECE_BYTES = 3500 };

int guard_open(int folder, const char *path, int flags)
{
	_cleanup_fd_ int above = -1;

	while (strlen(path) > PIECE_BYTES) {
		const char *slash = memrchr(path, '/', PIECE_BYTES);
		_cleanup_free_ char *piece = slash ? mem_dup(path, (size_t)(slash - path)) : NULL;
		int next = piece ? fd_open_beneath(above < 0 ? folder : above, piece,
		                                   O_PATH | O_DIRECTORY) : -1;

		if (!slash)
			errno = ENAMETOOLONG;
		if (next < 0)
			return -1;
		fd_cleanup_close(&above);
		above = next;
		path = slash + 1;
	}
	return fd_open_beneath(above < 0 ? folder : above, path[0] ? path : ".", flags);
}

bool guard_stat(int folder, const char *path, struct stat *ret)
{
	_cleanup_fd_ int fd = guard_open(folder, path, O_PATH);

	return fd >= 0 && fstat(fd, ret) == 0;
}

struct opened {
	int fd; /* owned; O_PATH */
	mode_t mode;
};

enum { OPENED_MAX = 256 };

bool guard_set_mode(int fd, mode_t mode)
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
	    (st.st_mode & 0700) == 0700)
		return false;
	if (guard->opened_count == OPENED_MAX) {
		guard->stopped = true;
		return false;
	}
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (copy < 0 || !guard_set_mode(fd, (st.st_mode & 07777) | 0700)) {
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

void guard_close_up(struct guard *guard, size_t first)
{
	while (guard->opened_count > first) {
		struct opened *one = &guard->opened[--guard->opened_count];

		guard_set_mode(one->fd, one->mode);
		close(one->fd);
	}
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
	uint64_t random;

	random_distinct(&random, sizeof(random));
	if (number <= 1)
		snprintf(out, 256, "%.200s" TAKEN, name);
	else if (number <= ASIDE_MAX)
		snprintf(out, 256, "%.200s" TAKEN "-%d", name, number);
	else
		snprintf(out, 256, "%.200s" TAKEN "-%016llx", name, (unsigned long long)random);
}

bool guard_is_taken(const char *name)
{
	static const char digits[] = "0123456789abcdef";
	const char *end = NULL;
	size_t len;

	for (const char *at = strstr(name, TAKEN); at; at = strstr(at + 1, TAKEN))
		end = at + strlen(TAKEN);
	if (!end || !*end)
		return end;
	len = strlen(end + 1);
	return *end == '-' && ((len >= 1 && len <= 2 && strspn(end + 1, "0123456789") == len) ||
	                       (len == 16 && strspn(end + 1, digits) == len));
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

/* Writes a new file in the folder; its name is returned. */
static bool write_new(int folder, struct span content, mode_t mode, char ret_name[static 64])
{
	_cleanup_fd_ int fd = -1;
	uint64_t random;

	random_distinct(&random, sizeof(random));
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
struct place_entry {
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char name[];
};

bool guard_list(int folder, size_t max,
                bool (*each)(void *data, const char *name, unsigned char type), void *data)
{
	_Alignas(struct place_entry) char bytes[LIST_BYTES];
	size_t count = 0;

	for (;;) {
		long n = syscall(SYS_getdents64, folder, bytes, sizeof(bytes));

		if (n <= 0)
			return n == 0;
		for (long at = 0; at < n;) {
			const struct place_entry *entry = (const void *)(bytes + at);

			at += entry->len;
			if (strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0)
				continue;
			if (count++ == max || !each(data, entry->name, entry->type))
				return false;
		}
	}
}

/* Of the clock that file times come from: CLOCK_REALTIME_COARSE lags behind it by a part of a tick
 * (Linux 6.13, multigrain timestamps). */
struct timespec guard_now(void)
{
	_cleanup_fd_ int fd = memfd_create("now", MFD_CLOEXEC);
	struct timespec now;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0)
		return st.st_ctim;
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	return now;
}

bool guard_stat_since(const struct stat *st, const struct timespec *when)
{
	return st->st_ctim.tv_sec != when->tv_sec ? st->st_ctim.tv_sec > when->tv_sec :
	                                            st->st_ctim.tv_nsec >= when->tv_nsec;
}

bool guard_changed_since(const struct guard *guard, const struct stat *st)
{
	return guard_stat_since(st, &guard->began);
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

/* Of a long path both ends. */
static void put_both_ends(char *out, size_t size, const char *path)
{
	size_t len = strlen(path), half = (size - 8) / 2;

	if (len < size)
		memcpy(out, path, len + 1);
	else
		snprintf(out, size, "%.*s ... %s", (int)half, path, path + len - half);
}

static void deliver(struct guard *guard, const struct denial *denial)
{
	if (guard->denied) {
		guard->denied(guard->data, denial);
		return;
	}
	/* What was left by an earlier command, and is reported with this one's. */
	guard->early = mem_grow(guard->early, &guard->early_cap, guard->early_count + 1,
	                        sizeof(*guard->early));
	guard->early[guard->early_count++] = *denial;
}

void guard_deliver_early(struct guard *guard)
{
	for (size_t i = 0; i < guard->early_count; i++)
		guard->denied(guard->data, &guard->early[i]);
	guard->early_count = 0;
}

/* One more; false if it is only counted. */
static bool report_one(struct guard *guard)
{
	return ++guard->reported <= LIMIT_GUARD_REPORTED;
}

void guard_report(struct guard *guard, enum sandbox_reason reason, const struct guard_root *root,
                  const char *path, const char *done, ...)
{
	struct denial denial = { .kind = DENIAL_REMOVED, .reason = reason,
		.level = guard->plan->level, .count = 1 };
	_cleanup_free_ char *full = NULL;
	va_list args;
	char how[400], where[sizeof(denial.what) - sizeof(how) - 4];

	if (!report_one(guard))
		return;
	va_start(args, done);
	vsnprintf(how, sizeof(how), done, args);
	va_end(args);
	full = guard_full_path(root, path);
	put_both_ends(where, sizeof(where), full);
	snprintf(denial.what, sizeof(denial.what), "%s (%s)", where, how);
	deliver(guard, &denial);
}

void guard_report_failed(struct guard *guard, enum sandbox_reason reason,
                         const struct guard_root *root, const char *path, const char *done)
{
	guard_report(guard, reason, root, path, "it could not be %s: %s", done, strerror(errno));
	guard->stopped = true;
	if (!guard->stuck)
		guard->stuck = guard_full_path(root, path);
}

void guard_report_changed(struct guard *guard, enum sandbox_reason reason,
                          const struct guard_root *root, const char *path)
{
	struct denial denial = { .kind = DENIAL_CHANGED, .reason = reason,
		.level = guard->plan->level, .count = 1 };
	_cleanup_free_ char *full = NULL;

	if (!report_one(guard))
		return;
	full = guard_full_path(root, path);
	put_both_ends(denial.what, sizeof(denial.what), full);
	deliver(guard, &denial);
}

void guard_report_unchecked(struct guard *guard, const struct guard_root *root, const char *path,
                            int error)
{
	struct denial denial = { .kind = DENIAL_UNCHECKED, .reason = SANDBOX_REASON_LIMIT,
		.level = guard->plan->level, .count = 1 };
	_cleanup_free_ char *full = NULL;
	char where[900];

	guard->stopped = true;
	if (!report_one(guard))
		return;
	full = guard_full_path(root, path);
	put_both_ends(where, sizeof(where), full);
	snprintf(denial.what, sizeof(denial.what), "%s (%s)", where, strerror(error));
	deliver(guard, &denial);
}

void guard_report_rest(struct guard *guard)
{
	struct denial denial = { .kind = DENIAL_REMOVED, .reason = SANDBOX_REASON_LIMIT,
		.level = guard->plan->level, .count = 1 };
	const size_t more = guard->reported > LIMIT_GUARD_REPORTED ?
	                            guard->reported - LIMIT_GUARD_REPORTED : 0;

	if (!more)
		return;
	snprintf(denial.what, sizeof(denial.what),
	         "%zu more name%s (put right or changed likewise, and not listed)", more,
	         more == 1 ? "" : "s");
	deliver(guard, &denial);
}

bool guard_take_away(struct guard *guard, enum sandbox_reason reason,
                     const struct guard_root *root, const char *path)
{
	const char *name;
	_cleanup_fd_ int folder = guard_open_parent(root->fd, path, &name);
	char aside[256];

	if (folder < 0 || !guard_put_aside(guard, folder, name, aside)) {
		if (errno != ENOENT)
			guard_report_failed(guard, reason, root, path, "taken away");
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

	/* It was not yet, when an earlier command ran. */
	return !guard->completing &&
	       !plan_judge(guard->plan, full, SANDBOX_WRITE, false, &denial) &&
	       !is_absent(guard->plan, denial.rule);
}

/* ---- the list of places ---- */

/* Places have a name that strangers choose: the digest of it finds them. */
static size_t place_slot(const struct guard *guard, const struct sha256 *key)
{
	size_t at;

	memcpy(&at, key->bytes, sizeof(at));
	for (at &= guard->place_mask; guard->place_slots[at]; at = (at + 1) & guard->place_mask)
		if (sha256_eq(&guard->place_slots[at]->key, key))
			break;
	return at;
}

static void grow_places(struct guard *guard)
{
	struct guard_place **old = guard->place_slots;
	size_t size = old ? guard->place_mask + 1 : 0;

	guard->place_mask = old ? size * 2 - 1 : 63;
	guard->place_slots = mem_alloc(guard->place_mask + 1, sizeof(struct guard_place *));
	for (size_t i = 0; i < size; i++)
		if (old[i])
			guard->place_slots[place_slot(guard, &old[i]->key)] = old[i];
	free(old);
}

struct guard_place *guard_add_place(struct guard *guard, const struct guard_root *root,
                                    const char *path, bool *ret_new)
{
	const size_t number = (size_t)(root - guard->roots);
	struct sha256_stream stream;
	struct guard_place *place;
	struct sha256 key;
	size_t at;

	sha256_init(&stream);
	sha256_update(&stream, span_of((const char *)&number, sizeof(number)));
	sha256_update(&stream, span_str(path));
	key = sha256_final(&stream);
	if (!guard->place_slots || guard->place_count * 2 > guard->place_mask)
		grow_places(guard);
	at = place_slot(guard, &key);
	*ret_new = !guard->place_slots[at];
	if (!*ret_new)
		return guard->place_slots[at];
	place = mem_alloc(1, sizeof(*place));
	place->root = root;
	place->path = mem_strdup(path);
	place->key = key;
	guard->place_slots[at] = place;
	guard->places = mem_grow(guard->places, &guard->place_cap, guard->place_count + 1,
	                         sizeof(*guard->places));
	guard->places[guard->place_count++] = place;
	return place;
}
