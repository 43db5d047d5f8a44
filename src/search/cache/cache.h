/* SPDX-License-Identifier: Apache-2.0 */
/* What a long-running process keeps of a tree it has searched, so that the next search pays
 * neither for the walk nor for reading files that cannot match.
 *
 *     struct search_cache *cache = search_cache_new(ws, &options);
 *
 *     struct cached_tree *tree = search_cache_open(cache, root, &rules);
 *     if (tree) {
 *             const struct cached_folder *folders = cached_tree_folders(tree, &count);
 *             cached_tree_select(tree, matcher_needs_of(matcher), bits);
 *             ... read the files of folders[i] whose bit is set ...
 *             search_cache_close(cache, tree);
 *     } else {
 *             ... search cold ...
 *             search_cache_want(cache, root, &rules);   // be ready for the next one
 *     }
 *
 * Kept per root and set of rules: folders and files in order, with what the ignore files
 * decided, and of each text file a signature of its trigrams (kept_tree.h).  A thread of the
 * cache builds both in the background after the first search.
 *
 * Kept true by inotify: every folder of the tree is watched before it is read, and
 * search_cache_open takes in all events that happened before it was called, so what another
 * process has done before the call is seen.  A file that changed is "unknown" until
 * its signature is made again; unknown files are always candidates.  Checked besides, where
 * events may be missing (cache.c says where: hard links, shared mappings, file systems that
 * other machines change, an overflow of the queue).
 * What cannot be watched is not cached: search_cache_open gives NULL and the search is cold.
 *
 * Bounded: at most max_bytes for everything kept; files beyond that have no signature and
 * are candidates always; a tree whose names alone are too large is not kept. */
#ifndef HASP_SEARCH_CACHE_CACHE_H
#define HASP_SEARCH_CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file/workspace.h"
#include "search/match/matcher.h"
#include "search/rules/chain.h"
#include "search/rules/glob.h"

struct search_cache;
struct cached_tree;

struct search_cache_options {
	size_t max_bytes;      /* 0: 128 MiB, all trees together */
	size_t max_file_bytes; /* larger files get no signature; 0: 64 MiB */
	int64_t sweep_ms;      /* between two comparisons with the disk; 0: five seconds */
};

/* Never NULL. The workspace is borrowed and must outlive the cache. */
struct search_cache *search_cache_new(const struct workspace *ws,
                                      const struct search_cache_options *options);
void search_cache_free(struct search_cache *cache); /* stops its thread; NULL is fine */

/* To be called, as search_cache_want, on a thread that has the process's table of descriptors.
 * The tree beneath root `root` as it is now, held until it is closed; NULL when there is
 * none (yet).  Several threads can hold trees at the same time. */
struct cached_tree *search_cache_open(struct search_cache *cache, size_t root,
                                      const struct walk_rules *rules);
void search_cache_close(struct search_cache *cache, struct cached_tree *tree);

/* Asks the background thread to build that tree, and make signatures. Cheap to repeat. */
void search_cache_want(struct search_cache *cache, size_t root, const struct walk_rules *rules);
/* Waits until nothing is left to build; for tests and benchmarks. False after timeout_ms. */
bool search_cache_settle(struct search_cache *cache, unsigned timeout_ms);

struct cached_folder {
	const char *path;         /* relative to the root; "" or ends with '/' */
	const char *const *names; /* of files that the rules leave in, sorted by bytes */
	size_t count;
	size_t first;             /* index of names[0] in the tree's files */
	size_t ignored;           /* entries that the rules leave out (scan_folder.ignored) */
};

/* In the order of paths as walk.h has it (a folder's files are contiguous). Borrowed. */
const struct cached_folder *cached_tree_folders(const struct cached_tree *tree, size_t *ret_count);
size_t cached_tree_files(const struct cached_tree *tree);
/* Folders that are left in but could not be read. */
size_t cached_tree_unreadable(const struct cached_tree *tree);
/* Sets bit i (of 64 a word; cached_tree_files bits) for each file that may have what is needed. */
void cached_tree_select(const struct cached_tree *tree, const struct matcher_needs *needs,
                        uint64_t *bits);

/* ---- the part of a cached tree that lies beneath a start ---- */

struct tree_range {
	const struct cached_folder *folders; /* borrowed from the tree: all of it */
	size_t begin, end;                   /* of the folders beneath the start */
};

/* `start` is relative to the root: "" or "a/b/". False when the tree has no such folder (it is
 * itself ignored, for instance): the caller has to look for itself. */
bool cache_range_find(const struct cached_tree *tree, const char *start, struct tree_range *ret);

/* Whether an exclude leaves out the folder `path`, or one between the start and it. */
bool cache_range_excludes(const struct glob_list *exclude, struct span path, size_t start_len);

#endif
