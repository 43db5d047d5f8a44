/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of what the user sends: a prompt, a steer, a slash command, a "!" command; now, or
 * when what is under way is done.
 *
 *     tui_send(app, text);                     // Enter
 *     tui_queue(app, text);                    // to wait in any case
 *     tui_next(app);                           // something has ended
 *     tui_interrupt(app);
 */
#ifndef HASP_TUI_SEND_H
#define HASP_TUI_SEND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"
#include "tui/editor/editor.h"

struct app;
struct cancel;
struct settings;
struct tui_opened;

/* Offers what may complete a slash command. */
void tui_slash_complete(struct app *app, struct editor *editor, struct span text, size_t caret);
/* command_asks_server. */
json_t *tui_slash_asks(struct app *app, struct span text, size_t caret, size_t *ret_from);

/* What Enter does with a text: a command, a "!" command, a prompt or a steer. */
void tui_send(struct app *app, struct span text);
/* Has a text wait until what is under way is done. False: too many wait, and it is the draft
 * again. */
bool tui_queue(struct app *app, struct span text);
/* Puts a text that was sent, "!" before a command, into the composer. */
void tui_draft(struct app *app, struct span text);
/* A steer that did not join: sent first of what waits, or, after an interruption, the draft. */
void tui_unsent(struct app *app, struct span text, bool interrupted);
/* What waits becomes the draft, before what was being typed: nothing is sent that was meant for
 * what was interrupted or could not begin, and nothing is lost.  Commands, which would be none in
 * the midst of a text, are named; the history has them. */
void tui_unqueue(struct app *app);
/* The next that waits, if nothing is under way. */
void tui_next(struct app *app);
/* Interrupts what is under way; what waits becomes the draft. */
void tui_interrupt(struct app *app);
/* Sets the session's approval mode, or the next one. */
void tui_set_mode(struct app *app, enum approval_mode mode);
void tui_cycle_mode(struct app *app);

/* Runs a command of the user's, while nothing is under way. */
void tui_shell(struct app *app, struct span command);
/* What bash would complete: {"bash": the line before the word, "word": its beginning}, within
 * seconds.  Arguments (the line is not empty) by programs that can write nothing and have no
 * network.  An array of words, a new reference.  From any thread. */
json_t *tui_shell_words(const struct tui_opened *opened, const struct settings *settings,
                        const json_t *asks, const struct cancel *cancel);

#endif
