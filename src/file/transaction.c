/* SPDX-License-Identifier: Apache-2.0 */
/* Several commits, all or nothing: staging, the journal, the commit point. */
#include "file/transaction.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "file/adopt.h"
#include "file/recover.h"
#include "file/transaction_internal.h"

struct transaction {
	struct commit_how how;
	char *journal_folder;  /* owned */
	struct tx_file *files; /* owned */
	size_t count, cap;
	size_t calls;          /* staged by the caller; a move with new content is two files */
	struct sha256 *sums;   /* owned; per call */
	size_t sums_cap;
};

bool transaction_begin(const struct workspace *ws, const char *journal_folder,
                       const struct commit_options *options, struct transaction **ret,
                       struct err *err)
{
	struct transaction *tx;

	(void)ws;
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

static bool same_folder(const char *a, const char *b)
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
		return err_set(err, ERR_INVALID_ARGUMENT, "More than %d changes in one transaction.",
		               LIMIT_CHANGES);
	return true;
}

static struct tx_file *add_file(struct transaction *tx, enum journal_kind kind,
                                struct snapshot *base)
{
	bool same = tx->count &&
	            same_folder(tx->files[tx->count - 1].base->place.path, base->place.path);
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

/* Takes back what the call has staged when it fails half-way. */
static bool drop_staged(struct transaction *tx, size_t count)
{
	while (tx->count > count)
		tx_file_release(&tx->files[--tx->count]);
	return false;
}

static void call_done(struct transaction *tx, struct sha256 sum)
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
static bool check_writable(const struct snapshot *base, struct err *err)
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

	if (!check_new(tx, base->place.path, err) || !check_writable(base, err))
		return false;
	file = add_file(tx, base->exists ? JOURNAL_WRITE : JOURNAL_CREATE, base);
	if (!stage_content(tx, file, base, pieces, count, err))
		return drop_staged(tx, before);
	call_done(tx, file->stage.sha256);
	return true;
}

bool transaction_delete(struct transaction *tx, struct snapshot *base, struct err *err)
{
	if (!base->exists)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s does not exist.", base->place.path);
	if (!check_new(tx, base->place.path, err))
		return false;
	add_file(tx, JOURNAL_DELETE, base);
	call_done(tx, sha256_of(span_of("", 0)));
	return true;
}

static bool same_device(const struct snapshot *base, const struct snapshot *target)
{
	struct stat folder;

	return fstat(target->place.folder, &folder) == 0 && folder.st_dev == base->stat.st_dev;
}

/* A move that also changes the content, or crosses file systems: a new file with the old one's
 * attributes appears, the old one goes. */
static bool move_as_copy(struct transaction *tx, struct snapshot *base, struct snapshot *target,
                         const struct span *pieces, size_t count, struct err *err)
{
	struct snapshot attributes = *base;
	size_t before = tx->count;
	struct tx_file *file = add_file(tx, JOURNAL_CREATE, target);

	attributes.place = target->place;
	if (!stage_content(tx, file, &attributes, pieces, count, err))
		return drop_staged(tx, before);
	call_done(tx, file->stage.sha256);
	add_file(tx, JOURNAL_DELETE, base)->index = tx->calls - 1;
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
	if (!same_device(base, target))
		return move_as_copy(tx, base, target, &base->content, 1, err);
	add_file(tx, JOURNAL_MOVE, base)->target = target;
	call_done(tx, base->sha256);
	return true;
}

const struct sha256 *transaction_sha256(const struct transaction *tx, size_t i)
{
	return &tx->sums[i];
}

/* Makes the names in a folder last, and the names of `above` folders that lead to it.  One that
 * cannot be synced is no reason to give up what is done. */
static void sync_folder(int folder, size_t above)
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

static void sync_names(const struct transaction *tx)
{
	const char *last = NULL;

	for (size_t i = 0; i < tx->count; i++) {
		const struct tx_file *file = &tx->files[i];

		if (file->target)
			sync_folder(file->target->place.folder, file->made);
		if (!last || file->made || !same_folder(last, file->base->place.path))
			sync_folder(file->base->place.folder, file->target ? 0 : file->made);
		last = file->base->place.path;
	}
}

/* Everything up to the commit point; *ret_applied counts what has to be undone. */
static bool apply_all(struct transaction *tx, size_t *ret_applied, size_t *ret_failed,
                      struct err *err)
{
	for (size_t i = 0; i < tx->count; i++) {
		*ret_failed = tx->files[i].index;
		*ret_applied = i + 1;
		if (!tx_file_apply(&tx->files[i], &tx->how, err))
			return false;
	}
	if (tx->how.options.durability == DURABILITY_FULL)
		sync_names(tx);
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

static void undo_all(struct transaction *tx, size_t applied)
{
	while (applied > 0)
		tx_file_undo(&tx->files[--applied], &tx->how);
	if (tx->how.options.durability == DURABILITY_FULL)
		sync_names(tx);
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

static bool commit(struct transaction *tx, size_t *ret_failed, struct err *err)
{
	struct journal journal = JOURNAL_INIT;
	struct err ignored = ERR_INIT;
	size_t applied = 0, failed = SIZE_MAX;
	_cleanup_fd_ int folder = journal_folder_open(tx->journal_folder, true, err);
	bool ok;

	if (folder < 0 || !write_journal(tx, folder, &journal, err))
		return false;
	ok = apply_all(tx, &applied, &failed, err);
	if (!ok) {
		*ret_failed = failed;
		undo_all(tx, applied);
	} else if (!journal_done(&journal, err)) {
		ok = false;
		undo_all(tx, applied);
	} else if (tx->how.options.durability == DURABILITY_FULL && fsync(folder) < 0) {
		/* All is in place: what fails now is told, not undone. */
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
	bool ok = tx->count == 0 || commit(tx, &failed, err);

	if (ret_failed)
		*ret_failed = failed;
	transaction_abort(tx);
	return ok;
}
