/* SPDX-License-Identifier: Apache-2.0 */
/* Which large folders were lately found free of litter, so that not every commit reads them.
 *
 * An entry holds while the folder's mtime is as it was, and for FOLDER_CACHE_SECONDS at most:
 * a time stamp can hide a change in the same clock tick, and what another process left while we
 * were at work ourselves.  One per workspace; threads may share it.  Internal to store/.
 */
#ifndef HASP_STORE_FOLDER_CACHE_H
#define HASP_STORE_FOLDER_CACHE_H

#include <stdbool.h>
#include <sys/stat.h>

enum { FOLDER_CACHE_SECONDS = 10 };

struct folder_cache;

struct folder_cache *folder_cache_new(void); /* never NULL */
void folder_cache_free(struct folder_cache *cache); /* NULL is fine */

/* Whether the folder with this stat is known to be clean. */
bool folder_cache_knows(struct folder_cache *cache, const struct stat *folder);

/* Notes that it is clean: just read, or (`again`) only changed by us since it was. */
void folder_cache_note(struct folder_cache *cache, const struct stat *folder, bool again);

#endif
