/* SPDX-License-Identifier: Apache-2.0 */
/* The user's own command for the status line. */
#ifndef HASP_TUI_STATUS_LINE_H
#define HASP_TUI_STATUS_LINE_H

#include "tui/text/rows.h"

struct app;
struct status_line;

/* NULL: the setting statusLine names no command. */
struct status_line *status_line_new(struct app *app);
/* Ends what runs; nothing is started any more. Before the loop is freed. NULL is fine. */
void status_line_stop(struct status_line *line);
void status_line_free(struct status_line *line); /* after the loop; NULL is fine */
/* Asks the command if the state is another one. NULL is fine. */
void status_line_update(struct status_line *line);
/* What it said last, perhaps nothing; NULL: there is no command, or it fails. */
const struct row *status_line_row(const struct status_line *line);

#endif
