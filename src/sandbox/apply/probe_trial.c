/* SPDX-License-Identifier: Apache-2.0 */
/* A child that does what spawn.h does, and tells how far it came. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/apply/probe_private.h"

/* mount(2); its header and linux/mount.h disagree. */
enum { MS_PRIVATE_REC = (1 << 18) | (1 << 14) };

/* The child of a process with threads: system calls alone from here on. */

static bool write_text(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, len) == (ssize_t)len;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* "ID ID 1" without stdio; returns its length. */
static size_t map_line(unsigned id, char line[32])
{
	char digits[12];
	size_t n = 0, len = 0;

	do
		digits[n++] = (char)('0' + id % 10);
	while (id /= 10);
	for (int twice = 0; twice < 2; twice++) {
		for (size_t i = n; i > 0; i--)
			line[len++] = digits[i - 1];
		line[len++] = ' ';
	}
	line[len++] = '1';
	return len;
}

struct ids {
	unsigned user, group; /* as they were outside */
};

static bool map_ids(const struct ids *ids)
{
	char line[32];
	size_t len = map_line(ids->user, line);

	/* The files of a process that is not dumpable are root's: hasp is not, where it holds
	 * secrets.  This child is, for as long as it lives. */
	if (!write_text("/proc/self/uid_map", line, len) &&
	    (errno != EACCES || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0 ||
	     !write_text("/proc/self/uid_map", line, len)))
		return false;
	return write_text("/proc/self/setgroups", "deny", 4) &&
	       write_text("/proc/self/gid_map", line, map_line(ids->group, line));
}

static bool set_read_only(int fd, const char *path, unsigned flags)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };

	return syscall(SYS_mount_setattr, fd, path, flags | AT_RECURSIVE, &attr, sizeof(attr)) == 0;
}

/* A new file system, not put anywhere yet. */
static int new_filesystem(const char *type)
{
	int context = (int)syscall(SYS_fsopen, type, 1 /* FSOPEN_CLOEXEC */);
	int fd = -1, saved;

	if (context < 0)
		return -1;
	if (syscall(SYS_fsconfig, context, 6 /* FSCONFIG_CMD_CREATE */, NULL, NULL, 0) == 0)
		fd = (int)syscall(SYS_fsmount, context, 1 /* FSMOUNT_CLOEXEC */, 0);
	saved = errno;
	close(context);
	errno = saved;
	return fd;
}

static enum trial_step try_mounts(void)
{
	int tree, tmpfs;

	if (syscall(SYS_mount, NULL, "/", NULL, MS_PRIVATE_REC, NULL) != 0)
		return TRIAL_PRIVATE;
	tree = (int)syscall(SYS_open_tree, AT_FDCWD, "/",
	                    1 /* OPEN_TREE_CLONE */ | O_CLOEXEC | AT_RECURSIVE);
	if (tree < 0)
		return TRIAL_TREE;
	if (!set_read_only(tree, "", AT_EMPTY_PATH) || !set_read_only(AT_FDCWD, "/", 0))
		return TRIAL_READ_ONLY;
	tmpfs = new_filesystem("tmpfs");
	if (tmpfs < 0 || syscall(SYS_move_mount, tmpfs, "", AT_FDCWD, "/",
	                         4 /* MOVE_MOUNT_F_EMPTY_PATH */) != 0)
		return TRIAL_TMPFS;
	return TRIAL_DONE;
}

static int try_filter(unsigned flags)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };

	errno = 0;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) >= 0 ? 0 : errno;
}

static void child(bool user_namespace, const struct ids *ids, struct trial *trial)
{
	trial->step = TRIAL_MAP;
	if (!user_namespace || map_ids(ids)) {
		trial->step = try_mounts();
		trial->error = errno;
		trial->proc_error = new_filesystem("proc") >= 0 ? 0 : errno;
	} else {
		trial->error = errno;
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	trial->notify_error = try_filter(SECCOMP_FILTER_FLAG_NEW_LISTENER);
	trial->filter_error = try_filter(0);
}

/* Like fork, with flags, and without a signal to the parent, who may have a handler for it. */
static pid_t clone_child(unsigned long flags)
{
	return (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
}

static bool attempt(unsigned long flags, bool user_namespace, struct trial *trial)
{
	const struct ids ids = { geteuid(), getegid() };
	int ends[2];
	sigset_t all, before;
	pid_t pid;
	bool told;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = clone_child(flags);
	if (pid == 0) {
		child(user_namespace, &ids, trial);
		_exit(write(ends[1], trial, sizeof(*trial)) == sizeof(*trial) ? 0 : 1);
	}
	trial->error = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	told = pid > 0 && fd_read_full(ends[0], trial, sizeof(*trial)) == sizeof(*trial);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	return told;
}

static const unsigned long namespaces = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC;

void trial_run(bool user_namespace, struct trial *ret)
{
	struct trial plain = { .step = TRIAL_FORK, .filter_error = EPERM, .notify_error = EPERM };

	*ret = (struct trial){ .step = TRIAL_NAMESPACES, .proc_error = EPERM };
	if (attempt(namespaces | (user_namespace ? CLONE_NEWUSER : 0), user_namespace, ret))
		return;
	/* Filters are another matter than namespaces: a child without them fails at the map, and
	 * tries those. */
	if (attempt(0, true, &plain)) {
		ret->filter_error = plain.filter_error;
		ret->notify_error = plain.notify_error;
	}
}

const char *trial_step_name(enum trial_step step)
{
	static const char *const names[] = {
		[TRIAL_FORK] = "a process",
		[TRIAL_NAMESPACES] = "namespaces of its own",
		[TRIAL_MAP] = "the user's id in a user namespace",
		[TRIAL_PRIVATE] = "mounts of its own",
		[TRIAL_TREE] = "a copy of the tree of mounts",
		[TRIAL_READ_ONLY] = "mounts that are read-only",
		[TRIAL_TMPFS] = "a new file system",
		[TRIAL_DONE] = "nothing",
	};

	return (unsigned)step <= TRIAL_DONE ? names[step] : "something";
}
