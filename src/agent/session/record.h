/* SPDX-License-Identifier: Apache-2.0 */
/* A session's record: Gemini CLI's append-only JSONL, written so that a crash loses at most the
 * line being written. A full disk is reported once, and the write is retried. While lines are
 * waiting for space the file ends with a mark that says so, if the mark fits; it stays there if
 * they are never written.
 *
 *     struct record *record;
 *     if (!record_open(&options, &record, &err)) ...
 *     record_user(record, content, SAID_PROMPT);
 *     record_model(record, content, thoughts, &usage, model_id);
 *     record_call(record, call_id, name, args, result, media, status, display, &took);
 *     record_close(record);
 *
 * Data without a place in Gemini CLI's format (thoughts, signatures, other providers' data; each
 * call as it ends, before its message is written again with all of them) is in members and lines
 * named "hasp", which Gemini CLI skips. An output is written once; of calls that ran in parallel,
 * all but the last are written a second time.
 *
 * Each line is written whole, in one write. If a file that is opened again ends in a partial line,
 * a line end is added first. Two programs never write the same file: it is locked (flock) while
 * open, and a new session always creates its file. Nothing is deleted here; sessions.h does that on
 * request.
 */
#ifndef HASP_AGENT_SESSION_RECORD_H
#define HASP_AGENT_SESSION_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "config/home.h"
#include "model/model.h"

/* ---- the record of a session ------------------------------------------------- */

struct record;

struct record_options {
	struct home *home;
	const char *session_id;   /* NULL: a new UUID */
	const char *resume_file;  /* NULL, or an existing session's file to be continued */
	/* NULL, or the session of which a sub-agent's conversation this is: its file is then
	 * chats/SESSION/ID.jsonl, and goes when the session's goes. */
	const char *agent_of;
	const json_t *directories; /* of the workspace, or NULL; borrowed */
	/* Called when a write fails (DISK_FULL and the like), once for each period of failure. */
	void (*trouble)(void *data, const struct err *err);
	void *data;
};

/* The file is created with the first message, so that a run that fails early leaves none. If the
 * home folder does not exist (home_missing) a new session has no file; that is not an error.
 * INVALID_ARGUMENT: the session id is not [A-Za-z0-9_-]{1,128}. BUSY: the session to resume is open
 * in another program. */
bool record_open(const struct record_options *options, struct record **ret, struct err *err);
void record_close(struct record *record); /* NULL is fine, here and below */
const char *record_session_id(const struct record *record);
/* Whether everything recorded is in the file; lines that are waiting for space are tried again.
 * False: *err says how many lines are missing, since when, where, and why (its code is that of the
 * write). True for NULL. */
bool record_whole(struct record *record, struct err *err);
/* Where it is or will be; "" when there is no place for it. */
const char *record_path(const struct record *record);

/* Why a message is the user's: its line says so, but for a prompt. */
enum record_said {
	SAID_PROMPT,
	SAID_STEER, /* words of the user that joined a prompt under way */
	SAID_NOTE,  /* hasp's own words to the model */
};

/* Records a message of the user; one with only results of calls has no line (see record_call). */
void record_user(struct record *record, const json_t *content, enum record_said said);
/* How long a call took, and how long of that it waited for the user; of an edit, whose words
 * it was in (tool_info_dialect), else NULL; the questions about it (agent/call/questions.h), and
 * the hook that denied it, or NULL. All borrowed. */
struct record_took {
	uint64_t ms, waited_ms;
	const char *dialect;
	const json_t *asked;
	const char *hook;
};

/* A reply of the model; its calls are recorded as they end. */
void record_model(struct record *record, const json_t *content, const struct model_usage *usage,
                  const char *model);
/* Belongs to the last model message. `result`: what the model gets; `media`: the parts sent with
 * it, or NULL; status "success", "error", "cancelled"; `took` may be NULL: not known. */
void record_call(struct record *record, const char *call_id, const char *name, const json_t *args,
                 const json_t *result, const json_t *media, const char *status,
                 const char *display, const struct record_took *took);
void record_notice(struct record *record, const char *type /* info, warning, error */,
                   const char *text);
/* All calls of the last model message have ended. */
void record_calls_end(struct record *record);
/* Of a session whose first messages are not in this file. */
void record_first_prompt(struct record *record, const char *text);
/* What the session is called in lists. */
void record_title(struct record *record, struct span title);
/* Writes a checkpoint line after the whole history was replaced (compression). Messages that stay
 * and are in the file are named there, not written again. */
void record_replace(struct record *record, const json_t *contents);
/* Writes Gemini CLI's {"$rewindTo": ID}: a message and all after it no longer count. *ret_mark: for
 * record_undo_rewind. False: nothing was written, because the file is incomplete or cannot be
 * written. Afterwards the caller must read the file again and pass its messages to record_know. */
bool record_rewind(struct record *record, const char *message_id, size_t *ret_mark,
                   struct err *err);
/* They count again, if no message has come since; what else has is dropped with the rewind. */
bool record_undo_rewind(struct record *record, size_t mark, struct err *err);
/* All messages that the file has (session_read.messages); keeps a reference, so they must not be
 * changed. */
void record_know(struct record *record, const json_t *messages);
/* What the conversation begins with, in pieces (surroundings.h), and the hash of the tools that
 * were declared. */
void record_sent(struct record *record, const json_t *beginning);
/* The pieces whose changes the next message reports. */
void record_changes(struct record *record, const json_t *changes);
/* What an A2A server says of a task (docs/sessions.md): {"hasp": {"a2aTask": line}}. */
void record_a2a_task(struct record *record, const json_t *line);
/* Thinking that is bound to what stood before it (content.h) is not sent any more, of all
 * messages so far. */
void record_thoughts_dropped(struct record *record);
/* The share of the request that equals the beginning of the last one: for the next message of
 * the model. */
void record_share(struct record *record, double share);
/* How long the model took to answer, in milliseconds: likewise. */
void record_model_ms(struct record *record, double ms);

/* ---- its lines --------------------------------------------------------------- */

/* The lines of a session's file, as values (reference: docs/sessions.md).
 *
 * Functions that return json_t * give a new reference. */

bool record_id_is_valid(const char *session_id); /* [A-Za-z0-9_-]{1,128} */
char *record_new_id(void);                       /* a random UUID; the caller frees */
void record_minute(char *out, size_t size);      /* "2026-08-21T09-41", now, UTC */

/* The first line of a file; `directories` of the workspace, or NULL. `kind`: "main", or
 * "subagent". */
json_t *record_metadata_line(const char *session_id, const char *project_hash,
                             const json_t *directories, const char *kind);
/* NULL: nothing but results of calls, which stand with their calls. */
json_t *record_user_line(const json_t *content);
json_t *record_model_line(const json_t *content, const struct model_usage *usage,
                          const char *model);
/* A call as it ended, for its separate line and for its message. */
json_t *record_call_entry(const char *call_id, const char *name, const json_t *args,
                          const json_t *result, const json_t *media, const char *status,
                          const char *display, const struct record_took *took);
json_t *record_call_line(const json_t *message_id, json_t *call);
void record_add_call(json_t *message, json_t *call /* taken */);
/* A member of the message's "hasp"; takes the value. */
void record_add_own(json_t *message, const char *name, json_t *value);
json_t *record_notice_line(const char *type, const char *text);
/* {"hasp": {"gap": {"since": TIME, "lines": N}}}: so many lines from that time on are not in the
 * file. */
json_t *record_gap_line(const char *since, size_t lines);
/* {"hasp": {"resumed": TIME}}: another process goes on with the session. */
json_t *record_resumed_line(void);
/* The lines of a whole history, a new reference. */
json_t *record_messages_of(const json_t *contents);
/* A hash of the content of a message's line; the caller frees. */
char *record_line_key(const json_t *line);
/* Names messages in `known` (hash: id), which are in the file, by id: {"hasp": {"messages": [ID or
 * message...]}}. Without any: {"$set": {"messages": [...]}}, as Gemini CLI writes it. */
json_t *record_checkpoint_line(const json_t *messages, const json_t *known);

#endif
