/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of checkpoints: their state, the repository with the contents, and the
 * notes. */
#ifndef HASP_AGENT_CHECKPOINT_PRIVATE_H
#define HASP_AGENT_CHECKPOINT_PRIVATE_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/checkpoint/checkpoint.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/span.h"

/* ---- the repository --------------------------------------------------------------- */

/* The repository of a project's checkpoints, by libgit2.
 *
 *     struct repository *repository;
 *     if (!repository_open(folder, true, true, &repository, &err)) ...
 *     repository_add(repository, bytes, files[0].blob, &err);          // for each file
 *     repository_commit(repository, id, message, files, count, commit, &err);
 *     repository_close(repository);
 *
 * It is Gemini CLI's: FOLDER/.git, with its branch main left alone. A checkpoint is a separate
 * commit under refs/hasp/ID that holds only the saved files; its parent is an empty commit, the
 * same in all repositories. Deleting the reference deletes the checkpoint, and "git gc" frees the
 * space. Contents are stored unchanged: no filter, hook or attribute applies.
 *
 * One thread at a time; several processes may share a repository. The folder is not trusted: a
 * reader compares a blob with its hash.
 */

struct repository;

enum { OBJECT_ID_SIZE = 41 }; /* 40 digits and a NUL */

struct repository_file {
	/* In the tree: relative, with slashes.  NULL, and what git forbids there (.git, ".."),
	 * is stored as ".hasp/" and the blob's name. */
	const char *path;
	const char *blob;
};

/* FOLDER/.git, made if it is missing and `create`.  `durable`: objects are on the disk when a
 * function returns.  FILE_NOT_FOUND; DISK_FULL; PERMISSION_DENIED: it is another user's;
 * IO_ERROR with what git says; INTERNAL: no libgit2; to make it, as repository_lock. */
bool repository_open(const char *folder, bool create, bool durable,
                     const struct file_lock_wait *wait, struct repository **ret, struct err *err);
void repository_close(struct repository *repository); /* NULL is fine */

/* Keeps other processes, and other openings of this one, from adding checkpoints until the
 * descriptor that it returns is closed; -1 with *err: BUSY, CANCELLED (base/file.h; `wait` may
 * be NULL). FOLDER as above. */
int repository_lock(const char *folder, const struct file_lock_wait *wait, struct err *err);

/* Stores contents; the same ones are stored once. */
bool repository_add(struct repository *repository, struct span bytes, char ret[OBJECT_ID_SIZE],
                    struct err *err);
/* FILE_EXISTS: there is a checkpoint ID already. Under the lock. */
bool repository_commit(struct repository *repository, const char *id, const char *message,
                       const struct repository_file *files, size_t count,
                       char ret[OBJECT_ID_SIZE], struct err *err);
/* Appends the contents. FILE_NOT_FOUND: there is no such object. TOO_LARGE. */
bool repository_read(struct repository *repository, const char *blob, struct buf *out,
                     struct err *err);
/* Deletes the checkpoint's reference; a missing one is not an error. */
bool repository_forget(struct repository *repository, const char *id, struct err *err);

/* ---- notes ------------------------------------------------------------------------ */

/* The notes on checkpoints, kept outside the repository.
 *
 * A note is a file of Gemini CLI's folder checkpoints/, TIME-FILE-TOOL.json:
 *
 *     {"toolCall": {"name", "args"},         // as Gemini CLI has it; left out when it is large
 *      "hasp": {"version": 1, "session", "callId", "tool", "time" (ms), "commit",
 *               "files": [{"path", "sha256": hex|null, "size", "blob", "notKept"}]}}
 *
 * It has no "commitHash": Gemini CLI's /restore would make the whole project what that commit
 * has, and remove all that is not in it.  sha256 null: there was no such file.  notKept: why
 * there is no blob.
 *
 * The ledger says which states of files edits made: hasp-written.jsonl, a line for each,
 * {"session", "path", "sha256": hex|null, "note", "blob"}: the note of what was there before, and
 * where the content is kept (by the reference of that note with "+written" after it).  Lines that
 * cannot be read are passed over.
 */

struct note_file {
	char *path;           /* owned; absolute */
	bool existed;
	struct sha256 sha256; /* of what existed; of nothing, otherwise */
	uint64_t size;
	char blob[OBJECT_ID_SIZE]; /* "" when nothing is kept */
	char *not_kept;       /* owned; why not, of a file that existed (or may have); or NULL */
};

struct note {
	char *id;             /* owned; the file's name without ".json" */
	char *session, *call_id, *tool; /* owned; never NULL */
	int64_t time_ms;      /* since 1970 */
	char commit[OBJECT_ID_SIZE];
	struct note_file *files; /* owned */
	size_t count;
};

/* Frees its strings and files; it is empty then. */
void note_release(struct note *note);

/* Reads a note's text. INVALID_ARGUMENT: it is not one of hasp's. Nothing of it is believed but
 * for its form: paths are absolute, hashes are hashes. */
bool note_parse(struct span text, struct note *ret, struct err *err);
/* The text; `call` is "toolCall" or NULL. False when `out` overflowed. */
bool note_print(const struct note *note, json_t *call, struct buf *out);

/* "2026-11-22T09-17-25_123Z-FILE-TOOL": what is not a letter, digit, ".", "-" or "_" is "_". The
 * caller frees. */
char *note_id(int64_t time_ms, const char *path, const char *tool);
/* Whether it can be a note's id: nothing that leads elsewhere. */
bool note_id_valid(const char *id);

/* All notes of a folder from `first` (NULL: the oldest) on, oldest first; what cannot be read,
 * and Gemini CLI's own, are left out.  A folder that is missing has none. */
bool notes_read(const char *folder, const char *first, struct note **ret, size_t *ret_count,
                struct err *err);
void notes_free(struct note *notes, size_t count);

/* Writes FOLDER/ID.json so that it is there whole or not at all. FILE_EXISTS; DISK_FULL; ... */
bool note_save(const char *folder, const char *id, struct span text, bool durable, struct err *err);

/* ---- the ledger -------------------------------------------------------------------- */

/* States that edits of one session made, by path and hash. */
struct ledger;

/* After a note's id: the reference that holds what its edit made. */
#define WRITTEN_REFERENCE "+written"

/* A state that an edit made. */
struct written {
	const char *path;     /* borrowed; absolute */
	const char *note;     /* borrowed; the id of what was there before; NULL: not known */
	bool exists;          /* false: the edit removed it */
	struct sha256 sha256; /* of what exists */
	char blob[OBJECT_ID_SIZE]; /* "": its content is not kept */
};

/* Appends one line, with a newline at both ends. */
bool checkpoint_ledger_line(const char *session, const struct written *written, struct buf *out);
/* `text` is the whole file's. Never NULL. */
struct ledger *checkpoint_ledger_parse(struct span text, const char *session);
void checkpoint_ledger_free(struct ledger *ledger);
bool checkpoint_ledger_has(const struct ledger *ledger, const char *path,
                           const struct sha256 *sha256);
/* What the edit of this note made of a file. False: it is not known. */
bool checkpoint_ledger_made(const struct ledger *ledger, const char *note, const char *path,
                            struct written *ret);

/* ---- checkpoints --------------------------------------------------------------- */

struct checkpoints {
	struct checkpoints_options options; /* session_id owned */
	pthread_mutex_t lock;          /* of all below, and of the home */
	struct repository *repository; /* NULL: not opened yet */
	char *notes, *history;         /* folders; NULL likewise */
	bool is_made;                  /* they exist: not only looked for */
	json_t *pending;               /* calls that are kept and have no result yet: id to the
	                                * paths of a note, and last its id */
	bool complained;               /* a warning about an edit without a checkpoint was given */
	int64_t last_ms;               /* of the newest note of this process */
};

/* What one checkpoint is about. */
struct keeping {
	const char *session, *call_id, *tool;
	json_t *call;        /* Gemini CLI's toolCall; or NULL */
	const json_t *paths; /* array of strings, absolute */
};

/* Finds (create: makes) folders. FILE_NOT_FOUND when there are none yet. Under the lock. */
bool checkpoints_find(struct checkpoints *checkpoints, bool create, struct err *err);
/* And the repository. Likewise. */
bool checkpoints_reach(struct checkpoints *checkpoints, bool create, struct err *err);
/* Keeps the files; *ret_id for the caller, NULL when there was nothing to keep; `paths` (NULL: not
 * wanted) gets those that the note has. Takes the lock. */
bool checkpoints_keep(struct checkpoints *checkpoints, const struct keeping *keeping, json_t *paths,
                      char **ret_id, struct err *err);
/* Writes states that an edit (or a restore) made into the ledger, and holds on to those of their
 * contents that are in the repository. All have the same note. Takes the lock. */
bool checkpoints_wrote(struct checkpoints *checkpoints, const char *session,
                       const struct written *files, size_t count, struct err *err);
/* Puts contents into the repository; false: *ret is "". Takes the lock. */
bool checkpoints_add(struct checkpoints *checkpoints, struct span bytes, char ret[OBJECT_ID_SIZE],
                     struct err *err);
/* The ledger's file, read; for the caller to free. */
bool checkpoints_ledger(struct checkpoints *checkpoints, const char *session, struct ledger **ret,
                        struct err *err);
/* All of a file, by the provider; `ret` is always to be released. */
bool checkpoints_read(struct checkpoints *checkpoints, const char *path, struct read_result *ret,
                      struct err *err);

#endif
