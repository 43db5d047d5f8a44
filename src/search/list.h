/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of walk.h. Private to this folder. */
#ifndef HASP_SEARCH_LIST_H
#define HASP_SEARCH_LIST_H

#include "search/rules/glob_list.h"
#include "search/start.h"
#include "search/walk.h"

/* What both work on. */
struct walker {
	const struct walk_request *request;
	const struct start *start;
	struct glob_list include, exclude; /* owned */
	size_t start_len;                  /* bytes of start->folder */
	size_t max_entries;
	struct walk_result result;         /* being made */
	size_t entry_cap;
};

/* Appends an entry; takes `path` over. */
void walker_add(struct walker *w, char *path, enum entry_kind kind, uint64_t size,
                int64_t modified_ns);
/* Looks an entry up; false when it is gone. */
bool walker_stat(int folder, const char *name, struct walk_entry *ret);

/* The entries of one folder, folders first. */
bool list_folder(struct walker *w, struct err *err);
/* The files of a tree, in the order of their paths. */
bool list_tree(struct walker *w, struct search_cache *cache, struct err *err);

#endif
