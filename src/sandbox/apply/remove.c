/* SPDX-License-Identifier: Apache-2.0 */
/* Depth is made away with: a folder inside a folder is first moved up to the top, under a new name, and
 * then is just another entry of it.  Each folder is moved once at most. */
#include "sandbox/apply/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

struct removal {
	int top;
	dev_t device;
	uint64_t end_ms;
	unsigned long counter; /* of new names */
	bool moved;            /* something came to the top since its reading began */
};

/* A folder's descriptor, for reading; it is made readable and writable if it must be. Never a
 * symlink, never another file system. */
static int open_folder(const struct removal *removal, int above, const char *name)
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

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* A folder that is in the way: gone if it is empty, else moved to the top. */
static void lift(struct removal *removal, int above, const char *name)
{
	char fresh[40];
	int failed;

	if (unlinkat(above, name, AT_REMOVEDIR) == 0)
		return;
	/* Moving changes the folder's "..": it must be writable. */
	fd_cleanup_close(&(int){ open_folder(removal, above, name) });
	do
		snprintf(fresh, sizeof(fresh), ".%lu~", removal->counter++);
	while ((failed = renameat2(above, name, removal->top, fresh, RENAME_NOREPLACE)) != 0 &&
	       errno == EEXIST);
	removal->moved = removal->moved || !failed;
}

static DIR *list(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Empties a folder of the top. */
static void empty(struct removal *removal, int folder)
{
	DIR *dir = list(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL && monotonic_ms() < removal->end_ms) {
		if (is_dots(entry->d_name) || unlinkat(folder, entry->d_name, 0) == 0)
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
	folder = open_folder(removal, removal->top, name);
	if (folder >= 0)
		empty(removal, folder);
	unlinkat(removal->top, name, AT_REMOVEDIR);
}

bool remove_folder(int above, const char *name, int folder, unsigned timeout_ms)
{
	struct removal removal = { .top = folder, .end_ms = monotonic_ms() + timeout_ms };
	struct dirent *entry;
	struct stat at;
	DIR *dir;

	if (fstat(folder, &at) != 0)
		return false;
	removal.device = at.st_dev;
	do {
		removal.moved = false;
		dir = list(folder);
		while (dir && (entry = readdir(dir)) != NULL && monotonic_ms() < removal.end_ms) {
			if (!is_dots(entry->d_name))
				remove_entry(&removal, entry->d_name);
		}
		if (dir)
			closedir(dir);
	} while (dir && removal.moved && monotonic_ms() < removal.end_ms);
	return unlinkat(above, name, AT_REMOVEDIR) == 0;
}
