/* SPDX-License-Identifier: Apache-2.0 */
/* The system prompt.
 *
 * It is made of sections, each of which GEMINI_PROMPT_<SECTION>=0 (or false) leaves out: PREAMBLE, MANDATES,
 * STATE, WORKFLOW, PLAN, OPERATION, SANDBOX, GIT, MEMORY.  GEMINI_SYSTEM_MD=1|true replaces all of it but the
 * memory by .gemini/system.md of the project (trusted folders only), =PATH by that file, in which
 * ${AvailableTools}, ${AgentSkills}, ${SubAgents} and ${NAME_ToolName} are replaced.  GEMINI_WRITE_SYSTEM_MD
 * writes it to such a file.
 */
#ifndef HASP_AGENT_PROMPT_H
#define HASP_AGENT_PROMPT_H

#include "config/settings.h"
#include "policy/policy.h"
#include "tool/set.h"
#include "worker/provider.h"

struct prompt_options {
	const struct settings *settings;
	struct provider *provider;
	const struct tool_set *tools;
	struct span memory;        /* memory_global */
	enum approval_mode mode;
	bool interactive;
	bool git;                  /* the workspace is in a git repository */
	const char *confinement;   /* sentences about the sandbox; or NULL */
	const char *plans_folder;  /* in plan mode; or NULL */
	const char *off_tools;     /* off_tools_text; or NULL */
};

/* *ret is the caller's. Errors: the file that GEMINI_SYSTEM_MD names cannot be read. */
bool prompt_make(const struct prompt_options *options, char **ret, struct err *err);

#endif
