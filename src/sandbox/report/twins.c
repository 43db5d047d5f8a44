/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/report/report.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/plan/location.h"

/* A name of a file with several. */
struct name {
	dev_t dev;
	ino_t ino;
	uint64_t links;
	char *path; /* owned */
};

struct twins_walk {
	struct name *names; /* owned */
	size_t count, cap;
	char **pending;     /* owned, and each of them */
	size_t pending_count, pending_cap;
	size_t seen;
	uint64_t end_ms;
	bool cut;
};

static void push_twin(struct twins_walk *walk, char *path)
{
	walk->pending = mem_grow(walk->pending, &walk->pending_cap, walk->pending_count + 1,
	                         sizeof(*walk->pending));
	walk->pending[walk->pending_count++] = path;
}

static void walk_look_at(struct twins_walk *walk, int folder, const char *path, const char *name,
                         unsigned char type)
{
	struct stat st;

	if (type != DT_REG && type != DT_DIR && type != DT_UNKNOWN)
		return;
	if (type != DT_DIR && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	if (type == DT_DIR || S_ISDIR(st.st_mode)) {
		push_twin(walk, location_join(path, name));
		return;
	}
	if (!S_ISREG(st.st_mode) || st.st_nlink < 2)
		return;
	if (walk->count == LIMIT_TWINS_NAMES) {
		walk->cut = true;
		return;
	}
	walk->names = mem_grow(walk->names, &walk->cap, walk->count + 1, sizeof(*walk->names));
	walk->names[walk->count++] = (struct name){ st.st_dev, st.st_ino, st.st_nlink,
		                                    location_join(path, name) };
}

static void twins_walk_folder(struct twins_walk *walk, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && !walk->cut && (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		walk_look_at(walk, dirfd(dir), path, entry->d_name, entry->d_type);
		walk->seen++;
		if (walk->seen >= LIMIT_TWINS_FILES ||
		    (walk->seen % 256 == 0 && clock_monotonic_ms() > walk->end_ms))
			walk->cut = true;
	}
	if (dir)
		closedir(dir);
}

static int by_file(const void *a, const void *b)
{
	const struct name *left = a, *right = b;

	if (left->dev != right->dev)
		return left->dev < right->dev ? -1 : 1;
	if (left->ino != right->ino)
		return left->ino < right->ino ? -1 : 1;
	return strcmp(left->path, right->path);
}

static int compare_twin_paths(const void *a, const void *b)
{
	return strcmp(((const struct twin *)a)->path, ((const struct twin *)b)->path);
}

/* Names of one file stand together now; one that two roots have is one name. */
static void count_names(const struct twins_walk *walk, struct twins *ret)
{
	struct twin *list = mem_alloc(walk->count + 1, sizeof(*list));

	for (size_t i = 0, next; i < walk->count; i = next) {
		const struct name *first = &walk->names[i];
		uint64_t found = 1;

		for (next = i + 1; next < walk->count && first->dev == walk->names[next].dev &&
		                   first->ino == walk->names[next].ino;
		     next++)
			found += strcmp(walk->names[next].path, walk->names[next - 1].path) != 0;
		if (first->links > found)
			list[ret->all++] = (struct twin){ first->path, first->links - found };
	}
	qsort(list, ret->all, sizeof(*list), compare_twin_paths);
	ret->count = ret->all < LIMIT_TWINS_LISTED ? ret->all : LIMIT_TWINS_LISTED;
	for (size_t i = 0; i < ret->count; i++)
		list[i].path = mem_strdup(list[i].path);
	ret->list = list;
}

void twins_find(const char *const *roots, size_t root_count, struct twins *ret)
{
	struct twins_walk walk = { .end_ms = clock_monotonic_ms() + TWINS_MS };

	*ret = (struct twins){ 0 };
	for (size_t i = 0; i < root_count; i++) {
		_cleanup_location_ struct location place = { 0 };

		if (location_canonical(roots[i], &place) && place.kind == LOCATION_FOLDER)
			push_twin(&walk, mem_steal(&place.path));
	}
	while (walk.pending_count) {
		_cleanup_free_ char *path = walk.pending[--walk.pending_count];

		if (!walk.cut)
			twins_walk_folder(&walk, path);
	}
	if (walk.count)
		qsort(walk.names, walk.count, sizeof(*walk.names), by_file);
	count_names(&walk, ret);
	ret->cut = walk.cut;
	for (size_t i = 0; i < walk.count; i++)
		free(walk.names[i].path);
	free(walk.names);
	free(walk.pending);
}

void twins_release(struct twins *twins)
{
	for (size_t i = 0; i < twins->count; i++)
		free(twins->list[i].path);
	free(twins->list);
	*twins = (struct twins){ 0 };
}

void twins_print(const struct twins *twins, const struct reporter *reporter)
{
	if (!twins->all && !twins->cut)
		return;
	reporter->begin(reporter->data, "hard_links", false);
	reporter->number(reporter->data, "count", twins->all);
	reporter->flag(reporter->data, "cut", twins->cut);
	reporter->begin(reporter->data, "files", true);
	for (size_t i = 0; i < twins->count; i++) {
		char why[128];

		snprintf(why, sizeof(why),
		         "has %llu other name%s outside the workspace; a write changes both",
		         (unsigned long long)twins->list[i].outside,
		         twins->list[i].outside == 1 ? "" : "s");
		reporter->begin(reporter->data, NULL, false);
		reporter->text(reporter->data, "path", twins->list[i].path);
		reporter->text(reporter->data, "why", why);
		reporter->end(reporter->data);
	}
	reporter->end(reporter->data);
	reporter->end(reporter->data);
}
