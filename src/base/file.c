/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"

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

/* A pipe must not block, nor a terminal become ours, before fstat says what it is. */
bool file_read(const char *path, size_t max, struct file_text *ret, struct err *err)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	*ret = (struct file_text){ NULL, 0, 0 };
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ||
		       err_set_errno(err, errno, "Cannot read %s", path);
	return file_read_open(fd, path, max, ret, err);
}

/* ---- folders ---------------------------------------------------------------------- */

/* "/a/../b", "/a//b" and "/a/./b" name a folder that others name otherwise: what is found
 * beneath it would seem to be elsewhere. Links in a plain path stay as they are. */
static bool is_plain_path(const char *path)
{
	if (path[0] != '/' || strstr(path, "//"))
		return false;
	for (const char *at = strstr(path, "/."); at; at = strstr(at + 1, "/.")) {
		at += at[2] == '.';
		if (at[2] == '\0' || at[2] == '/')
			return false;
	}
	return true;
}

/* A folder that is missing has only its text. */
char *file_plain_path(const char *path)
{
	char *found = is_plain_path(path) ? mem_strdup(path) : realpath(path, NULL);

	return found || path[0] != '/' ? found : path_join("/", path);
}

char *file_home(void)
{
	const char *value = getenv("HOME");
	struct passwd entry, *found = NULL;
	char room[4096];

	if (value && *value)
		return file_plain_path(value);
	if (getpwuid_r(getuid(), &entry, room, sizeof(room), &found) != 0 || !found ||
	    entry.pw_dir[0] != '/')
		return NULL;
	return mem_strdup(entry.pw_dir);
}

bool file_may_make(const char *folder, struct err *err)
{
	_cleanup_free_ char *home = file_home();
	struct stat st;

	/* "/" at its end is no name. */
	for (size_t len = home ? strlen(home) : 0; len > 1 && home[len - 1] == '/'; len--)
		home[len - 1] = '\0';
	if (!home || !path_is_under(folder, home) || stat(home, &st) == 0 || errno != ENOENT)
		return true;
	return err_set(err, ERR_FILE_NOT_FOUND,
	               "The home folder %s does not exist, so nothing is saved; set "
	               "GEMINI_CLI_HOME to an existing folder to change that.", home);
}

/* For its owner, whatever the umask takes away: with 0777 nothing could be kept in it. */
static bool make_own_folder(const char *path)
{
	return mkdir(path, 0700) == 0 ? chmod(path, 0700) == 0 : errno == EEXIST;
}

bool file_make_folders(const char *folder, struct err *err)
{
	_cleanup_free_ char *path = mem_strdup(folder);

	if (access(folder, F_OK) == 0)
		return true;
	if (!file_may_make(folder, err))
		return false;
	if (make_own_folder(folder))
		return true;
	for (char *at = path + 1; errno == ENOENT && (at = strchr(at, '/')); at++) {
		*at = '\0';
		if (!make_own_folder(path))
			break;
		*at = '/';
		errno = ENOENT;
	}
	if (make_own_folder(folder))
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

/* Writes the new file next to the old one. */
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

/* ---- locks ------------------------------------------------------------------------ */

enum { STEP_FIRST_MS = 1, STEP_MAX_MS = 50, NOTICE_AFTER_MS = 500 };

static void file_lock_notice(const struct file_lock_wait *wait, const char *path, unsigned max_ms)
{
	_cleanup_free_ char *sentence = mem_printf(
		"Waiting for %s, which another program has locked; hasp gives up after %u s.", path,
		(max_ms + 999) / 1000);

	notices_say(&wait->notices, SEVERITY_INFO, sentence);
}

/* Returns when the time is over, or on cancellation. */
static void file_lock_sleep(const struct file_lock_wait *wait, int *step_ms)
{
	struct pollfd stop = { .fd = cancel_fd(wait->cancel), .events = POLLIN };

	fd_wait(&stop, 1, *step_ms);
	*step_ms = *step_ms * 2 < STEP_MAX_MS ? *step_ms * 2 : STEP_MAX_MS;
}

bool file_lock_take(int fd, const char *path, const struct file_lock_wait *wait, struct err *err)
{
	static const struct file_lock_wait plain = { 0 };
	uint64_t started = clock_monotonic_ms(), waited;
	unsigned max_ms;
	int step_ms = STEP_FIRST_MS;
	bool noticed = false;

	wait = wait ? wait : &plain;
	max_ms = wait->max_ms ? wait->max_ms : FILE_LOCK_WAIT_MS;
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_set_errno(err, errno, "Cannot lock %s", path);
		if (cancelled(wait->cancel))
			return err_set(err, ERR_CANCELLED,
			               "Waiting for the lock on %s was cancelled.",
			               path);
		waited = clock_monotonic_ms() - started;
		if (waited >= max_ms)
			return err_set(err, ERR_BUSY,
			               "%s has been locked by another program for %u s; nothing "
			               "was changed. \"fuser -v %s\" names that program: wait for "
			               "its end, or end it, and try again.",
			               path, (max_ms + 999) / 1000, path);
		if (wait->notices.notice && !noticed && waited >= NOTICE_AFTER_MS) {
			noticed = true;
			file_lock_notice(wait, path, max_ms);
		}
		file_lock_sleep(wait, &step_ms);
	}
	return true;
}

int file_lock_next_to(const char *path, unsigned max_ms)
{
	const struct file_lock_wait wait = { .max_ms = max_ms };
	_cleanup_free_ char *lock_path = mem_printf("%s.lock", path);
	struct err ignored = ERR_INIT;
	_cleanup_fd_ int fd = -1;

	if (!file_make_parent(path, &ignored))
		return -1;
	fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || !file_lock_take(fd, lock_path, &wait, &ignored))
		return -1;
	return fd_steal(&fd);
}
