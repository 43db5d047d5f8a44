/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the folders of a tree that is kept. Private to this folder: for cached_gather.c, which
 * reads, and cached_merge.c, which puts what was found in its place.
 *
 *     struct gathering g = { .tree = tree };
 *     if (gather_marked(&g)) ...            (or gather_whole(&g, "src/"))
 *     gathering_release(&g);
 */
#ifndef HASP_SEARCH_CACHE_CACHED_GATHER_H
#define HASP_SEARCH_CACHE_CACHED_GATHER_H

#include "search/cache/cached_tree.h"

/* A folder that was read. */
struct found {
	char *path;               /* owned */
	struct name_list *list;   /* owned; its files[] are not filled in; NULL: not read */
	struct name_list **parts; /* owned; further ones, of a folder with very many files */
	size_t part_count, part_cap;
	struct name_list *before; /* owned reference; the folder as it was known; NULL: new */
	char **folders;           /* owned; names; of scans of one folder only */
	size_t folder_count;
	int watch;
	dev_t device;
	ino_t inode;
	uint64_t stamp, exclude_stamp;
	bool repository;
	bool failed, gone;
	struct node *node;        /* that took it over */
	int old_watch;            /* which that node had */
};

/* A file that was not known. */
struct fresh {
	const struct node *node;
	size_t name;
};

struct gathering {
	struct kept_tree *tree;
	bool one_folder;
	bool unfit;               /* a folder that cannot be watched, or trusted; too much */
	struct found *found;      /* owned */
	size_t count, cap;
	char **replaced;          /* owned; paths of folders beneath which all is new */
	size_t replaced_count, replaced_cap;
	struct fresh *fresh;      /* owned */
	size_t fresh_count, fresh_cap;
};

void gathering_release(struct gathering *g);

/* Reads all beneath a folder ("" or "a/b/"), or all that is marked. False: the tree cannot be
 * kept. */
bool gather_whole(struct gathering *g, const char *path);
bool gather_marked(struct gathering *g);

/* Makes one list of the parts of a folder. */
void found_join(struct kept_tree *tree, struct found *found);
void found_release(struct kept_tree *tree, struct found *found);

/* Whether a path is that of a folder ("" or "a/b/"), or beneath it. */
bool path_is_beneath(const char *path, const char *folder);

#endif
