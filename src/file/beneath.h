/* SPDX-License-Identifier: Apache-2.0 */
/* What a workspace is made of, for the files of file/ that resolve paths in it.  Internal to
 * file/. */
#ifndef HASP_FILE_BENEATH_H
#define HASP_FILE_BENEATH_H

#include "base/beneath.h"
#include "file/workspace.h"

struct workspace_root {
	char *path;  /* owned; canonical, absolute, without a slash at the end ("/" is "") */
	char *alias; /* owned; the path as it was given, made absolute as text */
	int fd;      /* owned; O_PATH */
};

/* Another absolute spelling of a root. */
struct workspace_name {
	char *text; /* owned */
	size_t root;
};

struct workspace {
	struct workspace_root *roots; /* owned */
	size_t count;
	struct workspace_name *names; /* owned */
	size_t name_count, name_cap;
	struct folder_cache *clean; /* owned */
	struct digests *digests;    /* owned */
};

/* Takes an absolute path apart: which root it is beneath, as text, by whole
 * components, the longest root winning; *ret_rest is what remains ("" for the root). */
bool workspace_match(const struct workspace *ws, const char *path, size_t *ret_root,
                     const char **ret_rest);

struct stat;
/* As workspace_resolve; *ret_leaf gets the lstat of the leaf, st_mode == 0 when missing. */
bool workspace_resolve_stat(const struct workspace *ws, const char *path, enum place_kind kind,
                            struct place *ret, struct stat *ret_leaf, struct err *err);

#endif
