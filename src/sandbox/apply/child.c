/* SPDX-License-Identifier: Apache-2.0 */
/* Ending and waiting for what sandbox_spawn started. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/apply/cgroup.h"
#include "sandbox/apply/descendants.h"
#include "sandbox/apply/spawn.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

void sandbox_child_kill(const struct sandbox_child *child)
{
	if (child->pid == 0)
		return;
	/* Without a PID namespace: first what is beneath it, which it would leave behind. The number is
	 * its own until somebody waits for it. */
	if (child->whole_tree)
		descendants_kill(child->pid);
	syscall(SYS_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0);
	cgroup_kill(child->group);
}

/* As waitpid says it. */
static int status_of(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED)
		return (info->si_status & 0xff) << 8;
	return (info->si_status & 0x7f) | (info->si_code == CLD_DUMPED ? 0x80 : 0);
}

bool sandbox_child_wait(struct sandbox_child *child, int timeout_ms, int *ret_status)
{
	struct pollfd poll_fd = { .fd = child->pidfd, .events = POLLIN };
	siginfo_t info = { 0 };
	int done;

	if (child->pid == 0)
		return false;
	if (timeout_ms >= 0) {
		do
			done = poll(&poll_fd, 1, timeout_ms);
		while (done < 0 && errno == EINTR);
		if (done <= 0)
			return false;
	}
	do
		done = waitid((idtype_t)P_PIDFD, (id_t)child->pidfd, &info, WEXITED | __WALL);
	while (done < 0 && errno == EINTR);
	child->pid = 0;
	/* Somebody else may have waited for all children. */
	*ret_status = done == 0 ? status_of(&info) : 0;
	return true;
}

void sandbox_child_release(struct sandbox_child *child)
{
	int status;

	sandbox_child_kill(child);
	sandbox_child_wait(child, -1, &status);
	cgroup_free(child->group);
	child->group = NULL;
	fd_cleanup_close(&child->pidfd);
	child->pidfd = -1;
}
