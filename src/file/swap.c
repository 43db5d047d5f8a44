/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanging names in a folder, putting back what came out of an exchange, and leases on files. */
#include "file/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "file/private.h"

/* Each round requires a rename by another process within microseconds. */
enum { PUT_BACK_MAX = 10000 };

bool swap_rename(int folder, const char *from, const char *to, unsigned flags)
{
	long result;

	do
		result = flags ? syscall(SYS_renameat2, folder, from, folder, to, flags) :
		                 renameat(folder, from, folder, to);
	while (result < 0 && errno == EINTR);
	return result == 0;
}

bool swap_unsupported(int sys_errno)
{
	return sys_errno == EINVAL || sys_errno == ENOSYS || sys_errno == EOPNOTSUPP;
}

/* Holds the file under `name`, so that its number is not given to another meanwhile. */
static int swap_hold_file(int folder, const char *name, struct stat *ret)
{
	int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && fstat(fd, ret) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Whether `leaf` is something else, or nothing, since we put `put` there. */
static bool swap_is_superseded(int folder, const char *leaf, const struct stat *put)
{
	struct stat now;

	if (fstatat(folder, leaf, &now, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	return !stat_same_file(&now, put);
}

/* `put` is the file that our last exchange gave the name `leaf`. Each exchange takes out the
 * present file. If that is `put`, no other rename came between, and the newest of the others' files
 * has the name. If not, it was replaced in between, and we have just put an older file over a newer
 * one: the next round gives it back. */
bool swap_put_back(int folder, const char *name, const char *leaf, const struct stat *ours,
                   void (*before)(void *data), void *data)
{
	struct stat put = *ours, held, out;
	_cleanup_fd_ int put_pin = -1;

	for (int i = 0; i < PUT_BACK_MAX; i++) {
		int held_pin = swap_hold_file(folder, name, &held);

		if (held_pin < 0)
			return errno == ENOENT; /* removed by a recovery */
		/* Their next file, or none: no need to take it away, not even for a moment.
		 * Later on an older one has the name because of us: then no time is lost. */
		if (i == 0 && swap_is_superseded(folder, leaf, &put)) {
			close(held_pin);
			return true;
		}
		if (before)
			before(data);
		if (!swap_rename(folder, name, leaf, RENAME_EXCHANGE)) {
			close(held_pin);
			/* The name was removed by a process that saw the file we had put there. It
			 * would have removed the earlier file as well. */
			return errno == ENOENT;
		}
		if (put_pin >= 0)
			close(put_pin);
		put_pin = held_pin;
		if (fstatat(folder, name, &out, AT_SYMLINK_NOFOLLOW) < 0)
			return errno == ENOENT;
		if (stat_same_file(&out, &put))
			return true;
		put = held;
	}
	errno = EBUSY;
	return false;
}

bool swap_move_back(int folder, const char *name, const char *leaf, bool plain)
{
	if (!plain) {
		if (swap_rename(folder, name, leaf, RENAME_NOREPLACE))
			return true;
		if (!swap_unsupported(errno))
			return false;
	}
	if (linkat(folder, name, folder, leaf, 0) == 0)
		return unlinkat(folder, name, 0) == 0;
	if (errno == EEXIST)
		return false;
	/* No hard links either: look, then rename. */
	if (faccessat(folder, leaf, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return false;
	}
	return errno == ENOENT && swap_rename(folder, name, leaf, 0);
}

bool swap_move(int from_folder, const char *from, int to_folder, const char *to)
{
	long result;

	do
		result = syscall(SYS_renameat2, from_folder, from, to_folder, to, RENAME_NOREPLACE);
	while (result < 0 && errno == EINTR);
	if (result == 0 || !swap_unsupported(errno))
		return result == 0;
	return linkat(from_folder, from, to_folder, to, 0) == 0 &&
	       unlinkat(from_folder, from, 0) == 0;
}

bool swap_remove_created(int folder, const char *leaf, ino_t inode, const struct sha256 *sum)
{
	_cleanup_fd_ int fd = openat(folder, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char name[TEMPORARY_NAME_SIZE];
	struct temporary temporary;
	struct stat stat, out;

	if (fd < 0 || fstat(fd, &stat) < 0)
		return false;
	errno = 0;
	if (!S_ISREG(stat.st_mode) || stat.st_ino != inode || !snapshot_content_is(fd, sum))
		return false;
	temporary_init(&temporary, TEMPORARY_STAGED, leaf, NULL, sum);
	temporary_format(&temporary, name);
	if (!swap_move(folder, leaf, folder, name))
		return false;
	/* It may have been replaced, or written to, since it was looked at. */
	if (fstatat(folder, name, &out, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (!stat_same_file(&out, &stat) || !snapshot_content_is(fd, sum)) &&
	    swap_move(folder, name, folder, leaf))
		return true;
	return unlinkat(folder, name, 0) == 0;
}

/* ---- leases ----------------------------------------------------------------------- */

enum lease file_lease_take(int fd)
{
	/* Set the signal first: the lease can be broken immediately. */
	if (fcntl(fd, F_SETSIG, SIGURG) < 0)
		return LEASE_NONE;
	if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0)
		return LEASE_HELD;
	return errno == EAGAIN ? LEASE_BUSY : LEASE_NONE;
}

bool file_lease_is_held(int fd)
{
	return fcntl(fd, F_GETLEASE) == F_RDLCK;
}

void file_lease_drop(int fd)
{
	fcntl(fd, F_SETLEASE, F_UNLCK);
}
