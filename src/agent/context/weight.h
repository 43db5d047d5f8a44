/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a conversation a value is, in bytes: for comparisons that must be cheap and always come out
 * the same. (Tokens: content_estimate_tokens.)  Private to this folder.
 */
#ifndef HASP_AGENT_CONTEXT_WEIGHT_H
#define HASP_AGENT_CONTEXT_WEIGHT_H

#include <jansson.h>
#include <stddef.h>

/* The bytes of all strings and names in it, and a few for each number and bracket. NULL: 0. What is
 * nested deeper than JSON_DEPTH_MAX is not counted. */
size_t json_weight(const json_t *value);

#endif
