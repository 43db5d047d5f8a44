/* SPDX-License-Identifier: Apache-2.0 */
/* Images and documents in a conversation: the providers' limits, and media that were rejected.
 *
 * Each provider limits the types, bytes, pixels and number of media.  Media beyond the limits cause
 * the whole request to be rejected, and so every later request of the session.  Therefore media
 * that a provider's documentation excludes are replaced by a sentence before sending, always the
 * same one.  If a provider rejects new media anyway, the request is sent without them, and the
 * caller is notified and removes them from the session (MODEL_LEFT_OUT, media_without).  Media
 * that were accepted once are not changed.
 *
 * To add limits: a row in media.c with the page that they come from.
 */
#ifndef HASP_MODEL_MEDIA_H
#define HASP_MODEL_MEDIA_H

#include "base/span.h"
#include "model/model.h"

/* A conversation without the media that `left_out` names ({KEY: SENTENCE}, as MODEL_LEFT_OUT
 * has it): the sentences stand in their place. A new reference; NULL: it has none of them. */
json_t *media_without(const json_t *contents, const json_t *left_out);

/* ---- private to this folder ---- */

/* What a model knows of the media that were sent to it. */
struct media_memory {
	json_t *refused;  /* {KEY: SENTENCE}; owned */
	json_t *accepted; /* {KEY: true}; owned */
	json_t *trial;    /* {KEY: SENTENCE}: left out of the request that is under way; owned,
	                   * or NULL */
	json_t *reported; /* {KEY: true}: what the limits exclude and was reported; owned */
};
/* Frees what the memory holds, and leaves it empty. */
void media_memory_release(struct media_memory *memory);

/* Returns `contents`, a new reference, without the media that this model does not accept.  `report`
 * is called once for each that is left out; with NULL they are reported by a later call.
 * `configured`: all models that may answer, NULL-terminated, to suggest one that accepts it. */
json_t *media_fit(struct media_memory *memory, const struct model_options *options,
                  const struct model_options *const *configured, const json_t *contents,
                  void (*report)(void *data, const char *sentence),
                  void *data);
/* The provider refused a request: whether it may be about media that are new in it.  Then the
 * next one goes without those of the newest message, and if that is refused too without all that
 * are new. */
bool media_try_without(struct media_memory *memory, const json_t *contents, struct span sentence);
/* The request was answered (or, with false, given up). What was left out of it is remembered as
 * refused, and returned as a new reference; NULL: nothing was. */
json_t *media_settle(struct media_memory *memory, const json_t *contents, bool answered);

#endif
