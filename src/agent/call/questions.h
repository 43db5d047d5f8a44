/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about a call: its answers, the comments that come with them, and what its record says
 * of both.  confirm.c asks them.
 *
 * Votes.  The first answer counts, or, where rules ask for several people, each is a vote.
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
 *
 * Comments on lines of a proposed edit, read from an answer as the model gets them, and the rounds
 * of proposals that follow them:
 *
 *     comments = comments_read(call, message, json_object_get(answer, "comments"), by, &err);
 *     comments_follow(call, message, answer);         // when the question is answered
 *     comments_put_round(call, message);              // in the next question about such a file
 *
 * The record: why it was asked, how it ended, who answered, and what a yes for the session allowed.
 *
 *     call_asked_note(call, message, answer, by, ms);   // each question, once it is over
 *     call_asked_allowed(call, tool, &scope);           // if its answer allows more than this call
 *
 * Functions run on the call's own thread.  Nothing of the call's arguments is noted: its record has
 * them.  The members are described in docs/sessions.md; figures.h counts them.
 */
#ifndef HASP_AGENT_CALL_QUESTIONS_H
#define HASP_AGENT_CALL_QUESTIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/call/call.h"

/* ---- votes (votes.c) ----------------------------------------------------------------- */

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
/* As bus_ask_judged, and noted in the call: the answer has `comments` as the model gets
 * them, and `approvedBy`. */
enum bus_reply votes_ask(struct votes *votes, json_t **ret);
/* Why nothing could come of asking, as far as is known before: too few people can answer.  A
 * sentence, which the caller frees; NULL: it can be asked. */
char *votes_unmet(const struct call *call);
/* What was approved turned out to be for another state: the file changed before it was written. */
void votes_lapse(struct call *call);

/* ---- comments (comments.c) ----------------------------------------------------------- */

/* [{id, file_path, side, lines, sha256, text, comment, by?}], with the lines' own text, a new
 * reference.  `message`: the question; `by`: a reviewer's name, or NULL.  NULL: one is about no
 * lines that the question shows, or is too long; *err says which. */
json_t *comments_read(struct call *call, const json_t *message, const json_t *given,
                      const char *by, struct err *err);
/* Remembers what was proposed for files that were commented on, or declined with words, and forgets
 * the others. `answer`: with comments as comments_read has them. */
void comments_follow(struct call *call, const json_t *message, const json_t *answer);
/* Adds to a question about an edit which round it is, which comments the round before got, and what
 * was proposed then. */
void comments_put_round(struct call *call, json_t *message);
/* Adds to a report to the model, and to its text. */
void comments_report(const json_t *comments, json_t *report, struct buf *text);

/* ---- the record (asked.c) ------------------------------------------------------------- */

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
