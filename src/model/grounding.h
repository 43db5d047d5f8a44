/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: where an answer comes from, in the form of Gemini's groundingMetadata:
 *
 *     {"webSearchQueries": ["..."], "groundingChunks": [{"web": {"uri": "...", "title": "..."}}]}
 */
#ifndef HASP_MODEL_GROUNDING_H
#define HASP_MODEL_GROUNDING_H

#include <jansson.h>

#include "base/span.h"

struct grounding {
	json_t *chunks, *queries; /* owned; NULL: none */
};

void grounding_release(struct grounding *grounding);
/* A page; one that is there already, or without an address, adds nothing. */
void grounding_add(struct grounding *grounding, struct span url, struct span title);
void grounding_query(struct grounding *grounding, struct span query);
/* Adds the members of a second such object, which is taken, to the first; either may be NULL. */
void grounding_join(json_t **first, json_t *second);
/* The object, and an empty grounding; NULL: there is nothing. */
json_t *grounding_take(struct grounding *grounding);

#endif
