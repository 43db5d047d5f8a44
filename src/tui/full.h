/* SPDX-License-Identifier: Apache-2.0 */
/* The full screen: a window over the transcript above the live region. */
#ifndef HASP_TUI_FULL_H
#define HASP_TUI_FULL_H

#include <stdbool.h>

#include "tui/term/keys.h"
#include "tui/text/rows.h"

struct app;
struct full;
struct live;

/* Shows the alternate screen: the conversation's window above the live region, until full_free,
 * which prints the end of the conversation on the main screen. */
struct full *full_new(struct app *app);
void full_free(struct app *app); /* nothing, if inline */
/* Draws a frame; takes the live region's rows over. Its first row is the window's foot: it is set
 * here. */
void full_frame(struct app *app, struct live *live);
/* A text to be searched for is being typed: keys and pastes go there first. */
bool full_finds(const struct full *full);
/* Scrolls, searches, gives the mouse away and takes it; true: it was a key for that. */
bool full_key(struct app *app, const struct key *key);
/* Text that is pasted while something is searched for; true: taken. */
bool full_paste(struct app *app, struct span text);
void full_wheel(struct app *app, bool up);
/* The end of the conversation is shown from now on. */
void full_end(struct app *app);

#endif
