/* SPDX-License-Identifier: Apache-2.0 */
/* What a newcomer is asked: trust for a folder, a key that is missing. */
#ifndef HASP_TUI_FIRST_H
#define HASP_TUI_FIRST_H

#include "tui/term/keys.h"

struct app;
struct live;
struct secret;

/* Opens the host; before that, who has not decided yet is asked whether the folder is trusted. */
void first_begin(struct app *app);
/* While nothing is open: reads the settings again. */
void first_reload(struct app *app);
/* A key is missing: says so, and asks for one if nothing is being typed. */
void first_no_key(struct app *app, struct span why);
/* Asks for a key of a provider ("" any), which is kept; then opens what could not be opened. */
void first_ask_key(struct app *app, const char *provider);
/* While app->secret: a key that is being typed, in the composer's place. */
void first_key(struct app *app, const struct key *key);
void first_paste(struct app *app, struct span text);
void first_rows(const struct app *app, unsigned width, struct live *live);
void first_free(struct secret *secret); /* NULL is fine */

#endif
