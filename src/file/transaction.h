/* SPDX-License-Identifier: Apache-2.0 */
/* Several commits, all or nothing.
 *
 *     struct transaction *tx;
 *     transaction_begin(journal_folder, options, &tx, &err);
 *     transaction_write(tx, &base1, pieces, n, &err);      // staged, not visible
 *     transaction_delete(tx, &base2, &err);
 *     transaction_move(tx, &base3, &target, NULL, 0, &err);
 *     transaction_commit(tx, &failed, &err) or transaction_abort(tx);
 *
 * Staging writes every temporary.  Commit first writes a journal (in the home's state
 * folder, never in the user's project; journal.h) that says how to undo, then exchanges the
 * files one by one, each checked as commit.h does; the first mismatch undoes those before it.
 * The journal's rename from "undo" to "done" is the moment of success.  After a crash at any
 * point, transaction_recover (called when a workspace is opened) undoes or completes, so
 * that all files are old or all are new.
 *
 * Changes that others made meanwhile are never undone: a file that no longer is as the transaction
 * made it keeps their content. A process that opens a replaced file before the moment of success
 * waits in open(2) until then (stage.h), so content that is undone is never read.
 *
 * Limits: without RENAME_EXCHANGE a failure is undone by writing the old content again, but a crash
 * is not; the list in commit.h applies to each file. A file takes three descriptors from its
 * snapshot to the end: without enough of them nothing is changed.
 */
#ifndef HASP_FILE_TRANSACTION_H
#define HASP_FILE_TRANSACTION_H

#include "file/commit.h"

struct transaction;

/* `journal_folder` is an absolute path, made when missing (mode 0700).  The
 * snapshots passed to the calls below must live until commit or abort. */
bool transaction_begin(const char *journal_folder, const struct commit_options *options,
                       struct transaction **ret, struct err *err);

/* Stages new content, or a removal.  Each call names a file that no other call of the transaction
 * names (INVALID_ARGUMENT otherwise). */
bool transaction_write(struct transaction *tx, struct snapshot *base,
                       const struct span *pieces, size_t count, struct err *err);
bool transaction_delete(struct transaction *tx, struct snapshot *base, struct err *err);
/* Moves the file, with its attributes; `pieces` (count > 0) also replaces its content.  The
 * target (a snapshot with exists == false) must not exist: FILE_EXISTS. */
bool transaction_move(struct transaction *tx, struct snapshot *base, struct snapshot *target,
                      const struct span *pieces, size_t count, struct err *err);

/* The hash of the content that operation `i` (in the order of staging) writes; that of
 * nothing for a deletion or a plain move. Borrowed, until commit or abort. */
const struct sha256 *transaction_sha256(const struct transaction *tx, size_t i);

/* Makes it all visible.  *ret_failed (may be NULL) is the index of the staged
 * operation that failed.  Frees `tx` in every case. */
bool transaction_commit(struct transaction *tx, size_t *ret_failed, struct err *err);
void transaction_abort(struct transaction *tx); /* frees it; NULL is fine */

/* Undoes or completes the transactions of crashed processes; those of running ones are left alone.
 * Cheap when there are none (one openat). *ret_recovered counts transactions. IO_ERROR: a system
 * error stopped a recovery; its journal stays, and the next call repeats it. */
bool transaction_recover(const struct workspace *ws, const char *journal_folder,
                         size_t *ret_recovered, struct err *err);

#endif
