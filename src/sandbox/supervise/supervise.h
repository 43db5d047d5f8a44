/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor: makes the calls that the filter of a command hands over, in the command's place.
 *
 * It is a thread of the worker that runs the command, inside the same namespaces and Landlock
 * domain, but without the command's filter and its second layer (which says nothing about files).
 *
 * Who judges a call makes it: arguments are copied from the process's memory once, a path becomes
 * the descriptor of its folder and a name, the folder's own name is what is judged, and the call is
 * made beneath that descriptor.  So nothing that a thread or another process changes meanwhile has
 * any effect.  Directory, umask, /proc/self and terminal are the caller's; a descriptor is handed
 * over, and closed here before the file could be executed.  What cannot be read is EFAULT, what
 * cannot be resolved EACCES, ENAMETOOLONG or ELOOP.  The calls that do go on to the kernel
 * are in SUPERVISE_CONTINUES (private.h), each with its reason.
 *
 *   - Names (opening for writing, all of openat2, making, moving, truncate; removing folders, and
 *     at the landlock level files; at full mode and owner by path): the kernel decides, by mounts
 *     and Landlock, and a denial gets its record.  Refused here: names that must not come into
 *     being (plan->absent), and protected ones inside writable paths, which at the landlock level
 *     nothing else protects.
 *   - Calls on the deny list: refused, and a record.
 *   - connect: copied, judged and made by the supervisor itself on the process's own socket
 *     (pidfd_getfd), so that the address judged is the one used.  AF_UNIX: only sockets beneath
 *     writable paths, opened first and named through /proc/self/fd; abstract names only with a
 *     network namespace.  Network on: IP addresses are free.  Network off with a network
 *     namespace: they are tried (only loopback is there), others than loopback are recorded.
 *     Without a namespace: only loopback addresses that the command's processes have bound.  The
 *     other side sees the supervisor's process number (SO_PEERCRED).
 *   - landlock level: mode, owner, times and attributes are changed by the supervisor on what it
 *     opened beneath the writable paths; process groups are left only while the command
 *     is not being ended; with the network off, bind and listen are made on
 *     loopback, whatever address was asked for; shared memory is made without a key and used by
 *     the command alone; files without a name for /tmp lie in the session's folder.
 *
 * It reads the memory of the processes, so it needs their user and a kernel that lets parents do
 * that (Yama's ptrace_scope below 2).  Where a container forbids pidfd_getfd (Docker does without
 * CAP_SYS_PTRACE) there are no UNIX sockets, and no connections with the network off.
 * The filter pretends to let a process forbid it (PR_SET_DUMPABLE); a process whose program file is
 * not readable does forbid it: its calls are EACCES, with a record.
 *
 * Costs (Linux 6.18, a virtual machine; CPU time of both sides, on one processor): the way there
 * and back is 4 us, with a descriptor handed over 7; making a file on tmpfs is 16 more than
 * outside, where it is 5.  Waking another processor is some 20 us more, and Linux does that to hand
 * a descriptor over when one is idle.  All other calls, reading, writing and at full removing files
 * among them, cost what the filter costs.
 */
#ifndef HASP_SANDBOX_SUPERVISE_SUPERVISE_H
#define HASP_SANDBOX_SUPERVISE_SUPERVISE_H

#include "sandbox/plan/denial.h"

struct supervisor;

struct supervisor_events {
	/* On the supervisor's thread. Each different denial once (LIMIT_DENIALS in all). */
	void (*denied)(void *data, const struct denial *denial);
	/* A name is about to be made, moved to, or opened for writing, by the supervisor itself:
	 * its canonical path.  Nothing has changed there yet; the call may still fail.  May be
	 * NULL. */
	void (*made)(void *data, const char *path);
	/* A folder or file of this canonical path is about to be moved away, replaced or removed.
	 * May be NULL. */
	void (*removing)(void *data, const char *path);
	/* Whether the command itself made the folder.  NULL: no. */
	bool (*fresh)(void *data, const char *folder);
	/* PATH.lock is about to be renamed to `path`, a protected configuration of git's, and all
	 * that differs is harmless (plan/git_change.h): true if the process outside of the sandbox
	 * agrees, and has written it.  Waits for that.  NULL: nothing is written. */
	bool (*config)(void *data, const char *path);
	/* On the supervisor's thread: `call`, which it made to wait or to answer, failed with this
	 * errno, so it cannot go on.  From now on each call that the filter hands over fails with
	 * ENOSYS: end the command.  Nothing but `denied`, from supervise_stop, comes after it.  May
	 * be NULL. */
	void (*lost)(void *data, const char *call, int error);
	void *data;
};

/* Starts the thread. Takes over `notify_fd`. Borrows the plan. */
bool supervise_start(const struct sandbox_plan *plan, int notify_fd,
                     const struct supervisor_events *events, struct supervisor **ret,
                     struct err *err);
/* From now on setsid and setpgid fail with EPERM at the landlock level, where nothing else keeps
 * the command's processes together: call it before killing them group by group.  From any thread;
 * NULL is fine. */
void supervise_hold_groups(struct supervisor *supervisor);
/* Ends the thread, after `denied` was called again, with its count, for each denial that was
 * met more than once. NULL is fine. */
void supervise_stop(struct supervisor *supervisor);

#endif
