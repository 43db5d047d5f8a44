/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: a copy of a folder of hasp's own state. */
#ifndef HASP_CONFIG_COPY_TREE_H
#define HASP_CONFIG_COPY_TREE_H

#include <stdbool.h>

/* The folder holds nothing but perhaps the file `marker`. */
bool copy_tree_is_new(const char *folder, const char *marker);

/* Copies files, folders and symbolic links of `from` into the folder `to`, which is there; what is
 * there
 * already stays.  What cannot be copied is left out; deeper than 64 levels nothing is. */
void copy_tree(const char *from, const char *to);

#endif
