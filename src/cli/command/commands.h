/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers of the sub-commands, one a file: each prints what it has to say and returns the exit
 * code (cli/options/command.h). cli/main.c says which command has which. */
#ifndef HASP_CLI_COMMAND_COMMANDS_H
#define HASP_CLI_COMMAND_COMMANDS_H

#include "cli/options/invocation.h"

int command_run_root(const struct invocation *invocation);       /* agent_command.c */
int command_run_help(const struct invocation *invocation);       /* help_command.c */
int command_run_completion(const struct invocation *invocation); /* help_command.c */
int command_run_tool(const struct invocation *invocation);       /* tool_command.c */
int command_run_sandbox(const struct invocation *invocation);    /* sandbox_command.c */
int command_run_serve(const struct invocation *invocation);      /* serve_command.c */
int command_run_acp(const struct invocation *invocation);        /* acp_command.c */
int command_run_hooks(const struct invocation *invocation);      /* hooks_command.c */
int command_run_agents(const struct invocation *invocation);     /* agents_command.c */
int command_run_skills(const struct invocation *invocation);     /* skills_command.c */
int command_run_extensions(const struct invocation *invocation); /* extensions_command.c */
int command_run_setup(const struct invocation *invocation);      /* setup_command.c */
int command_run_mcp(const struct invocation *invocation);        /* mcp_command.c */
int command_run_policy(const struct invocation *invocation);     /* policy_command.c */
int command_run_config(const struct invocation *invocation);     /* config_command.c */
int command_run_context(const struct invocation *invocation);    /* agent_command.c */
int command_run_checkpoint(const struct invocation *invocation); /* checkpoint_command.c */
int command_run_web(const struct invocation *invocation);        /* web_command.c */
int command_run_sessions(const struct invocation *invocation);   /* sessions_command.c */
int command_run_audit(const struct invocation *invocation);      /* audit_command.c */
int command_run_stats(const struct invocation *invocation);      /* stats_command.c */
int command_run_models(const struct invocation *invocation);     /* models_command.c */
int command_run_worker(const struct invocation *invocation);     /* confinement.c */

#endif
