/* SPDX-License-Identifier: Apache-2.0 */
/* All the policies that count, put together: for the agent and for `hasp policy` the same.
 *
 *     struct policy_sources sources = { .settings = settings };
 *     json_t *problems = json_array();
 *     if (!policy_load(&sources, problems, &policy, &err)) ...      // also tell the problems
 *     policy_free(policy);
 *
 * From low to high: the defaults; .gemini/policies/ of the project, if its folder is trusted, those
 * that allow only after "hasp config allow .gemini/policies";
 * the user's, which is ~/.gemini/policies/ unless flags or the setting policyPaths name others,
 * and what settings say (tools.*, mcp.*, mcpServers.*.trust); the administrator's, which is
 * /etc/gemini-cli/policies/, and only if there is none there what flags or adminPolicyPaths
 * name.
 */
#ifndef HASP_AGENT_SETUP_POLICY_LOAD_H
#define HASP_AGENT_SETUP_POLICY_LOAD_H

#include "config/settings.h"
#include "policy/policy.h"

struct policy_sources {
	const struct settings *settings;
	const char *const *files;       /* --policy: NULL-terminated, or NULL */
	const char *const *admin_files; /* --admin-policy: likewise */
};

/* Appends to `problems` (policy.h); the caller frees *ret. INVALID_ARGUMENT: a policy of the
 * user or the administrator is wrong, with the first problem; whoever wrote it relies on it.
 * Problems of the project's are only told. */
bool policy_load(const struct policy_sources *sources, json_t *problems, struct policy **ret,
                 struct err *err);

/* "FILE:LINE: MESSAGE" of a problem; the caller frees. */
char *policy_problem_text(const json_t *problem);

/* Whether the user allowed the project's .gemini/policies, as the files are now: without that, its rules
 * that allow do not count (config/authority.h).  What is not allowed is in settings_withheld. */
bool policy_project_allowed(const struct settings *settings);

/* The folder where "always and save" keeps rules: ~/.gemini/policies; the caller frees. */
char *policy_save_folder(const struct settings *settings);

#endif
