/* SPDX-License-Identifier: Apache-2.0 */
/* The application: the things it is made of, and what is done with several of them together.
 *
 * Each thing has a header, with the functions that need nothing else.  What is here, and
 * in send.h, question.h and the headers of dialogs, needs several of them and takes the whole.
 *
 * All of it, and the functions of the other headers here, is for the main thread, except where a
 * comment names another. */
#ifndef HASP_TUI_APP_H
#define HASP_TUI_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "net/loop/loop.h"
#include "tui/show/activity.h"
#include "tui/clip/clipboard.h"
#include "tui/show/desktop.h"
#include "tui/editor/bindings.h"
#include "tui/editor/editor.h"
#include "tui/term/frames.h"
#include "tui/show/printout.h"
#include "tui/clip/user_program.h"
#include "tui/question.h"
#include "tui/queue.h"
#include "tui/running.h"
#include "tui/show/status.h"
#include "tui/term/term.h"

struct session_browser;
struct complete;
struct consoles;
struct full;
struct runner_event;
struct live;
struct lookup;
struct pager;
struct pick;
struct runner;
struct secret;
struct stash;
struct status_line;
struct transcript;
struct tui_options;

enum overlay { OVERLAY_NONE, OVERLAY_SHORTCUTS, OVERLAY_TODOS };

/* What keys have done, and what is shown until the next one. */
struct key_state {
	bool any;                    /* one came since the last frame: it is shown immediately */
	bool tabbed;                 /* the last one was a Tab in a shell command */
	uint64_t typed_ms;           /* of the last key of the draft, or of a command */
	uint64_t quit_ms, escape_ms; /* of the last Ctrl+C and Esc that did nothing else */
	const char *hint;            /* a line beneath the composer until the next key; or NULL */
	enum overlay overlay;        /* a list beneath the composer, likewise */
};

/* What is done to a session that is closed for a while (first_reopen); both owned. */
struct reopening {
	char *folders; /* that become part of the workspace, a line each; or NULL */
	char *said;    /* when it is open again; NULL: it is not closed */
};

/* Owned, but for `options` and `settings`. */
struct app {
	const struct tui_options *options;
	struct settings *settings;
	struct loop *loop;
	struct runner *runner;           /* the agent's thread */
	struct term *term;

	/* What is shown. */
	struct frames frames;
	struct printout out;
	struct full *full;               /* the full screen; NULL: inline */
	struct status status;
	struct status_line *status_line; /* NULL: the settings name no command */
	struct desktop desktop;

	/* What goes on. */
	struct activity activity;
	struct running_calls calls;
	struct prompt_queue queue;
	struct question_queue questions;
	struct consoles *consoles;       /* commands that are typed into */
	bool history_shown;              /* the end of a session that is not open yet is printed */
	struct reopening reopening;      /* it is closed, to be opened again */

	/* What is typed. */
	struct bindings *bindings;
	struct key_state keys;
	struct editor *editor;           /* the composer */
	struct complete *complete;
	struct lookup *lookup;
	struct typeahead *typeahead;     /* what is typed after a Tab that waits */
	struct stash *stash;
	struct clipboard *clipboard;
	struct pager *pager;
	/* What takes the composer's place; each NULL: not shown. */
	struct pick *pick;
	struct session_browser *browse;
	struct secret *secret;
	struct loop_timer *first_timer;  /* until the first question (first.c); or NULL */

	/* How it ends. */
	int signal;                      /* the number of the one that ended it; or 0 */
	bool discards;                   /* the session is deleted */
};

/* ---- app.c ---- */

/* Ends the loop; nothing is drawn any more. */
void tui_quit(struct app *app);
/* The id of the session, borrowed; NULL: it is not open, or something is under way. */
const char *tui_session(const struct app *app);
/* Whether a question is shown, or something is under way. */
enum desktop_state tui_state(const struct app *app);
/* The folders that commands may write in, as far as they are this machine's. */
void tui_roots(const struct app *app, struct user_roots *ret);
/* Notifies a user who looks elsewhere. */
void tui_notify(const struct app *app, const char *what);
/* Clears the window; in full screen, where there is nothing above it, it is drawn again. */
void tui_clear(struct app *app);
/* The same with the scrollback, unless the user wants to keep that (hasp.clearScrollback); nothing
 * for screen readers, whose lines are only added. */
void tui_forget(struct app *app);
/* Shows that something is under way from now on. activity_stop ends that. */
void tui_start_working(struct app *app);

/* ---- follow.c ---- */

/* Shows what the agent's thread reports; `data` is the app. */
void tui_runner_event(void *data, const struct runner_event *event);

/* ---- input.c ---- */

/* Gives what was read from the clipboard to what has the keyboard; `data` is the app. */
void tui_took(void *data, enum pasted_kind kind, struct span bytes);
/* A key that was kept (typeahead.h): the composer's, though something else may have the keyboard
 * by now; `data` is the app. */
void tui_kept_key(void *data, const struct key *key);
/* For struct term_options; `data` is the app. */
void tui_event(void *data, const struct event *event);

/* ---- paste.c ---- */

/* Puts a text that is nothing but paths of files (dropped.h) into the draft as @PATH. False: it is
 * none, or the draft is a command. */
bool paste_files(struct app *app, struct span text);
/* Keeps an image as a file and puts that into the draft. */
void paste_image(struct app *app, struct span bytes);

/* ---- layout.c ---- */

/* Makes the live region; *ret is zeroed before, and the caller's. */
void tui_layout(struct app *app, struct live *ret);
/* Appends the list of keys, or of todos, if one is wanted. */
void tui_overlay_rows(const struct app *app, unsigned width, struct rows *rows);

/* ---- speak.c ---- */

/* In plain lines, before tui_layout: prints what elsewhere is in the live region for a while. */
void tui_speak(struct app *app);
/* Says how a text waits, likewise. */
void tui_speak_waiting(struct app *app, const char *how, struct span text);

/* ---- away.c ---- */

/* Gives the terminal to a shell (Ctrl+Z). */
void tui_suspend(struct app *app);
/* Has a text edited by the user's editor; NULL, or the new text (the caller frees). `name`: of the
 * file that the editor sees. */
char *tui_edit(struct app *app, struct span text, const char *name);

/* ---- colours.c ---- */

/* Takes the theme that the settings name. */
void tui_theme(struct app *app);
/* Shows a theme without choosing it: until tui_theme. */
void tui_theme_named(struct app *app, const char *name);
/* All that there are, NULL-terminated; the caller frees the array, the names are borrowed. */
const char **tui_theme_names(const struct app *app);

/* ---- history.c ---- */

/* Prints the end of a session that is about to be opened: reading all of it takes longer. */
void tui_show_end(struct app *app, const char *file);
/* It is open: prints its last messages, unless they are on the screen already. `more`: there are
 * earlier ones. */
void tui_show_history(struct app *app, const json_t *end, bool more);

/* On any thread: appends all messages (contents as the model gets them) to a transcript. */
void history_keep(struct transcript *transcript, const json_t *contents);
/* On any thread: a copy of the last ones, a new reference, and whether there are earlier ones. */
json_t *history_end(const json_t *contents, bool *ret_more);

#endif
