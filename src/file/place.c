/* SPDX-License-Identifier: Apache-2.0 */
/* What can be done with a place: open it, make the folders that it lacks, take them away again. */
#include "file/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

void place_set_folder(struct place *place, int folder)
{
	if (place->folder >= 0 && !place->root_folder)
		close(place->folder);
	place->folder = folder;
	place->root_folder = false;
}

void place_release(struct place *place)
{
	place_set_folder(place, -1);
	free(place->leaf);
	free(place->path);
	free(place->missing);
	*place = (struct place)PLACE_INIT;
}

/* A file that a commit is just trying out answers EAGAIN (stage.h): for microseconds, or for as
 * long as a transaction takes. */
enum { TRIED_OUT_MS = 5000 };

int place_open(const struct place *place, int flags)
{
	if (place->missing) {
		errno = ENOENT;
		return -1;
	}
	return fd_open_beneath_waiting(place->folder, place->leaf, flags, TRIED_OUT_MS);
}

/* Removes `made` folders upwards from `folder`, whose path is `path` (cut on the way), while
 * they are empty and still have that name. */
static void place_remove_made(int start, char *path, size_t made)
{
	_cleanup_fd_ int folder = made ? dup(start) : -1;

	for (char *slash; made && folder >= 0 && (slash = strrchr(path, '/')); made--) {
		int parent = openat(folder, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		struct stat here, named;
		bool removed = parent >= 0 && fstat(folder, &here) == 0 &&
		               fstatat(parent, slash + 1, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		               here.st_dev == named.st_dev && here.st_ino == named.st_ino &&
		               unlinkat(parent, slash + 1, AT_REMOVEDIR) == 0;

		close(folder);
		folder = parent;
		*slash = '\0';
		if (!removed)
			return;
	}
}

/* Creates and enters one folder; *made is the length of the unbroken run of folders that we
 * created: a folder above one that another process created is no longer empty. */
static bool place_enter_folder(struct place *place, const char *name, size_t *made, struct err *err)
{
	int next;

	if (mkdirat(place->folder, name, 0777) == 0)
		(*made)++;
	else if (errno == EEXIST)
		*made = 0;
	else
		return err_set_errno(err, errno, "Cannot make the folder %s of %s", name,
		                     place->path);
	next = fd_open_beneath(place->folder, name, O_PATH | O_DIRECTORY);
	if (next < 0)
		return err_set_errno(err, errno, "Cannot open the folder %s of %s", name,
		                     place->path);
	place_set_folder(place, next);
	return true;
}

bool place_make_folders(struct place *place, size_t *ret_made, struct err *err)
{
	size_t made = 0, start;

	if (ret_made)
		*ret_made = 0;
	if (!place->missing)
		return true;
	start = strlen(place->path) - strlen(place->leaf) - 1 - strlen(place->missing);
	for (char *name = place->missing, *end; name; name = end ? end + 1 : NULL) {
		bool entered;

		end = strchr(name, '/');
		if (end)
			*end = '\0';
		entered = place_enter_folder(place, name, &made, err);
		if (end)
			*end = '/';
		if (!entered) {
			/* Where we are now: the path up to the name that failed. */
			size_t len = start + (size_t)(name - place->missing) - 1;
			_cleanup_free_ char *path = mem_dup(place->path, len);

			place_remove_made(place->folder, path, made);
			return false;
		}
	}
	free(place->missing);
	place->missing = NULL;
	if (ret_made)
		*ret_made = made;
	return true;
}

void place_unmake_folders(const struct place *place, size_t made)
{
	_cleanup_free_ char *path = mem_strdup(place->path);
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = '\0';
	place_remove_made(place->folder, path, made);
}
