/* SPDX-License-Identifier: Apache-2.0 */
/* The application: what the files of this folder work on together.
 *
 * All of it, and the functions of the other headers here, is for the main thread, except where a
 * comment names another. */
#ifndef HASP_TUI_APP_H
#define HASP_TUI_APP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/ask/ask.h"
#include "tui/clipboard.h"
#include "tui/editor/bindings.h"
#include "tui/editor/editor.h"
#include "tui/markdown/markdown.h"
#include "tui/runner.h"
#include "tui/status.h"
#include "tui/term/screen.h"
#include "tui/term/term.h"
#include "tui/transcript.h"
#include "tui/view/view.h"

enum {
	TAIL_BYTES_MAX = 4096,          /* of a running command's output: more is not shown */
	TAIL_ROWS = 4,                  /* of it beneath the composer */
	RUNNING_SHOWN = 4,              /* calls that are shown while they run */
	QUEUED_SHOWN = 3,               /* prompts that wait, shown */
	QUEUED_MAX = 64,                /* and kept */
	ASIDE_MS = 500,                 /* who is typing does not answer a question (input.c) */
};

/* A call that runs. */
struct running {
	json_t *call;     /* TOOL_CALL; owned */
	struct buf tail;  /* the end of its output */
	json_t *progress; /* TOOL_PROGRESS, the last one; owned; or NULL */
};

enum { OVERLAY_NONE, OVERLAY_SHORTCUTS, OVERLAY_TODOS };

struct pager;
struct full;
struct canvas;
struct pick;
struct browse;
struct secret;
struct live;
struct consoles;
struct complete;
struct lookup;
struct stash;
struct status_line;
struct clipboard;

struct app {
	const struct tui_options *options;
	struct settings *settings;
	bool plain;
	bool source;                  /* answers are shown as their Markdown source */
	struct loop *loop;
	struct term *term;
	struct screen *screen;        /* NULL: in full screen */
	struct full *full;            /* NULL: inline */
	struct canvas *canvas;        /* the alternate screen; NULL: the main one is shown */
	struct bindings *bindings;
	struct editor *editor;
	struct runner *runner;
	struct transcript *transcript;
	struct markdown *markdown;
	struct pager *pager;          /* NULL: not shown */
	struct pick *pick;            /* likewise */
	struct browse *browse;        /* likewise */
	struct secret *secret;        /* likewise */
	struct consoles *consoles;    /* commands that are typed into */
	struct complete *complete;
	struct lookup *lookup;
	struct stash *stash;
	struct status status;
	struct status_line *status_line; /* NULL: the settings name no command */
	struct clipboard *clipboard;

	json_t *questions;            /* [{topic, message, shown?}] that wait; the first is `ask` */
	json_t *rounds;               /* of questions that are put together: how many came, by id */
	bool ruling;                  /* an answer is about to make a rule, which may answer more */
	struct ask *ask;              /* the question that is put; NULL: none */
	uint64_t ask_ms;              /* when, moved on by keys that were not for it */
	struct rows asked;            /* in plain lines: what was printed of it */
	bool aside;                   /* keys still go where they went before */

	struct running *running;      /* owned array */
	size_t running_count, running_cap;
	char **queued;                /* prompts that wait; owned */
	size_t queued_count, queued_cap;
	char *sent;                   /* the prompt under way; or NULL */
	bool spoken;                  /* something was sent or queued since the start */
	json_t *steers;               /* texts that are to join the prompt under way */
	struct buf shell_output;      /* of "!" commands, and an edited plan, for the model's next
	                               * prompt */
	json_t *todos;                /* or NULL */
	char *topic;                  /* what is worked on; or NULL */
	char *thought;                /* the subject of what the model thinks about; or NULL */
	bool answering;               /* the last that was printed is a piece of an answer */
	bool history_shown;           /* the end of a session that is not open yet is printed */
	bool printed;                 /* something was: blocks are set apart by an empty row */
	int overlay;

	uint64_t since_ms;            /* working since; 0: not working */
	uint64_t retry_ms;            /* the model is asked again then; past: nothing waits */
	struct loop_timer *tick;      /* each second of it */
	uint64_t frame_ms;            /* of the last frame */
	bool keyed;                   /* a key came since: it is shown at once */
	struct loop_timer *frame_timer;
	struct loop_timer *first_timer; /* until the first question (first.c); or NULL */
	struct loop_task frame_task;
	void (*frame)(struct app *app); /* makes one */
	bool frame_posted;

	uint64_t key_ms;              /* of the last key of the draft, or of a command */
	uint64_t quit_ms, escape_ms;  /* of the last Ctrl+C and Esc that did nothing else */
	const char *hint;             /* a line beneath the composer until the next key; or NULL */
	bool blurred;                 /* the window has not the focus */
	bool quitting;
	bool discards;                /* and the session is deleted */
	int signal;
	char *title;                  /* the last that was set */
	int progress;
};

/* Shows what was reported; `data` is the app. */
void tui_heard(void *data, const struct heard *heard);

/* What was read from the clipboard, for whoever has the keyboard. */
void tui_took(struct app *app, enum pasted_kind kind, struct span bytes);

/* For struct term_options; data is the app. */
void tui_event(void *data, const struct event *event);

#endif
