/* SPDX-License-Identifier: Apache-2.0 */
/* The new file of a commit: anonymous if the file system can, content, attributes, a name; and
 * those who open it while it is tried out. */
#include "file/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "file/private.h"

enum {
	NAME_TRIES = 16,
	BATCH_PIECES = 256,
	/* The size of one write: large enough to hide the cost of the call, small enough that
	 * hashing starts early. */
	BATCH_BYTES = 4 << 20,
	HOLE_BYTES = 64 << 10,
};

void stage_discard(struct stage *stage)
{
	if (stage->name[0])
		unlinkat(stage->folder, stage->name, 0);
	stage->name[0] = '\0';
}

void stage_release(struct stage *stage)
{
	if (stage->seen && !stage->swapped) {
		stage_lock(stage, clock_deadline(0));
		stage_leave(stage, clock_deadline(0));
		stage_unlock(stage);
	}
	/* Not left to close(): a child forked meanwhile may have the descriptor too. */
	if (stage->fd >= 0)
		file_lease_drop(stage->fd);
	stage_discard(stage);
	if (stage->leased >= 0)
		file_lease_drop(stage->leased);
	if (stage->reopened >= 0)
		close(stage->reopened);
	if (stage->fd >= 0)
		close(stage->fd);
	if (stage->readable >= 0)
		close(stage->readable);
	if (stage->cache)
		file_cache_disown(stage->cache, stage->own);
	*stage = (struct stage)STAGE_INIT;
}

void stage_choose_name(struct stage *stage, const struct temporary *temporary,
                       char name[static TEMPORARY_NAME_SIZE])
{
	temporary_format(temporary, name);
	if (!stage->cache)
		return;
	file_cache_disown(stage->cache, stage->own);
	stage->own = file_cache_own(stage->cache, name);
}

/* A file with a name, for file systems without anonymous ones. An unlocked one looks like a dead
 * writer's: between its creation and the lock it may be removed, and is created again. */
static int open_named(struct stage *stage, const struct temporary *temporary, mode_t mode)
{
	for (int i = 0; i < NAME_TRIES; i++) {
		struct stat stat;
		int fd;

		stage_choose_name(stage, temporary, stage->name);
		fd = openat(stage->folder, stage->name,
		            O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &stat) == 0 &&
		    stat.st_nlink > 0)
			return fd;
		if (fd >= 0)
			close(fd);
		else if (errno != EEXIST)
			break;
	}
	stage->name[0] = '\0';
	return -1;
}

static bool open_temporary(struct stage *stage, const struct snapshot *base, mode_t mode,
                           const struct commit_how *how, struct err *err)
{
	struct temporary temporary;

	if (!how->no_tmpfile) {
		stage->fd = openat(stage->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
		if (stage->fd >= 0) {
			flock(stage->fd, LOCK_EX | LOCK_NB);
			return true;
		}
		if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT)
			return err_set_errno(err, errno, "Cannot write in the folder of %s",
			                     base->place.path);
	}
	temporary_init(&temporary, TEMPORARY_PART, stage->leaf,
	               base->exists ? &base->sha256 : NULL, NULL);
	/* It can be seen while it is written, so others must not read it before it has its
	 * attributes. */
	stage->fd = open_named(stage, &temporary, base->exists ? 0600 : mode);
	return stage->fd >= 0 || err_set_errno(err, errno, "Cannot write in the folder of %s",
	                                       base->place.path);
}

/* Writes a batch whole; `vec` is used up. */
static bool write_batch(int fd, struct iovec *vec, int count)
{
	while (count) {
		ssize_t n = writev(fd, vec, count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return false;
		for (; count && (size_t)n >= vec->iov_len; vec++, count--)
			n -= (ssize_t)vec->iov_len;
		if (count) {
			vec->iov_base = (char *)vec->iov_base + n;
			vec->iov_len -= (size_t)n;
		}
	}
	return true;
}

/* A piece of a file that has holes: zeros by the block become holes again. */
static bool write_sparse(int fd, struct span piece)
{
	while (piece.len) {
		size_t n = piece.len < HOLE_BYTES ? piece.len : HOLE_BYTES;

		if (n == HOLE_BYTES && piece.data[0] == 0 &&
		    memcmp(piece.data, piece.data + 1, n - 1) == 0) {
			if (lseek(fd, (off_t)n, SEEK_CUR) < 0)
				return false;
		} else if (!fd_write_all(fd, piece.data, n)) {
			return false;
		}
		piece = span_skip(piece, n);
	}
	return true;
}

struct batch {
	struct iovec vec[BATCH_PIECES];
	int count;
	size_t bytes;
};

static bool batch_write(struct stage *stage, struct batch *batch)
{
	bool ok = write_batch(stage->fd, batch->vec, batch->count);

	batch->count = 0;
	batch->bytes = 0;
	return ok;
}

/* Hashes a piece and queues it to be written. */
static bool batch_add_piece(struct stage *stage, struct batch *batch, struct hasher *hasher,
                            struct span piece, bool sparse)
{
	while (piece.len) {
		struct span part = span_head(piece, BATCH_BYTES);

		snapshot_hash_feed(hasher, part);
		piece = span_skip(piece, part.len);
		if (sparse) {
			if (!write_sparse(stage->fd, part))
				return false;
			continue;
		}
		batch->vec[batch->count++] =
			(struct iovec){ (void *)(uintptr_t)part.data, part.len };
		batch->bytes += part.len;
		if ((batch->count == BATCH_PIECES || batch->bytes >= BATCH_BYTES) &&
		    !batch_write(stage, batch))
			return false;
	}
	return true;
}

static bool write_pieces(struct stage *stage, const struct snapshot *base,
                         const struct span *pieces, size_t count, struct err *err)
{
	bool sparse = base->exists && base->stat.st_blocks < base->stat.st_size / 512;
	struct batch batch = { .count = 0 };
	struct hasher hasher;
	bool ok = true;
	int saved;

	for (size_t i = 0; i < count; i++)
		stage->size += pieces[i].len;
	snapshot_hash_start(&hasher, stage->size);
	for (size_t i = 0; ok && i < count; i++)
		ok = batch_add_piece(stage, &batch, &hasher, pieces[i], sparse);
	ok = ok && batch_write(stage, &batch);
	ok = ok && (!sparse || ftruncate(stage->fd, (off_t)stage->size) == 0);
	saved = errno;
	stage->sha256 = snapshot_hash_finish(&hasher);
	return ok || err_set_errno(err, saved, "Cannot write %s", base->place.path);
}

/* Copies the attributes as they are now, not as they were when the content was read. */
static bool copy_attributes(struct stage *stage, const struct snapshot *base, struct err *err)
{
	if (!base->exists)
		return fstat(stage->fd, &stage->stat) == 0 ||
		       err_set_errno(err, errno, "Cannot examine the new %s", base->place.path);
	if (fstat(base->fd, &stage->old_stat) < 0)
		return err_set_errno(err, errno, "Cannot examine %s", base->place.path);
	return attributes_copy(base->fd, &stage->old_stat, stage->fd, base->place.path,
	                       &stage->stat, err);
}

bool stage_sync(int fd)
{
	int result;

	do
		result = fsync(fd);
	while (result < 0 && errno == EINTR);
	return result == 0;
}

bool stage_write(struct stage *stage, const struct snapshot *base, const struct span *pieces,
                 size_t count, const struct commit_how *how, struct err *err)
{
	mode_t create = how->options.create_mode ? how->options.create_mode : 0666;
	mode_t mode = base->exists ? base->stat.st_mode & 0777 : create;

	stage->folder = base->place.folder;
	stage->leaf = base->place.leaf;
	stage->cache = base->place.cache;
	if (!open_temporary(stage, base, mode, how, err) ||
	    !write_pieces(stage, base, pieces, count, err) ||
	    !copy_attributes(stage, base, err))
		return false;
	if (how->options.durability == DURABILITY_FULL)
		commit_waits(&how->options);
	if (how->options.durability == DURABILITY_FULL && !stage_sync(stage->fd))
		return err_set_errno(err, errno, "Cannot write %s to the disk", base->place.path);
	if (how->at)
		how->at(COMMIT_STAGED, how->data);
	return true;
}

/* Links an anonymous file. By the descriptor alone needs a privilege on kernels before 6.10;
 * by way of /proc does not. */
static bool link_fd(int fd, int folder, const char *name)
{
	char path[32];

	if (linkat(fd, "", folder, name, AT_EMPTY_PATH) == 0)
		return true;
	if (errno != ENOENT && errno != EPERM && errno != EINVAL)
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW) == 0;
}

bool stage_name(struct stage *stage, const struct snapshot *base, enum temporary_kind kind,
                struct err *err)
{
	char name[TEMPORARY_NAME_SIZE];
	struct temporary temporary;
	bool ok = false;

	temporary_init(&temporary, kind, stage->leaf, base->exists ? &base->sha256 : NULL,
	               &stage->sha256);
	for (int i = 0; !ok && i < NAME_TRIES; i++) {
		stage_choose_name(stage, &temporary, name);
		if (stage->name[0])
			ok = swap_rename(stage->folder, stage->name, name, 0);
		else
			ok = link_fd(stage->fd, stage->folder, name);
		if (!ok && errno != EEXIST)
			break;
	}
	if (!ok)
		return err_set_errno(err, errno, "Cannot write in the folder of %s",
		                     base->place.path);
	memcpy(stage->name, name, sizeof(name));
	return true;
}

/* Gives a temporary with a name the name of the file, which must not exist. */
static bool create_from_name(struct stage *stage, const struct commit_how *how)
{
	struct stat stat;

	if (!how->no_exchange) {
		if (swap_rename(stage->folder, stage->name, stage->leaf, RENAME_NOREPLACE)) {
			stage->name[0] = '\0';
			return true;
		}
		if (!swap_unsupported(errno))
			return false;
	}
	if (linkat(stage->folder, stage->name, stage->folder, stage->leaf, 0) == 0) {
		stage_discard(stage);
		return true;
	}
	if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
		return false;
	/* No hard links either (FAT): look, then rename. */
	if (fstatat(stage->folder, stage->leaf, &stat, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return false;
	}
	if (errno != ENOENT || !swap_rename(stage->folder, stage->name, stage->leaf, 0))
		return false;
	stage->name[0] = '\0';
	return true;
}

bool stage_create(struct stage *stage, const struct snapshot *base,
                  const struct commit_how *how, struct err *err)
{
	bool ok = stage->name[0] ? create_from_name(stage, how) :
	                           link_fd(stage->fd, stage->folder, stage->leaf);

	stage->created = ok;
	if (ok)
		return true;
	if (errno == EEXIST)
		return err_set(err, ERR_STATE_MISMATCH, "%s has been created meanwhile.",
		               base->place.path);
	return err_set_errno(err, errno, "Cannot create %s", base->place.path);
}

/* ---- those who open a file that is being tried out -------------------------------- */

enum { GRACE_US = 100, LIVELY_SECONDS = 2 };

static bool stage_sleep_grace(void)
{
	const struct timespec delay = { .tv_nsec = GRACE_US * 1000 };

	return nanosleep(&delay, NULL) == 0;
}

/* When another process last changed the file that `base` was read from. */
static time_t stage_others_changed_at(const struct snapshot *base)
{
	if (!base->exists || !base->place.cache)
		return base->stat.st_ctim.tv_sec;
	return file_cache_others_at(base->place.cache, &base->stat, &base->sha256);
}

bool stage_grace(const struct snapshot *base)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (base->exists && now.tv_sec - stage_others_changed_at(base) <= LIVELY_SECONDS)
		return stage_sleep_grace();
	sched_yield();
	return false;
}

/* A lease that conflicts with every other open, also for reading. BUSY: another process waits for
 * it to end, or has the file open. */
static enum lease stage_take_write_lease(int fd)
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
		stage->guarded = stage_take_write_lease(stage->fd) == LEASE_HELD;
}

void stage_note(const struct stage *stage, const struct snapshot *base)
{
	struct stat now;

	/* Without the lease, its present state may be another process's work. */
	if (stage->guarded && base->place.cache && fstat(stage->fd, &now) == 0)
		file_cache_note_file(base->place.cache, &now, &stage->sha256,
		                     stage_others_changed_at(base));
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
static int stage_open_theirs(const struct stage *stage, struct stat *ret)
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
static enum outcome stage_take_over(struct stage *stage, int fd, const struct stat *stat,
                                    enum lease lease)
{
	struct err ignored = ERR_INIT;
	struct stat out;

	if (!copy_content(fd, stage->fd) ||
	    !attributes_copy(fd, stat, stage->fd, stage->leaf, NULL, &ignored) ||
	    !swap_rename(stage->folder, stage->name, stage->leaf, RENAME_EXCHANGE))
		return OUTCOME_FAILED;
	stage_sleep_grace();
	if (fstatat(stage->folder, stage->name, &out, AT_SYMLINK_NOFOLLOW) == 0 &&
	    stat_same_file(&out, stat) && (lease != LEASE_HELD || file_lease_is_held(fd)))
		return OUTCOME_DONE;
	return swap_put_back(stage->folder, stage->name, stage->leaf, &stage->stat, NULL, NULL) ?
	       OUTCOME_AGAIN : OUTCOME_FAILED;
}

/* Whether `name` has our file. If another file was renamed over ours, it has an older one of
 * another process. */
static bool stage_name_has_ours(const struct stage *stage)
{
	struct stat now;

	return fstatat(stage->folder, stage->name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       stat_same_file(&now, &stage->stat);
}

static enum outcome stage_try_adopt(struct stage *stage)
{
	struct stat stat;
	_cleanup_fd_ int fd = stage_open_theirs(stage, &stat);
	enum lease lease;

	if (!stage_name_has_ours(stage))
		return OUTCOME_FAILED;
	if (fd < 0)
		return errno == EAGAIN || errno == EINTR ? OUTCOME_AGAIN : OUTCOME_FAILED;
	lease = file_lease_take(fd);
	return lease == LEASE_BUSY ? OUTCOME_AGAIN : stage_take_over(stage, fd, &stat, lease);
}

/* True when our file has taken over the name: `name` then has the stranger's file, whose content
 * ours now has. */
static bool stage_adopt_name(struct stage *stage, long long deadline_us)
{
	enum outcome outcome = OUTCOME_AGAIN;
	long backoff_us = BACKOFF_FIRST_US;

	while (outcome == OUTCOME_AGAIN) {
		outcome = stage_try_adopt(stage);
		if (outcome == OUTCOME_AGAIN && !clock_back_off(deadline_us, &backoff_us))
			return false;
	}
	return outcome == OUTCOME_DONE;
}

/* Gives our file the content that the name has. */
static void stage_copy_from_name(struct stage *stage)
{
	struct stat stat;
	_cleanup_fd_ int fd = stage_open_theirs(stage, &stat);

	if (fd >= 0)
		copy_content(fd, stage->fd);
}

bool stage_awaited(const struct stage *stage)
{
	return stage->fd >= 0 && stage_take_write_lease(stage->fd) == LEASE_BUSY;
}

void stage_leave(struct stage *stage, long long deadline_us)
{
	enum lease lease;

	stage->seen = false;
	if (stage->fd < 0)
		return;
	stage_sleep_grace();
	lease = stage_take_write_lease(stage->fd);
	/* Without leases, others may be reading it. */
	if (lease != LEASE_NONE &&
	    !(lease == LEASE_BUSY && stage->name[0] && stage_adopt_name(stage, deadline_us)))
		stage_copy_from_name(stage);
	stage_discard(stage);
	file_lease_drop(stage->fd);
}

/* ---- the lock on the folder ------------------------------------------------------- */

bool stage_lock(struct stage *stage, long long deadline_us)
{
	long backoff_us = BACKOFF_FIRST_US;

	if (stage->readable < 0)
		stage->readable =
			openat(stage->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (stage->readable >= 0 && flock(stage->readable, LOCK_EX | LOCK_NB) < 0)
		if ((errno != EWOULDBLOCK && errno != EINTR))
			break; /* no locks here: then without */
		else {
			commit_waits(stage->options);
			if (!clock_back_off(deadline_us, &backoff_us))
				return false;
		}
	return true;
}

void stage_unlock(struct stage *stage)
{
	if (stage->readable >= 0)
		flock(stage->readable, LOCK_UN);
}
