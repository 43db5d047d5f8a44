/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command in the foreground, for whoever started hasp: input, output, signals, window size.
 *
 *     struct attended attended;
 *     attend_signals();                     // before there are threads
 *     ... open a provider ...
 *     if (attend(provider, &request, ATTEND_HANDED_OVER, &attended, &err)) ...
 *     attend_release(&attended);
 *
 * Signals that a person or a shell sends to hasp (interrupt, quit, terminate, hang-up, stop and
 * continue, change of the window) are passed on to the command's process group; hasp itself
 * goes on until the command has ended.
 */
#ifndef HASP_CLI_COMMAND_ATTEND_H
#define HASP_CLI_COMMAND_ATTEND_H

#include "worker/provider.h"

enum attend_how {
	ATTEND_HANDED_OVER, /* the command has hasp's own descriptors 0, 1 and 2 */
	ATTEND_COPIED,      /* they are copied to and from the command's pipes */
	ATTEND_TERMINAL,    /* they are copied to and from a terminal of the command's own */
};

struct attended {
	struct run_end end;
	struct denial *denials; /* owned; each different one once, with its count */
	size_t denial_count;
	bool interrupted;       /* somebody pressed the key for it, or sent SIGINT */
	bool output_lost;       /* COPIED, TERMINAL: what it wrote could not be written */
};

/* Blocks the signals that attend waits for: all threads started later block them too. */
void attend_signals(void);

/* `request` says what to run; where its input and output go is added to it. False: it
 * was not started. */
bool attend_run(struct provider *provider, const struct run_request *request, enum attend_how how,
                struct attended *ret, struct err *err);
void attend_release(struct attended *attended);

/* What a shell calls the exit status of a command that ended so: its exit code, 128 and the
 * signal's number, 124 for time, 125 when it was lost. */
int attend_exit_code(const struct attended *attended);

#endif
