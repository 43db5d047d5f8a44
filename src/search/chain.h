/* SPDX-License-Identifier: Apache-2.0 */
/* The ignore files in force at one place of a walk. Private to this folder.
 *
 *     struct chain chain = { .git = true, .gemini = true };
 *     struct chain_mark mark = chain_enter(&chain, fd, path);   for each folder, top down
 *     if (chain_ignores(&chain, path, is_folder)) ...
 *     chain_leave(&chain, mark);
 *     chain_release(&chain);
 *
 * All paths are relative to the workspace root.  .gitignore counts in every
 * folder; in the root of a repository .git/info/exclude counts too, and what lies
 * outside of it stops counting.  .geminiignore counts in the workspace root;
 * where it decides, it decides over git's files.
 */
#ifndef HASP_SEARCH_CHAIN_H
#define HASP_SEARCH_CHAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

struct chain_link;

struct chain {
	bool git, gemini;         /* which files to honour; set before the first folder */
	struct chain_link *links; /* owned */
	size_t count, cap;
	size_t git_from;          /* links before it are another repository's */
};

struct chain_mark {
	size_t count, git_from;
};

/* Reads the ignore files of a folder; `path` is "" for the workspace root and
 * ends with '/' otherwise. Files above 4 MiB are not honoured. */
struct chain_mark chain_enter(struct chain *chain, int folder, struct span path);
void chain_leave(struct chain *chain, struct chain_mark mark);
void chain_release(struct chain *chain);

/* Whether the files say so of the path itself (not of a folder it is in). */
bool chain_ignores(const struct chain *chain, struct span path, bool is_folder);

/* Opens `path` beneath a folder without following any link; -1 with errno set. */
int chain_open(int folder, const char *path, int flags);

#endif
