/* SPDX-License-Identifier: Apache-2.0 */
/* A conversation as data: the form in which it is kept, recorded and handed to every provider.
 *
 * It is Gemini's (generateContent v1beta), whose session files hasp reads and writes: an array of
 *
 *     {"role": "user" | "model", "parts": [PART...]}
 *
 *     PART  {"text": "..."}                                    said
 *           {"text": "...", "thought": true}                   thought
 *           {"functionCall": {"id", "name", "args": {...}}}    only in the role model
 *             "repaired": a sentence for the call's result, or "unreadable": one instead of it
 *             (part.h), beside the functionCall
 *           {"functionResponse": {"id", "name", "response": {...}, "parts"?: [inlineData...]}}
 *                                                              only in the role user
 *           {"inlineData": {"mimeType", "data": base64}}       an image, a PDF, audio
 *
 * A part that a provider wants back untouched carries what it gave as "opaque": {"provider":
 * NAME, ...}; for Gemini's own thoughtSignature that is "thoughtSignature" itself, where Gemini
 * puts it.  A provider sends back its own and leaves out others', and thoughts of others with
 * them.
 *
 * Each functionCall has exactly one functionResponse, in the next message (content_repair sees to
 * it).  Functions that return json_t * give a new reference.
 */
#ifndef HASP_MODEL_CONTENT_H
#define HASP_MODEL_CONTENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/span.h"
#include "model/part.h"

json_t *content_new(const char *role);                      /* no parts */
json_t *content_user_text(struct span text);                /* role user, one text part */
void content_add(json_t *content, json_t *part);            /* takes the reference */
/* Whether the role is "user"; any other is the model's. */
bool content_is_user(const json_t *content);
/* Appends all text parts, joined; thoughts are not among them. */
void content_text(const json_t *content, struct buf *out);
size_t content_call_count(const json_t *content);           /* functionCall parts */

/* Makes a history what every provider takes: messages without parts are dropped, neighbours of
 * one role joined, the first message is the user's, calls without a response get one that says
 * the call was not finished, responses without a call are dropped. Returns a new array; the
 * parts are shared. */
json_t *content_repair(const json_t *contents);

/* The conversation without the thinking that a provider signed over everything that stood before
 * it, to be sent when that has changed: Anthropic refuses the request otherwise ("Prefix checks
 * on thinking blocks",
 * platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks), also by way
 * of OpenRouter. Its text stays, and is sent to nobody. What Gemini and OpenAI sign is not bound
 * to what stood before it, and Gemini demands it. Returns a new array that shares what is not
 * changed; NULL: there is no such thinking. */
json_t *content_drop_bound_thoughts(const json_t *contents);

/* A conservative estimate of the tokens of a value, without asking anybody: ASCII text 4 bytes a
 * token, other text 1.3 tokens a code point, an image 258..3,072 by its size, PDF by its bytes. */
size_t content_estimate_tokens(const json_t *content_or_contents);

#endif
