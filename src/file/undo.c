/* SPDX-License-Identifier: Apache-2.0 */
/* Taking back a step of a commit. */
#include "file/stage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "file/adopt.h"
#include "file/lease.h"
#include "file/backoff.h"
#include "file/swap.h"

/* Whether the file still has the content that was staged. */
static bool has_our_content(const struct stage *stage)
{
	struct sha256_stream stream;
	struct sha256 sum;
	_cleanup_free_ char *block = mem_piece();
	ssize_t n;

	sha256_init(&stream);
	if (lseek(stage->fd, 0, SEEK_SET) < 0)
		return false;
	while ((n = fd_read_full(stage->fd, block, MEM_PIECE_BYTES)) > 0)
		sha256_update(&stream, span_of(block, (size_t)n));
	sum = sha256_final(&stream);
	return n == 0 && sha256_eq(&sum, &stage->sha256);
}

/* Whether the name still has our file, untouched. */
static bool is_ours(const struct stage *stage)
{
	struct stat now;

	return fstatat(stage->folder, stage->leaf, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       stat_same_file(&now, &stage->stat) && has_our_content(stage);
}

static bool undo_exchange(struct stage *stage)
{
	bool ok = is_ours(stage);

	if (ok && !swap_put_back(stage->folder, stage->name, stage->leaf, &stage->stat, NULL, NULL))
		stage->name[0] = '\0'; /* it holds somebody's content: recovery's */
	if (stage->leased >= 0)
		lease_drop(stage->leased);
	stage->leased = -1;
	stage_leave(stage, backoff_deadline(0));
	return ok;
}

static bool undo_remove(struct stage *stage)
{
	bool ok = swap_move_back(stage->folder, stage->name, stage->leaf, false);

	if (ok)
		stage->name[0] = '\0';
	stage_discard(stage);
	return ok;
}

bool stage_undo(struct stage *stage)
{
	bool swapped = stage->swapped, created = stage->created;
	bool ok = false;

	stage->swapped = stage->created = false;
	/* Whoever holds the lock longer than that is stopped: go on without. */
	stage_lock(stage, backoff_deadline(0));
	if (created)
		ok = is_ours(stage) && unlinkat(stage->folder, stage->leaf, 0) == 0;
	else if (swapped)
		ok = stage->fd >= 0 ? undo_exchange(stage) : undo_remove(stage);
	stage_unlock(stage);
	return ok;
}
