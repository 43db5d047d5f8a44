/* SPDX-License-Identifier: Apache-2.0 */
/* Names that others obey in any folder: what the supervisor asks, and what is done about those that
 * got past it.
 *
 * A folder that the command made is its own to fill: a clone has its .vscode.  "Made" is the time
 * of birth that the file system keeps and no program can set.  A new folder that replaces another
 * (moved away or removed), or a link to one, does not count as new: users work at that path.
 *
 * Commands run for hours, and meanwhile users edit their own settings: nothing is taken away but
 * where the command was seen to make names. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/guard/recall.h"
#include "sandbox/guard/links.h"
#include "sandbox/guard/private.h"
#include "sandbox/guard/walk.h"
#include "sandbox/plan/denial.h"
#include "sandbox/plan/location.h"
#include "sandbox/plan/names.h"

bool guard_is_since(const struct guard *guard, const struct statx *stx)
{
	const struct statx_timestamp *birth = &stx->stx_btime;

	if (!(stx->stx_mask & STATX_BTIME))
		return false;
	return birth->tv_sec != guard->began.tv_sec ? birth->tv_sec > guard->began.tv_sec :
	                                              birth->tv_nsec >= guard->began.tv_nsec;
}

/* Of a canonical path of any length. */
static bool look_at_link(const struct guard *guard, const char *path, struct statx *ret)
{
	const char *rest;
	const struct guard_root *root = guard_find_root(guard, path, &rest);
	_cleanup_fd_ int fd = root ? guard_open(root->fd, rest, O_PATH) : -1;

	return statx(root ? fd : AT_FDCWD, root ? "" : path, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW,
	             STATX_TYPE | STATX_INO | STATX_BTIME, ret) == 0;
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
	if (guard_is_since(guard, stx) || guard->vacated_lost || is_in_packages(guard, path) ||
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

void guard_removing(struct guard *guard, const char *path)
{
	struct statx stx;

	if (!look_at_link(guard, path, &stx) || !S_ISDIR(stx.stx_mode))
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
		    (!look_at_link(guard, guard->vacated[i].path, &now) ||
		     now.stx_ino != old->stx_ino ||
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
	if (was_vacated(guard, folder) || links_unknown(guard) || links_stood(guard, folder))
		return false;
	return !look_at_link(guard, folder, &stx) || guard_is_since(guard, &stx);
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

/* Of a path beneath a root: what fstat says, and whether the name came into being since. */
static bool look_at_name(const struct guard *guard, const struct guard_root *root,
                         const char *path, struct stat *ret, bool *ret_is_new)
{
	_cleanup_fd_ int fd = guard_open(root->fd, path, O_PATH);
	struct statx stx;

	if (fd < 0 || fstat(fd, ret) != 0)
		return false;
	*ret_is_new = statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &stx) == 0 &&
	              guard_is_since(guard, &stx);
	return true;
}

enum judged { JUDGED_NONE, JUDGED_HERE, JUDGED_ANYWHERE };

/* What becomes of a name: JUDGED_NONE, none that others obey; else where it is not judged again in
 * this state: at this place, or, the user's, wherever it comes to be.  `concerned`: it was
 * changed while the command ran, or came with what the command moved. */
static enum judged names_judge(struct guard *guard, const struct guard_root *root, const char *path,
                              const struct stat *st, bool is_new, bool concerned)
{
	_cleanup_free_ char *full = guard_full_path(root, path), *folder = NULL;
	const struct sandbox_name *row;
	size_t at = 0, end = 0;
	bool replaced, again;

	row = plan_obeyed(guard->plan, full, &at, &end);
	if (!row || (is_listed(guard, full) && !guard->completing))
		return JUDGED_NONE;
	folder = mem_dup(full, at - 1);
	replaced = was_replaced(guard, folder) || links_stood(guard, folder);
	again = recall_was_vacated(guard->recall, folder);
	if (folder_is_fresh(guard, folder) && !again)
		return JUDGED_HERE;
	if (!replaced && !concerned)
		return JUDGED_ANYWHERE;
	if (replaced || (is_new && (was_vacated(guard, folder) || is_noted(guard, full, at - 1) ||
	                            is_noted(guard, full, folder_len(full)))))
		guard_take_away(guard, row->reason, root, path);
	else if (!S_ISDIR(st->st_mode))
		guard_report_changed(guard, row->reason, root, path);
	return JUDGED_HERE;
}

void names_check(struct guard *guard, const struct guard_root *root, const char *path, bool arrived)
{
	const struct timespec since = recall_since(guard->recall);
	struct sha256 here, anywhere;
	bool is_new, changed;
	struct stat st;

	if (!look_at_name(guard, root, path, &st, &is_new))
		return;
	changed = guard_stat_since(&st, &since);
	/* Else no command of the session has made or changed it. */
	if (!changed && !guard->vacated_count && !guard->vacated_lost)
		return;
	here = recall_key(root->path, path, &st);
	anywhere = recall_key("", "", &st);
	if (recall_knows(guard->recall, &here) || recall_knows(guard->recall, &anywhere))
		return;
	switch (names_judge(guard, root, path, &st, is_new,
	                   guard_changed_since(guard, &st) || (changed && arrived))) {
	case JUDGED_HERE:
		recall_learn(guard->recall, &here);
		break;
	case JUDGED_ANYWHERE:
		if (changed)
			recall_learn(guard->recall, &anywhere);
		break;
	case JUDGED_NONE:
		break;
	}
}

/* ---- links where folders were ---- */

/* Whether there is a name that others obey beneath where it leads. */
struct link_search {
	struct guard_walk walk;
	size_t seen;
	bool found;
};

static enum walk_answer enter_linked(struct guard_walk *walk, struct walk_folder *folder,
                                     const char *name)
{
	struct link_search *search = walk->data;

	(void)folder;
	if (search->found || strcmp(name, ".git") == 0 || names_is_packages(span_str(name)))
		return WALK_SKIP;
	/* Too much to know. */
	search->found = ++search->seen >= LIMIT_GUARD_LINKED;
	return WALK_LIST;
}

static bool entry_linked(struct guard_walk *walk, struct walk_folder *folder, const char *name,
                         unsigned char type)
{
	struct link_search *search = walk->data;
	_cleanup_free_ char *path = walk_join(walk, name);
	size_t at, end;

	(void)folder;
	(void)type;
	search->found |= names_obeyed_beneath(path, &at, &end) != NULL;
	return !search->found;
}

static void linked_failed(struct guard_walk *walk, int error)
{
	struct link_search *search = walk->data;

	(void)error;
	search->found = true;
}

static bool holds_obeyed(struct guard *guard, int fd)
{
	struct link_search search = { .walk = { .guard = guard, .data = &search,
		                                .enter = enter_linked, .entry = entry_linked,
		                                .failed = linked_failed } };

	walk_run(&search.walk, fd);
	return search.found;
}

void names_check_link(struct guard *guard, const struct guard_root *root, const char *path)
{
	_cleanup_free_ char *full = guard_full_path(root, path);
	char real[LIMIT_PATH_BYTES], link[32];
	_cleanup_fd_ int folder = -1, fd = -1;
	const char *rest, *name;
	struct stat st;
	ssize_t n;

	if (!was_vacated(guard, full) || !guard_stat(root->fd, path, &st) ||
	    !S_ISLNK(st.st_mode) || !guard_changed_since(guard, &st))
		return;
	folder = guard_open_parent(root->fd, path, &name);
	fd = folder < 0 ? -1 : openat(folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
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

/* Places of folders that were there before the session, and have not come back. */
void names_remember(struct guard *guard)
{
	const struct timespec since = recall_since(guard->recall);

	for (size_t i = 0; i < guard->vacated_count; i++) {
		const struct vacated *vacated = &guard->vacated[i];
		const struct statx_timestamp *birth = &vacated->stx.stx_btime;

		if (was_replaced(guard, vacated->path) &&
		    (birth->tv_sec != since.tv_sec ? birth->tv_sec < since.tv_sec :
		                                     birth->tv_nsec < since.tv_nsec))
			recall_vacate(guard->recall, vacated->path);
	}
}

void names_free(struct guard *guard)
{
	for (size_t i = 0; i < guard->vacated_count; i++)
		free(guard->vacated[i].path);
	free(guard->vacated);
}
