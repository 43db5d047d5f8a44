/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a session's file, as values (reference: docs/sessions.md). Private to this folder.
 *
 * Functions that return json_t * give a new reference. */
#ifndef HASP_AGENT_SESSION_RECORD_LINES_H
#define HASP_AGENT_SESSION_RECORD_LINES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/model.h"

bool record_id_is_valid(const char *session_id); /* [A-Za-z0-9_-]{1,128} */
char *record_new_id(void);                       /* a random UUID; the caller frees */
void record_minute(char *out, size_t size);      /* "2026-08-21T09-41", now, UTC */

json_t *record_metadata_line(const char *session_id, const char *project_hash,
                             const json_t *directories);
/* NULL: nothing but results of calls, which stand with their calls. */
json_t *record_user_line(const json_t *content);
json_t *record_model_line(const json_t *content, const struct model_usage *usage,
                          const char *model);
/* A call as it ended; its line of its own, and in its message. */
json_t *record_call_entry(const char *call_id, const char *name, const json_t *args,
                          const json_t *result, const json_t *media, const char *status,
                          const char *display);
json_t *record_call_line(const json_t *message_id, json_t *call);
void record_add_call(json_t *message, json_t *call /* taken */);
/* A member of the message's "hasp"; takes the value. */
void record_add_own(json_t *message, const char *name, json_t *value);
json_t *record_notice_line(const char *type, const char *text);
/* {"hasp": {"gap": {"since": TIME, "lines": N}}}: so many lines from that time on are not in the file. */
json_t *record_gap_line(const char *since, size_t lines);
/* The lines of a whole history, a new reference. */
json_t *record_messages_of(const json_t *contents);
/* A hash of what a message's line says; the caller frees. */
char *record_line_key(const json_t *line);
/* Those of `known` (hash: id) stand in the file: {"hasp": {"messages": [ID or message...]}}. Without any:
 * {"$set": {"messages": [...]}}, as Gemini CLI writes it. */
json_t *record_checkpoint_line(const json_t *messages, const json_t *known);

#endif
