/* SPDX-License-Identifier: Apache-2.0 */
/* Several globs, of which one has to match. Private to search/. */
#ifndef HASP_SEARCH_RULES_GLOB_LIST_H
#define HASP_SEARCH_RULES_GLOB_LIST_H

#include "search/rules/glob.h"

struct glob_list {
	struct glob **globs; /* owned */
	size_t count;
};

/* Appends `count` globs. With `whole_folders` one that ends in a slash and two stars stands for
 * the folder before: to leave out all of a folder is to leave out the folder.
 * INVALID_ARGUMENT as glob_compile; the list is the caller's to release in any case. */
bool glob_list_add(struct glob_list *list, const char *const *texts, size_t count,
                   unsigned flags, bool whole_folders, struct err *err);
void glob_list_release(struct glob_list *list);

bool glob_list_match(const struct glob_list *list, struct span path);
bool glob_list_may_match_beneath(const struct glob_list *list, struct span path);

#endif
