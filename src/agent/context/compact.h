/* SPDX-License-Identifier: Apache-2.0 */
/* Compaction: a conversation that comes near the model's limit is replaced by a summary of its
 * state and its newest part.
 *
 * In this order, and no further than needed: everything obsolete goes (mask.h); the model is
 * asked for a summary of all but the newest 30 %; if that fails, or nothing becomes smaller, the
 * oldest part is left out, then more of it, and at last what remains is cut.  Each step is taken
 * once: there is an end. After a summary that failed, later compactions only leave out.
 *
 * What is kept begins at a prompt of the user if there is one in it, else at a message of the
 * model: no result loses its call.  The context that stands before the conversation (agent.h)
 * stays, whole but in the last of these steps; what was found just in time and went with its
 * result is found once more.
 */
#ifndef HASP_AGENT_CONTEXT_COMPACT_H
#define HASP_AGENT_CONTEXT_COMPACT_H

#include <jansson.h>

#include "agent/private.h"
#include "base/buf.h"

/* ---- compaction -------------------------------------------------------------- */

enum compact_why {
	COMPACT_NEAR,   /* the threshold is reached */
	COMPACT_OVER,   /* the provider said that it is too large, whatever we think */
	COMPACT_ASKED,  /* the user: summary or nothing */
};

/* Whether the setting model.compressionThreshold is reached. */
bool compact_is_due(struct agent *agent);

/* Replaces the history. CONTEXT_TOO_LARGE: it could not be made smaller; CANCELLED; ASKED alone:
 * the model's errors. */
bool compact(struct agent *agent, enum compact_why why, struct err *err);

/* Where the newest `share` (0 to 1) of a history begins; 0: all of it. Pure. */
size_t compact_tail(const json_t *history, double share);

/* ---- a conversation as text -------------------------------------------------- */

/* A conversation as plain text, for a model that is to summarise it. */

/* Appends at most about `most` bytes: results and arguments are cut as far as it takes; if that
 * is not enough, the middle is left out. Thoughts and media are not in it. */
void compact_transcript_write(struct buf *out, const json_t *contents, size_t most);

#endif
