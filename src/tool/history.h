/* SPDX-License-Identifier: Apache-2.0 */
/* Who changed a file: a session records the states that its answers showed, its edits and its
 * commands, so that a refusal can name the cause.
 *
 *     history_showed(session, path, &sum);                // an answer has this hash
 *     history_edited(session, &edit);                     // an edit was made
 *     size_t id = history_command(session, "make fmt");
 *     history_command_ended(session, id);
 *     ... an edit meets another state than it names ...
 *     history_explain(session, path, &base, &now, &message);
 *
 * All functions may be called from any thread.  The oldest entries are dropped; nothing is guessed
 * about changes that are no longer recorded.
 */
#ifndef HASP_TOOL_HISTORY_H
#define HASP_TOOL_HISTORY_H

#include "base/buf.h"
#include "base/sha256.h"
#include "tool/tool.h"

/* Made and freed with a session (session.c). Never NULL. */
struct history *history_new(void);
void history_free(struct history *history); /* NULL is fine */

/* An answer of this session names this state of a file; `path` is canonical, NULL: not known. */
void history_showed(struct session *session, const char *path, const struct sha256 *sum);
/* Whether one did; false also for what was forgotten. */
bool history_has_shown(const struct session *session, const struct sha256 *sum);
/* The path of the file that was last shown in this state, for the caller to free; NULL: it is not
 * known. */
char *history_path_of(const struct session *session, const struct sha256 *sum);

/* One edit that this session made of one file. */
struct history_edit {
	const char *path;            /* canonical; copied */
	struct sha256 before, after;
	uint64_t version;            /* of the state in the edit's answer */
	const struct change *change; /* borrowed for the call */
};

/* The change was refused, and offered as this diff: what makes the diff makes the change. */
void history_offered(struct session *session, const struct change *change, struct span diff);

/* The edit was made. */
void history_edited(struct session *session, const struct history_edit *edit);

/* The version in the answer to a call that made this very change, by the same path, before; 0:
 * none did.  *ret (or NULL) is the state in which the last one left the file. */
uint64_t history_made_before(const struct session *session, const struct change *change,
                             struct sha256 *ret);

/* Whether edits of this reply alone (session.reply) made the state `now` of the file of `base`. */
bool history_is_of_reply(const struct session *session, const char *path,
                         const struct sha256 *base, const struct sha256 *now);

/* A command begins; the id is for history_command_ended, when all its processes have ended. */
size_t history_command(struct session *session, const char *command);
void history_command_ended(struct session *session, size_t id);

/* Appends a sentence: who made the state `now` of a file that an answer showed as `base`.  Nothing
 * if it is not known. */
void history_explain(const struct session *session, const char *path, const struct sha256 *base,
                     const struct sha256 *now, struct buf *out);

#endif
