/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/job/logs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"

struct logs {
	char *folder;        /* owned */
	bool keep;
	pthread_mutex_t lock;
	char *session;       /* owned; NULL before the first log */
	int session_fd;      /* owned; holds the lock */
};

struct logs *logs_new(const char *folder, bool keep)
{
	struct logs *logs = mem_alloc(1, sizeof(*logs));

	logs->folder = mem_strdup(folder);
	logs->keep = keep;
	logs->session_fd = -1;
	pthread_mutex_init(&logs->lock, NULL);
	return logs;
}

/* Names in it only: a session's folder has no folders. */
static void remove_session(int parent, const char *name, int fd)
{
	int again = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	DIR *folder = again < 0 ? NULL : fdopendir(again);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(fd, entry->d_name, 0);
	if (folder)
		closedir(folder);
	unlinkat(parent, name, AT_REMOVEDIR);
}

static void remove_if_stale(int parent, const char *name)
{
	_cleanup_fd_ int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	    faccessat(fd, "keep", F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		remove_session(parent, name, fd);
}

static void remove_stale(const char *folder)
{
	DIR *parent = opendir(folder);
	const struct dirent *entry;

	while (parent && (entry = readdir(parent)))
		if (strncmp(entry->d_name, "session-", 8) == 0)
			remove_if_stale(dirfd(parent), entry->d_name);
	if (parent)
		closedir(parent);
}

static bool make_parents(const char *folder)
{
	_cleanup_free_ char *path = mem_strdup(folder);

	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* A session is made under a name that the sweep of others passes by, until it is locked. */
static bool make_session(struct logs *logs)
{
	_cleanup_free_ char *path = mem_printf("%s/new-XXXXXX", logs->folder);
	_cleanup_free_ char *final = NULL;
	_cleanup_fd_ int fd = -1;

	if (!make_parents(logs->folder))
		return false;
	remove_stale(logs->folder);
	if (!mkdtemp(path))
		return false;
	final = mem_printf("%s/session-%s", logs->folder, path + strlen(path) - 6);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || rename(path, final) < 0) {
		rmdir(path);
		return false;
	}
	if (logs->keep) {
		_cleanup_fd_ int keep = openat(fd, "keep", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		(void)keep;
	}
	logs->session = mem_steal(&final);
	logs->session_fd = fd_steal(&fd);
	return true;
}

int logs_open(struct logs *logs, unsigned id, char **ret_path)
{
	_cleanup_free_ char *name = mem_printf("%u.log", id);
	bool ready;
	int fd;

	pthread_mutex_lock(&logs->lock);
	ready = logs->session || make_session(logs);
	pthread_mutex_unlock(&logs->lock);
	if (!ready)
		return -1;
	fd = openat(logs->session_fd, name,
	            O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		*ret_path = mem_printf("%s/%s", logs->session, name);
	return fd;
}

void logs_free(struct logs *logs)
{
	if (!logs)
		return;
	if (logs->session && !logs->keep) {
		_cleanup_fd_ int parent = open(logs->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

		remove_session(parent, strrchr(logs->session, '/') + 1, logs->session_fd);
	}
	fd_cleanup_close(&logs->session_fd);
	free(logs->session);
	free(logs->folder);
	pthread_mutex_destroy(&logs->lock);
	free(logs);
}
