/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts, the man page and completion scripts, computed from the table in command.h. */
#ifndef HASP_CLI_OPTIONS_HELP_H
#define HASP_CLI_OPTIONS_HELP_H

#include "base/buf.h"
#include "cli/options/command.h"
#include "tool/tool.h"

/* ---- help -------------------------------------------------------------------- */

/* For those who typed the program's name alone. */
void help_brief(struct buf *out);

/* The text of `hasp tool --list`: one line for each tool. */
void help_tool_list(struct buf *out);

/* Runs --help wherever it was given: on standard output. Returns the exit code. */
int help_show(const struct invocation *invocation);
/* Prints `hasp COMMAND --help`, or `hasp --help` for the root. Returns the exit code. */
int help_show_command(const struct command *command);

/* ---- the man page ------------------------------------------------------------ */

/* hasp(1), in mdoc(7), computed from the tables of commands and tools. */

/* Appends the whole page. */
void help_manpage_print(struct buf *out);

/* ---- completion -------------------------------------------------------------- */

/* The completion script of "bash", "zsh" or "fish"; nothing for other names. */
void completion_print(const char *shell, struct buf *out);

#endif
