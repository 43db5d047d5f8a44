/* SPDX-License-Identifier: Apache-2.0 */
/* Listing a folder, and finding files beneath it.
 *
 * Everything is opened beneath a workspace root without following symlinks (a symlink is
 * an entry of its own).  The order is stable: the bytes of the whole path when
 * recursive, otherwise folders first and then the bytes of the name.
 *
 * What is left out: .gitignore counts in every folder from the workspace root down (from
 * the root of the repository, when that lies beneath it), .git/info/exclude in the root of a
 * repository, .geminiignore in the workspace root; where the last decides, also with "!",
 * it decides over git's.  Rules speak about entries: a walk that begins in an
 * ignored folder lists it.  Git's global excludes are outside and do not count.
 *
 *     struct walk_request request = { .path = "src", .recursive = true };
 *     struct walk_result result;
 *     if (walk(ws, &request, &result, &err))
 *             ... result.entries ...
 *     walk_result_release(&result);
 *
 * Two descriptors are open at a time; memory is bounded by max_entries or a million
 * names, whichever is more.
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
	/* Globs (GLOB_BASENAME) over paths relative to the folder. To exclude all of a
	 * folder is to exclude the folder. */
	const char *const *include;  /* a file must match one of them; count 0: all */
	size_t include_count;
	const char *const *exclude;  /* files or folders to leave out */
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
	bool more;                   /* there is more than max_entries, or than fits in memory */
};

void walk_result_release(struct walk_result *result);

/* Recursive walks return files only, links not among them. *ret is set on success only,
 * and released by the caller. FILE_NOT_FOUND, NOT_A_DIRECTORY,
 * OUTSIDE_WORKSPACE, PERMISSION_DENIED (of the folder itself; unreadable
 * folders beneath are skipped and counted as ignored), INVALID_ARGUMENT (glob).
 * A .git folder is never entered, unless the path asked for is in one. */
bool walk(const struct workspace *ws, const struct walk_request *request,
          struct walk_result *ret, struct err *err);

#endif
