/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of what is sent: prompts, commands, the queue; modes. */
#ifndef HASP_TUI_SEND_H
#define HASP_TUI_SEND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "policy/policy.h"
#include "tui/editor/editor.h"

struct app;

/* Runs a line that command_is says yes to. */
void tui_slash(struct app *app, struct span line);
/* Offers what may complete it. */
void tui_slash_complete(struct app *app, struct editor *editor, struct span text, size_t caret);
/* command_asks_server. */
json_t *tui_slash_asks(struct app *app, struct span text, size_t caret, size_t *ret_from);

/* What Enter does with a text: a command, a "!" command, a prompt or a steer. */
void tui_send(struct app *app, struct span text);
void tui_queue(struct app *app, struct span text);
/* Puts a text that was sent, "!" before a command, into the composer. */
void tui_draft(struct app *app, struct span text);
/* A prompt, now or when what is under way is done. */
void tui_prompt(struct app *app, struct span text);
/* A steer that did not join: sent first of what waits, or, after an interruption, the draft. */
void tui_unsent(struct app *app, struct span text, bool interrupted);
/* The next that waits, if nothing is under way. */
void tui_next(struct app *app);
void tui_interrupt(struct app *app);
void tui_cycle_mode(struct app *app);
void tui_set_mode(struct app *app, enum approval_mode mode);

/* Runs a command of the user's, while nothing is under way. */
void tui_shell(struct app *app, struct span command);

#endif
