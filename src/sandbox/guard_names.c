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
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/guard_internal.h"
#include "sandbox/judge.h"
#include "sandbox/names.h"
#include "sandbox/spot.h"

static bool is_since(const struct guard *guard, const struct statx *stx)
{
	const struct statx_timestamp *birth = &stx->stx_btime;

	if (!(stx->stx_mask & STATX_BTIME))
		return false;
	return birth->tv_sec != guard->began.tv_sec ? birth->tv_sec > guard->began.tv_sec :
	                                              birth->tv_nsec >= guard->began.tv_nsec;
}

static bool look(const char *path, struct statx *ret)
{
	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_BTIME, ret) == 0;
}

void guard_gone(struct guard *guard, const char *path)
{
	struct statx stx;

	if (!look(path, &stx) || !S_ISDIR(stx.stx_mode))
		return;
	pthread_mutex_lock(&guard->lock);
	if (is_since(guard, &stx) || guard->vacated_lost) {
		;
	} else if (guard->vacated_count == LIMIT_GUARD_PLACES) {
		guard->vacated_lost = true;
	} else {
		guard->vacated = mem_grow(guard->vacated, &guard->vacated_cap,
		                          guard->vacated_count + 1, sizeof(*guard->vacated));
		guard->vacated[guard->vacated_count++] = mem_strdup(path);
	}
	pthread_mutex_unlock(&guard->lock);
}

static bool was_vacated(const struct guard *guard, const char *folder)
{
	for (size_t i = 0; i < guard->vacated_count; i++)
		if (spot_within(folder, guard->vacated[i]))
			return true;
	return guard->vacated_lost;
}

static bool is_fresh(const struct guard *guard, const char *folder)
{
	struct statx stx;

	/* What is missing will be made by the command. */
	if (was_vacated(guard, folder))
		return false;
	return !look(folder, &stx) || is_since(guard, &stx);
}

bool guard_is_fresh(struct guard *guard, const char *folder)
{
	bool fresh;

	pthread_mutex_lock(&guard->lock);
	fresh = is_fresh(guard, folder);
	pthread_mutex_unlock(&guard->lock);
	return fresh;
}

/* The bit of the first `len` bytes of a path (FNV-1a). */
static unsigned bit_of(const char *path, size_t len)
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
	unsigned bit = bit_of(path, folder_len(path));

	guard->noted[bit / 64] |= (uint64_t)1 << bit % 64;
}

static bool is_noted(const struct guard *guard, const char *path, size_t len)
{
	unsigned bit = bit_of(path, len);

	return guard->noted[bit / 64] >> bit % 64 & 1;
}

static bool is_listed(const struct guard *guard, const char *path)
{
	struct denial denial;

	return !plan_judge_rules(guard->plan, path, SANDBOX_WRITE, false, &denial);
}

void names_check(struct guard *guard, const struct guard_root *root, const char *path)
{
	_cleanup_free_ char *full = mem_printf("%s/%s", root->len == 1 ? "" : root->path, path);
	_cleanup_free_ char *folder = NULL;
	const struct sandbox_name *row;
	struct statx stx = { 0 };
	size_t at = 0, end = 0;
	struct stat st;

	row = plan_obeyed(guard->plan, full, &at, &end);
	if (!row || is_listed(guard, full) || lstat(full, &st) != 0 ||
	    !guard_changed_since(guard, &st))
		return;
	folder = mem_dup(full, at - 1);
	if (is_fresh(guard, folder) || !look(full, &stx))
		return;
	if (is_since(guard, &stx) &&
	    (was_vacated(guard, folder) || is_noted(guard, full, at - 1) ||
	     is_noted(guard, full, folder_len(full))))
		guard_take_away(guard, row->reason, root, path);
	else if (!S_ISDIR(st.st_mode))
		guard_tell(guard, row->reason, root, path,
		           "changed while the command ran: look at it, it is obeyed");
}

void names_free(struct guard *guard)
{
	for (size_t i = 0; i < guard->vacated_count; i++)
		free(guard->vacated[i]);
	free(guard->vacated);
}
