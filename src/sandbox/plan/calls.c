/* SPDX-License-Identifier: Apache-2.0 */
/* Names and groups of system calls.
 *
 * Source: systemd's groups of the same names (systemd-analyze syscall-filter, version 257), without
 * the calls that no command can do without; @ptrace is hasp's. */
#include "sandbox/plan/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/span.h"
#include "data/schema.h"

enum { NAME_MAX_BYTES = 64 };

/* To add one: a row here, and in docs/sandbox.md (a test compares them). */
static const struct call_group {
	const char *name, *calls;
} groups[] = {
	{ "@aio", "io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit "
	          "io_uring_enter io_uring_register io_uring_setup" },
	{ "@chown", "chown fchown fchownat lchown" },
	{ "@clock", "adjtimex clock_adjtime clock_settime settimeofday" },
	{ "@cpu-emulation", "modify_ldt" },
	{ "@debug", "lookup_dcookie perf_event_open pidfd_getfd ptrace" },
	{ "@ipc", "memfd_create mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend "
	          "mq_unlink msgctl msgget msgrcv msgsnd process_madvise process_vm_readv "
	          "process_vm_writev semctl semget semop semtimedop shmat shmctl shmdt shmget" },
	{ "@keyring", "add_key keyctl request_key" },
	{ "@memlock", "mlock mlock2 mlockall munlock munlockall" },
	{ "@module", "delete_module finit_module init_module" },
	{ "@mount", "chroot fsconfig fsmount fsopen fspick mount mount_setattr move_mount "
	            "open_tree pivot_root umount2" },
	{ "@obsolete", "_sysctl afs_syscall create_module get_kernel_syms getpmsg putpmsg "
	               "query_module security sysfs tuxcall uselib ustat vserver" },
	{ "@pkey", "pkey_alloc pkey_free pkey_mprotect" },
	{ "@ptrace", "kcmp pidfd_getfd process_vm_readv process_vm_writev ptrace" },
	{ "@raw-io", "ioperm iopl" },
	{ "@reboot", "kexec_file_load kexec_load reboot" },
	{ "@resources", "ioprio_set mbind migrate_pages move_pages sched_setaffinity sched_setattr "
	                "sched_setparam sched_setscheduler set_mempolicy setpriority setrlimit" },
	{ "@sandbox", "landlock_add_rule landlock_create_ruleset landlock_restrict_self seccomp" },
	{ "@setuid", "setgid setgroups setregid setresgid setresuid setreuid setuid" },
	{ "@swap", "swapoff swapon" },
	{ "@sync", "fdatasync fsync msync sync sync_file_range syncfs" },
	{ "@timer", "alarm getitimer setitimer timer_create timer_delete timer_getoverrun "
	            "timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime "
	            "times" },
};

/* What hasp's own start of a command does behind the filter, and what every program does. */
static const char needed[] = " arch_prctl brk clone close execve exit exit_group fstat futex mmap "
			     "mprotect munmap newfstatat openat pread64 read restart_syscall "
			     "rt_sigaction rt_sigprocmask rt_sigreturn sendmsg set_robust_list "
			     "set_tid_address write ";

static const struct sandbox_call *find_call(const char *name)
{
	for (size_t i = 0; i < sandbox_call_count; i++)
		if (strcmp(sandbox_calls[i].name, name) == 0)
			return &sandbox_calls[i];
	return NULL;
}

int sandbox_call_number(const char *name)
{
	const struct sandbox_call *call = find_call(name);

	return call ? call->number : -1;
}

static const struct call_group *find_group(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		if (strcmp(groups[i].name, name) == 0)
			return &groups[i];
	return NULL;
}

static bool call_is_needed(const char *name)
{
	char word[NAME_MAX_BYTES + 3];

	snprintf(word, sizeof(word), " %s ", name);
	return strstr(needed, word);
}

/* ---- names that are none ---- */

static const char *nearest_name(const char *name)
{
	const size_t count = ARRAY_LEN(groups) + sandbox_call_count;
	_cleanup_free_ const char **names = mem_alloc(count, sizeof(*names));

	for (size_t i = 0; i < count; i++)
		names[i] = i < ARRAY_LEN(groups) ? groups[i].name :
		                                   sandbox_calls[i - ARRAY_LEN(groups)].name;
	return schema_nearest_name(name, names, count);
}

static bool call_is_unknown(const char *name, struct err *err)
{
	const bool sane = name[0] && strlen(name) <= NAME_MAX_BYTES &&
	                  strspn(name, "@_-abcdefghijklmnopqrstuvwxyz0123456789") == strlen(name);
	const char *nearest = sane ? nearest_name(name) : NULL;

	if (!sane)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A name there is not a system call or a group of them.");
	if (nearest)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "\"%s\" is neither a system call nor a group of them; did you "
		               "mean \"%s\"?", name, nearest);
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "\"%s\" is neither a system call nor a group of them.", name);
}

/* ---- lists ---- */

struct calls {
	char **names;
	size_t count, cap;
};

static void calls_add(struct calls *calls, const char *name)
{
	calls->names = mem_grow(calls->names, &calls->cap, calls->count + 2, sizeof(*calls->names));
	calls->names[calls->count++] = mem_strdup(name);
	calls->names[calls->count] = NULL;
}

static void calls_add_group(struct calls *calls, const char *list)
{
	while (*list) {
		const size_t len = strcspn(list, " ");
		_cleanup_free_ char *name = mem_dup(list, len);

		if (find_call(name))
			calls_add(calls, name);
		list += len + strspn(list + len, " ");
	}
}

static int names_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void calls_settle(struct calls *calls)
{
	size_t kept = 0;

	if (!calls->count)
		return;
	qsort(calls->names, calls->count, sizeof(*calls->names), names_compare);
	for (size_t i = 0; i < calls->count; i++) {
		if (kept && strcmp(calls->names[kept - 1], calls->names[i]) == 0)
			free(calls->names[i]);
		else
			calls->names[kept++] = calls->names[i];
	}
	calls->names[kept] = NULL;
	calls->count = kept;
}

bool sandbox_calls_expand(const char *const *names, size_t count, char ***ret, size_t *ret_count,
                          struct err *err)
{
	struct calls calls = { 0 };
	bool ok = true;

	for (size_t i = 0; ok && i < count; i++) {
		const struct call_group *group = find_group(names[i]);

		if (group)
			calls_add_group(&calls, group->calls);
		else if (!find_call(names[i]))
			ok = call_is_unknown(names[i], err);
		else if (call_is_needed(names[i]))
			ok = err_set(err, ERR_INVALID_ARGUMENT,
			             "\"%s\" cannot be forbidden: no command starts without it.",
			             names[i]);
		else
			calls_add(&calls, names[i]);
	}
	calls_settle(&calls);
	if (!ok) {
		sandbox_calls_free(calls.names);
		return false;
	}
	*ret = calls.names;
	*ret_count = calls.count;
	return true;
}

void sandbox_calls_free(char **calls)
{
	for (char **at = calls; at && *at; at++)
		free(*at);
	free(calls);
}
