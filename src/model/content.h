/* SPDX-License-Identifier: Apache-2.0 */
/* The format of a conversation, in memory, in records, and as input of every provider.
 *
 * It is Gemini's (generateContent v1beta), whose session files hasp reads and writes: an array of
 *
 *     {"role": "user" | "model", "parts": [PART...]}
 *
 *     PART  {"text": "..."}                                    said
 *           {"text": "...", "thought": true}                   thought
 *           {"functionCall": {"id", "name", "args": {...}}}    only in the role model
 *             "repaired": a sentence for the call's result, or "unreadable": one instead of it
 *             (part.h), next to the functionCall
 *           {"functionResponse": {"id", "name", "response": {...}, "parts"?: [inlineData...]}}
 *                                                              only in the role user
 *           {"inlineData": {"mimeType", "data": base64}}       an image, a PDF, audio
 *
 * A part that must be returned to its provider unchanged has that provider's data in "opaque":
 * {"provider": NAME, ...}; for Gemini that is "thoughtSignature", where Gemini puts it.  Each
 * provider is sent only its own data; that of others is left out together with their thoughts.
 *
 * Each functionCall has exactly one functionResponse, in the next message (content_repair ensures
 * it).  Functions that return json_t * return a new reference.
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

/* Removes the signatures of thinking that are bound to the preceding conversation, for when that
 * has changed: Anthropic rejects the request otherwise ("Prefix checks on thinking blocks",
 * platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks), also through
 * OpenRouter.  The text of such thinking is kept but no longer sent.  Signatures of Gemini and
 * OpenAI do not depend on the preceding text, and Gemini requires them.  Returns a new array that
 * shares unchanged values; NULL: no such thinking. */
json_t *content_drop_bound_thoughts(const json_t *contents);

/* A conservative estimate of the tokens of a value, without asking anybody: ASCII text 4 bytes a
 * token, other text 1.3 tokens a code point, an image 258..3,072 by its size, PDF by its bytes. */
size_t content_estimate_tokens(const json_t *content_or_contents);

#endif
