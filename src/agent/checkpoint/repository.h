/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the repository of a project's checkpoints, by libgit2.
 *
 *     struct repository *repository;
 *     if (!repository_open(folder, true, true, &repository, &err)) ...
 *     repository_add(repository, bytes, files[0].blob, &err);          // for each file
 *     repository_commit(repository, id, message, files, count, commit, &err);
 *     repository_close(repository);
 *
 * It is Gemini CLI's: FOLDER/.git, with its branch main left alone.  A checkpoint is a commit of
 * its own under refs/hasp/ID, with the files that are kept and nothing else; its parent is an
 * empty commit, the same in all repositories.  So a checkpoint can be taken away by its
 * reference, and git's own "gc" takes the space back.  Contents are stored as they are: no
 * filter, hook or attribute has a part in it.
 *
 * One thread at a time; several processes at once are fine.  Nothing in a folder is trusted to be
 * what was written there: who reads a blob compares its hash.
 */
#ifndef HASP_AGENT_CHECKPOINT_REPOSITORY_H
#define HASP_AGENT_CHECKPOINT_REPOSITORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/span.h"

struct repository;

enum { OBJECT_ID_SIZE = 41 }; /* 40 digits and a NUL */

struct repository_file {
	/* In the tree: relative, with slashes.  NULL, and what git forbids there (.git, ".."),
	 * is stored as ".hasp/" and the blob's name. */
	const char *path;
	const char *blob;
};

/* FOLDER/.git, made if it is missing and `create`.  `durable`: objects are on the disk when a
 * function returns.  FILE_NOT_FOUND; DISK_FULL; PERMISSION_DENIED: it is another user's;
 * IO_ERROR with what git says; INTERNAL: no libgit2; to make it, as repository_lock. */
bool repository_open(const char *folder, bool create, bool durable,
                     const struct file_lock_wait *wait, struct repository **ret, struct err *err);
void repository_close(struct repository *repository); /* NULL is fine */

/* Keeps other processes, and other openings of this one, from adding checkpoints until the
 * descriptor that it returns is closed; -1 with *err: BUSY, CANCELLED (base/file.h; `wait` may
 * be NULL). FOLDER as above. */
int repository_lock(const char *folder, const struct file_lock_wait *wait, struct err *err);

/* Stores contents; the same ones are stored once. */
bool repository_add(struct repository *repository, struct span bytes, char ret[OBJECT_ID_SIZE],
                    struct err *err);
/* FILE_EXISTS: there is a checkpoint ID already. Under the lock. */
bool repository_commit(struct repository *repository, const char *id, const char *message,
                       const struct repository_file *files, size_t count,
                       char ret[OBJECT_ID_SIZE], struct err *err);
/* Appends the contents. FILE_NOT_FOUND: there is no such object. TOO_LARGE. */
bool repository_read(struct repository *repository, const char *blob, struct buf *out,
                     struct err *err);
/* Takes the checkpoint's reference away; one that is not there is fine. */
bool repository_forget(struct repository *repository, const char *id, struct err *err);

#endif
