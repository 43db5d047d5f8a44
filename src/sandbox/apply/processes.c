/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/PID/stat of all processes: pid (name) state parent group ..., proc_pid_stat(5). */
#include "sandbox/apply/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/apply/cgroup.h"

enum { STAT_BYTES = 512, KILL_ROUNDS = 2000, ROUND_MS = 1 };

struct process_seen {
	pid_t pid, parent, group;
	bool ended, stopped, ours;
};

struct all {
	struct process_seen *items; /* owned; sorted by pid */
	size_t count, cap;
};

static bool read_stat(int proc, const char *name, struct process_seen *ret)
{
	char path[300], text[STAT_BYTES], state;
	_cleanup_fd_ int fd = -1;
	const char *end;
	int parent, group;

	snprintf(path, sizeof(path), "%s/stat", name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (!fd_read_text(fd, text, sizeof(text)))
		return false;
	/* The name is the process's own choice and may hold anything, ")" too. */
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %c %d %d", &state, &parent, &group) != 3)
		return false;
	*ret = (struct process_seen){ .pid = (pid_t)strtol(name, NULL, 10),
	                              .parent = parent, .group = group,
	                              .ended = state == 'Z' || state == 'X',
	                              .stopped = state == 'T' };
	return true;
}

static int by_pid(const void *a, const void *b)
{
	pid_t left = ((const struct process_seen *)a)->pid;
	pid_t right = ((const struct process_seen *)b)->pid;

	return (left > right) - (left < right);
}

static struct all read_processes(void)
{
	struct all all = { 0 };
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		if (all.count == all.cap)
			all.items = mem_grow(all.items, &all.cap, all.count + 1,
			                     sizeof(*all.items));
		if (read_stat(dirfd(dir), entry->d_name, &all.items[all.count]))
			all.count++;
	}
	if (dir)
		closedir(dir);
	if (all.count)
		qsort(all.items, all.count, sizeof(*all.items), by_pid);
	return all;
}

/* Marks what has a marked parent, until nothing more is found: one round for each generation
 * that has a higher number than its children. */
static size_t mark_descendants(struct all *all, pid_t ancestor)
{
	size_t marked = 0, before;

	do {
		before = marked;
		for (size_t i = 0; i < all->count; i++) {
			struct process_seen *it = &all->items[i], *parent;

			if (it->ours || it->pid == ancestor)
				continue;
			parent = bsearch(&(struct process_seen){ .pid = it->parent }, all->items,
			                 all->count,
			                 sizeof(*all->items), by_pid);
			if (it->parent == ancestor || (parent && parent->ours)) {
				it->ours = true;
				marked++;
			}
		}
	} while (marked != before);
	return marked;
}

size_t processes_list_descendants(pid_t ancestor, struct descendant **ret)
{
	struct all all = read_processes();
	size_t marked = mark_descendants(&all, ancestor), count = 0;

	*ret = NULL;
	if (marked)
		*ret = mem_alloc(marked, sizeof(**ret));
	for (size_t i = 0; i < all.count && marked; i++) {
		if (all.items[i].ours)
			(*ret)[count++] = (struct descendant){ all.items[i].pid,
			                                       all.items[i].ended };
	}
	free(all.items);
	return count;
}

/* This process's own number in /proc, which is not getpid() where /proc is that of another PID
 * namespace; 0 without /proc. */
static pid_t descendants_self(void)
{
	char text[32];
	ssize_t len = readlink("/proc/self", text, sizeof(text) - 1);

	if (len <= 0)
		return 0;
	text[len] = '\0';
	return (pid_t)strtol(text, NULL, 10);
}

/* What one look found beneath an ancestor. */
struct process_look {
	bool quiet;   /* nothing runs there, and the ancestor itself has stopped */
	size_t ended; /* zombies, which are not reaped while the ancestor is stopped */
};

/* A signal to a group reaches what one of its members forks meanwhile as well: a process that forks
 * and exits faster than /proc is read is caught by the group that its zombies are still in. */
static void kill_one(const struct process_seen *it, pid_t spared_group)
{
	if (!it->ended)
		kill(it->pid, SIGKILL);
	if (it->group > 1 && it->group != spared_group && it->group != getpgrp())
		kill(-it->group, SIGKILL);
}

static struct process_look kill_round(pid_t ancestor)
{
	struct all all = read_processes();
	struct process_look look = { .quiet = true };
	pid_t spared_group = 0;

	mark_descendants(&all, ancestor);
	for (size_t i = 0; i < all.count; i++)
		if (all.items[i].pid == ancestor) {
			spared_group = all.items[i].group;
			look.quiet = all.items[i].stopped || all.items[i].ended;
		}
	for (size_t i = 0; i < all.count; i++) {
		if (!all.items[i].ours)
			continue;
		look.ended += all.items[i].ended;
		look.quiet = look.quiet && all.items[i].ended;
		kill_one(&all.items[i], spared_group);
	}
	free(all.items);
	return look;
}

void processes_kill_descendants(pid_t ancestor)
{
	const struct timespec pause = { .tv_nsec = ROUND_MS * 1000000L };
	struct process_look before = { 0 };

	/* Stopped it starts nothing more, orphans come to it as before, and their zombies stay. */
	kill(ancestor, SIGSTOP);
	/* One look misses what was forked behind its back by something that then exited; that
	 * leaves a zombie more, at the latest in the next look.  So nothing is left when two looks
	 * in a row find nothing alive and the same number of zombies. */
	for (int i = 0; i < KILL_ROUNDS; i++) {
		struct process_look now = kill_round(ancestor);

		if (now.quiet && before.quiet && now.ended == before.ended)
			break;
		before = now;
		nanosleep(&pause, NULL);
	}
	kill(ancestor, SIGKILL);
}

/* ---- limits ---- */

/* Counting the processes of a command and their memory, and what the kernel says of its group. */

/* A file system that a command can write to, and what it must leave free there; 0: it was nearly
 * full before. */
struct reserve {
	const char *path; /* borrowed from the plan */
	uint64_t bytes, files;
};

enum { RESERVE_SHARE = 16, RESERVES = 2 };

struct limits {
	struct reserve reserves[RESERVES]; /* of temporary files, of the first root */
	struct sandbox_limits max;
	enum sandbox_level level;
	pid_t ancestor;     /* as /proc has it: all that is beneath it is the command's */
	struct cgroup_watch group;
	bool reported;
	size_t alive;       /* of the last look */
	uint64_t bytes;
	unsigned pause_ms;
};

static struct reserve reserve_of(const char *path)
{
	struct reserve reserve = { .path = path };
	struct statvfs fs;

	if (!path || statvfs(path, &fs) != 0)
		return (struct reserve){ 0 };
	reserve.bytes = (uint64_t)fs.f_blocks * fs.f_frsize / RESERVE_SHARE;
	if (reserve.bytes > LIMIT_DISK_RESERVE_BYTES)
		reserve.bytes = LIMIT_DISK_RESERVE_BYTES;
	if ((uint64_t)fs.f_bavail * fs.f_frsize <= reserve.bytes)
		reserve.bytes = 0;
	reserve.files = fs.f_files / RESERVE_SHARE; /* 0 where there is no such number */
	if (reserve.files > LIMIT_DISK_RESERVE_FILES)
		reserve.files = LIMIT_DISK_RESERVE_FILES;
	if (fs.f_favail <= reserve.files)
		reserve.files = 0;
	return reserve;
}

struct limits *sandbox_limits_new(const struct sandbox_plan *plan, pid_t main)
{
	struct limits *limits = mem_alloc(1, sizeof(*limits));

	limits->max = plan->limits;
	limits->level = plan->level;
	/* A worker of one command has no other children than the command's, and orphans come to
	 * it. */
	limits->ancestor = plan->use == SANDBOX_USE_COMMAND ? descendants_self() : main;
	limits->pause_ms = LIMITS_LOOK_MS;
	limits->reserves[0] = reserve_of(plan->temp);
	limits->reserves[1] = reserve_of(plan->root_count ? plan->roots[0] : NULL);
	cgroup_watch_init(&limits->group);
	return limits;
}

void sandbox_limits_free(struct limits *limits)
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

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!fd_read_text(fd, text, sizeof(text)))
		return 0;
	at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) << 10 : 0;
}

/* Pages that no file is behind: its own, and those it shares with what it was forked from. */
static uint64_t own_bytes(pid_t pid)
{
	char path[64], text[128];
	unsigned long resident, shared;
	_cleanup_fd_ int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!fd_read_text(fd, text, sizeof(text)) ||
	    sscanf(text, "%*s %lu %lu", &resident, &shared) != 2 || shared > resident)
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

static uint64_t sum_bytes(const struct descendant *list, size_t count, uint64_t (*bytes)(pid_t pid))
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

/* The next look comes later where this one found what the last one did. */
static void note_look(struct limits *limits, size_t alive, uint64_t bytes)
{
	const bool same = alive == limits->alive && bytes == limits->bytes;
	const unsigned longer = 2 * limits->pause_ms;

	limits->alive = alive;
	limits->bytes = bytes;
	limits->pause_ms = !same ? LIMITS_LOOK_MS :
	                   longer < LIMITS_QUIET_MS ? longer : LIMITS_QUIET_MS;
}

unsigned sandbox_limits_pause(const struct limits *limits)
{
	return limits->pause_ms;
}

static bool limits_passed_by_count(struct limits *limits, struct denial *ret)
{
	_cleanup_free_ struct descendant *list = NULL;
	size_t number = processes_list_descendants(limits->ancestor, &list), alive = 0;
	uint64_t bytes;

	for (size_t i = 0; i < number; i++)
		alive += !list[i].ended;
	bytes = sum_bytes(list, number, own_bytes);
	note_look(limits, alive, bytes);
	if (limits->max.processes && alive > limits->max.processes)
		return processes_passed(limits->level, &limits->max, ret);
	/* The quick sum counts shared memory many times: if it is too large, the slow one
	 * decides. */
	return limits->max.memory_bytes &&
	       bytes > limits->max.memory_bytes &&
	       sum_bytes(list, number, share_bytes) > limits->max.memory_bytes &&
	       memory_passed(limits->level, &limits->max, ret);
}

static bool reserve_passed(const struct limits *limits, const struct reserve *reserve,
                           struct denial *ret)
{
	struct statvfs fs;
	bool space;

	if ((!reserve->bytes && !reserve->files) || statvfs(reserve->path, &fs) != 0)
		return false;
	space = reserve->bytes && (uint64_t)fs.f_bavail * fs.f_frsize < reserve->bytes;
	if (!space && !(reserve->files && fs.f_favail < reserve->files))
		return false;
	*ret = (struct denial){ .kind = DENIAL_LIMIT, .reason = SANDBOX_REASON_LIMIT,
		                .level = limits->level, .count = 1 };
	if (space)
		snprintf(ret->what, sizeof(ret->what), "disk space: less than %llu MiB free at %s",
		         (unsigned long long)reserve->bytes >> 20, reserve->path);
	else
		snprintf(ret->what, sizeof(ret->what), "number of files: fewer than %llu free at "
		         "%s", (unsigned long long)reserve->files, reserve->path);
	return true;
}

bool sandbox_limits_look(struct limits *limits, struct denial *ret)
{
	if (limits->reported)
		return false;
	limits->reported = reserve_passed(limits, &limits->reserves[0], ret) ||
	                   reserve_passed(limits, &limits->reserves[1], ret);
	if (!limits->max.memory_bytes && !limits->max.processes)
		note_look(limits, 0, 0);
	else if (!limits->reported)
		limits->reported = group_passed(limits->level, &limits->max,
		                                cgroup_watch_look(&limits->group), ret) ||
		                   limits_passed_by_count(limits, ret);
	return limits->reported;
}

bool sandbox_limits_explain(const struct sandbox_plan *plan, const struct sandbox_child *child,
                            struct denial *ret)
{
	struct cgroup_watch watch;
	bool explained;

	cgroup_watch_group(child->group, &watch);
	explained = group_passed(plan->level, &plan->limits, cgroup_watch_look(&watch), ret);
	cgroup_watch_release(&watch);
	return explained;
}
