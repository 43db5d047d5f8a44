/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of one reply: run, in the order that they need, as many at once as they may.
 * Private to agent/.
 *
 * Every call gets exactly one answer, in the order of the calls, whatever happens: a call that
 * was not begun when the prompt was cancelled, or when somebody said no to one before it, says
 * so.  Nothing runs any more when calls_run returns.
 */
#ifndef HASP_AGENT_CALL_CALLS_H
#define HASP_AGENT_CALL_CALLS_H

#include "agent/call/call.h"
#include "agent/private.h"

enum {
	CALLS_AT_ONCE = 8,
	CALLS_MAX = 128, /* of one reply; those beyond are answered with an error */
};

struct calls_outcome {
	json_t *message;  /* role user, one part for each call; owned */
	bool refused;     /* somebody said no to one, and nothing of the reply was done */
	bool cancelled;   /* options.cancel */
	char *fatal;      /* owned; the disk is full: the sentence; NULL */
};

/* Gives every call of a reply an id of its own, where the model gave none or one that was there. */
void calls_name(struct agent *agent, json_t *content);
/* Takes down the ids that a resumed history has. */
void calls_remember(struct agent *agent, const json_t *history);

/* `content`: the model's message, after calls_name; it has calls. */
void calls_run(struct agent *agent, const json_t *content, struct calls_outcome *ret);

/* ---- what a prompt lacked --------------------------------------------------------- */

/* What a prompt lacked because nobody was there to allow it.  Private to agent/.
 *
 * A call that is refused only because nobody can be asked is noted; a later call of the same
 * kind (an edit, a command, ...) that succeeds takes the note away: the model found a permitted
 * way.  What the model reports itself (request_permission) stays.  Whatever is left when the
 * model has answered is the prompt's `missing` sentence.
 */

/* A prompt begins: what earlier ones lacked is forgotten. */
void missing_begin(struct agent *agent);
/* A call has ended; in the order of the calls of a reply. */
void missing_note(struct call *call);
/* The model's report. False with *err: a tool is unknown, or is not off. From any thread. */
bool missing_report(struct agent *agent, const json_t *tools, const char *reason, struct err *err);
/* The sentence for people, with the flags; NULL: nothing was missing. The caller frees. */
char *missing_sentence(const struct agent *agent);

#endif
