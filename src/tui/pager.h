/* SPDX-License-Identifier: Apache-2.0 */
/* A text to look at on the alternate screen. */
#ifndef HASP_TUI_PAGER_H
#define HASP_TUI_PAGER_H

#include <stdbool.h>

#include "tui/term/keys.h"
#include "tui/text/rows.h"

struct app;

/* Rows to look at on the alternate screen; taken over. `end`: begins at the last. */
void pager_open(struct app *app, const char *title, struct rows *rows, bool end);
/* The whole transcript; in plain lines, the last entry of which something was left out. */
void pager_transcript(struct app *app);
/* The warnings and errors of it. */
void pager_problems(struct app *app);
void pager_close(struct app *app);
void pager_key(struct app *app, const struct key *key);
/* A notice: in its last row until the next key, if it is shown, else printed. */
void pager_notice(struct app *app, const char *severity, const char *text);
/* Pasted text, into what is being searched for; false: nothing is. */
bool pager_paste(struct app *app, struct span text);
void pager_wheel(struct app *app, bool up);
void pager_draw(struct app *app);

#endif
