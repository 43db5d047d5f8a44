/* SPDX-License-Identifier: Apache-2.0 */
/* Where this process stands in the machine's control groups. Private to cgroup.c. */
#ifndef HASP_SANDBOX_APPLY_CGROUP_PLACE_H
#define HASP_SANDBOX_APPLY_CGROUP_PLACE_H

#include <stdbool.h>

/* What the kernel says of this process's groups, read once: the longer the list of mounts, the longer it
 * takes to make.
 *
 *     _cleanup_cgroup_places_ struct cgroup_places places = { 0 };
 *     cgroup_places_read(&places);
 *     folder = cgroup_place(&places, "pids");
 */
struct cgroup_places {
	char *memberships; /* owned; of /proc/self/cgroup; NULL: cannot be read */
	char *mounts;      /* owned; of /proc/self/mountinfo; NULL: cannot be read, or too long */
};

void cgroup_places_read(struct cgroup_places *ret);
void cgroup_places_release(struct cgroup_places *places);
#define _cleanup_cgroup_places_ __attribute__((cleanup(cgroup_places_release)))

/* The folder of this process's group: of version 2 (`controller` NULL), or of a controller
 * ("pids", "memory") of version 1. NULL if there is none; the caller frees. */
char *cgroup_place(const struct cgroup_places *places, const char *controller);

#endif
