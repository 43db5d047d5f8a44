/* SPDX-License-Identifier: Apache-2.0 */
/* Rows up to a limit, and how many lines there would have been: what views write to. */
#ifndef HASP_TUI_VIEW_PRIVATE_H
#define HASP_TUI_VIEW_PRIVATE_H

#include "tui/view/view.h"

/* Rows under one head. Initialized by body_init. */
struct body {
	struct rows rows;       /* owned */
	struct view_how how;    /* for them */
	size_t max;             /* rows */
	size_t left_out;        /* lines */
	bool unnamed;           /* the head names the file of a diff */
};

/* `folded_max`: rows if how->folded. `indent`: blanks that will stand before each row. */
void body_init(struct body *body, const struct view_how *how, size_t folded_max, unsigned indent);
bool body_full(const struct body *body); /* nothing more is taken */
/* Takes the contents of `row`: clipped to one row when folded, else wrapped with `rest` (NULL:
 * nothing) before the further rows. */
void body_take(struct body *body, struct row *row, const struct row *rest);
/* The same, wrapped when folded, too. */
void body_wrap(struct body *body, struct row *row, const struct row *rest);
/* Each line of a foreign text. */
void body_lines(struct body *body, struct span untrusted, struct style style);
/* A line for what was left out, if anything was. */
void body_more(struct body *body);
/* Moves the rows to `rows`, `indent` blanks before each, and releases what is left. */
void body_finish(struct body *body, struct rows *rows, unsigned indent);

/* The diff's rows, without a line for what was left out. */
void diff_body(struct body *body, struct span unified);

#endif
