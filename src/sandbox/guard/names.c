/* SPDX-License-Identifier: Apache-2.0 */
/* Names that others obey in any folder: what the supervisor asks, and what is done about those that
 * got past it.
 *
 * A folder that the command made is its own to fill: a clone has its .vscode.  "Made" is the time
 * of birth that the file system keeps, and nobody can set.  A fresh folder where another was before
 * (moved away, removed) is no fresh one: it stands where somebody works.
 *
 * Commands run for hours, and meanwhile users edit their own settings: nothing is taken away but
 * where the command was seen to make names. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/guard/private.h"
#include "sandbox/plan/denial.h"
#include "sandbox/plan/location.h"
#include "sandbox/plan/names.h"

static bool is_since(const struct guard *guard, const struct statx *stx)
{
	const struct statx_timestamp *birth = &stx->stx_btime;

	if (!(stx->stx_mask & STATX_BTIME))
		return false;
	return birth->tv_sec != guard->began.tv_sec ? birth->tv_sec > guard->began.tv_sec :
	                                              birth->tv_nsec >= guard->began.tv_nsec;
}

static bool look_at_link(const char *path, struct statx *ret)
{
	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_INO | STATX_BTIME,
	             ret) == 0;
}

/* What is in packages is not looked at. */
static bool is_in_packages(const struct guard *guard, const char *path)
{
	const char *rest;

	if (!guard_find_root(guard, path, &rest))
		return false;
	for (size_t len; *rest; rest += len + (rest[len] == '/')) {
		len = strcspn(rest, "/");
		if (names_is_packages(span_of(rest, len)))
			return true;
	}
	return false;
}

static bool is_beneath_vacated(const struct guard *guard, const char *folder)
{
	for (size_t i = 0; i < guard->vacated_count; i++)
		if (location_within(folder, guard->vacated[i].path))
			return true;
	return false;
}

/* One for a folder stands for all beneath it. */
static void forget_beneath(struct guard *guard, const char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < guard->vacated_count; i++) {
		if (location_within(guard->vacated[i].path, path))
			free(guard->vacated[i].path);
		else
			guard->vacated[kept++] = guard->vacated[i];
	}
	guard->vacated_count = kept;
}

static void vacate(struct guard *guard, const char *path, const struct statx *stx)
{
	if (is_since(guard, stx) || guard->vacated_lost || is_in_packages(guard, path) ||
	    is_beneath_vacated(guard, path))
		return;
	forget_beneath(guard, path);
	if (guard->vacated_count == LIMIT_GUARD_VACATED) {
		guard->vacated_lost = true;
		return;
	}
	guard->vacated = mem_grow(guard->vacated, &guard->vacated_cap, guard->vacated_count + 1,
	                          sizeof(*guard->vacated));
	guard->vacated[guard->vacated_count++] = (struct vacated){ mem_strdup(path), *stx };
}

void guard_gone(struct guard *guard, const char *path)
{
	struct statx stx;

	if (!look_at_link(path, &stx) || !S_ISDIR(stx.stx_mode))
		return;
	pthread_mutex_lock(&guard->lock);
	vacate(guard, path, &stx);
	pthread_mutex_unlock(&guard->lock);
}

static bool was_vacated(const struct guard *guard, const char *folder)
{
	return guard->vacated_lost || is_beneath_vacated(guard, folder);
}

/* Whether another folder stands there now, which may have been filled by an earlier command; one
 * that came back has what it had. */
static bool was_replaced(const struct guard *guard, const char *folder)
{
	for (size_t i = 0; i < guard->vacated_count; i++) {
		const struct statx *old = &guard->vacated[i].stx;
		struct statx now;

		if (location_within(folder, guard->vacated[i].path) &&
		    (!look_at_link(guard->vacated[i].path, &now) || now.stx_ino != old->stx_ino ||
		     now.stx_btime.tv_sec != old->stx_btime.tv_sec ||
		     now.stx_btime.tv_nsec != old->stx_btime.tv_nsec))
			return true;
	}
	return false;
}

static bool folder_is_fresh(const struct guard *guard, const char *folder)
{
	struct statx stx;

	/* What is missing will be made by the command. */
	if (was_vacated(guard, folder))
		return false;
	return !look_at_link(folder, &stx) || is_since(guard, &stx);
}

bool guard_is_fresh(struct guard *guard, const char *folder)
{
	bool fresh;

	pthread_mutex_lock(&guard->lock);
	fresh = folder_is_fresh(guard, folder);
	pthread_mutex_unlock(&guard->lock);
	return fresh;
}

/* The bit of the first `len` bytes of a path (FNV-1a). */
static unsigned noted_bit_of(const char *path, size_t len)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)path[i]) * 16777619u;
	return (hash ^ hash >> 15) % (NOTED_WORDS * 64);
}

static size_t folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

void names_note(struct guard *guard, const char *path)
{
	unsigned bit = noted_bit_of(path, folder_len(path));

	guard->noted[bit / 64] |= (uint64_t)1 << bit % 64;
}

static bool is_noted(const struct guard *guard, const char *path, size_t len)
{
	unsigned bit = noted_bit_of(path, len);

	return guard->noted[bit / 64] >> bit % 64 & 1;
}

static bool is_listed(const struct guard *guard, const char *path)
{
	struct denial denial;

	return !plan_judge_rules(guard->plan, path, SANDBOX_WRITE, false, &denial);
}

/* Puts right what the command did to such a name, or to a file beneath one, if it did. */
static void names_check(struct guard *guard, const struct guard_root *root, const char *path)
{
	_cleanup_free_ char *full = mem_printf("%s/%s", root->len == 1 ? "" : root->path, path);
	_cleanup_free_ char *folder = NULL;
	const struct sandbox_name *row;
	struct statx stx = { 0 };
	size_t at = 0, end = 0;
	struct stat st;
	bool replaced;

	row = plan_obeyed(guard->plan, full, &at, &end);
	if (!row || is_listed(guard, full) || lstat(full, &st) != 0)
		return;
	folder = mem_dup(full, at - 1);
	replaced = was_replaced(guard, folder);
	if ((!replaced && !guard_changed_since(guard, &st)) || folder_is_fresh(guard, folder) ||
	    !look_at_link(full, &stx))
		return;
	if (replaced ||
	    (is_since(guard, &stx) &&
	     (was_vacated(guard, folder) || is_noted(guard, full, at - 1) ||
	      is_noted(guard, full, folder_len(full)))))
		guard_take_away(guard, row->reason, root, path);
	else if (!S_ISDIR(st.st_mode))
		guard_report_changed(guard, row->reason, root, path);
}

/* ---- links where folders were ---- */

struct search {
	int fd;         /* where the link leads to */
	const char *path; /* of the folder beneath it that is being listed */
	char **pending; /* owned, and each of them */
	size_t count, cap, seen;
};

static bool entry_is_harmless(void *data, const char *name, unsigned char type)
{
	struct search *search = data;
	_cleanup_free_ char *path = search->path[0] ? mem_printf("%s/%s", search->path, name) :
	                                              mem_strdup(name);
	size_t at, end;

	if (names_obeyed_beneath(path, &at, &end))
		return false;
	if ((type != DT_DIR && type != DT_UNKNOWN) || strcmp(name, ".git") == 0 ||
	    names_is_packages(span_str(name)))
		return true;
	search->pending = mem_grow(search->pending, &search->cap, search->count + 1,
	                           sizeof(*search->pending));
	search->pending[search->count++] = mem_steal(&path);
	return true;
}

/* Whether there is a name that others obey in the folder or beneath it, or too much to know. */
static bool holds_obeyed(struct guard *guard, int fd)
{
	struct search search = { .fd = fd };
	bool harmless = true;

	search.pending = mem_grow(search.pending, &search.cap, 1, sizeof(*search.pending));
	search.pending[search.count++] = mem_strdup("");
	while (search.count) {
		_cleanup_free_ char *path = search.pending[--search.count];
		_cleanup_fd_ int folder = harmless ? guard_open_folder(guard, fd, path) : -1;

		search.path = path;
		if (folder >= 0)
			harmless = ++search.seen < LIMIT_GUARD_VACATED &&
			           guard_list(folder, LIMIT_FOLDER_ENTRIES, entry_is_harmless,
			                      &search);
	}
	free(search.pending);
	return !harmless;
}

static void names_check_link(struct guard *guard, const struct guard_root *root, const char *path)
{
	_cleanup_free_ char *full = mem_printf("%s/%s", root->len == 1 ? "" : root->path, path);
	char real[LIMIT_PATH_BYTES], link[32];
	_cleanup_fd_ int fd = -1;
	const char *rest;
	struct stat st;
	ssize_t n;

	if (!was_vacated(guard, full) || lstat(full, &st) != 0 || !S_ISLNK(st.st_mode) ||
	    !guard_changed_since(guard, &st))
		return;
	fd = open(full, O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = fd < 0 ? -1 : readlink(link, real, sizeof(real) - 1);
	if (n <= 0)
		return;
	real[n] = '\0';
	/* What commands cannot write is not theirs. */
	if (guard_find_root(guard, real, &rest) && holds_obeyed(guard, fd))
		guard_take_away(guard, SANDBOX_REASON_SETTINGS, root, path);
}

void names_check_vacated(struct guard *guard)
{
	for (size_t i = 0; i < guard->vacated_count; i++) {
		const char *rest;
		const struct guard_root *root = guard_find_root(guard, guard->vacated[i].path,
		                                                &rest);

		if (root)
			names_check_link(guard, root, rest);
	}
}

void names_free(struct guard *guard)
{
	for (size_t i = 0; i < guard->vacated_count; i++)
		free(guard->vacated[i].path);
	free(guard->vacated);
}

/* ---- walk ---- */

/* Looking for repositories, and for names that others obey, in folders that nobody has named.
 *
 * Only folders are opened, each once; a repository's own folders are not entered.  The time is
 * looked at after every folder. */

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

static char *join_beneath(const char *folder, const char *name)
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
		_cleanup_free_ char *path = join_beneath(walk->path, name);

		walk->found(walk->guard, walk->root, path);
		return true;
	}
	if (walk->inside || (walk->begins[(unsigned char)name[0]] && names_obeyed_at(name))) {
		_cleanup_free_ char *path = join_beneath(walk->path, name);

		names_check(walk->guard, walk->root, path);
	}
	if (type == DT_LNK && (walk->guard->vacated_count || walk->guard->vacated_lost)) {
		_cleanup_free_ char *path = join_beneath(walk->path, name);

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
	walk->pending[walk->count++] = join_beneath(walk->path, name);
	return true;
}

static bool guard_walk_folder(struct walk *walk, const char *path)
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
	all = guard_walk_folder(&walk, "");
	while (all && walk.count) {
		_cleanup_free_ char *path = walk.pending[--walk.count];

		all = guard_walk_folder(&walk, path) && now_ns() < end;
	}
	while (walk.count)
		free(walk.pending[--walk.count]);
	free(walk.pending);
	return all;
}
