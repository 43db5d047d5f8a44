/* SPDX-License-Identifier: Apache-2.0 */
/* Results of commands for people (view.h). */
#ifndef HASP_CLI_VIEW_COMMAND_H
#define HASP_CLI_VIEW_COMMAND_H

#include "cli/view/parts.h"

/* Whether the result is that of a command, running or ended. */
bool view_is_command(const json_t *result);
void view_command(const struct shown *s, const json_t *result);

#endif
