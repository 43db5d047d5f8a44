/* SPDX-License-Identifier: Apache-2.0 */
/* Names that others obey in any folder: what the supervisor asks, and what is done about those that
 * got past it.
 *
 * A folder that the command made is its own to fill: a clone has its .vscode.  "Made" is the time of
 * birth that the file system keeps, and nobody can set.  A fresh folder where another was before
 * (moved away, removed) is no fresh one: it stands where somebody works. */
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
	if (is_since(guard, &stx))
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
