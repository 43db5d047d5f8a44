/* SPDX-License-Identifier: Apache-2.0 */
/* How a path is spelled: each way leads to the same target. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <signal.h>
#include <unistd.h>

#include "hostile.h"

#define OWN "own-hostile" /* a folder that this program makes: names in it are its own */

static char top[4096]; /* the working folder at the start */
static int top_fd = -1;
static pid_t sibling;

/* ---- swaps: a thread that keeps exchanging two things ---- */

static struct {
	atomic_bool ended, runs;
	void (*swap)(void);
	pthread_t thread;
} swapper;

static int swap_fds[3] = { -1, -1, -1 }; /* the target's folder, ours, and what is seen */

static void *swap_for_ever(void *data)
{
	while (!atomic_load(&swapper.ended))
		swapper.swap();
	return data;
}

static bool swap_begin(void (*swap)(void))
{
	atomic_store(&swapper.ended, false);
	swapper.swap = swap;
	return pthread_create(&swapper.thread, NULL, swap_for_ever, NULL) == 0;
}

static void swap_end(struct aim *aim)
{
	atomic_store(&swapper.ended, true);
	pthread_join(swapper.thread, NULL);
	for (int i = 0; i < 3; i++) {
		if (swap_fds[i] >= 0)
			close(swap_fds[i]);
		swap_fds[i] = -1;
	}
	(void)!fchdir(top_fd);
	aim->folder = AT_FDCWD;
}

/* ---- parts of a path ---- */

/* "a/b/c" → an O_PATH descriptor of "a/b", and "c". -1: there is no such folder. */
static int open_parent(const char *target, const char **name)
{
	const char *slash = strrchr(target, '/');
	char folder[PATHS_LIMIT];

	*name = slash ? slash + 1 : target;
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - target) : 1,
	         slash ? target : ".");
	return openat(top_fd, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void close_folder(struct aim *aim)
{
	if (aim->folder >= 0)
		close(aim->folder);
	aim->folder = AT_FDCWD;
}

static void nothing_to_end(struct aim *aim)
{
	(void)aim;
}

/* The last name's first letter is another: a name that nobody obeys. */
static void spell_other(struct aim *aim)
{
	char *name;

	snprintf(aim->other, sizeof(aim->other), "%s", aim->path);
	name = strrchr(aim->other, '/');
	name = name ? name + 1 : aim->other;
	*name = *name == 'y' ? 'z' : 'y';
}

/* ---- the ways ---- */

static bool relative(const char *target, struct aim *aim)
{
	snprintf(aim->path, sizeof(aim->path), "%s", target);
	return true;
}

static bool absolute(const char *target, struct aim *aim)
{
	snprintf(aim->path, sizeof(aim->path), "%s/%s", top, target);
	return true;
}

static bool long_text(const char *target, struct aim *aim)
{
	size_t room = 4095 - strlen(target) - 1, n = 0;

	for (; n + 2 <= room; n += 2)
		memcpy(aim->path + n, "./", 2);
	snprintf(aim->path + n, sizeof(aim->path) - n, "%s", target);
	return true;
}

static bool too_long_text(const char *target, struct aim *aim)
{
	size_t n = 0;

	for (; n < 4400; n += 2)
		memcpy(aim->path + n, "./", 2);
	snprintf(aim->path + n, sizeof(aim->path) - n, "%s", target);
	return true;
}

static bool slashes_and_dots(const char *target, struct aim *aim)
{
	snprintf(aim->path, sizeof(aim->path), "%s/" OWN "/./..//%s", top, target);
	return true;
}

static bool by_descriptor(const char *target, struct aim *aim)
{
	const char *name;

	aim->folder = open_parent(target, &name);
	snprintf(aim->path, sizeof(aim->path), "%s", name);
	return aim->folder >= 0;
}

static bool as_root(const char *target, struct aim *aim)
{
	aim->folder = fcntl(top_fd, F_DUPFD_CLOEXEC, 0);
	aim->in_root = true;
	snprintf(aim->path, sizeof(aim->path), "/../%s", target);
	return aim->folder >= 0;
}

/* /proc/self/fd/N/NAME, the descriptor being of the folder. */
static bool through_fd(const char *target, struct aim *aim, const char *before)
{
	const char *name;
	int fd = open_parent(target, &name);

	if (fd < 0)
		return false;
	/* Kept under a number that no other way has. */
	dup3(fd, 700, O_CLOEXEC);
	close(fd);
	snprintf(aim->path, sizeof(aim->path), "%s/700/%s", before, name);
	return true;
}

static bool proc_fd(const char *target, struct aim *aim)
{
	return through_fd(target, aim, "/proc/self/fd");
}

static bool dev_fd(const char *target, struct aim *aim)
{
	return through_fd(target, aim, "/dev/fd");
}

static bool thread_fd(const char *target, struct aim *aim)
{
	return through_fd(target, aim, "/proc/thread-self/fd");
}

static bool proc_cwd(const char *target, struct aim *aim)
{
	snprintf(aim->path, sizeof(aim->path), "/proc/self/cwd/%s", target);
	return true;
}

static bool proc_root(const char *target, struct aim *aim)
{
	snprintf(aim->path, sizeof(aim->path), "/proc/thread-self/root%s/%s", top, target);
	return true;
}

static bool sibling_cwd(const char *target, struct aim *aim)
{
	snprintf(aim->path, sizeof(aim->path), "/proc/%d/cwd/%s", (int)sibling, target);
	return true;
}

/* From below a working folder whose own path is longer than any text. */
static bool deep_cwd(const char *target, struct aim *aim)
{
	char name[251];
	size_t n = 0;

	memset(name, 'd', 250);
	name[250] = '\0';
	(void)!chdir(OWN);
	for (int i = 0; i < 20; i++) {
		mkdir(name, 0777);
		if (chdir(name) != 0)
			return false;
	}
	for (int i = 0; i < 21; i++)
		n += (size_t)snprintf(aim->path + n, sizeof(aim->path) - n, "../");
	snprintf(aim->path + n, sizeof(aim->path) - n, "%s", target);
	return true;
}

static bool deep_up_only(const char *target, struct aim *aim)
{
	/* The same folder, its path made shorter than it is by a descriptor. */
	if (!deep_cwd(target, aim))
		return false;
	aim->folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	(void)!fchdir(top_fd);
	return aim->folder >= 0;
}

static void back_to_top(struct aim *aim)
{
	close_folder(aim);
	(void)!fchdir(top_fd);
}

/* A link on the way that leads to a folder of ours or to the target's. */
static void swap_links(void)
{
	syscall(SYS_renameat2, top_fd, OWN "/way", top_fd, OWN "/way2", 2);
}

static bool swapped_link(const char *target, struct aim *aim)
{
	const char *slash = strrchr(target, '/');
	char folder[PATHS_LIMIT];

	snprintf(folder, sizeof(folder), "%s/%.*s", top, slash ? (int)(slash - target) : 0, target);
	unlinkat(top_fd, OWN "/way", 0);
	unlinkat(top_fd, OWN "/way2", 0);
	if (symlinkat(folder, top_fd, OWN "/way") != 0 ||
	    symlinkat("mine", top_fd, OWN "/way2") != 0)
		return false;
	snprintf(aim->path, sizeof(aim->path), OWN "/way/%s", slash ? slash + 1 : target);
	return swap_begin(swap_links);
}

/* The last component is such a link. */
static bool swapped_last(const char *target, struct aim *aim)
{
	char file[PATHS_LIMIT];

	snprintf(file, sizeof(file), "%s/%s", top, target);
	unlinkat(top_fd, OWN "/way", 0);
	unlinkat(top_fd, OWN "/way2", 0);
	if (symlinkat(file, top_fd, OWN "/way") != 0 ||
	    symlinkat("mine/file", top_fd, OWN "/way2") != 0)
		return false;
	snprintf(aim->path, sizeof(aim->path), OWN "/way");
	return swap_begin(swap_links);
}

static bool last_link(const char *target, struct aim *aim)
{
	char file[PATHS_LIMIT];

	snprintf(file, sizeof(file), "../%s", target);
	unlinkat(top_fd, OWN "/last", 0);
	if (symlinkat(file, top_fd, OWN "/last") != 0)
		return false;
	snprintf(aim->path, sizeof(aim->path), OWN "/last");
	return true;
}

/* Threads share the working folder. */
static void swap_cwd(void)
{
	(void)!fchdir(swap_fds[1]);
	(void)!fchdir(swap_fds[0]);
}

static bool open_swaps(const char *target, const char **name)
{
	swap_fds[0] = open_parent(target, name);
	swap_fds[1] = openat(top_fd, OWN "/mine", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return swap_fds[0] >= 0 && swap_fds[1] >= 0;
}

static bool swapped_cwd(const char *target, struct aim *aim)
{
	const char *name;

	if (!open_swaps(target, &name))
		return false;
	snprintf(aim->path, sizeof(aim->path), "%s", name);
	return swap_begin(swap_cwd);
}

/* And descriptors. */
static void swap_descriptor(void)
{
	dup3(swap_fds[1], swap_fds[2], O_CLOEXEC);
	dup3(swap_fds[0], swap_fds[2], O_CLOEXEC);
}

static bool swapped_descriptor(const char *target, struct aim *aim)
{
	const char *name;

	if (!open_swaps(target, &name))
		return false;
	swap_fds[2] = fcntl(swap_fds[1], F_DUPFD_CLOEXEC, 500);
	aim->folder = swap_fds[2];
	snprintf(aim->path, sizeof(aim->path), "%s", name);
	return swap_fds[2] >= 0 && swap_begin(swap_descriptor);
}

static void wait_for_ever(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

bool ways_prepare(void)
{
	if (!getcwd(top, sizeof(top)))
		return false;
	top_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mkdir(OWN, 0777);
	mkdir(OWN "/mine", 0777);
	sibling = fork();
	if (sibling == 0)
		wait_for_ever();
	return top_fd >= 0 && sibling > 0;
}

static bool spelled(bool (*begin)(const char *, struct aim *), const char *target, struct aim *aim)
{
	if (!begin(target, aim))
		return false;
	spell_other(aim);
	return true;
}

#define WAY(function) \
	static bool function##_spelled(const char *target, struct aim *aim) \
	{ \
		return spelled(function, target, aim); \
	}

WAY(relative)
WAY(absolute)
WAY(long_text)
WAY(too_long_text)
WAY(slashes_and_dots)
WAY(by_descriptor)
WAY(as_root)
WAY(proc_fd)
WAY(dev_fd)
WAY(thread_fd)
WAY(proc_cwd)
WAY(proc_root)
WAY(sibling_cwd)
WAY(deep_cwd)
WAY(deep_up_only)
WAY(last_link)

const struct way ways[] = {
	{ "relative", 1, relative_spelled, nothing_to_end },
	{ "absolute", 1, absolute_spelled, nothing_to_end },
	{ "long-text", 1, long_text_spelled, nothing_to_end },
	{ "too-long-text", 1, too_long_text_spelled, nothing_to_end },
	{ "dots", 1, slashes_and_dots_spelled, nothing_to_end },
	{ "descriptor", 1, by_descriptor_spelled, close_folder },
	{ "in-root", 1, as_root_spelled, close_folder },
	{ "proc-fd", 1, proc_fd_spelled, nothing_to_end },
	{ "dev-fd", 1, dev_fd_spelled, nothing_to_end },
	{ "thread-fd", 1, thread_fd_spelled, nothing_to_end },
	{ "proc-cwd", 1, proc_cwd_spelled, nothing_to_end },
	{ "proc-root", 1, proc_root_spelled, nothing_to_end },
	{ "sibling-cwd", 1, sibling_cwd_spelled, nothing_to_end },
	{ "deep-cwd", 1, deep_cwd_spelled, back_to_top },
	{ "deep-descriptor", 1, deep_up_only_spelled, back_to_top },
	{ "last-link", 1, last_link_spelled, nothing_to_end },
	{ "swapped-link", 20, swapped_link, swap_end },
	{ "swapped-last", 20, swapped_last, swap_end },
	{ "swapped-cwd", 20, swapped_cwd, swap_end },
	{ "swapped-descriptor", 20, swapped_descriptor, swap_end },
	{ 0 },
};
