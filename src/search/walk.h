/* SPDX-License-Identifier: Apache-2.0 */
/* Listing a folder, and finding files beneath it.
 *
 * Everything is opened beneath a workspace root without following symlinks (a symlink is
 * an entry of its own).  The order is stable: bytes of the name, folders before files
 * in walk_list.
 */
#ifndef HASP_SEARCH_WALK_H
#define HASP_SEARCH_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/workspace.h"

enum entry_kind { ENTRY_FILE, ENTRY_FOLDER, ENTRY_LINK, ENTRY_OTHER };

struct walk_entry {
	char *path;            /* owned; relative to the folder asked for, '/'-separated */
	enum entry_kind kind;
	uint64_t size;         /* bytes; files only */
	int64_t modified_ns;   /* since the epoch */
};

struct walk_request {
	const char *path;            /* the folder; "." is the first root */
	const char *const *include;  /* globs a file must match one of; count 0: all */
	size_t include_count;
	const char *const *exclude;  /* globs of files or folders to leave out */
	size_t exclude_count;
	bool recursive;              /* false: the folder's own entries only, folders too */
	bool no_git_ignore;          /* do not honour .gitignore and .git/info/exclude */
	bool no_gemini_ignore;       /* do not honour .geminiignore */
	bool hidden_out;             /* leave out names that begin with '.' */
	size_t max_entries;          /* 0 means 100000 */
};

struct walk_result {
	char *folder;                /* owned; canonical absolute path of the folder */
	struct walk_entry *entries;  /* owned */
	size_t count;
	size_t ignored;              /* left out by ignore files or excludes */
	bool more;                   /* max_entries was reached */
};

void walk_result_release(struct walk_result *result);

/* Recursive walks return files only. FILE_NOT_FOUND, NOT_A_DIRECTORY,
 * OUTSIDE_WORKSPACE, PERMISSION_DENIED (of the folder itself; unreadable
 * folders beneath are skipped and counted as ignored), INVALID_ARGUMENT (glob).
 * .git folders are never entered. */
bool walk(const struct workspace *ws, const struct walk_request *request,
          struct walk_result *ret, struct err *err);

#endif
