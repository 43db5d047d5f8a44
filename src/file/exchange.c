/* SPDX-License-Identifier: Apache-2.0 */
/* The compare-and-swap itself: verify, exchange, verify the file that came out; and the undo.
 *
 * With a lease (stage.h): take it, compare every byte of the old file with what was read, check
 * again that it has its name, exchange the names, check that the same file came out and that the
 * lease was not broken. Then no byte of it has changed since the comparison. Time stamps are not
 * enough: a store through a shared mapping may update them later, and on older kernels they are no
 * finer than a clock tick. Without a lease: compare again after the exchange.
 */
#include "file/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "file/private.h"

struct contest {
	struct stage *stage;
	const struct snapshot *base;
	const struct commit_how *how;
	int fd; /* what is compared and leased: base->fd, or the file opened again */
	char kept[TEMPORARY_NAME_SIZE]; /* what has a stranger's file that could not be put back */
	enum lease lease;
	long long deadline_us;
	long backoff_us;
};

enum verdict { VERDICT_SAME, VERDICT_CHANGED, VERDICT_BUSY, VERDICT_ERROR };

/* On overlayfs a descriptor opened for reading may keep showing the lower file after another
 * process has created an upper one by writing. There the file to compare is opened now. */
static int contest_reopen_file(const struct snapshot *base)
{
	struct statfs fs;
	struct stat held, named;
	int fd;

	if (fstatfs(base->fd, &fs) < 0 || fs.f_type != OVERLAYFS_SUPER_MAGIC)
		return -1;
	fd = place_open(&base->place, O_RDONLY);
	if (fd >= 0 && (fstat(fd, &named) < 0 || fstat(base->fd, &held) < 0 ||
	                !stat_same_file(&named, &held))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void contest_start(struct contest *contest, struct stage *stage,
                          const struct snapshot *base, const struct commit_how *how)
{
	*contest = (struct contest){ .stage = stage, .base = base, .how = how,
		                     .fd = stage->reopened >= 0 ? stage->reopened : base->fd,
		                     .lease = LEASE_NONE,
		                     .deadline_us = clock_deadline(how->options.busy_wait_ms),
		                     .backoff_us = BACKOFF_FIRST_US };
	stage->options = &how->options;
}

/* Waits a little; false when the time is up. */
static bool contest_back_off(struct contest *contest)
{
	commit_waits(&contest->how->options);
	return clock_back_off(contest->deadline_us, &contest->backoff_us);
}

static void contest_reached(const struct contest *contest, enum commit_point point)
{
	if (contest->how->at)
		contest->how->at(point, contest->how->data);
}

/* Whether the open file still has exactly the bytes that were read. */
static enum verdict compare_content(const struct contest *contest)
{
	struct span rest = contest->base->content;
	/* One byte more than there should be: what was appended shows. */
	size_t size = rest.len < MEM_PIECE_BYTES ? rest.len + 1 : MEM_PIECE_BYTES;
	_cleanup_free_ char *block = mem_alloc(1, size);
	off_t at = 0;

	for (;;) {
		ssize_t n = pread(contest->fd, block, size, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return VERDICT_ERROR;
		if (n == 0)
			return rest.len == 0 ? VERDICT_SAME : VERDICT_CHANGED;
		if ((size_t)n > rest.len || memcmp(block, rest.data, (size_t)n) != 0)
			return VERDICT_CHANGED;
		rest = span_skip(rest, (size_t)n);
		at += n;
		/* A short read of a regular file is its end. */
		if ((size_t)n < size && rest.len == 0)
			return VERDICT_SAME;
	}
}

/* Whether `name` is the file that was read. Its numbers may change under us when overlayfs
 * copies it up, so a difference is looked at again. */
static enum verdict compare_name(const struct contest *contest, const char *name,
                                 struct stat *ret)
{
	struct stat now;

	if (fstatat(contest->stage->folder, name, ret, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? VERDICT_CHANGED : VERDICT_ERROR;
	if (stat_same_file(ret, &contest->base->stat))
		return VERDICT_SAME;
	return fstat(contest->fd, &now) == 0 && stat_same_file(ret, &now) ? VERDICT_SAME :
	                                                                    VERDICT_CHANGED;
}

/* Checks the name again, as late as possible: a file renamed in after that must be put back. */
static enum verdict verify_name(const struct contest *contest)
{
	struct stat now;

	return compare_name(contest, contest->stage->leaf, &now);
}

/* Before: no process has it open for writing, and it is unchanged. The attempt itself checks last
 * whether it still has its name. */
static enum verdict verify_before(struct contest *contest)
{
	contest->lease = contest->how->no_lease ? LEASE_NONE : file_lease_take(contest->fd);
	return contest->lease == LEASE_BUSY ? VERDICT_BUSY : compare_content(contest);
}

/* No process has opened it for writing since verify_before, or at least it is unchanged. */
static enum verdict verify_still(const struct contest *contest)
{
	if (contest->lease == LEASE_HELD)
		return file_lease_is_held(contest->fd) ? VERDICT_SAME : VERDICT_BUSY;
	return compare_content(contest);
}

/* After: what came out, under `name`, is the file that was verified, and still unchanged. */
static enum verdict verify_after(struct contest *contest, struct stat *out)
{
	enum verdict verdict = compare_name(contest, contest->stage->name, out);

	contest_reached(contest, COMMIT_EXCHANGED);
	return verdict == VERDICT_SAME ? verify_still(contest) : verdict;
}

static void contest_drop_lease(struct contest *contest)
{
	if (contest->lease == LEASE_HELD)
		file_lease_drop(contest->fd);
	contest->lease = LEASE_NONE;
}

/* One attempt, keeping the lease if it succeeds; repeated while another process is writing and
 * there is time. */
static enum verdict contest_run(struct contest *contest,
                                enum verdict (*attempt)(struct contest *contest))
{
	for (;;) {
		enum verdict verdict = VERDICT_BUSY;
		int saved;

		if (!stage_lock(contest->stage, contest->deadline_us))
			return VERDICT_BUSY;
		verdict = verify_before(contest);
		if (verdict == VERDICT_SAME)
			verdict = attempt(contest);
		saved = errno;
		stage_unlock(contest->stage);
		if (verdict != VERDICT_SAME)
			contest_drop_lease(contest);
		errno = saved;
		if (verdict != VERDICT_BUSY || !contest_back_off(contest))
			return verdict;
	}
}

static bool contest_end(const struct contest *contest, enum verdict verdict, struct err *err)
{
	const char *path = contest->base->place.path;

	switch (verdict) {
	case VERDICT_SAME:
		contest->stage->leased = contest->lease == LEASE_HELD ? contest->fd : -1;
		return true;
	case VERDICT_CHANGED:
		return err_set(err, ERR_STATE_MISMATCH,
		               "%s has changed on disk since it was read.", path);
	case VERDICT_BUSY:
		return err_set(err, ERR_BUSY, "Another program has %s open for writing.", path);
	case VERDICT_ERROR:
		break;
	}
	if (contest->kept[0])
		return err_set_errno(err, errno,
		                     "Cannot restore what others wrote to %s; it is in %s in the "
		                     "same folder", path, contest->kept);
	return err_set_errno(err, errno, "Cannot replace %s", path);
}

static void contest_reached_put_back(void *data)
{
	contest_reached(data, COMMIT_PUT_BACK);
}

/* The old file's attributes changed after they were copied: the new one follows. What cannot
 * be followed now stays as it was copied. */
static void contest_copy_attributes(struct contest *contest, const struct stat *out)
{
	const struct stat *copied = &contest->stage->old_stat;
	struct err ignored = ERR_INIT;

	if (out->st_mode != copied->st_mode || out->st_uid != copied->st_uid ||
	    out->st_gid != copied->st_gid)
		attributes_copy(contest->base->fd, out, contest->stage->fd,
		                contest->base->place.path, NULL, &ignored);
}

/* Without RENAME_EXCHANGE: what is renamed over cannot be looked at any more, so all
 * looking is before. */
static enum verdict attempt_plain(struct contest *contest)
{
	struct stage *stage = contest->stage;
	enum verdict verdict;

	contest_reached(contest, COMMIT_COMPARED);
	verdict = verify_name(contest);
	if (verdict != VERDICT_SAME)
		return verdict;
	if (contest->lease == LEASE_HELD && !file_lease_is_held(contest->fd))
		return VERDICT_BUSY;
	if (!swap_rename(stage->folder, stage->name, stage->leaf, 0))
		return VERDICT_ERROR;
	stage->name[0] = '\0';
	return VERDICT_SAME;
}

/* Afterwards `name` has our file again, for another attempt, or nothing; returns `verdict`. */
static enum verdict contest_put_back(struct contest *contest, enum verdict verdict)
{
	struct stage *stage = contest->stage;
	int saved = errno;

	if (swap_put_back(stage->folder, stage->name, stage->leaf, &stage->stat,
	                  contest_reached_put_back,
	                  contest)) {
		/* Processes that wait for the old file go first, then those that wait for ours. */
		contest_drop_lease(contest);
		if (verdict != VERDICT_BUSY || stage_awaited(stage)) {
			stage_leave(stage, contest->deadline_us);
			contest->deadline_us = 0; /* our file is spent: no other attempt */
		}
		errno = saved;
		return verdict;
	}
	/* It holds another process's content: recovery puts it back (recover_folder). */
	memcpy(contest->kept, stage->name, sizeof(contest->kept));
	stage->name[0] = '\0';
	return VERDICT_ERROR;
}

static enum verdict attempt_exchange(struct contest *contest)
{
	struct stage *stage = contest->stage;
	enum verdict verdict;
	struct stat out;

	if (contest->how->no_exchange)
		return attempt_plain(contest);
	stage_guard(stage);
	verdict = verify_name(contest);
	if (verdict != VERDICT_SAME)
		return verdict;
	contest_reached(contest, COMMIT_COMPARED);
	if (!swap_rename(stage->folder, stage->name, stage->leaf, RENAME_EXCHANGE)) {
		if (swap_unsupported(errno))
			return attempt_plain(contest);
		return errno == ENOENT ? VERDICT_CHANGED : VERDICT_ERROR;
	}
	stage->seen = true;
	verdict = verify_after(contest, &out);
	stage->swapped = verdict == VERDICT_SAME;
	if (!stage->swapped)
		return contest_put_back(contest, verdict);
	contest_copy_attributes(contest, &out);
	return verdict;
}

bool stage_exchange(struct stage *stage, const struct snapshot *base,
                    const struct commit_how *how, struct err *err)
{
	struct contest contest;

	if (stage->reopened < 0)
		stage->reopened = contest_reopen_file(base);
	contest_start(&contest, stage, base, how);
	return contest_end(&contest, contest_run(&contest, attempt_exchange), err);
}

/* Afterwards the old file has its name again, unless that is taken: what took it is newer. */
static enum verdict contest_move_back(struct contest *contest, enum verdict verdict)
{
	struct stage *stage = contest->stage;

	if (!swap_move_back(stage->folder, stage->name, stage->leaf,
	                    contest->how->no_exchange) &&
	    errno == EEXIST)
		unlinkat(stage->folder, stage->name, 0);
	return verdict;
}

static enum verdict attempt_remove(struct contest *contest)
{
	struct stage *stage = contest->stage;
	enum verdict verdict = verify_name(contest);
	struct stat out;

	if (verdict != VERDICT_SAME)
		return verdict;
	contest_reached(contest, COMMIT_COMPARED);
	if (!swap_rename(stage->folder, stage->leaf, stage->name, 0))
		return errno == ENOENT ? VERDICT_CHANGED : VERDICT_ERROR;
	verdict = verify_after(contest, &out);
	stage->swapped = verdict == VERDICT_SAME;
	return stage->swapped ? verdict : contest_move_back(contest, verdict);
}

bool stage_remove(struct stage *stage, const struct snapshot *base, enum temporary_kind kind,
                  const struct commit_how *how, struct err *err)
{
	struct contest contest;
	struct temporary temporary;
	bool ok;

	stage->folder = base->place.folder;
	stage->leaf = base->place.leaf;
	stage->stat = base->stat;
	stage->cache = base->place.cache;
	/* Hold a lock so that others see this process is alive; a lock that another process holds
	 * does the same. */
	flock(base->fd, LOCK_SH | LOCK_NB);
	temporary_init(&temporary, kind, stage->leaf, &base->sha256, NULL);
	stage_choose_name(stage, &temporary, stage->name);
	stage->reopened = contest_reopen_file(base);
	contest_start(&contest, stage, base, how);
	ok = contest_end(&contest, contest_run(&contest, attempt_remove), err);
	if (!ok)
		stage->name[0] = '\0';
	return ok;
}

bool stage_confirm(struct stage *stage, const struct snapshot *base,
                   const struct commit_how *how, struct err *err)
{
	struct contest contest;
	enum verdict verdict;

	if (!stage->swapped)
		return true;
	contest_start(&contest, stage, base, how);
	contest.lease = stage->leased >= 0 ? LEASE_HELD : LEASE_NONE;
	verdict = verify_still(&contest);
	if (verdict == VERDICT_SAME)
		return true;
	stage->swapped = false;
	stage->leased = -1;
	stage_lock(stage, contest.deadline_us);
	verdict = stage->fd >= 0 ? contest_put_back(&contest, verdict) :
	          contest_move_back(&contest, verdict);
	stage_unlock(stage);
	contest_drop_lease(&contest);
	return contest_end(&contest, verdict, err);
}

/* ---- taking back ------------------------------------------------------------------ */

/* Whether the name still has our file, untouched. */
static bool stage_name_is_ours(const struct stage *stage)
{
	struct stat now;

	return fstatat(stage->folder, stage->leaf, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       stat_same_file(&now, &stage->stat) && snapshot_content_is(stage->fd, &stage->sha256);
}

static bool undo_exchange(struct stage *stage)
{
	bool ok = stage_name_is_ours(stage);

	if (ok && !swap_put_back(stage->folder, stage->name, stage->leaf, &stage->stat, NULL, NULL))
		stage->name[0] = '\0'; /* it holds another process's content: recovery puts it
				        * back */
	if (stage->leased >= 0)
		file_lease_drop(stage->leased);
	stage->leased = -1;
	stage_leave(stage, clock_deadline(0));
	return ok;
}

static bool undo_remove(struct stage *stage)
{
	bool ok = swap_move_back(stage->folder, stage->name, stage->leaf, false);

	if (ok)
		stage->name[0] = '\0';
	stage_discard(stage);
	return ok;
}

bool stage_undo(struct stage *stage)
{
	bool swapped = stage->swapped, created = stage->created;
	bool ok = false;

	stage->swapped = stage->created = false;
	/* A process that holds the lock longer than that is stopped: go on without it. */
	stage_lock(stage, clock_deadline(0));
	if (created)
		ok = stage_name_is_ours(stage) && unlinkat(stage->folder, stage->leaf, 0) == 0;
	else if (swapped)
		ok = stage->fd >= 0 ? undo_exchange(stage) : undo_remove(stage);
	stage_unlock(stage);
	return ok;
}
