/* SPDX-License-Identifier: Apache-2.0 */
/* Removing a folder that was in strangers' hands, with all in it. */
#ifndef HASP_SANDBOX_APPLY_REMOVE_H
#define HASP_SANDBOX_APPLY_REMOVE_H

#include <stdbool.h>

/* Removes what is in `folder` (a descriptor of a folder open for reading) and, when that worked,
 * `name` in `above`, which is that folder.  Symlinks are removed, never followed; nothing outside
 * is touched whoever renames what meanwhile; other file systems mounted inside stay.  However deep
 * the folders are, it takes a handful of descriptors and no recursion.  Gives up after
 * `timeout_ms`. False when something is left. */
bool remove_folder(int above, const char *name, int folder, unsigned timeout_ms);

#endif
