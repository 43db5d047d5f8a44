/* SPDX-License-Identifier: Apache-2.0 */
/* The least that a hash-locked edit of a small file costs: only the system calls without which one of
 * the promises of file/commit.h would not hold, and one hash of each content, in a process that does
 * nothing else.  No paths resolved, no diff, no protocol, no threads.
 *
 *     bench_edit_floor FOLDER EDITS
 *
 * Turns one byte of FOLDER/floor-N.txt (64 files of 10 KB, which it writes first) back and forth.
 * Prints "wall_us cpu_us" of one edit, medians over batches of a hundred; then the same with the 100 µs
 * that a commit waits when others have changed the file within the last two seconds.
 */
#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the first thread's stack has room */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sha256.h"

enum { BATCH = 100, FILES = 64, SIZE = 10080 };

static double clock_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

/* Reads the old file and hashes it; its descriptor. */
static int read_old(int folder, const char *name, char data[static SIZE])
{
	int old = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat stat;

	must(old >= 0 && fstat(old, &stat) == 0 && pread(old, data, SIZE, 0) == SIZE, name);
	sha256_of(span_of(data, SIZE));
	return old;
}

/* The new file, whole and with the old one's attributes, under a temporary name. */
static int write_new(int folder, int old, const char *data, const char *temporary)
{
	int new = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);
	struct stat stat;
	char names[256];

	must(new >= 0 && flock(new, LOCK_EX | LOCK_NB) == 0, "temporary");
	must(write(new, data, SIZE) == SIZE, "write");
	sha256_of(span_of(data, SIZE));
	must(fstat(old, &stat) == 0 && fstat(new, &stat) == 0, "fstat");
	must(flistxattr(old, names, sizeof(names)) >= 0 &&
	     flistxattr(new, names, sizeof(names)) >= 0, "flistxattr");
	must(linkat(new, "", folder, temporary, AT_EMPTY_PATH) == 0, "linkat");
	return new;
}

/* Under the folder's lock and both leases. */
static void exchange(int readable, int old, int new, const char *name, const char *temporary,
                     const char *was)
{
	char data[SIZE];
	struct stat stat;

	must(flock(readable, LOCK_EX) == 0, "flock");
	must(fcntl(old, F_SETSIG, SIGURG) == 0 && fcntl(old, F_SETLEASE, F_RDLCK) == 0, "lease");
	must(pread(old, data, SIZE, 0) == SIZE && memcmp(data, was, SIZE) == 0, "compare");
	must(fcntl(new, F_SETSIG, SIGURG) == 0 && fcntl(new, F_SETLEASE, F_WRLCK) == 0, "lease");
	must(fstatat(readable, name, &stat, AT_SYMLINK_NOFOLLOW) == 0, "fstatat");
	must(renameat2(readable, temporary, readable, name, RENAME_EXCHANGE) == 0, "renameat2");
	must(fstatat(readable, temporary, &stat, AT_SYMLINK_NOFOLLOW) == 0, "fstatat");
	must(fcntl(old, F_GETLEASE) == F_RDLCK && flock(readable, LOCK_UN) == 0, "unlock");
}

static void edit(const char *path, int number, bool linger)
{
	const struct timespec nap = { .tv_nsec = 100000 };
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[32], temporary[64], was[SIZE], data[SIZE];
	int old, new;

	snprintf(name, sizeof(name), "floor-%d.txt", number);
	snprintf(temporary, sizeof(temporary), ".floor-%d", number);
	old = read_old(folder, name, was);
	memcpy(data, was, SIZE);
	data[SIZE / 2] ^= 1;
	new = write_new(folder, old, data, temporary);
	exchange(folder, old, new, name, temporary, was);
	if (linger)
		nanosleep(&nap, NULL);
	must(fcntl(old, F_GETLEASE) == F_RDLCK, "last look");
	must(unlinkat(folder, temporary, 0) == 0, "unlinkat");
	fcntl(new, F_SETLEASE, F_UNLCK);
	fcntl(old, F_SETLEASE, F_UNLCK);
	close(new);
	close(old);
	close(folder);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const char *path, size_t batches, bool linger)
{
	double *wall = mem_alloc(batches, sizeof(*wall)), *cpu = mem_alloc(batches, sizeof(*cpu));

	for (size_t i = 0; i < batches; i++) {
		wall[i] = clock_us(CLOCK_MONOTONIC);
		cpu[i] = clock_us(CLOCK_PROCESS_CPUTIME_ID);
		for (int j = 0; j < BATCH; j++)
			edit(path, j % FILES, linger);
		wall[i] = (clock_us(CLOCK_MONOTONIC) - wall[i]) / BATCH;
		cpu[i] = (clock_us(CLOCK_PROCESS_CPUTIME_ID) - cpu[i]) / BATCH;
	}
	qsort(wall, batches, sizeof(*wall), compare_doubles);
	qsort(cpu, batches, sizeof(*cpu), compare_doubles);
	printf("%.1f %.1f\n", wall[batches / 2], cpu[batches / 2]);
	free(wall);
	free(cpu);
}

int main(int argc, char **argv)
{
	char data[SIZE], name[32];

	if (argc != 3 || chdir(argv[1]) != 0)
		return 2;
	memset(data, 'x', sizeof(data));
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "floor-%d.txt", i);
		int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

		must(fd >= 0 && write(fd, data, SIZE) == SIZE, name);
		close(fd);
	}
	measure(".", strtoul(argv[2], NULL, 10) / BATCH + 1, false);
	measure(".", strtoul(argv[2], NULL, 10) / BATCH + 1, true);
	return 0;
}
