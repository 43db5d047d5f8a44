/* SPDX-License-Identifier: Apache-2.0 */
/* What a file has besides its content: owner, group, mode, ACL, xattrs.
 *
 * Kept, or CANNOT_PRESERVE: owner, group, mode, the access ACL, user.* xattrs.
 * Kept where the kernel permits: security.* (labels), trusted.*, other system.*.
 * Not kept: security.capability (a write drops it too), inode flags, the time of
 * birth, the times of access and change.  Internal to file/.
 */
#ifndef HASP_FILE_ATTRIBUTES_H
#define HASP_FILE_ATTRIBUTES_H

#include <sys/stat.h>

#include "base/err.h"

/* Gives the file open as `to` what the one open as `from` has; `stat` is the latter's. `path`
 * is for messages.  Works whatever was already copied. Call it after the content
 * is written: a write clears set-user-id.  *was (may be NULL) gets the stat of `to` before. */
bool attributes_copy(int from, const struct stat *stat, int to, const char *path,
                     struct stat *was, struct err *err);

#endif
