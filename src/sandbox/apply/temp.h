/* SPDX-License-Identifier: Apache-2.0 */
/* A session's folder for temporary files.
 *
 * Made beneath $TMPDIR or /tmp, in a folder of the user's, readable by its owner alone, locked
 * while the session lives.  The commands of a session share it (at level full they see it as
 * /tmp).  Folders of sessions that were killed are recognised by their free lock and removed by the
 * next session's start. */
#ifndef HASP_SANDBOX_APPLY_TEMP_H
#define HASP_SANDBOX_APPLY_TEMP_H

#include <stdbool.h>

#include "base/err.h"

struct temp_folder;

/* Makes a folder of mode 700 with a unique name, beneath $TMPDIR or else /tmp, locks it
 * (flock), and removes those that killed sessions have left there.  *ret is freed with
 * temp_folder_free.
 * IO_ERROR and the like: neither place takes one. */
bool temp_folder_make(struct temp_folder **ret, struct err *err);
const char *temp_folder_path(const struct temp_folder *folder); /* canonical; borrowed */
void temp_folder_free(struct temp_folder *folder); /* removes it and all in it; NULL is fine */

/* ---- removing a folder that was in strangers' hands, with all in it ---- */

/* Removes what is in `folder` (a descriptor of a folder open for reading) and, when that worked,
 * `name` in `above`, which is that folder.  Symlinks are removed, never followed; nothing outside
 * is touched whatever is renamed meanwhile; other file systems mounted inside stay.  However deep
 * the folders are, it takes a handful of descriptors and no recursion.  Gives up after
 * `timeout_ms`. False when something is left. */
bool temp_remove_folder(int above, const char *name, int folder, unsigned timeout_ms);

#endif
