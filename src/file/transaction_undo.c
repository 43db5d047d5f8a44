/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery: what a crashed transaction left is undone, or finished, from its journal.
 *
 * Nothing in a journal is believed without looking: a file is touched only if it has the inode
 * number and the content that the journal says it got from us, and everything is
 * opened beneath the roots of the workspace, without following links.  Each step
 * can be killed and done again.
 */
#include "file/transaction.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "file/beneath.h"
#include "file/swap.h"
#include "file/transaction_internal.h"

/* The place of a recorded path; false when it leads elsewhere by now, or its folder is gone. */
static bool find_place(const struct workspace *ws, const char *path, struct place *ret)
{
	struct err ignored = ERR_INIT;

	return workspace_resolve(ws, path, PLACE_FILE, ret, &ignored) && !ret->through_link &&
	       !ret->missing && strcmp(ret->path, path) == 0;
}

/* The transaction's temporary for `leaf` with this inode, in *ret_name. */
static bool find_temporary(int folder, const char *leaf, ino_t inode,
                           char ret_name[static TEMPORARY_NAME_SIZE])
{
	int fd = inode ? openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	struct temporary temporary;
	bool found = false;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!found && (entry = readdir(dir))) {
		struct stat stat;

		found = temporary_parse(entry->d_name, &temporary) &&
		        temporary.kind == TEMPORARY_STAGED &&
		        temporary_is_for(&temporary, leaf) &&
		        fstatat(folder, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) == 0 &&
		        S_ISREG(stat.st_mode) && stat.st_ino == inode;
		if (found)
			memcpy(ret_name, entry->d_name, strlen(entry->d_name) + 1);
	}
	closedir(dir);
	return found;
}

static void remove_temporary(int folder, const char *leaf, ino_t inode)
{
	char name[TEMPORARY_NAME_SIZE];

	while (find_temporary(folder, leaf, inode, name) && unlinkat(folder, name, 0) == 0)
		;
}

/* The new file under its name: opened, if it still is ours and as we wrote it. */
static int open_ours(const struct place *place, const struct journal_entry *entry,
                     struct stat *ret)
{
	int fd = place_open(place, O_RDONLY);

	if (fd >= 0 && fstat(fd, ret) == 0 && S_ISREG(ret->st_mode) &&
	    ret->st_ino == entry->new_inode && tx_content_is(fd, &entry->new_sum))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void undo_write(const struct place *place, const struct journal_entry *entry)
{
	_cleanup_fd_ int fd = -1;
	char name[TEMPORARY_NAME_SIZE];
	struct stat ours;

	if (find_temporary(place->folder, place->leaf, entry->old_inode, name)) {
		fd = open_ours(place, entry, &ours);
		/* What others made of the file since stays; then the old one is superseded. */
		if (fd < 0)
			unlinkat(place->folder, name, 0);
		else
			swap_put_back(place->folder, name, place->leaf, &ours, NULL, NULL);
	}
	remove_temporary(place->folder, place->leaf, entry->new_inode);
}

/* The file that lies under a temporary's name gets its name again, unless that is taken. */
static void undo_removal(const struct place *place, const struct journal_entry *entry)
{
	_cleanup_stage_ struct stage stage = STAGE_INIT;

	stage.folder = place->folder;
	stage.leaf = place->leaf;
	stage.swapped = true;
	if (find_temporary(place->folder, place->leaf, entry->old_inode, stage.name))
		stage_undo(&stage);
}

static void undo_move(const struct workspace *ws, const struct place *place,
                      const struct journal_entry *entry)
{
	_cleanup_place_ struct place to = PLACE_INIT;
	struct stat stat;

	if (find_place(ws, entry->new_path, &to) &&
	    fstatat(to.folder, to.leaf, &stat, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(stat.st_mode) && stat.st_ino == entry->old_inode)
		tx_rename(to.folder, to.leaf, place->folder, place->leaf);
	undo_removal(place, entry);
}

/* Folders that were made for a file before it appeared: its place is still missing some, or has
 * them all. They go while they are empty. */
static void remove_folders(const struct workspace *ws, const char *path, size_t made)
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
		if (!workspace_resolve(ws, folder, PLACE_FILE, &place, &ignored) ||
		    place.through_link || strcmp(place.path, folder) != 0)
			return;
		if (!place.missing && unlinkat(place.folder, place.leaf, AT_REMOVEDIR) < 0 &&
		    errno != ENOENT)
			return;
	}
}

static void undo_entry(const struct workspace *ws, const struct journal_entry *entry)
{
	_cleanup_place_ struct place place = PLACE_INIT;
	bool found = find_place(ws, entry->path, &place);

	switch (found ? entry->kind : JOURNAL_KIND_COUNT) {
	case JOURNAL_WRITE:
		undo_write(&place, entry);
		break;
	case JOURNAL_CREATE:
		tx_remove_created(place.folder, place.leaf, entry->new_inode, &entry->new_sum);
		remove_temporary(place.folder, place.leaf, entry->new_inode);
		break;
	case JOURNAL_DELETE:
		undo_removal(&place, entry);
		break;
	case JOURNAL_MOVE:
		undo_move(ws, &place, entry);
		break;
	case JOURNAL_KIND_COUNT:
		break;
	}
	remove_folders(ws, entry->new_path ? entry->new_path : entry->path, entry->made);
}

static void finish_entry(const struct workspace *ws, const struct journal_entry *entry)
{
	_cleanup_place_ struct place place = PLACE_INIT;

	if (find_place(ws, entry->path, &place) && entry->kind != JOURNAL_MOVE)
		remove_temporary(place.folder, place.leaf, entry->old_inode);
}

/* Whether all of it is beneath our roots; another workspace's journal is left to it. */
static bool is_ours(const struct workspace *ws, const struct journal_entries *entries)
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
	struct journal_entries entries = { 0 };
	struct journal journal = JOURNAL_INIT;
	enum journal_state state;
	bool ok;

	if (!journal_take(folder, name, &journal, &state, &entries, err))
		return false;
	ok = is_ours(ws, &entries);
	for (size_t i = entries.count; ok && i-- > 0;) {
		if (state == JOURNAL_UNDO)
			undo_entry(ws, &entries.items[i]);
		else
			finish_entry(ws, &entries.items[i]);
	}
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
	int fd = journal_folder_open(journal_folder, false, &why);

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
