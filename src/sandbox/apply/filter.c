/* SPDX-License-Identifier: Apache-2.0 */
/* Installing the filters that were compiled with hasp. */
#include "sandbox/apply/filter.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/apply/filter_programs.h"

#ifndef SECCOMP_FILTER_FLAG_TSYNC_ESRCH
#define SECCOMP_FILTER_FLAG_TSYNC_ESRCH (1UL << 4)
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

static long set_filter(enum filter_name name, unsigned long flags)
{
	struct sock_fprog program;

	if ((unsigned)name >= FILTER_COUNT) {
		errno = EINVAL;
		return -1;
	}
	/* The kernel only reads the instructions. */
	program.filter = (struct sock_filter *)(uintptr_t)filter_programs[name].code;
	program.len = (unsigned short)filter_programs[name].count;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

bool filter_install(enum filter_name name)
{
	long done = set_filter(name, SECCOMP_FILTER_FLAG_TSYNC);

	if (done > 0) /* a thread that has a filter of its own */
		errno = ESRCH;
	return done == 0;
}

int filter_install_notify(enum filter_name name)
{
	/* Once the supervisor has begun with a call, only a deadly signal ends it: else a program
	 * with a timer would have its calls done twice, or never (Linux 5.19). */
	long fd = set_filter(name, SECCOMP_FILTER_FLAG_NEW_LISTENER |
	                           SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);

	if (fd < 0 && errno == EINVAL)
		fd = set_filter(name, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	return (int)fd;
}

size_t filter_size(enum filter_name name)
{
	return (unsigned)name < FILTER_COUNT ? filter_programs[name].count : 0;
}
