/* SPDX-License-Identifier: Apache-2.0 */
/* Several commits, all or nothing: staging, the journal, the commit point.  For recovery after a
 * crash see transaction_recover.c. */
#include "file/transaction.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "file/journal.h"
#include "file/private.h"
#include "file/stage.h"

/* One file of a transaction. */
struct tx_file {
	enum journal_kind kind;
	struct snapshot *base;   /* borrowed; CREATE: the missing file */
	struct snapshot *target; /* borrowed; MOVE: the missing file */
	struct stage stage;
	size_t index;            /* which call staged it */
	size_t made;             /* folders made above the name that appears */
	bool applied;
	enum lease lease;        /* on the old file, from its exchange to the commit point */
	char moved_name[TEMPORARY_NAME_SIZE]; /* MOVE: the name it had between its two */
};

/* ---- one file: apply, check, undo ------------------------------------------------- */

/* Keeps the old file from being written to until the commit point: a process that found it before
 * it lost its name, and opens it now, must wait. */
static bool tx_hold_old(struct tx_file *file, struct err *err)
{
	file->lease = file_lease_take(file->base->fd);
	if (file->lease != LEASE_BUSY)
		return true;
	return err_set(err, ERR_BUSY, "Another program has %s open for writing.",
	               file->base->place.path);
}

/* Whether the old file, now renamed, is still as it was read: no process that had found it by its
 * name earlier has written to it since. */
static bool tx_file_check(struct tx_file *file, struct err *err)
{
	const struct snapshot *base = file->base;

	if (file->kind == JOURNAL_CREATE)
		return true;
	if (file->lease == LEASE_HELD && !file_lease_is_held(base->fd))
		return err_set(err, ERR_BUSY, "Another program has %s open for writing.",
		               base->place.path);
	if (!snapshot_content_is(base->fd, &base->sha256))
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
	return tx_hold_old(file, err);
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
	return file->applied && tx_hold_old(file, err);
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
	if (!swap_move(stage->folder, stage->name, to->folder, to->leaf)) {
		if (errno == EEXIST)
			return err_set(err, ERR_FILE_EXISTS, "%s has been created meanwhile.",
			               to->path);
		return err_set_errno(err, errno, "Cannot move %s to %s", file->base->place.path,
		                     to->path);
	}
	memcpy(file->moved_name, stage->name, sizeof(file->moved_name));
	stage->name[0] = '\0';
	return tx_hold_old(file, err);
}

/* Makes the file's change visible, if the file is what was read.  A failure leaves it as
 * others made it. */
static bool tx_file_apply(struct tx_file *file, const struct commit_how *how, struct err *err)
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

/* Without an exchange the old file no longer exists; its content is written again, if the file is
 * still the one we made. */
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

/* Undoes the steps applied; changes by others since then stay. */
static void tx_file_undo(struct tx_file *file, const struct commit_how *how)
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
		swap_remove_created(stage->folder, stage->leaf, stage->stat.st_ino, &stage->sha256);
		break;
	case JOURNAL_MOVE:
		if (file->moved_name[0] &&
		    swap_move(file->target->place.folder, file->target->place.leaf,
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

/* Removes what the file leaves behind, and gives up locks. */
static void tx_file_release(struct tx_file *file)
{
	if (file->base->fd >= 0) {
		if (file->lease == LEASE_HELD)
			file_lease_drop(file->base->fd);
		if (file->kind == JOURNAL_DELETE || file->kind == JOURNAL_MOVE)
			flock(file->base->fd, LOCK_UN);
	}
	file->lease = LEASE_NONE;
	stage_release(&file->stage);
}

/* What the journal has to know of it. */
static void tx_file_record(const struct tx_file *file, struct journal_entry *entry)
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

/* ---- staging, the journal, the commit point --------------------------------------- */

struct transaction {
	struct commit_how how;
	char *journal_folder;  /* owned */
	struct tx_file *files; /* owned */
	size_t count, cap;
	size_t calls;          /* staged by the caller; a move with new content is two files */
	struct sha256 *sums;   /* owned; per call */
	size_t sums_cap;
};

bool transaction_begin(const char *journal_folder, const struct commit_options *options,
                       struct transaction **ret, struct err *err)
{
	struct transaction *tx;

	if (!journal_folder || journal_folder[0] != '/')
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A transaction needs the absolute path of a journal folder.");
	tx = mem_alloc(1, sizeof(*tx));
	tx->journal_folder = mem_strdup(journal_folder);
	if (options)
		tx->how.options = *options;
	*ret = tx;
	return true;
}

void transaction_abort(struct transaction *tx)
{
	if (!tx)
		return;
	for (size_t i = 0; i < tx->count; i++)
		tx_file_release(&tx->files[i]);
	free(tx->files);
	free(tx->sums);
	free(tx->journal_folder);
	free(tx);
}

static bool tx_same_folder(const char *a, const char *b)
{
	size_t len = (size_t)(strrchr(a, '/') - a);

	return (size_t)(strrchr(b, '/') - b) == len && memcmp(a, b, len) == 0;
}

/* A transaction has each name once. */
static bool check_new(const struct transaction *tx, const char *path, struct err *err)
{
	for (size_t i = 0; i < tx->count; i++) {
		const struct tx_file *file = &tx->files[i];

		if (strcmp(file->base->place.path, path) == 0 ||
		    (file->target && strcmp(file->target->place.path, path) == 0))
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "%s is named twice in one transaction.", path);
	}
	if (tx->calls >= LIMIT_CHANGES)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "More than %d changes in one transaction.",
		               LIMIT_CHANGES);
	return true;
}

static struct tx_file *tx_add_file(struct transaction *tx, enum journal_kind kind,
                                   struct snapshot *base)
{
	bool same = tx->count &&
	            tx_same_folder(tx->files[tx->count - 1].base->place.path, base->place.path);
	struct tx_file *file;
	struct err ignored = ERR_INIT;

	if (!same)
		recover_folder(base->place.folder, NULL, &ignored);
	if (tx->count == tx->cap)
		tx->files = mem_grow(tx->files, &tx->cap, tx->count + 1, sizeof(*tx->files));
	file = &tx->files[tx->count++];
	*file = (struct tx_file){ .kind = kind, .base = base, .stage = STAGE_INIT,
		                  .index = tx->calls };
	return file;
}

/* Discards the files that a failing call has staged. */
static bool drop_staged(struct transaction *tx, size_t count)
{
	while (tx->count > count)
		tx_file_release(&tx->files[--tx->count]);
	return false;
}

static void tx_end_call(struct transaction *tx, struct sha256 sum)
{
	if (tx->calls == tx->sums_cap)
		tx->sums = mem_grow(tx->sums, &tx->sums_cap, tx->calls + 1, sizeof(*tx->sums));
	tx->sums[tx->calls++] = sum;
}

/* `attributes` is the snapshot whose mode, owner and so on the new file gets. */
static bool stage_content(struct transaction *tx, struct tx_file *file,
                          const struct snapshot *attributes, const struct span *pieces,
                          size_t count, struct err *err)
{
	struct commit_how named = tx->how;

	if (stage_write(&file->stage, attributes, pieces, count, &tx->how, err))
		return true;
	if (err->code != ERR_FILE_NOT_FOUND)
		return false;
	/* No anonymous files that can be linked here. */
	stage_release(&file->stage);
	named.no_tmpfile = true;
	*err = (struct err)ERR_INIT;
	return stage_write(&file->stage, attributes, pieces, count, &named, err);
}

/* A file that its user may not write is protected, although its folder would let it be
 * replaced; as commit_write has it. */
static bool tx_check_writable(const struct snapshot *base, struct err *err)
{
	if (!base->exists || faccessat(base->fd, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) == 0 ||
	    (errno != EACCES && errno != EROFS && errno != EPERM))
		return true;
	return err_set_errno(err, errno, "%s is write-protected", base->place.path);
}

bool transaction_write(struct transaction *tx, struct snapshot *base,
                       const struct span *pieces, size_t count, struct err *err)
{
	size_t before = tx->count;
	struct tx_file *file;

	if (!check_new(tx, base->place.path, err) || !tx_check_writable(base, err))
		return false;
	file = tx_add_file(tx, base->exists ? JOURNAL_WRITE : JOURNAL_CREATE, base);
	if (!stage_content(tx, file, base, pieces, count, err))
		return drop_staged(tx, before);
	tx_end_call(tx, file->stage.sha256);
	return true;
}

bool transaction_delete(struct transaction *tx, struct snapshot *base, struct err *err)
{
	if (!base->exists)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s does not exist.", base->place.path);
	if (!check_new(tx, base->place.path, err))
		return false;
	tx_add_file(tx, JOURNAL_DELETE, base);
	tx_end_call(tx, sha256_of(span_of("", 0)));
	return true;
}

/* Whether a file can be renamed from one to the other: in a sandbox each root is a separate mount,
 * and renames do not cross mounts, even of one file system. */
static bool rename_reaches(const struct snapshot *base, const struct snapshot *target)
{
	struct statx from, to;
	struct stat folder;

	if (fstat(target->place.folder, &folder) < 0 || folder.st_dev != base->stat.st_dev)
		return false;
	if (statx(base->place.folder, "", AT_EMPTY_PATH, STATX_MNT_ID, &from) < 0 ||
	    statx(target->place.folder, "", AT_EMPTY_PATH, STATX_MNT_ID, &to) < 0)
		return true;
	return !(from.stx_mask & to.stx_mask & STATX_MNT_ID) || from.stx_mnt_id == to.stx_mnt_id;
}

/* A move that also changes the content, or crosses mounts: a new file with the old one's
 * attributes appears, the old one goes. */
static bool move_as_copy(struct transaction *tx, struct snapshot *base, struct snapshot *target,
                         const struct span *pieces, size_t count, struct err *err)
{
	struct snapshot attributes = *base;
	size_t before = tx->count;
	struct tx_file *file = tx_add_file(tx, JOURNAL_CREATE, target);

	attributes.place = target->place;
	if (!stage_content(tx, file, &attributes, pieces, count, err))
		return drop_staged(tx, before);
	tx_end_call(tx, file->stage.sha256);
	tx_add_file(tx, JOURNAL_DELETE, base)->index = tx->calls - 1;
	return true;
}

bool transaction_move(struct transaction *tx, struct snapshot *base, struct snapshot *target,
                      const struct span *pieces, size_t count, struct err *err)
{
	if (!base->exists)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s does not exist.", base->place.path);
	if (target->exists)
		return err_set(err, ERR_FILE_EXISTS, "%s exists already.", target->place.path);
	if (!check_new(tx, base->place.path, err) || !check_new(tx, target->place.path, err))
		return false;
	if (count)
		return move_as_copy(tx, base, target, pieces, count, err);
	if (!rename_reaches(base, target))
		return move_as_copy(tx, base, target, &base->content, 1, err);
	tx_add_file(tx, JOURNAL_MOVE, base)->target = target;
	tx_end_call(tx, base->sha256);
	return true;
}

const struct sha256 *transaction_sha256(const struct transaction *tx, size_t i)
{
	return &tx->sums[i];
}

/* Makes the names in a folder last, and the names of `above` folders that lead to it.  One that
 * cannot be synced is no reason to give up what is done. */
static void tx_sync_folder(int folder, size_t above)
{
	_cleanup_fd_ int at = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (;; above--) {
		int up;

		if (at < 0)
			return;
		fsync(at);
		if (above == 0)
			return;
		up = openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = up;
	}
}

static void tx_sync_names(const struct transaction *tx)
{
	const char *last = NULL;

	for (size_t i = 0; i < tx->count; i++) {
		const struct tx_file *file = &tx->files[i];

		if (file->target)
			tx_sync_folder(file->target->place.folder, file->made);
		if (!last || file->made || !tx_same_folder(last, file->base->place.path))
			tx_sync_folder(file->base->place.folder, file->target ? 0 : file->made);
		last = file->base->place.path;
	}
}

/* Everything up to the commit point; *ret_applied counts the steps that an undo must revert. */
static bool tx_apply_all(struct transaction *tx, size_t *ret_applied, size_t *ret_failed,
                         struct err *err)
{
	for (size_t i = 0; i < tx->count; i++) {
		*ret_failed = tx->files[i].index;
		*ret_applied = i + 1;
		if (!tx_file_apply(&tx->files[i], &tx->how, err))
			return false;
	}
	if (tx->how.options.durability == DURABILITY_FULL)
		tx_sync_names(tx);
	else
		for (size_t i = 0; i < tx->count && !stage_grace(tx->files[i].base);)
			i++;
	for (size_t i = 0; i < tx->count; i++) {
		*ret_failed = tx->files[i].index;
		if (!tx_file_check(&tx->files[i], err))
			return false;
	}
	return true;
}

static void tx_undo_all(struct transaction *tx, size_t applied)
{
	while (applied > 0)
		tx_file_undo(&tx->files[--applied], &tx->how);
	if (tx->how.options.durability == DURABILITY_FULL)
		tx_sync_names(tx);
}

static bool write_journal(const struct transaction *tx, int folder, struct journal *ret,
                          struct err *err)
{
	struct journal_entries entries = { 0 };
	bool ok;

	for (size_t i = 0; i < tx->count; i++)
		tx_file_record(&tx->files[i], journal_entries_add(&entries));
	ok = journal_create(folder, &entries, tx->how.options.durability, ret, err);
	journal_entries_release(&entries);
	return ok;
}

static bool tx_commit(struct transaction *tx, size_t *ret_failed, struct err *err)
{
	struct journal journal = JOURNAL_INIT;
	struct err ignored = ERR_INIT;
	size_t applied = 0, failed = SIZE_MAX;
	_cleanup_fd_ int folder = journal_folder_make(tx->journal_folder, err);
	bool ok;

	if (folder < 0 || !write_journal(tx, folder, &journal, err))
		return false;
	ok = tx_apply_all(tx, &applied, &failed, err);
	if (!ok) {
		*ret_failed = failed;
		tx_undo_all(tx, applied);
	} else if (!journal_done(&journal, err)) {
		ok = false;
		tx_undo_all(tx, applied);
	} else if (tx->how.options.durability == DURABILITY_FULL && fsync(folder) < 0) {
		/* All is in place: what fails now is reported, not undone. */
		ok = err_set_errno(err, errno, "Cannot sync the journal folder");
	}
	/* The temporaries go before the journal that knows of them. */
	for (size_t i = 0; i < tx->count; i++)
		tx_file_release(&tx->files[i]);
	journal_remove(&journal, &ignored);
	journal_release(&journal);
	return ok;
}

bool transaction_commit(struct transaction *tx, size_t *ret_failed, struct err *err)
{
	size_t failed = SIZE_MAX;
	bool ok = tx->count == 0 || tx_commit(tx, &failed, err);

	if (ret_failed)
		*ret_failed = failed;
	transaction_abort(tx);
	return ok;
}
