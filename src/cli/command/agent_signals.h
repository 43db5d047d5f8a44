/* SPDX-License-Identifier: Apache-2.0 */
/* How a run of the agent ends: exit codes, signals. */
#ifndef HASP_CLI_COMMAND_AGENT_SIGNALS_H
#define HASP_CLI_COMMAND_AGENT_SIGNALS_H

#include "agent/agent.h"
#include "base/cancel.h"

/* ---- exit codes -------------------------------------------------------------- */

/* Exit codes of a headless run: Gemini CLI's, and 56: there is an answer, but what was asked
 * needed a permission that nobody was there to give; 57: there is an answer, but the session
 * could not be recorded whole. */

/* X(symbol, code, type in JSON, sentence) */
#define AGENT_EXIT_TABLE(X)                                                                       \
	X(OK, 0, "", "")                                                                          \
	X(GENERAL, 1, "Error", "The run failed.")                                                 \
	X(AUTH, 41, "FatalAuthenticationError", "There is no valid key for the model.")           \
	X(INPUT, 42, "FatalInputError", "The prompt or a flag cannot be used.")                   \
	X(SANDBOX, 44, "FatalSandboxError", "The requested sandbox is not available.")      \
	X(CONFIG, 52, "FatalConfigError", "A settings or policy file is wrong.")                  \
	X(TURNS, 53, "FatalTurnLimitedError", "The limit of turns was reached.")                  \
	X(TOOL, 54, "FatalToolExecutionError", "A tool cannot go on.")                            \
	X(UNTRUSTED, 55, "FatalUntrustedWorkspaceError", "The folder is not trusted.")            \
	X(PERMISSION, 56, "FatalPermissionError", "Nobody was there to allow it.")                \
	X(RECORD, 57, "FatalRecordError", "The session is not recorded whole.")                   \
	X(CANCELLED, 130, "FatalCancellationError", "The run was cancelled.")

enum agent_exit {
#define AGENT_EXIT_ENUM(symbol, code, type, sentence) AGENT_EXIT_##symbol = code,
	AGENT_EXIT_TABLE(AGENT_EXIT_ENUM)
#undef AGENT_EXIT_ENUM
};

/* The error's type in JSON output; NULL for OK. */
const char *cli_agent_exit_type(enum agent_exit code);
/* What the code means, as the man page has it; "" for a code that is not in the table. */
const char *cli_agent_exit_sentence(enum agent_exit code);
/* Of an end; `err` when the agent failed, else NULL. */
enum agent_exit cli_agent_exit_of(enum agent_end end, const struct err *err);

/* ---- signals ----------------------------------------------------------------- */

/* Signals of a headless run and of hasp tool: the first SIGINT, SIGTERM or SIGHUP cancels, and
 * all is put in order; a second one ends the program at once, and so does the end of the time
 * for that, whatever the program is doing. */

/* `cancel` must live as long as the program. */
void agent_signals_install(struct cancel *cancel);
/* The time for it, in place of AGENT_END_SECONDS; it is brought between 1 and
 * AGENT_END_SECONDS_MAX. */
void agent_signals_limit(long long seconds);
enum { AGENT_END_SECONDS = 30, AGENT_END_SECONDS_MAX = 600 };
/* The signal that came first; 0: none. */
int agent_signal(void);
/* Ends the program by that signal, when all is put in order: who started it sees by which.
 * Returns if none came. */
void agent_signal_die(void);

#endif
