/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on terminals that are typed into: an emulator for each, shown beneath the composer.
 *
 *     consoles = consoles_new(app);
 *     consoles_bus(consoles, bus);             // the agent's thread, when a session is open
 *     if (consoles_report(consoles, topic, message)) ...    // any thread, as it is published
 *     if (consoles_key(consoles, &key)) ...    // a command has the keyboard, or gets it
 *     consoles_free(consoles);
 *
 * The main thread's, but for the two that say otherwise.  Locks: see consoles.c. */
#ifndef HASP_TUI_CONSOLES_H
#define HASP_TUI_CONSOLES_H

#include <jansson.h>
#include <stdbool.h>

#include "bus/bus.h"
#include "tui/term/keys.h"
#include "tui/text/rows.h"

struct app;
struct consoles;

/* None yet. */
struct consoles *consoles_new(struct app *app);
void consoles_free(struct consoles *consoles); /* NULL is fine */
/* On the agent's thread: where commands are typed into from now on; NULL: the host is closed. */
void consoles_bus(struct consoles *consoles, struct bus *bus);
/* On any thread: takes what commands on terminals write, as it is published. True: no one else
 * needs the message (also TOOL_OUTPUT of such a command). */
bool consoles_report(struct consoles *consoles, enum bus_topic topic, const json_t *message);
/* A call has returned; its command may go on. */
void consoles_returned(struct consoles *consoles, struct span call);
/* The window has another size. */
void consoles_resized(struct consoles *consoles);
/* The pid of the command that has the keyboard; 0: none has. */
unsigned consoles_focused(struct consoles *consoles);
/* True: it was a command's, or gave it the keyboard, or moved one to the background. */
bool consoles_key(struct consoles *consoles, const struct key *key);
bool consoles_paste(struct consoles *consoles, struct span text);
/* The screen of a call's command, at most so many rows of it; false: it has none. */
bool consoles_rows(struct consoles *consoles, struct span call, unsigned width, struct rows *rows);
/* Commands in the background. */
void consoles_away_rows(struct consoles *consoles, unsigned width, struct rows *rows);

#endif
