/* SPDX-License-Identifier: Apache-2.0 */
/* Questions, put one after the other. */
#ifndef HASP_TUI_QUESTION_H
#define HASP_TUI_QUESTION_H

#include <jansson.h>

#include "bus/bus.h"

struct app;

/* Puts a question when those before it are answered, and those that are put with it are here. */
void tui_question(struct app *app, enum bus_topic topic, const json_t *message);
/* One is shown now: while the draft is being typed, its keys stay the draft's (input.c). */
void tui_question_comes(struct app *app);
/* Gives the answers to the question that is put, and to those that joined it; puts the next.
 * `answers` is taken. */
void tui_answer(struct app *app, json_t *answers);
/* Somebody has answered a question. */
void tui_answered(struct app *app, const json_t *answer);
/* Rules that an answer makes are made: others may need no answer any more. */
void tui_question_go_on(struct app *app);
/* No to all of them. */
void tui_refuse_all(struct app *app);

#endif
