/* SPDX-License-Identifier: Apache-2.0 */
/* The door: how hasp's own process reads and writes files in places that untrusted code may have
 * written: a project's folder, a root of the workspace, a checked-out repository.
 *
 * What holds, whatever a command put there before, meanwhile or between two calls:
 *
 *   - A path is opened beneath its root by the kernel (fd.h). A link in it may lead to another
 *     place beneath the root (a relative one), never outside.
 *   - Only regular files are read and written: a FIFO does not make hasp wait, a device is not
 *     read.
 *   - The size is known to be within the limit before anything is read.
 *   - What is written never goes through a link, nor into a file that has another name elsewhere:
 *     the file's folder is opened first, before untrusted code runs, and the name in it is replaced
 *     by a new file. Where the folder does not let that happen, the file itself is opened first.
 *
 *     struct door door = DOOR_INIT;
 *     if (!door_open("r.json", roots, &door, &err)) ...     // before the command runs
 *     ...
 *     if (!door_write(&door, text, &err)) ...               // after it
 *     door_close(&door);
 *
 * Not here: places of the user's own that no command may write (file.h); files of the workspace
 * that tools edit (file/). script/check-layers holds the list of who may open files otherwise, and
 * why.
 */
#ifndef HASP_BASE_DOOR_H
#define HASP_BASE_DOOR_H

#include "base/file.h"

struct sha256;

/* Reads `path`, which is beneath `root` as text (both as path_join makes them), like file_read: a
 * missing file is no error. OUTSIDE_WORKSPACE: a link leads out of the root. */
bool door_read(const char *root, const char *path, size_t max, struct file_text *ret,
               struct err *err);

/* The descriptor of the folder `path`, beneath `root`; -1 with errno set. */
int door_folder(const char *root, const char *path);

/* The same, and it is made, with what is missing on the way (mode 0700); O_PATH. */
int door_make(const char *root, const char *path);

/* The names in an open folder, which is closed, in their order: at most `max` as they are met,
 * without hidden ones. -1 is a folder with none. The caller frees each, and *ret. */
size_t door_names(int folder, size_t max, char ***ret);

/* Whether the user or root alone may change what is in the folder: it is theirs, and not for
 * anybody to write.  For folders in the home, whose links count. */
bool door_is_own(const char *folder);
/* Whether it is a folder, also by a link. */
bool door_is_folder(const char *path);
/* Opens such a folder, which must be the user's own, and not for others to write; -1 with *err set.
 * FILE_NOT_FOUND: it is missing.  PERMISSION_DENIED: whose it is, or who may write it. */
int door_open_own(const char *folder, struct err *err);
/* Reads the file NAME (no "/") in an open folder, which is `path` in messages: a regular file of
 * the user's own that no one else may write, and that has no other name.  A missing file is an
 * error: FILE_NOT_FOUND.  NOT_A_FILE: a link, a FIFO ...  PERMISSION_DENIED, TOO_LARGE. */
bool door_read_own(int folder, const char *path, const char *name, size_t max,
                   struct file_text *ret, struct err *err);

/* A file that is going to be written. */
struct door {
	int folder;   /* owned; the folder that it is in */
	int file;     /* owned; -1: it is replaced by its name */
	char *name;   /* owned; in the folder. NULL: the file is no named one (/dev/stdout) */
	char *path;   /* owned; as it was given, for messages */
	bool exists;  /* it did, when the door was opened */
	mode_t mode;  /* its permissions then; 0: those of a new file, 0666 less the umask */
};

#define DOOR_INIT { .folder = -1, .file = -1 }
/* Closes what was opened; calling it twice is fine. */
void door_close(struct door *door);
#define _cleanup_door_ __attribute__((cleanup(door_close)))

/* Finds where `path` leads, as the user wrote it. Beneath one of `roots` (NULL-terminated; NULL:
 * none) or the current folder, folders on the way may not lead outside of it; elsewhere the user's
 * links count. The last component may be no link anywhere. /dev/stdout, /dev/stderr, /dev/fd/N and
 * character devices right in /dev are what they are. Nothing is created or changed.
 * FILE_NOT_FOUND (a folder), OUTSIDE_WORKSPACE, NOT_A_FILE, PERMISSION_DENIED. */
bool door_open(const char *path, const char *const *roots, struct door *ret, struct err *err);

/* Replaces the file's content, atomically where its folder may be written. */
bool door_write(struct door *door, struct span text, struct err *err);

/* Makes the file with that content. *ret_made (may be NULL) is false when it was there already:
 * then nothing is done. */
bool door_create(struct door *door, struct span text, bool *ret_made, struct err *err);

/* A descriptor that appends; the file is made, with `mode`, if it is missing. The caller closes it.
 * -1 with *err set; NOT_A_FILE also for a file with several names (hard links). */
int door_append(struct door *door, mode_t mode, struct err *err);

/* Replaces `path`, beneath `root`; folders on the way are made, with mode 0700. A link with that
 * name is refused, not followed. Atomic and durable like file_replace. */
bool door_replace(const char *root, const char *path, struct span text, mode_t mode,
                  struct err *err);

/* ---- whole folders (tree.c) ---------------------------------------------------------- */

/* Whole folders: copied in, and removed, within bounds.  The source is untrusted.
 *
 *     if (!tree_copy("/home/me/src/ext", extensions, "ext", &err)) ...   // all of it, or nothing
 *     if (!tree_remove(extensions, "ext", &err)) ...
 *
 * Only folders, regular files and symbolic links that stay inside the tree are copied: a link's
 * target may go up as many folders as it is deep, and then down.  Anything else (a device, a FIFO,
 * a socket, an absolute link), too many files (LIMIT_TREE_FILES), too much in them
 * (LIMIT_TREE_BYTES) or too deep a tree (TREE_DEPTH_MAX) refuses the whole.  ".git" is left out.
 * Copies are the user's to write, others' only to read; nothing is set-user-ID.
 *
 * No link is followed on the way, even if names are exchanged meanwhile.
 */

enum { TREE_DEPTH_MAX = 32 };

/* Copies the folder `from`, absolute, as NAME (no "/") into the folder `into`, which may be reached
 * by the user's own links.  INVALID_ARGUMENT: something in it cannot be copied, or there is such a
 * NAME already; TOO_LARGE; IO_ERROR, ...: then nothing of it stays. */
bool tree_copy(const char *from, const char *into, const char *name, struct err *err);
/* Whether a symbolic link with this target, `depth` folders beneath the root of a tree, stays
 * inside by that rule. */
bool tree_link_stays(struct span target, unsigned depth);
/* The digest of all that is in a folder (tree_hash.c): names, kinds, whether a file may be run,
 * content, targets of links; not owners, times or other permissions.  Names in `skip`
 * (NULL-terminated) at its top are ignored.  The same limits as for tree_copy.  TOO_LARGE;
 * FILE_NOT_FOUND, PERMISSION_DENIED, IO_ERROR: also if it changes meanwhile. */
bool tree_hash(const char *folder, const char *const *skip, struct sha256 *ret, struct err *err);
/* The same without reading files: their inode numbers, sizes and times are hashed, which cannot be
 * restored after a change.  Files that anyone but the user and root owns or may write are an error
 * (PERMISSION_DENIED). */
bool tree_hash_quick(const char *folder, const char *const *skip, struct sha256 *ret,
                     struct err *err);

/* Where something is put. */
struct tree_place {
	int folder;       /* open, O_PATH is enough */
	const char *path; /* the folder's, for messages */
	const char *name; /* in it, no "/" */
	bool replace;     /* what has the name is replaced, and removed when the new one is there */
};

/* The same into an open folder. */
bool tree_copy_to(const char *from, const struct tree_place *place, struct err *err);
/* A symbolic link with that target in place of a copy. */
bool tree_link_to(const char *target, const struct tree_place *place, struct err *err);

/* Calls `seen` for each file and link that tree_copy would copy, `path` relative to `from`, in no
 * order; with the errors of tree_copy for what it would refuse. */
typedef void tree_file(void *data, const char *path);
bool tree_look(const char *from, tree_file *seen, void *data, struct err *err);

/* Removes NAME in the folder `in` with all beneath it; of a link only the link.  FILE_NOT_FOUND: it
 * is not there; PERMISSION_DENIED, IO_ERROR: some of it may have been removed. */
bool tree_remove(const char *in, const char *name, struct err *err);
bool tree_remove_in(int folder, const char *name, struct err *err); /* an open one */

#endif
