/* SPDX-License-Identifier: Apache-2.0 */
/* Whole folders: copied in, and removed, within bounds.  What is copied is a stranger's.
 *
 *     if (!tree_copy("/home/me/src/ext", extensions, "ext", &err)) ...   // all of it, or nothing
 *     if (!tree_remove(extensions, "ext", &err)) ...
 *
 * Only folders, regular files and symbolic links that stay inside the tree are copied: a link's
 * target may go up as many folders as it is deep, and then down.  Anything else (a device, a FIFO,
 * a socket, an absolute link), too many files (LIMIT_TREE_FILES), too much in them
 * (LIMIT_TREE_BYTES) or too deep a tree (TREE_DEPTH_MAX) refuses the whole.  ".git" is left out.
 * Copies are the user's to write, others' only to read; nothing is set-user-ID.
 *
 * No link is followed on the way, whoever exchanges names meanwhile.
 */
#ifndef HASP_BASE_TREE_H
#define HASP_BASE_TREE_H

#include <stdbool.h>

#include "base/err.h"

enum { TREE_DEPTH_MAX = 32 };

/* Copies the folder `from`, absolute, as NAME (no "/") into the folder `into`, which may be reached
 * by the user's own links.  INVALID_ARGUMENT: something in it cannot be copied, or there is such a
 * NAME already; TOO_LARGE; IO_ERROR, ...: then nothing of it stays. */
bool tree_copy(const char *from, const char *into, const char *name, struct err *err);
/* Removes NAME in the folder `in` with all beneath it; of a link only the link.  FILE_NOT_FOUND: it
 * is not there; PERMISSION_DENIED, IO_ERROR: some of it may be gone. */
bool tree_remove(const char *in, const char *name, struct err *err);

#endif
