/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers of the sub-commands and the exit codes they return. */
#ifndef HASP_CLI_OPTIONS_COMMANDS_H
#define HASP_CLI_OPTIONS_COMMANDS_H

#include "cli/options/parse.h"

enum {
	CLI_OK = 0,
	CLI_FAILED = 1, /* the tool failed, or the result could not be written */
	CLI_USAGE = 2,  /* the command line is wrong; nothing is on standard output */
};

int command_run_root(const struct invocation *invocation);       /* agent_command.c */
int command_run_help(const struct invocation *invocation);       /* help.c */
int command_run_completion(const struct invocation *invocation); /* completion.c */
int command_run_tool(const struct invocation *invocation);       /* tool_command.c */
int command_run_sandbox(const struct invocation *invocation);    /* sandbox_command.c */
int command_run_serve(const struct invocation *invocation);      /* serve_command.c */
int command_run_hooks(const struct invocation *invocation);      /* hooks_command.c */
int command_run_policy(const struct invocation *invocation);     /* policy_command.c */
int command_run_config(const struct invocation *invocation);     /* config_command.c */
int command_run_checkpoint(const struct invocation *invocation); /* checkpoint_command.c */
int command_run_models(const struct invocation *invocation);     /* models_command.c */
int command_run_worker(const struct invocation *invocation);     /* worker_command.c */

/* The tool of that name, also of Claude Code's and Gemini CLI's (Edit, ShellTool); NULL after saying what is wrong. */
struct tool;
const struct tool *command_tool(const char *name);

#endif
