/* SPDX-License-Identifier: Apache-2.0 */
/* What is where: paths made canonical, without opening what they name.
 *
 * Three ways, from quick to thorough:
 *     spot_look       one name beneath an open folder; symlinks are told, not followed
 *     spot_canonical  an existing path, symlinks followed by the kernel
 *     spot_resolve    any path, symlinks followed one by one and each told; may be missing
 *
 * Nothing is read but folders and symlinks.
 */
#ifndef HASP_SANDBOX_PLAN_SPOT_H
#define HASP_SANDBOX_PLAN_SPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

enum spot_kind {
	SPOT_MISSING,
	SPOT_FOLDER,
	SPOT_FILE,   /* anything but a folder or a symlink */
	SPOT_LINK,   /* the name, or one on the way to it, is a symlink (spot_look alone) */
	SPOT_CLOSED, /* this user may not look, or it cannot be found out */
};

struct spot {
	char *path; /* owned; canonical, absolute */
	enum spot_kind kind;
};

void spot_release(struct spot *place);
#define _cleanup_spot_ __attribute__((cleanup(spot_release)))

/* `rel` beneath `folder`: relative, of ordinary components.  `strict`: what is missing where a
 * symlink leads is LINK, not MISSING (slower). */
enum spot_kind spot_look(int folder, const char *rel, bool strict);

/* Which names a folder may have, by 2048 bits: one look instead of one for each name. */
struct spot_listing {
	uint64_t bits[32];
};

/* Opens a folder, whose last name is no symlink, and, if `look`, lists it; its descriptor, or -1
 * with errno set.  A folder that is not looked at, too large, or closed, may have any name. */
int spot_list(int folder, const char *path, bool look, struct spot_listing *ret);
/* False: it has no such name, in whatever case its letters are. */
bool spot_may_have(const struct spot_listing *listing, struct span name);

/* As spot_look, for a whole path; symlinks on the way to the last name are followed. */
enum spot_kind spot_kind_of(const char *path);

/* FOLDER or FILE. False with errno set; ENOENT also for what is deleted but still open. */
bool spot_canonical(const char *path, struct spot *ret);
/* The same for the working folder; false when it cannot be named. */
bool spot_here(struct spot *ret);

/* Where `path` leads, beneath the canonical folder `start` if it is relative: FOLDER, FILE or
 * MISSING (then ret->path is the canonical part that exists plus the rest), or CLOSED (too many
 * symlinks, too long, not allowed; ret->path is NULL).  `link`, if not NULL, is told the canonical
 * path of each symlink on the way. */
void spot_resolve(const char *start, const char *path, void (*link)(void *data, const char *path),
                   void *data, struct spot *ret);

/* The folder on the way along `path` that this user may not search: why spot_resolve says CLOSED.
 * NULL: there is none; the caller frees. */
char *spot_closed(const char *start, const char *path);

/* Whether `path` is `folder` or beneath it; both canonical. */
bool spot_within(const char *path, const char *folder);

/* "base/rel", "/rel" for "/"; the caller frees. */
char *spot_join(const char *base, const char *rel);

#endif
