/* SPDX-License-Identifier: Apache-2.0 */
/* The process that makes a call: its memory, descriptors, working folder, umask and ids, and how it
 * gets what was opened for it (call.c, caller.c).  Inside this folder only.
 *
 * All that is asked of it may belong to another process by then: call_alive says whether it did. */
#ifndef HASP_SANDBOX_SUPERVISE_CALL_H
#define HASP_SANDBOX_SUPERVISE_CALL_H

#include "sandbox/supervise/private.h"

/* Whether the call still waits: if not, memory that was read may be another process's. */
bool call_alive(const struct syscall *call);
/* All of `len` bytes from the process's memory; 0 or an errno: EFAULT, also for memory that the
 * kernel could read and we cannot; EACCES: the process may not be looked into.  Either of the last
 * two has a record. */
int call_read(const struct syscall *call, uint64_t address, void *data, size_t len);
/* A path: NUL-terminated, at most LIMIT_PATH_BYTES with its NUL. 0, EFAULT, ENAMETOOLONG, EACCES.
 * Without call_alive: the caller checks that before acting on it. */
int call_read_path(const struct syscall *call, uint64_t address, char path[LIMIT_PATH_BYTES]);
/* A copy of one of the process's descriptors: owned, or -1 with errno set. */
int call_descriptor(const struct syscall *call, int fd);
/* openat in /proc/THREAD ("task/.." is that itself): owned, or -1 with errno set. */
int call_open_proc(const struct syscall *call, const char *name, int flags);
/* stat of a name in /proc/THREAD (followed): 0, or -1 with errno set. */
int call_stat_proc(const struct syscall *call, const char *name, struct stat *ret);
/* The caller's place among supervisor->procs, looked up again if its thread has ended; NULL:
 * unknown. */
struct kept_proc *call_kept(const struct syscall *call);
/* Where a relative path of the caller's begins, in less than /proc takes: one of its descriptors,
 * owned; or its working folder, which is lent until the call is answered.  -1: not known. */
int call_known_folder(const struct syscall *call, int folder, bool *ret_lent);
/* Keeps the caller's working folder, as /proc has just given it, if it is used a lot and can only
 * be changed by a call that comes here: `fd` is lent from then on.  False: it stays owned. */
bool call_keep_folder(const struct syscall *call, int fd);
/* chdir, fchdir: from now on it is looked up. */
struct call_answer supervise_chdir(const struct syscall *call, const struct handler *row);
/* After a call: closes what was lent for it and is not kept any more. */
void call_end_loans(struct supervisor *supervisor);
/* Whether /proc counts processes as we do. */
bool call_proc_is_own(void);
void call_free_procs(struct supervisor *supervisor); /* closes supervisor->procs */
/* Whether this process may use pidfd_getfd at all. */
bool call_can_take_descriptors(void);
/* The process's umask, from /proc; 077 if it cannot be read. */
mode_t call_umask(const struct syscall *call);
/* Gives the thread the process's umask, before something is made. */
void caller_take_umask(const struct syscall *call);
/* umask itself: from now on it is looked up. */
struct call_answer supervise_umask(const struct syscall *call, const struct handler *row);
/* Where processes can have other ids than the supervisor: gives the thread the caller's for opening
 * files.  To be followed by caller_resign_ids.  0 or an errno. */
int caller_take_ids(const struct syscall *call);
/* Whether that is never needed: this process has nothing by which ids could be changed. */
bool caller_ids_are_fixed(void);
void caller_resign_ids(const struct syscall *call);
/* The user that files are opened as. */
uid_t caller_user(void);
/* Whether the process may have one more descriptor: EMFILE comes before anything is truncated. */
bool caller_has_room(const struct syscall *call);
/* The number of the caller's process, and of the one that `text` ("self", or begins with a number)
 * names, both as /proc counts; 0: unknown. */
pid_t call_group(const struct syscall *call);
pid_t call_proc_group(const char *text);
/* Hands a descriptor over and closes it here: the call's answer.  `flags`: O_CLOEXEC or not.  What
 * may be executed is closed before the process goes on (ETXTBSY); for all else one way there and
 * back does: to become executable it must pass this thread again, which has closed it by then.
 * `doubtful`: whether it may be executed is not known. */
struct call_answer caller_hand_over(const struct syscall *call, int fd, uint64_t flags,
                                    bool doubtful);
/* Whether a signal with a handler waits for the thread: what would interrupt a call. */
bool call_is_interrupted(const struct syscall *call);

#endif
