/* SPDX-License-Identifier: Apache-2.0 */
/* Looking for repositories, and for names that others obey, in folders that nobody has named.
 *
 * Only folders are opened, each once; a repository's own folders are not entered.  The time is
 * looked at after every folder.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/guard/internal.h"
#include "sandbox/plan/names.h"

struct walk {
	struct guard *guard;
	const struct guard_root *root;
	void (*found)(struct guard *guard, const struct guard_root *root, const char *path);
	char **pending; /* owned, and each of them */
	size_t count, cap, seen;
	/* of the folder that is being listed */
	const char *path;
	int fd;
	size_t first;   /* of its folders in `pending` */
	bool head, objects, refs, common;
	bool inside;    /* on the way to, or beneath, a name that others obey */
	bool begins[256]; /* what such names begin with */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static char *join(const char *folder, const char *name)
{
	return folder[0] ? mem_printf("%s/%s", folder, name) : mem_strdup(name);
}

static bool is_folder(const struct walk *walk, const char *name, unsigned char type)
{
	struct stat st;

	if (type != DT_UNKNOWN)
		return type == DT_DIR;
	return fstatat(walk->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static bool each_entry(void *data, const char *name, unsigned char type)
{
	struct walk *walk = data;

	if (strcasecmp(name, ".git") == 0) {
		_cleanup_free_ char *path = join(walk->path, name);

		walk->found(walk->guard, walk->root, path);
		return true;
	}
	if (walk->inside || (walk->begins[(unsigned char)name[0]] && names_obeyed_at(name))) {
		_cleanup_free_ char *path = join(walk->path, name);

		names_check(walk->guard, walk->root, path);
	}
	if (type == DT_LNK && (walk->guard->vacated_count || walk->guard->vacated_lost)) {
		_cleanup_free_ char *path = join(walk->path, name);

		names_check_link(walk->guard, walk->root, path);
	}
	walk->head |= strcmp(name, "HEAD") == 0;
	walk->objects |= strcmp(name, "objects") == 0;
	walk->refs |= strcmp(name, "refs") == 0;
	walk->common |= strcmp(name, "commondir") == 0;
	if (!is_folder(walk, name, type))
		return true;
	if (walk->seen + walk->count >= LIMIT_GUARD_FOLDERS)
		return false;
	walk->pending = mem_grow(walk->pending, &walk->cap, walk->count + 1,
	                         sizeof(*walk->pending));
	walk->pending[walk->count++] = join(walk->path, name);
	return true;
}

static bool walk_folder(struct walk *walk, const char *path)
{
	_cleanup_fd_ int fd = guard_open_folder(walk->guard, walk->root->fd, path);
	bool all;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
	walk->seen++;
	walk->path = path;
	walk->fd = fd;
	walk->first = walk->count;
	walk->inside = names_leads_to_obeyed(path);
	walk->head = walk->objects = walk->refs = walk->common = false;
	all = guard_list(fd, LIMIT_FOLDER_ENTRIES, each_entry, walk);
	if (!walk->head || !(walk->common || (walk->objects && walk->refs)))
		return all;
	while (walk->count > walk->first) /* a repository: it is not entered */
		free(walk->pending[--walk->count]);
	walk->found(walk->guard, walk->root, path);
	return all;
}

bool guard_walk(struct guard *guard, const struct guard_root *root, uint64_t budget_ns,
                void (*found)(struct guard *guard, const struct guard_root *root,
                              const char *path))
{
	struct walk walk = { .guard = guard, .root = root, .found = found };
	uint64_t end = now_ns() + budget_ns;
	bool all;

	names_obeyed_first(walk.begins);
	all = walk_folder(&walk, "");
	while (all && walk.count) {
		_cleanup_free_ char *path = walk.pending[--walk.count];

		all = walk_folder(&walk, path) && now_ns() < end;
	}
	while (walk.count)
		free(walk.pending[--walk.count]);
	free(walk.pending);
	return all;
}
