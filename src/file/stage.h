/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a commit, one by one, for commit.c and for transactions.
 *
 *     _cleanup_stage_ struct stage stage = STAGE_INIT;
 *     stage_write(&stage, base, pieces, count, how, &err)   content and attributes, no name yet
 *     stage_name(&stage, base, TEMPORARY_SWAP, &err)            has a name in the folder now
 *     stage_exchange(&stage, base, how, &err)                verified; the name has the old file
 *     stage_confirm(&stage, base, how, &err)                 a last look
 *     stage_discard(&stage)                                  the name is removed
 *
 * Creating: stage_write, then stage_create. Removing: stage_remove, then stage_discard. Undoing an
 * exchange (a transaction): stage_undo. Below: what the steps ask of the kernel: leases, exchanges
 * of names, attributes. Not here: recovery after a crash (recover_folder, private.h). Internal to
 * file/.
 */
#ifndef HASP_FILE_STAGE_H
#define HASP_FILE_STAGE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"
#include "file/commit.h"
#include "file/temporary.h"

/* Moments at which a test can step in. */
enum commit_point {
	COMMIT_STAGED,    /* the new content is written */
	COMMIT_COMPARED,  /* the old file was found unchanged; the exchange is next */
	COMMIT_EXCHANGED, /* exchanged (or moved away), not yet verified */
	COMMIT_SETTLED,   /* verified; before the last look */
	COMMIT_PUT_BACK,  /* before each exchange that puts a stranger's file back */
};

/* How to commit: the caller's options, and switches that force the ways around
 * what a file system lacks. */
struct commit_how {
	struct commit_options options;
	bool no_tmpfile;  /* as without O_TMPFILE: a temporary with a name */
	bool no_exchange; /* as without renameat2: verify, then a plain rename */
	bool no_lease;    /* as without leases: compare before and after */
	void (*at)(enum commit_point point, void *data); /* NULL: no test looks on */
	void *data;
};

struct stage {
	int fd;               /* owned; the new file, open for reading and writing; -1 if none */
	int folder;           /* borrowed from the snapshot's place */
	const struct commit_options *options; /* borrowed; of the exchange; NULL: none yet */
	int readable;         /* owned; the folder opened for reading (recover_open), to lock and to
	                       * sync; -1: opened when it is needed */
	const char *leaf;     /* borrowed from the snapshot's place */
	struct stat stat;     /* identity of the new file (or of the one being removed) */
	struct stat old_stat; /* attributes that were copied */
	struct sha256 sha256; /* of the new content */
	size_t size;
	char name[TEMPORARY_NAME_SIZE]; /* "" while it has none */
	struct file_cache *cache; /* borrowed from the snapshot's place; or NULL */
	struct own_name *own; /* `name`, as `cache` knows it until stage_release; or NULL */
	int reopened;         /* owned; the old file opened again, or -1 */
	int leased;           /* borrowed; the old file's descriptor that has a lease, or -1 */
	bool guarded;         /* the new file has a lease (stage_guard) */
	bool swapped;         /* `name` has the old file */
	bool created;         /* the file did not exist before */
	bool seen;            /* the new file has had the name: another process may have opened it,
	                       * even after an undo (stage_leave) */
};

#define STAGE_INIT { .fd = -1, .folder = -1, .readable = -1, .reopened = -1, \
	                .leased = -1 }
/* Closes, gives up the lease, and removes `name` if it has one. */
void stage_release(struct stage *stage);
#define _cleanup_stage_ __attribute__((cleanup(stage_release)))

/* Writes a new file in base->place.folder, with the attributes of the old one if
 * there is one, and a lock that says its writer lives.  DURABILITY_FULL also syncs it. */
bool stage_write(struct stage *stage, const struct snapshot *base, const struct span *pieces,
                 size_t count, const struct commit_how *how, struct err *err);

/* Gives it a name of `kind` in the folder. */
bool stage_name(struct stage *stage, const struct snapshot *base, enum temporary_kind kind,
                struct err *err);

/* A lock on the folder that all who exchange names in it take, for the microseconds from
 * comparing to having verified or put back: what one of them tries out must never be
 * taken by another for a stranger's file.  False: not had until `deadline_us` (CLOCK_MONOTONIC).
 * True also where there are no locks, or the folder cannot be read. */
bool stage_lock(struct stage *stage, long long deadline_us);
/* Gives the lock up; harmless without one. */
void stage_unlock(struct stage *stage);

/* Replaces the old file, if it is still as in `base`; then `name` has the old file (or, without
 * RENAME_EXCHANGE, does not exist). Otherwise everything is as before. */
bool stage_exchange(struct stage *stage, const struct snapshot *base,
                    const struct commit_how *how, struct err *err);

/* A last check, after stage_exchange or stage_remove, whose lease is still held: it detects a
 * writer that had found the old file by its name before, and opened it only after. Then the step is
 * undone, and can be tried again (BUSY, or STATE_MISMATCH). The later it is called the better. */
bool stage_confirm(struct stage *stage, const struct snapshot *base,
                   const struct commit_how *how, struct err *err);

/* Gives it the name of the file, which must not exist. */
bool stage_create(struct stage *stage, const struct snapshot *base,
                  const struct commit_how *how, struct err *err);

/* Moves the old file away to a name of `kind`, if it is still as in `base`. `stage` must be
 * empty. */
bool stage_remove(struct stage *stage, const struct snapshot *base, enum temporary_kind kind,
                  const struct commit_how *how, struct err *err);

/* Undoes stage_exchange, stage_create or stage_remove, unless another process has touched the file
 * since: its state is newer and stays (false). `name` does not exist afterwards. A replacement
 * without RENAME_EXCHANGE cannot be undone (false). */
bool stage_undo(struct stage *stage);

/* Makes up a name for the temporary and reports it to this process's recovery as ours, before
 * anybody can see it (file_cache_own). */
void stage_choose_name(struct stage *stage, const struct temporary *temporary,
                       char name[static TEMPORARY_NAME_SIZE]);

/* fsync, repeated when interrupted. */
bool stage_sync(int fd);

/* Removes `name`. */
void stage_discard(struct stage *stage);

/* ---- those who open a file while it is tried out ---------------------------------- */

/* Those who open a file in the microseconds in which it is being tried out.
 *
 * Between the exchange of the names and its verification, a process that opens the file gets the
 * new one. If the exchange must then be undone, because another rename came between comparing and
 * exchanging, the bytes of such a writer would be lost, and such a reader would have read a state
 * that never existed. So the new file has a lease during that time, which makes every opener wait
 * (F_WRLCK: it conflicts with every open, also for reading):
 *
 *     stage_guard(stage)      before the exchange
 *     stage_leave(stage, ...) after the final undo
 *
 * Those who wait have our file already, and will go on with it: so it is given the content
 * and attributes that the name has now, and then the name, while they wait.
 *
 * Who has looked our file up by its name, and is interrupted before the kernel counts it as opened,
 * cannot be seen. So the lease ends only after some time, and before that our file gets the content
 * of the name in any case: then who still comes later reads what the name had when ours was
 * removed, and never our new content. (If they write in place, that is lost.)
 *
 * An opener with O_NONBLOCK does not wait, but gets EAGAIN.
 */

/* Makes openers of the new file wait, where the file system can. */
void stage_guard(struct stage *stage);

/* Whether a process waits for the new file (or has it open). */
bool stage_awaited(const struct stage *stage);

/* Ends what stage_guard started, for a new file whose exchange was undone and will not be tried
 * again: removes `name` and uses up the stage. If a process waits for ours, waits until
 * `deadline_us` (CLOCK_MONOTONIC) for those that have the other file open for writing. Call it with
 * the folder locked. */
void stage_leave(struct stage *stage, long long deadline_us);

/* Before the last check of the old file: gives time to processes that have found it by its name and
 * not yet reached the point where the lease shows their open. That takes a fraction of a
 * microsecond, unless they are interrupted just there; then they wait for a processor, and yielding
 * ours helps. If others have changed the file within the last two seconds, by whatever means, we
 * sleep (true). Our own workspace's last commit does not count (file_cache_others_at), but changes
 * before it do. */
bool stage_grace(const struct snapshot *base);

/* After the last look, while the new file's lease is still held: what it is now is our doing
 * alone. */
void stage_note(const struct stage *stage, const struct snapshot *base);

/* ---- leases ----------------------------------------------------------------------- */

/* A read lease: proof that no process has a file open for writing.
 *
 * The kernel grants F_RDLCK only while no descriptor (or mapping) of any process can write to the
 * file, and breaks it before the next open for writing, or truncation, takes effect: the opener
 * waits until the lease is given up. So while file_lease_is_held() is true, no byte has changed
 * since file_lease_take(). Readers are never disturbed, and several may hold such a lease. A write
 * lease would also be refused and broken for readers, and proves nothing more.
 *
 * The default signal for a break would end the process. It is set to SIGURG, which is ignored by
 * default; file_lease_is_held() asks instead.
 */

enum lease {
	LEASE_HELD,
	LEASE_BUSY, /* a process has the file open for writing */
	LEASE_NONE, /* this file system has none, or this user may not: compare instead */
};

/* Takes the lease; `fd` must be open for reading only. */
enum lease file_lease_take(int fd);
/* Whether the lease is still held, unbroken. */
bool file_lease_is_held(int fd);
/* Gives it up; harmless when there is none. */
void file_lease_drop(int fd);

/* ---- exchanging names ------------------------------------------------------------- */

/* Whether both are of the same file. */
static inline bool stat_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* renameat2 within one folder, repeated when interrupted; false with errno set. */
bool swap_rename(int folder, const char *from, const char *to, unsigned flags);

/* Whether errno says that the file system has no such flag for rename. */
bool swap_unsupported(int sys_errno);

/* `leaf` got our file `ours` by an exchange, and the file that came out, under `name`, was not the
 * one we had read: gives it its name back. A file that another process renames to `leaf` meanwhile
 * is newer than ours, and wins: if it is seen before the first exchange, no exchange takes place;
 * if it comes between that check and the exchange, it is put back in the next round. Afterwards
 * `name` has our file, or another that was superseded: it can be removed. False (errno) if that
 * failed; then `name` must stay. `before` (may be NULL) is called before each exchange. */
bool swap_put_back(int folder, const char *name, const char *leaf, const struct stat *ours,
                   void (*before)(void *data), void *data);

/* Gives a file that was moved away to `name` its name back; false with EEXIST when `leaf`
 * is taken again, by something newer. `plain` is as without RENAME_NOREPLACE. */
bool swap_move_back(int folder, const char *name, const char *leaf, bool plain);

/* Renames between folders; EEXIST when the new name is taken. False with errno set. */
bool swap_move(int from_folder, const char *from, int to_folder, const char *to);
/* Removes the file `leaf` if it has this inode and content.  False: a different file (errno is 0),
 * or a call failed. */
bool swap_remove_created(int folder, const char *leaf, ino_t inode, const struct sha256 *sum);

/* ---- owner, mode and attributes --------------------------------------------------- */

/* What a file has besides its content: owner, group, mode, ACL, xattrs.
 *
 * Kept, or CANNOT_PRESERVE: owner, group, mode, the access ACL, user.* xattrs.
 * Kept where the kernel permits: security.* (labels), trusted.*, other system.*.
 * Not kept: security.capability (a write drops it too), inode flags, the time of
 * birth, the times of access and change.
 */

/* Gives the file open as `to` what the one open as `from` has; `stat` is the latter's. `path`
 * is for messages.  Works whatever was already copied. Call it after the content
 * is written: a write clears set-user-id.  *was (may be NULL) gets the stat of `to` before. */
bool attributes_copy(int from, const struct stat *stat, int to, const char *path,
                     struct stat *was, struct err *err);

/* ---- whole commits, for tests and for undoing ------------------------------------- */

/* commit_write and commit_delete with the switches of struct commit_how. */
bool commit_write_how(struct snapshot *base, const struct span *pieces, size_t count,
                      const struct commit_how *how, struct file_state *ret, struct err *err);
bool commit_delete_how(struct snapshot *base, const struct commit_how *how, struct err *err);

#endif
