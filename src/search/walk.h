/* SPDX-License-Identifier: Apache-2.0 */
/* Listing a folder, and finding files beneath it.
 *
 * Everything is opened beneath a workspace root without following symlinks (a symlink is
 * itself an entry).  The order is stable: the bytes of the whole path when
 * recursive, otherwise folders first and then the bytes of the name.
 *
 * What is left out, by default: what .geminiignore says in the workspace root, custom ignore files
 * and .gitignore in every folder from the workspace root down (from the root of the repository,
 * when that lies beneath it), .git/info/exclude, and git's global excludes (chain.h has the
 * order).  Rules speak about entries: a walk that begins in an ignored folder lists it.
 *
 *     struct walk_request request = { .path = "src", .recursive = true };
 *     struct walk_result result;
 *     if (walk(ws, &request, &result, &err))
 *             ... result.entries ...
 *     walk_result_release(&result);
 *
 * A recursive walk reads the tree with several threads; memory holds what is returned and the
 * folders that wait to be read. */
#ifndef HASP_SEARCH_WALK_H
#define HASP_SEARCH_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "file/workspace.h"
#include "search/rules/chain.h"

enum entry_kind { ENTRY_FILE, ENTRY_FOLDER, ENTRY_LINK, ENTRY_OTHER };

struct walk_entry {
	char *path;            /* owned; relative to the folder asked for, '/'-separated */
	enum entry_kind kind;
	uint64_t size;         /* bytes; files only */
	int64_t modified_ns;   /* since the epoch */
};

struct search_cache;

struct walk_request {
	const char *path;            /* the folder; "." is the first root */
	/* Globs (GLOB_BASENAME) over paths relative to the folder. To exclude all of a
	 * folder is to exclude the folder. */
	const char *const *include;  /* a file must match one of them; count 0: all */
	size_t include_count;
	const char *const *exclude;  /* files or folders to leave out */
	size_t exclude_count;
	bool recursive;              /* false: the folder's own entries only, folders too */
	struct walk_rules rules;     /* which ignore files count, and whether hidden files do */
	bool ignore_case;            /* of include and exclude: ASCII letters */
	size_t max_entries;          /* 0 means 100000 */
};

struct walk_result {
	char *folder;                /* owned; canonical absolute path of the folder */
	struct walk_entry *entries;  /* owned */
	size_t count;
	size_t ignored;              /* left out by ignore files or excludes; with `more`: of those
	                              * seen */
	bool more;                   /* there is more than max_entries */
	/* Left out by who handed the request on, and why the first; a walk leaves them empty. */
	size_t denied;
	char *denied_why;            /* owned */
};

/* Frees what the result owns; NULL members are fine. */
void walk_result_release(struct walk_result *result);

/* `cache` may be NULL; recursive walks use what it has, and it keeps up with changes (cache.h).
 * Recursive walks return files only, links not among them. *ret is set on success only,
 * and released by the caller. FILE_NOT_FOUND, NOT_A_DIRECTORY,
 * OUTSIDE_WORKSPACE, PERMISSION_DENIED (of the folder itself; unreadable
 * folders beneath are skipped and counted as ignored), INVALID_ARGUMENT (glob).
 * A .git folder is never entered, unless the path asked for is in one. */
bool walk(const struct workspace *ws, struct search_cache *cache,
          const struct walk_request *request, struct walk_result *ret, struct err *err);

/* ---- whether ignore files hide a file that is asked for by name ---- */

/* A walk leaves ignored files out by itself; this is for a path that a caller names. */

/* Whether `rules` ignore the file, or a folder it is in: judged by where it really is, so a link
 * to an ignored file is ignored too.  False for what cannot be looked at: opening it says why.
 * Costs one look per root when there is no .geminiignore and nothing else counts. */
bool search_ignored(const struct workspace *ws, const char *path, const struct walk_rules *rules);
/* Whether nothing can be ignored, whatever the path: git's files do not count, and there is no
 * .geminiignore in a root. So it is in most workspaces. */
bool search_nothing_ignored(const struct workspace *ws, const struct walk_rules *rules);

#endif
