/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's thread, and which handler answers which call. */
#include "sandbox/supervise/supervise.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/plan/calls.h"
#include "sandbox/supervise/call.h"
#include "sandbox/supervise/handlers.h"
#include "sandbox/supervise/private.h"

/* ---- shared memory ---- */

/* System V shared memory of the command's own.
 *
 * There is no IPC namespace, so the segments of all the machine's programs are there.  The
 * supervisor makes those that a command asks for, always without a key: no program outside finds
 * them by one, and what the command names by a key is looked up here.  shmat and shmctl go on to
 * the kernel for these alone; their number is an argument, not memory, so it cannot be exchanged.
 * Numbers count on when a segment goes, so an old one does not soon mean another's.
 *
 * Each segment is attached here and marked for removal immediately: attaching by number still
 * works (shmctl(2), Linux), and it goes with the last process, however the supervisor ends.
 * Not here: semaphores and messages, which have no such mark and would stay for ever. */

#define IPC_64 0x100 /* a bit that old systems set in the command of shmctl */

struct segment {
	struct segment *next;
	key_t key;    /* IPC_PRIVATE: it has none */
	int id;
	size_t size;
	void *memory; /* attached, and never looked at */
};

static struct segment **find_id(struct supervisor *supervisor, int id)
{
	struct segment **at = &supervisor->segments;

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

static const struct segment *find_key(const struct supervisor *supervisor, key_t key)
{
	const struct segment *segment = supervisor->segments;

	while (segment && (key == IPC_PRIVATE || segment->key != key))
		segment = segment->next;
	return segment;
}

static void segment_remove(struct supervisor *supervisor, struct segment **at)
{
	struct segment *segment = *at;

	*at = segment->next;
	shmdt(segment->memory);
	free(segment);
	supervisor->segment_count--;
}

static void segments_free(struct supervisor *supervisor)
{
	while (supervisor->segments)
		segment_remove(supervisor, &supervisor->segments);
}

/* Of the mode, what others may do is left out. */
static struct call_answer make_segment(struct supervisor *supervisor, key_t key, size_t size,
                                       int flags)
{
	struct segment *segment;
	void *memory;
	int id;

	if (supervisor->segment_count >= LIMIT_SHARED_SEGMENTS)
		return answer_error(ENOSPC);
	id = shmget(IPC_PRIVATE, size, IPC_CREAT | (flags & 0700));
	if (id < 0)
		return answer_error(errno);
	memory = shmat(id, NULL, SHM_RDONLY);
	if (memory == (void *)-1) {
		int error = errno;

		shmctl(id, IPC_RMID, NULL);
		return answer_error(error);
	}
	shmctl(id, IPC_RMID, NULL);
	segment = mem_alloc(1, sizeof(*segment));
	*segment = (struct segment){ .next = supervisor->segments, .key = key, .id = id,
		.size = size, .memory = memory };
	supervisor->segments = segment;
	supervisor->segment_count++;
	return supervise_answer_of(id);
}

/* The landlock level */
static struct call_answer supervise_shmget(const struct syscall *call, const struct handler *row)
{
	const key_t key = (key_t)call->args[0];
	const int flags = (int)call->args[2];
	const struct segment *segment = find_key(call->supervisor, key);

	(void)row;
	if (!segment && key != IPC_PRIVATE && !(flags & IPC_CREAT))
		return answer_error(ENOENT);
	if (!segment)
		return make_segment(call->supervisor, key, call->args[1], flags);
	if ((flags & (IPC_CREAT | IPC_EXCL)) == (IPC_CREAT | IPC_EXCL))
		return answer_error(EEXIST);
	if (call->args[1] > segment->size)
		return answer_error(EINVAL);
	return supervise_answer_of(segment->id);
}

static struct call_answer supervise_shmat(const struct syscall *call, const struct handler *row)
{
	if (!*find_id(call->supervisor, (int)call->args[0]))
		return supervise_refuse(call, row);
	return answer_go_on(CONTINUE_SEGMENT);
}

/* Looking at it and removing it.  The others look at all the machine's segments, or give one
 * away. */
static struct call_answer supervise_shmctl(const struct syscall *call, const struct handler *row)
{
	struct segment **at = find_id(call->supervisor, (int)call->args[0]);
	const int command = (int)call->args[1] & ~IPC_64;

	if (!*at || (command != IPC_STAT && command != IPC_RMID))
		return supervise_refuse(call, row);
	if (command == IPC_STAT)
		return answer_go_on(CONTINUE_SEGMENT);
	segment_remove(call->supervisor, at);
	return answer_made(0);
}

/* ---- the thread ---- */

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

/* Newer than the headers of some systems; the same on all architectures. */
enum { NR_FCHMODAT2 = 452, NR_SETXATTRAT = 463, NR_REMOVEXATTRAT = 466 };

#define ONE(handler, folder_, path_, flags_, detail_) \
	{ .run = handler, .folder = folder_, .path = path_, .folder2 = -1, .path2 = -1, \
	  .flags = flags_, .detail = detail_ }
#define TWO(handler, folder_, path_, other_folder, other_path, flags_) \
	{ .run = handler, .folder = folder_, .path = path_, .folder2 = other_folder, \
	  .path2 = other_path, .flags = flags_ }

static struct call_answer supervise_group(const struct syscall *call, const struct handler *row);

/* Numbers are those of arguments. Calls without a row are refused. */
static const struct handler handlers[FILTER_LAST_CALL + 1] = {
	[SYS_openat] = ONE(supervise_open, 0, 1, 2, 0),
	[SYS_openat2] = ONE(supervise_openat2, 0, 1, -1, 0),
	[SYS_truncate] = ONE(supervise_truncate, -1, 0, -1, 0),
	[SYS_mkdirat] = ONE(supervise_mkdir, 0, 1, -1, 0),
	[SYS_mknodat] = ONE(supervise_mknod, 0, 1, -1, 0),
	[SYS_symlinkat] = ONE(supervise_symlink, 1, 2, -1, 0),
	[SYS_unlinkat] = ONE(supervise_unlink, 0, 1, 2, 0),
	[SYS_linkat] = TWO(supervise_link, 0, 1, 2, 3, 4),
	[SYS_renameat2] = TWO(supervise_rename, 0, 1, 2, 3, 4),
	[SYS_umask] = ONE(supervise_umask, -1, -1, -1, 0),
	[SYS_chdir] = ONE(supervise_chdir, -1, -1, -1, 0),
	[SYS_fchdir] = ONE(supervise_chdir, -1, -1, -1, 0),
	[SYS_socket] = ONE(supervise_socket, -1, -1, -1, 0),
	[SYS_connect] = ONE(supervise_connect, -1, -1, -1, 0),
	[SYS_sendto] = ONE(supervise_sendto, -1, -1, -1, 0),
	[SYS_shmget] = ONE(supervise_shmget, -1, -1, -1, 0),
	[SYS_shmat] = ONE(supervise_shmat, -1, -1, -1, 0),
	[SYS_shmctl] = ONE(supervise_shmctl, -1, -1, -1, 0),
	[SYS_setsid] = ONE(supervise_group, -1, -1, -1, 0),
	[SYS_setpgid] = ONE(supervise_group, -1, -1, -1, 0),
	[SYS_bind] = ONE(supervise_bind, -1, -1, -1, 0),
	[SYS_listen] = ONE(supervise_listen, -1, -1, -1, 0),
	[SYS_fchmod] = ONE(supervise_chmod, 0, -1, -1, 0),
	[SYS_fchmodat] = ONE(supervise_chmod, 0, 1, -1, 0),
	[NR_FCHMODAT2] = ONE(supervise_chmod, 0, 1, 3, 0),
	[SYS_fchown] = ONE(supervise_chown, 0, -1, -1, 0),
	[SYS_fchownat] = ONE(supervise_chown, 0, 1, 4, 0),
	[SYS_utimensat] = ONE(supervise_times, 0, 1, 3, DETAIL_NULL_FD),
	[SYS_setxattr] = ONE(supervise_xattr, -1, 0, -1, 0),
	[SYS_lsetxattr] = ONE(supervise_xattr, -1, 0, -1, DETAIL_NOFOLLOW),
	[SYS_fsetxattr] = ONE(supervise_xattr, 0, -1, -1, 0),
	[NR_SETXATTRAT] = ONE(supervise_xattr, 0, 1, 2, 0),
	[SYS_removexattr] = ONE(supervise_xattr, -1, 0, -1, DETAIL_REMOVE),
	[SYS_lremovexattr] = ONE(supervise_xattr, -1, 0, -1, DETAIL_REMOVE | DETAIL_NOFOLLOW),
	[SYS_fremovexattr] = ONE(supervise_xattr, 0, -1, -1, DETAIL_REMOVE),
	[NR_REMOVEXATTRAT] = ONE(supervise_xattr, 0, 1, 2, DETAIL_REMOVE),
#ifdef SYS_renameat
	[SYS_renameat] = TWO(supervise_rename, 0, 1, 2, 3, -1),
#endif
#ifdef SYS_open /* x86_64 has the old ones as well */
	[SYS_open] = ONE(supervise_open, -1, 0, 1, 0),
	[SYS_creat] = ONE(supervise_open, -1, 0, -1, 0),
	[SYS_mkdir] = ONE(supervise_mkdir, -1, 0, -1, 0),
	[SYS_mknod] = ONE(supervise_mknod, -1, 0, -1, 0),
	[SYS_symlink] = ONE(supervise_symlink, -1, 1, -1, 0),
	[SYS_unlink] = ONE(supervise_unlink, -1, 0, -1, 0),
	[SYS_rmdir] = ONE(supervise_rmdir, -1, 0, -1, 0),
	[SYS_link] = TWO(supervise_link, -1, 0, -1, 1, -1),
	[SYS_rename] = TWO(supervise_rename, -1, 0, -1, 1, -1),
	[SYS_chmod] = ONE(supervise_chmod, -1, 0, -1, 0),
	[SYS_chown] = ONE(supervise_chown, -1, 0, -1, 0),
	[SYS_lchown] = ONE(supervise_chown, -1, 0, -1, DETAIL_NOFOLLOW),
	[SYS_utime] = ONE(supervise_times, -1, 0, -1, DETAIL_UTIMBUF),
	[SYS_utimes] = ONE(supervise_times, -1, 0, -1, DETAIL_TIMEVAL),
	[SYS_futimesat] = ONE(supervise_times, 0, 1, -1, DETAIL_TIMEVAL | DETAIL_NULL_FD),
#endif
};

struct supervised_thread {
	struct supervisor supervisor; /* first: this is what callers hold */
	pthread_t thread;
};

/* At the landlock level no process may leave its group while the command's groups are killed. */
static struct call_answer supervise_group(const struct syscall *call, const struct handler *row)
{
	(void)row;
	return atomic_load(&call->supervisor->holds_groups) ? answer_error(EPERM) :
	                                                      answer_go_on(CONTINUE_GROUP);
}

void supervise_hold_groups(struct supervisor *supervisor)
{
	if (supervisor)
		atomic_store(&supervisor->holds_groups, true);
}

/* One that the plan forbids (hasp.sandbox.syscalls): before anything else is done about it. */
static struct call_answer supervise_forbid(const struct syscall *call, const char *name)
{
	struct denial denial = { .kind = DENIAL_CALL, .reason = SANDBOX_REASON_SYSCALLS };

	snprintf(denial.what, sizeof(denial.what), "%s", name);
	supervise_record_denial(call, &denial);
	return answer_error(EPERM);
}

/* By number, once: each call that is handed over is looked up. */
static void resolve_forbidden(struct supervisor *supervisor)
{
	const struct sandbox_plan *plan = supervisor->plan;

	for (size_t i = 0; i < plan->syscall_count; i++) {
		const int number = sandbox_call_number(plan->syscalls[i]);

		if (number >= 0 && number <= FILTER_LAST_CALL)
			supervisor->forbidden[number] = plan->syscalls[i];
	}
}

static struct call_answer handle_call(const struct syscall *call)
{
	static const struct handler refuse = { .run = supervise_refuse };
	const int number = call->number;
	const bool known = number >= 0 && number <= FILTER_LAST_CALL;
	const char *forbidden = known ? call->supervisor->forbidden[number] : NULL;
	const struct handler *row = known && handlers[number].run ? &handlers[number] : &refuse;

	return forbidden ? supervise_forbid(call, forbidden) : row->run(call, row);
}

/* Takes one request, if there still is one: the process may have been killed. */
static void take_request(struct supervisor *supervisor)
{
	struct seccomp_notif *request = supervisor->request;
	struct syscall call = { .supervisor = supervisor };
	struct call_answer answer;
	int error;

	memset(request, 0, supervisor->request_size);
	if (ioctl(supervisor->notify_fd, SECCOMP_IOCTL_NOTIF_RECV, request) != 0) {
		if (errno != ENOENT && errno != EINTR)
			supervise_lose(supervisor, "SECCOMP_IOCTL_NOTIF_RECV");
		return;
	}
	call.id = request->id;
	call.number = request->data.nr;
	call.thread = (pid_t)request->pid;
	call.args = request->data.args;
	error = caller_take_ids(&call);
	answer = error ? answer_error(error) : handle_call(&call);
	caller_resign_ids(&call);
	if (answer.kind != ANSWER_LATER && answer.kind != ANSWER_SENT)
		supervise_answer(supervisor, call.id, answer);
}

enum { LOOK_MS = 1000 }; /* how often it looks whether it was to stop, and was not woken */

/* What waits for an answer, and what comes, gets ENOSYS when the descriptor is closed. */
static void end_lost(struct supervisor *supervisor)
{
	if (supervisor->events.lost)
		supervisor->events.lost(supervisor->events.data, supervisor->lost_call,
		                        supervisor->lost_error);
	fd_cleanup_close(&supervisor->notify_fd);
	supervisor->notify_fd = -1;
}

/* Until no process is left to supervise (the descriptor hangs up), supervise_stop, or a call fails
 * without which there is no going on. */
static void serve_until_end(struct supervisor *supervisor)
{
	struct pollfd polls[2 + LIMIT_WAITING_CONNECTS];

	while (!supervisor->lost_call && !atomic_load(&supervisor->stopping)) {
		unsigned count = 2;
		int after;

		polls[0] = (struct pollfd){ .fd = supervisor->notify_fd, .events = POLLIN };
		polls[1] = (struct pollfd){ .fd = supervisor->stop_fd, .events = POLLIN };
		after = sockets_poll_connects(supervisor, polls, &count);
		after = after < 0 || after > LOOK_MS ? LOOK_MS : after;
		if (supervisor->opens && after > OPENS_RETRY_MS)
			after = OPENS_RETRY_MS;
		if (poll(polls, count, after) < 0) {
			if (errno != EINTR && errno != EAGAIN)
				supervise_lose(supervisor, "poll");
			continue;
		}
		if (polls[1].revents)
			return;
		if (polls[0].revents & POLLIN)
			take_request(supervisor);
		else if (polls[0].revents)
			return;
		if (supervisor->waiting)
			sockets_continue_connects(supervisor);
		if (supervisor->opens)
			opens_continue(supervisor);
		call_end_loans(supervisor);
	}
}

static void *supervisor_thread(void *data)
{
	struct supervisor *supervisor = data;

	/* For bind and umask; containers may forbid it. */
	supervisor->own_folder = unshare(CLONE_FS) == 0;
	supervisor->umask = umask(077);
	umask(supervisor->umask);
	serve_until_end(supervisor);
	if (supervisor->lost_call)
		end_lost(supervisor);
	return NULL;
}

/* The kernel's structures may be larger than those this was compiled with. */
static bool make_buffers(struct supervisor *supervisor)
{
	struct seccomp_notif_sizes sizes;

	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0)
		return false;
	supervisor->request_size = sizes.seccomp_notif > sizeof(struct seccomp_notif) ?
		sizes.seccomp_notif : sizeof(struct seccomp_notif);
	supervisor->response_size = sizes.seccomp_notif_resp > sizeof(struct seccomp_notif_resp) ?
		sizes.seccomp_notif_resp : sizeof(struct seccomp_notif_resp);
	supervisor->request = mem_alloc(1, supervisor->request_size);
	supervisor->response = mem_alloc(1, supervisor->response_size);
	return true;
}

static void release_supervisor(struct supervisor *supervisor)
{
	sockets_free_connects(supervisor);
	sockets_free_bound(supervisor);
	segments_free(supervisor);
	supervise_records_free(supervisor);
	opens_free(supervisor);
	call_free_procs(supervisor);
	fd_cleanup_close(&supervisor->notify_fd);
	fd_cleanup_close(&supervisor->stop_fd);
	free(supervisor->request);
	free(supervisor->response);
}

/* Signals are for the other threads. */
static int start_supervisor(struct supervised_thread *running)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&running->thread, NULL, supervisor_thread, &running->supervisor);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

bool supervise_start(const struct sandbox_plan *plan, int notify_fd,
                     const struct supervisor_events *events, struct supervisor **ret,
                     struct err *err)
{
	struct supervised_thread *running = mem_alloc(1, sizeof(*running));
	struct supervisor *supervisor = &running->supervisor;
	int error = 0;

	*supervisor = (struct supervisor){ .plan = plan, .events = *events, .notify_fd = notify_fd,
		.proc_is_own = call_proc_is_own(),
		.same_ids = caller_ids_are_fixed(),
		.takes_descriptors = call_can_take_descriptors() };
	resolve_forbidden(supervisor);
	supervisor->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (supervisor->stop_fd < 0 || !make_buffers(supervisor))
		error = errno;
	/* Both sides run on one processor then: an answer costs a third (Linux 6.6). */
	(void)ioctl(notify_fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	if (!error)
		error = start_supervisor(running);
	if (error) {
		release_supervisor(supervisor);
		free(running);
		return err_set_errno(err, error, "The supervisor of commands cannot start");
	}
	*ret = supervisor;
	return true;
}

void supervise_stop(struct supervisor *supervisor)
{
	struct supervised_thread *running = (struct supervised_thread *)supervisor;

	if (!supervisor)
		return;
	atomic_store(&supervisor->stopping, true);
	fd_ring(supervisor->stop_fd);
	pthread_join(running->thread, NULL);
	supervise_records_finish(supervisor);
	release_supervisor(supervisor);
	free(running);
}
