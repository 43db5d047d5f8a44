/* SPDX-License-Identifier: Apache-2.0 */
/* All the policies that count, put together: for the agent and for `hasp policy` the same.
 *
 *     struct policy_sources sources = { .settings = settings };
 *     json_t *problems = json_array();
 *     if (!policy_load(&sources, problems, &policy, &lost, &err)) ...   // report the problems
 *     policy_free(policy);
 *
 * From low to high: the defaults; those of extensions (config/extensions.h), which can forbid and
 * ask; .gemini/policies/ and .gemini/policies.toml of the project, if its folder is trusted, those
 * that allow only after "hasp config allow .gemini/policies"; the user's, which are
 * ~/.gemini/policies/ and ~/.gemini/policies.toml unless flags or the setting policyPaths name
 * others, and what settings say (tools.*, mcp.*, mcpServers.*.trust); the administrator's, which is
 * /etc/gemini-cli/policies/, and only if there is none there what flags or adminPolicyPaths
 * name.
 */
#ifndef HASP_AGENT_SETUP_POLICY_LOAD_H
#define HASP_AGENT_SETUP_POLICY_LOAD_H

#include "base/notices.h"
#include "config/settings.h"
#include "hooks/hooks.h"
#include "policy/policy.h"

/* ---- policies ---------------------------------------------------------------- */

struct policy_sources {
	const struct settings *settings;
	const char *const *files;       /* --policy: NULL-terminated, or NULL */
	const char *const *admin_files; /* --admin-policy: likewise */
	const char *const *tools;       /* policy_names.tools */
};

/* Appends to `problems` (policy.h); the caller frees *ret. INVALID_ARGUMENT: a policy of the
 * user or the administrator is wrong, or a file that a flag or a setting names is missing, with the
 * first problem; its author relies on it.  *ret_lost (the caller frees): the first problem
 * by which a guard is lost, anyone's: a rule that restricts and names what does not exist, a
 * project's or extension's file that cannot be used; NULL: none.  A run that may write
 * does not start with one (prepare_policy). */
bool policy_load(const struct policy_sources *sources, json_t *problems, struct policy **ret,
                 char **ret_lost, struct err *err);

/* Appends to `problems` what the policy's rules, settings and hooks name and nothing, and none of
 * `tools` (policy_names.tools), has
 * (policy_report_unknown), with the file and line of a setting, and hooks that could refuse
 * something and cannot run (kind "hook_lost"). */
void setup_report_names(const struct settings *settings, const struct policy *policy,
                        const char *const *tools, json_t *problems);

/* What these settings, which were read again, say of MCP servers takes the place of what was loaded
 * (policy_renew_servers). */
void setup_renew_server_rules(struct policy *policy, const struct settings *settings);

/* Likewise of what extensions forbid and ask about: their rules, and the tools that they exclude.
 * Appends to `problems`. */
void setup_renew_extension_rules(struct policy *policy, const struct settings *settings,
                                 json_t *problems);

/* "FILE:LINE: MESSAGE" of a problem; the caller frees. */
char *setup_policy_problem_text(const json_t *problem);

/* Whether the user has allowed the project's .gemini/policies as the files are now. Otherwise its
 * rules that allow are ignored (config/authority.h), and listed in settings_withheld. */
bool setup_project_policy_allowed(const struct settings *settings);

/* The folder where "always and save" keeps rules: ~/.gemini/policies; the caller frees. */
char *setup_policy_save_folder(const struct settings *settings);

/* ---- hooks ------------------------------------------------------------------- */

/* The hooks that count for a project: of its settings and hooks.toml, of the user's, of the
 * system's, and of extensions.
 *
 *     struct hooks *hooks = setup_load_hooks(&options, problems);
 *     hooks_free(hooks);
 */

struct hooks_sources {
	const struct settings *settings;
	const char *project;         /* absolute */
	bool local;                  /* the project's files are this machine's */
	const char *session_id;      /* "" where no hook will run */
	const char *transcript_path; /* likewise */
	const char *plans_folder;    /* or NULL */
	const char *caller;          /* as hooks_options.caller */
	char *const *environment;    /* of hooks, scrubbed; NULL-terminated; NULL where none
	                              * will run */
	struct notices notices;
	/* As hooks_options.ran. */
	void (*ran)(void *data, const struct hook_run *run);
	void *data;
	json_t *unused; /* gets sentences about what hasp does not use of Claude Code's hooks; or
	                 * NULL */
};

/* Reads all hooks. A project's count only if its folder is trusted, and run once they are trusted
 * themselves. Errors are appended to `problems` ({source, message}), and the hooks concerned left
 * out. Never NULL. */
struct hooks *setup_load_hooks(const struct hooks_sources *sources, json_t *problems);
/* Adds the login commands of remote agents, which run as hooks do, to hooks_held. */
void setup_hold_logins(struct hooks *hooks, const struct settings *settings);

struct worker_held;
/* As worker_options.renew_held: reads the list of files that trusted commands outside the sandbox
 * name (hooks_held_paths) again for the workspace in `root`, if the record of trusted files has
 * changed since held->seen. */
void setup_renew_held(const char *root, struct worker_held *held);
/* Adds rules that protect these files, and those trusted later, while the policy is in use. */
void setup_add_held(struct policy *policy, const struct settings *settings);

/* The first hook that could refuse something and cannot run, because its event, type or tool does
 * not exist or its file cannot be read: "FILE:LINE: ..."; the caller frees. NULL: none. */
char *setup_hooks_lost(const struct settings *settings);

/* "2 hooks of this project are not trusted ...", to show where hooks would run. The caller frees
 * it; NULL: all are trusted. */
char *setup_hooks_untrusted_sentence(const struct hooks *hooks);

#endif
