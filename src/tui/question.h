/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the user (tui/ask/ask.h): one is put at a time, those that are put together when all
 * of them are here; every one that waits is answered, if only with a no.
 *
 *     question_queue_init(&app->questions);
 *     tui_question(app, topic, message);       // one of the bus's questions
 *     tui_answer(app, ask_answers(app->questions.ask));
 *     tui_refuse_all(app);
 *     question_queue_release(&app->questions);
 */
#ifndef HASP_TUI_QUESTION_H
#define HASP_TUI_QUESTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "bus/bus.h"
#include "tui/ask/ask.h"
#include "tui/text/rows.h"

struct app;

/* Keys go on to where they went before a question until there was none for so long (input.c). */
enum { ASIDE_MS = 500 };

struct question_queue {
	json_t *waiting;     /* owned: [{topic, message, shown?}]; the first is `ask` */
	json_t *rounds;      /* owned: of questions that are put together, how many came, by id */
	bool ruling;         /* an answer is about to make a rule, which may answer more */
	struct ask *ask;     /* owned; the question that is put; NULL: none */
	uint64_t ask_ms;     /* when, moved on by keys that were not for it */
	bool aside;          /* keys still go where they went before */
	struct rows printed; /* in plain lines: what was printed of it */
};

/* None waits. */
void question_queue_init(struct question_queue *questions);
void question_queue_release(struct question_queue *questions); /* tui_refuse_all first */
/* Puts a question when those before it are answered, and those that are put with it are here. */
void tui_question(struct app *app, enum bus_topic topic, const json_t *message);
/* One is shown now: while the draft is being typed, its keys stay the draft's (input.c). */
void tui_question_comes(struct app *app);
/* Gives the answers to the question that is put, and to those that joined it; puts the next.
 * `answers` is taken. */
void tui_answer(struct app *app, json_t *answers);
/* A question was answered elsewhere, or is answered by a rule. */
void tui_answered(struct app *app, const json_t *answer);
/* Rules that an answer makes are made: others may need no answer any more. */
void tui_question_go_on(struct app *app);
/* Answers all of them with no. */
void tui_refuse_all(struct app *app);

#endif
