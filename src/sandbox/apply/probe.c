/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine allows: tried in a child, and why a level cannot be had. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/span.h"
#include "sandbox/apply/cgroup.h"
#include "sandbox/apply/landlock.h"
#include "sandbox/apply/probe.h"

/* ---- what the parts share ---- */

/* How far the trial came. */
enum trial_step {
	TRIAL_FORK,       /* no child at all */
	TRIAL_NAMESPACES, /* the namespaces */
	TRIAL_MAP,        /* the user's own id in the user namespace */
	TRIAL_PRIVATE,    /* mounts of one's own */
	TRIAL_TREE,       /* a copy of the tree of mounts */
	TRIAL_READ_ONLY,  /* all read-only */
	TRIAL_TMPFS,      /* a new file system, put in a place */
	TRIAL_DONE,
};

struct trial {
	enum trial_step step; /* the one that failed, or DONE */
	int error;            /* errno of that */
	int proc_error;       /* 0: a new /proc can be made */
	int filter_error;     /* 0: a filter can be installed */
	int notify_error;     /* 0: with notifications */
};

/* ---- A child that does what spawn.h does, and reports how far it came ---- */

/* mount(2); its header and linux/mount.h disagree. */
enum { MS_PRIVATE_REC = (1 << 18) | (1 << 14) };

/* The child of a process with threads: system calls alone from here on. */

static bool write_id_map_text(const char *path, const char *text, size_t len)
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

struct probe_ids {
	unsigned user, group; /* as they were outside */
};

static bool map_ids(const struct probe_ids *ids)
{
	char line[32];
	size_t len = map_line(ids->user, line);

	/* The files of a process that is not dumpable are root's: hasp is not, where it holds
	 * secrets.  This child is, for as long as it lives. */
	if (!write_id_map_text("/proc/self/uid_map", line, len) &&
	    (errno != EACCES || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0 ||
	     !write_id_map_text("/proc/self/uid_map", line, len)))
		return false;
	return write_id_map_text("/proc/self/setgroups", "deny", 4) &&
	       write_id_map_text("/proc/self/gid_map", line, map_line(ids->group, line));
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

static void trial_run_child(bool user_namespace, const struct probe_ids *ids, struct trial *trial)
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
static pid_t trial_clone(unsigned long flags)
{
	return (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
}

static bool attempt(unsigned long flags, bool user_namespace, struct trial *trial)
{
	const struct probe_ids ids = { geteuid(), getegid() };
	int ends[2];
	sigset_t all, before;
	pid_t pid;
	bool complete;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = trial_clone(flags);
	if (pid == 0) {
		trial_run_child(user_namespace, &ids, trial);
		_exit(write(ends[1], trial, sizeof(*trial)) == sizeof(*trial) ? 0 : 1);
	}
	trial->error = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	complete = pid > 0 && fd_read_full(ends[0], trial, sizeof(*trial)) == sizeof(*trial);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	return complete;
}

static const unsigned long trial_namespaces =
	CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC;

/* In a child, which has ended when this returns. */
static void trial_run(bool user_namespace, struct trial *ret)
{
	struct trial plain = { .step = TRIAL_FORK, .filter_error = EPERM, .notify_error = EPERM };

	*ret = (struct trial){ .step = TRIAL_NAMESPACES, .proc_error = EPERM };
	if (attempt(trial_namespaces | (user_namespace ? CLONE_NEWUSER : 0), user_namespace, ret))
		return;
	/* Filters do not depend on namespaces: a child without namespaces fails at the map, and
	 * still tries the filters. */
	if (attempt(0, true, &plain)) {
		ret->filter_error = plain.filter_error;
		ret->notify_error = plain.notify_error;
	}
}

/* "the namespaces", ... */
static const char *trial_step_name(enum trial_step step)
{
	static const char *const names[] = {
		[TRIAL_FORK] = "a process",
		[TRIAL_NAMESPACES] = "its own namespaces",
		[TRIAL_MAP] = "the user's id in a user namespace",
		[TRIAL_PRIVATE] = "its own mounts",
		[TRIAL_TREE] = "a copy of the tree of mounts",
		[TRIAL_READ_ONLY] = "mounts that are read-only",
		[TRIAL_TMPFS] = "a new file system",
		[TRIAL_DONE] = "nothing",
	};

	return (unsigned)step <= TRIAL_DONE ? names[step] : "something";
}

/* ---- why a level cannot be had, and what a person can do about it ---- */

/* A table: the first row that fits speaks. */

#define MAX_USER_NAMESPACES "/proc/sys/user/max_user_namespaces"
#define USERNS_CLONE "/proc/sys/kernel/unprivileged_userns_clone"
#define APPARMOR_USERNS "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
#define PTRACE_SCOPE "/proc/sys/kernel/yama/ptrace_scope"

/* The number in a file of the kernel's; `otherwise` if there is none. */
static long number_in(const char *path, long otherwise)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[32], *end;
	long number;

	if (!fd_read_text(fd, text, sizeof(text)))
		return otherwise;
	number = strtol(text, &end, 10);
	return end == text ? otherwise : number;
}

static bool namespaces_are_off(const struct trial *trial)
{
	(void)trial;
	return number_in(MAX_USER_NAMESPACES, 1) == 0;
}

static bool clone_is_off(const struct trial *trial)
{
	(void)trial;
	return geteuid() != 0 && number_in(USERNS_CLONE, 1) == 0;
}

static bool apparmor_restricts(const struct trial *trial)
{
	(void)trial;
	return geteuid() != 0 && number_in(APPARMOR_USERNS, 0) == 1;
}

static bool in_docker(const struct trial *trial)
{
	(void)trial;
	return access("/.dockerenv", F_OK) == 0;
}

static bool in_podman(const struct trial *trial)
{
	(void)trial;
	return access("/run/.containerenv", F_OK) == 0;
}

static bool in_kubernetes(const struct trial *trial)
{
	(void)trial;
	return getenv("KUBERNETES_SERVICE_HOST") != NULL;
}

static bool in_wsl1(const struct trial *trial)
{
	/* WSL 2 has a real kernel, and interop files of another name. */
	return trial->step == TRIAL_NAMESPACES && trial->error == EINVAL &&
	       access("/proc/sys/fs/binfmt_misc/WSLInterop", F_OK) == 0;
}

static bool no_such_call(const struct trial *trial)
{
	return trial->error == ENOSYS && trial->step > TRIAL_NAMESPACES;
}

static bool not_built_in(const struct trial *trial)
{
	return trial->step == TRIAL_NAMESPACES &&
	       (trial->error == EINVAL || trial->error == ENOSYS);
}

static bool namespaces_used_up(const struct trial *trial)
{
	return trial->step == TRIAL_NAMESPACES && trial->error == ENOSPC;
}

static bool no_more_processes(const struct trial *trial)
{
	return trial->error == EAGAIN || trial->error == ENOMEM;
}

/* A filter is in force that this process did not ask for. */
static bool is_confined(const struct trial *trial)
{
	_cleanup_fd_ int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	char text[4096];

	(void)trial;
	return fd_read_text(fd, text, sizeof(text)) && strstr(text, "\nSeccomp:\t2") != NULL;
}

static bool changed_root(const struct trial *trial)
{
	return trial->step <= TRIAL_MAP && trial->error == EPERM && geteuid() == 0;
}

static bool always(const struct trial *trial)
{
	(void)trial;
	return true;
}

struct reason {
	bool (*fits)(const struct trial *trial);
	const char *why;    /* a sentence without its end */
	const char *remedy; /* a command; %s: this program's path */
};

static const struct reason not_full[] = {
	{ namespaces_are_off, "user namespaces are switched off (user.max_user_namespaces is 0)",
	  "sudo sysctl -w user.max_user_namespaces=15000" },
	{ clone_is_off,
	  "user namespaces are for root alone (kernel.unprivileged_userns_clone is 0)",
	  "sudo sysctl -w kernel.unprivileged_userns_clone=1" },
	{ apparmor_restricts,
	  "AppArmor keeps user namespaces from programs without a profile "
	  "(kernel.apparmor_restrict_unprivileged_userns is 1)",
	  "printf 'abi <abi/4.0>,\\nprofile hasp %s flags=(unconfined) { userns, }\\n' | "
	  "sudo tee /etc/apparmor.d/hasp && sudo apparmor_parser -r /etc/apparmor.d/hasp" },
	{ namespaces_used_up,
	  "there are as many user namespaces as may be, or they are nested too deep",
	  "sudo sysctl -w user.max_user_namespaces=15000" },
	{ in_docker, "the container's runtime forbids namespaces or mounts",
	  "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
	  "--security-opt systempaths=unconfined ..." },
	{ in_podman, "the container's runtime forbids namespaces or mounts",
	  "podman run --security-opt seccomp=unconfined --security-opt unmask=ALL ..." },
	{ in_kubernetes, "the pod's runtime forbids namespaces or mounts",
	  "in the pod's manifest: hostUsers: false, and securityContext: { procMount: Unmasked, "
	  "seccompProfile: { type: Unconfined } }" },
	{ in_wsl1, "this is WSL 1, which has no Linux kernel",
	  "wsl --set-version <distribution> 2" },
	{ not_built_in, "the kernel was built without these namespaces", "" },
	{ no_such_call, "the kernel is older than Linux 5.12, or a filter hides its mount calls",
	  "" },
	{ no_more_processes, "there is no memory, or no process more to be had", "" },
	{ is_confined, "this process is inside a sandbox already, which forbids nesting", "" },
	{ changed_root,
	  "a process in a changed root (chroot), or without its capabilities, gets no namespaces",
	  "" },
	{ always, "the kernel, or a security module, refuses it", "" },
};

static void format_reason(char *field, size_t size, const char *format, const char *what)
{
	const char *at = strstr(format, "%s");
	int before = (int)(at ? (size_t)(at - format) : strlen(format));

	snprintf(field, size, "%.*s%.200s%.200s", before, format, at ? what : "", at ? at + 2 : "");
}

/* For an AppArmor profile; a path with characters that would need quoting there is left general. */
static void own_program(char path[LIMIT_PATH_BYTES])
{
	ssize_t len = readlink("/proc/self/exe", path, LIMIT_PATH_BYTES - 1);

	path[len > 0 ? len : 0] = '\0';
	if (len <= 0 || len > 200 ||
	    path[strspn(path,
	                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-")])
		snprintf(path, LIMIT_PATH_BYTES, "/usr/bin/hasp");
}

/* Fill in why and remedy. */
static void reasons_not_full(const struct trial *trial, struct sandbox_probe *probe)
{
	char program[LIMIT_PATH_BYTES];

	own_program(program);
	for (size_t i = 0; i < ARRAY_LEN(not_full); i++) {
		if (!not_full[i].fits(trial))
			continue;
		snprintf(probe->why_not_full, sizeof(probe->why_not_full), "%s (%s: %s)",
		         not_full[i].why, trial_step_name(trial->step), strerror(trial->error));
		format_reason(probe->remedy, sizeof(probe->remedy), not_full[i].remedy, program);
		return;
	}
}

static const struct {
	int error; /* 0: any other */
	const char *why, *remedy;
} not_landlock[] = {
	{ ENOSYS, "this kernel has no Landlock (Linux 5.13 and later, CONFIG_SECURITY_LANDLOCK)",
	  "" },
	{ EOPNOTSUPP,
	  "Landlock is not switched on: the kernel was started without landlock in lsm=",
	  "sudo sed -i "
	  "'s/^GRUB_CMDLINE_LINUX=\"/&lsm=landlock,lockdown,yama,integrity,apparmor,bpf /' "
	  "/etc/default/grub && sudo update-grub && sudo reboot" },
	{ EPERM, "a filter of the container, or of the sandbox around, forbids Landlock", "" },
	{ 0, "the kernel refuses Landlock", "" },
};

static void reasons_not_landlock(int landlock_errno, struct sandbox_probe *probe)
{
	size_t i = 0;

	while (not_landlock[i].error && not_landlock[i].error != landlock_errno)
		i++;
	snprintf(probe->why_not_landlock, sizeof(probe->why_not_landlock), "%s",
	         not_landlock[i].why);
	snprintf(probe->remedy_landlock, sizeof(probe->remedy_landlock), "%s",
	         not_landlock[i].remedy);
}

/* Whether there are signs, cheap to check, that namespaces may not work: such as a filter that this
 * process did not install, as in containers. */
static bool reasons_doubt(void)
{
	const struct trial none = { .step = TRIAL_DONE };

	return namespaces_are_off(&none) || clone_is_off(&none) || apparmor_restricts(&none) ||
	       is_confined(&none);
}

/* kernel.yama.ptrace_scope forbids looking into other processes. */
static bool reasons_no_ptrace(void)
{
	return number_in(PTRACE_SCOPE, 0) >= 2;
}

/* What tests take away. */
struct simulation {
	bool any, no_userns, no_landlock, no_seccomp, no_notify, no_proc, no_cgroup;
	unsigned landlock_abi; /* 0: as it is */
};

static void simulate_word(struct simulation *simulation, struct span word)
{
	const struct {
		const char *word;
		bool *flag;
	} flags[] = {
		{ "no-userns", &simulation->no_userns },
		{ "no-landlock", &simulation->no_landlock },
		{ "no-seccomp", &simulation->no_seccomp },
		{ "no-notify", &simulation->no_notify },
		{ "no-proc", &simulation->no_proc },
		{ "no-cgroup", &simulation->no_cgroup },
	};

	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (span_eq(word, span_str(flags[i].word)))
			*flags[i].flag = simulation->any = true;
	if (span_starts(word, SPAN("landlock-abi="))) {
		char *end;
		long abi = strtol(span_skip(word, strlen("landlock-abi=")).data, &end, 10);

		if (end == word.data + word.len && abi >= 0 && abi <= 1000) {
			simulation->landlock_abi = (unsigned)abi;
			simulation->no_landlock |= abi == 0;
			simulation->any = true;
		}
	}
}

static struct simulation simulation_read(void)
{
	struct simulation simulation = { 0 };
	struct span rest = span_str(sandbox_simulation());

	while (rest.len) {
		const char *comma = memchr(rest.data, ',', rest.len);
		size_t len = comma ? (size_t)(comma - rest.data) : rest.len;

		simulate_word(&simulation, span_head(rest, len));
		rest = span_skip(rest, comma ? len + 1 : len);
	}
	return simulation;
}

static void note_landlock(const struct simulation *simulation, struct sandbox_probe *probe)
{
	int why;

	probe->landlock_abi = landlock_abi_here(&why);
	if (simulation->no_landlock) {
		probe->landlock_abi = 0;
		why = EOPNOTSUPP;
	}
	if (simulation->landlock_abi && simulation->landlock_abi < probe->landlock_abi)
		probe->landlock_abi = simulation->landlock_abi;
	if (probe->landlock_abi)
		probe->landlock_errata = landlock_errata_here();
	else
		reasons_not_landlock(why, probe);
}

static bool has_action(uint32_t action)
{
	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

static bool group_can_be_made(void)
{
	const struct sandbox_limits limits = {
		.memory_bytes = (uint64_t)1 << 40, .processes = 1024,
	};
	struct cgroup *group = cgroup_make(&limits);

	cgroup_free(group);
	return group != NULL;
}

static void note_trial(const struct simulation *simulation, struct sandbox_probe *probe)
{
	struct trial trial = { 0 };

	if (simulation->no_userns) {
		trial = (struct trial){ TRIAL_NAMESPACES, EPERM, EPERM, 0, 0 };
		snprintf(probe->why_not_full, sizeof(probe->why_not_full),
		         "user namespaces are taken away for a test (HASP_SANDBOX_SIMULATE)");
		snprintf(probe->remedy, sizeof(probe->remedy), "unset HASP_SANDBOX_SIMULATE");
	} else {
		trial_run(true, &trial);
		probe->user_namespaces = trial.step == TRIAL_DONE;
		if (!probe->user_namespaces && geteuid() == 0) {
			struct trial privileged;

			trial_run(false, &privileged);
			probe->privileged = privileged.step == TRIAL_DONE;
			if (probe->privileged)
				trial = privileged;
		}
		if (trial.step != TRIAL_DONE)
			reasons_not_full(&trial, probe);
	}
	probe->own_proc = trial.step == TRIAL_DONE && trial.proc_error == 0 && !simulation->no_proc;
	probe->seccomp = trial.filter_error == 0 && !simulation->no_seccomp;
	probe->seccomp_notify = probe->seccomp && trial.notify_error == 0 &&
	                        !simulation->no_notify && !reasons_no_ptrace();
}

static void note_filters(struct sandbox_probe *probe)
{
	const char *why = NULL, *remedy = "";

	if (!probe->seccomp) {
		why = "seccomp filters cannot be installed";
	} else if (!probe->seccomp_notify && reasons_no_ptrace()) {
		why = "the supervisor may not look into a command's memory "
		      "(kernel.yama.ptrace_scope is 2 or 3)";
		remedy = "sudo sysctl -w kernel.yama.ptrace_scope=1";
	} else if (!probe->seccomp_notify) {
		why = "the kernel has no seccomp notifications, or a supervisor listens already";
	}
	if (why && !probe->why_not_landlock[0]) {
		snprintf(probe->why_not_landlock, sizeof(probe->why_not_landlock), "%s", why);
		snprintf(probe->remedy_landlock, sizeof(probe->remedy_landlock), "%s", remedy);
	}
	if (why && !probe->why_not_full[0]) {
		snprintf(probe->why_not_full, sizeof(probe->why_not_full), "%s", why);
		snprintf(probe->remedy, sizeof(probe->remedy), "%s", remedy);
	}
}

static void choose_best(struct sandbox_probe *probe)
{
	bool namespaces = probe->user_namespaces || probe->privileged;

	probe->best = SANDBOX_PATHS;
	if (probe->landlock_abi && probe->seccomp_notify)
		probe->best = SANDBOX_LANDLOCK;
	if (namespaces && probe->seccomp_notify && (probe->own_proc || probe->landlock_abi))
		probe->best = SANDBOX_FULL;
	if (probe->best == SANDBOX_FULL)
		return;
	if (!probe->why_not_full[0])
		snprintf(probe->why_not_full, sizeof(probe->why_not_full),
		         "there is neither Landlock nor a /proc of one's own, so that other "
		         "processes could be looked into");
}

static void note_kernel(struct sandbox_probe *probe)
{
	struct utsname name;

	if (uname(&name) == 0)
		snprintf(probe->kernel, sizeof(probe->kernel), "%.64s", name.release);
}

static struct sandbox_probe full_result, quick_result;
static pthread_once_t full_once = PTHREAD_ONCE_INIT, quick_once = PTHREAD_ONCE_INIT;
static atomic_bool full_done;

static void find_out(void)
{
	const struct simulation simulation = simulation_read();
	struct sandbox_probe *probe = &full_result;

	note_kernel(probe);
	note_landlock(&simulation, probe);
	note_trial(&simulation, probe);
	note_filters(probe);
	probe->cgroups = !simulation.no_cgroup && group_can_be_made();
	choose_best(probe);
	atomic_store(&full_done, true);
}

const struct sandbox_probe *sandbox_probe(void)
{
	pthread_once(&full_once, find_out);
	return &full_result;
}

static void find_out_quickly(void)
{
	const struct simulation simulation = simulation_read();
	struct sandbox_probe *probe = &quick_result;

	note_kernel(probe);
	note_landlock(&simulation, probe);
	probe->user_namespaces = probe->own_proc = true;
	probe->seccomp = has_action(SECCOMP_RET_ERRNO);
	probe->seccomp_notify = has_action(SECCOMP_RET_USER_NOTIF) && !reasons_no_ptrace();
	choose_best(probe);
	/* Not what would be worth a mistake: then it is found out by trying. */
	if (simulation.any || probe->best != SANDBOX_FULL || !probe->landlock_abi ||
	    reasons_doubt())
		*probe = *sandbox_probe();
}

const struct sandbox_probe *sandbox_probe_quick(void)
{
	if (atomic_load(&full_done))
		return &full_result;
	pthread_once(&quick_once, find_out_quickly);
	return &quick_result;
}
