/* SPDX-License-Identifier: Apache-2.0 */
/* What commits remember of a workspace: which folders were lately found free of temporary files, so
 * that not each commit reads them; which such files commits of this process have under way, so that
 * they are not taken for a dead writer's and opened; which files the last commits here have put in
 * place, so that their changes are not taken for somebody else's (adopt.h).
 *
 * What is known of a folder holds while the folder's mtime is as it was, and for a second at
 * most, or ten if there is much to be read: a time stamp can hide a change in the same clock tick,
 * and what another process left while we were at work ourselves.  One per workspace; threads may
 * share it.  Internal to file/.
 */
#ifndef HASP_FILE_FOLDER_CACHE_H
#define HASP_FILE_FOLDER_CACHE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#include "base/sha256.h"

enum {
	FOLDER_CACHE_MS = 1000,
	FOLDER_CACHE_LARGE_MS = 10000,
	FOLDER_CACHE_LARGE_NAMES = 100, /* more than these are much to be read */
};

struct folder_cache;

struct folder_cache *folder_cache_new(void); /* never NULL */
void folder_cache_free(struct folder_cache *cache); /* NULL is fine */

/* Whether the folder with this stat is known to be clean. */
bool folder_cache_knows(struct folder_cache *cache, const struct stat *folder);

/* Notes that it is clean: just read, with so many names. */
void folder_cache_note_read(struct folder_cache *cache, const struct stat *folder, size_t names);
/* If it was known to be clean: so it still is, changed by us alone. */
void folder_cache_note_change(struct folder_cache *cache, const struct stat *folder);

/* A name that a commit of this process has given to a temporary file (temporary.h), until it is
 * done: recovery passes over it, as it would after opening it and finding it locked.  The names are
 * unique enough to go without their folders. */
struct own_name;
struct own_name *folder_cache_own(struct folder_cache *cache, const char *name); /* never NULL */
void folder_cache_disown(struct folder_cache *cache, struct own_name *own); /* NULL is fine */
bool folder_cache_owns(struct folder_cache *cache, const char *name);

/* When somebody else last changed the file, for all we know; seconds of CLOCK_REALTIME.  That is
 * its last change (st_ctim), unless it is, with this stat and content, what a commit here put in
 * place: then what was known of the file before. */
time_t folder_cache_others_at(struct folder_cache *cache, const struct stat *file,
                              const struct sha256 *sum);
/* A commit has put this file in place; `others_at` is what was known of the one before. */
void folder_cache_note_file(struct folder_cache *cache, const struct stat *file,
                            const struct sha256 *sum, time_t others_at);

#endif
