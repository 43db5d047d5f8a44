/* SPDX-License-Identifier: Apache-2.0 */
/* Names for kinds of files: "c", "py", "rust".
 *
 *     const struct file_type *type = types_find("py");
 *     for (const char *const *glob = type->globs; *glob; glob++) ...
 *
 * To add a type: one row in types.c, in the order of names.
 */
#ifndef HASP_SEARCH_RULES_TYPES_H
#define HASP_SEARCH_RULES_TYPES_H

#include <stddef.h>

struct file_type {
	const char *name;         /* "python" */
	const char *const *names; /* other names for it ("py"); ends with NULL */
	const char *const *globs; /* of file names (GLOB_BASENAME); ends with NULL */
};

/* How many types there are; types_at takes numbers below it. */
size_t types_count(void);
const struct file_type *types_at(size_t i); /* sorted by name */
/* By any of its names, or by an extension (".py", "*.py", "py"); NULL if there is none. Case
 * does not count in names. */
const struct file_type *types_find(const char *name);

#endif
