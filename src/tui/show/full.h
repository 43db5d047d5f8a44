/* SPDX-License-Identifier: Apache-2.0 */
/* The full screen: the conversation's window above the live region, scrolled and searched, on the
 * alternate screen.
 *
 *     struct full *full = full_new(&out, bindings, false, &hint);
 *     full_frame(full, &live);                 // each frame
 *     if (full_key(full, &key)) ...            // it was a key for that
 *     full_free(full);
 *
 * A NULL one, where the screen is inline, has no keys and does nothing. */
#ifndef HASP_TUI_SHOW_FULL_H
#define HASP_TUI_SHOW_FULL_H

#include <stdbool.h>

#include "base/span.h"
#include "tui/term/keys.h"

struct bindings;
struct canvas;
struct full;
struct live;
struct printout;

/* Shows the alternate screen. All is borrowed; `thoughts`: the model's are shown. What a key has to
 * say is put into *hint. */
struct full *full_new(struct printout *out, const struct bindings *bindings, bool thoughts,
                      const char **hint);
/* Leaves it, and prints the end of the conversation on the main screen. */
void full_free(struct full *full);
/* What it draws on, borrowed. */
struct canvas *full_canvas(const struct full *full);
/* Draws a frame; takes the live region's rows over. Its first row is the window's foot, and is set
 * here. */
void full_frame(struct full *full, struct live *live);
/* A text to be searched for is being typed: keys and pastes go there first. */
bool full_finds(const struct full *full);
/* Scrolls, searches, gives the mouse away and takes it; true: it was a key for that. */
bool full_key(struct full *full, const struct key *key);
/* Text that is pasted while something is searched for; true: taken. */
bool full_paste(struct full *full, struct span text);
/* Scrolls by a turn of the mouse's wheel. */
void full_wheel(struct full *full, bool up);
/* Shows the end of the conversation from now on. */
void full_end(struct full *full);

#endif
