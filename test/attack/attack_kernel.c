/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on the kernel's surface: system calls that no command needs.
 *
 * The arguments of most are such that nothing happens, but that the kernel's answer shows whether
 * it looked at them: any other error than "not permitted" and "no such call".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "attack.h"

/* Numbers that older headers lack; the same on all architectures. */
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif

static const char nothing[] = "/nonexistent/file";
static uint64_t zeros[64];
static const struct timespec bad_time = { -1, -1 };

#define A(value) ((long)(uintptr_t)(value))

/* Alphabetical. What needs a capability can be seen to be let through by root alone. */
static const struct {
	const char *name;
	long call, arguments[6];
} calls[] = {
	{ "acct", SYS_acct, { A(nothing) } },
	{ "add_key", SYS_add_key, { A("user"), A("attack"), A("x"), 1, KEY_SPEC_PROCESS_KEYRING } },
	{ "bpf", SYS_bpf, { 0, A(zeros), 4 } },
	{ "chroot", SYS_chroot, { A("/") } },
	{ "clock_settime", SYS_clock_settime, { 0, A(&bad_time) } },
	{ "delete_module", SYS_delete_module, { A("attack"), O_NONBLOCK } },
	{ "fanotify_init", SYS_fanotify_init, { 0x200, O_RDONLY } },
	{ "finit_module", SYS_finit_module, { -1, A(""), 0 } },
	{ "fsconfig", SYS_fsconfig, { -1, 99, 0, 0, 0 } },
	{ "fsmount", SYS_fsmount, { -1, 0, 0 } },
	{ "fsopen", SYS_fsopen, { A("tmpfs"), 0 } },
	{ "fspick", SYS_fspick, { AT_FDCWD, A("/"), 0 } },
	{ "init_module", SYS_init_module, { 0, 0, A("") } },
#ifdef SYS_ioperm
	{ "ioperm", SYS_ioperm, { 0x80, 1, 1 } },
	{ "iopl", SYS_iopl, { 4 } },
#endif
	{ "io_uring_enter", SYS_io_uring_enter, { -1, 0, 0, 0, 0, 0 } },
	{ "io_uring_register", SYS_io_uring_register, { -1, 0, 0, 0 } },
	{ "io_uring_setup", SYS_io_uring_setup, { 1, A(zeros) } },
	{ "kcmp", SYS_kcmp, { 0, 0, 99, 0, 0 } },
	{ "kexec_file_load", SYS_kexec_file_load, { -1, -1, 0, 0, -1 } },
	{ "kexec_load", SYS_kexec_load, { 0, 99, 0, -1 } },
	{ "keyctl", SYS_keyctl, { KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1 } },
	{ "mount", SYS_mount, { A("none"), A(nothing), A("tmpfs"), 0, 0 } },
	{ "mount_setattr", SYS_mount_setattr, { AT_FDCWD, A(nothing), 0, A(zeros), 32 } },
	{ "move_mount", SYS_move_mount, { -1, A(nothing), -1, A(nothing), 0 } },
	{ "open_by_handle_at", SYS_open_by_handle_at, { AT_FDCWD, A(zeros), O_RDONLY } },
	{ "open_tree", SYS_open_tree, { AT_FDCWD, A("/"), 1 } },
	{ "open_tree_attr", SYS_open_tree_attr, { AT_FDCWD, A("/"), 0, A(zeros), 32 } },
	{ "perf_event_open", SYS_perf_event_open, { A(zeros), 0, -1, -1, 0 } },
	{ "personality", SYS_personality, { 0x0400000 } },
	{ "pidfd_getfd", SYS_pidfd_getfd, { -1, 0, 0 } },
	{ "pivot_root", SYS_pivot_root, { A(nothing), A(nothing) } },
	{ "process_madvise", SYS_process_madvise, { -1, 0, 0, 0, 0 } },
	{ "process_vm_readv", SYS_process_vm_readv, { 1, A(zeros), 1, A(zeros), 1, 99 } },
	{ "process_vm_writev", SYS_process_vm_writev, { 1, A(zeros), 1, A(zeros), 1, 99 } },
	{ "ptrace", SYS_ptrace, { 0, 0, 0, 0 } },
	{ "quotactl", SYS_quotactl, { 0x80000700, A(nothing), 0, 0 } },
	{ "reboot", SYS_reboot, { 0, 0, 0, 0 } },
	{ "request_key", SYS_request_key, { A("user"), A("attack"), 0, 0 } },
	{ "sethostname", SYS_sethostname, { A(zeros), -1 } },
	{ "setns", SYS_setns, { -1, 0 } },
	{ "settimeofday", SYS_settimeofday, { A(&bad_time), 0 } },
	{ "swapoff", SYS_swapoff, { A(nothing) } },
	{ "swapon", SYS_swapon, { A(nothing), 0 } },
	{ "syslog", SYS_syslog, { 10, 0, 0 } },
	{ "umount2", SYS_umount2, { A(nothing), 0 } },
	{ "unshare user", SYS_unshare, { CLONE_NEWUSER } },
	{ "unshare mount", SYS_unshare, { CLONE_NEWNS } },
	{ "unshare network", SYS_unshare, { CLONE_NEWNET } },
	{ "userfaultfd", SYS_userfaultfd, { 1 } },
};

static bool reached(const char *name, long result)
{
	int error = result < 0 ? errno : 0;

	printf("%s: %s\n", name, strerror(error));
	return error != EPERM && error != ENOSYS && error != EACCES;
}

/* In a child: some of these calls change the process that makes them. */
static bool make_call(char **name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const long *with = calls[i].arguments;
		int status = 0;
		pid_t pid;

		if (strcmp(calls[i].name, name[0]) != 0)
			continue;
		pid = fork();
		if (pid == 0)
			_exit(!reached(name[0], syscall(calls[i].call, with[0], with[1], with[2],
			                                with[3], with[4], with[5])));
		waitpid(pid, &status, 0);
		return WIFEXITED(status) && WEXITSTATUS(status) == 0;
	}
	exit(2);
}

static bool list_calls(char **arguments)
{
	(void)arguments;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		printf("%s\n", calls[i].name);
	return true;
}

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return done;
}

/* A user namespace of its own gives all capabilities, and with them mounts. */
static bool own_mounts(unsigned flags)
{
	char map[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare((int)flags) != 0)
		return refused("unshare");
	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", (unsigned)uid, (unsigned)uid);
	write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", (unsigned)gid, (unsigned)gid);
	return write_file("/proc/self/gid_map", map) || refused("gid_map");
}

static bool mount_over(char **path)
{
	return own_mounts(CLONE_NEWUSER | CLONE_NEWNS) &&
	       (mount("none", path[0], "tmpfs", 0, NULL) == 0 || refused("mount"));
}

/* By clone and by clone3, which have other filters. */
static bool clone_namespace(char **arguments)
{
	uint64_t clone3[11] = { CLONE_NEWUSER, 0, 0, 0, SIGCHLD };
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	(void)arguments;
	if (pid == 0)
		_exit(0);
	if (pid < 0)
		pid = syscall(435, clone3, sizeof(clone3));
	if (pid == 0)
		_exit(0);
	return pid > 0 || refused("clone, clone3");
}

static bool enter_namespace(char **arguments) /* pid, which */
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", arguments[0], arguments[1]);
	fd = open(path, O_RDONLY);
	return (fd >= 0 && setns(fd, 0) == 0) || refused(path);
}

/* Takes away what covers a hidden path. */
static bool uncover(char **path)
{
	bool any = umount2(path[0], MNT_DETACH) == 0;

	if (own_mounts(CLONE_NEWUSER | CLONE_NEWNS))
		any |= umount2(path[0], MNT_DETACH) == 0;
	return any || refused("umount2");
}

/* chroot into a folder and out of it again, in a user namespace: D2. */
static bool change_root(char **path)
{
	return own_mounts(CLONE_NEWUSER) && (chroot(path[0]) == 0 || refused("chroot"));
}

static bool type_into_terminal(char **arguments)
{
	(void)arguments;
	for (const char *at = "attack\n"; *at; at++) {
		/* The kernel looks at 32 bits of the number only. */
		if (ioctl(0, TIOCSTI, at) != 0 &&
		    syscall(SYS_ioctl, 0, 0xffff000000000000 | TIOCSTI, at) != 0)
			return refused("TIOCSTI");
	}
	return true;
}

static bool paste_into_console(char **arguments)
{
	char subcode = 3;

	(void)arguments;
	return reached("TIOCLINUX", ioctl(0, 0x541c, &subcode));
}

#ifdef __x86_64__
/* A filter kills by SIGSYS; where the machine has no such gate the instruction itself is a fault. */
static void no_gate(int number)
{
	static const char why[] = "int 0x80: Function not implemented\n";

	(void)number;
	(void)!write(STDOUT_FILENO, why, sizeof(why) - 1);
	_exit(1);
}
#endif

/* System calls by the numbers of other architectures: filters that forget them miss all. */
static bool old_call(char **arguments)
{
	(void)arguments;
#ifdef __x86_64__
	long result = 20; /* getpid */

	signal(SIGSEGV, no_gate);
	__asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
	return result > 0;
#else
	printf("only on x86-64\n");
	return false;
#endif
}

static bool x32_call(char **arguments)
{
	(void)arguments;
#ifdef __x86_64__
	return reached("x32 getpid", syscall(0x40000000 + SYS_getpid));
#else
	printf("only on x86-64\n");
	return false;
#endif
}

/* A line of /proc/self/status that is not as it should be. */
static bool status_differs(const char *name, const char *wanted)
{
	char line[256];
	FILE *file = fopen("/proc/self/status", "re");
	size_t len = strlen(name);

	while (file && fgets(line, sizeof(line), file)) {
		char *value = line + len + 1 + strspn(line + len + 1, " \t");

		if (strncmp(line, name, len) != 0 || line[len] != ':')
			continue;
		value[strcspn(value, "\n")] = '\0';
		fclose(file);
		printf("%s %s\n", name, value);
		return strcmp(value, wanted) != 0;
	}
	return true;
}

static bool has_capabilities(char **arguments)
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff", "CapAmb" };
	bool any = false;

	(void)arguments;
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		any |= status_differs(sets[i], "0000000000000000");
	return any;
}

static bool may_gain(char **arguments)
{
	(void)arguments;
	return status_differs("NoNewPrivs", "1");
}

static bool is_unfiltered(char **arguments)
{
	(void)arguments;
	return status_differs("Seccomp", "2");
}

/* Leaves the group that limits it. */
static bool leave_group(char **path)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	return write_file(path[0], pid) || refused("cgroup.procs");
}

const struct attack kernel_attacks[] = {
	{ "call", 1, make_call },
	{ "calls", 0, list_calls },
	{ "mount-over", 1, mount_over },
	{ "clone-namespace", 0, clone_namespace },
	{ "setns", 2, enter_namespace },
	{ "uncover", 1, uncover },
	{ "chroot", 1, change_root },
	{ "tiocsti", 0, type_into_terminal },
	{ "tioclinux", 0, paste_into_console },
	{ "ia32", 0, old_call },
	{ "x32", 0, x32_call },
	{ "capabilities", 0, has_capabilities },
	{ "new-privileges", 0, may_gain },
	{ "unfiltered", 0, is_unfiltered },
	{ "cgroup", 1, leave_group },
	{ NULL, 0, NULL },
};
