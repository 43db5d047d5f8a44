/* SPDX-License-Identifier: Apache-2.0 */
/* Why a level cannot be had, and what a person can do about it: a table, the first row that fits
 * speaks. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/apply/probe_private.h"

#define MAX_USER_NAMESPACES "/proc/sys/user/max_user_namespaces"
#define USERNS_CLONE "/proc/sys/kernel/unprivileged_userns_clone"
#define APPARMOR_USERNS "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
#define PTRACE_SCOPE "/proc/sys/kernel/yama/ptrace_scope"

/* The number in a file of the kernel's; `otherwise` if there is none. */
static long number_in(const char *path, long otherwise)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[32] = "", *end;
	ssize_t len = fd < 0 ? -1 : fd_read_full(fd, text, sizeof(text) - 1);
	long number;

	if (len <= 0)
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

static bool limit_reached(const struct trial *trial)
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
	char text[4096] = "";

	(void)trial;
	return fd >= 0 && fd_read_full(fd, text, sizeof(text) - 1) > 0 &&
	       strstr(text, "\nSeccomp:\t2") != NULL;
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
	{ limit_reached, "there are as many user namespaces as may be, or they are nested too deep",
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
	{ is_confined, "this process is inside a sandbox already, which forbids another one", "" },
	{ changed_root,
	  "a process in a changed root (chroot), or without its capabilities, gets no namespaces",
	  "" },
	{ always, "the kernel, or a security module, refuses it", "" },
};

static void say(char *field, size_t size, const char *format, const char *what)
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

void reasons_not_full(const struct trial *trial, struct sandbox_probe *probe)
{
	char program[LIMIT_PATH_BYTES];

	own_program(program);
	for (size_t i = 0; i < ARRAY_LEN(not_full); i++) {
		if (!not_full[i].fits(trial))
			continue;
		snprintf(probe->why_not_full, sizeof(probe->why_not_full), "%s (%s: %s)",
		         not_full[i].why, trial_step_name(trial->step), strerror(trial->error));
		say(probe->remedy, sizeof(probe->remedy), not_full[i].remedy, program);
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

void reasons_not_landlock(int landlock_errno, struct sandbox_probe *probe)
{
	size_t i = 0;

	while (not_landlock[i].error && not_landlock[i].error != landlock_errno)
		i++;
	snprintf(probe->why_not_landlock, sizeof(probe->why_not_landlock), "%s",
	         not_landlock[i].why);
	snprintf(probe->remedy_landlock, sizeof(probe->remedy_landlock), "%s",
	         not_landlock[i].remedy);
}

bool reasons_doubt(void)
{
	const struct trial none = { .step = TRIAL_DONE };

	return namespaces_are_off(&none) || clone_is_off(&none) || apparmor_restricts(&none) ||
	       is_confined(&none);
}

bool reasons_no_ptrace(void)
{
	return number_in(PTRACE_SCOPE, 0) >= 2;
}
