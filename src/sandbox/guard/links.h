/* SPDX-License-Identifier: Apache-2.0 */
/* Symbolic links to folders that stood before a command, so that what the command makes in their
 * place does not count as new (names.c).
 *
 *     guard->links = links_new();
 *     links_take(guard, root);       // of each root
 *     links_sort(guard->links);      // from here on links_stood can be called
 *     ...                            // the command runs
 *     links_compare(...);            // of each folder that is listed after it (find.c)
 *     links_free(guard->links);
 */
#ifndef HASP_SANDBOX_GUARD_LINKS_H
#define HASP_SANDBOX_GUARD_LINKS_H

#include "sandbox/guard/private.h"

/* Whether users may work through a link in the folder: it leads to a folder, or where it leads
 * cannot be seen. */
bool links_counts(int folder, const char *name);
/* An empty list, the caller's to free. */
struct links *links_new(void);
/* Notes in guard->links those that are there, before the command's first instruction. */
void links_take(struct guard *guard, const struct guard_root *root);
/* Notes the links of a folder, each name with its NUL. */
void links_add(struct links *links, const struct stat *folder, struct span names);
/* Notes that something could not be looked at. */
void links_lose(struct links *links);
/* Sorts the list, when all links are noted: from here on they can be looked up. */
void links_sort(struct links *links);
/* Whether such a link stood at this absolute path, or at that of a folder above it.  The removal of
 * a link is not seen (at level full it does not reach the supervisor), so that all which is made at
 * its name counts as made in its place. */
bool links_stood(const struct guard *guard, const char *path);
/* Some folders could not be looked at before the command. */
bool links_unknown(const struct guard *guard);
/* After the command: the folder at this path has these links, each name with its NUL.  Places of
 * those that it had before are remembered for the commands to come. */
void links_compare(struct guard *guard, const struct guard_root *root, const char *path,
                   const struct stat *st, struct span names);
void links_free(struct links *links); /* NULL is fine */

#endif
