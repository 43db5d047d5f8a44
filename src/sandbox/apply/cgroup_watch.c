/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel counted in this process's own groups: read only, so it works from inside, where
 * all of /sys is read-only. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/apply/cgroup.h"
#include "sandbox/apply/cgroup_place.h"

/* A group that cgroup_make made, not whatever hasp itself is in: its counters began with the command. */
static int open_in(const struct cgroup_places *places, const char *controller, const char *name)
{
	_cleanup_free_ char *folder = cgroup_place(places, controller), *path = NULL;
	const char *last = folder ? strrchr(folder, '/') : NULL;

	if (!last || strncmp(last, "/hasp-", 6) != 0)
		return -1;
	path = mem_printf("%s/%s", folder, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void cgroup_watch_init(struct cgroup_watch *ret)
{
	_cleanup_cgroup_places_ struct cgroup_places places = { 0 };

	cgroup_places_read(&places);
	ret->memory = open_in(&places, NULL, "memory.events");
	ret->processes = open_in(&places, NULL, "pids.events");
	if (ret->memory < 0)
		ret->memory = open_in(&places, "memory", "memory.oom_control");
	if (ret->processes < 0)
		ret->processes = open_in(&places, "pids", "pids.events");
}

/* The number after `key` in a file of "key number" lines; 0 if it is not there. */
static unsigned long counter(int fd, const char *key)
{
	char text[1024], *at;
	size_t len = strlen(key);
	ssize_t got = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	if (got <= 0)
		return 0;
	text[got] = '\0';
	for (at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
		if (strncmp(at, key, len) == 0 && at[len] == ' ')
			return strtoul(at + len, NULL, 10);
	}
	return 0;
}

struct cgroup_events cgroup_watch_look(const struct cgroup_watch *watch)
{
	return (struct cgroup_events){
		.memory = counter(watch->memory, "oom_kill") > 0,
		.processes = counter(watch->processes, "max") > 0,
	};
}

void cgroup_watch_release(struct cgroup_watch *watch)
{
	fd_cleanup_close(&watch->memory);
	fd_cleanup_close(&watch->processes);
	watch->memory = watch->processes = -1;
}
