/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command between guard_take and guard_check, not confined at all: what the guard leaves is
 * what it alone achieves.
 *
 *     guard_probe [--level full|landlock] [--note PATH]... [--lost] [--gone PATH] [--memory FILE]
 *                 [--killed] ROOT -- COMMAND ...
 *
 * --note and --gone say beforehand what the supervisor would say; --lost that it says nothing of use.  The
 * commands with the same --memory are of one session; --killed ends without a check.  Prints
 * each denial's `what`, then how many, and the microseconds that taking and checking took.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "sandbox/guard/guard.h"
#include "sandbox/apply/probe.h"

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void print(void *data, const struct denial *denial)
{
	(void)data;
	printf("%s: %s\n", sandbox_reason_name(denial->reason), denial->what);
}

static int fail(const struct err *err)
{
	fprintf(stderr, "%s\n", err->message);
	return 1;
}

static int run(char **argv)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return status;
}

static struct sandbox_plan *make_plan(const char *root, enum sandbox_level level)
{
	/* The plan's lists matter here, not whether this machine could carry it out. */
	static struct sandbox_probe probe = { .best = SANDBOX_FULL, .user_namespaces = true,
		.own_proc = true, .landlock_abi = 7, .seccomp = true, .seccomp_notify = true };
	const char *roots[] = { root };
	struct sandbox_options options = { .roots = roots, .root_count = 1,
		.use = SANDBOX_USE_COMMAND, .level_given = true, .level = level };
	struct sandbox_plan *plan = NULL;
	struct err err = ERR_INIT;

	if (!sandbox_plan_make(&options, &probe, &plan, &err))
		exit(fail(&err));
	return plan;
}

/* Opens a workspace's file, and prints what was opened: its number, and how many names it has. */
static int open_record(const char *path)
{
	int fd = guard_open_record(path);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return 1;
	printf("%ju %ju\n", (uintmax_t)st.st_ino, (uintmax_t)st.st_nlink);
	return 0;
}

int main(int argc, char **argv)
{
	const char *notes[64];
	enum sandbox_level level = SANDBOX_FULL;
	size_t note_count = 0, count;
	struct sandbox_plan *plan;
	struct guard *guard;
	struct err err = ERR_INIT;
	int memory = 0;
	const char *gone = NULL;
	bool killed = false;
	double began, taken, checked;
	int i = 1;

	for (; i + 1 < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "--level") == 0)
			sandbox_level_parse(argv[++i], &level);
		else if (strcmp(argv[i], "--note") == 0 && note_count < ARRAY_LEN(notes))
			notes[note_count++] = argv[++i];
		else if (strcmp(argv[i], "--lost") == 0)
			notes[note_count++] = "";
		else if (strcmp(argv[i], "--gone") == 0)
			gone = argv[++i];
		else if (strcmp(argv[i], "--memory") == 0)
			memory = open(argv[++i], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		else if (strcmp(argv[i], "--killed") == 0)
			killed = true;
	}
	if (argc == 3 && strcmp(argv[1], "--record") == 0)
		return open_record(argv[2]);
	if (i + 2 >= argc)
		return 2;
	plan = make_plan(argv[i], level);
	began = now_us();
	if (!guard_take(plan, "probe", memory, &guard, &err))
		return fail(&err);
	taken = now_us() - began;
	for (size_t n = 0; n < note_count; n++)
		guard_note(guard, notes[n]);
	if (gone)
		guard_removing(guard, gone);
	if (run(argv + i + 2) != 0)
		printf("the command failed\n");
	if (killed) {
		printf("count 0 take_us 0 check_us 0\n");
		fflush(stdout);
		_exit(0);
	}
	began = now_us();
	count = guard_check(guard, print, NULL);
	checked = now_us() - began;
	printf("count %zu take_us %.0f check_us %.0f\n", count, taken, checked);
	guard_free(guard);
	sandbox_plan_free(plan);
	return 0;
}
