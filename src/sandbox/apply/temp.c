/* SPDX-License-Identifier: Apache-2.0 */
/* A folder "hasp-UID/hasp-session-XXXXXX", with a lock (flock) on the folder itself.
 *
 * A process that finds such a folder, of the same user and unlocked, locks it and removes it.  One
 * that makes a folder checks after locking it that it is still there: from then on it is safe.
 * "hasp-UID" belongs to the user and no one else can write to it: it keeps a start from reading all
 * of /tmp, and goes with the last folder in it.  Where that name is another's, the folder is made
 * next to it. */
#include "sandbox/apply/temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* ---- depth is made away with ---- */

/* A folder inside a folder is first moved up to the top, under a new name, and
 * then is just another entry of it.  Each folder is moved once at most. */

struct removal {
	int top;
	dev_t device;
	uint64_t end_ms;
	unsigned long counter; /* of new names */
	bool moved;            /* something came to the top since its reading began */
};

/* A folder's descriptor, for reading; it is made readable and writable if it must be. Never a
 * symlink, never another file system. */
static int removal_open_folder(const struct removal *removal, int above, const char *name)
{
	enum { HOW = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
	char link[32];
	struct stat at;
	_cleanup_fd_ int place = openat(above, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (place < 0 || fstat(place, &at) != 0)
		return -1;
	if (at.st_dev != removal->device) {
		errno = EXDEV;
		return -1;
	}
	if ((at.st_mode & S_IRWXU) != S_IRWXU) {
		/* By descriptor: a name could become a symlink. */
		snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
		(void)!chmod(link, S_IRWXU);
	}
	return openat(place, ".", HOW);
}

static bool is_dot_or_dotdot(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* A folder that is in the way: removed if it is empty, else moved to the top. */
static void lift(struct removal *removal, int above, const char *name)
{
	char fresh[40];
	int failed;

	if (unlinkat(above, name, AT_REMOVEDIR) == 0)
		return;
	/* Moving changes the folder's "..": it must be writable. */
	fd_cleanup_close(&(int){ removal_open_folder(removal, above, name) });
	do
		snprintf(fresh, sizeof(fresh), ".%lu~", removal->counter++);
	while ((failed = renameat2(above, name, removal->top, fresh, RENAME_NOREPLACE)) != 0 &&
	       errno == EEXIST);
	removal->moved = removal->moved || !failed;
}

static DIR *open_listing(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Empties a folder of the top. */
static void removal_empty_folder(struct removal *removal, int folder)
{
	DIR *dir = open_listing(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL && clock_monotonic_ms() < removal->end_ms) {
		if (is_dot_or_dotdot(entry->d_name) || unlinkat(folder, entry->d_name, 0) == 0)
			continue;
		if (errno == EISDIR || errno == EPERM)
			lift(removal, folder, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

static void remove_entry(struct removal *removal, const char *name)
{
	_cleanup_fd_ int folder = -1;

	if (unlinkat(removal->top, name, 0) == 0 || unlinkat(removal->top, name, AT_REMOVEDIR) == 0)
		return;
	folder = removal_open_folder(removal, removal->top, name);
	if (folder >= 0)
		removal_empty_folder(removal, folder);
	unlinkat(removal->top, name, AT_REMOVEDIR);
}

bool temp_remove_folder(int above, const char *name, int folder, unsigned timeout_ms)
{
	struct removal removal = { .top = folder, .end_ms = clock_monotonic_ms() + timeout_ms };
	struct dirent *entry;
	struct stat at;
	DIR *dir;

	if (fstat(folder, &at) != 0)
		return false;
	removal.device = at.st_dev;
	do {
		removal.moved = false;
		dir = open_listing(folder);
		while (dir && (entry = readdir(dir)) != NULL &&
		       clock_monotonic_ms() < removal.end_ms) {
			if (!is_dot_or_dotdot(entry->d_name))
				remove_entry(&removal, entry->d_name);
		}
		if (dir)
			closedir(dir);
	} while (dir && removal.moved && clock_monotonic_ms() < removal.end_ms);
	return unlinkat(above, name, AT_REMOVEDIR) == 0;
}

/* ---- A folder "hasp-session-XXXXXX", with a lock (flock) on the folder itself ---- */

#define PREFIX "hasp-session-"

/* How long the start of a session may spend on what others left, and its end on its own. */
enum { STALE_MS = 200, STALE_EACH_MS = 100, OWN_MS = 20000, STALE_ENTRIES = 100000, TRIES = 100 };

struct temp_folder {
	char *path;     /* owned */
	const char *name; /* the end of path */
	char users[24]; /* the folder of this user's in `base`; empty: another has that name */
	int base, above, fd;  /* owned; fd holds the lock */
};

static bool is_temp_name(const char *name)
{
	return strncmp(name, PREFIX, strlen(PREFIX)) == 0 && strlen(name) == strlen(PREFIX) + 6;
}

static void remove_temp_if_stale(int above, const char *name)
{
	_cleanup_fd_ int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat at;

	if (fd < 0 || fstat(fd, &at) != 0 || at.st_uid != geteuid() || (at.st_mode & 077) != 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		temp_remove_folder(above, name, fd, STALE_EACH_MS);
}

static void remove_stale_temps(const struct temp_folder *folder)
{
	uint64_t end = clock_monotonic_ms() + STALE_MS;
	DIR *dir = open_listing(folder->above);
	const struct dirent *entry;

	for (int i = 0;
	     dir && i < STALE_ENTRIES && clock_monotonic_ms() < end && (entry = readdir(dir));
	     i++) {
		if (is_temp_name(entry->d_name) && strcmp(entry->d_name, folder->name) != 0)
			remove_temp_if_stale(folder->above, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

/* Locks the folder just made; false if another process took it for a stale one meanwhile. */
static bool lock_new_folder(struct temp_folder *folder)
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

/* Opens a folder of this user's and makes its mode 700: the umask may have taken all of it away.
 * By descriptor, as a name could become a symlink.  -1: it is another's, or no folder. */
static int open_to_owner(int above, const char *name)
{
	_cleanup_fd_ int place = openat(above, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char link[32];
	struct stat at;

	if (place < 0 || fstat(place, &at) != 0 || at.st_uid != geteuid())
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	if ((at.st_mode & 07777) != S_IRWXU && chmod(link, S_IRWXU) != 0)
		return -1;
	return openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool is_open_to_owner(const struct temp_folder *folder)
{
	_cleanup_fd_ int fd = open_to_owner(folder->above, folder->name);

	return fd >= 0;
}

/* The folder above the new one: that of the user's, made if it is missing, or `base` itself. */
static bool open_above(struct temp_folder *folder)
{
	fd_cleanup_close(&folder->above);
	snprintf(folder->users, sizeof(folder->users), "hasp-%u", (unsigned)geteuid());
	folder->above = mkdirat(folder->base, folder->users, S_IRWXU) == 0 || errno == EEXIST ?
	                        open_to_owner(folder->base, folder->users) : -1;
	if (folder->above < 0) {
		folder->users[0] = '\0';
		folder->above = openat(folder->base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	return folder->above >= 0;
}

/* The user's folder may go, with the last session that ended, before this one is in it. */
static bool temp_make_in(struct temp_folder *folder, const char *base)
{
	char canonical[PATH_MAX];

	if (!realpath(base, canonical))
		return false;
	folder->base = open(canonical, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; folder->base >= 0 && i < TRIES && open_above(folder); i++) {
		free(folder->path);
		folder->path = mem_printf("%s/%s%s" PREFIX "XXXXXX",
		                          strcmp(canonical, "/") == 0 ? "" : canonical,
		                          folder->users, folder->users[0] ? "/" : "");
		if (!mkdtemp(folder->path)) {
			if (errno == ENOENT && folder->users[0])
				continue;
			return false;
		}
		folder->name = strrchr(folder->path, '/') + 1;
		if (is_open_to_owner(folder) && lock_new_folder(folder))
			return true;
	}
	return false;
}

static void temp_folder_close(struct temp_folder *folder)
{
	fd_cleanup_close(&folder->fd);
	fd_cleanup_close(&folder->above);
	fd_cleanup_close(&folder->base);
	folder->fd = folder->above = folder->base = -1;
}

bool temp_folder_make(struct temp_folder **ret, struct err *err)
{
	const char *bases[] = { getenv("TMPDIR"), "/tmp" };
	struct temp_folder folder = { .base = -1, .above = -1, .fd = -1 };
	bool made = false;

	for (size_t i = 0; i < ARRAY_LEN(bases) && !made; i++) {
		temp_folder_close(&folder);
		made = bases[i] && bases[i][0] == '/' && temp_make_in(&folder, bases[i]);
	}
	if (!made) {
		err_set_errno(err, errno, "A folder for temporary files cannot be made");
		temp_folder_close(&folder);
		free(folder.path);
		return false;
	}
	remove_stale_temps(&folder);
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
	temp_remove_folder(folder->above, folder->name, folder->fd, OWN_MS);
	if (folder->users[0])
		unlinkat(folder->base, folder->users, AT_REMOVEDIR); /* while it is empty */
	temp_folder_close(folder);
	free(folder->path);
	free(folder);
}
