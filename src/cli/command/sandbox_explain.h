/* SPDX-License-Identifier: Apache-2.0 */
/* What `hasp sandbox` prints instead of running something. Both return an exit code. */
#ifndef HASP_CLI_COMMAND_SANDBOX_EXPLAIN_H
#define HASP_CLI_COMMAND_SANDBOX_EXPLAIN_H

#include "cli/command/provider.h"

/* --explain and --seatbelt: the plan that a command would get. */
int sandbox_show_plan(const struct invocation *invocation, const struct confinement *confinement);
/* --status: what this machine can do, and why not more; of the level that is asked for, if one is. */
int sandbox_show_status(const struct invocation *invocation, const struct confinement *confinement);

#endif
