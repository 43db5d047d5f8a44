/* SPDX-License-Identifier: Apache-2.0 */
/* What file operations cost, wherever this is started: bare, in a sandbox, in a container.
 *
 *     bench_io FOLDER FILES MEGABYTES
 *
 * Makes FILES small files and one of MEGABYTES beneath FOLDER, and removes them again.  Prints a
 * line a kind of work, "name wall_us", for one operation of it (read and write: one megabyte).
 * Nothing is synced: it is the way to the page cache that is measured.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 1 << 20, SMALL = 2000 };

static char piece[PIECE];

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void check(int ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}

static void name_of(char *name, size_t size, const char *kind, int i)
{
	snprintf(name, size, "%s%d/%d", kind, i % 16, i);
}

static void make_folders(const char *kind)
{
	char name[64];

	for (int i = 0; i < 16; i++) {
		snprintf(name, sizeof(name), "%s%d", kind, i);
		check(mkdir(name, 0755) == 0, name);
	}
}

static void create_all(int files)
{
	for (int i = 0; i < files; i++) {
		char name[64];
		int fd;

		name_of(name, sizeof(name), "a", i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
		check(fd >= 0 && write(fd, piece, SMALL) == SMALL && close(fd) == 0, name);
	}
}

static void read_all(int files)
{
	for (int i = 0; i < files; i++) {
		char name[64];
		int fd;

		name_of(name, sizeof(name), "a", i);
		fd = open(name, O_RDONLY);
		check(fd >= 0 && read(fd, piece, SMALL) == SMALL && close(fd) == 0, name);
	}
}

static void stat_all(int files)
{
	for (int i = 0; i < files; i++) {
		struct stat st;
		char name[64];

		name_of(name, sizeof(name), "a", i);
		check(stat(name, &st) == 0, name);
	}
}

static void rename_all(int files)
{
	for (int i = 0; i < files; i++) {
		char from[64], to[64];

		name_of(from, sizeof(from), "a", i);
		name_of(to, sizeof(to), "b", i);
		check(rename(from, to) == 0, from);
	}
}

static void unlink_all(int files)
{
	for (int i = 0; i < files; i++) {
		char name[64];

		name_of(name, sizeof(name), "b", i);
		check(unlink(name) == 0, name);
	}
}

static void write_big(int megabytes)
{
	int fd = open("big", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	for (int i = 0; i < megabytes; i++)
		check(fd >= 0 && write(fd, piece, PIECE) == PIECE, "big");
	close(fd);
}

static void read_big(int megabytes)
{
	int fd = open("big", O_RDONLY);

	for (int i = 0; i < megabytes; i++)
		check(fd >= 0 && read(fd, piece, PIECE) == PIECE, "big");
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(int count);
		int argument; /* which one says how often */
	} works[] = {
		{ "create", create_all, 2 }, { "read", read_all, 2 },     { "stat", stat_all, 2 },
		{ "rename", rename_all, 2 }, { "unlink", unlink_all, 2 }, { "write_MB", write_big, 3 },
		{ "read_MB", read_big, 3 },
	};

	check(argc == 4, "usage: bench_io FOLDER FILES MEGABYTES");
	check(chdir(argv[1]) == 0, argv[1]);
	memset(piece, 'x', sizeof(piece));
	make_folders("a");
	make_folders("b");
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		int count = (int)strtol(argv[works[i].argument], NULL, 10);
		double start;

		sync(); /* what the one before left to be written is not this one's */
		start = now_us();
		works[i].run(count);
		printf("%s %.3f\n", works[i].name, (now_us() - start) / count);
	}
	check(unlink("big") == 0, "big");
	for (int i = 0; i < 32; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s%d", i < 16 ? "a" : "b", i % 16);
		check(rmdir(name) == 0, name);
	}
	return 0;
}
