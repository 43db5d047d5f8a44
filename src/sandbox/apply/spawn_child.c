/* SPDX-License-Identifier: Apache-2.0 */
/* The child of sandbox_spawn, from its first instruction to the program's. */
#include "sandbox/apply/spawn_child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/apply/filter.h"
#include "sandbox/apply/ids.h"
#include "sandbox/apply/landlock.h"
#include "sandbox/apply/mounts.h"
#include "sandbox/apply/network.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static bool confined(const struct spawn_task *task)
{
	return task->plan && task->plan->level != SANDBOX_PATHS;
}

static bool full(const struct spawn_task *task)
{
	return task->plan && task->plan->level == SANDBOX_FULL;
}

static int do_wait(const struct spawn_task *task, size_t *ret_step)
{
	char byte;

	(void)ret_step;
	/* So that the socket ends for the child when the parent dies. */
	close(task->other_end);
	if (read(task->socket, &byte, 1) != 1)
		return EPIPE;
	cgroup_enter(&task->door);
	return 0;
}

static int do_signals(const struct spawn_task *task, size_t *ret_step)
{
	/* All are blocked until the program is executed, which resets handlers, but not what is
	 * ignored. */
	struct sigaction act = { .sa_handler = SIG_DFL };

	(void)task;
	(void)ret_step;
	for (int signal = 1; signal < NSIG; signal++)
		sigaction(signal, &act, NULL); /* fails for KILL, STOP and two of the library's own */
	return 0;
}

static int do_session(const struct spawn_task *task, size_t *ret_step)
{
	(void)task;
	(void)ret_step;
	return setsid() < 0 ? errno : 0;
}

static int do_network(const struct spawn_task *task, size_t *ret_step)
{
	(void)ret_step;
	return full(task) && task->own_loopback ? network_loopback_up() : 0;
}

static void write_number(const char *path, unsigned long number)
{
	char text[24];
	size_t at = sizeof(text);
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	do {
		text[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	if (write(fd, text + at, sizeof(text) - at) < 0)
		errno = 0; /* nothing to be done about it */
	close(fd);
}

/* Both are nets beneath others (the seccomp filters, limits.h): no failure. */
static void bound_namespaces(const struct spawn_task *task)
{
	if (task->plan->user_namespace)
		write_number("/proc/sys/user/max_user_namespaces", 0);
	if (task->pid_max)
		write_number("/proc/sys/kernel/pid_max", task->pid_max);
}

static int do_mounts(const struct spawn_task *task, size_t *ret_step)
{
	struct rlimit files, more;
	mode_t mask;
	int error;

	if (!full(task))
		return 0;
	bound_namespaces(task);
	/* Each tree that waits for its place is a descriptor. */
	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return errno;
	more = (struct rlimit){ files.rlim_max, files.rlim_max };
	setrlimit(RLIMIT_NOFILE, &more);
	mask = umask(0);
	error = mounts_run(task->steps, task->slots, ret_step);
	umask(mask);
	setrlimit(RLIMIT_NOFILE, &files);
	return error;
}

static int do_folder(const struct spawn_task *task, size_t *ret_step)
{
	const char *folder = "/";

	(void)ret_step;
	if (!task->plan)
		return 0;
	if (task->plan->root_count > 0)
		folder = task->plan->roots[0];
	return chdir(folder) == 0 || chdir("/") == 0 ? 0 : errno;
}

/* Without close_range: what /proc says is open cannot be read with system calls alone in any
 * shorter way. */
static void mark_all(unsigned from)
{
	struct rlimit files = { 0 };

	getrlimit(RLIMIT_NOFILE, &files);
	for (unsigned fd = from; fd < files.rlim_cur && fd < 1u << 20; fd++)
		fcntl((int)fd, F_SETFD, FD_CLOEXEC);
}

static int do_descriptors(const struct spawn_task *task, size_t *ret_step)
{
	int count = (int)task->fd_count;

	(void)ret_step;
	/* Out of the way first: what becomes 1 may be what is 2 now. */
	for (int i = 0; i < count; i++) {
		int from = task->fds[i] >= 0 ? task->fds[i] : task->null;

		task->moved[i] = fcntl(from, F_DUPFD_CLOEXEC, count);
		if (task->moved[i] < 0)
			return errno;
	}
	for (int i = 0; i < count; i++) {
		if (dup2(task->moved[i], i) < 0)
			return errno;
	}
	if (syscall(SYS_close_range, count, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
		mark_all((unsigned)count);
	return 0;
}

static int do_limits(const struct spawn_task *task, size_t *ret_step)
{
	struct rlimit none = { 0, 0 };

	(void)task;
	(void)ret_step;
	return setrlimit(RLIMIT_CORE, &none) == 0 ? 0 : errno;
}

static int do_capabilities(const struct spawn_task *task, size_t *ret_step)
{
	(void)ret_step;
	return confined(task) ? caps_drop(task->caps) : 0;
}

static int do_privileges(const struct spawn_task *task, size_t *ret_step)
{
	(void)ret_step;
	return confined(task) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? errno : 0;
}

static int do_landlock(const struct spawn_task *task, size_t *ret_step)
{
	unsigned abi;
	int dev;

	(void)ret_step;
	if (task->ruleset < 0)
		return 0;
	abi = task->plan->landlock_abi;
	if (full(task) && task->plan->use == SANDBOX_USE_COMMAND) {
		/* It came into being only now. */
		dev = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dev < 0 || !landlock_allow(task->ruleset, abi, dev, SANDBOX_WRITE))
			return errno;
	}
	return landlock_enter(task->ruleset, abi, LANDLOCK_LAYER_WORKER) ? 0 : errno;
}

static int do_filter(const struct spawn_task *task, size_t *ret_step)
{
	(void)ret_step;
	return confined(task) && !filter_install(FILTER_BASE) ? errno : 0;
}

static int do_execute(const struct spawn_task *task, size_t *ret_step)
{
	struct spawn_message ready = { .stage = SPAWN_EXECUTE };
	sigset_t none;

	(void)ret_step;
	if (write(task->socket, &ready, sizeof(ready)) != sizeof(ready))
		return errno;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	syscall(SYS_execveat, task->program, "", task->argv, task->envp, AT_EMPTY_PATH);
	return errno;
}

static int (*const stages[SPAWN_STAGE_COUNT])(const struct spawn_task *task, size_t *ret_step) = {
	[SPAWN_WAIT] = do_wait,
	[SPAWN_SIGNALS] = do_signals,
	[SPAWN_SESSION] = do_session,
	[SPAWN_NETWORK] = do_network,
	[SPAWN_MOUNTS] = do_mounts,
	[SPAWN_FOLDER] = do_folder,
	[SPAWN_DESCRIPTORS] = do_descriptors,
	[SPAWN_LIMITS] = do_limits,
	[SPAWN_CAPABILITIES] = do_capabilities,
	[SPAWN_PRIVILEGES] = do_privileges,
	[SPAWN_LANDLOCK] = do_landlock,
	[SPAWN_FILTER] = do_filter,
	[SPAWN_EXECUTE] = do_execute,
};

void spawn_child(const struct spawn_task *task)
{
	struct spawn_message message = { .stage = SPAWN_WAIT };

	for (; message.stage < SPAWN_STAGE_COUNT; message.stage++) {
		message.error = stages[message.stage](task, &message.step);
		if (message.error)
			break;
	}
	if (write(task->socket, &message, sizeof(message)) < 0)
		_exit(126);
	_exit(127);
}
