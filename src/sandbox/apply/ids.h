/* SPDX-License-Identifier: Apache-2.0 */
/* Users and groups of a new user namespace, and the capabilities that are left in it. */
#ifndef HASP_SANDBOX_APPLY_IDS_H
#define HASP_SANDBOX_APPLY_IDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/plan/plan.h"

/* What is written into the map files of a user namespace, each id to itself: the same for one made
 * by this process, and for one inside that.  Files as in /proc/PID, users first. */
struct ids {
	char *all[2];  /* owned; all ids that this process has, for a user who may map any (root);
	                * NULL: not known, or it may not */
	char *own[2];  /* owned; its own alone */
};

void ids_prepare(struct ids *ret);
void ids_release(struct ids *ids);

/* Maps the ids of `child`, which was made in a new user namespace by the calling process, and
 * forbids setgroups in it: all ids if that is allowed, so that owners are preserved, else its own.
 * Allocates nothing.  Returns 0 or an errno. */
int ids_map(const struct ids *ids, pid_t child);

/* What a process of this plan keeps, as a mask of 1 << CAP_x. */
uint64_t caps_kept(const struct sandbox_plan *plan);

/* In the child, before no_new_privs; system calls alone. Takes all others out of every set, for good.
 * Returns 0 or an errno. */
int caps_drop(uint64_t kept);

#endif
