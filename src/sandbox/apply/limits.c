/* SPDX-License-Identifier: Apache-2.0 */
/* Counting the processes of a command and their memory, and what the kernel says of its group. */
#include "sandbox/apply/limits.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/apply/cgroup.h"
#include "sandbox/apply/descendants.h"

struct limits {
	struct sandbox_limits max;
	enum sandbox_level level;
	pid_t ancestor;     /* as /proc has it: all that is beneath it is the command's */
	struct cgroup_watch group;
	bool told;
};

struct limits *limits_new(const struct sandbox_plan *plan, pid_t main)
{
	struct limits *limits = mem_alloc(1, sizeof(*limits));

	limits->max = plan->limits;
	limits->level = plan->level;
	/* A worker of one command has no other children than the command's, and orphans come to it. */
	limits->ancestor = plan->use == SANDBOX_USE_COMMAND ? descendants_self() : main;
	cgroup_watch_init(&limits->group);
	return limits;
}

void limits_free(struct limits *limits)
{
	if (!limits)
		return;
	cgroup_watch_release(&limits->group);
	free(limits);
}

/* The number after "Name:" in a file of /proc/PID, in KiB there; 0 when it cannot be read. */
static uint64_t kib_of(pid_t pid, const char *file, const char *key)
{
	char path[64], text[2048], *at;
	_cleanup_fd_ int fd = -1;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : fd_read_full(fd, text, sizeof(text) - 1);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) << 10 : 0;
}

/* Pages that no file is behind: its own, and those it shares with what it was forked from. */
static uint64_t own_bytes(pid_t pid)
{
	char path[64], text[128];
	unsigned long resident, shared;
	_cleanup_fd_ int fd = -1;
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : fd_read_full(fd, text, sizeof(text) - 1);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	if (sscanf(text, "%*s %lu %lu", &resident, &shared) != 2 || shared > resident)
		return 0;
	return (uint64_t)(resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Its share of all it has; takes the kernel a look at every page. */
static uint64_t share_bytes(pid_t pid)
{
	uint64_t share = kib_of(pid, "smaps_rollup", "\nPss:") +
	                 kib_of(pid, "smaps_rollup", "\nSwapPss:");

	return share ? share : own_bytes(pid);
}

static uint64_t sum(const struct descendant *list, size_t count, uint64_t (*bytes)(pid_t pid))
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all += list[i].ended ? 0 : bytes(list[i].pid);
	return all;
}

static bool passed(enum sandbox_level level, struct denial *ret, const char *what,
                   unsigned long long most, const char *unit)
{
	*ret = (struct denial){
		.kind = DENIAL_LIMIT, .reason = SANDBOX_REASON_LIMIT, .level = level, .count = 1,
	};
	snprintf(ret->what, sizeof(ret->what), "%s: more than %llu%s", what, most, unit);
	return true;
}

static bool memory_passed(enum sandbox_level level, const struct sandbox_limits *max,
                          struct denial *ret)
{
	return passed(level, ret, "memory", (unsigned long long)max->memory_bytes >> 20, " MiB");
}

static bool processes_passed(enum sandbox_level level, const struct sandbox_limits *max,
                             struct denial *ret)
{
	return passed(level, ret, "processes", max->processes, "");
}

static bool group_passed(enum sandbox_level level, const struct sandbox_limits *max,
                         struct cgroup_events events, struct denial *ret)
{
	if (events.memory)
		return memory_passed(level, max, ret);
	return events.processes && processes_passed(level, max, ret);
}

static bool count(struct limits *limits, struct denial *ret)
{
	_cleanup_free_ struct descendant *list = NULL;
	size_t number = descendants_list(limits->ancestor, &list), alive = 0;

	for (size_t i = 0; i < number; i++)
		alive += !list[i].ended;
	if (limits->max.processes && alive > limits->max.processes)
		return processes_passed(limits->level, &limits->max, ret);
	/* What is shared is counted many times in the quick sum: only if that is too much, the slow one
	 * decides. */
	return limits->max.memory_bytes &&
	       sum(list, number, own_bytes) > limits->max.memory_bytes &&
	       sum(list, number, share_bytes) > limits->max.memory_bytes &&
	       memory_passed(limits->level, &limits->max, ret);
}

bool limits_look(struct limits *limits, struct denial *ret)
{
	if (limits->told || (!limits->max.memory_bytes && !limits->max.processes))
		return false;
	limits->told = group_passed(limits->level, &limits->max, cgroup_watch_look(&limits->group),
	                            ret) ||
	               count(limits, ret);
	return limits->told;
}

bool limits_explain(const struct sandbox_plan *plan, const struct sandbox_child *child,
                    struct denial *ret)
{
	struct cgroup_watch watch;
	bool explained;

	cgroup_watch_group(child->group, &watch);
	explained = group_passed(plan->level, &plan->limits, cgroup_watch_look(&watch), ret);
	cgroup_watch_release(&watch);
	return explained;
}
