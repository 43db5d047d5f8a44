/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces are made by a process that is made in them, and outlive it: its parent opens them.
 *
 *     parent                            child
 *     clone                             puts loopback up, says how it went
 *     maps ids, opens both namespaces   waits
 *     closes the socket                 ends */
#include "sandbox/apply/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/apply/private.h"

/* ---- id maps (user_namespaces(7)) and capabilities (capabilities(7)) of children ---- */

/* The kernel takes a map of up to 340 lines, in one write of less than a page. */
enum { MAP_BYTES = 4096 };

static const char *const map_names[] = { "uid_map", "gid_map" };

static int write_proc_file(pid_t child, const char *name, const char *text)
{
	size_t len = strlen(text);
	char path[64];
	_cleanup_fd_ int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)child, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	return write(fd, text, len) == (ssize_t)len ? 0 : errno;
}

/* This process's own map ("inside outside count" a line), each id to itself: what has an id here
 * keeps it. NULL when it cannot be read. */
static char *identity_map(const char *name)
{
	_cleanup_free_ char *path = mem_printf("/proc/self/%s", name);
	_cleanup_buf_ struct buf text = BUF_INIT(MAP_BYTES);
	FILE *file = fopen(path, "re");
	unsigned long inside, outside, count;

	while (file && fscanf(file, "%lu %lu %lu", &inside, &outside, &count) == 3)
		buf_printf(&text, "%lu %lu %lu\n", inside, inside, count);
	if (file)
		fclose(file);
	return text.len && !text.overflowed ? buf_steal(&text) : NULL;
}

void sandbox_ids_prepare(struct ids *ret)
{
	const unsigned own[] = { geteuid(), getegid() };

	*ret = (struct ids){ 0 };
	for (size_t i = 0; i < ARRAY_LEN(map_names); i++) {
		ret->own[i] = mem_printf("%u %u 1\n", own[i], own[i]);
		/* Only who may set any id may map any. */
		if (geteuid() == 0)
			ret->all[i] = identity_map(map_names[i]);
	}
}

void sandbox_ids_release(struct ids *ids)
{
	for (size_t i = 0; i < ARRAY_LEN(map_names); i++) {
		free(ids->all[i]);
		free(ids->own[i]);
	}
	*ids = (struct ids){ 0 };
}

static int write_id_map(const struct ids *ids, size_t which, pid_t child)
{
	const char *name = map_names[which];

	if (ids->all[which] && write_proc_file(child, name, ids->all[which]) == 0)
		return 0;
	return write_proc_file(child, name, ids->own[which]);
}

int sandbox_ids_map(const struct ids *ids, pid_t child)
{
	int error = write_id_map(ids, 0, child);

	if (error == 0)
		error = write_proc_file(child, "setgroups", "deny");
	if (error == 0)
		error = write_id_map(ids, 1, child);
	return error;
}

uint64_t sandbox_caps_kept(const struct sandbox_plan *plan)
{
	if (plan->use != SANDBOX_USE_FILES || geteuid() != 0)
		return 0;
	return UINT64_C(1) << CAP_CHOWN | UINT64_C(1) << CAP_DAC_OVERRIDE |
	       UINT64_C(1) << CAP_FOWNER | UINT64_C(1) << CAP_FSETID;
}

static bool drop_bounding(uint64_t kept)
{
	for (unsigned long cap = 0; cap < 64; cap++) {
		if (kept >> cap & 1)
			continue;
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		/* EINVAL: after the last one. EPERM: without CAP_SETPCAP; then there is nothing to
		 * gain from the set either, because of no_new_privs. */
		return errno == EINVAL || errno == EPERM;
	}
	return true;
}

int sandbox_caps_drop(uint64_t kept)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)kept, .permitted = (uint32_t)kept },
		{ .effective = (uint32_t)(kept >> 32), .permitted = (uint32_t)(kept >> 32) },
	};
	unsigned long bits = SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	/* Being root is worth nothing by itself. */
	if (!kept)
		bits |= SECBIT_NOROOT | SECBIT_NOROOT_LOCKED;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) != 0 && errno != EPERM)
		return errno;
	if (!drop_bounding(kept))
		return errno;
	return syscall(SYS_capset, &header, data) == 0 ? 0 : errno;
}

/* ---- memory of a child ---- */

#if defined(__SANITIZE_ADDRESS__)
#define COPY_MEMORY true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define COPY_MEMORY true
#endif
#endif
#ifndef COPY_MEMORY
#define COPY_MEMORY false
#endif

bool sandbox_copies_memory(void)
{
	return COPY_MEMORY || prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL) != 1;
}

/* ---- namespaces that commands share ---- */

enum { STACK_BYTES = 64 << 10 };

int network_loopback_up(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd, error = 0;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0) /* a kernel without IPv4 */
		return errno == EAFNOSUPPORT ? 0 : errno;
	if (ioctl(fd, SIOCSIFFLAGS, &lo) != 0)
		error = errno;
	close(fd);
	return error;
}

int network_join(const struct sandbox_network *network)
{
	/* First the owner: with its capabilities the network can be entered. */
	if (network->user >= 0 && setns(network->user, CLONE_NEWUSER) != 0)
		return errno;
	return setns(network->net, CLONE_NEWNET) == 0 ? 0 : errno;
}

/* What the child is given. */
struct birth {
	int socket, other_end;
	bool copied; /* it does not share its parent's memory */
};

/* System calls alone: it may share its parent's memory, as in private.h. */
static int network_child_main(void *data)
{
	const struct birth *birth = data;
	unsigned char error;

	close(birth->other_end);
	/* The files of a process that is not dumpable are root's, and its parent could not map
	 * it. */
	if (birth->copied)
		prctl(PR_SET_DUMPABLE, 1UL, 0UL, 0UL, 0UL);
	error = (unsigned char)network_loopback_up();
	if (write(birth->socket, &error, 1) == 1)
		while (read(birth->socket, &error, 1) < 0 && errno == EINTR)
			;
	_exit(0);
}

static int open_namespace(pid_t child, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)child, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* 0 or an errno. */
static int take_namespaces(pid_t child, int socket, bool user, struct sandbox_network *ret)
{
	struct ids ids;
	unsigned char error;

	if (fd_read_full(socket, &error, 1) != 1)
		return EPIPE;
	if (error)
		return error;
	if (user) {
		sandbox_ids_prepare(&ids);
		error = (unsigned char)sandbox_ids_map(&ids, child);
		sandbox_ids_release(&ids);
		if (error)
			return error;
		ret->user = open_namespace(child, "user");
		if (ret->user < 0)
			return errno;
	}
	ret->net = open_namespace(child, "net");
	return ret->net < 0 ? errno : 0;
}

/* No signal to the parent when it ends: the parent may have a handler for it. */
static pid_t clone_network_child(struct birth *birth, char *stack, bool user)
{
	const int flags = CLONE_NEWNET | (user ? CLONE_NEWUSER : 0);
	pid_t pid;

	if (!birth->copied)
		return clone(network_child_main, stack + STACK_BYTES, flags | CLONE_VM, birth);
	pid = (pid_t)syscall(SYS_clone, (unsigned long)flags, NULL, NULL, NULL, NULL);
	if (pid == 0)
		network_child_main(birth);
	return pid;
}

/* 0 or an errno; the child has ended when this returns. */
static int make_namespaces(struct birth *birth, char *stack, bool user, struct sandbox_network *ret)
{
	sigset_t all, before;
	int error;
	pid_t pid;

	/* No handler of this process may run in the child. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = clone_network_child(birth, stack, user);
	error = pid < 0 ? errno : 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(birth->socket);
	if (!error)
		error = take_namespaces(pid, birth->other_end, user, ret);
	/* Another thread's child, which waits likewise, may have a copy of this end: closing it
	 * alone would not end the wait. */
	shutdown(birth->other_end, SHUT_RDWR);
	close(birth->other_end);
	while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	return error;
}

static bool set_network_refused(int error, struct err *err)
{
	err_set(err, ERR_DENIED_BY_SANDBOX, "The kernel refused a network namespace: %s.",
	        strerror(error));
	err->sys_errno = error;
	return false;
}

bool sandbox_network_make(const struct sandbox_plan *plan, struct sandbox_network *ret,
                          struct err *err)
{
	struct sandbox_network made = SANDBOX_NETWORK_INIT;
	_cleanup_free_ char *stack = mem_alloc(STACK_BYTES, 1);
	struct birth birth = { .copied = sandbox_copies_memory() };
	int pair[2], error;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return set_network_refused(errno, err);
	birth.other_end = pair[0];
	birth.socket = pair[1];
	error = make_namespaces(&birth, stack, plan->user_namespace, &made);
	if (error) {
		sandbox_network_release(&made);
		return set_network_refused(error, err);
	}
	*ret = made;
	return true;
}

void sandbox_network_release(struct sandbox_network *network)
{
	fd_cleanup_close(&network->net);
	fd_cleanup_close(&network->user);
	*network = (struct sandbox_network)SANDBOX_NETWORK_INIT;
}
