/* SPDX-License-Identifier: Apache-2.0 */
/* What takes the composer's place until it is answered or closed: a list to choose from, the
 * recorded sessions, a newcomer's questions.
 *
 *     struct pick *pick = pick_new("Which theme?", labels, 0, chosen, data);
 *     pick_show(app, pick);                    // keys go to it: pick_key, until `chosen` is called
 *
 * While one is shown app->pick, app->browse or app->secret is not NULL, and gets the keys in this
 * order: browse, secret, pick. */
#ifndef HASP_TUI_DIALOG_H
#define HASP_TUI_DIALOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tui/term/keys.h"
#include "tui/view/view.h"

struct app;
struct session_browser;
struct live;
struct pick;
struct secret;

/* ---- a list to choose from (pick.c) ------------------------------------------------- */

/* The row `at` is selected; `chosen` gets the index, or -1. Labels are texts, and copied. */
struct pick *pick_new(const char *title, const json_t *labels, size_t at,
                      void (*chosen)(struct app *app, void *data, int index), void *data);
void pick_free(struct pick *pick); /* NULL is fine */
/* Shows it (taken over) instead of another; for screen readers its rows are printed. */
void pick_show(struct app *app, struct pick *pick);
/* A frame shows it, made when nothing typed waited to be read: keys choose from now on. NULL is
 * fine. */
void pick_drawn(struct pick *pick);
/* It was not asked for: a letter closes it (chosen with -1) and goes to the draft. */
void pick_yield(struct pick *pick);
/* What is said of each label, dim, behind it; texts, and copied. */
void pick_notes(struct pick *pick, const json_t *notes);
/* What is typed filters the rows, by label and note, and numbers do not choose.  For screen readers
 * numbers choose in any case. */
void pick_search(struct pick *pick);
struct pick_other {
	char letter;
	const char *help; /* "save it": behind "Ctrl+S to"; static */
	void (*chosen)(struct app *app, void *data, int index); /* in place of the list's */
};
/* Something else that can be done with the selected row, by Ctrl and a letter. */
void pick_second(struct pick *pick, const struct pick_other *other);
/* `moved` is called when another row is selected. */
void pick_moved(struct pick *pick, void (*moved)(struct app *app, void *data, int index));
/* What there is to look at before choosing (command_result.changes). */
void pick_changes(struct pick *pick, const json_t *changes);
/* Changes of files, one after the other, as rows. */
void pick_changes_rows(const json_t *changes, const struct view_how *how, struct rows *rows);
/* True: the key was its own. It may be freed afterwards. */
bool pick_key(struct app *app, const struct key *key);
void pick_rows(const struct pick *pick, bool plain, unsigned width, size_t height,
               struct rows *rows);

/* ---- recorded sessions (browse.c) --------------------------------------------------- */

/* Shows the sessions of the project, to choose one; `run` runs a slash command. */
void browse_new(struct app *app, void (*run)(struct app *app, struct span line));
void browse_free(struct session_browser *browse); /* NULL is fine */
/* Nothing is under way on the agent's thread. */
void browse_idle(struct app *app);
/* Takes any key. It may be freed afterwards. */
void browse_key(struct app *app, const struct key *key);
/* Pasted text, into what is searched for. */
void browse_paste(struct app *app, struct span text);
void browse_rows(struct session_browser *browse, unsigned width, size_t height, struct rows *rows);

/* ---- a newcomer's questions (first.c) ----------------------------------------------- */

/* Opens the host; before that, asks whether to trust the folder where that is not decided yet. */
void first_begin(struct app *app);
/* While nothing is open: reads the settings again. */
void first_reload(struct app *app);
/* As the end of a job: the session is closed next and opened again, with the settings as they are
 * then and these folders (a line each; or NULL) in the workspace; then that is said. */
void first_reopen(struct app *app, const char *folders, const char *said);
/* The session is closed for that, or could not be. */
void first_paused(struct app *app, const struct err *err);
/* It is open, or could not be opened: what stood waiting can be shown. The text, which the caller
 * frees; NULL: it was not closed. */
char *first_reopened(struct app *app);
/* A key is missing: says so, and asks for one if nothing is being typed. */
void first_no_key(struct app *app, struct span why);
/* Asks for a key of a provider ("" any), which is kept; then opens what could not be opened. */
void first_ask_key(struct app *app, const char *provider);
/* While app->secret: keys and text for an API key that is being typed, and its rows. */
void first_key(struct app *app, const struct key *key);
void first_paste(struct app *app, struct span text);
void first_rows(const struct app *app, unsigned width, struct live *live);
void first_free(struct secret *secret); /* NULL is fine */

#endif
