/* SPDX-License-Identifier: Apache-2.0 */
#include "base/child.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"

void child_attributes(posix_spawnattr_t *ret, short flags)
{
	sigset_t set;

	posix_spawnattr_init(ret);
	sigfillset(&set);
	sigdelset(&set, SIGKILL);
	sigdelset(&set, SIGSTOP);
	posix_spawnattr_setsigdefault(ret, &set);
	sigemptyset(&set);
	posix_spawnattr_setsigmask(ret, &set);
	posix_spawnattr_setflags(ret, (short)(POSIX_SPAWN_SETSIGDEF | flags));
}

int child_input(const char *name, struct span bytes)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (fd_write_all(fd, bytes.data, bytes.len) && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	close(fd);
	return -1;
}
