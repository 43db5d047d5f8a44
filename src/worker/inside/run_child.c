/* SPDX-License-Identifier: Apache-2.0 */
/* Between fork and execve only system calls are made: the process has other threads. */
#include "worker/inside/run_child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/span.h"
#include "sandbox/apply/inside.h"

/* Where the child failed: what the parent says about it. */
enum step { STEP_SESSION, STEP_DESCRIPTORS, STEP_FOLDER, STEP_CONFINE, STEP_EXECUTE };

static const char *const step_texts[] = {
	[STEP_SESSION] = "a session of its own",
	[STEP_DESCRIPTORS] = "its descriptors",
	[STEP_FOLDER] = "its working directory",
	[STEP_CONFINE] = "its confinement",
	[STEP_EXECUTE] = "its execution",
};

struct failure {
	enum step step;
	int sys_errno;
};

/* All that the child needs, made before the fork. */
struct launch {
	const struct run_child_request *request;
	char **programs; /* owned: paths to try, NULL-terminated */
	bool prepared;
	struct sandbox_command_entry entry; /* when prepared; has the limits too */
	int report[2]; /* parent's, child's end: failures, and the filter's descriptor */
};

/* ---- before the fork ------------------------------------------------------ */

static const char *path_of(const char *const *env)
{
	for (; *env; env++)
		if (strncmp(*env, "PATH=", 5) == 0)
			return *env + 5;
	return "/usr/local/bin:/usr/bin:/bin";
}

/* The name itself when it has a slash, else one candidate a folder of PATH. */
static char **candidates(const char *name, const char *const *env)
{
	const char *path = strchr(name, '/') ? NULL : path_of(env);
	char **list = NULL;
	size_t count = 0, cap = 0;

	list = mem_grow(list, &cap, 2, sizeof(*list));
	if (!path)
		list[count++] = mem_strdup(name);
	while (path) {
		const char *end = strchrnul(path, ':');

		/* An empty entry would be the working directory, which is the model's. */
		if (*path == '/') {
			list = mem_grow(list, &cap, count + 2, sizeof(*list));
			list[count++] = mem_printf("%.*s/%s", (int)(end - path), path, name);
		}
		path = *end ? end + 1 : NULL;
	}
	list[count] = NULL;
	return list;
}

static void launch_release(struct launch *launch)
{
	for (char **at = launch->programs; at && *at; at++)
		free(*at);
	free(launch->programs);
	if (launch->prepared)
		sandbox_command_release(&launch->entry);
	fd_cleanup_close(&launch->report[0]);
	fd_cleanup_close(&launch->report[1]);
}
#define _cleanup_launch_ __attribute__((cleanup(launch_release)))

static bool launch_prepare(struct launch *launch, struct err *err)
{
	const struct run_child_request *request = launch->request;

	if (request->plan) {
		if (!sandbox_command_prepare(request->plan, &launch->entry, err))
			return false;
		launch->prepared = true;
	}
	launch->programs = candidates(request->argv[0], request->env);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, launch->report) < 0)
		return err_set_errno(err, errno, "The command could not be started");
	return true;
}

/* ---- the child ------------------------------------------------------------ */

static _Noreturn void fail(const struct launch *launch, enum step step)
{
	struct failure failure = { step, errno };

	(void)!write(launch->report[1], &failure, sizeof(failure));
	_exit(127);
}

static void default_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In two steps, since a descriptor may be where another belongs. */
static bool take_descriptors(const struct run_child_request *request)
{
	int high[3];

	for (int i = 0; i < 3; i++) {
		high[i] = fcntl(request->stdio[i], F_DUPFD_CLOEXEC, 10);
		if (high[i] < 0)
			return false;
	}
	for (int i = 0; i < 3; i++)
		if (dup2(high[i], i) < 0)
			return false;
	if (request->terminal && ioctl(0, TIOCSCTTY, 0) < 0)
		return false;
	return syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) == 0 || errno == ENOSYS;
}

static void lower(int resource, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) == 0 && limit.rlim_cur > value) {
		limit.rlim_cur = value;
		setrlimit((__rlimit_resource_t)resource, &limit);
	}
}

/* Core files would hold what the command had in memory; more descriptors than select(2) can bear
 * a command may ask for itself. */
static void set_defaults(void)
{
	lower(RLIMIT_CORE, 0);
	lower(RLIMIT_NOFILE, FD_SETSIZE);
}

static _Noreturn void execute(const struct launch *launch)
{
	const struct run_child_request *request = launch->request;
	int worst = ENOENT;

	for (char **program = launch->programs; *program; program++) {
		int error;

		execve(*program, (char *const *)request->argv, (char *const *)request->env);
		error = errno;
		/* A folder of PATH that may not be searched is passed by. */
		if (error != ENOENT && error != ENOTDIR &&
		    (error != EACCES || access(*program, F_OK) == 0))
			worst = error;
	}
	errno = worst;
	fail(launch, STEP_EXECUTE);
}

static _Noreturn void be_child(struct launch *launch)
{
	const struct run_child_request *request = launch->request;

	/* Out of the way of 0, 1 and 2. */
	launch->report[1] = fcntl(launch->report[1], F_DUPFD_CLOEXEC, 20);
	default_signals();
	if (setsid() < 0)
		fail(launch, STEP_SESSION);
	if (fchdir(request->folder) < 0)
		fail(launch, STEP_FOLDER);
	if (!take_descriptors(request))
		fail(launch, STEP_DESCRIPTORS);
	set_defaults();
	if (launch->prepared && !sandbox_enter_command(&launch->entry, launch->report[1]))
		fail(launch, STEP_CONFINE);
	execute(launch);
}

/* ---- the parent ----------------------------------------------------------- */

/* One message of the child's: 1 with *ret_fd or *ret_failure, 0 when it executes. */
static bool receive(int socket, int *ret_fd, struct failure *ret_failure)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct failure failure = { 0 };
	struct iovec bytes = { &failure, sizeof(failure) };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control,
		                  .msg_controllen = sizeof(control) };
	const struct cmsghdr *header;
	ssize_t n;

	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(ret_fd, CMSG_DATA(header), sizeof(int));
	else if (n == sizeof(failure))
		*ret_failure = failure;
	return true;
}

static bool explain(const struct launch *launch, const struct failure *failure, struct err *err)
{
	const char *name = launch->request->argv[0];
	int error = failure->sys_errno;

	if (failure->step > STEP_EXECUTE)
		return err_set(err, ERR_INTERNAL, "The command's process misbehaved at its start.");
	if (failure->step == STEP_CONFINE)
		return err_set(err, ERR_DENIED_BY_SANDBOX,
		               "The command was not started: it could not be confined (%s).",
		               strerror(error));
	if (failure->step == STEP_EXECUTE && error == ENOENT)
		return err_set(err, ERR_FILE_NOT_FOUND, "There is no program \"%.200s\"%s.", name,
		               strchr(name, '/') ? "" : " in PATH");
	return err_set_errno(err, error, "\"%.200s\" could not be started (%s)", name,
	                     step_texts[failure->step]);
}

/* Until the program runs, or the child has failed. */
static bool attend(struct launch *launch, struct run_child *child, struct err *err)
{
	struct failure failure = { .sys_errno = 0 };
	int notify = -1;

	while (receive(launch->report[0], &notify, &failure)) {
		if (failure.sys_errno)
			return explain(launch, &failure, err);
		if (notify < 0 || child->supervisor) {
			fd_cleanup_close(&notify);
			return err_set(err, ERR_INTERNAL, "The command's process misbehaved at its start.");
		}
		if (!supervisor_start(launch->request->plan, fd_steal(&notify),
		                      launch->request->events, &child->supervisor, err))
			return false;
	}
	return true;
}

static void give_up(struct run_child *child)
{
	kill(child->pid, SIGKILL);
	supervisor_stop(child->supervisor);
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
	fd_cleanup_close(&child->pidfd);
}

bool run_child_start(const struct run_child_request *request, struct run_child *ret,
                     struct err *err)
{
	_cleanup_launch_ struct launch launch = { .request = request, .report = { -1, -1 } };
	struct run_child child = { .pidfd = -1 };
	sigset_t all, before;

	if (!launch_prepare(&launch, err))
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	child.pid = fork();
	if (child.pid == 0)
		be_child(&launch);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (child.pid < 0)
		return err_set(err, ERR_TOO_LARGE, "No process for the command: %s.",
		               strerror(errno));
	fd_cleanup_close(&launch.report[1]);
	launch.report[1] = -1;
	child.pidfd = (int)syscall(SYS_pidfd_open, child.pid, 0);
	if (child.pidfd < 0) {
		err_set_errno(err, errno, "The command could not be watched");
		give_up(&child);
		return false;
	}
	if (!attend(&launch, &child, err)) {
		give_up(&child);
		return false;
	}
	*ret = child;
	return true;
}
