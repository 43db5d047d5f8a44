/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of `hasp tool`: ARGS and --arg become one JSON object.
 *
 * Each --arg is read by the type that the tool's schema gives the parameter;
 * whether the object as a whole is right is for the tool to say.
 */
#ifndef HASP_CLI_COMMAND_TOOL_ARGS_H
#define HASP_CLI_COMMAND_TOOL_ARGS_H

#include <jansson.h>

#include "base/err.h"
#include "cli/options/parse.h"
#include "tool/tool.h"

/* The caller owns *ret, an object. INVALID_ARGUMENT: what cannot be read or understood, with line
 * and column for JSON; the codes of err_set_errno for files that cannot be read. */
bool tool_args_read(const struct invocation *invocation, const struct tool *tool, json_t **ret,
                    struct err *err);

#endif
