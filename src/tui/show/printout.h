/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown of a conversation: printed above the live region, and kept in the transcript, from
 * which the full screen and the pager make their rows.
 *
 *     printout_init(&printout, term, screen, &frames);
 *     printout_user(&printout, editor, prompt);
 *     printout_answer(&printout, piece);         // as it streams
 *     printout_take(&printout);                  // with each frame
 *     printout_notice(&printout, "warning", SPAN("..."));
 *     printout_release(&printout);
 *
 * Text is printed in blocks: each set apart from the one before by an empty row.  An answer is one
 * block however many pieces it comes in; whatever else is printed ends it.  In full screen (no
 * `screen`) nothing is printed: a frame is asked for. */
#ifndef HASP_TUI_SHOW_PRINTOUT_H
#define HASP_TUI_SHOW_PRINTOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/term/frames.h"
#include "tui/markdown/markdown.h"
#include "tui/term/screen.h"
#include "tui/term/term.h"
#include "tui/show/transcript.h"
#include "tui/view/view.h"

struct editor;

struct printout {
	struct term *term;             /* borrowed */
	struct frames *frames;         /* borrowed */
	struct screen *screen;         /* owned; NULL: in full screen */
	struct transcript *transcript; /* owned */
	struct markdown *markdown;     /* owned; the answer that is being printed */
	bool plain;                    /* for screen readers: nothing is drawn twice */
	bool source;                   /* answers are shown as their Markdown source */
	bool answering;                /* the last that was printed is a piece of an answer */
	bool printed;                  /* something was */
	size_t unread;                 /* bytes of the answer that printout_take is to read */
};

/* The screen is set, or left out, by the caller, and freed by it. */
void printout_init(struct printout *out, struct term *term, struct frames *frames, bool plain);
void printout_release(struct printout *out);
/* How to show views: as wide as the terminal, long results folded. */
struct view_how printout_how(const struct printout *out);
/* Shows answers as their Markdown source, or rendered again; what is printed stays. Returns a
 * sentence for the user. */
const char *printout_toggle_source(struct printout *out);

/* Reads what has arrived of an answer and prints it, or as much of it as a frame has time for; then
 * another frame is asked for. With each frame that is not a key's. */
void printout_take(struct printout *out);
/* A piece of an answer: printed with the next frame. */
void printout_answer(struct printout *out, struct span text);
/* The last bytes of the answer do not count. */
void printout_forget(struct printout *out, size_t bytes);
/* The answer is whole: what comes next is no part of anything before it. */
void printout_break(struct printout *out);
/* A prompt, long pastes in it folded as in `editor`; kept whole. */
void printout_user(struct printout *out, const struct editor *editor, struct span text);
/* A sentence of hasp's. `severity`: "info", "warning" or "error". */
void printout_notice(struct printout *out, const char *severity, struct span text);
/* Prints rows (taken) whose source the caller puts into the transcript. */
void printout_block(struct printout *out, struct rows *rows);
/* Prints rows (taken) that have no other source: in full screen the transcript keeps them. */
void printout_rows(struct printout *out, struct rows *rows);

#endif
