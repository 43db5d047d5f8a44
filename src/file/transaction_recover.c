/* SPDX-License-Identifier: Apache-2.0 */
/* Undoes or finishes, from its journal, what a crashed transaction left.
 *
 * Nothing in a journal is believed without looking: a file is touched only if it has the inode
 * number and the content that the journal says it got from us, and everything is
 * opened beneath the roots of the workspace, without following links.  Each step
 * can be killed and done again.
 *
 * A call that the machine fails (a read error, no memory, a full disk) says nothing about the
 * file: then nothing is removed on its word, and the journal stays for the next recovery.
 */
#include "file/transaction.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "file/journal.h"
#include "file/private.h"
#include "file/stage.h"

struct tx_recovery {
	const struct workspace *ws;
	bool unfinished; /* something may be left to do */
};

/* After a call that failed: whether errno is about the machine, and not about the file. */
static bool recovery_failed(struct tx_recovery *recovery)
{
	static const int machine[] = { EIO, ENOMEM, EMFILE, ENFILE, ENOSPC, EDQUOT, EROFS };

	for (size_t i = 0; i < ARRAY_LEN(machine); i++)
		if (errno == machine[i]) {
			recovery->unfinished = true;
			return true;
		}
	return false;
}

/* The place of a recorded path; false if it leads elsewhere now, or its folder is missing. */
static bool find_place(struct tx_recovery *recovery, const char *path, struct place *ret)
{
	struct err err = ERR_INIT;

	if (!workspace_resolve(recovery->ws, path, PLACE_FILE, ret, &err)) {
		recovery->unfinished = recovery->unfinished || err.code == ERR_IO_ERROR ||
		                       err.code == ERR_NO_RESOURCES;
		return false;
	}
	return !ret->through_link && !ret->missing && strcmp(ret->path, path) == 0;
}

/* The transaction's temporary for `leaf` with this inode, in *ret_name. */
static bool find_temporary(struct tx_recovery *recovery, int folder, const char *leaf, ino_t inode,
                           char ret_name[static TEMPORARY_NAME_SIZE])
{
	int fd = inode ? openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	struct temporary temporary;
	bool found = false;

	if (!dir) {
		if (inode)
			recovery_failed(recovery);
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!found && (errno = 0, entry = readdir(dir))) {
		struct stat stat;

		if (!temporary_parse(entry->d_name, &temporary) ||
		    temporary.kind != TEMPORARY_STAGED || !temporary_is_for(&temporary, leaf))
			continue;
		if (fstatat(folder, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) < 0) {
			recovery_failed(recovery);
			continue;
		}
		found = S_ISREG(stat.st_mode) && stat.st_ino == inode;
		if (found)
			memcpy(ret_name, entry->d_name, strlen(entry->d_name) + 1);
	}
	if (!found)
		recovery_failed(recovery);
	closedir(dir);
	return found;
}

static void remove_temporary(struct tx_recovery *recovery, int folder, const char *leaf,
                             ino_t inode)
{
	char name[TEMPORARY_NAME_SIZE];

	while (find_temporary(recovery, folder, leaf, inode, name))
		if (unlinkat(folder, name, 0) < 0) {
			recovery_failed(recovery);
			return;
		}
}

/* The new file under its name: opened, if it still is ours and as we wrote it. */
static int open_ours(const struct place *place, const struct journal_entry *entry,
                     struct stat *ret)
{
	int fd = place_open(place, O_RDONLY);
	int why = errno;

	if (fd >= 0 && fstat(fd, ret) == 0) {
		errno = 0;
		if (S_ISREG(ret->st_mode) && ret->st_ino == entry->new_inode &&
		    snapshot_content_is(fd, &entry->new_sum))
			return fd;
		why = errno;
	} else if (fd >= 0) {
		why = errno;
	}
	if (fd >= 0)
		close(fd);
	errno = why;
	return -1;
}

static void undo_write(struct tx_recovery *recovery, const struct place *place,
                       const struct journal_entry *entry)
{
	_cleanup_fd_ int fd = -1;
	char name[TEMPORARY_NAME_SIZE];
	struct stat ours;

	if (find_temporary(recovery, place->folder, place->leaf, entry->old_inode, name)) {
		fd = open_ours(place, entry, &ours);
		if (fd < 0 && recovery_failed(recovery))
			return;
		/* What others made of the file since stays; then the old one is superseded. */
		if (fd < 0 ? unlinkat(place->folder, name, 0) < 0 :
		             !swap_put_back(place->folder, name, place->leaf, &ours, NULL, NULL))
			recovery_failed(recovery);
	}
	remove_temporary(recovery, place->folder, place->leaf, entry->new_inode);
}

/* The file that lies under a temporary's name gets its name again, unless that is taken. */
static void undo_removal(struct tx_recovery *recovery, const struct place *place,
                         const struct journal_entry *entry)
{
	_cleanup_stage_ struct stage stage = STAGE_INIT;

	stage.folder = place->folder;
	stage.leaf = place->leaf;
	stage.swapped = true;
	if (!find_temporary(recovery, place->folder, place->leaf, entry->old_inode, stage.name))
		return;
	errno = 0;
	if (!stage_undo(&stage))
		recovery_failed(recovery);
}

static void undo_move(struct tx_recovery *recovery, const struct place *place,
                      const struct journal_entry *entry)
{
	_cleanup_place_ struct place to = PLACE_INIT;
	struct stat stat;

	if (find_place(recovery, entry->new_path, &to)) {
		if (fstatat(to.folder, to.leaf, &stat, AT_SYMLINK_NOFOLLOW) < 0)
			recovery_failed(recovery);
		else if (S_ISREG(stat.st_mode) && stat.st_ino == entry->old_inode &&
		         !swap_move(to.folder, to.leaf, place->folder, place->leaf))
			recovery_failed(recovery);
	}
	undo_removal(recovery, place, entry);
}

/* Folders that were made for a file before it appeared: its place is still missing some, or has
 * them all. They go while they are empty. */
static void remove_folders(struct tx_recovery *recovery, const char *path, size_t made)
{
	_cleanup_place_ struct place place = PLACE_INIT;
	_cleanup_free_ char *folder = mem_strdup(path);
	struct err ignored = ERR_INIT;

	for (; made; made--) {
		char *slash = strrchr(folder, '/');

		if (!slash || slash == folder)
			return;
		*slash = '\0';
		place_release(&place);
		place = (struct place)PLACE_INIT;
		if (!workspace_resolve(recovery->ws, folder, PLACE_FILE, &place, &ignored) ||
		    place.through_link || strcmp(place.path, folder) != 0)
			return;
		if (!place.missing && unlinkat(place.folder, place.leaf, AT_REMOVEDIR) < 0 &&
		    errno != ENOENT) {
			recovery_failed(recovery);
			return;
		}
	}
}

static void undo_entry(struct tx_recovery *recovery, const struct journal_entry *entry)
{
	_cleanup_place_ struct place place = PLACE_INIT;
	bool found = find_place(recovery, entry->path, &place);

	switch (found ? entry->kind : JOURNAL_KIND_COUNT) {
	case JOURNAL_WRITE:
		undo_write(recovery, &place, entry);
		break;
	case JOURNAL_CREATE:
		errno = 0;
		if (!swap_remove_created(place.folder, place.leaf, entry->new_inode,
		                       &entry->new_sum))
			recovery_failed(recovery);
		remove_temporary(recovery, place.folder, place.leaf, entry->new_inode);
		break;
	case JOURNAL_DELETE:
		undo_removal(recovery, &place, entry);
		break;
	case JOURNAL_MOVE:
		undo_move(recovery, &place, entry);
		break;
	case JOURNAL_KIND_COUNT:
		break;
	}
	remove_folders(recovery, entry->new_path ? entry->new_path : entry->path, entry->made);
}

static void finish_entry(struct tx_recovery *recovery, const struct journal_entry *entry)
{
	_cleanup_place_ struct place place = PLACE_INIT;

	if (find_place(recovery, entry->path, &place) && entry->kind != JOURNAL_MOVE)
		remove_temporary(recovery, place.folder, place.leaf, entry->old_inode);
}

/* Whether all of it is beneath our roots; another workspace's journal is left to it. */
static bool journal_is_ours(const struct workspace *ws, const struct journal_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++) {
		const char *paths[] = { entries->items[i].path, entries->items[i].new_path };

		for (size_t k = 0; k < ARRAY_LEN(paths); k++) {
			const char *rest;
			size_t root;

			if (paths[k] && !workspace_match(ws, paths[k], &root, &rest))
				return false;
		}
	}
	return true;
}

/* True when a transaction was recovered. */
static bool recover_journal(const struct workspace *ws, int folder, const char *name,
                            struct err *err)
{
	struct tx_recovery recovery = { .ws = ws };
	struct journal_entries entries = { 0 };
	struct journal journal = JOURNAL_INIT;
	enum journal_state state;
	bool ok;

	if (!journal_take(folder, name, &journal, &state, &entries, err))
		return false;
	ok = journal_is_ours(ws, &entries);
	for (size_t i = entries.count; ok && i-- > 0;) {
		if (state == JOURNAL_UNDO)
			undo_entry(&recovery, &entries.items[i]);
		else
			finish_entry(&recovery, &entries.items[i]);
	}
	if (ok && recovery.unfinished)
		ok = err_set(err, ERR_IO_ERROR, "A change of several files that was cut short "
		             "could not be put right: the disk or the memory failed. Try again: "
		             "its journal %s is kept.", name);
	ok = ok && journal_remove(&journal, err);
	journal_release(&journal);
	journal_entries_release(&entries);
	return ok;
}

bool transaction_recover(const struct workspace *ws, const char *journal_folder,
                         size_t *ret_recovered, struct err *err)
{
	struct err first = ERR_INIT, why = ERR_INIT;
	const struct dirent *entry;
	size_t recovered = 0;
	DIR *dir;
	int fd = journal_folder_open(journal_folder, &why);

	if (ret_recovered)
		*ret_recovered = 0;
	if (fd < 0 && why.code == ERR_FILE_NOT_FOUND)
		return true;
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		*err = why.code ? why : (struct err){ .code = ERR_IO_ERROR,
			.message = "The journal folder cannot be read." };
		return false;
	}
	while ((entry = readdir(dir))) {
		why = (struct err)ERR_INIT;
		if (recover_journal(ws, fd, entry->d_name, &why))
			recovered++;
		else if (why.code != ERR_NONE && why.code != ERR_BUSY && first.code == ERR_NONE)
			first = why;
	}
	closedir(dir);
	if (ret_recovered)
		*ret_recovered = recovered;
	if (first.code == ERR_NONE)
		return true;
	*err = first;
	return false;
}
