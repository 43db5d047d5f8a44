/* SPDX-License-Identifier: Apache-2.0 */
#include "search/cache/tree_range.h"

/* The first folder whose path is not before `path`. */
static size_t lower_bound(const struct cached_folder *folders, size_t count, const char *path)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(folders[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool tree_range_find(const struct cached_tree *tree, const char *start, struct tree_range *ret)
{
	const size_t len = strlen(start);
	size_t count;

	ret->folders = cached_tree_folders(tree, &count);
	ret->begin = lower_bound(ret->folders, count, start);
	if (ret->begin == count || strcmp(ret->folders[ret->begin].path, start) != 0)
		return false;
	ret->end = ret->begin;
	while (ret->end < count && strncmp(ret->folders[ret->end].path, start, len) == 0)
		ret->end++;
	return true;
}

bool tree_range_excludes(const struct glob_list *exclude, struct span path, size_t start_len)
{
	for (size_t at = start_len; exclude->count > 0 && at < path.len; at++)
		if (path.data[at] == '/' &&
		    glob_list_match(exclude, span_of(path.data + start_len, at - start_len)))
			return true;
	return false;
}
