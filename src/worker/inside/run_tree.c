/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/inside/run_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

enum { STAT_BYTES = 1024, ENVIRONMENT_BYTES = 256 << 10 };

void run_tree_init(struct run_tree *tree, const struct sandbox_plan *plan)
{
	static _Atomic unsigned counter;
	bool own = plan && plan->use == SANDBOX_USE_COMMAND;

	*tree = (struct run_tree){ .kind = RUN_TREE_SHARED };
	if (own && plan->own_processes && getpid() == 1)
		tree->kind = RUN_TREE_NAMESPACE;
	else if (own && prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL) == 0)
		tree->kind = RUN_TREE_WORKER;
	snprintf(tree->mark, sizeof(tree->mark), "HASP_RUN=%d.%u", (int)getpid(),
	         atomic_fetch_add(&counter, 1) + 1);
}

/* ---- looking at /proc ----------------------------------------------------- */

static ssize_t read_of(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	_cleanup_fd_ int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = fd_read_full(fd, text, size - 1);
	if (n >= 0)
		text[n] = 0;
	return n;
}

/* proc(5), /proc/PID/stat: the name stands in parentheses and may hold anything. */
static bool read_process(pid_t pid, struct run_process *ret)
{
	char text[STAT_BYTES], state;
	const char *after;
	int parent, group, session;

	if (read_of(pid, "stat", text, sizeof(text)) <= 0)
		return false;
	after = strrchr(text, ')');
	if (!after || sscanf(after + 1, " %c %d %d %d", &state, &parent, &group, &session) != 4)
		return false;
	*ret = (struct run_process){ .pid = pid, .parent = parent, .group = group,
		                     .session = session, .ended = state == 'Z' || state == 'X' };
	return true;
}

/* Of a /proc that shows another PID namespace nothing can be learnt. */
static bool proc_is_ours(void)
{
	char own[16], shown[16] = "";

	snprintf(own, sizeof(own), "%d", (int)getpid());
	return readlink("/proc/self", shown, sizeof(shown) - 1) > 0 && strcmp(own, shown) == 0;
}

static size_t read_all(struct run_process **ret)
{
	DIR *proc = proc_is_ours() ? opendir("/proc") : NULL;
	const struct dirent *entry;
	struct run_process *list = NULL;
	size_t count = 0, cap = 0;

	*ret = NULL;
	if (!proc)
		return 0;
	while ((entry = readdir(proc))) {
		struct run_process one;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !read_process((pid_t)strtol(entry->d_name, NULL, 10), &one))
			continue;
		list = mem_grow(list, &cap, count + 1, sizeof(*list));
		list[count++] = one;
	}
	closedir(proc);
	*ret = list;
	return count;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t one = ((const struct run_process *)a)->pid, other = ((const struct run_process *)b)->pid;

	return (one > other) - (one < other);
}

static struct run_process *find(struct run_process *list, size_t count, pid_t pid)
{
	const struct run_process key = { .pid = pid };

	return list ? bsearch(&key, list, count, sizeof(*list), compare_pids) : NULL;
}

static bool has_mark(const struct run_tree *tree, pid_t pid)
{
	_cleanup_free_ char *text = mem_alloc(ENVIRONMENT_BYTES, 1);
	ssize_t len = read_of(pid, "environ", text, ENVIRONMENT_BYTES);

	for (const char *at = text; len > 0 && at < text + len; at += strlen(at) + 1)
		if (strcmp(at, tree->mark) == 0)
			return true;
	return false;
}

static bool begins_ours(const struct run_tree *tree, const struct run_process *process)
{
	pid_t own = getpid();

	if (process->pid == own || process->pid == 1)
		return false;
	if (tree->kind == RUN_TREE_NAMESPACE)
		return true;
	if (tree->kind == RUN_TREE_WORKER)
		return process->parent == own;
	return process->pid == tree->main || process->session == tree->main ||
	       (!process->ended && has_mark(tree, process->pid));
}

/* Children of what is ours are ours; the tree has as many levels as rounds are needed. */
static void spread(struct run_process *list, size_t count)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < count; i++) {
			const struct run_process *parent =
				list[i].ours ? NULL : find(list, count, list[i].parent);

			if (parent && parent->ours && list[i].pid != getpid())
				more = list[i].ours = true;
		}
	}
}

size_t run_tree_list(const struct run_tree *tree, struct run_process **ret)
{
	size_t count = read_all(ret), kept = 0;
	struct run_process *list = *ret;

	if (!count)
		return 0;
	qsort(list, count, sizeof(*list), compare_pids);
	for (size_t i = 0; i < count; i++)
		list[i].ours = begins_ours(tree, &list[i]);
	spread(list, count);
	for (size_t i = 0; i < count; i++)
		if (list[i].ours && !list[i].ended)
			list[kept++] = list[i];
	return kept;
}

/* ---- reaping and killing -------------------------------------------------- */

static void note_end(struct run_tree *tree, pid_t pid, int status, const struct rusage *used)
{
	uint64_t peak = (uint64_t)used->ru_maxrss * 1024;

	tree->cpu_ms += (uint64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000 +
	                (uint64_t)(used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1000;
	if (peak > tree->peak_bytes)
		tree->peak_bytes = peak;
	if (pid == tree->main) {
		tree->reaped = true;
		tree->status = status;
	}
}

static bool any_left(const struct run_tree *tree)
{
	struct run_process *list;
	size_t count = run_tree_list(tree, &list);

	free(list);
	return count > 0;
}

bool run_tree_reap(struct run_tree *tree)
{
	bool shared = tree->kind == RUN_TREE_SHARED;
	struct rusage used;
	int status;
	pid_t pid = 0;

	while (!shared || !tree->reaped) {
		pid = wait4(shared ? tree->main : -1, &status, WNOHANG | __WALL, &used);
		if (pid <= 0)
			break;
		note_end(tree, pid, status, &used);
	}
	if (!shared)
		return !(pid < 0 && errno == ECHILD);
	return !tree->reaped || any_left(tree);
}

void run_tree_kill(const struct run_tree *tree)
{
	struct run_process *list;
	size_t count;

	if (tree->kind == RUN_TREE_NAMESPACE) {
		kill(-1, SIGKILL);
		return;
	}
	if (!tree->reaped)
		kill(-tree->main, SIGKILL);
	count = run_tree_list(tree, &list);
	for (size_t i = 0; i < count; i++) {
		kill(list[i].pid, SIGKILL);
		if (list[i].group > 1 && list[i].group != getpgrp())
			kill(-list[i].group, SIGKILL);
	}
	free(list);
}
