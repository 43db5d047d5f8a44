/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts and the man page, computed from the table in options.h. */
#ifndef HASP_CLI_OPTIONS_HELP_H
#define HASP_CLI_OPTIONS_HELP_H

#include "base/buf.h"
#include "cli/options/options.h"
#include "tool/tool.h"

/* ---- help -------------------------------------------------------------------- */

/* The text of `hasp COMMAND --help`, or of `hasp --help` for the root. */
void help_brief(struct buf *out); /* for who typed the program's name alone */

/* The text of `hasp tool --list`: one line for each tool. */
void help_tool_list(struct buf *out);

/* Runs --help wherever it was given: on standard output. Returns the exit code. */
int help_show(const struct invocation *invocation);

/* ---- the man page ------------------------------------------------------------ */

/* hasp(1), in mdoc(7), computed from the tables of commands and tools. */

void help_manpage_print(struct buf *out);

#endif
