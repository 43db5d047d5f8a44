/* SPDX-License-Identifier: Apache-2.0 */
/* What workers and commands give up after they were started. */
#include "sandbox/apply/inside.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/apply/cgroup.h"
#include "sandbox/apply/filter.h"
#include "sandbox/apply/landlock.h"
#include "sandbox/plan/calls.h"

/* ---- installing the filters that were compiled with hasp ---- */

#ifndef SECCOMP_FILTER_FLAG_TSYNC_ESRCH
#define SECCOMP_FILTER_FLAG_TSYNC_ESRCH (1UL << 4)
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

static long set_filter(const struct filter_program *own, unsigned long flags)
{
	/* The kernel only reads the instructions. */
	const struct sock_fprog program = { .filter = (struct sock_filter *)(uintptr_t)own->code,
		                            .len = (unsigned short)own->count };

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

bool filter_install(enum filter_name name)
{
	long done = set_filter(&filter_programs[name], SECCOMP_FILTER_FLAG_TSYNC);

	if (done > 0) /* a thread that has a different filter */
		errno = ESRCH;
	return done == 0;
}

static int program_install_notify(const struct filter_program *program)
{
	/* Once the supervisor has received a call, only a fatal signal interrupts it: otherwise a
	 * program with a timer would have its calls made twice, or never (Linux 5.19). */
	long fd = set_filter(program, SECCOMP_FILTER_FLAG_NEW_LISTENER |
	                              SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);

	if (fd < 0 && errno == EINVAL)
		fd = set_filter(program, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	return (int)fd;
}

size_t filter_size(enum filter_name name)
{
	return (unsigned)name < FILTER_COUNT ? filter_programs[name].count : 0;
}

/* ---- what is given up ---- */

static bool plan_confines(const struct sandbox_plan *plan)
{
	return plan && plan->level != SANDBOX_PATHS;
}

static bool set_step_refused(struct err *err, const char *what)
{
	int error = errno;

	err_set(err, ERR_DENIED_BY_SANDBOX, "%s was refused: %s.", what, strerror(error));
	err->sys_errno = error;
	return false;
}

/* Other processes of the same user may not read its memory or take its descriptors. */
static bool hide_memory(struct err *err)
{
	return prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL) == 0 ||
	       set_step_refused(err, "Not to be dumpable");
}

bool sandbox_harden_files(const struct sandbox_plan *plan, struct err *err)
{
	if (!hide_memory(err))
		return false;
	return !plan_confines(plan) || filter_install(FILTER_FILES) ||
	       set_step_refused(err, "The seccomp filter of file workers");
}

bool sandbox_confine_reader(const char *const *folders, struct err *err)
{
	bool opens;

	if (!hide_memory(err))
		return false;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0)
		return set_step_refused(err, "To take no privileges");
	/* The filter alone seals as well, so a kernel without Landlock is one without `folders`. */
	opens = landlock_enter_reading(folders) && folders;
	return filter_install(opens ? FILTER_READER : FILTER_READER_SEALED) ||
	       set_step_refused(err, "The seccomp filter of readers");
}

bool sandbox_harden_runner(const struct sandbox_plan *plan, struct err *err)
{
	if (!hide_memory(err))
		return false;
	/* Process 1 is one anyway. */
	if (plan && plan->level == SANDBOX_FULL && plan->own_processes)
		return true;
	return prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL) == 0 ||
	       set_step_refused(err, "To be a subreaper");
}

/* With neither a network namespace nor permission to use the machine's network, the supervisor does
 * what Landlock and namespaces would do. */
static enum filter_name filter_of(const struct sandbox_plan *plan)
{
	if (plan->level == SANDBOX_FULL && plan->own_processes && plan->network)
		return FILTER_COMMAND_NET;
	if (plan->level == SANDBOX_FULL && plan->own_processes && plan->own_network)
		return FILTER_COMMAND;
	return plan->network ? FILTER_COMMAND_LANDLOCK_NET : FILTER_COMMAND_LANDLOCK;
}

/* The filter with the plan's calls before it, each of which the supervisor refuses: jumps of BPF
 * are relative, and a foreign architecture does not get here (FILTER_BASE).  *ret is the caller's
 * to free; NULL: the plan has none. */
static bool filter_with_calls(const struct sandbox_plan *plan, struct sock_filter **ret,
                              size_t *ret_count, struct err *err)
{
	const struct filter_program *usual = &filter_programs[filter_of(plan)];
	struct sock_filter *code;
	size_t n = 0;

	*ret = NULL;
	if (!plan->syscall_count)
		return true;
	if (usual->count + 2 * plan->syscall_count + 1 > BPF_MAXINSNS)
		return err_set(err, ERR_TOO_LARGE, "hasp.sandbox.syscalls names too many calls.");
	code = mem_alloc(usual->count + 2 * plan->syscall_count + 1, sizeof(*code));
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                         offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < plan->syscall_count; i++) {
		const int number = sandbox_call_number(plan->syscalls[i]);

		if (number < 0) /* of another architecture */
			continue;
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		                                         (uint32_t)number, 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	}
	memcpy(code + n, usual->code, usual->count * sizeof(*code));
	*ret = code;
	*ret_count = n + usual->count;
	return true;
}

bool sandbox_command_prepare(const struct sandbox_plan *plan, struct sandbox_command_entry *ret,
                             struct err *err)
{
	struct sock_filter *filter = NULL;
	size_t count = 0;
	int ruleset = -1;

	if (plan_confines(plan) && !filter_with_calls(plan, &filter, &count, err))
		return false;
	if (plan_confines(plan) && !landlock_prepare(plan, LANDLOCK_LAYER_COMMAND, &ruleset, err)) {
		free(filter);
		return false;
	}
	*ret = (struct sandbox_command_entry){ .plan = plan, .ruleset = ruleset,
		                               .filter = filter, .filter_count = count };
	return true;
}

void sandbox_command_release(struct sandbox_command_entry *entry)
{
	fd_cleanup_close(&entry->ruleset);
	entry->ruleset = -1;
	free(entry->filter);
	entry->filter = NULL;
}

/* Never above what it is. */
static bool lower_hard_limit(int resource, rlim_t value)
{
	struct rlimit now;

	if (getrlimit((__rlimit_resource_t)resource, &now) != 0)
		return false;
	if (now.rlim_max > value)
		now.rlim_max = value;
	if (now.rlim_cur > now.rlim_max)
		now.rlim_cur = now.rlim_max;
	return setrlimit((__rlimit_resource_t)resource, &now) == 0;
}

static bool set_limits(const struct sandbox_plan *plan)
{
	const struct sandbox_limits *limits = &plan->limits;
	bool ok = lower_hard_limit(RLIMIT_CORE, 0);

	if (limits->file_bytes)
		ok = ok && lower_hard_limit(RLIMIT_FSIZE, limits->file_bytes);
	if (limits->open_files)
		ok = ok && lower_hard_limit(RLIMIT_NOFILE, limits->open_files);
	if (limits->cpu_seconds)
		ok = ok && lower_hard_limit(RLIMIT_CPU, limits->cpu_seconds);
	/* Counted by user and user namespace: elsewhere all of the user's processes would count. */
	if (limits->processes && plan->level == SANDBOX_FULL && plan->user_namespace)
		ok = ok && lower_hard_limit(RLIMIT_NPROC, cgroup_tasks(limits));
	return ok;
}

static bool send_descriptor(int socket, int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char byte = 0;
	struct iovec one = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &one, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t sent;

	memset(&control, 0, sizeof(control));
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
	do
		sent = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == 1;
}

bool sandbox_enter_command(const struct sandbox_command_entry *entry, int notify_socket)
{
	const struct sandbox_plan *plan = entry->plan;
	const struct filter_program own = { entry->filter, entry->filter_count };
	bool sent;
	int fd;

	if (!plan)
		return true;
	if (!set_limits(plan))
		return false;
	if (!plan_confines(plan))
		return true;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0 ||
	    !landlock_enter(entry->ruleset, plan->landlock_abi, LANDLOCK_LAYER_COMMAND))
		return false;
	fd = program_install_notify(entry->filter ? &own : &filter_programs[filter_of(plan)]);
	if (fd < 0)
		return false;
	sent = notify_socket < 0 || send_descriptor(notify_socket, fd);
	close(fd);
	return sent;
}
