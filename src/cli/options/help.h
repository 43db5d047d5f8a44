/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts computed from the table in options.h.
 *
 * Not here: the man page (manpage.h).
 */
#ifndef HASP_CLI_OPTIONS_HELP_H
#define HASP_CLI_OPTIONS_HELP_H

#include "base/buf.h"
#include "cli/options/parse.h"
#include "tool/tool.h"

/* The text of `hasp COMMAND --help`, or of `hasp --help` for the root. */
void help_brief(struct buf *out); /* for who typed the program's name alone */
void help_command(struct buf *out, const struct command *command);

/* The text of `hasp tool NAME --help`: what the tool does and its arguments. */
void help_tool(struct buf *out, const struct tool *tool);

/* The text of `hasp tool --list`: one line for each tool. */
void help_tool_list(struct buf *out);

/* The first sentence of a description: those for a model begin with what the tool does. */
struct span help_first_sentence(const char *text);

/* Runs --help wherever it was given: on standard output. Returns the exit code. */
int help_show(const struct invocation *invocation);

/* Appends `text` in lines of at most 79 columns, each begun with `indent`
 * spaces; the first is begun only when `at` (the column reached) is 0.
 * An empty line in the text stays one, and items of a list ("- ", "1. ") keep
 * lines of their own. */
void help_wrap(struct buf *out, struct span text, size_t indent, size_t at);

#endif
