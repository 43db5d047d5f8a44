/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one command and prints what it cost.
 *
 *     bench_spawn STDIN STDOUT COMMAND [ARGUMENT...]
 *
 * Prints "wall_ns cpu_us rss_kb status": until the command has ended; the processor time of all
 * its processes; the largest one's peak memory.  Processes that the command leaves behind, or
 * does not wait for (bubblewrap's first process ends before its second), become this
 * program's children and are waited for, so that their time counts too.
 *
 * A small program does this because the peak memory that the kernel reports for a child includes
 * that of the parent it was spawned from, and because a large parent spawns slowly.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t to_us(struct timeval t)
{
	return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

int main(int argc, char **argv)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	int status = 0;
	pid_t pid;

	if (argc < 4) {
		fputs("usage: bench_spawn STDIN STDOUT COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, argv[1], O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
		perror("prctl");
		return 2;
	}
	int64_t start = now_ns();
	if (posix_spawnp(&pid, argv[3], &actions, NULL, argv + 3, environ) != 0) {
		perror(argv[3]);
		return 2;
	}
	if (waitpid(pid, &status, 0) != pid) {
		perror("waitpid");
		return 2;
	}
	int64_t wall = now_ns() - start;
	posix_spawn_file_actions_destroy(&actions);
	while (wait(NULL) > 0 || errno == EINTR) /* what it left behind */
		;
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("%" PRId64 " %" PRId64 " %ld %d\n", wall, to_us(usage.ru_utime) + to_us(usage.ru_stime),
	       usage.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
