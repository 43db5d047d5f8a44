/* SPDX-License-Identifier: Apache-2.0 */
/* What people are shown of a call: plain text, which may hold anything that models, files and servers
 * say; whoever shows it on a terminal makes it harmless there.  Private to this folder.
 */
#ifndef HASP_AGENT_CALL_DISPLAY_H
#define HASP_AGENT_CALL_DISPLAY_H

#include "tool/tool.h"

/* One line that says what a call is about: "src/main.c", "git status". For the caller. */
char *display_call(const struct tool *tool, const json_t *args);
/* What came of it: an editor's message and diff, a command's output, a count. For the caller. */
char *display_result(const struct tool *tool, const json_t *result);

#endif
