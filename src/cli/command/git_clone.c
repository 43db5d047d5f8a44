/* SPDX-License-Identifier: Apache-2.0 */
/* Repositories of strangers, cloned by the program git. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "cli/command/private.h"

enum { GIT_SAID_MAX = 8 << 10 }; /* bytes that are kept of what git says */

static const char clone_name[] = "clone";

static bool git_begins(const char *text, const char *head)
{
	return strncmp(text, head, strlen(head)) == 0;
}

bool git_clone_means(const char *source)
{
	static const char *const heads[] = { "git@", "https://", "http://", "ssh://", "file://" };

	for (size_t i = 0; i < ARRAY_LEN(heads); i++)
		if (git_begins(source, heads[i]))
			return true;
	return false;
}

/* ---- what git is told ---------------------------------------------------------------- */

/* Variables that point git at another repository, or add settings, are left out: hasp may have been
 * started by a hook of git.  How the user reaches servers stays. */
static bool variable_stays(const char *variable)
{
	static const char *const kept[] = {
		"GIT_SSH", "GIT_SSL_", "GIT_PROXY_", "GIT_HTTP_", "GIT_EXEC_PATH=",
		"GIT_ASKPASS=", "GIT_CONFIG_GLOBAL=", "GIT_CONFIG_SYSTEM=", "GIT_CONFIG_NOSYSTEM=",
	};

	if (!git_begins(variable, "GIT_"))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		if (git_begins(variable, kept[i]))
			return true;
	return false;
}

/* The strings are borrowed; the caller frees the array. */
static const char **git_environment(bool from_here)
{
	static const char *const added[] = {
		"GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_SMUDGE=1",
	};
	const char **environment;
	size_t count = 0, to = 0;

	while (environ[count])
		count++;
	environment = mem_alloc(count + ARRAY_LEN(added) + 2, sizeof(*environment));
	for (size_t i = 0; i < count; i++)
		if (variable_stays(environ[i]))
			environment[to++] = environ[i];
	for (size_t i = 0; i < ARRAY_LEN(added); i++)
		environment[to++] = added[i];
	environment[to] = from_here ? "GIT_ALLOW_PROTOCOL=file" :
	                              "GIT_ALLOW_PROTOCOL=https:ssh";
	return environment;
}

/* ---- the program --------------------------------------------------------------------- */

/* What git writes to one file is no more than what may be installed of all. */
static _Noreturn void run_git(const char *const argv[], const char **environment,
                              const char *folder, int said)
{
	const struct rlimit most = { LIMIT_TREE_BYTES, LIMIT_TREE_BYTES };
	const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
	    dup2(nothing, STDOUT_FILENO) >= 0 && dup2(said, STDERR_FILENO) >= 0 &&
	    chdir(folder) == 0 && setrlimit(RLIMIT_FSIZE, &most) == 0) {
		signal(SIGPIPE, SIG_DFL);
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		execvpe("git", (char *const *)argv, (char *const *)environment);
	}
	_exit(errno == ENOENT ? 127 : 126);
}

/* What does not fit is lost: git never waits for hasp. */
static void git_said_keep(int fd, struct buf *said)
{
	char bytes[4096];
	ssize_t got;

	while ((got = read(fd, bytes, sizeof(bytes))) > 0)
		if (said->len < GIT_SAID_MAX)
			buf_append(said, bytes, (size_t)got);
}

/* Until git itself has ended: what it may have left in the background (ssh does that) keeps the
 * pipe open. */
static int git_end(pid_t pid, int fd, struct buf *said)
{
	_cleanup_fd_ int ended = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd fds[2] = { { .fd = ended, .events = POLLIN },
		                 { .fd = fd, .events = POLLIN } };
	int status = -1;

	while (ended >= 0 && !(fds[0].revents & POLLIN)) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		git_said_keep(fd, said);
		if (fds[1].revents & POLLHUP)
			fds[1].fd = -1;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	git_said_keep(fd, said);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

/* An interrupt is for git: then it fails, and hasp clears up. */
static int git_run(const char *const argv[], const char **environment, const char *folder,
                   struct buf *said)
{
	_cleanup_fd_ int from = -1, to = -1;
	sighandler_t interrupt, quit;
	int ends[2], code = 126;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return code;
	from = ends[0];
	to = ends[1];
	(void)fcntl(to, F_SETFL, 0);
	interrupt = signal(SIGINT, SIG_IGN);
	quit = signal(SIGQUIT, SIG_IGN);
	pid = fork();
	if (!pid)
		run_git(argv, environment, folder, to);
	close(fd_steal(&to));
	if (pid > 0)
		code = git_end(pid, from, said);
	signal(SIGINT, interrupt);
	signal(SIGQUIT, quit);
	return code;
}

/* ---- a clone ------------------------------------------------------------------------- */

static bool git_clone_failed(const char *source, int code, const struct buf *said,
                             struct err *err)
{
	_cleanup_free_ char *from = extension_line(span_str(source));
	_cleanup_free_ char *line = extension_line(span_trim(buf_view(said)));

	if (code == 127)
		return err_set(err, ERR_IO_ERROR, "The program git is not installed.");
	return err_set(err, ERR_IO_ERROR, "git cannot clone %.300s: %.600s", from,
	               *line ? line : "it does not say why.");
}

static bool clone_check(const char *source, const char *ref, struct err *err)
{
	if (git_begins(source, "http://"))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "What comes over http may be anybody's: use https.");
	if (!git_clone_means(source))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Repositories are cloned over https and ssh, and from file://.");
	if (ref && *ref == '-')
		return err_set(err, ERR_INVALID_ARGUMENT, "\"%.100s\" names no branch or tag.",
		               ref);
	return true;
}

static char *temporary_folder(struct err *err)
{
	const char *top = getenv("TMPDIR");
	char *path = path_join(top && top[0] == '/' ? top : "/tmp", "hasp-clone.XXXXXX");

	if (mkdtemp(path))
		return path;
	err_set_errno(err, errno, "Cannot make a folder %s", path);
	free(path);
	return NULL;
}

bool git_clone_make(const char *source, const char *ref, char **ret_folder, struct err *err)
{
	const char *argv[] = {
		"git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false",
		"-c", "core.protectHFS=true", "-c", "core.protectNTFS=true",
		"-c", "submodule.recurse=false", "-c", "http.lowSpeedLimit=1000",
		"-c", "http.lowSpeedTime=60", "clone", "--quiet", "--template=", "--depth=1",
		"--single-branch", "--no-tags", "--no-recurse-submodules",
		ref ? "--branch" : "--", ref ? ref : source, ref ? "--" : clone_name,
		ref ? source : NULL, ref ? clone_name : NULL, NULL,
	};
	_cleanup_buf_ struct buf said = BUF_INIT(GIT_SAID_MAX + 4096);
	_cleanup_free_ char *folder = NULL, *clone = NULL;
	_cleanup_free_ const char **environment = git_environment(git_begins(source, "file://"));
	int code;

	if (!clone_check(source, ref, err))
		return false;
	folder = temporary_folder(err);
	if (!folder)
		return false;
	clone = path_join(folder, clone_name);
	code = git_run(argv, environment, folder, &said);
	if (code != 0) {
		git_clone_remove(clone);
		return git_clone_failed(source, code, &said, err);
	}
	*ret_folder = mem_steal(&clone);
	return true;
}

void git_clone_remove(const char *folder)
{
	_cleanup_free_ char *top = folder ? path_folder(folder) : NULL;
	_cleanup_free_ char *above = top ? path_folder(top) : NULL;
	struct err ignored = ERR_INIT;

	if (top)
		tree_remove(above, strrchr(top, '/') + 1, &ignored);
}
