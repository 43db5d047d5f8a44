/* SPDX-License-Identifier: Apache-2.0 */
/* Absolute paths as text: links are not looked at, nothing is opened. What may be reached is
 * decided where a file is opened (file/workspace.h), not here. */
#ifndef HASP_BASE_PATH_H
#define HASP_BASE_PATH_H

#include <stdbool.h>

/* "FOLDER/NAME" without ".", ".." and doubled slashes; an absolute NAME is itself. The caller
 * frees. */
char *path_join(const char *folder, const char *name);
/* Whether `path` is `root` or beneath it; both as path_join makes them. */
bool path_is_under(const char *path, const char *root);
/* The folder of a path; "/" for what is in it. The caller frees. */
char *path_folder(const char *path);

#endif
