/* SPDX-License-Identifier: Apache-2.0 */
/* A control group of our own for the processes of one command, where this user may make one.
 *
 *     struct cgroup *group = cgroup_make(&plan->limits);   // NULL: none can be had
 *     cgroup_door_open(group, &door); clone; in the child: cgroup_enter(&door);
 *     cgroup_kill(group); ... cgroup_free(group);
 *
 * Moving another process by its number makes the kernel wait for all processors (5 to 15 ms), so a
 * child enters by itself (version 1) or is made inside (version 2, CLONE_INTO_CGROUP).
 *
 * Version 2: a group below this process's own, or a sibling of it, wherever the pids and memory
 * controllers are available (a sibling in a systemd user session, below as root of a container).
 * Version 1: one group below this process's own for pids, and one for memory.  One controller is
 * better than none.  Groups left by processes that were killed are removed by the next that
 * makes one.
 *
 * Kernel: Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst, cgroup-v1/pids.rst.
 */
#ifndef HASP_SANDBOX_APPLY_CGROUP_H
#define HASP_SANDBOX_APPLY_CGROUP_H

#include <stdbool.h>
#include <sys/types.h>

#include "sandbox/plan/plan.h"

struct cgroup;

/* NULL when the limits have neither memory nor processes, or no group can be had;
 * a test's simulation (probe.h) says so too. */
struct cgroup *cgroup_make(const struct sandbox_limits *limits);
/* A group without limits, made so that all in it can be ended for certain: what it forks is
 * inside, too.  Version 2, else the pids controller of version 1.  NULL when none can be had. */
struct cgroup *cgroup_make_unlimited(void);
/* Descriptors through which a child gets in; -1: none. */
struct cgroup_door {
	int tasks[2]; /* version 1 */
	int folder;   /* version 2: for clone3 */
};
/* A group of NULL has no door. */
void cgroup_door_open(const struct cgroup *group, struct cgroup_door *ret);
void cgroup_door_close(struct cgroup_door *door);
/* The calling process, which has one thread, enters groups of version 1. System calls alone. */
void cgroup_enter(const struct cgroup_door *door);

/* Moves a process, slowly. False when not even one group took it. NULL is fine. */
bool cgroup_join(const struct cgroup *group, pid_t pid);
/* Sends a signal to each process that is found in it; false when none is. NULL: false. */
bool cgroup_signal(const struct cgroup *group, int number);
/* SIGKILL to all in it, also to what forks faster than it could be listed: by cgroup.kill (Linux
 * 5.14), else after the group may fork no more (pids.max) or is frozen. NULL is fine. */
void cgroup_kill(const struct cgroup *group);
/* Kills what is left and removes it. NULL is fine. */
void cgroup_free(struct cgroup *group);
/* As cgroup_free, but what is left goes on; the group is removed by the next that makes one when
 * nothing is in it any more. NULL is fine. */
void cgroup_abandon(struct cgroup *group);

/* What happened in the group that this process was put into. */
struct cgroup_events {
	bool memory;    /* a process was killed because memory.max was reached */
	bool processes; /* a fork was refused */
};

/* Descriptors on the counters of this process's own group: asked again and again. */
struct cgroup_watch {
	int memory, processes; /* owned; -1: there is none */
};
/* Opens those of the group that this process is in. */
void cgroup_watch_init(struct cgroup_watch *ret);
/* The same from outside; a group of NULL has none. */
void cgroup_watch_group(const struct cgroup *group, struct cgroup_watch *ret);
struct cgroup_events cgroup_watch_look(const struct cgroup_watch *watch);
void cgroup_watch_release(struct cgroup_watch *watch);

/* Processes and threads that a number of processes may have together: the kernel counts
 * both. */
unsigned long cgroup_tasks(const struct sandbox_limits *limits);

/* ---- where this process stands in the machine's control groups ---- */

/* Private to cgroup.c. */

/* What the kernel says of this process's groups, read once: the longer the list of mounts, the
 * longer it takes to make.
 *
 *     _cleanup_cgroup_places_ struct cgroup_places places = { 0 };
 *     cgroup_places_read(&places);
 *     folder = cgroup_place(&places, "pids");
 */
struct cgroup_places {
	char *memberships; /* owned; of /proc/self/cgroup; NULL: cannot be read */
	char *mounts;      /* owned; of /proc/self/mountinfo; NULL: cannot be read, or too long */
};

/* Reads /proc/self/cgroup and /proc/self/mountinfo; what cannot be read is NULL. */
void cgroup_places_read(struct cgroup_places *ret);
/* Frees the texts; the struct is empty afterwards, so a second call is harmless. */
void cgroup_places_release(struct cgroup_places *places);
#define _cleanup_cgroup_places_ __attribute__((cleanup(cgroup_places_release)))

/* The folder of this process's group: of version 2 (`controller` NULL), or of a controller
 * ("pids", "memory") of version 1. NULL if there is none; the caller frees. */
char *cgroup_place(const struct cgroup_places *places, const char *controller);

#endif
