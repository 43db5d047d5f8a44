/* SPDX-License-Identifier: Apache-2.0 */
/* Compaction: a conversation that comes near the model's limit is replaced by a summary of its state and its
 * newest part.  Private to agent/.
 *
 * In this order, and no further than needed: everything obsolete goes (superseded.h); the model is asked
 * for a summary of all but the newest 30 %; if that fails, or nothing becomes smaller, the oldest part is
 * left out, then more of it, and at last what remains is cut.  Each step is taken once: there is an end.
 * After a summary that failed, later compactions only leave out.
 *
 * What is kept begins at a prompt of the user if there is one in it, else at a message of the model: no
 * result loses its call.  The context that stands before the conversation (agent.h) stays, whole but in the
 * last of these steps; what was found just in time and went with its result is found once more.
 */
#ifndef HASP_AGENT_CONTEXT_COMPACT_H
#define HASP_AGENT_CONTEXT_COMPACT_H

#include "agent/private.h"

enum compact_why {
	COMPACT_NEAR,   /* the threshold is reached */
	COMPACT_OVER,   /* the provider said that it is too large, whatever we think */
	COMPACT_ASKED,  /* the user: summary or nothing */
};

/* How many tokens the next request is about: what the provider counted last and what was added since,
 * or an estimate of all, if that is less. */
uint64_t compact_tokens(struct agent *agent);
/* Whether the setting model.compressionThreshold is reached. */
bool compact_is_due(struct agent *agent);

/* Replaces the history. CONTEXT_TOO_LARGE: it could not be made smaller; CANCELLED; ASKED alone: the
 * model's errors. */
bool compact(struct agent *agent, enum compact_why why, struct err *err);

/* Where the newest `share` (0 to 1) of a history begins; 0: all of it. Pure. */
size_t compact_tail(const json_t *history, double share);

#endif
