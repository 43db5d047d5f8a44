/* SPDX-License-Identifier: Apache-2.0 */
/* How long hasp waits for what is piped into it.  A pipe that no one ever writes to must not hang a
 * run: programs that start hasp often leave one open.  A command of the same job ("make | hasp -p
 * ...") may need minutes for its first byte, and none of its output may be lost. */
#include "cli/command/private.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/view/output.h"

enum {
	FIRST_BYTE_MS = 500, /* a program that is going to write does; a forgotten one never */
	LOOK_AGAIN_MS = 1000,
	ANCESTORS_MAX = 64,
};

/* The parent of a process in /proc and its group; false: it has ended. */
static bool process_of(pid_t pid, pid_t *ret_parent, pid_t *ret_group)
{
	char path[64], text[1024], *end;
	_cleanup_fd_ int fd = -1;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (got <= 0)
		return false;
	text[got] = '\0';
	/* The name before it may hold parentheses. */
	end = strrchr(text, ')');
	return end && sscanf(end, ") %*c %d %d", ret_parent, ret_group) == 2;
}

static bool is_ancestor(pid_t pid)
{
	pid_t at = getpid(), parent, group;

	for (int i = 0; i < ANCESTORS_MAX && at > 1 && process_of(at, &parent, &group); i++) {
		if (parent == pid)
			return true;
		at = parent;
	}
	return false;
}

/* Whether the descriptor `name` of the process, whose folder of them is `folder`, writes to it. */
static bool writes_to(int folder, pid_t pid, const char *name, const struct stat *pipe)
{
	struct stat status;
	char path[64], text[256];
	unsigned flags = 0;
	FILE *file;

	if (fstatat(folder, name, &status, 0) < 0 || status.st_ino != pipe->st_ino ||
	    status.st_dev != pipe->st_dev)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.20s", (int)pid, name);
	file = fopen(path, "re");
	while (file && fgets(text, sizeof(text), file))
		if (sscanf(text, "flags: %o", &flags) == 1)
			break;
	if (file)
		fclose(file);
	return file && (flags & O_ACCMODE) != O_RDONLY;
}

static bool process_writes_to(pid_t pid, const struct stat *pipe)
{
	char path[64];
	struct dirent *entry;
	bool writes = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	while (folder && !writes && (entry = readdir(folder)))
		writes = isdigit((unsigned char)entry->d_name[0]) &&
		         writes_to(dirfd(folder), pid, entry->d_name, pipe);
	if (folder)
		closedir(folder);
	return writes;
}

/* Whether another command of hasp's job, none that started hasp, has the pipe open for writing. */
static bool job_writes_to(const struct stat *pipe)
{
	const pid_t group = getpgrp();
	struct dirent *entry;
	bool writes = false;
	DIR *processes = opendir("/proc");

	while (processes && !writes && (entry = readdir(processes))) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		pid_t parent, its_group;

		writes = pid > 0 && pid != getpid() && process_of(pid, &parent, &its_group) &&
		         its_group == group && process_writes_to(pid, pipe) && !is_ancestor(pid);
	}
	if (processes)
		closedir(processes);
	return writes;
}

bool piped_has_input(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	struct stat status;
	bool reported = false;

	/* A closed one has become one that cannot be read (output_setup): there is nothing on
	 * it. */
	if (isatty(STDIN_FILENO) || fstat(STDIN_FILENO, &status) < 0 ||
	    (fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE) == O_WRONLY)
		return false;
	for (int ms = FIRST_BYTE_MS; poll(&input, 1, ms) <= 0; ms = LOOK_AGAIN_MS) {
		if (!S_ISFIFO(status.st_mode) || !job_writes_to(&status)) {
			output_complain("Nothing arrived on standard input; continuing without it. "
			                "Use </dev/null to avoid this wait.");
			return false;
		}
		if (!reported && ms == LOOK_AGAIN_MS)
			output_complain("Waiting for what the command before | writes.");
		reported = reported || ms == LOOK_AGAIN_MS;
	}
	return input.revents & (POLLIN | POLLHUP);
}
