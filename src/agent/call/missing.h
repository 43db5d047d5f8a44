/* SPDX-License-Identifier: Apache-2.0 */
/* What a prompt lacked because nobody was there to allow it.  Private to agent/.
 *
 * A call that is refused only because nobody can be asked is noted; a later call of the same
 * kind (an edit, a command, ...) that succeeds takes the note away: the model found a permitted
 * way.  What the model reports itself (request_permission) stays.  Whatever is left when the
 * model has answered is the prompt's `missing` sentence.
 */
#ifndef HASP_AGENT_CALL_MISSING_H
#define HASP_AGENT_CALL_MISSING_H

#include "agent/call/call.h"

/* A prompt begins: what earlier ones lacked is forgotten. */
void missing_begin(struct agent *agent);
/* A call has ended; in the order of the calls of a reply. */
void missing_note(struct call *call);
/* The model's report. False with *err: a tool is unknown, or is not off. From any thread. */
bool missing_report(struct agent *agent, const json_t *tools, const char *reason, struct err *err);
/* The sentence for people, with the flags; NULL: nothing was missing. The caller frees. */
char *missing_sentence(const struct agent *agent);

#endif
