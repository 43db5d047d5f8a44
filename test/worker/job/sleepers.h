/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of tests that are known by how long they sleep: "sleep 901.3". */
#ifndef TEST_JOB_SLEEPERS_H
#define TEST_JOB_SLEEPERS_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

/* Also those of PID namespaces inside this one; zombies are none. pgrep would be a process for each look. */
static inline int sleepers_count(const char *seconds)
{
	_cleanup_free_ char *wanted = mem_printf("sleep %s", seconds);
	const size_t name = strlen("sleep"), bytes = strlen(wanted) + 1;
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int count = 0;

	assert_non_null(proc);
	wanted[name] = '\0';
	while ((entry = readdir(proc)) != NULL) {
		char path[300], line[64];
		_cleanup_fd_ int fd = -1;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "%s/cmdline", entry->d_name);
		fd = openat(dirfd(proc), path, O_RDONLY | O_CLOEXEC);
		count += fd >= 0 && read(fd, line, sizeof(line)) == (ssize_t)bytes &&
		         memcmp(line, wanted, bytes) == 0;
	}
	closedir(proc);
	return count;
}

#endif
