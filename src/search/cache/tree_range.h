/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a cached tree that lies beneath a start. Private to search/. */
#ifndef HASP_SEARCH_CACHE_TREE_RANGE_H
#define HASP_SEARCH_CACHE_TREE_RANGE_H

#include "search/cache/cache.h"
#include "search/rules/glob_list.h"

struct tree_range {
	const struct cached_folder *folders; /* borrowed from the tree: all of it */
	size_t begin, end;                   /* of the folders beneath the start */
};

/* `start` is relative to the root: "" or "a/b/". False when the tree has no such folder (it is
 * itself ignored, for instance): the caller has to look for itself. */
bool tree_range_find(const struct cached_tree *tree, const char *start, struct tree_range *ret);

/* Whether an exclude leaves out the folder `path`, or one between the start and it. */
bool tree_range_excludes(const struct glob_list *exclude, struct span path, size_t start_len);

#endif
