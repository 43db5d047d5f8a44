/* SPDX-License-Identifier: Apache-2.0 */
/* The parent's half of starting a process inside a plan.
 *
 * The child is made with clone and shares this process's memory until it executes, as with vfork,
 * so that starting it costs the same however large this process is; unlike with vfork this thread
 * keeps running, because the child's ids can only be mapped from outside.  A socket keeps the two
 * apart (private.h).  Under sanitizers, and where this process may not be looked at
 * (PR_SET_DUMPABLE 0: its /proc files would belong to root), the memory is copied.
 *
 * An existing network (spawn.h) can only be entered from the user namespace that owns it, and this
 * process must not go there: it makes an intermediate process (vfork), which enters, makes the
 * child and ends.  CLONE_PARENT keeps the child a child of this process.
 */
#include "sandbox/apply/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/apply/cgroup.h"
#include "sandbox/apply/landlock.h"
#include "sandbox/apply/private.h"
#include "sandbox/apply/processes.h"

/* ---- ending and waiting for what sandbox_spawn started ---- */

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

void sandbox_child_kill(const struct sandbox_child *child)
{
	if (child->pid == 0)
		return;
	/* Without a PID namespace: first its descendants, which would outlive it. Its process ID
	 * is not reused until it is waited for. */
	if (child->whole_tree)
		processes_kill_descendants(child->pid);
	syscall(SYS_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0);
	cgroup_kill(child->group);
}

/* As waitpid says it. */
static int wait_status_of(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED)
		return (info->si_status & 0xff) << 8;
	return (info->si_status & 0x7f) | (info->si_code == CLD_DUMPED ? 0x80 : 0);
}

bool sandbox_child_wait(struct sandbox_child *child, int timeout_ms, int *ret_status)
{
	struct pollfd poll_fd = { .fd = child->pidfd, .events = POLLIN };
	siginfo_t info = { 0 };
	int done;

	if (child->pid == 0)
		return false;
	if (timeout_ms >= 0) {
		do
			done = poll(&poll_fd, 1, timeout_ms);
		while (done < 0 && errno == EINTR);
		if (done <= 0)
			return false;
	}
	do
		done = waitid((idtype_t)P_PIDFD, (id_t)child->pidfd, &info, WEXITED | __WALL);
	while (done < 0 && errno == EINTR);
	child->pid = 0;
	/* Another part of this program may have waited for all children. */
	*ret_status = done == 0 ? wait_status_of(&info) : 0;
	return true;
}

void sandbox_child_release(struct sandbox_child *child)
{
	int status;

	sandbox_child_kill(child);
	sandbox_child_wait(child, -1, &status);
	cgroup_free(child->group);
	child->group = NULL;
	fd_cleanup_close(&child->pidfd);
	child->pidfd = -1;
}

/* ---- the parent's half ---- */

enum { STACK_BYTES = 128 << 10, GUARD_BYTES = 64 << 10 };
/* The kernel hands out the first 300 numbers of a namespace once only. */
enum { RESERVED_PIDS = 300 };

static const char *const stage_texts[SPAWN_STAGE_COUNT] = {
#define STAGE_TEXT(symbol, text) [SPAWN_##symbol] = text,
	SPAWN_STAGES(STAGE_TEXT)
#undef STAGE_TEXT
};

/* Which step of making a child failed. */
enum birth { BIRTH_FINE, BIRTH_JOIN, BIRTH_CLONE, BIRTH_ALIVE, BIRTH_IDS };

/* All that is prepared for one child, and let go after it. */
struct spawn_start {
	struct spawn_task task;
	struct steps steps;
	struct ids ids;
	const struct sandbox_network *network; /* NULL: a new one, or the machine's */
	enum birth failed;
	int error;
	struct cgroup *group; /* taken by the child's struct in the end */
	int parent_end, child_end, program, null, ruleset, pidfd;
	pid_t pid;
	char *stack;
	bool move;   /* the child must be moved into its group */
	bool copied; /* the child does not share memory, and reports when its /proc can be read */
};

static bool plan_is_full(const struct sandbox_plan *plan)
{
	return plan && plan->level == SANDBOX_FULL;
}

static void release_spawn(struct spawn_start *start)
{
	fd_cleanup_close(&start->parent_end);
	fd_cleanup_close(&start->child_end);
	fd_cleanup_close(&start->program);
	fd_cleanup_close(&start->null);
	fd_cleanup_close(&start->ruleset);
	fd_cleanup_close(&start->pidfd);
	cgroup_door_close(&start->task.door);
	if (start->stack)
		munmap(start->stack, STACK_BYTES + GUARD_BYTES);
	steps_release(&start->steps);
	sandbox_ids_release(&start->ids);
	free(start->task.slots);
	free(start->task.moved);
	cgroup_free(start->group);
}

/* pid_max belongs to the PID namespace from Linux 6.14 on; before, it is the machine's. */
static unsigned long pid_max_of(const struct sandbox_plan *plan)
{
	struct utsname name;
	unsigned major, minor;

	if (!plan_is_full(plan) || !plan->own_processes || !plan->limits.processes ||
	    uname(&name) != 0 ||
	    sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return 0;
	if (major < 6 || (major == 6 && minor < 14))
		return 0;
	return RESERVED_PIDS + cgroup_tasks(&plan->limits);
}

/* Moves a descriptor to where the child's own will not be. */
static bool above(int *fd, size_t count)
{
	int moved;

	if (*fd < 0 || (size_t)*fd >= count)
		return true;
	moved = fcntl(*fd, F_DUPFD_CLOEXEC, (int)count);
	if (moved < 0)
		return false;
	close(*fd);
	*fd = moved;
	return true;
}

static bool needs_null(const struct sandbox_spawn *spawn)
{
	for (size_t i = 0; i < spawn->fd_count; i++) {
		if (spawn->fds[i] < 0)
			return true;
	}
	return false;
}

static bool open_descriptors(struct spawn_start *start, const struct sandbox_spawn *spawn,
                             struct err *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return err_set_errno(err, errno, "No descriptors are left to start a process");
	start->parent_end = pair[0];
	start->child_end = pair[1];
	if (needs_null(spawn))
		start->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (spawn->program >= 0)
		start->program = fcntl(spawn->program, F_DUPFD_CLOEXEC, (int)spawn->fd_count);
	else
		start->program = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	if (start->program < 0 && spawn->program < 0 && errno == ENOENT)
		return err_set(err, ERR_IO_ERROR,
		               "/proc is not mounted here: hasp needs it to start its "
		                                  "worker (mount -t proc proc /proc).");
	if (start->program < 0)
		return err_set_errno(err, errno, "The program cannot be opened to be started");
	if (start->null < 0 && needs_null(spawn))
		return err_set_errno(err, errno, "/dev/null cannot be opened");
	if (!above(&start->parent_end, spawn->fd_count) ||
	    !above(&start->child_end, spawn->fd_count) ||
	    !above(&start->null, spawn->fd_count) || !above(&start->program, spawn->fd_count) ||
	    !above(&start->ruleset, spawn->fd_count))
		return err_set_errno(err, errno, "No descriptors are left to start a process");
	return true;
}

static bool prepare_spawn(struct spawn_start *start, const struct sandbox_spawn *spawn,
                          struct err *err)
{
	const struct sandbox_plan *plan = spawn->plan;

	*start = (struct spawn_start){ .parent_end = -1, .child_end = -1, .program = -1, .null = -1,
	                               .ruleset = -1, .pidfd = -1 };
	cgroup_door_open(NULL, &start->task.door);
	if (plan && plan->level != SANDBOX_PATHS &&
	    !landlock_prepare(plan, LANDLOCK_LAYER_WORKER, &start->ruleset, err))
		return false;
	if (!open_descriptors(start, spawn, err))
		return false;
	if (plan_is_full(plan)) {
		steps_make(plan, &start->steps);
		start->task.slots = mem_alloc((size_t)start->steps.slots + 1, sizeof(int));
		start->task.steps = &start->steps;
	}
	if (plan && plan->use == SANDBOX_USE_COMMAND)
		start->group = cgroup_make(&plan->limits);
	cgroup_door_open(start->group, &start->task.door);
	start->task.plan = plan;
	start->task.socket = start->child_end;
	start->task.other_end = start->parent_end;
	start->task.program = start->program;
	start->task.null = start->null;
	start->task.ruleset = start->ruleset;
	start->task.fds = spawn->fds;
	start->task.fd_count = spawn->fd_count;
	start->task.moved = mem_alloc(spawn->fd_count, sizeof(int));
	start->task.argv = spawn->argv;
	start->task.envp = spawn->envp;
	start->task.caps = plan ? sandbox_caps_kept(plan) : 0;
	start->task.pid_max = pid_max_of(plan);
	if (plan_is_full(plan) && plan->own_network)
		start->network = spawn->network;
	start->task.own_loopback = plan_is_full(plan) && plan->own_network && !start->network;
	if (plan_is_full(plan) && plan->user_namespace)
		sandbox_ids_prepare(&start->ids);
	return true;
}

static unsigned long namespaces(const struct spawn_start *start)
{
	const struct sandbox_plan *plan = start->task.plan;
	unsigned long flags = 0;

	if (!plan_is_full(plan))
		return 0;
	flags = CLONE_NEWNS | CLONE_NEWIPC;
	if (start->network)
		flags |= CLONE_PARENT;
	if (plan->user_namespace)
		flags |= CLONE_NEWUSER;
	if (plan->own_processes)
		flags |= CLONE_NEWPID;
	if (start->task.own_loopback)
		flags |= CLONE_NEWNET;
	return flags;
}

static int enter_child(void *data)
{
	spawn_child(data);
}

/* The child of a call that copied the memory, on a copy of this stack. */
static void be_copy(struct spawn_start *start)
{
	prctl(PR_SET_DUMPABLE, 1UL, 0UL, 0UL, 0UL);
	if (write(start->child_end, "", 1) == 1)
		spawn_child(&start->task);
	_exit(126);
}

/* Made in a control group of version 2. The C library has no such call that shares memory. */
static pid_t clone_into_group(struct spawn_start *start, unsigned long flags)
{
	struct clone_args args = {
		.flags = flags | CLONE_PIDFD | CLONE_INTO_CGROUP,
		.pidfd = (uintptr_t)&start->pidfd,
		/* With CLONE_PARENT it is that of the process in between. */
		.exit_signal = flags & CLONE_PARENT ? 0 : SIGCHLD,
		.cgroup = (uint64_t)start->task.door.folder,
	};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	start->copied = true;
	if (pid == 0)
		be_copy(start);
	return pid;
}

/* A child that does not share memory keeps this stack; otherwise it gets another. */
static pid_t clone_confined(struct spawn_start *start, unsigned long flags)
{
	pid_t pid = -1;

	if (start->task.door.folder >= 0)
		pid = clone_into_group(start, flags);
	if (pid >= 0)
		return pid;
	/* A kernel or a filter without clone3: it is moved in later. */
	start->move = start->task.door.folder >= 0;
	start->copied = sandbox_copies_memory();
	flags |= CLONE_PIDFD | SIGCHLD;
	if (start->copied) {
		pid = (pid_t)syscall(SYS_clone, flags, NULL, &start->pidfd, NULL, 0UL);
		if (pid == 0)
			be_copy(start);
		return pid;
	}
	start->stack = mmap(NULL, STACK_BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	if (start->stack == MAP_FAILED) {
		start->stack = NULL;
		return -1;
	}
	/* Stacks grow downwards: an overflow faults instead of overwriting other memory. */
	mprotect(start->stack, GUARD_BYTES, PROT_NONE);
	return clone(enter_child, start->stack + GUARD_BYTES + STACK_BYTES,
	             (int)(flags | CLONE_VM), &start->task, &start->pidfd);
}

static bool clone_failed(const struct sandbox_plan *plan, int error, struct err *err)
{
	bool denied = plan_is_full(plan) && (error == EPERM || error == EACCES || error == ENOSPC ||
	                                     error == EUSERS || error == EINVAL || error == ENOSYS);

	if (!denied)
		return err_set_errno(err, error, "A process cannot be started");
	err_set(err, ERR_DENIED_BY_SANDBOX,
	        "The kernel does not let a process create namespaces: %s.",
	        strerror(error));
	err->sys_errno = error;
	return false;
}

static bool explain_denied(const char *what, int error, struct err *err)
{
	err_set(err, ERR_DENIED_BY_SANDBOX, "The sandbox cannot be made: %s was refused: %s.", what,
	        strerror(error));
	err->sys_errno = error;
	return false;
}

static bool mount_failed(const struct spawn_start *start, const struct spawn_message *message,
                         struct err *err)
{
	_cleanup_buf_ struct buf what = BUF_INIT(ERR_MESSAGE_MAX);
	const struct step *step = &start->steps.steps[message->step];
	bool missing = message->error == ENOENT || message->error == ELOOP ||
	               message->error == ENOTDIR;

	if (missing && step->path[0] == '/')
		return err_set(err, ERR_FILE_NOT_FOUND,
		               "%s was removed or replaced after the sandbox was planned.",
		               step->path);
	buf_str(&what, "the mount step \"");
	step_describe(&start->steps, message->step, &what);
	buf_str(&what, "\"");
	return explain_denied(what.data ? what.data : "a mount", message->error, err);
}

static bool child_failed(const struct spawn_start *start, const struct spawn_message *message,
                         struct err *err)
{
	if (message->error == ENOMEM || message->error == EMFILE || message->error == ENFILE)
		return err_set_errno(err, message->error, "A process cannot be started (%s)",
		                     stage_texts[message->stage]);
	if (message->stage == SPAWN_EXECUTE)
		return err_set_errno(err, message->error, "The program cannot be executed");
	if (message->stage == SPAWN_MOUNTS)
		return mount_failed(start, message, err);
	return explain_denied(stage_texts[message->stage], message->error, err);
}

/* Reads what the child has to say until it executes or ends. */
static bool await_child(const struct spawn_start *start, struct err *err)
{
	struct spawn_message message;
	bool ready = false;
	ssize_t len;

	for (;;) {
		len = fd_read_full(start->parent_end, &message, sizeof(message));
		if (len != sizeof(message))
			break;
		if (message.stage >= SPAWN_STAGE_COUNT || message.error)
			break;
		ready = true;
	}
	if (len == sizeof(message) && message.stage < SPAWN_STAGE_COUNT)
		return child_failed(start, &message, err);
	if (len < 0)
		return err_set_errno(err, errno, "A process that starts cannot be listened to");
	if (!ready)
		return err_set(err, ERR_DENIED_BY_SANDBOX,
		               "A process ended while its sandbox was being made.");
	return true;
}

/* ---- birth ---- */

/* A copy says when it can be looked at.  Its end shows by its pidfd: the socket's other end may be
 * open elsewhere. */
static bool await_copy(const struct spawn_start *start)
{
	struct pollfd polls[] = { { .fd = start->parent_end, .events = POLLIN },
		                  { .fd = start->pidfd, .events = POLLIN } };
	char byte;

	while (poll(polls, ARRAY_LEN(polls), -1) < 0 && errno == EINTR)
		;
	return (polls[0].revents & POLLIN) && fd_read_full(start->parent_end, &byte, 1) == 1;
}

static void fail_spawn(struct spawn_start *start, enum birth what, int error)
{
	start->failed = what;
	start->error = error;
}

/* System calls alone: it may run in the process in between. */
static void clone_and_map(struct spawn_start *start)
{
	const struct sandbox_plan *plan = start->task.plan;
	int error;

	start->pid = clone_confined(start, namespaces(start));
	if (start->pid < 0) {
		fail_spawn(start, BIRTH_CLONE, errno);
	} else if (start->copied && !await_copy(start)) {
		fail_spawn(start, BIRTH_ALIVE, EPIPE);
	} else if (plan_is_full(plan) && plan->user_namespace) {
		error = sandbox_ids_map(&start->ids, start->pid);
		if (error)
			fail_spawn(start, BIRTH_IDS, error);
	}
}

/* The process in between shares this memory, stack and all, while this thread stands still. */
static __attribute__((noinline)) void clone_and_map_in_network(struct spawn_start *start)
{
	pid_t between = vfork();
	int error;

	if (between == 0) {
		error = network_join(start->network);
		if (error)
			fail_spawn(start, BIRTH_JOIN, error);
		else
			clone_and_map(start);
		_exit(0);
	}
	if (between < 0) {
		fail_spawn(start, BIRTH_CLONE, errno);
		return;
	}
	while (waitpid(between, NULL, __WALL) < 0 && errno == EINTR)
		;
	/* What it had was in its own table. */
	start->pidfd = -1;
	if (start->pid <= 0)
		return;
	start->pidfd = (int)syscall(SYS_pidfd_open, start->pid, 0);
	if (start->pidfd < 0 && !start->failed)
		fail_spawn(start, BIRTH_CLONE, errno);
}

static bool explain_failed_start(const struct spawn_start *start, struct err *err)
{
	switch (start->failed) {
	case BIRTH_FINE:
		return true;
	case BIRTH_JOIN:
		return explain_denied("entering the session's network", start->error, err);
	case BIRTH_CLONE:
		return clone_failed(start->task.plan, start->error, err);
	case BIRTH_ALIVE:
		return err_set(err, ERR_DENIED_BY_SANDBOX,
		               "A process ended before its sandbox was made.");
	case BIRTH_IDS:
		return explain_denied("mapping ids", start->error, err);
	}
	return false;
}

/* ---- both halves ---- */

static bool begin_child(struct spawn_start *start, struct err *err)
{
	fd_cleanup_close(&start->child_end);
	start->child_end = -1;
	if (start->move && !cgroup_join(start->group, start->pid)) {
		cgroup_free(start->group);
		start->group = NULL;
	}
	if (send(start->parent_end, "", 1, MSG_NOSIGNAL) != 1)
		return err_set(err, ERR_DENIED_BY_SANDBOX,
		               "A process ended before its sandbox was made.");
	return await_child(start, err);
}

static bool run_spawn(struct spawn_start *start, struct err *err)
{
	sigset_t all, before;

	/* No handler of this process may run in the child, on its stack, in this memory. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (start->network)
		clone_and_map_in_network(start);
	else
		clone_and_map(start);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	/* Not where a parent without standard descriptors expects to open them. */
	above(&start->pidfd, 3);
	if (explain_failed_start(start, err) && begin_child(start, err))
		return true;
	if (start->pid > 0) {
		if (start->pidfd >= 0)
			syscall(SYS_pidfd_send_signal, start->pidfd, SIGKILL, NULL, 0);
		else
			kill(start->pid, SIGKILL);
		while (waitpid(start->pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	}
	return false;
}

bool sandbox_spawn(const struct sandbox_spawn *spawn, struct sandbox_child *ret, struct err *err)
{
	const struct sandbox_plan *plan = spawn->plan;
	struct spawn_start start;
	bool ok = prepare_spawn(&start, spawn, err) && run_spawn(&start, err);

	if (ok) {
		*ret = (struct sandbox_child){
			.pid = start.pid,
			.pidfd = fd_steal(&start.pidfd),
			.group = mem_steal(&start.group),
			.whole_tree = plan && plan->use == SANDBOX_USE_COMMAND &&
			              !(plan_is_full(plan) && plan->own_processes),
		};
	}
	release_spawn(&start);
	return ok;
}
