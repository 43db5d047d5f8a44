/* SPDX-License-Identifier: Apache-2.0 */
/* One hook's process: input from a file in memory, output read with bounds, an end for certain.
 *
 * It gets a process group of its own, a keeper (keeper.c) above it, and a control group around it where one can
 * be had.  A timeout or cancel ends everything beneath the keeper, also what left the process group or detached
 * itself: SIGTERM, a second's grace, SIGKILL.  A hook that ends and leaves something running in the background
 * is not waited for beyond what it had written. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "hooks/hook.h"
#include "sandbox/apply/cgroup.h"
#include "sandbox/apply/processes.h"

/* After its end, for what others that hold its output are still writing. */
enum { DRAIN_MS = 50 };

struct running {
	pid_t pid; /* the keeper's, and of its process group */
	struct cgroup *group; /* owned; NULL: none can be had */
	int pidfd, out, err;
	bool ended;
	int status;
};

static int input_file(struct span input)
{
	int fd = memfd_create("hook-input", MFD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fd_write_all(fd, input.data, input.len) && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	close(fd);
	return -1;
}

static int spawn_shell(const struct hooks *hooks, const struct hook *hook,
                       const int files[static 3], struct running *ret)
{
	_cleanup_buf_ struct buf command = BUF_INIT(1 << 20);
	char **env = hook_environment(hooks, hook);
	struct cgroup_door door;
	int failed;

	hook_command_text(hooks, hook->command, &command);
	ret->group = cgroup_make_unlimited();
	cgroup_door_open(ret->group, &door);
	failed = hook_keeper_start(&(struct hook_start){ .command = command.data, .cwd = hooks->cwd,
	                                                 .environment = env, .files = files,
	                                                 .door = &door },
	                           &ret->pid);
	cgroup_door_close(&door);
	for (size_t i = 0; env[i]; i++)
		free(env[i]);
	free(env);
	return failed;
}

static int start(const struct hooks *hooks, const struct hook *hook, struct span input,
                 struct running *ret)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 };
	int in = input_file(input);
	int failed = 0;

	if (in < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		failed = errno;
	if (!failed)
		failed = spawn_shell(hooks, hook, (int[]){ in, out[1], err[1] }, ret);
	for (int i = 0; i < 2; i++) {
		if ((i == 1 || failed) && out[i] >= 0)
			close(out[i]);
		if ((i == 1 || failed) && err[i] >= 0)
			close(err[i]);
	}
	if (in >= 0)
		close(in);
	ret->out = out[0];
	ret->err = err[0];
	return failed;
}

/* Reads what is there; closes at the end. Past the bound of `out` it is dropped. */
static void read_some(int *fd, struct buf *out)
{
	char bytes[12 << 10];
	ssize_t got = read(*fd, bytes, sizeof(bytes));
	size_t room;

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		close(*fd);
		*fd = -1;
		return;
	}
	room = out->max - out->len;
	buf_append(out, bytes, (size_t)got < room ? (size_t)got : room);
}

static void reap(struct running *running)
{
	pid_t got;

	while ((got = waitpid(running->pid, &running->status, WNOHANG)) < 0 && errno == EINTR)
		;
	if (got != 0)
		running->ended = true;
}

/* One wait for whatever comes first. */
static void wait_some(struct running *running, struct hook_process *process, uint64_t until,
                      const struct cancel *cancel)
{
	uint64_t now = monotonic_ms();
	int ms = now >= until ? 0 : until - now > 100 && running->pidfd < 0 ? 20 : (int)(until - now);
	struct pollfd fds[4] = {
		{ .fd = running->out, .events = POLLIN },
		{ .fd = running->err, .events = POLLIN },
		{ .fd = running->ended ? -1 : running->pidfd, .events = POLLIN },
		{ .fd = cancel_fd(cancel), .events = POLLIN },
	};

	if (poll(fds, 4, ms) < 0)
		return;
	if (fds[0].revents)
		read_some(&running->out, &process->out);
	if (fds[1].revents)
		read_some(&running->err, &process->err);
	if (!running->ended)
		reap(running);
}

/* Sends a signal to all that came from the hook, 0 to ask only; false when nothing of it is alive. */
static bool signal_all(const struct running *running, int number)
{
	struct descendant *below;
	size_t count, alive = 0;

	if (running->group)
		return cgroup_signal(running->group, number);
	count = descendants_list(running->pid, &below);
	for (size_t i = 0; i < count; i++)
		alive += !below[i].ended && kill(below[i].pid, number) == 0;
	free(below);
	return alive;
}

static void stop(struct running *running, struct hook_process *process)
{
	const uint64_t until = monotonic_ms() + HOOK_GRACE_MS;
	bool alive;

	/* Without a control group the keeper has to stay when the shell is gone: what the shell leaves comes to it. */
	if (!running->group)
		kill(running->pid, SIGSTOP);
	alive = signal_all(running, SIGTERM);
	while (alive && monotonic_ms() < until) {
		wait_some(running, process, monotonic_ms() + 10 < until ? monotonic_ms() + 10 : until, NULL);
		alive = signal_all(running, 0);
	}
	if (running->group) {
		cgroup_kill(running->group);
		if (!running->ended)
			kill(running->pid, SIGKILL);
	} else {
		descendants_kill(running->pid);
		/* Where /proc tells nothing, at least the process group. */
		kill(-running->pid, SIGKILL);
	}
	while (!running->ended && (waitpid(running->pid, &running->status, 0) >= 0 || errno != EINTR))
		running->ended = true;
}

static void attend(struct running *running, struct hook_process *process, unsigned timeout_ms,
                   const struct cancel *cancel)
{
	uint64_t until = monotonic_ms() + timeout_ms;

	while (!running->ended) {
		if (cancelled(cancel))
			process->cancelled = true;
		else if (monotonic_ms() >= until)
			process->timed_out = true;
		if (process->cancelled || process->timed_out) {
			stop(running, process);
			break;
		}
		wait_some(running, process, until, cancel);
	}
	until = monotonic_ms() + DRAIN_MS;
	while ((running->out >= 0 || running->err >= 0) && monotonic_ms() < until)
		wait_some(running, process, until, NULL);
}

bool hook_process_run(const struct hooks *hooks, const struct hook *hook, struct span input,
                      const struct cancel *cancel, struct hook_process *ret, int *why_errno)
{
	struct running running = { .pid = -1, .pidfd = -1, .out = -1, .err = -1 };

	*ret = (struct hook_process){ .out = BUF_INIT(HOOK_OUTPUT_BYTES_MAX),
		                      .err = BUF_INIT(HOOK_ERROR_BYTES_MAX) };
	*why_errno = start(hooks, hook, input, &running);
	if (*why_errno) {
		cgroup_free(running.group);
		return false;
	}
	running.pidfd = (int)syscall(SYS_pidfd_open, running.pid, 0);
	attend(&running, ret, hook->timeout_ms, cancel);
	if (ret->timed_out || ret->cancelled)
		cgroup_free(running.group);
	else
		cgroup_abandon(running.group);
	if (running.out >= 0)
		close(running.out);
	if (running.err >= 0)
		close(running.err);
	if (running.pidfd >= 0)
		close(running.pidfd);
	ret->exit_code = WIFEXITED(running.status) ? WEXITSTATUS(running.status) :
	                                             128 + WTERMSIG(running.status);
	return true;
}

void hook_process_release(struct hook_process *process)
{
	buf_release(&process->out);
	buf_release(&process->err);
}
