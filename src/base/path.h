/* SPDX-License-Identifier: Apache-2.0 */
/* Absolute paths as text: links are not looked at, nothing is opened. What may be reached is
 * decided where a file is opened (file/workspace.h), not here. */
#ifndef HASP_BASE_PATH_H
#define HASP_BASE_PATH_H

#include <stdbool.h>

#include "base/span.h"

/* "FOLDER/NAME" without ".", ".." and doubled slashes; an absolute NAME is itself. The caller
 * frees. */
char *path_join(const char *folder, const char *name);
/* Whether `path` is `root` or beneath it; both as path_join makes them. */
bool path_is_under(const char *path, const char *root);
/* The folder of a path; "/" for what is in it. The caller frees. */
char *path_folder(const char *path);
/* The path of file:///PATH, file://localhost/PATH, or file://HOST/PATH of this machine (RFC 8089),
 * as it is named; the caller frees.  NULL: it is no such address, or a NUL is in the path. */
char *path_of_address(struct span address);

#endif
