/* SPDX-License-Identifier: Apache-2.0 */
/* What is where: paths made canonical, without opening what they name.
 *
 * Three ways, from quick to thorough:
 *     location_look       one name beneath an open folder; symlinks are reported, not followed
 *     location_canonical  an existing path, symlinks followed by the kernel
 *     location_resolve    any path, symlinks followed one by one and each reported; may be missing
 *
 * Nothing is read but folders and symlinks.
 */
#ifndef HASP_SANDBOX_PLAN_LOCATION_H
#define HASP_SANDBOX_PLAN_LOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

enum location_kind {
	LOCATION_MISSING,
	LOCATION_FOLDER,
	LOCATION_FILE,   /* anything but a folder or a symlink */
	LOCATION_LINK,   /* the name, or one on the way to it, is a symlink (location_look alone) */
	LOCATION_CLOSED, /* this user may not look, or it cannot be found out */
};

struct location {
	char *path; /* owned; canonical, absolute */
	enum location_kind kind;
};

/* Frees the path. */
void location_release(struct location *place);
#define _cleanup_location_ __attribute__((cleanup(location_release)))

/* `rel` beneath `folder`: relative, of ordinary components.  `strict`: what is missing where a
 * symlink leads is LINK, not MISSING (slower). */
enum location_kind location_look(int folder, const char *rel, bool strict);

/* Which names a folder may have, by 2048 bits: one look instead of one for each name. */
struct location_listing {
	uint64_t bits[32];
};

/* Opens a folder, whose last name is no symlink, and, if `look`, lists it; its descriptor, or -1
 * with errno set.  A folder that is not looked at, too large, or closed, may have any name. */
int location_list(int folder, const char *path, bool look, struct location_listing *ret);
/* False: it has no such name, in whatever case its letters are. */
bool location_may_have(const struct location_listing *listing, struct span name);

/* As location_look, for a whole path; symlinks on the way to the last name are followed. */
enum location_kind location_kind_of(const char *path);

/* FOLDER or FILE. False with errno set; ENOENT also for what is deleted but still open. */
bool location_canonical(const char *path, struct location *ret);
/* Whether it is the canonical name of a regular file, and its only one. */
bool location_is_lone_file(const char *path);
/* The same as location_canonical for the working folder; false when it cannot be named. */
bool location_here(struct location *ret);

/* Where `path` leads, beneath the canonical folder `start` if it is relative: FOLDER, FILE or
 * MISSING (then ret->path is the canonical part that exists plus the rest), or CLOSED (too many
 * symlinks, too long, not allowed; ret->path is NULL).  `link`, if not NULL, gets the canonical
 * path of each symlink on the way. */
void location_resolve(const char *start, const char *path,
                      void (*link)(void *data, const char *path), void *data,
                      struct location *ret);

/* The folder on the way along `path` that this user may not search: why location_resolve says
 * CLOSED.  NULL: there is none; the caller frees. */
char *location_closed(const char *start, const char *path);

/* Whether `path` is `folder` or beneath it; both canonical. */
bool location_within(const char *path, const char *folder);

/* The length of the path of the folder above the first `len` bytes of a path; 0: they are "/". */
size_t location_above(const char *path, size_t len);

/* The row for the first `len` bytes of `text` in a table that is sorted by paths, each row's first
 * member; NULL: there is none. */
const void *location_row(const void *rows, size_t count, size_t size, const char *text, size_t len);

/* "base/rel", "/rel" for "/"; the caller frees. */
char *location_join(const char *base, const char *rel);

#endif
