/* SPDX-License-Identifier: Apache-2.0 */
/* Finding temporary files whose writer is dead, and removing them or putting them back. */
#include "file/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "file/stage.h"
#include "file/temporary.h"

/* A stranger can fill a folder with what looks temporary: what one recovery does is
 * bounded, the next one goes on. */
enum { ENTRY_BLOCK = 8 << 10, SETTLE_MAX = 64 };

struct recovery {
	struct file_cache *cache; /* knows our own; or NULL */
	size_t removed;
	size_t looked_at;  /* temporary files */
	size_t bytes_left; /* that may still be hashed */
};

/* Calls `visit` for each name in the folder until it returns false. */
static bool recover_each_name(int folder, bool (*visit)(int folder, const char *name, void *data),
                              void *data)
{
	_Alignas(struct dirent64) char block[ENTRY_BLOCK];

	if (lseek(folder, 0, SEEK_SET) < 0)
		return false;
	for (;;) {
		long n = syscall(SYS_getdents64, folder, block, sizeof(block));

		if (n <= 0)
			return n == 0;
		for (long at = 0; at < n;) {
			const struct dirent64 *entry = (const void *)(block + at);

			if (!visit(folder, entry->d_name, data))
				return true;
			at += entry->d_reclen;
		}
	}
}

/* The first bytes of the content's hash; false when it cannot be had. */
static bool content_key(struct recovery *recovery, int fd,
                        unsigned char key[static TEMPORARY_KEY_SIZE])
{
	_cleanup_free_ char *block = mem_piece();
	struct sha256_stream stream;
	struct sha256 sum;
	ssize_t n;

	sha256_init(&stream);
	if (lseek(fd, 0, SEEK_SET) < 0)
		return false;
	while ((n = fd_read_full(fd, block, MEM_PIECE_BYTES)) > 0) {
		if ((size_t)n > recovery->bytes_left)
			return false;
		recovery->bytes_left -= (size_t)n;
		sha256_update(&stream, span_of(block, (size_t)n));
	}
	sum = sha256_final(&stream);
	memcpy(key, sum.bytes, TEMPORARY_KEY_SIZE);
	return n == 0;
}

/* Opens a regular file for reading; *ret gets its stat, whatever it is. -1 when it is not
 * one, or cannot be opened: a living writer's lease refuses it (stage.h). */
static int open_regular(int folder, const char *name, struct stat *ret)
{
	int fd;

	if (fstatat(folder, name, ret, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(ret->st_mode))
		return -1;
	fd = fd_open_beneath(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, ret) < 0 || !S_ISREG(ret->st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool is_regular(int folder, const char *name)
{
	struct stat stat;

	return name && fstatat(folder, name, &stat, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(stat.st_mode);
}

struct target {
	const struct temporary *temporary;
	char *leaf; /* owned; NULL while not found */
};

static bool is_target(int folder, const char *name, void *data)
{
	struct target *target = data;

	(void)folder;
	if (!temporary_is_for(target->temporary, name))
		return true;
	target->leaf = mem_strdup(name);
	return false;
}

static int open_readable(int folder)
{
	return openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Another process's file, exchanged out by a writer that died: it gets its name back if the
 * writer's new file (unchanged since) still has it. Otherwise something newer has the name. */
static bool recovery_exchange_back(struct recovery *recovery, int folder, const char *name,
                                   const char *leaf, int leaf_fd, const struct stat *leaf_stat,
                                   const struct temporary *temporary)
{
	unsigned char key[TEMPORARY_KEY_SIZE];

	if (leaf_fd < 0)
		return true;
	if (!content_key(recovery, leaf_fd, key))
		return false;
	if (memcmp(key, temporary->new_sum, sizeof(key)) != 0)
		return true;
	return swap_put_back(folder, name, leaf, leaf_stat, NULL, NULL);
}

/* A temporary file of kind x; `fd` is -1 when it is not a regular file. Returns whether `name` may
 * be removed now. */
static bool recovery_settle_swap(struct recovery *recovery, int folder, const char *name, int fd,
                                 const struct temporary *temporary)
{
	struct target target = { .temporary = temporary };
	_cleanup_fd_ int again = open_readable(folder); /* `folder` is being read by our caller */
	unsigned char key[TEMPORARY_KEY_SIZE];
	_cleanup_fd_ int leaf_fd = -1;
	struct stat leaf_stat;
	bool ok = true;

	if (again < 0 || !recover_each_name(again, is_target, &target))
		return false;
	if (target.leaf)
		leaf_fd = open_regular(folder, target.leaf, &leaf_stat);
	/* Locked, or not to be opened: its writer lives, or another process is settling this. */
	if (leaf_fd >= 0 ? flock(leaf_fd, LOCK_EX | LOCK_NB) < 0 : is_regular(folder, target.leaf))
		ok = false;
	else if (fd >= 0 && !content_key(recovery, fd, key))
		ok = false;
	else if (fd < 0 || (memcmp(key, temporary->new_sum, sizeof(key)) != 0 &&
	                    memcmp(key, temporary->old_sum, sizeof(key)) != 0))
		ok = recovery_exchange_back(recovery, folder, name, target.leaf, leaf_fd,
		                            &leaf_stat,
		                            temporary);
	free(target.leaf);
	return ok;
}

/* A temporary file of kind d. If it is not the file to remove, it gets its name back (and `name` no
 * longer exists), or a newer file has replaced it. */
static bool recovery_settle_delete(struct recovery *recovery, int folder, const char *name, int fd,
                                   const struct temporary *temporary)
{
	unsigned char key[TEMPORARY_KEY_SIZE];

	if (fd >= 0 && !content_key(recovery, fd, key))
		return false;
	if (fd >= 0 && memcmp(key, temporary->old_sum, sizeof(key)) == 0)
		return true;
	if (!temporary->whole_leaf)
		return false;
	return !swap_move_back(folder, name, temporary->whole_leaf, false) && errno == EEXIST;
}

static bool recovery_settle(struct recovery *recovery, int folder, const char *name, int fd,
                            const struct temporary *temporary)
{
	switch (temporary->kind) {
	case TEMPORARY_PART:
		return true;
	case TEMPORARY_SWAP:
		return recovery_settle_swap(recovery, folder, name, fd, temporary);
	case TEMPORARY_DELETE:
		return recovery_settle_delete(recovery, folder, name, fd, temporary);
	case TEMPORARY_STAGED:
		break;
	}
	return false;
}

/* Takes the lock that keeps others from settling the same file, and checks that the name still is
 * this file: another process may just have settled it. */
static bool recovery_claim(int folder, const char *name, int fd, const struct stat *stat)
{
	struct stat now;

	if (fd < 0)
		return !S_ISREG(stat->st_mode);
	return flock(fd, LOCK_EX | LOCK_NB) == 0 &&
	       fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && stat_same_file(stat, &now);
}

/* Whether recovery has to look at it: temporary, and not of a commit that is under way here. */
static bool temporary_is_abandoned(struct file_cache *cache, const char *name,
                                   struct temporary *ret)
{
	return temporary_parse(name, ret) && ret->kind != TEMPORARY_STAGED &&
	       !(cache && file_cache_owns(cache, name));
}

static bool recover_one(int folder, const char *name, void *data)
{
	struct stat stat = { .st_mode = S_IFREG };
	_cleanup_fd_ int fd = -1;
	struct recovery *recovery = data;
	struct temporary temporary;

	if (!temporary_is_abandoned(recovery->cache, name, &temporary))
		return true;
	fd = open_regular(folder, name, &stat);
	if (recovery_claim(folder, name, fd, &stat) &&
	    recovery_settle(recovery, folder, name, fd, &temporary) &&
	    unlinkat(folder, name, 0) == 0)
		recovery->removed++;
	return ++recovery->looked_at < SETTLE_MAX;
}

struct temporary_search {
	struct file_cache *cache;
	size_t names;
	bool found;
};

static bool finds_temporary(int folder, const char *name, void *data)
{
	struct temporary_search *search = data;
	struct temporary temporary;

	(void)folder;
	search->names++;
	search->found = temporary_is_abandoned(search->cache, name, &temporary);
	return !search->found;
}

/* Nearly always it is enough to read the folder. Settling takes the lock for exchanging names
 * (stage.h); if it is held, its holder is at work, and the next commit settles. */
static bool recover_readable(int folder, struct temporary_search *search, size_t *removed)
{
	struct recovery recovery = { search->cache, .bytes_left = LIMIT_FILE_BYTES };
	bool ok;

	*removed = 0;
	if (!recover_each_name(folder, finds_temporary, search))
		return false;
	if (!search->found || (flock(folder, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK))
		return true;
	ok = recover_each_name(folder, recover_one, &recovery);
	flock(folder, LOCK_UN);
	*removed = recovery.removed;
	return ok;
}

bool recover_folder(int folder, size_t *ret_removed, struct err *err)
{
	_cleanup_fd_ int readable = open_readable(folder);
	struct temporary_search search = { .names = 0 };
	size_t removed;

	if (readable < 0 || !recover_readable(readable, &search, &removed))
		return err_set_errno(err, errno, "Cannot read a folder");
	if (ret_removed)
		*ret_removed = removed;
	return true;
}

int recover_open(const struct place *place)
{
	int readable = open_readable(place->folder);
	struct temporary_search search = { place->cache, .names = 0 };
	struct stat stat;
	size_t removed;
	bool known;

	if (readable < 0)
		return -1;
	known = place->cache && fstat(readable, &stat) == 0;
	if (known && file_cache_knows_folder(place->cache, &stat))
		return readable;
	if (recover_readable(readable, &search, &removed) && known && !search.found)
		file_cache_note_folder_read(place->cache, &stat, search.names);
	return readable;
}

void recover_note(const struct place *place, int readable)
{
	struct stat stat;

	if (place->cache && readable >= 0 && fstat(readable, &stat) == 0)
		file_cache_note_folder_change(place->cache, &stat);
}
