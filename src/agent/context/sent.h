/* SPDX-License-Identifier: Apache-2.0 */
/* The last request of a conversation, and how much of the next one equals its beginning.  Private to
 * agent/.
 *
 *     share = sent_compare(sent, &request);     // before it goes out
 *     if (share.broken) ... what providers signed over the old beginning has to go (model/content.h)
 *     sent_take(sent, &request);
 *
 * A request begins with the last one if its system text and its tools are the same and its messages begin
 * with the last one's; of the last message, more parts may have been added.  Providers charge what is equal
 * at a fraction ("prompt caching": platform.claude.com, ai.google.dev/gemini-api/docs/caching,
 * developers.openai.com/api/docs/guides/prompt-caching), in the order tools, system, messages.
 */
#ifndef HASP_AGENT_CONTEXT_SENT_H
#define HASP_AGENT_CONTEXT_SENT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/model.h"

struct sent;

struct sent_share {
	bool first;    /* there was none before: nothing to compare */
	bool broken;   /* it does not begin with the last one */
	size_t bytes;  /* of the request, by weight.h */
	size_t equal;  /* of them: equal to the last one's beginning */
};

struct sent *sent_new(void);
void sent_free(struct sent *sent); /* NULL is fine */

struct sent_share sent_compare(const struct sent *sent, const struct model_request *request);
/* It is the last one now; its contents and tools are shared, not copied. */
void sent_take(struct sent *sent, const struct model_request *request);
/* The conversation begins anew. */
void sent_forget(struct sent *sent);

#endif
