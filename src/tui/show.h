/* SPDX-License-Identifier: Apache-2.0 */
/* A frame asked for, rows printed, whether something is under way. */
#ifndef HASP_TUI_SHOW_H
#define HASP_TUI_SHOW_H

#include <stdbool.h>

#include "tui/view/view.h"

struct app;

/* Something differs: a frame follows, at most 30 a second. */
void tui_changed(struct app *app);
/* The same at once, for a key. */
void tui_changed_now(struct app *app);
/* Ends the loop. */
void tui_quit(struct app *app);
/* How views are to be shown. */
struct view_how tui_how(const struct app *app);
/* Shows answers from now on as their Markdown source, or rendered again; what is printed stays.
 * Returns what to say of it. */
const char *tui_toggle_source(struct app *app);
/* Prints what is left of the answer that was being printed. */
void tui_end_answer(struct app *app);
/* Prints rows as a block of their own, set apart from the one before; ends an answer. The
 * transcript is given their source besides, from which the full screen makes rows of its own. */
void tui_print(struct app *app, struct rows *rows);
/* What the user said, long pastes in it folded; remembered whole. */
void tui_print_user(struct app *app, struct span text);
/* The same for rows that have no source which the transcript knows. */
void tui_print_only(struct app *app, struct rows *rows);
/* A sentence of ours; remembered, too. */
void tui_print_notice(struct app *app, const char *severity, struct span text);
/* Begins and ends showing that something is under way. */
void tui_working(struct app *app, bool working);

#endif
