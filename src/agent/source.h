/* SPDX-License-Identifier: Apache-2.0 */
/* Where files of instructions are read from: the workspace, through its provider, or a folder of the
 * user's.  Private to this folder. */
#ifndef HASP_AGENT_SOURCE_H
#define HASP_AGENT_SOURCE_H

#include "base/buf.h"
#include "worker/provider.h"

struct source {
	const char *root;          /* absolute; nothing outside it is read */
	struct provider *provider; /* NULL: the folder is this machine's, opened directly */
	bool own_only;             /* files of other users (but root) are passed over */
};

/* Appends the file's text, if it is a regular file of UTF-8 and at most LIMIT_MEMORY_FILE_BYTES.
 * `path` is absolute. FILE_NOT_FOUND, TOO_LARGE, NOT_TEXT, OUTSIDE_WORKSPACE, ... */
bool source_read(const struct source *source, const char *path, struct buf *out, struct err *err);

/* "FOLDER/NAME" without "." and ".." and doubled slashes, by text alone; an absolute NAME is itself.
 * The caller frees. */
char *path_join(const char *folder, const char *name);
/* Whether `path` is `root` or beneath it, by text; both as path_join makes them. */
bool path_is_under(const char *path, const char *root);
/* The folder of a path; "/" for what is in it. The caller frees. */
char *path_folder(const char *path);

#endif
