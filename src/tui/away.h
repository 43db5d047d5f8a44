/* SPDX-License-Identifier: Apache-2.0 */
/* Other programs that get the terminal for a while. */
#ifndef HASP_TUI_AWAY_H
#define HASP_TUI_AWAY_H

#include "base/span.h"

struct app;

/* Gives the terminal to a shell (Ctrl+Z). */
void tui_suspend(struct app *app);
/* Has a text edited; NULL, or what became of it (the caller frees). */
char *tui_edit(struct app *app, struct span text, const char *name);

#endif
