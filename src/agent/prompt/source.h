/* SPDX-License-Identifier: Apache-2.0 */
/* Where files of instructions are read from: the workspace, through its provider, or a folder of
 * the user's.  Private to agent/. */
#ifndef HASP_AGENT_PROMPT_SOURCE_H
#define HASP_AGENT_PROMPT_SOURCE_H

#include <jansson.h>

#include "base/buf.h"
#include "worker/provider.h"

struct source {
	const char *root;          /* absolute; nothing outside it is read */
	struct provider *provider; /* NULL: the folder is this machine's, opened directly */
	bool own_only;             /* files of other users (but root) are passed over */
	json_t *notices;           /* NULL, or gets a sentence about a file with invisible
	                            * characters */
};

/* A sentence to the user about invisible characters (base/unseen.h): `what` has `count` of them. */
void notice_unseen(const char *what, size_t count, json_t *notices);

/* Appends the file's text, its invisible characters as escapes, if it is a regular file of UTF-8
 * and at most LIMIT_MEMORY_FILE_BYTES. `path` is absolute, as path_join (base/path.h) makes it.
 * FILE_NOT_FOUND, TOO_LARGE, NOT_TEXT, OUTSIDE_WORKSPACE, ... */
bool source_read(const struct source *source, const char *path, struct buf *out, struct err *err);

#endif
