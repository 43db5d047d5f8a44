/* SPDX-License-Identifier: Apache-2.0 */
/* Comments on lines of a proposed edit: read from an answer, as the model gets them; and the rounds
 * of proposals that follow them.
 *
 *     comments = comments_read(call, message, json_object_get(answer, "comments"), by, &err);
 *     comments_follow(call, message, answer);         // when the question is answered
 *     comments_put_round(call, message);              // in the next question about such a file
 */
#ifndef HASP_AGENT_CALL_COMMENTS_H
#define HASP_AGENT_CALL_COMMENTS_H

#include <jansson.h>
#include <stdbool.h>

#include "agent/call/call.h"

/* [{id, file_path, side, lines, sha256, text, comment, by?}], with the lines' own text, a new
 * reference.  `message`: the question; `by`: a reviewer's name, or NULL.  NULL: one is about no
 * lines that the question shows, or is too long; *err says which. */
json_t *comments_read(struct call *call, const json_t *message, const json_t *given,
                      const char *by, struct err *err);
/* Remembers what was proposed for files that were commented on, or declined with words, and forgets
 * the others. `answer`: with comments as comments_read has them. */
void comments_follow(struct call *call, const json_t *message, const json_t *answer);
/* Adds to a question about an edit which round it is, which comments the round before got, and what
 * was proposed then. */
void comments_put_round(struct call *call, json_t *message);
/* Adds to a report to the model, and to its text. */
void comments_report(const json_t *comments, json_t *report, struct buf *text);

#endif
