/* SPDX-License-Identifier: Apache-2.0 */
/* The system prompt, which stays as it is for all of a session, and what a mode adds to it,
 * which is told in messages (told.h).
 *
 * It is made of sections, each of which GEMINI_PROMPT_<SECTION>=0 (or false) leaves out:
 * PREAMBLE, MANDATES, STATE, WORKFLOW, PLAN, OPERATION, SANDBOX, GIT, MEMORY.
 * GEMINI_SYSTEM_MD=1|true replaces all of it but the memory by .gemini/system.md of the project
 * (trusted folders only), =PATH by that file, in which ${AvailableTools}, ${AgentSkills},
 * ${SubAgents} and ${NAME_ToolName} are replaced.  GEMINI_WRITE_SYSTEM_MD writes it to such a
 * file.
 */
#ifndef HASP_AGENT_PROMPT_PROMPT_H
#define HASP_AGENT_PROMPT_PROMPT_H

#include <time.h>

#include "agent/prompt/memory.h"
#include "config/settings.h"
#include "policy/policy.h"
#include "tool/set.h"
#include "worker/provider.h"

/* ---- the system prompt ------------------------------------------------------- */

struct prompt_options {
	const struct settings *settings;
	struct provider *provider;
	const struct tool_set *tools;
	struct span memory;        /* memory_global */
	bool interactive;
	bool git;                  /* the workspace is in a git repository */
	const char *confinement;   /* sentences about the sandbox; or NULL */
	const char *plans_folder;  /* or NULL */
};

/* *ret_pieces (told.h) is the caller's. Errors: the file that GEMINI_SYSTEM_MD names cannot be
 * read. */
bool prompt_make(const struct prompt_options *options, json_t **ret_pieces, struct err *err);
/* What holds in a mode; `off_tools`: gate_off_text, or NULL. The caller frees. */
char *prompt_mode_text(const struct prompt_options *options, enum approval_mode mode,
                       const char *off_tools);

/* ---- facts ------------------------------------------------------------------- */

/* The first message of a conversation: where and when it takes place, and what the project's
 * files of instructions say.
 *
 * It stands before the history.  It is made once, and again by a compaction; what changes is
 * told at the end (told.h).
 */

struct facts_options {
	const struct settings *settings;
	struct provider *provider;
	const struct memory *memory;     /* may be NULL */
	const char *temp_folder;         /* where outputs are kept; or NULL */
	const char *mode;                /* prompt_mode_text; or NULL */
	time_t now;
};

/* Its pieces (told.h), a new reference. The tree of files (context.includeDirectoryTree) has at
 * most 200 lines; names in it are escaped. */
json_t *prompt_facts_pieces(const struct facts_options *options);
/* The piece that has the date; the caller frees. */
char *prompt_facts_date(time_t now);

#endif
