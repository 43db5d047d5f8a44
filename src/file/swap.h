/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanging names, and putting back what came out when it should not have.
 * Internal to file/. */
#ifndef HASP_FILE_SWAP_H
#define HASP_FILE_SWAP_H

#include <stdbool.h>
#include <sys/stat.h>

static inline bool stat_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* renameat2 within one folder, repeated when interrupted; false with errno set. */
bool swap_rename(int folder, const char *from, const char *to, unsigned flags);

/* Whether errno says that the file system has no such flag for rename. */
bool swap_unsupported(int sys_errno);

/* `leaf` got our file `ours` by an exchange, and what came out, under `name`, was not
 * what we had read: gives it its name back.  A file that somebody else renames to
 * `leaf` meanwhile is newer than what we hold, and wins: when it is seen before the first exchange,
 * there is none, and when it comes between that look and the exchange, it is put back in
 * the next round.
 * Afterwards `name` has our file, or a stranger's that was superseded: it can be removed.
 * False (errno) when it could not be done; then `name` must stay. `before` (may be NULL) is
 * called before each exchange. */
bool swap_put_back(int folder, const char *name, const char *leaf, const struct stat *ours,
                   void (*before)(void *data), void *data);

/* Gives a file that was moved away to `name` its name back; false with EEXIST when `leaf`
 * is taken again, by something newer. `plain` is as without RENAME_NOREPLACE. */
bool swap_move_back(int folder, const char *name, const char *leaf, bool plain);

#endif
