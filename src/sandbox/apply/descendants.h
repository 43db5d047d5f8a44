/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that came from one, as /proc shows them now. */
#ifndef HASP_SANDBOX_APPLY_DESCENDANTS_H
#define HASP_SANDBOX_APPLY_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct descendant {
	pid_t pid;  /* as /proc has it */
	bool ended; /* a zombie: nobody waited for it yet */
};

/* All children, their children and so on of `ancestor` (as /proc numbers it), without itself.
 * *ret is the caller's to free; 0 and NULL when there are none, or no /proc. */
size_t descendants_list(pid_t ancestor, struct descendant **ret);

/* This process's own number in /proc, which is not getpid() where /proc is that of another PID
 * namespace; 0 without /proc. */
pid_t descendants_self(void);

/* Kills `ancestor` and all its descendants. It must be a subreaper, so that orphans stay beneath it,
 * and must not ignore SIGCHLD: it is stopped first, and killed when nothing is left beneath it. The
 * process groups of descendants are killed whole, but for the ancestor's and the caller's own. What
 * starts a new group at every fork, faster than /proc is read, can escape, unless it is in a PID
 * namespace, in a control group that is killed first (cgroup.h), or beneath a supervisor, which
 * answers no setsid or setpgid once it is stopped (supervise.h). */
void descendants_kill(pid_t ancestor);

#endif
