/* SPDX-License-Identifier: Apache-2.0 */
/* A list to choose from, in the composer's place. */
#ifndef HASP_TUI_PICK_H
#define HASP_TUI_PICK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tui/term/keys.h"
#include "tui/view/view.h"

struct app;
struct pick;

/* A list in the composer's place, the row `at` selected; `chosen` gets the index, or -1. Labels
 * are copied (texts). */
struct pick *pick_new(const char *title, const json_t *labels, size_t at,
                      void (*chosen)(struct app *app, void *data, int index), void *data);
void pick_free(struct pick *pick);
/* Puts it in the composer's place (taken over), instead of another; for screen readers its rows are
 * printed. */
void pick_show(struct app *app, struct pick *pick);
/* It was not asked for: a letter closes it (chosen with -1) and goes to the draft. */
void pick_yield(struct pick *pick);
/* What there is to look at before choosing (command_result.changes). */
void pick_changes(struct pick *pick, const json_t *changes);
/* Changes of files, one after the other, as rows. */
void pick_changes_rows(const json_t *changes, const struct view_how *how, struct rows *rows);
/* True: the key was its own; it may be gone afterwards. */
bool pick_key(struct app *app, const struct key *key);
void pick_rows(const struct pick *pick, bool plain, unsigned width, size_t height,
               struct rows *rows);

#endif
