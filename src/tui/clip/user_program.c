/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of the user's: where they are, and one run. */
#include "tui/clip/user_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

extern char **environ;

/* ---- where programs are ------------------------------------------------------ */

char *user_program_find(const char *name, const struct user_roots *roots)
{
	const char *path = getenv("PATH");

	while (path && *path) {
		const size_t len = strcspn(path, ":");
		_cleanup_free_ char *tried = mem_printf("%.*s/%s", (int)len, path, name);
		_cleanup_free_ char *found = path[0] == '/' && access(tried, X_OK) == 0 ?
		                                     realpath(tried, NULL) : NULL;
		bool inside = false;

		for (size_t i = 0; found && i < roots->count; i++)
			inside = inside || path_is_under(found, roots->at[i]) ||
			         path_is_under(tried, roots->at[i]);
		if (found && !inside)
			return mem_steal(&tried);
		path += len + (path[len] == ':');
	}
	return NULL;
}

/* ---- running one ------------------------------------------------------------- */

/* In a new session: a program that serves a selection stays when the terminal is closed. */
static int program_spawn(const char *path, char *const argv[], const int files[static 2],
                         pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t how;
	int failed;

	child_attributes(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, files[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, files[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	failed = posix_spawn(ret_pid, path, &actions, &how, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&how);
	return failed;
}

/* Waits for `fd`, or without one for a little; false: the time is up, or it was cancelled. */
static bool program_wait(int fd, uint64_t until, const struct cancel *cancel)
{
	const uint64_t now = clock_monotonic_ms();
	struct pollfd fds[2] = { { .fd = fd, .events = POLLIN },
		                 { .fd = cancel_fd(cancel), .events = POLLIN } };
	int wait = now < until ? (int)(until - now) : 0;

	poll(fds, 2, fd < 0 && wait > 10 ? 10 : wait);
	return !cancelled(cancel) && clock_monotonic_ms() < until;
}

/* All that it prints; false: it prints too much, or too slowly. */
static bool program_read(int fd, struct buf *out, uint64_t until, const struct cancel *cancel)
{
	char bytes[16 << 10];
	ssize_t n = 1;

	while (n > 0 && program_wait(fd, until, cancel)) {
		n = read(fd, bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0 && !buf_append(out, bytes, (size_t)n))
			return false;
	}
	return n == 0;
}

/* Whether it ended by itself, and well. */
static bool program_end(pid_t pid, bool well, uint64_t until, const struct cancel *cancel)
{
	_cleanup_fd_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int status = -1;
	pid_t got;

	while (well && (got = waitpid(pid, &status, WNOHANG)) != pid) {
		if (got < 0 && errno != EINTR)
			return false;
		well = program_wait(pidfd, until, cancel);
	}
	if (well)
		return WIFEXITED(status) && WEXITSTATUS(status) == 0;
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return false;
}

bool user_program_run(char *const argv[], struct span input, struct buf *out, unsigned timeout_ms,
                 const struct cancel *cancel)
{
	const uint64_t until = clock_monotonic_ms() + timeout_ms;
	_cleanup_fd_ int in = child_input("hasp-input", input), reading = -1, writing = -1;
	int ends[2] = { -1, -1 };
	pid_t pid;
	bool ok;

	if (in < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return false;
	reading = ends[0];
	writing = ends[1];
	if (!out) {
		close(writing);
		writing = open("/dev/null", O_WRONLY | O_CLOEXEC);
	}
	if (program_spawn(argv[0], argv, (int[]){ in, writing }, &pid) != 0)
		return false;
	close(fd_steal(&writing));
	ok = !out || program_read(reading, out, until, cancel);
	return program_end(pid, ok, until, cancel);
}
