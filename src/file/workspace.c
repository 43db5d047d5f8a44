/* SPDX-License-Identifier: Apache-2.0 */
/* The roots, and what can be done with a place once it is resolved. The way
 * from a path to a place is in resolve.c. */
#include "file/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "file/beneath.h"
#include "file/digests.h"
#include "file/folder_cache.h"
#include "file/backoff.h"

/* The absolute form of a path as text: "." and empty components removed, ".." kept. */
static char *absolute_text(const char *path)
{
	_cleanup_free_ char *cwd = path[0] == '/' ? mem_strdup("") : getcwd(NULL, 0);
	char *text = mem_printf("%s/%s", cwd ? cwd : "", path);
	char *out = text;

	for (const char *in = text; *in;) {
		size_t len = strcspn(in, "/");

		if (len && !(len == 1 && in[0] == '.')) {
			*out++ = '/';
			memmove(out, in, len);
			out += len;
		}
		in += len;
		in += strspn(in, "/");
	}
	*out = '\0';
	return text;
}

static bool root_open(const char *path, struct workspace_root *root, struct err *err)
{
	_cleanup_free_ char *canonical = realpath(path, NULL);

	if (!canonical)
		return err_set_errno(err, errno, "Cannot open the workspace root %s", path);
	root->fd = open(canonical, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (root->fd < 0)
		return err_set_errno(err, errno, "Cannot open the workspace root %s", path);
	root->path = mem_strdup(strcmp(canonical, "/") == 0 ? "" : canonical);
	root->alias = absolute_text(path);
	return true;
}

bool workspace_open(const char *const *roots, size_t count, struct workspace **ret,
                    struct err *err)
{
	struct workspace *ws;

	if (count == 0)
		return err_set(err, ERR_INVALID_ARGUMENT, "A workspace needs at least one root.");
	ws = mem_alloc(1, sizeof(*ws));
	ws->roots = mem_alloc(count, sizeof(*ws->roots));
	ws->clean = folder_cache_new();
	ws->digests = digests_new();
	for (size_t i = 0; i < count; i++) {
		ws->roots[i].fd = -1;
		ws->count = i + 1;
		if (!root_open(roots[i], &ws->roots[i], err)) {
			workspace_free(ws);
			return false;
		}
	}
	*ret = ws;
	return true;
}

void workspace_free(struct workspace *ws)
{
	if (!ws)
		return;
	for (size_t i = 0; i < ws->count; i++) {
		free(ws->roots[i].path);
		free(ws->roots[i].alias);
		if (ws->roots[i].fd >= 0)
			close(ws->roots[i].fd);
	}
	free(ws->roots);
	for (size_t i = 0; i < ws->name_count; i++)
		free(ws->names[i].text);
	free(ws->names);
	folder_cache_free(ws->clean);
	digests_free(ws->digests);
	free(ws);
}

void workspace_name_root(struct workspace *ws, const char *name, const char *root)
{
	for (size_t i = 0; i < ws->count && name[0] == '/'; i++) {
		if (strcmp(workspace_root_path(ws, i), root) != 0)
			continue;
		ws->names = mem_grow(ws->names, &ws->name_cap, ws->name_count + 1, sizeof(*ws->names));
		ws->names[ws->name_count++] = (struct workspace_name){ mem_strdup(name), i };
		return;
	}
}

size_t workspace_root_count(const struct workspace *ws)
{
	return ws->count;
}

const char *workspace_root_path(const struct workspace *ws, size_t i)
{
	return ws->roots[i].path[0] ? ws->roots[i].path : "/";
}

int workspace_root_fd(const struct workspace *ws, size_t i)
{
	return ws->roots[i].fd;
}

/* Whether `path` begins with the components of `root`, whatever the number of slashes and
 * "." between them; returns what remains, or NULL. So "/t/proj-evil" is not in "/t/proj". */
static const char *beneath_text(const char *path, const char *root)
{
	for (;;) {
		size_t want, have;

		root += strspn(root, "/");
		path += strspn(path, "/");
		have = strcspn(path, "/");
		if (have == 1 && path[0] == '.') {
			path++;
			continue;
		}
		want = strcspn(root, "/");
		if (want == 0)
			return path;
		if (want != have || memcmp(root, path, want) != 0)
			return NULL;
		root += want;
		path += have;
	}
}

/* Takes the root if the path is beneath this spelling of it and beneath no longer one so far. */
static void try_name(const char *path, const char *name, size_t root, size_t *best_len,
                     size_t *ret_root, const char **ret_rest)
{
	const char *rest = beneath_text(path, name);

	if (!rest || (*ret_rest && strlen(name) <= *best_len))
		return;
	*best_len = strlen(name);
	*ret_root = root;
	*ret_rest = rest;
}

bool workspace_match(const struct workspace *ws, const char *path, size_t *ret_root,
                     const char **ret_rest)
{
	size_t best_len = 0;

	*ret_rest = NULL;
	for (size_t i = 0; i < ws->count; i++) {
		try_name(path, ws->roots[i].path, i, &best_len, ret_root, ret_rest);
		try_name(path, ws->roots[i].alias, i, &best_len, ret_root, ret_rest);
	}
	for (size_t i = 0; i < ws->name_count; i++)
		try_name(path, ws->names[i].text, ws->names[i].root, &best_len, ret_root, ret_rest);
	return *ret_rest != NULL;
}

void place_release(struct place *place)
{
	if (place->folder >= 0)
		close(place->folder);
	free(place->leaf);
	free(place->path);
	free(place->missing);
	*place = (struct place)PLACE_INIT;
}

/* A file that a commit is just trying out answers EAGAIN (adopt.h): for microseconds, or for as
 * long as a transaction takes. */
enum { TRIED_OUT_MS = 5000 };

int place_open(const struct place *place, int flags)
{
	long backoff_us = BACKOFF_FIRST_US;
	long long deadline_us = 0;
	int fd;

	if (place->missing) {
		errno = ENOENT;
		return -1;
	}
	if (!(flags & O_PATH))
		flags |= O_NONBLOCK | O_NOCTTY;
	while ((fd = beneath_open(place->folder, place->leaf, flags)) < 0 && errno == EAGAIN) {
		if (!deadline_us)
			deadline_us = backoff_deadline(TRIED_OUT_MS);
		if (!backoff_wait(deadline_us, &backoff_us)) {
			errno = EAGAIN;
			break;
		}
	}
	return fd;
}

/* Removes `made` folders upwards from `folder`, whose path is `path` (cut on the way), while
 * they are empty and still have that name. */
static void unmake(int start, char *path, size_t made)
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

/* Makes and enters one folder; *made is the length of the unbroken run of folders
 * that are ours: those before one that somebody else made are not empty any more. */
static bool enter_folder(struct place *place, const char *name, size_t *made, struct err *err)
{
	int next;

	if (mkdirat(place->folder, name, 0777) == 0)
		(*made)++;
	else if (errno == EEXIST)
		*made = 0;
	else
		return err_set_errno(err, errno, "Cannot make the folder %s of %s", name,
		                     place->path);
	next = beneath_open(place->folder, name, O_PATH | O_DIRECTORY);
	if (next < 0)
		return err_set_errno(err, errno, "Cannot open the folder %s of %s", name,
		                     place->path);
	close(place->folder);
	place->folder = next;
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
		entered = enter_folder(place, name, &made, err);
		if (end)
			*end = '/';
		if (!entered) {
			/* Where we are now: the path up to the name that failed. */
			size_t len = start + (size_t)(name - place->missing) - 1;
			_cleanup_free_ char *path = mem_dup(place->path, len);

			unmake(place->folder, path, made);
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
	unmake(place->folder, path, made);
}
