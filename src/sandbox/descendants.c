/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc/PID/stat of all processes: pid (name) state parent ..., proc_pid_stat(5). */
#include "sandbox/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

enum { STAT_BYTES = 512, KILL_ROUNDS = 200, ROUND_MS = 1 };

struct seen {
	pid_t pid, parent;
	bool ended, ours;
};

struct all {
	struct seen *items; /* owned; sorted by pid */
	size_t count, cap;
};

static bool read_stat(int proc, const char *name, struct seen *ret)
{
	char path[300], text[STAT_BYTES], state;
	_cleanup_fd_ int fd = -1;
	ssize_t len;
	const char *end;
	int parent;

	snprintf(path, sizeof(path), "%s/stat", name);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : fd_read_full(fd, text, sizeof(text) - 1);
	if (len <= 0)
		return false;
	text[len] = '\0';
	/* The name is the process's own choice and may hold anything, ")" too. */
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1, " %c %d", &state, &parent) != 2)
		return false;
	*ret = (struct seen){ .pid = (pid_t)strtol(name, NULL, 10), .parent = parent,
	                      .ended = state == 'Z' || state == 'X' };
	return true;
}

static int by_pid(const void *a, const void *b)
{
	pid_t left = ((const struct seen *)a)->pid, right = ((const struct seen *)b)->pid;

	return (left > right) - (left < right);
}

static struct all read_all(void)
{
	struct all all = { 0 };
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		if (all.count == all.cap)
			all.items = mem_grow(all.items, &all.cap, all.count + 1, sizeof(*all.items));
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
static size_t mark(struct all *all, pid_t ancestor)
{
	size_t marked = 0, before;

	do {
		before = marked;
		for (size_t i = 0; i < all->count; i++) {
			struct seen *it = &all->items[i], *parent;

			if (it->ours || it->pid == ancestor)
				continue;
			parent = bsearch(&(struct seen){ .pid = it->parent }, all->items, all->count,
			                 sizeof(*all->items), by_pid);
			if (it->parent == ancestor || (parent && parent->ours)) {
				it->ours = true;
				marked++;
			}
		}
	} while (marked != before);
	return marked;
}

size_t descendants_list(pid_t ancestor, struct descendant **ret)
{
	struct all all = read_all();
	size_t marked = mark(&all, ancestor), count = 0;

	*ret = NULL;
	if (marked)
		*ret = mem_alloc(marked, sizeof(**ret));
	for (size_t i = 0; i < all.count && marked; i++) {
		if (all.items[i].ours)
			(*ret)[count++] = (struct descendant){ all.items[i].pid, all.items[i].ended };
	}
	free(all.items);
	return count;
}

pid_t descendants_self(void)
{
	char text[32];
	ssize_t len = readlink("/proc/self", text, sizeof(text) - 1);

	if (len <= 0)
		return 0;
	text[len] = '\0';
	return (pid_t)strtol(text, NULL, 10);
}

/* One round; false when nothing alive was found. */
static bool kill_round(pid_t ancestor)
{
	struct descendant *list;
	size_t count = descendants_list(ancestor, &list);
	bool alive = false;

	for (size_t i = 0; i < count; i++) {
		if (list[i].ended)
			continue;
		alive = true;
		kill(list[i].pid, SIGKILL);
	}
	free(list);
	return alive;
}

void descendants_kill(pid_t ancestor)
{
	const struct timespec nap = { .tv_nsec = ROUND_MS * 1000000L };

	/* Stopped it starts nothing more, and orphans come to it as before. */
	kill(ancestor, SIGSTOP);
	for (int i = 0; i < KILL_ROUNDS && kill_round(ancestor); i++)
		nanosleep(&nap, NULL);
	kill(ancestor, SIGKILL);
}
