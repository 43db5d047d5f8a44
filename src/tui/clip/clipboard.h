/* SPDX-License-Identifier: Apache-2.0 */
/* The clipboard: copied to and read by the user's tools for it where there is a display, else by
 * the terminal.  Neither waits: what became of it is reported by the loop.
 *
 *     clipboard = clipboard_new(&options);
 *     clipboard_copy(clipboard, text);         // said: "Copied with xclip."
 *     clipboard_read(clipboard);               // took: what is in it
 *     if (clipboard_reply(clipboard, reply)) ...   // of the terminal
 *     clipboard_stop(clipboard);               // before the loop is freed
 *     clipboard_free(clipboard);               // after it
 */
#ifndef HASP_TUI_CLIP_CLIPBOARD_H
#define HASP_TUI_CLIP_CLIPBOARD_H

#include <stdbool.h>

#include "base/span.h"
#include "tui/term/frames.h"
#include "tui/clip/user_program.h"

struct clipboard;
struct term;

enum pasted_kind { PASTED_TEXT, PASTED_IMAGE };

struct clipboard_options {
	struct frames *frames; /* borrowed, as the terminal is */
	struct term *term;
	/* Where no tool is taken from. */
	void (*roots)(void *data, struct user_roots *ret);
	/* Takes what was read. */
	void (*took)(void *data, enum pasted_kind kind, struct span bytes);
	/* Reports what became of copying. */
	void (*said)(void *data, const char *severity, const char *text);
	/* Shows how far reading is; NULL: nothing any more. */
	void (*hint)(void *data, const char *text);
	void *data;
};

/* The options are copied. */
struct clipboard *clipboard_new(const struct clipboard_options *options);
/* Ends what runs; nothing is started any more. */
void clipboard_stop(struct clipboard *clipboard);
void clipboard_free(struct clipboard *clipboard); /* NULL is fine */
/* Copies a text, and reports the outcome, now or soon. */
void clipboard_copy(struct clipboard *clipboard, struct span text);
/* Asks for what is in the clipboard. */
void clipboard_read(struct clipboard *clipboard);
/* True: a reply of the terminal (EVENT_REPLY) was about its clipboard. */
bool clipboard_reply(struct clipboard *clipboard, struct span reply);

#endif
