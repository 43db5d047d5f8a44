/* SPDX-License-Identifier: Apache-2.0 */
/* Glob patterns over paths.
 *
 * `*` and `?` do not match '/', `**` as a whole component matches any number of
 * components (at least one when it is the last), `[a-z]`, `[!a-z]` and
 * `[[:alpha:]]` one character, `{a,b{c,d}}` alternatives, `\` the next character itself.
 * A leading '/' or "./" is dropped: all patterns begin at the top, unless GLOB_BASENAME
 * is given.  Matching is bytes, at most pattern x path steps; braces expand to at
 * most 1024 alternatives. */
#ifndef HASP_SEARCH_RULES_GLOB_H
#define HASP_SEARCH_RULES_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/span.h"

struct glob;

enum glob_flags {
	GLOB_IGNORE_CASE = 1, /* ASCII letters */
	GLOB_BASENAME = 2,    /* patterns without '/' match the last component at any depth,
	                       * as in gitignore */
};

/* The caller frees *ret. INVALID_ARGUMENT for an open bracket or brace, a backslash at
 * the end, too many alternatives, or more than LIMIT_PATH_BYTES. A NUL is not allowed. */
bool glob_compile(struct span pattern, unsigned flags, struct glob **ret, struct err *err);
void glob_free(struct glob *glob);

/* `path` is relative, '/'-separated, without leading "./". */
bool glob_match(const struct glob *glob, struct span path);

/* Whether anything beneath folder `path` can match: lets a walk skip folders. */
bool glob_may_match_beneath(const struct glob *glob, struct span path);

/* Whether the text has an unescaped metacharacter at all. */
bool glob_has_magic(struct span text);

/* ---- several globs, of which one has to match ---- */

struct glob_list {
	struct glob **globs; /* owned */
	size_t count;
};

/* Appends `count` globs. With `whole_folders` one that ends in a slash and two stars stands for
 * the folder before: to leave out all of a folder is to leave out the folder.
 * INVALID_ARGUMENT as glob_compile; the list is the caller's to release in any case. */
bool glob_list_add(struct glob_list *list, const char *const *texts, size_t count,
                   unsigned flags, bool whole_folders, struct err *err);
void glob_list_release(struct glob_list *list);

/* Whether any of them matches the path; an empty list matches nothing. */
bool glob_list_match(const struct glob_list *list, struct span path);
/* Whether any of them could match something in the folder `path`, as glob_may_match_beneath. */
bool glob_list_may_match_beneath(const struct glob_list *list, struct span path);

/* ---- types of files --------------------------------------------------------------- */

/* Names for kinds of files: "c", "py", "rust".
 *
 *     const struct file_type *type = types_find("py");
 *     for (const char *const *glob = type->globs; *glob; glob++) ...
 *
 * To add a type: one row in types.c, in the order of names.
 */

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
