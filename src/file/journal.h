/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of one transaction: what to undo, or to finish, after a crash.
 *
 * A file in the journal folder, whole and locked from the moment it has a name:
 *
 *     tx-RANDOM.undo   some of it may have been done: undo it
 *     tx-RANDOM.done   all of it was done: only temporaries are left to remove
 *
 * The rename from one to the other is the moment of success.  The process that
 * runs the transaction holds a lock on it; without a holder it is a crashed
 * one's, for transaction_recover to deal with.
 *
 * Its text is one line per entry between a first line that names the format and a last one
 * with the SHA-256 of all before it.  Fields are separated by tabs; in names, bytes other than
 * letters, digits and "._/-" are written %XX.  Internal to file/.
 */
#ifndef HASP_FILE_JOURNAL_H
#define HASP_FILE_JOURNAL_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/sha256.h"
#include "file/commit.h"

enum journal_kind {
	JOURNAL_WRITE,  /* the file is exchanged with its temporary */
	JOURNAL_CREATE, /* the file appears */
	JOURNAL_DELETE, /* the file becomes a temporary */
	JOURNAL_MOVE,   /* the file goes to `new_path` */
	JOURNAL_KIND_COUNT
};

/* One file.  The temporary's name is not recorded: it is in the file's folder, its name is a
 * temporary name of kind 't' for the file's (temporary.h), and it has one of the inodes. */
struct journal_entry {
	enum journal_kind kind;
	char *path;             /* owned; canonical, absolute */
	char *new_path;         /* owned; MOVE only, else NULL */
	ino_t old_inode;        /* of the file before; 0: there was none */
	ino_t new_inode;        /* of the file after; 0: none */
	struct sha256 old_sum;  /* of the content before and after */
	struct sha256 new_sum;
	size_t made;            /* folders above the appearing name that did not exist */
};

struct journal_entries {
	struct journal_entry *items; /* owned */
	size_t count, cap;
};

/* Frees the entries and their texts. */
void journal_entries_release(struct journal_entries *entries);
/* A new, zeroed entry at the end; valid until the next one. */
struct journal_entry *journal_entries_add(struct journal_entries *entries);

struct journal {
	int folder;     /* borrowed */
	int fd;         /* owned; holds the lock */
	char name[32];
	enum durability durability;
};

#define JOURNAL_INIT { .folder = -1, .fd = -1 }
void journal_release(struct journal *journal); /* unlocks; leaves the file */

/* Opens the folder of journals, an absolute path; -1 on failure: FILE_NOT_FOUND. */
int journal_folder_open(const char *path, struct err *err);
/* The same; makes it, with mode 0700, when it is missing. */
int journal_folder_make(const char *path, struct err *err);

/* Writes the journal of what is about to be done, state "undo". */
bool journal_create(int folder, const struct journal_entries *entries,
                    enum durability durability, struct journal *ret, struct err *err);
/* The commit point: from "undo" to "done".  The caller syncs the folder. */
bool journal_done(struct journal *journal, struct err *err);
/* Removes the file: nothing is left to do. */
bool journal_remove(struct journal *journal, struct err *err);

enum journal_state { JOURNAL_UNDO, JOURNAL_DONE };

/* Takes over the journal `name` of a crashed process: locks and reads it. False with err->code BUSY
 * when its process is alive, NONE when `name` is missing or not a journal, INVALID_ARGUMENT when it
 * is damaged (it is then set aside under the name NAME.bad). */
bool journal_take(int folder, const char *name, struct journal *ret,
                  enum journal_state *ret_state, struct journal_entries *ret_entries,
                  struct err *err);

/* Reads the journal `name` without taking it over; *ret_busy: its process is alive. False: no such
 * journal, or it is damaged. */
bool journal_look(int folder, const char *name, struct journal_entries *ret, bool *ret_busy);
/* Renames it to NAME.bad, so that recovery ignores it. */
void journal_set_aside(int folder, const char *name);

/* The text format, for tests. */
bool journal_format(const struct journal_entries *entries, struct buf *out);
bool journal_parse(struct span text, struct journal_entries *ret);

#endif
