/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

void file_text_release(struct file_text *text)
{
	free(text->data);
	text->data = NULL;
	text->len = 0;
}

bool file_read_open(int fd, const char *path, size_t max, struct file_text *ret, struct err *err)
{
	_cleanup_free_ char *data = NULL;
	struct stat st;
	ssize_t got;

	*ret = (struct file_text){ NULL, 0, 0 };
	if (fstat(fd, &st) < 0)
		return err_set_errno(err, errno, "Cannot read %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_NOT_A_FILE, "%s is not a regular file.", path);
	if ((uint64_t)st.st_size > max)
		return err_set(err, ERR_TOO_LARGE, "%s has more than %zu bytes.", path, max);
	data = mem_alloc((size_t)st.st_size + 1, 1);
	got = fd_read_full(fd, data, (size_t)st.st_size);
	if (got < 0)
		return err_set_errno(err, errno, "Cannot read %s", path);
	data[got] = '\0';
	*ret = (struct file_text){ mem_steal(&data), (size_t)got, st.st_mode & 07777 };
	return true;
}

/* A pipe must not block, nor a terminal become ours, before fstat tells. */
bool file_read(const char *path, size_t max, struct file_text *ret, struct err *err)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	*ret = (struct file_text){ NULL, 0, 0 };
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ||
		       err_set_errno(err, errno, "Cannot read %s", path);
	return file_read_open(fd, path, max, ret, err);
}

bool file_make_folders(const char *folder, struct err *err)
{
	_cleanup_free_ char *path = mem_strdup(folder);

	if (mkdir(folder, 0700) == 0 || errno == EEXIST)
		return true;
	for (char *at = path + 1; errno == ENOENT && (at = strchr(at, '/')); at++) {
		*at = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			break;
		*at = '/';
		errno = ENOENT;
	}
	if (mkdir(folder, 0700) == 0 || errno == EEXIST)
		return true;
	return err_set_errno(err, errno, "Cannot make the folder %s", folder);
}

bool file_make_parent(const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *folder = slash && slash > path ? mem_dup(path, (size_t)(slash - path))
	                                                    : NULL;

	return !folder || file_make_folders(folder, err);
}

/* Writes the new file beside the old one. */
static bool file_write_new(const char *temporary, struct span text, mode_t mode, struct err *err)
{
	_cleanup_fd_ int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
	                           0600);

	if (fd < 0 || fchmod(fd, mode) < 0 || !fd_write_all(fd, text.data, text.len) ||
	    fsync(fd) < 0)
		return err_set_errno(err, errno, "Cannot write %s", temporary);
	return true;
}

bool file_replace(const char *path, struct span text, mode_t mode, struct err *err)
{
	_cleanup_free_ char *target = realpath(path, NULL);
	_cleanup_free_ char *temporary = NULL;
	struct timespec now;

	if (!file_make_parent(path, err))
		return false;
	if (!target)
		target = mem_strdup(path);
	clock_gettime(CLOCK_MONOTONIC, &now);
	temporary = mem_printf("%s.%d.%lx.tmp", target, (int)getpid(),
	                       (unsigned long)now.tv_nsec);
	if (!file_write_new(temporary, text, mode, err)) {
		unlink(temporary);
		return false;
	}
	if (rename(temporary, target) == 0)
		return true;
	err_set_errno(err, errno, "Cannot replace %s", target);
	unlink(temporary);
	return false;
}
