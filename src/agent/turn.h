/* SPDX-License-Identifier: Apache-2.0 */
/* One request to the model and its reply.  Private to this folder. */
#ifndef HASP_AGENT_TURN_H
#define HASP_AGENT_TURN_H

#include "agent/private.h"

enum turn_end {
	TURN_REPLIED,
	TURN_BLOCKED, /* a hook does not let the request go out: *ret_reason */
	TURN_FAILED,  /* *err; CANCELLED among them */
};

/* Sends the history, trimmed as it is; pieces are told on the bus as they come. *ret is for the caller to
 * release (model_reply_release) after TURN_REPLIED alone; *ret_reason (owned, may be NULL) after BLOCKED
 * alone.  The history is not changed. */
enum turn_end turn_run(struct agent *agent, struct model_reply *ret, char **ret_reason,
                       struct err *err);

/* The tools as they are declared, in every mode; borrowed. */
const json_t *turn_tools(struct agent *agent);

#endif
