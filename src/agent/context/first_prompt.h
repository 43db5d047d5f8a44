/* SPDX-License-Identifier: Apache-2.0 */
/* What the user said first in a session: its title, and what a compaction never drops.
 * Private to agent/. */
#ifndef HASP_AGENT_CONTEXT_FIRST_PROMPT_H
#define HASP_AGENT_CONTEXT_FIRST_PROMPT_H

#include <jansson.h>

#include "base/span.h"

/* A prompt's text without the blocks <hook_context> and <session_context> before and behind it; a view. */
struct span prompt_words(struct span text);
/* The same, a copy of at most 4,000 bytes of both ends, with a note if it had more (cut.h); NULL: there are no
 * words. The caller frees. */
char *first_prompt_of_text(struct span text);
/* Of a message (content.h): of its first part with words, which is what was typed; NULL: it has results of
 * calls, or no words. The caller frees. */
char *first_prompt_in(const json_t *message);
/* Of the first message of a conversation that has one; NULL: none has. The caller frees. */
char *first_prompt_of(const json_t *conversation);

#endif
