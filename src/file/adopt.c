/* SPDX-License-Identifier: Apache-2.0 */
#include "file/adopt.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "file/attributes.h"
#include "file/folder_cache.h"
#include "file/lease.h"
#include "file/backoff.h"
#include "file/swap.h"

enum { GRACE_US = 100, LIVELY_SECONDS = 2 };

static bool grace(void)
{
	const struct timespec delay = { .tv_nsec = GRACE_US * 1000 };

	return nanosleep(&delay, NULL) == 0;
}

/* When somebody else last changed the file that `base` was read from. */
static time_t others_at(const struct snapshot *base)
{
	if (!base->exists || !base->place.clean)
		return base->stat.st_ctim.tv_sec;
	return folder_cache_others_at(base->place.clean, &base->stat, &base->sha256);
}

bool stage_grace(const struct snapshot *base)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (base->exists && now.tv_sec - others_at(base) <= LIVELY_SECONDS)
		return grace();
	sched_yield();
	return false;
}

/* A lease that conflicts with every other open, also for reading. BUSY: somebody waits for
 * it to end, or has the file open. */
static enum lease take_alone(int fd)
{
	if (fcntl(fd, F_SETSIG, SIGURG) < 0)
		return LEASE_NONE;
	if (fcntl(fd, F_SETLEASE, F_WRLCK) == 0)
		return LEASE_HELD;
	return errno == EAGAIN ? LEASE_BUSY : LEASE_NONE;
}

void stage_guard(struct stage *stage)
{
	if (stage->fd >= 0)
		stage->guarded = take_alone(stage->fd) == LEASE_HELD;
}

void stage_note(const struct stage *stage, const struct snapshot *base)
{
	struct stat now;

	/* Without the lease, what it has now may be somebody else's doing. */
	if (stage->guarded && base->place.clean && fstat(stage->fd, &now) == 0)
		folder_cache_note_file(base->place.clean, &now, &stage->sha256, others_at(base));
}

/* Makes the content of `to` that of `from`. */
static bool copy_content(int from, int to)
{
	_cleanup_free_ char *block = mem_piece();
	off_t at = 0;

	for (;;) {
		ssize_t n = pread(from, block, MEM_PIECE_BYTES, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		if (n == 0)
			return ftruncate(to, at) == 0;
		for (ssize_t done = 0; done < n;) {
			ssize_t put = pwrite(to, block + done, (size_t)(n - done), at + done);

			if (put <= 0 && !(put < 0 && errno == EINTR))
				return false;
			done += put > 0 ? put : 0;
		}
		at += n;
	}
}

enum outcome { OUTCOME_DONE, OUTCOME_AGAIN, OUTCOME_FAILED };

/* Opens what has the name now, if that is a regular file and not ours; -1 with errno set. */
static int open_theirs(const struct stage *stage, struct stat *ret)
{
	int fd;

	if (fstatat(stage->folder, stage->leaf, ret, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	errno = EINVAL;
	if (!S_ISREG(ret->st_mode) || stat_same_file(ret, &stage->stat))
		return -1;
	fd = openat(stage->folder, stage->leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, ret) < 0 || !S_ISREG(ret->st_mode) ||
	                stat_same_file(ret, &stage->stat))) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

/* Takes over from the file that has the name now, open as `fd` and leased if that can be. */
static enum outcome take_over(struct stage *stage, int fd, const struct stat *stat,
                              enum lease lease)
{
	struct err ignored = ERR_INIT;
	struct stat out;

	if (!copy_content(fd, stage->fd) ||
	    !attributes_copy(fd, stat, stage->fd, stage->leaf, NULL, &ignored) ||
	    !swap_rename(stage->folder, stage->name, stage->leaf, RENAME_EXCHANGE))
		return OUTCOME_FAILED;
	grace();
	if (fstatat(stage->folder, stage->name, &out, AT_SYMLINK_NOFOLLOW) == 0 &&
	    stat_same_file(&out, stat) && (lease != LEASE_HELD || lease_kept(fd)))
		return OUTCOME_DONE;
	return swap_put_back(stage->folder, stage->name, stage->leaf, &stage->stat, NULL, NULL) ?
	       OUTCOME_AGAIN : OUTCOME_FAILED;
}

/* Whether `name` has our file. It has a stranger's, older than what has the name, when somebody
 * renamed another over ours. */
static bool has_ours(const struct stage *stage)
{
	struct stat now;

	return fstatat(stage->folder, stage->name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       stat_same_file(&now, &stage->stat);
}

static enum outcome try_adopt(struct stage *stage)
{
	struct stat stat;
	_cleanup_fd_ int fd = open_theirs(stage, &stat);
	enum lease lease;

	if (!has_ours(stage))
		return OUTCOME_FAILED;
	if (fd < 0)
		return errno == EAGAIN || errno == EINTR ? OUTCOME_AGAIN : OUTCOME_FAILED;
	lease = lease_take(fd);
	return lease == LEASE_BUSY ? OUTCOME_AGAIN : take_over(stage, fd, &stat, lease);
}

/* True when our file has taken over the name: `name` then has the stranger's file, whose content
 * ours now has. */
static bool adopt(struct stage *stage, long long deadline_us)
{
	enum outcome outcome = OUTCOME_AGAIN;
	long backoff_us = BACKOFF_FIRST_US;

	while (outcome == OUTCOME_AGAIN) {
		outcome = try_adopt(stage);
		if (outcome == OUTCOME_AGAIN && !backoff_wait(deadline_us, &backoff_us))
			return false;
	}
	return outcome == OUTCOME_DONE;
}

/* Gives our file the content that the name has. */
static void resemble(struct stage *stage)
{
	struct stat stat;
	_cleanup_fd_ int fd = open_theirs(stage, &stat);

	if (fd >= 0)
		copy_content(fd, stage->fd);
}

bool stage_awaited(const struct stage *stage)
{
	return stage->fd >= 0 && take_alone(stage->fd) == LEASE_BUSY;
}

void stage_leave(struct stage *stage, long long deadline_us)
{
	enum lease lease;

	stage->seen = false;
	if (stage->fd < 0)
		return;
	grace();
	lease = take_alone(stage->fd);
	/* Without leases, others may be reading it. */
	if (lease != LEASE_NONE &&
	    !(lease == LEASE_BUSY && stage->name[0] && adopt(stage, deadline_us)))
		resemble(stage);
	stage_discard(stage);
	lease_drop(stage->fd);
}
