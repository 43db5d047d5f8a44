/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a coverage build (meson -Dcoverage=true) that outlive every end of a process.
 *
 * clang's own runtime writes a profile when exit runs its handlers: never for workers, which end with _exit or are
 * killed, and never inside a sandbox, where the file does not exist.  Here each image (program or module) maps a shared
 * file over its counters before main, so every count is in the file as soon as it is made.  The file is a complete
 * profile ("profraw") from the start; script/lib/coverage.py merges them.  With COUNTERS_ONLY in the environment a program
 * does nothing else, so that no test sees the calls that make the file.
 *
 * A worker is this program, executed inside its sandbox with all descriptors closed on execution but its own.  The file's
 * descriptor has a fixed number, and `syscall` is wrapped (-Wl,--wrap=syscall) to leave it open over an execveat of this
 * program.  Commands do not get it: a hasp that one starts is not counted, and does not try, as the sandbox would report a
 * file that was denied.
 *
 * Clang's calls and the layout of the file: compiler-rt/include/profile/InstrProfData.inc, InstrProfilingBuffer.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	COUNTERS_FD = 97, /* small: tests limit the number of descriptors */
	HEADER_WORDS = 11, /* of 64 bits: magic, version, ids, data, padding, counters, padding, names, ... */
	PADDING_WORD = 4,
	IDS_WORD = 2,
};

uint64_t __llvm_profile_get_size_for_buffer(void);
int __llvm_profile_write_buffer(char *buffer);
char *__llvm_profile_begin_counters(void);
char *__llvm_profile_end_counters(void);
const char *__llvm_profile_begin_data(void);
const char *__llvm_profile_end_data(void);
const char *__llvm_profile_begin_names(void);
const char *__llvm_profile_end_names(void);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* Defined here, so that the runtime does not start its own writing at exit. */
int __llvm_profile_runtime = 1;
/* Added to the address of each counter (-runtime-counter-relocation). */
extern intptr_t __llvm_profile_counter_bias;

/* This program's file. */
static struct stat own;

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
	return hash;
}

/* One file for each image, by what it has functions for. */
static void format_path(char *path, size_t room, uint64_t size)
{
	const char *names = __llvm_profile_begin_names();
	uint64_t hash = hash_bytes(0xcbf29ce484222325u, names, (size_t)(__llvm_profile_end_names() - names));

	snprintf(path, room, "%s/%016llx-%llx.profraw", COUNTERS_FOLDER, (unsigned long long)hash,
	         (unsigned long long)size);
}

/* Makes the file under a name of its own and links it, so that two that start together have one. */
static int make_file(const char *path, uint64_t size)
{
	char temporary[4096];
	char *bytes = calloc(1, size);
	int fd = -1;

	snprintf(temporary, sizeof(temporary), "%s.%d", path, getpid());
	if (bytes && __llvm_profile_write_buffer(bytes) == 0)
		fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd >= 0) {
		fchmod(fd, 0666); /* for processes of other users */
		if (write(fd, bytes, size) == (ssize_t)size)
			(void)!link(temporary, path);
		unlink(temporary);
		close(fd);
	}
	free(bytes);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* The descriptor that a front has left open for its worker. */
static int inherited(uint64_t size)
{
	struct stat stat;

	if (fstat(COUNTERS_FD, &stat) != 0 || !S_ISREG(stat.st_mode) || (uint64_t)stat.st_size != size ||
	    (fcntl(COUNTERS_FD, F_GETFL) & O_ACCMODE) != O_RDWR)
		return -1;
	return COUNTERS_FD;
}

static int open_file(uint64_t size)
{
	char path[4096];
	int fd = inherited(size);

	if (fd >= 0 || prctl(PR_GET_NO_NEW_PRIVS, 0UL, 0UL, 0UL, 0UL) == 1) /* what a sandbox sets */
		return fd;
	format_path(path, sizeof(path), size);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd >= 0 || errno != ENOENT ? fd : make_file(path, size);
}

static size_t counters_offset(const uint64_t *header)
{
	return HEADER_WORDS * sizeof(uint64_t) + header[IDS_WORD] + header[PADDING_WORD] +
	       (size_t)(__llvm_profile_end_data() - __llvm_profile_begin_data());
}

__attribute__((constructor(101))) static void counters_share(void)
{
	uint64_t size = __llvm_profile_get_size_for_buffer();
	int kept_errno = errno, fd = open_file(size);
	char *map;

	if (stat("/proc/self/exe", &own) != 0)
		own.st_ino = 0;
	if (getenv("COUNTERS_ONLY"))
		_exit(0);
	if (fd < 0) {
		errno = kept_errno;
		return;
	}
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	/* A worker starts none, and looks at what it was given; of a module the number is taken. */
	if (fd != COUNTERS_FD && fcntl(COUNTERS_FD, F_GETFD) < 0)
		dup3(fd, COUNTERS_FD, O_CLOEXEC);
	close(fd);
	if (map != MAP_FAILED)
		__llvm_profile_counter_bias = (intptr_t)(map + counters_offset((const uint64_t *)(void *)map)) -
		                              (intptr_t)__llvm_profile_begin_counters();
	errno = kept_errno;
}

long __wrap_syscall(long number, ...)
{
	struct stat program;
	long words[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		words[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_execveat && fstat((int)words[0], &program) == 0 && program.st_dev == own.st_dev &&
	    program.st_ino == own.st_ino)
		fcntl(COUNTERS_FD, F_SETFD, 0);
	return __real_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
