/* SPDX-License-Identifier: Apache-2.0 */
/* A folder "hasp-session-XXXXXX", with a lock (flock) on the folder itself.
 *
 * Who finds such a folder of its own user whose lock is free locks it and removes it.  Who
 * makes one looks, after locking it, whether it is still there: then it is safe.
 */
#include "sandbox/apply/temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/apply/remove.h"

#define PREFIX "hasp-session-"

/* How long the start of a session may spend on what others left, and its end on its own. */
enum { STALE_MS = 200, STALE_EACH_MS = 100, OWN_MS = 20000, STALE_ENTRIES = 100000, TRIES = 100 };

struct temp_folder {
	char *path;     /* owned */
	const char *name; /* the end of path */
	int above, fd;  /* owned; fd holds the lock */
};

static bool is_ours(const char *name)
{
	return strncmp(name, PREFIX, strlen(PREFIX)) == 0 && strlen(name) == strlen(PREFIX) + 6;
}

static void remove_if_stale(int above, const char *name)
{
	_cleanup_fd_ int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat at;

	if (fd < 0 || fstat(fd, &at) != 0 || at.st_uid != geteuid() || (at.st_mode & 077) != 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		remove_folder(above, name, fd, STALE_EACH_MS);
}

static void remove_stale(int above)
{
	uint64_t end = monotonic_ms() + STALE_MS;
	int fd = openat(above, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	for (int i = 0; dir && i < STALE_ENTRIES && monotonic_ms() < end && (entry = readdir(dir)); i++) {
		if (is_ours(entry->d_name))
			remove_if_stale(above, entry->d_name);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* Locks what was just made; false when somebody took it for a stale one in that moment. */
static bool hold(struct temp_folder *folder)
{
	struct stat here, there;

	folder->fd = openat(folder->above, folder->name,
	                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder->fd >= 0 && flock(folder->fd, LOCK_EX | LOCK_NB) == 0 &&
	    fstat(folder->fd, &here) == 0 &&
	    fstatat(folder->above, folder->name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	    here.st_ino == there.st_ino && here.st_dev == there.st_dev)
		return true;
	fd_cleanup_close(&folder->fd);
	folder->fd = -1;
	return false;
}

static bool make_in(struct temp_folder *folder, const char *base)
{
	char canonical[PATH_MAX];

	if (!realpath(base, canonical))
		return false;
	folder->above = open(canonical, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; folder->above >= 0 && i < TRIES; i++) {
		free(folder->path);
		folder->path = mem_printf("%s/" PREFIX "XXXXXX",
		                          strcmp(canonical, "/") == 0 ? "" : canonical);
		if (!mkdtemp(folder->path))
			return false;
		folder->name = strrchr(folder->path, '/') + 1;
		if (hold(folder))
			return true;
	}
	return false;
}

bool temp_folder_make(struct temp_folder **ret, struct err *err)
{
	const char *bases[] = { getenv("TMPDIR"), "/tmp" };
	struct temp_folder folder = { .above = -1, .fd = -1 };
	bool made = false;

	for (size_t i = 0; i < ARRAY_LEN(bases) && !made; i++) {
		fd_cleanup_close(&folder.above);
		folder.above = -1;
		made = bases[i] && bases[i][0] == '/' && make_in(&folder, bases[i]);
	}
	if (!made) {
		fd_cleanup_close(&folder.above);
		free(folder.path);
		return err_set_errno(err, errno, "A folder for temporary files cannot be made");
	}
	remove_stale(folder.above);
	*ret = mem_alloc(1, sizeof(**ret));
	**ret = folder;
	return true;
}

const char *temp_folder_path(const struct temp_folder *folder)
{
	return folder->path;
}

void temp_folder_free(struct temp_folder *folder)
{
	if (!folder)
		return;
	remove_folder(folder->above, folder->name, folder->fd, OWN_MS);
	close(folder->fd);
	close(folder->above);
	free(folder->path);
	free(folder);
}
