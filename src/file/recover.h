/* SPDX-License-Identifier: Apache-2.0 */
/* Putting right what a killed writer left in a folder.
 *
 * A writer can be killed at any instruction. What it leaves is at most one file under a name
 * of temporary.h, which says whose place it was for, and what content was there before and after:
 *
 *     kind   content      meaning                                    what is done
 *     p      any          was being written                          removed
 *     x      new          not exchanged yet, or put back already     removed
 *     x      old          exchanged: the old file                    removed
 *     x      other        somebody else's, taken out by the          exchanged back if our new
 *                         exchange and not yet put back              content still has the name
 *     d      old          moved away to be removed                   removed
 *     d      other        somebody else's                            moved back if the name is free
 *     t      any          a transaction's, whose journal knows       left alone
 *
 * A live writer holds a flock on its new file, which has one of the two names (x, p),
 * or on the file it removes (d): then nothing is touched.  Nor is it when the lock cannot be looked
 * for, because the file cannot be opened: a live writer's lease refuses it (adopt.h).  What this
 * process's own commits have under way is known without opening it (folder_cache.h).
 * What is "other" and cannot be put back is removed when a newer file has the name (x), or stays (d, names above 180 bytes).
 * Every commit first recovers the folder that it is about to write in; that costs one reading
 * of the folder, once a second at most (folder_cache.h).
 */
#ifndef HASP_FILE_RECOVER_H
#define HASP_FILE_RECOVER_H

#include <stddef.h>

#include "base/err.h"

/* Recovers the folder open as `folder` (O_PATH is enough). *ret_removed (may be NULL) counts
 * the temporary files put right. False when the folder cannot be read. */
bool recover_folder(int folder, size_t *ret_removed, struct err *err);

struct place;

/* The same for a place's folder, before a commit there; returns the folder opened for reading
 * (to be locked and synced), or -1 when it cannot be.  A folder that folder_cache.h knows to be
 * clean is not read. */
int recover_open(const struct place *place);

/* After the commit: what has changed in the folder since recover_open is our doing. */
void recover_note(const struct place *place, int readable);

#endif
