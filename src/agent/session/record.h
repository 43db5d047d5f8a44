/* SPDX-License-Identifier: Apache-2.0 */
/* A session's record: Gemini CLI's append-only JSONL, written so that a crash loses at most the
 * line that was being written, and a full disk is said, once, and tried again.  While lines wait
 * for room the file ends with a mark that says so, where that has room itself; lines that never
 * find any leave it for good.
 *
 *     struct record *record;
 *     if (!record_open(&options, &record, &err)) ...
 *     record_user(record, content, SAID_PROMPT);
 *     record_model(record, content, thoughts, &usage, model_id);
 *     record_call(record, call_id, name, args, result, media, status, display, &took);
 *     record_close(record);
 *
 * What Gemini CLI's form has no place for (thoughts, signatures, other providers' data; each
 * call as it ends, before its message is written again with all of them) stands in members and
 * lines named "hasp", which it passes over.  An output stands in a file once: of calls that ran
 * beside each other, all but the last stand there once more, as they end.
 *
 * A line is one write of whole JSON and its end; a half line at the end of a file that is opened
 * again is completed with a line end before anything is added.  Two programs never write one
 * file: it is locked (flock) while it is open, and a new session's is one that was not there.
 * Nothing here deletes anything: sessions.h does, when asked to.
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
	/* Told when something could not be written (DISK_FULL and the like), once each time it
	 * begins. */
	void (*trouble)(void *data, const struct err *err);
	void *data;
};

/* The file is made by the first message, not before: a run that fails early leaves nothing. With a
 * home folder that does not exist (home_missing) a new session has no file; that is no trouble.
 * INVALID_ARGUMENT: a session id that is not [A-Za-z0-9_-]{1,128}. BUSY: the session that is to
 * be resumed is open in another program. */
bool record_open(const struct record_options *options, struct record **ret, struct err *err);
void record_close(struct record *record); /* NULL is fine, here and below */
const char *record_session_id(const struct record *record);
/* Whether all that was recorded is in the file; what waits for room is tried once more. False:
 * *err says since when lines are missing, how many, where, and why (its code is that of the
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

/* A message of the user's; one with nothing but results of calls has no line (see record_call). */
void record_user(struct record *record, const json_t *content, enum record_said said);
/* How long a call took, and how long of that it waited for the user; of an edit, whose words
 * it was in (tool_info_dialect), else NULL. */
struct record_took {
	uint64_t ms, waited_ms;
	const char *dialect;
};

/* A reply of the model; its calls are recorded as they end. */
void record_model(struct record *record, const json_t *content, const struct model_usage *usage,
                  const char *model);
/* Of the last model message. `result`: what the model gets; `media`: the parts beside it, or
 * NULL; status "success", "error", "cancelled"; `took` may be NULL: it is not known. */
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
/* The whole history was replaced (compression): a checkpoint line. What stays of it, and stands
 * in the file, is named there and not written again. */
void record_replace(struct record *record, const json_t *contents);
/* A message and all after it do not count any more: Gemini CLI's {"$rewindTo": ID}. *ret_mark: for
 * record_undo_rewind. False: nothing was written, because the file is not whole, or cannot be
 * written. What the file has then is to be read again, and told by record_know. */
bool record_rewind(struct record *record, const char *message_id, size_t *ret_mark,
                   struct err *err);
/* They count again, if no message has come since; what else has is dropped with the rewind. */
bool record_undo_rewind(struct record *record, size_t mark, struct err *err);
/* All messages that the file has (session_read.messages); keeps them, and nobody changes them. */
void record_know(struct record *record, const json_t *messages);
/* What the conversation begins with, in pieces (surroundings.h), and the hash of the tools that
 * were declared. */
void record_sent(struct record *record, const json_t *beginning);
/* The pieces of which the next message tells that they have changed. */
void record_changes(struct record *record, const json_t *changes);
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
/* A call as it ended; its line of its own, and in its message. */
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
/* The lines of a whole history, a new reference. */
json_t *record_messages_of(const json_t *contents);
/* A hash of what a message's line says; the caller frees. */
char *record_line_key(const json_t *line);
/* Those of `known` (hash: id) stand in the file: {"hasp": {"messages": [ID or message...]}}.
 * Without any: {"$set": {"messages": [...]}}, as Gemini CLI writes it. */
json_t *record_checkpoint_line(const json_t *messages, const json_t *known);

#endif
