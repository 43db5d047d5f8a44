/* SPDX-License-Identifier: Apache-2.0 */
/* Other names (hard links) of a held file, by which commands could change it: what keeps them from
 * that is about its own name.
 *
 * Most files have one name, and then nothing is looked for.  Of others the roots are walked, by
 * folders of the file's own file system, once for each state of the file: a name that is made,
 * moved or removed changes its change time. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/json.h"
#include "hooks/hook.h"

struct twin_search {
	const char *own;    /* the name that is known */
	const struct stat *file;
	char **pending;     /* owned, and each of them: folders */
	size_t count, cap, seen;
	char *found;        /* owned */
	bool cut;
};

static void twin_push(struct twin_search *search, char *path)
{
	search->pending = mem_grow(search->pending, &search->cap, search->count + 1,
	                           sizeof(*search->pending));
	search->pending[search->count++] = path;
}

static void twin_look_at(struct twin_search *search, DIR *dir, const char *folder,
                          const struct dirent *entry)
{
	struct stat st;

	if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
		return;
	search->cut |= ++search->seen > LIMIT_TWINS_FILES;
	if (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN && entry->d_type != DT_REG)
		return;
	if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    st.st_dev != search->file->st_dev)
		return;
	if (S_ISDIR(st.st_mode)) {
		twin_push(search, path_join(folder, entry->d_name));
	} else if (st.st_ino == search->file->st_ino) {
		_cleanup_free_ char *path = path_join(folder, entry->d_name);

		if (strcmp(path, search->own) != 0)
			search->found = mem_steal(&path);
	}
}

static void twin_search_folder(struct twin_search *search, const char *root, const char *path)
{
	int fd = door_folder(root, path);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && !search->found && !search->cut && (entry = readdir(dir)) != NULL)
		twin_look_at(search, dir, path, entry);
	if (dir)
		closedir(dir);
}

/* Another name beneath the roots; "": there is none. "?": there are too many to look at. */
static char *twin_find(const struct hooks *hooks, const char *own, const struct stat *file)
{
	struct twin_search search = { .own = own, .file = file };

	for (char **root = hooks->roots; *root; root++) {
		_cleanup_free_ char *real = realpath(*root, NULL);

		/* Each of them is there by its canonical name, too. */
		if (real && strcmp(real, *root) == 0)
			twin_push(&search, mem_strdup(real));
		while (search.count) {
			_cleanup_free_ char *folder = search.pending[--search.count];

			if (!search.found && !search.cut)
				twin_search_folder(&search, real, folder);
		}
	}
	free(search.pending);
	return search.found ? search.found : mem_strdup(search.cut ? "?" : "");
}

char *twin_in_roots(const struct hooks *hooks, const char *path)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&hooks->lock;
	_cleanup_free_ char *key = NULL, *twin = NULL;
	const char *known;
	struct stat st;

	if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_nlink < 2)
		return NULL;
	key = mem_printf("%ju:%ju:%jd:%ld", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino,
	                 (intmax_t)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
	pthread_mutex_lock(lock);
	known = json_string_value(json_object_get(hooks->twins, key));
	twin = known ? mem_strdup(known) : NULL;
	pthread_mutex_unlock(lock);
	if (!twin) {
		twin = twin_find(hooks, path, &st);
		pthread_mutex_lock(lock);
		json_object_set_new(hooks->twins, key, json_path_bytes(twin));
		pthread_mutex_unlock(lock);
	}
	return *twin ? mem_steal(&twin) : NULL;
}
