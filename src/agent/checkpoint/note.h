/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what is written down about checkpoints, beside the repository.
 *
 * A note is a file of Gemini CLI's folder checkpoints/, TIME-FILE-TOOL.json:
 *
 *     {"toolCall": {"name", "args"},              // as Gemini CLI has it; left out when it is large
 *      "hasp": {"version": 1, "session", "callId", "tool", "time" (ms), "commit",
 *               "files": [{"path", "sha256": hex|null, "size", "blob", "notKept"}]}}
 *
 * It has no "commitHash": Gemini CLI's /restore would make the whole project what that commit
 * has, and remove all that is not in it.  sha256 null: there was no such file.  notKept: why
 * there is no blob.
 *
 * The ledger says which states of files edits made: hasp-written.jsonl, a line for each,
 * {"session", "path", "sha256"}.  Lines that cannot be read are passed over.
 */
#ifndef HASP_AGENT_CHECKPOINT_NOTE_H
#define HASP_AGENT_CHECKPOINT_NOTE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/checkpoint/repository.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/sha256.h"
#include "base/span.h"

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

/* Appends one line, with a newline at both ends. */
bool ledger_line(const char *session, const char *path, const struct sha256 *sha256,
                 struct buf *out);
/* `text` is the whole file's. Never NULL. */
struct ledger *ledger_parse(struct span text, const char *session);
void ledger_free(struct ledger *ledger);
bool ledger_has(const struct ledger *ledger, const char *path, const struct sha256 *sha256);

#endif
