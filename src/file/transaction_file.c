/* SPDX-License-Identifier: Apache-2.0 */
/* One file of a transaction: apply, check, undo. */
#include "file/transaction_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "file/commit_internal.h"
#include "file/swap.h"

bool tx_content_is(int fd, const struct sha256 *sum)
{
	_cleanup_free_ char *block = mem_piece();
	struct sha256_stream stream;
	struct sha256 have;
	off_t at = 0;

	sha256_init(&stream);
	for (;;) {
		ssize_t n = pread(fd, block, MEM_PIECE_BYTES, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		if (n == 0)
			break;
		sha256_update(&stream, span_of(block, (size_t)n));
		at += n;
	}
	have = sha256_final(&stream);
	return sha256_eq(&have, sum);
}

bool tx_rename(int from_folder, const char *from, int to_folder, const char *to)
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

/* Keeps the old file from being written to until the commit point: whoever found it before it
 * lost its name, and opens it now, waits. */
static bool hold(struct tx_file *file, struct err *err)
{
	file->lease = lease_take(file->base->fd);
	if (file->lease != LEASE_BUSY)
		return true;
	return err_set(err, ERR_BUSY, "Another program has %s open for writing.",
	               file->base->place.path);
}

bool tx_file_check(struct tx_file *file, struct err *err)
{
	const struct snapshot *base = file->base;

	if (file->kind == JOURNAL_CREATE)
		return true;
	if (file->lease == LEASE_HELD && !lease_kept(base->fd))
		return err_set(err, ERR_BUSY, "Another program has %s open for writing.",
		               base->place.path);
	if (!tx_content_is(base->fd, &base->sha256))
		return err_set(err, ERR_STATE_MISMATCH,
		               "%s has changed on disk since it was read.", base->place.path);
	return true;
}

static bool apply_write(struct tx_file *file, const struct commit_how *how, struct err *err)
{
	if (!stage_name(&file->stage, file->base, TEMPORARY_STAGED, err) ||
	    !stage_exchange(&file->stage, file->base, how, err))
		return false;
	file->applied = true;
	return hold(file, err);
}

/* Makes the folders of a name that is to appear, and has the stage follow into them. */
static bool enter_folders(struct tx_file *file, struct snapshot *appearing, struct err *err)
{
	struct place *place = &appearing->place;
	struct stage *stage = &file->stage;
	_cleanup_fd_ int before = place->missing ? fcntl(place->folder, F_DUPFD_CLOEXEC, 3) : -1;

	if (!place->missing)
		return true;
	if (before < 0)
		return err_set_errno(err, errno, "Cannot make the folders of %s", place->path);
	if (!place_make_folders(place, &file->made, err))
		return false;
	if (file->kind != JOURNAL_CREATE)
		return true;
	if (stage->name[0] && renameat(before, stage->name, place->folder, stage->name) < 0) {
		err_set_errno(err, errno, "Cannot create %s", place->path);
		stage->folder = before;
		stage_discard(stage);
		return false;
	}
	stage->folder = place->folder;
	return true;
}

static bool apply_create(struct tx_file *file, const struct commit_how *how, struct err *err)
{
	if (!enter_folders(file, file->base, err))
		return false;
	file->applied = stage_create(&file->stage, file->base, how, err);
	return file->applied;
}

static bool apply_delete(struct tx_file *file, const struct commit_how *how, struct err *err)
{
	file->applied = stage_remove(&file->stage, file->base, TEMPORARY_STAGED, how, err);
	return file->applied && hold(file, err);
}

/* By way of a temporary's name, because that step is verified. */
static bool apply_move(struct tx_file *file, const struct commit_how *how, struct err *err)
{
	struct stage *stage = &file->stage;
	const struct place *to = &file->target->place;

	if (!enter_folders(file, file->target, err) ||
	    !stage_remove(stage, file->base, TEMPORARY_STAGED, how, err))
		return false;
	file->applied = true;
	if (!tx_rename(stage->folder, stage->name, to->folder, to->leaf)) {
		if (errno == EEXIST)
			return err_set(err, ERR_FILE_EXISTS, "%s has been created meanwhile.",
			               to->path);
		return err_set_errno(err, errno, "Cannot move %s to %s", file->base->place.path,
		                     to->path);
	}
	memcpy(file->moved_name, stage->name, sizeof(file->moved_name));
	stage->name[0] = '\0';
	return hold(file, err);
}

bool tx_file_apply(struct tx_file *file, const struct commit_how *how, struct err *err)
{
	static bool (*const apply[])(struct tx_file *, const struct commit_how *, struct err *) = {
		[JOURNAL_WRITE] = apply_write,
		[JOURNAL_CREATE] = apply_create,
		[JOURNAL_DELETE] = apply_delete,
		[JOURNAL_MOVE] = apply_move,
	};

	bool ok = apply[file->kind](file, how, err);

	/* The folder was opened to lock it; a long transaction has better use for descriptors. */
	fd_cleanup_close(&file->stage.readable);
	file->stage.readable = -1;
	return ok;
}

void tx_remove_created(int folder, const char *leaf, ino_t inode, const struct sha256 *sum)
{
	_cleanup_fd_ int fd = openat(folder, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char name[TEMPORARY_NAME_SIZE];
	struct temporary temporary;
	struct stat stat, out;

	if (fd < 0 || fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode) || stat.st_ino != inode ||
	    !tx_content_is(fd, sum))
		return;
	temporary_init(&temporary, TEMPORARY_STAGED, leaf, NULL, sum);
	temporary_format(&temporary, name);
	if (!tx_rename(folder, leaf, folder, name))
		return;
	/* It may have been replaced, or written to, since it was looked at. */
	if (fstatat(folder, name, &out, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (!stat_same_file(&out, &stat) || !tx_content_is(fd, sum)) &&
	    tx_rename(folder, name, folder, leaf))
		return;
	unlinkat(folder, name, 0);
}

/* Where there is no exchange the old file is gone; its content is written anew, if the file
 * still is the one we made. */
static void write_back(struct tx_file *file, const struct commit_how *how)
{
	const struct snapshot *base = file->base;
	struct snapshot now = { .place = base->place, .exists = true, .fd = -1,
		                .content = { NULL, 0 }, .sha256 = file->stage.sha256,
		                .stat = file->stage.stat };
	_cleanup_free_ char *data = mem_alloc(file->stage.size + 1, 1);
	struct file_state state = { 0 };
	struct err ignored = ERR_INIT;
	_cleanup_fd_ int fd = openat(base->place.folder, base->place.leaf,
	                             O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fd_read_full(fd, data, file->stage.size) != (ssize_t)file->stage.size)
		return;
	now.fd = fd;
	now.content = span_of(data, file->stage.size);
	if (commit_write_how(&now, &base->content, 1, how, &state, &ignored))
		file_state_release(&state);
}

void tx_file_undo(struct tx_file *file, const struct commit_how *how)
{
	struct stage *stage = &file->stage;

	switch (file->applied ? file->kind : JOURNAL_KIND_COUNT) {
	case JOURNAL_WRITE:
		if (!stage->swapped)
			write_back(file, how);
		else
			stage_undo(stage);
		break;
	case JOURNAL_CREATE:
		tx_remove_created(stage->folder, stage->leaf, stage->stat.st_ino, &stage->sha256);
		break;
	case JOURNAL_MOVE:
		if (file->moved_name[0] &&
		    tx_rename(file->target->place.folder, file->target->place.leaf,
		                   stage->folder, file->moved_name))
			memcpy(stage->name, file->moved_name, sizeof(stage->name));
		stage_undo(stage);
		break;
	case JOURNAL_DELETE:
		stage_undo(stage);
		break;
	case JOURNAL_KIND_COUNT:
		break;
	}
	file->applied = false;
	if (file->made)
		place_unmake_folders(file->kind == JOURNAL_MOVE ? &file->target->place :
		                                                  &file->base->place,
		                     file->made);
	file->made = 0;
}

void tx_file_release(struct tx_file *file)
{
	if (file->base->fd >= 0) {
		if (file->lease == LEASE_HELD)
			lease_drop(file->base->fd);
		if (file->kind == JOURNAL_DELETE || file->kind == JOURNAL_MOVE)
			flock(file->base->fd, LOCK_UN);
	}
	file->lease = LEASE_NONE;
	stage_release(&file->stage);
}

void tx_file_record(const struct tx_file *file, struct journal_entry *entry)
{
	const struct snapshot *base = file->base;
	const char *missing = file->kind == JOURNAL_MOVE ? file->target->place.missing :
	                                                   base->place.missing;
	bool has_new = file->kind == JOURNAL_WRITE || file->kind == JOURNAL_CREATE;

	entry->kind = file->kind;
	entry->path = mem_strdup(base->place.path);
	entry->new_path = file->target ? mem_strdup(file->target->place.path) : NULL;
	entry->old_inode = base->exists ? base->stat.st_ino : 0;
	entry->old_sum = base->sha256;
	entry->new_inode = has_new ? file->stage.stat.st_ino : 0;
	entry->new_sum = has_new ? file->stage.sha256 : base->sha256;
	for (const char *at = missing; at; at = strchr(at + 1, '/'))
		entry->made++;
}
