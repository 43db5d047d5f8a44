/* SPDX-License-Identifier: Apache-2.0 */
/* The answers to one question: the first counts, or, where rules ask for several people, each is a
 * vote.  Comments on lines come with either.
 *
 *     struct votes votes;
 *
 *     votes_init(&votes, call, message, question);     // completes the message
 *     reply = votes_ask(&votes, &answer);
 *     ... the answer is one that was offered, or says in "unmet" why there is none
 *     votes_release(&votes);
 *
 * A vote is a person's, whichever of their fronts it comes from, and for exactly what the question
 * shows ("shown"): another proposal is another question.  Not here: what follows from the answer
 * (confirm.c), and who counts (policy/approvals.h).
 */
#ifndef HASP_AGENT_CALL_VOTES_H
#define HASP_AGENT_CALL_VOTES_H

#include <jansson.h>
#include <stdbool.h>

#include "agent/call/call.h"

struct votes {
	struct call *call;
	json_t *message;          /* the question; borrowed */
	const json_t *rules;      /* of the call's verdict; borrowed; NULL: the first counts */
	json_t *given;            /* owned: [{person, by, signature?}], the approvals */
	json_t *against;          /* owned: [person], of those whose no does not end it */
	json_t *comments;         /* owned: those of all answers, as the model gets them */
	char *by;                 /* owned: who gave the answer that counts, a reviewer's name or
	                           * the front's; NULL: no front did */
	bool opened;              /* the question is published, and what was given before */
};

/* Adds to the question what an answer is about (`shown`), and what several people must do.  `plan`:
 * of an edit; NULL.  A call that a reviewer changed (call->proposer) has their approval already. */
void votes_init(struct votes *votes, struct call *call, json_t *message, const json_t *plan);
void votes_release(struct votes *votes);
/* As bus_ask_judged, and noted in the call (asked.h): the answer has `comments` as the model gets
 * them, and `approvedBy`. */
enum bus_reply votes_ask(struct votes *votes, json_t **ret);
/* Why nothing could come of asking, as far as is known before: too few people can answer.  A
 * sentence, which the caller frees; NULL: it can be asked. */
char *votes_unmet(const struct call *call);
/* What was approved turned out to be for another state: the file changed before it was written. */
void votes_lapse(struct call *call);

#endif
