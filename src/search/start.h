/* SPDX-License-Identifier: Apache-2.0 */
/* Where a walk or search begins. Private to this folder.
 *
 *     _cleanup_start_ struct start start = START_INIT;
 *     if (!start_find(&start, ws, ".", &rules, &err)) ...
 */
#ifndef HASP_SEARCH_START_H
#define HASP_SEARCH_START_H

#include <sys/types.h>

#include "file/workspace.h"
#include "search/rules/chain.h"
#include "search/rules/global_ignore.h"

struct start {
	struct place place;   /* the folder (or file) itself */
	size_t root;          /* number of its root */
	int root_fd;          /* borrowed */
	const char *root_path; /* borrowed */
	char *folder;         /* owned; the folder relative to the root: "" or "a/b/"; of a file:
	                       * the folder it is in */
	bool is_file;
	mode_t mode;
	struct global_ignore *global; /* owned */
	struct ignore_rules *global_rules; /* owned; NULL when git's rules do not count */
};

#define START_INIT { .place = PLACE_INIT }
void start_release(struct start *start);
#define _cleanup_start_ __attribute__((cleanup(start_release)))

/* FILE_NOT_FOUND, OUTSIDE_WORKSPACE, PERMISSION_DENIED (a folder that cannot be read);
 * NOT_A_FILE for what is neither a folder nor a regular file. Release in any case. */
bool start_find(struct start *start, const struct workspace *ws, const char *path,
                const struct walk_rules *rules, struct err *err);

/* What a chain of this start is based on. */
struct chain_base start_base(const struct start *start, const struct walk_rules *rules);

#endif
