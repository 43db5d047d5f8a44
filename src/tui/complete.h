/* SPDX-License-Identifier: Apache-2.0 */
/* What may complete the word before the caret: paths, agents and resources after @, slash commands,
 * and what MCP servers say of their arguments (lookup.c).
 *
 *     struct editor_options options = { .complete = complete_offer, .data = app };
 *     app->complete = complete_new(app);
 *     app->lookup = lookup_new(app, complete_answered);
 *     complete_stop(app->complete);            // while the provider lives; lookup_stop likewise
 *     complete_free(app->complete);
 *
 * Each asks on a separate thread, and offers what it has when the answer comes. */
#ifndef HASP_TUI_COMPLETE_H
#define HASP_TUI_COMPLETE_H

#include <jansson.h>
#include <stddef.h>

#include "tui/editor/editor.h"

struct app;
struct complete;
struct lookup;

/* Nothing is fetched yet. */
struct complete *complete_new(struct app *app);
/* A session is open, or its files are known: what was typed last is completed from that, unless the
 * draft has changed since. */
void complete_again(struct complete *complete);
/* Waits for what it asks, before the session is closed for a while, and forgets the answers; the
 * same of a lookup. */
void complete_wait(struct complete *complete);
void lookup_wait(struct lookup *lookup);
/* Waits for requests that it has started; the provider must still exist. */
void complete_stop(struct complete *complete);
void complete_free(struct complete *complete);

/* What MCP servers say may stand somewhere (lookup.c): likewise. `arrived` is called on the loop's
 * thread when an answer has come, for the draft that waits for it, if it is as it was. */
typedef void lookup_arrived(void *app, struct editor *editor, struct span text, size_t caret);
struct lookup *lookup_new(struct app *app, lookup_arrived *arrived);
void lookup_stop(struct lookup *lookup);
void lookup_free(struct lookup *lookup);
/* The answer to {"server", "params"} (host_server_complete), or to {"bash", "word"}
 * (tui_shell_words), borrowed; NULL: it is not known yet,
 * and this draft is what waits for it. */
const json_t *lookup_values(struct lookup *lookup, const json_t *asks, struct editor *editor,
                            struct span text, size_t caret);
/* The same if it was the last question and is answered, else NULL: asks nothing. */
const json_t *lookup_known(const struct lookup *lookup, const json_t *asks);
/* Whether a draft waits for an answer that will come; and gives up waiting for it. */
bool lookup_waits(const struct lookup *lookup);
void lookup_forget(struct lookup *lookup);
/* For struct editor_options, and for lookup_new; data is the app. */
void complete_offer(void *data, struct editor *editor, struct span text, size_t caret);
void complete_answered(void *data, struct editor *editor, struct span text, size_t caret);
/* Tab in a shell command: bash is asked for the arguments that it knows.  A single one is put in
 * when the answer comes, several are offered; where bash knows none, the key accepts what is
 * offered else.  False: bash is not asked, the key has its usual meaning. */
bool complete_tab(struct app *app);
/* Whether the composer's last Tab still waits for bash. */
bool complete_waits(const struct app *app);
/* It does no more. */
void complete_give_up(struct app *app);

#endif
