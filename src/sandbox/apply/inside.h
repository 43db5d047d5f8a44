/* SPDX-License-Identifier: Apache-2.0 */
/* What a confined worker does to itself and to its command, after its start.
 *
 * A worker of use FILES calls sandbox_harden_files once, before its first request.  A worker
 * of use COMMAND forks a child for the command; that child calls sandbox_enter_command and
 * then executes the command, while the worker keeps the supervisor (supervise.h) running.
 */
#ifndef HASP_SANDBOX_APPLY_INSIDE_H
#define HASP_SANDBOX_APPLY_INSIDE_H

#include "sandbox/plan/plan.h"

struct sock_filter;

/* No more programs and sockets, no processes but forks, for all threads from now on; not dumpable.
 * At level paths it
 * does nothing but that last part. */
bool sandbox_harden_files(const struct sandbox_plan *plan, struct err *err);

/* The child that parses one file (read/child.c), when all that it needs is open: from now on it can
 * use memory and its descriptors, and read what is beneath `folders` (NULL-terminated, or NULL),
 * where there is Landlock.  It must have one thread.  DENIED_BY_SANDBOX: the kernel refuses it. */
bool sandbox_confine_reader(const char *const *folders, struct err *err);

/* The worker that runs a command: not dumpable, subreaper where there is no PID namespace. */
bool sandbox_harden_runner(const struct sandbox_plan *plan, struct err *err);

/* What the child needs, made by the worker before the fork: a second Landlock layer (signals,
 * abstract sockets and, network off, TCP cannot leave the command's own processes; of files it says
 * nothing) and the filter of commands.  `ruleset` -1: none. */
struct sandbox_command_entry {
	const struct sandbox_plan *plan;
	int ruleset; /* owned */
	struct sock_filter *filter; /* owned; with the calls of plan->syscalls; NULL: the usual */
	size_t filter_count;
};

/* Makes it, in the worker. `ret` borrows the plan. DENIED_BY_SANDBOX: the kernel refuses it. */
bool sandbox_command_prepare(const struct sandbox_plan *plan, struct sandbox_command_entry *ret,
                             struct err *err);
/* Closes the ruleset and frees the filter, in the worker; the child's copy goes with its exec. */
void sandbox_command_release(struct sandbox_command_entry *entry);

/* In the child, after fork; system calls alone.  `notify_socket`: where the descriptor of the
 * filter's notifications is sent (SCM_RIGHTS, one byte); -1: none.  Limits a process
 * (RLIMIT_*) are set here too.  False with errno set: the child must not go on. */
bool sandbox_enter_command(const struct sandbox_command_entry *entry, int notify_socket);

#endif
