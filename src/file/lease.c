/* SPDX-License-Identifier: Apache-2.0 */
#include "file/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

enum lease lease_take(int fd)
{
	/* First the signal: a break can come at once. */
	if (fcntl(fd, F_SETSIG, SIGURG) < 0)
		return LEASE_NONE;
	if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0)
		return LEASE_HELD;
	return errno == EAGAIN ? LEASE_BUSY : LEASE_NONE;
}

bool lease_kept(int fd)
{
	return fcntl(fd, F_GETLEASE) == F_RDLCK;
}

void lease_drop(int fd)
{
	fcntl(fd, F_SETLEASE, F_UNLCK);
}
