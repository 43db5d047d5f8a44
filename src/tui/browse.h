/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions of the project, to choose one. */
#ifndef HASP_TUI_BROWSE_H
#define HASP_TUI_BROWSE_H

#include <stddef.h>

#include "tui/term/keys.h"
#include "tui/text/rows.h"

struct app;
struct browse;

/* The sessions of the project, to choose one; `run` runs a command. */
void browse_new(struct app *app, void (*run)(struct app *app, struct span line));
/* Nothing is under way on the agent's thread. */
void browse_idle(struct app *app);
void browse_free(struct browse *browse); /* NULL is fine */
/* Takes any key; it may be gone afterwards. */
void browse_key(struct app *app, const struct key *key);
void browse_paste(struct app *app, struct span text);
void browse_rows(struct browse *browse, unsigned width, size_t height, struct rows *rows);

#endif
