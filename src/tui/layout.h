/* SPDX-License-Identifier: Apache-2.0 */
/* The live region; and what of it is printed instead, in plain lines. */
#ifndef HASP_TUI_LAYOUT_H
#define HASP_TUI_LAYOUT_H

#include "tui/term/screen.h"

struct app;

/* Makes the live region anew; *ret is zeroed before. */
void tui_layout(struct app *app, struct live *ret);
/* Appends the list of keys, or of todos, if one is wanted. */
void tui_overlay_rows(const struct app *app, unsigned width, struct rows *rows);

/* In plain lines, before tui_layout: prints what elsewhere is in the live region for a while. */
void tui_speak(struct app *app);
/* Says how a text waits, likewise. */
void tui_speak_waiting(struct app *app, const char *how, struct span text);

#endif
