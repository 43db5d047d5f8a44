/* SPDX-License-Identifier: Apache-2.0 */
/* Questions in tests: messages as text, keys as text, rows as text. */
#ifndef HASP_TEST_TUI_ASK_FIXTURE_H
#define HASP_TEST_TUI_ASK_FIXTURE_H

#include <jansson.h>

#include "tui/ask/ask.h"

/* Fails the test if it is no JSON. */
json_t *fixture_parse(const char *text);
struct ask *fixture_confirmation(const char *message);
struct ask *fixture_questions(const char *questions);
/* Characters as they are; <enter> <esc> <up> <down> <left> <right> <tab> <s-tab> <pgdn> <c-s> <c-o>
 * <c-g> <space>. Gives what the last one did. */
enum ask_state fixture_type(struct ask *ask, const char *keys);
/* What ask_rows shows, the caret as "|". */
void fixture_expect_rows(struct ask *ask, unsigned width, unsigned height, const char *expected);
void fixture_expect_subject(const struct ask *ask, unsigned width, const char *expected);
/* ask_answers has this alone, but for its correlationId, which is the question's. */
void fixture_expect_answer(struct ask *ask, const char *expected);
/* An array: those of questions q-1, q-2, ... */
void fixture_expect_answers(struct ask *ask, const char *expected);
/* Joins another confirmation with this id. */
bool fixture_join(struct ask *ask, const char *message, const char *id);

#endif
