/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of a command: which they are, and limits over all of them together. */
#ifndef HASP_SANDBOX_APPLY_PROCESSES_H
#define HASP_SANDBOX_APPLY_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sandbox/apply/spawn.h"
#include "sandbox/plan/denial.h"

/* ---- those that came from one ---- */

struct descendant {
	pid_t pid;  /* as /proc has it */
	bool ended; /* a zombie: not waited for yet */
};

/* All children, their children and so on of `ancestor` (as /proc numbers it), without itself.
 * *ret is the caller's to free; 0 and NULL when there are none, or no /proc. */
size_t processes_list_descendants(pid_t ancestor, struct descendant **ret);

/* Kills `ancestor` and all its descendants. It must be a subreaper, so that orphans stay beneath
 * it, and must not ignore SIGCHLD: it is stopped first, and killed when nothing is left beneath it.
 * The process groups of descendants are killed whole, but for the ancestor's and the caller's own.
 * What starts a new group at every fork, faster than /proc is read, can escape, unless it is in a
 * PID namespace, in a control group that is killed first (cgroup.h), or beneath a supervisor, which
 * answers no setsid or setpgid once it is stopped (supervise.h). */
void processes_kill_descendants(pid_t ancestor);

/* ---- limits over all processes of a command together ---- */

/* How many, and how much memory.
 *
 * Two things hold them.  Where the machine has control groups that this user may make (cgroup.h),
 * sandbox_spawn puts the worker of each command into a new one: then the kernel enforces
 * the limits.  Everywhere the process that runs the command looks, many times a second:
 *
 *     struct limits *limits = sandbox_limits_new(plan, pid_of_the_command);
 *     every sandbox_limits_pause(limits) milliseconds:
 *             if (sandbox_limits_look(limits, &denial))
 *                     ... report the denial, end all processes of the command: RUN_LIMIT ...
 *     sandbox_limits_free(limits);
 *
 * It also asks the control group whether it had to refuse or to kill, so that this is reported as
 * what it is.  In a PID namespace the number of processes is held by the kernel as well where it
 * can (pid_max of the namespace, Linux 6.14; RLIMIT_NPROC of the user namespace).  It counts
 * threads as well, so it is set several times higher (cgroup_tasks), and a look finds the limit
 * passed.
 *
 * Memory is what the processes have for themselves, and their share of what they share; what lies
 * in files of /dev/shm is bounded by that file system's size.  Between two looks a process can take
 * what the machine gives it in that time, where there is no group.  While the same number of
 * processes has the same memory, looks become rarer, down to LIMITS_QUIET_MS: a command that waits
 * causes few wake-ups.
 *
 * Limits of single processes (RLIMIT_*) are set by sandbox_enter_command (inside.h). */

enum { LIMITS_LOOK_MS = 50, LIMITS_QUIET_MS = 400 };

struct limits;

/* In a command's own worker (plan of use COMMAND; a subreaper or process 1) all its descendants are
 * counted, else `main` and those of its descendants whose parents live.  It does not matter whose
 * PID namespace /proc shows.  What is needed of the plan is copied. Never NULL, never fails:
 * without /proc nothing is seen but the control group's counters. */
struct limits *sandbox_limits_new(const struct sandbox_plan *plan, pid_t main);

/* True once, when a limit was passed; then *ret says which. Costs some 10 us a process; where the
 * plan limits neither memory nor processes, only the file systems' reserves are looked at. */
bool sandbox_limits_look(struct limits *limits, struct denial *ret);

/* How long from one look to the next: LIMITS_LOOK_MS to LIMITS_QUIET_MS. */
unsigned sandbox_limits_pause(const struct limits *limits);

void sandbox_limits_free(struct limits *limits); /* NULL is fine */

/* For the parent of a command's worker that has died without a word, before
 * sandbox_child_release: true when it was because of a limit (the kernel ended it for the memory of
 * its group, where the processes of the command are many and small); then *ret says which. */
bool sandbox_limits_explain(const struct sandbox_plan *plan, const struct sandbox_child *child,
                            struct denial *ret);

#endif
