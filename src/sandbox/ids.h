/* SPDX-License-Identifier: Apache-2.0 */
/* Users and groups of a new user namespace, and the capabilities that are left in it. */
#ifndef HASP_SANDBOX_IDS_H
#define HASP_SANDBOX_IDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/plan.h"

/* Maps the ids of `child`, which was made in a new user namespace by this process, and forbids
 * setgroups in it.  A user who may (root) gets all ids that this process itself has, each mapped
 * to itself, so that owners are preserved; others get their own alone.  Returns 0 or an errno. */
int ids_map(pid_t child);

/* What a process of this plan keeps, as a mask of 1 << CAP_x. */
uint64_t caps_kept(const struct sandbox_plan *plan);

/* In the child, before no_new_privs; system calls alone. Takes all others out of every set, for good.
 * Returns 0 or an errno. */
int caps_drop(uint64_t kept);

#endif
