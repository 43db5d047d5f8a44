/* SPDX-License-Identifier: Apache-2.0 */
/* One hook's process, and the process between it and this one. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "data/json.h"
#include "hooks/hook.h"
#include "sandbox/apply/cgroup.h"
#include "sandbox/apply/processes.h"

/* ---- the process between ----------------------------------------------------- */

/* The process between this one and a hook's shell.
 *
 * It is a subreaper: whatever the hook starts stays beneath it, also what detaches itself (a
 * second fork, setsid), and so can be found and ended together (sandbox/apply/processes.h).
 * Where a control group can be had, the shell is born in it and nothing leaves it.  The keeper
 * ends when the shell does, with the shell's exit code; what the hook then left in the
 * background goes on elsewhere.
 *
 * It executes nothing, so it is a copy of this process, and in one with threads: system calls
 * alone from the fork on.  It keeps no descriptor, is not to be dumped, and takes no signals but
 * SIGKILL and SIGSTOP.
 */

/* Where the kernel has no close_range: as many as any process here has. */
enum { DESCRIPTORS = 65536 };

static _Noreturn void report_failed_start(int said)
{
	const int why = errno;
	/* A failed write also ends the stream. */
	const ssize_t written = write(said, &why, sizeof(why));

	_exit(written == (ssize_t)sizeof(why) ? 127 : 126);
}

static bool put_files(const int files[static 3])
{
	for (int i = 0; i < 3; i++)
		if (files[i] == i ? fcntl(i, F_SETFD, 0) < 0 : dup2(files[i], i) < 0)
			return false;
	return true;
}

struct hook_start {
	const char *command, *cwd; /* for bash -c, else sh -c; NULL: here */
	char *const *environment;
	const int *files;          /* three: standard input, output, error */
	const struct cgroup_door *door; /* of the control group in which the shell starts */
};

static _Noreturn void run_shell(const struct hook_start *start, int said)
{
	const char *const bash[] = { "bash", "-c", start->command, NULL };
	const char *const sh[] = { "sh", "-c", start->command, NULL };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	if (!put_files(start->files) || (start->cwd && chdir(start->cwd) < 0))
		report_failed_start(said);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvpe(bash[0], (char *const *)bash, start->environment);
	if (errno == ENOENT)
		execvpe(sh[0], (char *const *)sh, start->environment);
	report_failed_start(said);
}

static void close_descriptors(void)
{
	if (syscall(SYS_close_range, 0U, ~0U, 0U) == 0)
		return;
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		close(fd);
}

/* As fork, into the control group where there is one. */
static pid_t fork_into(const struct cgroup_door *door)
{
	struct clone_args args = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD,
		                   .cgroup = (uint64_t)door->folder };
	pid_t pid = door->folder < 0 ? -1 : (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid < 0)
		pid = fork();
	if (pid == 0)
		cgroup_enter(door);
	return pid;
}

static _Noreturn void keep_hook(const struct hook_start *start, int said)
{
	pid_t shell, got;
	int status = 0;

	/* Waiting for children must work, whatever this process does with them. */
	signal(SIGCHLD, SIG_DFL);
	if (setpgid(0, 0) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL) < 0)
		report_failed_start(said);
	shell = fork_into(start->door);
	if (shell < 0)
		report_failed_start(said);
	if (!shell)
		run_shell(start, said);
	prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);
	close_descriptors();
	do
		got = waitpid(-1, &status, 0);
	while (got != shell && (got > 0 || errno == EINTR));
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Without this process's handlers: they are for it. */
static pid_t fork_keeper(const struct hook_start *start, int said)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (!pid)
		keep_hook(start, said);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

/* Starts the keeper, and it the shell. 0 and the keeper's number, which is that of the hook's
 * process group too; or the errno of what failed, and nothing runs. */
static int hook_keeper_start(const struct hook_start *start, pid_t *ret)
{
	int said[2], why = 0;
	ssize_t got;
	pid_t pid;

	if (pipe2(said, O_CLOEXEC) < 0)
		return errno;
	pid = fork_keeper(start, said[1]);
	if (pid < 0)
		why = errno;
	close(said[1]);
	/* Closed without a word when the shell is there. */
	do
		got = pid < 0 ? 0 : read(said[0], &why, sizeof(why));
	while (got < 0 && errno == EINTR);
	close(said[0]);
	if (pid > 0 && why)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	*ret = pid;
	return why;
}

/* ---- the hook's process ------------------------------------------------------ */

/* One hook's process: input from a file in memory, output read with bounds, an end for certain.
 *
 * It gets a new process group, a keeper above it, and a control group around
 * it where one is available.  A timeout or cancel ends everything beneath the keeper, also what
 * left the process group or detached itself: SIGTERM, a second's grace, SIGKILL.  A hook that
 * ends and leaves something running in the background is not waited for beyond what it had
 * written. */

/* After its end, for what others that hold its output are still writing; between two notices of its
 * progress. */
enum { DRAIN_MS = 50, PROGRESS_NOTICE_MS = 1000, ERROR_LINE_BYTES_MAX = 4096 };

struct running_hook {
	const struct hooks *hooks;
	const struct hook *hook;
	uint64_t until;     /* its time is up then; a sign of progress moves it */
	uint64_t notice_at; /* no notice of its progress before */
	struct buf line;    /* what it wrote to standard error since the last newline */
	pid_t pid; /* the keeper's, and of its process group */
	struct cgroup *group; /* owned; NULL: none can be had */
	int pidfd, out, err;
	bool ended;
	int status;
};

static int spawn_shell(const struct hooks *hooks, const struct hook *hook,
                       const int files[static 3], struct running_hook *ret)
{
	_cleanup_buf_ struct buf command = BUF_INIT(1 << 20);
	char **env = hook_environment(hooks, hook);
	struct cgroup_door door;
	int failed;

	hook_command_text(hooks, hook->command, &command);
	ret->group = cgroup_make_unlimited();
	cgroup_door_open(ret->group, &door);
	failed = hook_keeper_start(&(struct hook_start){ .command = command.data,
	                                                 .cwd = hooks->here ? hooks->here :
	                                                                      hooks->cwd,
	                                                 .environment = env, .files = files,
	                                                 .door = &door },
	                           &ret->pid);
	cgroup_door_close(&door);
	for (size_t i = 0; env[i]; i++)
		free(env[i]);
	free(env);
	return failed;
}

static int start_hook(const struct hooks *hooks, const struct hook *hook, struct span input,
                      struct running_hook *ret)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 };
	int in = child_input("hook-input", input);
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
	/* Reading must not block, even where the kernel cannot wait (fd_wait). */
	if (!failed) {
		fcntl(out[0], F_SETFL, O_NONBLOCK);
		fcntl(err[0], F_SETFL, O_NONBLOCK);
	}
	ret->out = out[0];
	ret->err = err[0];
	return failed;
}

/* Reads what is there; closes at the end. Past the bound of `out` it is dropped: true. */
static bool read_hook_output(int *fd, struct buf *out)
{
	char bytes[12 << 10];
	ssize_t got = read(*fd, bytes, sizeof(bytes));
	size_t room;

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return false;
	if (got <= 0) {
		close(*fd);
		*fd = -1;
		return false;
	}
	room = out->max - out->len;
	buf_append(out, bytes, (size_t)got < room ? (size_t)got : room);
	return (size_t)got > room;
}

/* What {"progress": "..."} says; NULL: the line is something else. The caller frees. */
static char *progress_text(struct span line)
{
	struct err ignored = ERR_INIT;
	json_auto_t *value = NULL;
	const json_t *text;

	if (!line.len || !memmem(line.data, line.len, "progress", 8) ||
	    !json_parse_foreign(line, 2, &value, NULL, &ignored))
		return NULL;
	text = json_object_get(value, "progress");
	return json_is_string(text) ? hook_text_copy(json_span(text)) : NULL;
}

/* A line of standard error that has ended: a sign of progress, or text like all else there. */
static void take_error_line(struct running_hook *running, struct buf *err)
{
	const uint64_t now = clock_monotonic_ms();
	_cleanup_free_ char *text = progress_text(buf_view(&running->line));

	if (!text) {
		buf_span(err, span_head(buf_view(&running->line), err->max - err->len));
	} else {
		running->until = now + running->hook->timeout_ms;
		if (now >= running->notice_at) {
			running->notice_at = now + PROGRESS_NOTICE_MS;
			hooks_notice(running->hooks, SEVERITY_HOOK, "The hook \"%.200s\": %.600s",
			             hook_label(running->hook), text);
		}
	}
	buf_clear(&running->line);
}

static void read_hook_errors(struct running_hook *running, struct buf *err)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(12 << 10);

	read_hook_output(&running->err, &bytes);
	for (size_t i = 0; i < bytes.len; i++) {
		buf_char(&running->line, bytes.data[i]);
		if (bytes.data[i] == '\n' || running->line.len == running->line.max)
			take_error_line(running, err);
	}
}

/* One wait for whatever comes first. */
static void wait_some(struct running_hook *running, struct hook_process *process, uint64_t until,
                      const struct cancel *cancel)
{
	uint64_t now = clock_monotonic_ms();
	uint64_t left = now >= until ? 0 : until - now;
	int ms = left > 100 && running->pidfd < 0 ? 20 : (int)left;
	struct pollfd fds[4] = {
		{ .fd = running->out, .events = POLLIN },
		{ .fd = running->err, .events = POLLIN },
		{ .fd = running->ended ? -1 : running->pidfd, .events = POLLIN },
		{ .fd = cancel_fd(cancel), .events = POLLIN },
	};

	fd_wait(fds, 4, ms);
	if (fds[0].revents && read_hook_output(&running->out, &process->out))
		process->cut = true;
	if (fds[1].revents)
		read_hook_errors(running, &process->err);
	if (!running->ended) {
		pid_t got;

		while ((got = waitpid(running->pid, &running->status, WNOHANG)) < 0 &&
		       errno == EINTR)
			;
		if (got != 0)
			running->ended = true;
	}
}

/* Sends a signal to all that came from the hook, 0 to ask only; false when nothing of it is
 * alive. */
static bool signal_all(const struct running_hook *running, int number)
{
	struct descendant *below;
	size_t count, alive = 0;

	if (running->group)
		return cgroup_signal(running->group, number);
	count = processes_list_descendants(running->pid, &below);
	for (size_t i = 0; i < count; i++)
		alive += !below[i].ended && kill(below[i].pid, number) == 0;
	free(below);
	return alive;
}

static void stop_hook(struct running_hook *running, struct hook_process *process)
{
	const uint64_t until = clock_monotonic_ms() + HOOK_GRACE_MS;
	bool alive;

	/* Without a control group the keeper must outlive the shell: it inherits the shell's
	 * orphans. */
	if (!running->group)
		kill(running->pid, SIGSTOP);
	alive = signal_all(running, SIGTERM);
	while (alive && clock_monotonic_ms() < until) {
		wait_some(running, process, clock_monotonic_ms() + 10 < until ?
		          clock_monotonic_ms() + 10 : until, NULL);
		alive = signal_all(running, 0);
	}
	if (running->group) {
		cgroup_kill(running->group);
		if (!running->ended)
			kill(running->pid, SIGKILL);
	} else {
		processes_kill_descendants(running->pid);
		/* If /proc cannot be read, at least the process group. */
		kill(-running->pid, SIGKILL);
	}
	while (!running->ended &&
	       (waitpid(running->pid, &running->status, 0) >= 0 || errno != EINTR))
		running->ended = true;
}

static void wait_for_hook(struct running_hook *running, struct hook_process *process,
                          const struct cancel *cancel)
{
	uint64_t until;

	running->until = clock_monotonic_ms() + running->hook->timeout_ms;
	while (!running->ended) {
		if (cancelled(cancel))
			process->cancelled = true;
		else if (clock_monotonic_ms() >= running->until)
			process->timed_out = true;
		if (process->cancelled || process->timed_out) {
			stop_hook(running, process);
			break;
		}
		wait_some(running, process, running->until, cancel);
	}
	until = clock_monotonic_ms() + DRAIN_MS;
	while ((running->out >= 0 || running->err >= 0) && clock_monotonic_ms() < until)
		wait_some(running, process, until, NULL);
}

bool hook_process_run(const struct hooks *hooks, const struct hook *hook, struct span input,
                      const struct cancel *cancel, struct hook_process *ret, struct err *err)
{
	struct running_hook running = { .hooks = hooks, .hook = hook, .pid = -1, .pidfd = -1,
		.out = -1, .err = -1, .line = BUF_INIT(ERROR_LINE_BYTES_MAX) };
	int failed;

	*ret = (struct hook_process){ .out = BUF_INIT(HOOK_OUTPUT_BYTES_MAX),
		                      .err = BUF_INIT(HOOK_ERROR_BYTES_MAX) };
	ret->refused = (hook->check && !hook->check(hook->check_data, err)) ||
	               !held_check(hooks, hook, err);
	if (ret->refused)
		return false;
	failed = start_hook(hooks, hook, input, &running);
	if (failed) {
		cgroup_free(running.group);
		return err_set(err, ERR_IO_ERROR, "%s.", strerror(failed));
	}
	running.pidfd = (int)syscall(SYS_pidfd_open, running.pid, 0);
	wait_for_hook(&running, ret, cancel);
	take_error_line(&running, &ret->err);
	buf_release(&running.line);
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

bool hooks_run(const struct hooks *hooks, const char *command, unsigned timeout_ms,
               struct span input, const struct cancel *cancel, struct buf *out, struct err *err)
{
	const struct hook hook = { .command = (char *)command, .timeout_ms = timeout_ms };
	struct hook_process process;
	struct err why = ERR_INIT;
	bool ok = false;

	if (!hook_process_run(hooks, &hook, input, cancel, &process, &why))
		return err_set(err, why.code, "The command \"%.200s\" does not run: %s", command,
		               why.message);
	if (process.cancelled)
		err_set(err, ERR_CANCELLED, "The command \"%.200s\" was ended.", command);
	else if (process.timed_out)
		err_set(err, ERR_COMMAND_STOPPED, "The command \"%.200s\" was ended: it took "
		        "longer than %u ms.", command, timeout_ms);
	else if (process.exit_code)
		err_set(err, ERR_TOOL_FAILED, "The command \"%.200s\" ended with exit code %d.",
		        command, process.exit_code);
	else
		ok = true;
	buf_span(out, span_head(buf_view(&process.out), out->max - out->len));
	hook_process_release(&process);
	return ok;
}
