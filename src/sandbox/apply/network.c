/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces are made by a process that is born into them, and outlive it: its parent opens them.
 *
 *     parent                            child
 *     clone                             puts loopback up, says how it went
 *     maps ids, opens both namespaces   waits
 *     closes the socket                 ends
 */
#include "sandbox/apply/network.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/apply/ids.h"
#include "sandbox/apply/spawn_child.h"

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
	bool copied; /* it has memory of its own */
};

/* System calls alone: it may share its parent's memory, as in spawn_child.h. */
static int live(void *data)
{
	const struct birth *birth = data;
	unsigned char error;

	close(birth->other_end);
	/* The files of a process that is not dumpable are root's, and its parent could not map it. */
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
static int take(pid_t child, int socket, bool user, struct sandbox_network *ret)
{
	struct ids ids;
	unsigned char error;

	if (fd_read_full(socket, &error, 1) != 1)
		return EPIPE;
	if (error)
		return error;
	if (user) {
		ids_prepare(&ids);
		error = (unsigned char)ids_map(&ids, child);
		ids_release(&ids);
		if (error)
			return error;
		ret->user = open_namespace(child, "user");
		if (ret->user < 0)
			return errno;
	}
	ret->net = open_namespace(child, "net");
	return ret->net < 0 ? errno : 0;
}

/* Without a signal to the parent, who may have a handler for it. */
static pid_t clone_child(struct birth *birth, char *stack, bool user)
{
	const int flags = CLONE_NEWNET | (user ? CLONE_NEWUSER : 0);
	pid_t pid;

	if (!birth->copied)
		return clone(live, stack + STACK_BYTES, flags | CLONE_VM, birth);
	pid = (pid_t)syscall(SYS_clone, (unsigned long)flags, NULL, NULL, NULL, NULL);
	if (pid == 0)
		live(birth);
	return pid;
}

/* 0 or an errno; afterwards the child is gone. */
static int make(struct birth *birth, char *stack, bool user, struct sandbox_network *ret)
{
	sigset_t all, before;
	int error;
	pid_t pid;

	/* No handler of this process may run in the child. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = clone_child(birth, stack, user);
	error = pid < 0 ? errno : 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(birth->socket);
	if (!error)
		error = take(pid, birth->other_end, user, ret);
	close(birth->other_end);
	while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	return error;
}

static bool refused(int error, struct err *err)
{
	err_set(err, ERR_DENIED_BY_SANDBOX, "A network of a session's own was refused: %s.",
	        strerror(error));
	err->sys_errno = error;
	return false;
}

bool sandbox_network_make(const struct sandbox_plan *plan, struct sandbox_network *ret,
                          struct err *err)
{
	struct sandbox_network made = SANDBOX_NETWORK_INIT;
	_cleanup_free_ char *stack = mem_alloc(STACK_BYTES, 1);
	struct birth birth = { .copied = spawn_copies_memory() };
	int pair[2], error;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return refused(errno, err);
	birth.other_end = pair[0];
	birth.socket = pair[1];
	error = make(&birth, stack, plan->user_namespace, &made);
	if (error) {
		sandbox_network_release(&made);
		return refused(error, err);
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
