/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on files outside the workspace. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "attack.h"

static bool overwrite(char **path)
{
	return deface(open(path[0], O_WRONLY | O_TRUNC));
}

static bool append(char **path)
{
	return deface(open(path[0], O_WRONLY | O_APPEND));
}

static bool shorten(char **path)
{
	return truncate(path[0], 1) == 0 || refused("truncate");
}

static bool map(char **path)
{
	int fd = open(path[0], O_RDWR);
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return refused("open or mmap");
	memcpy(memory, "ATTACK", 6);
	return msync(memory, 4096, MS_SYNC) == 0;
}

static bool remove_file(char **path)
{
	return unlink(path[0]) == 0 || refused("unlink");
}

static bool move(char **paths)
{
	return rename(paths[0], paths[1]) == 0 || refused("rename");
}

static bool exchange(char **paths)
{
	return renameat2(AT_FDCWD, paths[0], AT_FDCWD, paths[1], RENAME_EXCHANGE) == 0 ||
	       refused("renameat2");
}

static bool create(char **path)
{
	return deface(open(path[0], O_WRONLY | O_CREAT | O_EXCL, 0666));
}

static bool make_folder(char **path)
{
	return mkdir(path[0], 0777) == 0 || refused("mkdir");
}

static bool make_link(char **path)
{
	return symlink("x", path[0]) == 0 || refused("symlink");
}

static bool make_pipe(char **path)
{
	return mkfifo(path[0], 0666) == 0 || refused("mkfifo");
}

/* A second name inside for a file outside, and the file written through it. */
static bool hard_link(char **paths)
{
	if (link(paths[0], paths[1]) != 0)
		return refused("link");
	return overwrite(paths + 1);
}

static bool hard_link_of_descriptor(char **paths)
{
	int fd = open(paths[0], O_PATH);
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, name, AT_FDCWD, paths[1], AT_SYMLINK_FOLLOW) != 0)
		return refused("linkat");
	return overwrite(paths + 1);
}

static bool nameless(char **paths)
{
	int fd = open(paths[0], O_TMPFILE | O_WRONLY, 0666);
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (fd < 0 || linkat(AT_FDCWD, name, AT_FDCWD, paths[1], AT_SYMLINK_FOLLOW) != 0)
		return refused("O_TMPFILE");
	return true;
}

static bool change_mode(char **path)
{
	return chmod(path[0], 0777) == 0 || refused("chmod");
}

static bool change_owner(char **path)
{
	struct stat st;

	/* To what it is: allowed to its owner, and seen in the change time. */
	return (stat(path[0], &st) == 0 && chown(path[0], st.st_uid, st.st_gid) == 0) ||
	       refused("chown");
}

static bool change_times(char **path)
{
	const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

	return utimensat(AT_FDCWD, path[0], times, 0) == 0 || refused("utimensat");
}

static bool set_attribute(char **path)
{
	return setxattr(path[0], "user.attack", "x", 1, 0) == 0 || refused("setxattr");
}

/* The same through a descriptor that was opened for reading. */
static bool by_descriptor(char **path)
{
	const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };
	int fd = open(path[0], O_RDONLY);
	bool any = fd >= 0 && fchmod(fd, 0777) == 0;

	any |= fd >= 0 && futimens(fd, times) == 0;
	any |= fd >= 0 && fsetxattr(fd, "user.attack", "x", 1, 0) == 0;
	return any || refused("fchmod, futimens, fsetxattr");
}

static bool by_magic_link(char **path)
{
	int fd = open(path[0], O_PATH);
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return chmod(name, 0777) == 0 || refused("chmod of /proc/self/fd");
}

static bool open_again(char **path)
{
	int fd = open(path[0], O_PATH);
	char name[64];

	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	return deface(open(name, O_WRONLY));
}

static bool set_flags(char **path)
{
	int fd = open(path[0], O_RDONLY), flags = 0;

	if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0)
		return refused("FS_IOC_GETFLAGS");
	flags ^= FS_NODUMP_FL;
	return ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0 || refused("FS_IOC_SETFLAGS");
}

/* A file's handle leads past folders, mounts and Landlock's rules about them. */
static bool by_handle(char **path)
{
	struct {
		struct file_handle handle;
		char room[MAX_HANDLE_SZ];
	} file = { .handle.handle_bytes = MAX_HANDLE_SZ };
	int mount, at, fd;

	if (name_to_handle_at(AT_FDCWD, path[0], &file.handle, &mount, 0) != 0)
		return refused("name_to_handle_at");
	at = open(path[1], O_RDONLY | O_DIRECTORY);
	fd = open_by_handle_at(at, &file.handle, O_WRONLY);
	return fd >= 0 ? deface(fd) : refused("open_by_handle_at");
}

/* ---- inherited descriptors ---- */

static bool write_inherited(char **fd)
{
	return deface((int)number(fd[0]));
}

static bool truncate_inherited(char **fd)
{
	return ftruncate((int)number(fd[0]), 1) == 0 || refused("ftruncate");
}

/* ---- races ---- */

static long milliseconds_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - begin->tv_sec) * 1000 + (now.tv_nsec - begin->tv_nsec) / 1000000;
}

static volatile bool racing;
static char **raced;

/* `race` is in turn a folder and a symbolic link to the folder outside. */
static void *swap(void *data)
{
	(void)data;
	while (racing)
		renameat2(AT_FDCWD, raced[0], AT_FDCWD, raced[1], RENAME_EXCHANGE);
	return NULL;
}

static bool race_links(char **paths) /* folder, link to outside, name */
{
	struct timespec begin;
	pthread_t thread;
	char path[4096];
	long tries = 0;

	snprintf(path, sizeof(path), "%s/%s", paths[0], paths[2]);
	raced = paths;
	racing = true;
	if (pthread_create(&thread, NULL, swap, NULL) != 0)
		return refused("pthread_create");
	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		int fd = open(path, O_WRONLY | O_TRUNC);

		if (fd >= 0) {
			(void)!write(fd, "ATTACK", 6);
			close(fd);
		}
		tries++;
	} while (milliseconds_since(&begin) < 300);
	racing = false;
	pthread_join(thread, NULL);
	printf("%ld tries\n", tries);
	return true;
}

static char path_text[4096];
static const char *benign, *forbidden;

/* The text of a path changes while the kernel, and who is asked by it, read it. */
static void *flip(void *data)
{
	(void)data;
	while (racing) {
		memcpy(path_text, benign, strlen(benign) + 1);
		memcpy(path_text, forbidden, strlen(forbidden) + 1);
	}
	return NULL;
}

static bool race_text(char **paths) /* harmless, forbidden: of the same length */
{
	struct timespec begin;
	pthread_t thread;
	struct stat st;

	benign = paths[0];
	forbidden = paths[1];
	racing = true;
	memcpy(path_text, benign, strlen(benign) + 1);
	if (pthread_create(&thread, NULL, flip, NULL) != 0)
		return refused("pthread_create");
	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (milliseconds_since(&begin) < 400 && lstat(forbidden, &st) != 0) {
		int fd = open(path_text, O_WRONLY | O_CREAT, 0666);

		if (fd >= 0)
			close(fd);
	}
	racing = false;
	pthread_join(thread, NULL);
	return deface(open(forbidden, O_WRONLY));
}

/* ---- limits and devices ---- */

static bool grow(char **arguments) /* path, GiB */
{
	int fd = open(arguments[0], O_WRONLY | O_CREAT, 0666);

	signal(SIGXFSZ, SIG_IGN);
	return (fd >= 0 && ftruncate(fd, (off_t)number(arguments[1]) << 30) == 0) ||
	       refused("ftruncate");
}

/* The disk's own device file, made in the workspace. */
static bool make_device(char **path)
{
	return mknod(path[0], S_IFBLK | 0600, makedev(7, 0)) == 0 || refused("mknod");
}

static bool open_for_writing(char **path)
{
	return open(path[0], O_WRONLY) >= 0 || refused("open");
}

/* Writes back what it holds. */
static bool write_back(char **path)
{
	char text[4096];
	int in = open(path[0], O_RDONLY), out = open(path[0], O_WRONLY);
	ssize_t n = in < 0 ? -1 : read(in, text, sizeof(text));

	return (out >= 0 && n >= 0 && write(out, text, (size_t)n) == n) || refused("open or write");
}

static bool look(char **path)
{
	struct stat st;

	return stat(path[0], &st) == 0 || refused("stat");
}

static bool lock(char **path)
{
	int fd = open(path[0], O_RDONLY);

	return (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) || refused("flock");
}

static bool show(char **path)
{
	char text[4096];
	int fd = open(path[0], O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	return n >= 0 ? fwrite(text, 1, (size_t)n, stdout) == (size_t)n : refused("open or read");
}

const struct attack file_attacks[] = {
	{ "overwrite", 1, overwrite },
	{ "append", 1, append },
	{ "truncate", 1, shorten },
	{ "mmap", 1, map },
	{ "unlink", 1, remove_file },
	{ "rename", 2, move },
	{ "exchange", 2, exchange },
	{ "create", 1, create },
	{ "mkdir", 1, make_folder },
	{ "symlink", 1, make_link },
	{ "mkfifo", 1, make_pipe },
	{ "link", 2, hard_link },
	{ "link-descriptor", 2, hard_link_of_descriptor },
	{ "tmpfile", 2, nameless },
	{ "chmod", 1, change_mode },
	{ "chown", 1, change_owner },
	{ "utimes", 1, change_times },
	{ "setxattr", 1, set_attribute },
	{ "metadata-by-descriptor", 1, by_descriptor },
	{ "chmod-by-magic-link", 1, by_magic_link },
	{ "open-again", 1, open_again },
	{ "setflags", 1, set_flags },
	{ "handle", 2, by_handle },
	{ "write-inherited", 1, write_inherited },
	{ "truncate-inherited", 1, truncate_inherited },
	{ "race-links", 3, race_links },
	{ "race-text", 2, race_text },
	{ "grow", 2, grow },
	{ "mknod", 1, make_device },
	{ "open-for-writing", 1, open_for_writing },
	{ "write-back", 1, write_back },
	{ "stat", 1, look },
	{ "flock", 1, lock },
	{ "show", 1, show },
	{ NULL, 0, NULL },
};
