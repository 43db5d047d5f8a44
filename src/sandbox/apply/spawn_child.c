/* SPDX-License-Identifier: Apache-2.0 */
/* The child of sandbox_spawn, from its first instruction to the program's. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/openat2.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "sandbox/apply/filter.h"
#include "sandbox/apply/landlock.h"
#include "sandbox/apply/private.h"
#include "sandbox/apply/spawn.h"
#include "sandbox/apply/steps.h"

/* What each step does. No memory is allocated and nothing of libc's state is used: other threads
 * of the parent may hold any lock. */

enum { OPTION_BYTES = 64, OPTIONS = 8 };

/* The place itself, never what a symlink on the way leads to. */
static int open_mount_place(const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

static bool set_attributes(int fd, unsigned flags, uint64_t set, uint64_t propagation)
{
	struct mount_attr attr = { .attr_set = set, .propagation = propagation };

	return mount_setattr(fd, fd >= 0 ? "" : "/", flags | (fd >= 0 ? AT_EMPTY_PATH : 0), &attr,
	                     sizeof(attr)) == 0;
}

static bool do_private(const struct step *step, int *slots)
{
	(void)step;
	(void)slots;
	return set_attributes(-1, AT_RECURSIVE, 0, MS_PRIVATE);
}

static bool do_take(const struct step *step, int *slots)
{
	int place = open_mount_place(step->path), tree;

	if (place < 0)
		return step->optional && (errno == ENOENT || errno == EACCES);
	tree = open_tree(place, "",
	                 AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	close(place);
	slots[step->slot] = tree;
	return tree >= 0;
}

/* "name" or "name=value" up to the next comma; false at the end. */
static bool set_option(int fs, const char **rest)
{
	char option[OPTION_BYTES];
	const char *end = strchrnul(*rest, ',');
	size_t len = (size_t)(end - *rest);
	char *value;

	if (len >= sizeof(option)) {
		errno = E2BIG;
		return false;
	}
	memcpy(option, *rest, len);
	option[len] = '\0';
	*rest = *end ? end + 1 : end;
	value = strchr(option, '=');
	if (!value)
		return fsconfig(fs, FSCONFIG_SET_FLAG, option, NULL, 0) == 0;
	*value = '\0';
	return fsconfig(fs, FSCONFIG_SET_STRING, option, value + 1, 0) == 0;
}

static int make_file_system(const struct step *step)
{
	int fs = fsopen(step->text, FSOPEN_CLOEXEC), made = -1;
	const char *rest = step->more;
	bool ok = fs >= 0;

	while (ok && *rest)
		ok = set_option(fs, &rest);
	ok = ok && fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0;
	if (ok)
		made = fsmount(fs, FSMOUNT_CLOEXEC, (unsigned)step->set);
	if (fs >= 0) {
		int error = errno;

		close(fs);
		errno = error;
	}
	return made;
}

static bool do_make(const struct step *step, int *slots)
{
	slots[step->slot] = make_file_system(step);
	return slots[step->slot] >= 0 || step->optional;
}

static bool do_part(const struct step *step, int *slots)
{
	slots[step->slot] = open_tree(slots[step->from], step->path,
	                              AT_SYMLINK_NOFOLLOW | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	return slots[step->slot] >= 0;
}

static bool do_folder(const struct step *step, int *slots)
{
	return mkdirat(slots[step->slot], step->path, step->mode) == 0 || errno == EEXIST;
}

static bool do_file(const struct step *step, int *slots)
{
	int fd = openat(slots[step->slot], step->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
	                step->mode);

	if (fd < 0)
		return errno == EEXIST;
	return close(fd) == 0;
}

static bool do_link(const struct step *step, int *slots)
{
	return symlinkat(step->text, slots[step->slot], step->path) == 0 || errno == EEXIST;
}

/* The folder `name` in `folder`, made if need be. What is there and no folder is removed. */
static int enter_sandbox(int folder, const char *name)
{
	enum { HOW = O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC };
	int fd = openat(folder, name, HOW);

	if (fd >= 0)
		return fd;
	if (errno != ENOENT && unlinkat(folder, name, 0) != 0)
		return -1;
	if (mkdirat(folder, name, 0755) != 0 && errno != EEXIST)
		return -1;
	return openat(folder, name, HOW);
}

static bool make_point(int folder, const char *name, bool is_folder)
{
	struct stat at;
	int fd;

	if (is_folder) {
		fd = enter_sandbox(folder, name);
	} else {
		if (fstatat(folder, name, &at, AT_SYMLINK_NOFOLLOW) == 0) {
			if (S_ISREG(at.st_mode))
				return true;
			if (unlinkat(folder, name, S_ISDIR(at.st_mode) ? AT_REMOVEDIR : 0) != 0)
				return false;
		}
		fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		            0600);
	}
	return fd >= 0 && close(fd) == 0;
}

static bool do_place(const struct step *step, int *slots)
{
	int folder = slots[step->slot], next;
	char name[256];
	const char *rest = step->path, *slash;
	bool ok = true;

	for (; ok && (slash = strchr(rest, '/')) != NULL; rest = slash + 1) {
		size_t len = (size_t)(slash - rest);

		if (len >= sizeof(name)) {
			errno = ENAMETOOLONG;
			return false;
		}
		memcpy(name, rest, len);
		name[len] = '\0';
		next = enter_sandbox(folder, name);
		if (folder != slots[step->slot])
			close(folder);
		folder = next;
		ok = next >= 0;
	}
	ok = ok && make_point(folder, rest, step->mode != 0);
	if (folder >= 0 && folder != slots[step->slot]) {
		int error = errno;

		close(folder);
		errno = error;
	}
	return ok;
}

static bool do_set(const struct step *step, int *slots)
{
	return set_attributes(slots[step->slot], AT_RECURSIVE, step->set, 0);
}

static bool do_set_all(const struct step *step, int *slots)
{
	(void)slots;
	return set_attributes(-1, AT_RECURSIVE, step->set, 0);
}

static bool do_put(const struct step *step, int *slots)
{
	int place = open_mount_place(step->path), error;
	bool ok = place >= 0 && move_mount(slots[step->slot], "", place, "",
	                                   MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;

	error = errno;
	if (place >= 0)
		close(place);
	close(slots[step->slot]);
	slots[step->slot] = -1;
	errno = error;
	return ok;
}

static bool (*const operations[STEP_OP_COUNT])(const struct step *step, int *slots) = {
	[STEP_PRIVATE] = do_private, [STEP_TAKE] = do_take,     [STEP_MAKE] = do_make,
	[STEP_PART] = do_part,       [STEP_FOLDER] = do_folder, [STEP_FILE] = do_file,
	[STEP_LINK] = do_link,       [STEP_PLACE] = do_place,   [STEP_SET] = do_set,
	[STEP_SET_ALL] = do_set_all, [STEP_PUT] = do_put,
};

/* Nothing is in its slot, because an optional step did not bring it. */
static bool is_moot(const struct step *step, const int *slots)
{
	return step->slot >= 0 && step->op != STEP_TAKE && step->op != STEP_MAKE &&
	       step->op != STEP_PART && slots[step->slot] < 0;
}

/* `slots`: room for steps->slots numbers. Returns 0, or the errno of the step *ret_failed. What was
 * mounted before stays: the child must end. */
static int mounts_run(const struct steps *steps, int *slots, size_t *ret_failed)
{
	for (int i = 0; i < steps->slots; i++)
		slots[i] = -1;
	for (size_t i = 0; i < steps->count; i++) {
		const struct step *step = &steps->steps[i];

		if (is_moot(step, slots) || operations[step->op](step, slots))
			continue;
		*ret_failed = i;
		return errno ? errno : EIO;
	}
	return 0;
}

/* ---- the child ---- */

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static bool task_is_confined(const struct spawn_task *task)
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
		sigaction(signal, &act, NULL); /* fails for KILL, STOP and two of the library's
		                                * own */
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

static void write_proc_number(const char *path, unsigned long number)
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

/* Both are nets beneath others (the seccomp filters, processes.h): no failure. */
static void bound_namespaces(const struct spawn_task *task)
{
	if (task->plan->user_namespace)
		write_proc_number("/proc/sys/user/max_user_namespaces", 0);
	if (task->pid_max)
		write_proc_number("/proc/sys/kernel/pid_max", task->pid_max);
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

static int take_folder(const struct spawn_task *task, size_t *ret_step)
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
	return task_is_confined(task) ? sandbox_caps_drop(task->caps) : 0;
}

static int do_privileges(const struct spawn_task *task, size_t *ret_step)
{
	(void)ret_step;
	return task_is_confined(task) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? errno : 0;
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
	return task_is_confined(task) && !filter_install(FILTER_BASE) ? errno : 0;
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
	[SPAWN_FOLDER] = take_folder,
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
