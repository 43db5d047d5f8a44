/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's flags that are looked at before anything is opened: those that exclude each other, and Gemini CLI's
 * for what hasp does not have, which are an error that says so rather than an unknown flag. */
#ifndef HASP_CLI_COMMAND_AGENT_FLAGS_H
#define HASP_CLI_COMMAND_AGENT_FLAGS_H

#include "cli/command/agent_exit.h"
#include "cli/options/parse.h"
#include "cli/view/agent_output.h"

/* False: the run cannot be, with its exit code. */
bool agent_flags_check(const struct invocation *invocation, enum agent_exit *ret_code,
                       struct err *err);

/* --output-format, else the setting output.format (NULL settings: there are none yet), else text. */
enum agent_format agent_flags_format(const struct invocation *invocation,
                                     const struct settings *settings);

/* The values of a flag that takes lists, cut at commas: texts, for the caller. */
json_t *agent_flags_list(const struct invocation *invocation, enum flag_id id);

#endif
