/* SPDX-License-Identifier: Apache-2.0 */
/* What a call's record says of the questions about it: why it was asked, how it ended, who
 * answered, and what a yes for the session allowed.
 *
 *     call_asked_note(call, message, answer, by, ms);   // each question, once it is over
 *     call_asked_allowed(call, tool, &scope);           // if its answer allows more than this call
 *
 * Functions run on the call's own thread. Nothing of the call's arguments is noted: its record has
 * them.  The members are described in docs/sessions.md; figures.h counts them.
 */
#ifndef HASP_AGENT_CALL_ASKED_H
#define HASP_AGENT_CALL_ASKED_H

#include <jansson.h>
#include <stdint.h>

#include "agent/call/call.h"

/* What a question is about that no rule asked: what the sandbox denied, and files outside of the
 * workspace. */
#define ASKED_SANDBOX "sandbox"
#define ASKED_OUTSIDE "outside the workspace"

/* `message`: the question; `answer`: what it got, NULL: none; `by`: who gave it, or NULL; `ms`: how
 * long it was open. All borrowed. */
void call_asked_note(struct call *call, const json_t *message, const json_t *answer,
                     const char *by, uint64_t ms);
/* The last question's answer allows this from now to the session's end; all borrowed. */
void call_asked_allowed(struct call *call, const struct tool *tool,
                        const struct policy_scope *scope);
/* Likewise, of permissions: `where` is one of the names above, `allowed` is the offer's. */
void call_asked_allowed_places(struct call *call, const char *where, const json_t *allowed);

#endif
