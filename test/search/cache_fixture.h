/* SPDX-License-Identifier: Apache-2.0 */
/* A workspace with a cache over it, and the truth to compare the cache with: a cold scan, and a
 * plain look into every file. */
#ifndef HASP_TEST_SEARCH_CACHE_FIXTURE_H
#define HASP_TEST_SEARCH_CACHE_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "search/cache/cache.h"

struct cache_fixture {
	char top[64];          /* holds "root" and "outside" */
	struct workspace *ws;
	struct search_cache *cache;
	struct walk_rules rules;
};

/* Makes the folders; "root" has some files with words. Git's own configuration is shut out. */
void cache_fixture_open(struct cache_fixture *f);
/* Makes the cache, with these limits, and waits until it has everything. */
void fixture_start(struct cache_fixture *f, const struct search_cache_options *options);
void cache_fixture_close(struct cache_fixture *f);

/* Shell commands, run in the folder that holds "root" and "outside". */
void fixture_run(const struct cache_fixture *f, const char *command);
/* An absolute path; the caller frees. */
char *fixture_path(const struct cache_fixture *f, const char *path);
/* Creates or rewrites a file ("root/a/b"); its folder must be there. */
void fixture_write(const struct cache_fixture *f, const char *path, const char *text);

/* Waits for the cache to have a tree and all its signatures. */
void fixture_settle(struct cache_fixture *f);

/* What the cache says of a file, by its path relative to the root. */
enum fixture_answer { ANSWER_NO_TREE, ANSWER_NO_FILE, ANSWER_CANNOT_MATCH, ANSWER_MAY_MATCH };
enum fixture_answer fixture_ask(struct cache_fixture *f, const char *file, const char *needle);

/* Fails the test unless the folders and files are those of a cold scan, and every file
 * that has the needle may match. False when the cache has no tree. */
bool fixture_compare(struct cache_fixture *f, const char *needle);

/* How many descriptors, and threads, this process has. */
size_t fixture_count(const char *proc_folder);

#endif
