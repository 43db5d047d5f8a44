/* SPDX-License-Identifier: Apache-2.0 */
/* The workspace: the folders beneath which files can be reached, and the one
 * way from a path that a stranger wrote to a place in the file system.
 *
 * Every path is resolved by the kernel beneath a root descriptor (openat2 with
 * RESOLVE_BENEATH), so "..", absolute paths, symlinks and races cannot leave it.
 * A relative path is beneath the first root.  An absolute path must name a root
 * (as it was given, canonically, or by one of its names) or something beneath one; it is taken
 * apart as text, after removing "." and empty components, and then resolved beneath that root.
 * Symlinks inside the workspace are followed, also absolute ones whose target is beneath a root;
 * the place then names the target.
 *
 *     struct place place = PLACE_INIT;
 *     if (workspace_resolve(ws, "src/main.c", PLACE_FILE, &place, &err))
 *             ... place.folder, place.leaf, place.path ...
 *     place_release(&place);
 *
 * Folders outside the workspace can be added for reading only. Paths in them are absolute; they are
 * resolved as beneath any root, and edits of what they lead to are refused (edit/edit.h).
 */
#ifndef HASP_FILE_WORKSPACE_H
#define HASP_FILE_WORKSPACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct workspace;
struct file_cache;

/* Opens the roots (absolute or relative to the current folder; at least one).
 * The caller frees with workspace_free.  NOT_A_DIRECTORY, FILE_NOT_FOUND, ... */
bool workspace_open(const char *const *roots, size_t count, struct workspace **ret,
                    struct err *err);
void workspace_free(struct workspace *ws);

/* Gives a root another absolute spelling, such as one through a link: paths that begin with it
 * are that root's, and what follows is resolved beneath it as ever.  `root` is its canonical
 * path; without such a root nothing happens.  Before the workspace is used. */
void workspace_name_root(struct workspace *ws, const char *name, const char *root);

/* Adds a folder for reading alone, after the roots and likewise numbered. What is beneath a root
 * already, or is no folder that can be opened, is left out. Before the workspace is used. */
void workspace_add_read_only(struct workspace *ws, const char *folder);

/* How many roots there are; and with the folders for reading alone. */
size_t workspace_root_count(const struct workspace *ws);
size_t workspace_folder_count(const struct workspace *ws);
/* Whether root `i` is for reading alone. */
bool workspace_is_read_only(const struct workspace *ws, size_t i);
/* The canonical absolute path, and the descriptor, of root `i`; borrowed. */
const char *workspace_root_path(const struct workspace *ws, size_t i);
int workspace_root_fd(const struct workspace *ws, size_t i);

/* A name in a folder, both verified to be beneath a root. Must not outlive its workspace. */
struct place {
	int folder;    /* O_PATH descriptor of the deepest existing folder; owned, unless: */
	bool root_folder; /* it is the workspace's own of a root, as long as that is open */
	char *leaf;    /* owned; one component; "." when the place is a root itself */
	char *path;    /* owned; canonical absolute path of the target, for people and results */
	char *missing; /* owned; NULL, or the folders between `folder` and the leaf that do
	                * not exist yet, as "a/b" */
	size_t root;   /* index of the root */
	struct file_cache *cache; /* borrowed from the workspace; NULL is fine */
	bool through_link; /* a symlink was followed on the way: `path` is the target */
};

#define PLACE_INIT { .folder = -1 }
/* Frees the names and closes the folder. */
void place_release(struct place *place);
/* Closes the folder, if it is the place's own, and puts another in its place, which is owned. */
void place_set_folder(struct place *place, int folder);
#define _cleanup_place_ __attribute__((cleanup(place_release)))

enum place_kind {
	PLACE_EXISTING, /* the target exists, whatever it is */
	PLACE_FILE,     /* the leaf, and folders before it, may be missing (to create it) */
};

/* Resolves a path. `path` is any bytes without NUL, at most LIMIT_PATH_BYTES.
 * OUTSIDE_WORKSPACE also for links that lead outside; FILE_NOT_FOUND (only
 * PLACE_EXISTING); NOT_A_DIRECTORY when a component before the leaf is a file. */
bool workspace_resolve(const struct workspace *ws, const char *path, enum place_kind kind,
                       struct place *ret, struct err *err);

/* Opens the place itself with openat2 (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
 * RESOLVE_NO_MAGICLINKS, O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY added to `flags`);
 * -1 with errno set. */
int place_open(const struct place *place, int flags);

/* Makes the missing folders (mode 0777 less the umask) and moves `folder` to
 * the last of them. *ret_made (may be NULL) counts those that this call made, which
 * place_unmake_folders removes again while they are empty. */
bool place_make_folders(struct place *place, size_t *ret_made, struct err *err);
void place_unmake_folders(const struct place *place, size_t made);

#endif
