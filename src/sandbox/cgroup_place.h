/* SPDX-License-Identifier: Apache-2.0 */
/* Where this process stands in the machine's control groups. Private to cgroup.c. */
#ifndef HASP_SANDBOX_CGROUP_PLACE_H
#define HASP_SANDBOX_CGROUP_PLACE_H

#include <stdbool.h>

/* The folder of this process's group: of version 2 (`controller` NULL), or of a controller
 * ("pids", "memory") of version 1. NULL if there is none; the caller frees. */
char *cgroup_place(const char *controller);

#endif
