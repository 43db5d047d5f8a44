/* SPDX-License-Identifier: Apache-2.0 */
/* The clipboard, copied to and read. */
#ifndef HASP_TUI_CLIPBOARD_H
#define HASP_TUI_CLIPBOARD_H

#include <stdbool.h>

#include "base/span.h"

struct app;
struct clipboard;

enum pasted_kind { PASTED_TEXT, PASTED_IMAGE };

struct clipboard_events {
	/* Takes what was read. */
	void (*took)(struct app *app, enum pasted_kind kind, struct span bytes);
	/* Tells what became of copying. */
	void (*said)(struct app *app, const char *severity, const char *text);
};

/* The events are copied. */
struct clipboard *clipboard_new(struct app *app, const struct clipboard_events *events);
/* Ends what runs; nothing is started any more. Before the loop is freed. */
void clipboard_stop(struct clipboard *clipboard);
void clipboard_free(struct clipboard *clipboard); /* after the loop; NULL is fine */
/* Copies, and says what became of it, now or soon. */
void tui_copy(struct app *app, struct span text);
/* Asks for what is in the clipboard. */
void tui_paste(struct app *app);
/* True: the terminal's reply was about its clipboard. */
bool tui_clipboard_reply(struct app *app, struct span reply);
/* The path of a program of the user's, found in the absolute folders of PATH that are outside of
 * the workspace; the caller frees it. NULL: there is none. */
char *tui_program_find(const struct app *app, const char *name);

#endif
