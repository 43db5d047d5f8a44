/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the new file: anonymous if the file system can, content, attributes, a name. */
#include "file/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fd.h"
#include "file/adopt.h"
#include "file/attributes.h"
#include "file/folder_cache.h"
#include "file/hasher.h"
#include "file/lease.h"
#include "file/backoff.h"
#include "file/swap.h"

enum {
	NAME_TRIES = 16,
	BATCH_PIECES = 256,
	/* What one system call writes: enough that its cost does not count, little enough
	 * that hashing beside it starts at once. */
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
		stage_lock(stage, backoff_deadline(0));
		stage_leave(stage, backoff_deadline(0));
		stage_unlock(stage);
	}
	/* Not left to close(): a child forked meanwhile may have the descriptor too. */
	if (stage->fd >= 0)
		lease_drop(stage->fd);
	stage_discard(stage);
	if (stage->leased >= 0)
		lease_drop(stage->leased);
	if (stage->reopened >= 0)
		close(stage->reopened);
	if (stage->fd >= 0)
		close(stage->fd);
	if (stage->readable >= 0)
		close(stage->readable);
	if (stage->clean)
		folder_cache_disown(stage->clean, stage->own);
	*stage = (struct stage)STAGE_INIT;
}

void stage_choose_name(struct stage *stage, const struct temporary *temporary,
                       char name[static TEMPORARY_NAME_SIZE])
{
	temporary_format(temporary, name);
	if (!stage->clean)
		return;
	folder_cache_disown(stage->clean, stage->own);
	stage->own = folder_cache_own(stage->clean, name);
}

/* A file with a name, for file systems without anonymous ones. Whoever finds it unlocked
 * takes it for a dead writer's: between its creation and the lock it may be removed, and is
 * made again. */
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
	/* It can be seen while it is written: nobody may read it before it has its attributes. */
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

static bool all_zero(const char *data, size_t len)
{
	return data[0] == 0 && memcmp(data, data + 1, len - 1) == 0;
}

/* A piece of a file that has holes: zeros by the block become holes again. */
static bool write_sparse(int fd, struct span piece)
{
	while (piece.len) {
		size_t n = piece.len < HOLE_BYTES ? piece.len : HOLE_BYTES;

		if (n == HOLE_BYTES && all_zero(piece.data, n)) {
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

static bool batch_flush(struct stage *stage, struct batch *batch)
{
	bool ok = write_batch(stage->fd, batch->vec, batch->count);

	batch->count = 0;
	batch->bytes = 0;
	return ok;
}

/* Hashes a piece and queues it to be written. */
static bool batch_add(struct stage *stage, struct batch *batch, struct hasher *hasher,
                      struct span piece, bool sparse)
{
	while (piece.len) {
		struct span part = span_head(piece, BATCH_BYTES);

		hasher_feed(hasher, part);
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
		    !batch_flush(stage, batch))
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
	hasher_start(&hasher, stage->size);
	for (size_t i = 0; ok && i < count; i++)
		ok = batch_add(stage, &batch, &hasher, pieces[i], sparse);
	ok = ok && batch_flush(stage, &batch);
	ok = ok && (!sparse || ftruncate(stage->fd, (off_t)stage->size) == 0);
	saved = errno;
	stage->sha256 = hasher_finish(&hasher);
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
	stage->clean = base->place.clean;
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
