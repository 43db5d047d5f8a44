/* SPDX-License-Identifier: Apache-2.0 */
/* Other names (hard links) of a held file, by which commands could change it: what keeps them from
 * that is about its own name.
 *
 * Most files have one name, and then nothing is looked for.  Of others the roots are walked, by
 * folders of the file's own file system, once for each state of the file: a name that is made,
 * moved or removed changes its change time.
 *
 * What a walk does not see is not taken for nothing.  A folder that a command can enter and hasp
 * cannot list, a path that is too long, a folder that is moved meanwhile: each could have the name
 * in it.  Nor is a walk believed that found nothing while a command ran that could move folders
 * to where it had been already. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/json.h"
#include "hooks/hook.h"
#include "sandbox/guard/guard.h"
#include "sandbox/plan/location.h"

struct twin_search {
	const char *own;    /* the name that is known */
	const struct stat *file;
	dev_t root;         /* whose file system the walk is in: overlayfs has others for files */
	char **pending;     /* owned, and each of them: folders */
	size_t count, cap, seen;
	char *found;        /* owned */
	char *unseen;       /* owned; a folder that could not be looked into */
	bool cut;
};

static void twin_push(struct twin_search *search, char *path)
{
	search->pending = mem_grow(search->pending, &search->cap, search->count + 1,
	                           sizeof(*search->pending));
	search->pending[search->count++] = path;
}

static void twin_miss(struct twin_search *search, const char *folder)
{
	if (!search->unseen)
		search->unseen = mem_strdup(folder);
}

/* A folder that a command of this user cannot enter either has no name to write by. */
static void twin_look_into(struct twin_search *search, int above, const char *name, char *path,
                           const struct stat *st)
{
	if (faccessat(above, name, R_OK | X_OK, AT_EACCESS) == 0) {
		twin_push(search, path);
		return;
	}
	if (st->st_uid == geteuid() || faccessat(above, name, X_OK, AT_EACCESS) == 0)
		twin_miss(search, path);
	free(path);
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
	    (st.st_dev != search->file->st_dev && st.st_dev != search->root))
		return;
	if (S_ISDIR(st.st_mode)) {
		twin_look_into(search, dirfd(dir), entry->d_name,
		               path_join(folder, entry->d_name), &st);
	} else if (st.st_dev == search->file->st_dev && st.st_ino == search->file->st_ino) {
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

	if (!dir)
		twin_miss(search, path);
	if (!dir && fd >= 0)
		close(fd);
	while (dir && !search->found && !search->cut && (entry = readdir(dir)) != NULL)
		twin_look_at(search, dir, path, entry);
	if (dir)
		closedir(dir);
}

/* As twin_in_roots; "": none. */
static char *twin_find(const struct hooks *hooks, const char *own, const struct stat *file)
{
	struct twin_search search = { .own = own, .file = file };
	char *answer;

	for (char **root = hooks->roots; *root; root++) {
		_cleanup_free_ char *real = realpath(*root, NULL);
		struct stat st;

		/* Each of them is there by its canonical name, too. */
		if (real && strcmp(real, *root) == 0 && stat(real, &st) == 0) {
			search.root = st.st_dev;
			twin_push(&search, mem_strdup(real));
		}
		while (search.count) {
			_cleanup_free_ char *folder = search.pending[--search.count];

			if (!search.found && !search.cut)
				twin_search_folder(&search, real, folder);
		}
	}
	free(search.pending);
	if (search.found)
		answer = mem_steal(&search.found);
	else if (search.unseen)
		answer = mem_printf(TWIN_UNKNOWN "hasp cannot look into %.160s", search.unseen);
	else
		answer = mem_strdup(search.cut ? TWIN_UNKNOWN "the workspace has too many files "
		                                 "to find it" : "");
	free(search.unseen);
	return answer;
}

static bool is_in_roots(const struct hooks *hooks, const char *path)
{
	for (char **root = hooks->roots; *root; root++)
		if (location_within(path, *root) || location_within(*root, path))
			return true;
	return false;
}

/* What one of the commands that run may move, and which of them. */
struct twin_movers {
	const struct hooks *hooks;
	char *label; /* owned; or NULL */
};

static void note_mover(void *data, const struct guard_running *running)
{
	struct twin_movers *movers = data;
	bool moves = !running->paths_whole;

	for (size_t at = 0; at < running->paths_len; at += strlen(running->paths + at) + 1)
		moves |= is_in_roots(movers->hooks, running->paths + at);
	if (moves && !movers->label)
		movers->label = mem_strdup(running->label);
}

/* The same, while no command starts; nothing is only believed if none runs. */
static char *twin_find_quietly(const struct hooks *hooks, const char *own,
                               const struct stat *file)
{
	struct twin_movers movers = { hooks, NULL };
	struct err err = ERR_INIT;
	_cleanup_fd_ int starts = guard_starts_lock(hooks->guards, NULL, &err);
	char *twin;

	if (starts < 0 || !guard_each_command(hooks->guards, note_mover, &movers, &err))
		return mem_printf(TWIN_UNKNOWN "%s", err.message);
	twin = twin_find(hooks, own, file);
	if (!*twin && movers.label) {
		free(twin);
		twin = mem_printf(TWIN_UNKNOWN "it cannot be looked for while \"%.200s\" runs",
		                  movers.label);
	}
	free(movers.label);
	return twin;
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
		twin = hooks->guards ? twin_find_quietly(hooks, path, &st) :
		                       twin_find(hooks, path, &st);
		pthread_mutex_lock(lock);
		if (*twin != *TWIN_UNKNOWN) /* that may be better next time */
			json_object_set_new(hooks->twins, key, json_path_bytes(twin));
		pthread_mutex_unlock(lock);
	}
	return *twin ? mem_steal(&twin) : NULL;
}
