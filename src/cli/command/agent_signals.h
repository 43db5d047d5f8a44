/* SPDX-License-Identifier: Apache-2.0 */
/* Signals of a headless run and of hasp tool: the first SIGINT, SIGTERM or SIGHUP cancels, and all is put in
 * order; a second one ends the program at once, and so does the end of the time for that, whatever the
 * program is doing. */
#ifndef HASP_CLI_COMMAND_AGENT_SIGNALS_H
#define HASP_CLI_COMMAND_AGENT_SIGNALS_H

#include "base/cancel.h"

/* `cancel` must live as long as the program. */
void agent_signals_install(struct cancel *cancel);
/* The time for it, in place of AGENT_END_SECONDS; it is brought between 1 and AGENT_END_SECONDS_MAX. */
void agent_signals_limit(long long seconds);
enum { AGENT_END_SECONDS = 30, AGENT_END_SECONDS_MAX = 600 };
/* The signal that came first; 0: none. */
int agent_signal(void);
/* Ends the program by that signal, when all is put in order: who started it sees by which. Returns if
 * none came. */
void agent_signal_die(void);

#endif
