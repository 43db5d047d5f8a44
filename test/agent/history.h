/* SPDX-License-Identifier: Apache-2.0 */
/* Conversations for tests. */
#ifndef HASP_TEST_AGENT_HISTORY_H
#define HASP_TEST_AGENT_HISTORY_H

#include <jansson.h>

/* The user says something. */
void said(json_t *history, const char *text);
/* The model says something. */
void replied(json_t *history, const char *text);
/* The model calls a tool, and the user's next message answers with `response` (taken). Each call adds two
 * messages. */
void called(json_t *history, const char *id, const char *name, json_t *args /* taken or NULL */,
            json_t *response);
/* The response to call number `i` (message i), borrowed. */
json_t *response_at(const json_t *history, size_t message);

/* What read_file answers: `bytes` of content that begins with `mark`. */
json_t *reading_of(const char *path, int version, const char *mark, size_t bytes);
/* What an editor answers. */
json_t *edit_of(const char *path, int version, const char *mark, size_t bytes);
json_t *content_of(const char *mark, size_t bytes);

#endif
