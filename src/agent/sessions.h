/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded sessions: finding, listing, reading, deleting them.
 *
 *     sessions = sessions_list(home);                              // reads, changes nothing
 *     if (sessions_find(home, "latest", &path, &err) && session_read(path, &read, &err)) ...
 *     session_read_release(&read);
 *
 * Gemini CLI's files (.jsonl, and older .json) and hasp's are the same ones.  A session that is only read
 * or resumed is never deleted; lines that cannot be read are passed over.  Old ones: retention.h.
 */
#ifndef HASP_AGENT_SESSIONS_H
#define HASP_AGENT_SESSIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/home.h"

struct session_read {
	char *id;          /* owned */
	json_t *messages;  /* as recorded: user, gemini, info, ...; owned */
	json_t *contents;  /* the conversation (model/content.h); owned */
	json_t *metadata;  /* of the file; owned */
	size_t bad_lines;
	bool legacy;       /* one JSON object: cannot be appended to */
};

/* INVALID_ARGUMENT: nothing in it is a session. TOO_LARGE. FILE_NOT_FOUND. */
bool session_read(const char *path, struct session_read *ret, struct err *err);
/* The same of the file's text, for tests. */
bool session_read_text(struct span text, struct session_read *ret, struct err *err);
void session_read_release(struct session_read *read);

/* Sessions with something to resume, oldest first: [{id, file, title, startTime, lastUpdated, messages}]; a
 * new reference. A project without a folder has none. */
json_t *sessions_list(struct home *home);
/* "latest", a number of the list (from 1), an id or the beginning of one (at least 8 characters, only one
 * session's). *ret is the caller's. INVALID_ARGUMENT: there is none, or several. */
bool sessions_find(struct home *home, const char *which, char **ret_path, struct err *err);
/* Likewise; removes the file and its tool outputs. BUSY: it is open. */
bool sessions_delete(struct home *home, const char *which, struct err *err);
/* Whether a file of this name may be a session. */
bool session_is_name(const char *name);
/* Removes a session's file and its tool outputs. BUSY: it is open. */
bool session_remove(struct home *home, const char *path, struct err *err);
/* "  1. Fix the bug (2 hours ago) [uuid]\n" for each, as Gemini CLI prints them. */
void sessions_print(const json_t *sessions, int64_t now_seconds, struct buf *out);

#endif
