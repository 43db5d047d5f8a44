/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of a command: what it started, and its own start. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/apply/inside.h"
#include "worker/inside/run.h"

/* ---- what it started ---- */

enum {
	STAT_BYTES = 1024,
	ENVIRONMENT_BYTES = 256 << 10,
	/* The longest waits for the environment of one process, while it is executed, and while it
	 * only runs and shows none. */
	EXECUTION_MS = 10000,
	RUNNING_MS = 100,
};

void run_tree_init(struct run_tree *tree, const struct sandbox_plan *plan)
{
	static _Atomic unsigned counter;
	bool own = plan && plan->use == SANDBOX_USE_COMMAND;

	*tree = (struct run_tree){ .kind = RUN_TREE_SHARED };
	if (own && plan->own_processes && getpid() == 1)
		tree->kind = RUN_TREE_NAMESPACE;
	else if (own && prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL) == 0)
		tree->kind = RUN_TREE_WORKER;
	snprintf(tree->mark, sizeof(tree->mark), "HASP_RUN=%d.%u", (int)getpid(),
	         atomic_fetch_add(&counter, 1) + 1);
}

/* ---- looking at /proc ---- */

static ssize_t read_of(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	_cleanup_fd_ int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = fd_read_full(fd, text, size - 1);
	if (n >= 0)
		text[n] = 0;
	return n;
}

/* proc(5), /proc/PID/stat: the name stands in parentheses and may hold anything. */
static bool read_process(pid_t pid, struct run_process *ret)
{
	char text[STAT_BYTES], state;
	const char *after;
	int parent, group, session;

	if (read_of(pid, "stat", text, sizeof(text)) <= 0)
		return false;
	after = strrchr(text, ')');
	if (!after || sscanf(after + 1, " %c %d %d %d", &state, &parent, &group, &session) != 4)
		return false;
	*ret = (struct run_process){ .pid = pid, .parent = parent, .group = group,
		                     .session = session, .ended = state == 'Z' || state == 'X' };
	return true;
}

/* Of a /proc that shows another PID namespace nothing can be learnt. */
static bool proc_is_ours(void)
{
	char own[16], shown[16] = "";

	snprintf(own, sizeof(own), "%d", (int)getpid());
	return readlink("/proc/self", shown, sizeof(shown) - 1) > 0 && strcmp(own, shown) == 0;
}

static size_t read_tree(struct run_process **ret)
{
	DIR *proc = proc_is_ours() ? opendir("/proc") : NULL;
	const struct dirent *entry;
	struct run_process *list = NULL;
	size_t count = 0, cap = 0;

	*ret = NULL;
	if (!proc)
		return 0;
	while ((entry = readdir(proc))) {
		struct run_process one;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !read_process((pid_t)strtol(entry->d_name, NULL, 10), &one))
			continue;
		list = mem_grow(list, &cap, count + 1, sizeof(*list));
		list[count++] = one;
	}
	closedir(proc);
	*ret = list;
	return count;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t one = ((const struct run_process *)a)->pid;
	pid_t other = ((const struct run_process *)b)->pid;

	return (one > other) - (one < other);
}

static struct run_process *find_process(struct run_process *list, size_t count, pid_t pid)
{
	const struct run_process key = { .pid = pid };

	return list ? bsearch(&key, list, count, sizeof(*list), compare_pids) : NULL;
}

/*
 * Between the moment when execve(2) has given a process its new memory and the one when all of its
 * arguments and environment are known there, /proc shows no environment, and the environment's end
 * (proc(5), /proc/PID/stat, field 51) is 0.  That takes milliseconds with a slow disk, and seconds
 * where many processes want the processors.  One that was executed while its environment was read
 * shows none either, but runs (field 3); what was really started without one mostly sleeps.  Only a
 * kernel thread has no memory (field 23).
 */
static int execution_ms(pid_t pid)
{
	unsigned long long memory = 0, environment_end = 1;
	char text[STAT_BYTES], state;
	const char *at;
	int field = 2;

	if (read_of(pid, "stat", text, sizeof(text)) <= 0)
		return 0;
	at = strrchr(text, ')');
	if (!at || sscanf(at + 1, " %c", &state) != 1)
		return 0;
	for (at = strchr(at, ' '); at && field < 51; at = strchr(at + 1, ' ')) {
		field++;
		if (field == 23)
			memory = strtoull(at + 1, NULL, 10);
		else if (field == 51)
			environment_end = strtoull(at + 1, NULL, 10);
	}
	if (!memory)
		return 0;
	if (!environment_end)
		return EXECUTION_MS;
	return state == 'R' || state == 'D' ? RUNNING_MS : 0;
}

/* The environment that it was executed with; of one that is just being executed the next. */
static ssize_t read_first_environment(pid_t pid, char *text, size_t size)
{
	ssize_t len = read_of(pid, "environ", text, size);

	for (int ms = 0; len == 0 && ms < execution_ms(pid); ms++) {
		usleep(1000);
		len = read_of(pid, "environ", text, size);
	}
	return len;
}

static bool has_mark(const struct run_tree *tree, pid_t pid)
{
	_cleanup_free_ char *text = mem_alloc(ENVIRONMENT_BYTES, 1);
	ssize_t len = read_first_environment(pid, text, ENVIRONMENT_BYTES);

	for (const char *at = text; len > 0 && at < text + len; at += strlen(at) + 1)
		if (strcmp(at, tree->mark) == 0)
			return true;
	return false;
}

static bool is_our_root(const struct run_tree *tree, const struct run_process *process)
{
	pid_t own = getpid();

	if (process->pid == own || process->pid == 1)
		return false;
	if (tree->kind == RUN_TREE_NAMESPACE)
		return true;
	if (tree->kind == RUN_TREE_WORKER)
		return process->parent == own;
	return process->pid == tree->main || process->session == tree->main ||
	       (!process->ended && has_mark(tree, process->pid));
}

/* Children of our processes are ours; this takes as many rounds as the tree has levels. */
static void spread(struct run_process *list, size_t count)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < count; i++) {
			const struct run_process *parent =
				list[i].ours ? NULL : find_process(list, count, list[i].parent);

			if (parent && parent->ours && list[i].pid != getpid())
				more = list[i].ours = true;
		}
	}
}

size_t run_tree_list(const struct run_tree *tree, struct run_process **ret)
{
	size_t count = read_tree(ret), kept = 0;
	struct run_process *list = *ret;

	if (!count)
		return 0;
	qsort(list, count, sizeof(*list), compare_pids);
	for (size_t i = 0; i < count; i++)
		list[i].ours = is_our_root(tree, &list[i]);
	spread(list, count);
	for (size_t i = 0; i < count; i++)
		if (list[i].ours && !list[i].ended)
			list[kept++] = list[i];
	return kept;
}

/* ---- reaping and killing ---- */

static void note_end(struct run_tree *tree, pid_t pid, int status, const struct rusage *used)
{
	uint64_t peak = (uint64_t)used->ru_maxrss * 1024;

	tree->cpu_ms += (uint64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000 +
	                (uint64_t)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1000;
	if (peak > tree->peak_bytes)
		tree->peak_bytes = peak;
	if (pid == tree->main) {
		tree->reaped = true;
		tree->status = status;
	}
}

static bool any_left(const struct run_tree *tree)
{
	struct run_process *list;
	size_t count = run_tree_list(tree, &list);

	free(list);
	return count > 0;
}

bool run_tree_reap(struct run_tree *tree)
{
	bool shared = tree->kind == RUN_TREE_SHARED;
	struct rusage used;
	int status;
	pid_t pid = 0;

	while (!shared || !tree->reaped) {
		pid = wait4(shared ? tree->main : -1, &status, WNOHANG | __WALL, &used);
		if (pid <= 0)
			break;
		note_end(tree, pid, status, &used);
	}
	if (!shared)
		return !(pid < 0 && errno == ECHILD);
	return !tree->reaped || any_left(tree);
}

void run_tree_kill(const struct run_tree *tree)
{
	struct run_process *list;
	size_t count;

	if (tree->kind == RUN_TREE_NAMESPACE) {
		kill(-1, SIGKILL);
		return;
	}
	if (!tree->reaped)
		kill(-tree->main, SIGKILL);
	count = run_tree_list(tree, &list);
	for (size_t i = 0; i < count; i++) {
		kill(list[i].pid, SIGKILL);
		if (list[i].group > 1 && list[i].group != getpgrp())
			kill(-list[i].group, SIGKILL);
	}
	free(list);
}

/* ---- the start ---- */

/* Where the child failed: what the parent says about it. */
enum step { STEP_SESSION, STEP_DESCRIPTORS, STEP_FOLDER, STEP_CONFINE, STEP_EXECUTE };

static const char *const step_texts[] = {
	[STEP_SESSION] = "its own session",
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

/* ---- before the fork ---- */

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

/* ---- the child ---- */

static _Noreturn void fail_child(const struct launch *launch, enum step step)
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

static void lower_soft_limit(int resource, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) == 0 && limit.rlim_cur > value) {
		limit.rlim_cur = value;
		setrlimit((__rlimit_resource_t)resource, &limit);
	}
}

/* Core files would hold what the command had in memory; more descriptors than select(2) can take
 * a command may ask for itself. */
static void set_defaults(void)
{
	lower_soft_limit(RLIMIT_CORE, 0);
	lower_soft_limit(RLIMIT_NOFILE, FD_SETSIZE);
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
	fail_child(launch, STEP_EXECUTE);
}

static _Noreturn void be_child(struct launch *launch)
{
	const struct run_child_request *request = launch->request;

	/* Out of the way of 0, 1 and 2. */
	launch->report[1] = fcntl(launch->report[1], F_DUPFD_CLOEXEC, 20);
	default_signals();
	if (setsid() < 0)
		fail_child(launch, STEP_SESSION);
	if (fchdir(request->folder) < 0)
		fail_child(launch, STEP_FOLDER);
	if (!take_descriptors(request))
		fail_child(launch, STEP_DESCRIPTORS);
	set_defaults();
	if (launch->prepared && !sandbox_enter_command(&launch->entry, launch->report[1]))
		fail_child(launch, STEP_CONFINE);
	execute(launch);
}

/* ---- the parent ---- */

/* One message of the child's: 1 with *ret_fd or *ret_failure, 0 when it executes. */
static bool receive_report(int socket, int *ret_fd, struct failure *ret_failure)
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

static bool set_start_error(const struct launch *launch, const struct failure *failure,
                            struct err *err)
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
static bool await_start(struct launch *launch, struct run_child *child, struct err *err)
{
	struct failure failure = { .sys_errno = 0 };
	int notify = -1;

	while (receive_report(launch->report[0], &notify, &failure)) {
		if (failure.sys_errno)
			return set_start_error(launch, &failure, err);
		if (notify < 0 || child->supervisor) {
			fd_cleanup_close(&notify);
			return err_set(err, ERR_INTERNAL,
			               "The command's process misbehaved at its start.");
		}
		if (!supervise_start(launch->request->plan, fd_steal(&notify),
		                     launch->request->events, &child->supervisor, err))
			return false;
	}
	return true;
}

static void give_up_child(struct run_child *child)
{
	kill(child->pid, SIGKILL);
	supervise_stop(child->supervisor);
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
		give_up_child(&child);
		return false;
	}
	if (!await_start(&launch, &child, err)) {
		give_up_child(&child);
		return false;
	}
	*ret = child;
	return true;
}
