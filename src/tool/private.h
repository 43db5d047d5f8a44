/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that implement outside.h.
 *
 *     outside.c           permissions, the workers
 *     outside_requests.c  the provider: requests about one place
 *     outside_change.c    several files as one change
 *     outside_offer.c     what the user can be asked to allow
 */
#ifndef HASP_TOOL_PRIVATE_H
#define HASP_TOOL_PRIVATE_H

#include "sandbox/plan/location.h"
#include "tool/outside.h"

/* ---- places ---- */

/* Appends a copy. */
void outside_add(struct outside_places *places, const struct outside_place *place);
/* Whether what is allowed there allows this, too; both canonical. */
bool outside_place_covers(const struct outside_place *place, const struct outside_place *wanted);
/* The place of these that allows this one, too, which is canonical; NULL: none. */
const struct outside_place *outside_covered(const struct outside_places *places,
                                            const struct outside_place *wanted);
/* Likewise of what is allowed to this call: what the session has becomes the call's.  Borrowed,
 * until more is. */
const struct outside_place *outside_allowed(struct outside *outside,
                                            const struct outside_place *wanted);
/* Keeps in mind that it was refused; paths as the call names them. */
void outside_note(struct outside *outside, const struct outside_place *wanted);

/* Where the path leads now. */
void outside_resolve(const struct outside *outside, const char *path, struct location *ret);
/* Whether the canonical path is beneath a root of the workspace. */
bool outside_is_inside(const struct outside *outside, const char *path);

/* ---- workers ---- */

struct outside_worker {
	struct outside_worker *next;
	char *key;                 /* owned; what it is for: a folder, or a change */
	bool writes;
	struct provider *provider; /* owned */
};

/* The call's worker of this key, which is started if necessary.  Borrowed; NULL with *err. */
struct provider *outside_worker(struct outside *outside, const char *key,
                                const struct outside_request *request, struct err *err);

/* Those of the call that is over. */
void outside_end_workers(struct outside *outside);

/* ---- changes ---- */

/* Handles a change of several files that the workspace's provider has refused, as `results` say.
 * If paths outside are the only cause and all of them are allowed, one worker makes the change and
 * replaces `results`.  Otherwise the needed permissions are recorded, and the refusal stands. */
bool outside_change(struct outside *outside, const struct change *changes, size_t count,
                    const struct edit_options *options, struct change_result *results,
                    struct err *err);
/* A diff names a file from its worker's root, which outside is its folder: that would be a name in
 * the workspace.  Its first two lines get the canonical path instead. */
void outside_change_name_diff(struct buf *diff, const char *path);

#endif
