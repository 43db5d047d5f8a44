/* SPDX-License-Identifier: Apache-2.0 */
/* The process between this one and a hook's shell.
 *
 * It is a subreaper: whatever the hook starts stays beneath it, also what detaches itself (a second fork,
 * setsid), and so can be found and ended together (sandbox/apply/processes.h).  Where a control group can be had, the
 * shell is born in it and nothing leaves it.  The keeper ends when the shell does, with the shell's exit code;
 * what the hook then left in the background goes on elsewhere.
 *
 * It executes nothing, so it is a copy of this process, and in one with threads: system calls alone from
 * the fork on.  It keeps no descriptor, is not to be dumped, and takes no signals but SIGKILL and SIGSTOP.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hooks/hook.h"
#include "sandbox/apply/cgroup.h"

/* Where the kernel has no close_range: as many as any process here has. */
enum { DESCRIPTORS = 65536 };

static _Noreturn void fail(int said)
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

static _Noreturn void run_shell(const struct hook_start *start, int said)
{
	const char *const bash[] = { "bash", "-c", start->command, NULL };
	const char *const sh[] = { "sh", "-c", start->command, NULL };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	if (!put_files(start->files) || (start->cwd && chdir(start->cwd) < 0))
		fail(said);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvpe(bash[0], (char *const *)bash, start->environment);
	if (errno == ENOENT)
		execvpe(sh[0], (char *const *)sh, start->environment);
	fail(said);
}

static void close_all(void)
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

static _Noreturn void keep(const struct hook_start *start, int said)
{
	pid_t shell, got;
	int status = 0;

	/* Waiting for children must work, whatever this process does with them. */
	signal(SIGCHLD, SIG_DFL);
	if (setpgid(0, 0) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL) < 0)
		fail(said);
	shell = fork_into(start->door);
	if (shell < 0)
		fail(said);
	if (!shell)
		run_shell(start, said);
	prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);
	close_all();
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
		keep(start, said);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

int hook_keeper_start(const struct hook_start *start, pid_t *ret)
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
