/* SPDX-License-Identifier: Apache-2.0 */
/* One file of a transaction, and how it is done and undone (transaction.h is the public face).
 *
 *     transaction.c        staging, the journal, the commit point
 *     transaction_file.c   one file: apply, check, undo, finish
 *     transaction_undo.c   after a crash: the same from the journal alone
 */
#ifndef HASP_FILE_TRANSACTION_INTERNAL_H
#define HASP_FILE_TRANSACTION_INTERNAL_H

#include "file/journal.h"
#include "file/lease.h"
#include "file/stage.h"

struct tx_file {
	enum journal_kind kind;
	struct snapshot *base;   /* borrowed; CREATE: the missing file */
	struct snapshot *target; /* borrowed; MOVE: the missing file */
	struct stage stage;
	size_t index;            /* which call staged it */
	size_t made;             /* folders made above the name that appears */
	bool applied;
	enum lease lease;        /* on the old file, from its exchange to the commit point */
	char moved_name[TEMPORARY_NAME_SIZE]; /* MOVE: the name it had between its two */
};

/* Makes the file's change visible, if the file is what was read.  A failure leaves it as
 * others made it. */
bool tx_file_apply(struct tx_file *file, const struct commit_how *how, struct err *err);
/* Whether the old file, now out of the way, still is what was read: nobody who had
 * found it by its name earlier has written to it since. */
bool tx_file_check(struct tx_file *file, struct err *err);
/* Takes back what was applied; what others did since stays. */
void tx_file_undo(struct tx_file *file, const struct commit_how *how);
/* Removes what the file leaves behind, and gives up locks. */
void tx_file_release(struct tx_file *file);

/* What the journal has to know of it. */
void tx_file_record(const struct tx_file *file, struct journal_entry *entry);

/* Renames between folders; EEXIST when the new name is taken. False with errno set. */
bool tx_rename(int from_folder, const char *from, int to_folder, const char *to);
/* Whether the open file has this content. */
bool tx_content_is(int fd, const struct sha256 *sum);
/* Removes the file `leaf` if it is the one with this inode and content; anything else stays. */
void tx_remove_created(int folder, const char *leaf, ino_t inode, const struct sha256 *sum);

#endif
