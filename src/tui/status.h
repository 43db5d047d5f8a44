/* SPDX-License-Identifier: Apache-2.0 */
/* The status line, the window's title and progress, notifications. */
#ifndef HASP_TUI_STATUS_H
#define HASP_TUI_STATUS_H

#include <jansson.h>
#include <stdint.h>

#include "policy/policy.h"
#include "tui/text/rows.h"

/* What the status line shows. */
struct status {
	char *branch, *model, *level; /* owned; NULL: not known (yet) */
	enum approval_mode mode;
	uint64_t window;              /* tokens that fit into the model's context; 0: not known */
	uint64_t context;             /* tokens of the last request */
	uint64_t input, output, cached; /* tokens of the session */
	json_int_t cost;              /* of them, in millionths of a dollar; 0: not known */
	uint64_t added, removed;      /* lines, by its edits */
	char *key_from;               /* owned; where the model's key is; NULL: there is none */
	int quota;                    /* per cent that is left; -1: not known */
};

struct app;

/* What the mode is called; never NULL. */
const char *status_mode_word(enum approval_mode mode);
/* Appends the line. */
void status_row(const struct app *app, unsigned width, struct row *row);
/* Sets the window's title and the progress, if they differ. */
void status_title(struct app *app);
/* Tells the user who looks elsewhere. */
void status_notify(struct app *app, const char *what);
void status_release(struct status *status);

#endif
