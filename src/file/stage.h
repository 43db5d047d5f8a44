/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a commit, one by one, for commit.c and for transactions.
 *
 *     _cleanup_stage_ struct stage stage = STAGE_INIT;
 *     stage_write(&stage, base, pieces, count, how, &err)   content and attributes, no name yet
 *     stage_name(&stage, base, TEMPORARY_SWAP, &err)            has a name in the folder now
 *     stage_exchange(&stage, base, how, &err)                verified; the name has the old file
 *     stage_confirm(&stage, base, how, &err)                 a last look
 *     stage_discard(&stage)                                  the name is gone
 *
 * Creating: stage_write, then stage_create. Removing: stage_remove, then stage_discard.
 * Undoing an exchange (a transaction): stage_undo.
 * Internal to file/.  What a crash leaves is recover.h's.
 */
#ifndef HASP_FILE_STAGE_H
#define HASP_FILE_STAGE_H

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
	struct folder_cache *clean; /* borrowed from the snapshot's place; NULL: nobody is told */
	struct own_name *own; /* `name`, as `clean` knows it until stage_release; or NULL */
	int reopened;         /* owned; the old file opened again, or -1 */
	int leased;           /* borrowed; the old file's descriptor that has a lease, or -1 */
	bool guarded;         /* the new file has a lease of its own (adopt.h) */
	bool swapped;         /* `name` has the old file */
	bool created;         /* the file did not exist before */
	bool seen;            /* the new file has had the name: it may be opened even when it has
	                       * been taken back (adopt.h) */
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
void stage_unlock(struct stage *stage);

/* Puts it in the place of the old file, if that is still what `base` says; then `name` has
 * the old file (or, without RENAME_EXCHANGE, is gone). Otherwise everything is as before. */
bool stage_exchange(struct stage *stage, const struct snapshot *base,
                    const struct commit_how *how, struct err *err);

/* A last look, after stage_exchange or stage_remove, whose lease is still held: a writer who
 * had found the old file by its name before that, and opened it only after, shows now. Then what
 * was done is put back, and can be tried again (BUSY, or STATE_MISMATCH).  The later
 * it is called the better. */
bool stage_confirm(struct stage *stage, const struct snapshot *base,
                   const struct commit_how *how, struct err *err);

/* Gives it the name of the file, which must not exist. */
bool stage_create(struct stage *stage, const struct snapshot *base,
                  const struct commit_how *how, struct err *err);

/* Moves the old file away to a name of `kind`, if it still is what `base` says. `stage`
 * is empty before, and holds no file of its own. */
bool stage_remove(struct stage *stage, const struct snapshot *base, enum temporary_kind kind,
                  const struct commit_how *how, struct err *err);

/* Takes back stage_exchange, stage_create or stage_remove, as far as nobody else has
 * touched the file since: their state is newer and stays (false).  Nothing remains under
 * `name`.  A replacement without RENAME_EXCHANGE cannot be taken back (false). */
bool stage_undo(struct stage *stage);

/* Makes up a name for the temporary and tells this process's recovery that it is ours, before anybody can
 * see it (folder_cache.h). */
void stage_choose_name(struct stage *stage, const struct temporary *temporary,
                       char name[static TEMPORARY_NAME_SIZE]);

/* fsync, repeated when interrupted. */
bool stage_sync(int fd);

/* Removes `name`. */
void stage_discard(struct stage *stage);

#endif
