/* SPDX-License-Identifier: Apache-2.0 */
/* The ignore files in force at one place of a tree. Private to search/.
 *
 *     struct chain_base base = { .rules = &rules, .root = fd, .root_path = "/srv/project" };
 *     struct chain *top = chain_enter(&base, NULL, fd, SPAN(""), CHAIN_LOOK);
 *     struct chain *below = chain_enter(&base, top, sub_fd, SPAN("sub/"), names);
 *     if (chain_ignores(&base, below, SPAN("sub/file.o"), false)) ...
 *     chain_unref(below);
 *     chain_unref(top);
 *
 * A chain is immutable and shared: each folder with ignore files of its own adds a link to
 * that of the folder above, and threads pass references on.  All paths are relative to the
 * workspace root.
 *
 * Who decides, first come: .geminiignore of the workspace root; the custom files, later names
 * first, each from the deepest folder up; .gitignore from the deepest folder up to the root of
 * the repository; .git/info/exclude there (found through a .git that is a file, too, where
 * that leads to something beneath the workspace root); git's global excludes. */
#ifndef HASP_SEARCH_RULES_CHAIN_H
#define HASP_SEARCH_RULES_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/span.h"
#include "search/rules/ignore.h"
#include "search/rules/rules.h"

/* What all links of one walk have in common. */
struct chain_base {
	const struct walk_rules *rules;     /* borrowed */
	int root;                           /* the workspace root; borrowed */
	const char *root_path;              /* its canonical path; borrowed */
	const struct ignore_rules *global;  /* git's global excludes, or NULL; borrowed */
};

struct chain;

/* Which names that matter a folder has: what reading it tells for nothing. */
enum chain_names {
	CHAIN_GITIGNORE = 1,
	CHAIN_GEMINIIGNORE = 2,
	CHAIN_DOT_GIT = 4,
	CHAIN_CUSTOM = 8, /* one of rules->ignore_files */
	CHAIN_LOOK = 15,  /* not known: try all */
};

/* The bit for a name, or 0. */
unsigned chain_name(const struct walk_rules *rules, const char *name);

/* The chain of a folder; `path` is "" for the workspace root and ends with '/' otherwise. A new
 * reference; NULL when there are no ignore files. Files above 4 MiB are not honoured. */
struct chain *chain_enter(const struct chain_base *base, struct chain *above, int folder,
                          struct span path, unsigned names);
/* The chain of the folders above `start` ("" or "a/b/"), without its own files. */
struct chain *chain_approach(const struct chain_base *base, const char *start);
struct chain *chain_ref(struct chain *chain); /* NULL is fine, here and below */
void chain_unref(struct chain *chain);

/* Whether the files say so of the path itself (not of a folder it is in). */
bool chain_ignores(const struct chain_base *base, const struct chain *chain, struct span path,
                   bool is_folder);

/* Opens `path` beneath a folder without following any link; -1 with errno set. */
int chain_open(int folder, const char *path, int flags);

/* ---- where a repository keeps its info/exclude ---- */

/* That is .git/info/exclude, or, where .git is a file ("gitdir: PATH": submodules and linked
 * work trees, gitrepository-layout(5)), beneath the folder it names, or beneath that folder's
 * "commondir".  What is not beneath the workspace root is out of reach and does not count. */

/* The path of info/exclude relative to the workspace root, for the folder `path` whose .git
 * entry has `mode`; NULL when it cannot be reached. The file need not exist. The caller frees. */
char *chain_gitdir_exclude(const struct chain_base *base, int folder, struct span path,
                           mode_t mode);

#endif
