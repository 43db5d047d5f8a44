/* SPDX-License-Identifier: Apache-2.0 */
/* Commits: recovery, staging, the exchange, and making it last. */
#include "file/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "file/private.h"

/* How often an exchange is repeated for a writer who showed up at the last look. */
enum { CONFIRM_TRIES = 8 };

void file_state_release(struct file_state *state)
{
	free(state->path);
	*state = (struct file_state){ 0 };
}

static struct commit_how how_of(const struct commit_options *options)
{
	struct commit_how how = { .no_exchange = false };

	if (options)
		how.options = *options;
	return how;
}

/* A file that its user may not write is protected, although its folder would let it be
 * replaced. */
static bool commit_check_writable(const struct snapshot *base, struct err *err)
{
	if ((base->stat.st_mode & S_IWUSR) && base->stat.st_uid == geteuid())
		return true;
	if (faccessat(base->fd, "", W_OK, AT_EMPTY_PATH | AT_EACCESS) == 0 ||
	    (errno != EACCES && errno != EROFS && errno != EPERM))
		return true;
	return err_set_errno(err, errno, "%s is write-protected", base->place.path);
}

/* An early look, before anything is written: most conflicts show here. */
static bool commit_check_early(const struct snapshot *base, struct err *err)
{
	struct stat now;
	bool exists;

	exists = fstatat(base->place.folder, base->place.leaf, &now, AT_SYMLINK_NOFOLLOW) == 0;
	if (!exists && errno != ENOENT)
		return err_set_errno(err, errno, "Cannot examine %s", base->place.path);
	if (!base->exists && exists)
		return err_set(err, ERR_STATE_MISMATCH, "%s has been created meanwhile.",
		               base->place.path);
	if (base->exists && (!exists || now.st_size != base->stat.st_size))
		return err_set(err, ERR_STATE_MISMATCH,
		               "%s has changed on disk since it was read.", base->place.path);
	return !base->exists || commit_check_writable(base, err);
}

/* Makes the names last. `folder` can be read, or is -1: then the new file's own sync does it,
 * on the file systems that log names and files together. */
static bool commit_sync_names(int folder, int file, const char *path, struct err *err)
{
	int fd = folder >= 0 ? folder : file;

	if (fd >= 0 && !stage_sync(fd) && errno != EINVAL)
		return err_set_errno(err, errno, "Cannot write the folder of %s to the disk", path);
	return true;
}

/* The folders above, in which `made` new folders were entered. */
static bool commit_sync_made(int folder, size_t made, const char *path, struct err *err)
{
	_cleanup_fd_ int at = made ? dup(folder) : -1;

	for (; made && at >= 0; made--) {
		int up = openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		close(at);
		at = up;
		if (up >= 0 && !commit_sync_names(up, -1, path, err))
			return false;
	}
	return true;
}

/* What has been exchanged, moved away or created: makes it last, and looks a last time. */
static bool commit_settle(struct stage *stage, const struct snapshot *base,
                          const struct commit_how *how, struct err *err)
{
	if (how->options.durability == DURABILITY_FULL &&
	    !commit_sync_names(stage->readable, stage->fd, base->place.path, err)) {
		stage_undo(stage);
		return false;
	}
	if (stage->swapped)
		stage_grace(base);
	if (how->at)
		how->at(COMMIT_SETTLED, how->data);
	return stage_confirm(stage, base, how, err);
}

static bool commit_replace(struct stage *stage, struct snapshot *base, const struct commit_how *how,
                           struct err *err)
{
	if (!base->exists)
		return stage_create(stage, base, how, err) && commit_settle(stage, base, how, err);
	if (!stage_name(stage, base, TEMPORARY_SWAP, err))
		return false;
	for (int i = 0; i < CONFIRM_TRIES; i++) {
		if (!stage_exchange(stage, base, how, err))
			return false;
		if (commit_settle(stage, base, how, err))
			return true;
		if (err->code != ERR_BUSY || !stage->name[0])
			return false;
	}
	return false;
}

/* Everything but the folders. */
static bool commit_write_once(struct snapshot *base, const struct span *pieces, size_t count,
                              const struct commit_how *how, struct file_state *ret, struct err *err)
{
	_cleanup_stage_ struct stage stage = STAGE_INIT;

	stage.readable = recover_open(&base->place);
	if (!commit_check_early(base, err) || !stage_write(&stage, base, pieces, count, how, err) ||
	    !commit_replace(&stage, base, how, err))
		return false;
	stage_note(&stage, base);
	stage_discard(&stage);
	recover_note(&base->place, stage.readable);
	*ret = (struct file_state){ .path = mem_strdup(base->place.path), .exists = true,
		                    .sha256 = stage.sha256, .size = stage.size };
	return true;
}

/* A temporary that cannot be linked (no /proc, an older kernel) is made with a name instead. */
static bool commit_write_any_way(struct snapshot *base, const struct span *pieces, size_t count,
                                 const struct commit_how *how, struct file_state *ret,
                                 struct err *err)
{
	struct commit_how named = *how;

	if (commit_write_once(base, pieces, count, how, ret, err))
		return true;
	if (how->no_tmpfile || err->code != ERR_FILE_NOT_FOUND)
		return false;
	named.no_tmpfile = true;
	*err = (struct err)ERR_INIT;
	return commit_write_once(base, pieces, count, &named, ret, err);
}

/* What place_make_folders changes, to change it back. */
struct saved_place {
	char *missing;
	int folder;
};

static bool make_folders(struct snapshot *base, struct saved_place *saved, size_t *made,
                         struct err *err)
{
	struct place *place = &base->place;

	*saved = (struct saved_place){ NULL, -1 };
	*made = 0;
	if (!place->missing)
		return true;
	saved->missing = mem_strdup(place->missing);
	saved->folder = fcntl(place->folder, F_DUPFD_CLOEXEC, 3);
	if (saved->folder >= 0 && place_make_folders(place, made, err))
		return true;
	if (saved->folder < 0)
		err_set_errno(err, errno, "Cannot make the folders of %s", place->path);
	return false;
}

static void unmake_folders(struct snapshot *base, struct saved_place *saved, size_t made)
{
	struct place *place = &base->place;

	place_unmake_folders(place, made);
	if (saved->folder < 0)
		return;
	place_set_folder(place, fd_steal(&saved->folder));
	free(place->missing);
	place->missing = mem_steal(&saved->missing);
}

bool commit_write_how(struct snapshot *base, const struct span *pieces, size_t count,
                      const struct commit_how *how, struct file_state *ret, struct err *err)
{
	struct saved_place saved;
	size_t made;
	bool ok = make_folders(base, &saved, &made, err);

	ok = ok && commit_write_any_way(base, pieces, count, how, ret, err);
	if (!ok)
		unmake_folders(base, &saved, made);
	if (saved.folder >= 0)
		close(saved.folder);
	free(saved.missing);
	return ok && (how->options.durability != DURABILITY_FULL ||
	              commit_sync_made(base->place.folder, made, base->place.path, err));
}

bool commit_write(struct snapshot *base, const struct span *pieces, size_t count,
                  const struct commit_options *options, struct file_state *ret,
                  struct err *err)
{
	struct commit_how how = how_of(options);

	return commit_write_how(base, pieces, count, &how, ret, err);
}

bool commit_delete_how(struct snapshot *base, const struct commit_how *how, struct err *err)
{
	_cleanup_stage_ struct stage stage = STAGE_INIT;
	bool ok;

	if (!base->exists)
		return err_set(err, ERR_FILE_NOT_FOUND, "%s does not exist.", base->place.path);
	stage.readable = recover_open(&base->place);
	ok = stage_remove(&stage, base, TEMPORARY_DELETE, how, err) &&
	     commit_settle(&stage, base, how, err);
	stage_discard(&stage);
	if (ok)
		recover_note(&base->place, stage.readable);
	flock(base->fd, LOCK_UN);
	return ok;
}

bool commit_delete(struct snapshot *base, const struct commit_options *options,
                   struct err *err)
{
	struct commit_how how = how_of(options);

	return commit_delete_how(base, &how, err);
}
