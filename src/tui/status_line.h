/* SPDX-License-Identifier: Apache-2.0 */
/* The user's own command for the status line (the setting statusLine): it gets the state as JSON,
 * and its first line is shown.
 *
 *     struct status_line *line = status_line_new(options, &out);   // NULL: there is none
 *     status_line_update(line, &status, session, state);           // with each frame
 *     row = status_line_row(line);
 *     status_line_stop(line);                  // before the loop is freed
 *     status_line_free(line);                  // after it
 *
 * A NULL line is fine everywhere.  How the command is run is in status_line.c. */
#ifndef HASP_TUI_STATUS_LINE_H
#define HASP_TUI_STATUS_LINE_H

#include "tui/show/desktop.h"
#include "tui/text/rows.h"

struct printout;
struct status;
struct status_line;
struct tui_options;

/* Frames are asked for, and a wrong setting is reported, by way of `out`, which is borrowed, like
 * the options' project. NULL: the setting names no command. */
struct status_line *status_line_new(const struct tui_options *options, struct printout *out);
/* What takes its place when the settings were read again: itself, if the command is the same. The
 * old one is freed with the new. */
struct status_line *status_line_renew(struct status_line *line, const struct tui_options *options,
                                      struct printout *out);
/* Ends what runs; nothing is started any more, and no row is shown. */
void status_line_stop(struct status_line *line);
void status_line_free(struct status_line *line);
/* Asks the command if the state has changed. `session`: its id; NULL: as it was. */
void status_line_update(struct status_line *line, const struct status *status,
                        const char *session, enum desktop_state doing);
/* The command's last line, perhaps empty; NULL: there is no command, or it fails. */
const struct row *status_line_row(const struct status_line *line);

#endif
