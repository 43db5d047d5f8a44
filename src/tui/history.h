/* SPDX-License-Identifier: Apache-2.0 */
/* A conversation that goes on: what of it is shown. */
#ifndef HASP_TUI_HISTORY_H
#define HASP_TUI_HISTORY_H

#include <jansson.h>
#include <stdbool.h>

struct app;
struct transcript;

/* A conversation that goes on. On any thread: all of it into a transcript; a copy of its last
 * messages, a new reference, and whether there are earlier ones. */
void history_keep(struct transcript *transcript, const json_t *contents);
json_t *history_end(const json_t *contents, bool *ret_more);
/* Prints the end of a session that is about to be opened: reading all of it takes longer. */
void tui_show_end(struct app *app, const char *file);
/* It is open: prints its end, if that is not on the screen already. */
void tui_show_history(struct app *app, const json_t *end, bool more);

#endif
