/* SPDX-License-Identifier: Apache-2.0 */
/* What settings and the user decide before a host is opened (host.h): the same for the command
 * line and for other programs that contain the agent.
 *
 *     mode = prepare_mode(settings, word);
 *     if (!prepare_mode_check(settings, mode, &err) ||
 *         !prepare_policy(&sources, &notices, &policy, &err)) ...
 *     roots = prepare_roots(settings, project, &included, &count);
 *     prepare_level(settings, &given, &notices, &worker_options, &err);
 *     prepare_sandbox(settings, &worker_options);
 *
 * Not here: reading the settings (config/settings.h), opening the workspace (worker/local.h).
 */
#ifndef HASP_AGENT_SETUP_PREPARE_H
#define HASP_AGENT_SETUP_PREPARE_H

#include <stdbool.h>

#include "agent/setup/policy_load.h"
#include "base/buf.h"
#include "base/notices.h"
#include "config/settings.h"
#include "worker/environment.h"
#include "worker/local.h"

/* ---- variables of commands --------------------------------------------------- */

/* The environment of commands and hooks, by the settings: variables to keep or to remove
 * (security.environmentVariableRedaction), and the pager (tools.shell.pager).
 *
 *     struct command_env env;
 *     setup_command_env_init(&env, settings);
 *     vars = environment_for_command(environ, &env.options);
 *     setup_command_env_release(&env);
 *
 * For all other variables see worker/environment.h.
 */

struct command_env {
	struct environment_options options; /* of pipes, at level paths */
	bool usual;                         /* the settings say nothing: any worker's own serves */
	char **more;                        /* owned; what options.more borrows */
	const char **blocked;               /* owned array; the names are the settings' */
};

/* `settings` must outlive it. */
void setup_command_env_init(struct command_env *env, const struct settings *settings);
void setup_command_env_release(struct command_env *env);

/* ---- values that are shown ---------------------------------------------------- */

/* A copy of `value` (nested at most as settings are), which stands at `path`.  Masked are strings
 * whose name or text looks like a secret (worker/environment.h), and in all strings the values of
 * those `variables` (NAME=VALUE, NULL-terminated; or NULL) that do.  A new reference. */
json_t *setup_mask_secrets(const char *path, const json_t *value, char *const *variables);

/* Returns a copy of a text with secrets masked: words that look like a key, or like a variable that
 * holds one (NAME=VALUE, "NAME": "VALUE"), whatever follows "Bearer" and "Basic", and the values of
 * those `variables` (as above) that are secrets. It masks more rather than less. A new
 * reference. */
json_t *setup_mask_text(struct span text, char *const *variables);

/* ---- preparation ------------------------------------------------------------- */

/* What the settings have wrong; what there is that hasp does not use (below); and that the
 * folder is not trusted, if it has what trust would change.  `asks`: the session asks about
 * extensions that have changed, and nothing is said of them. */
void prepare_warnings(const struct settings *settings, bool asks, const struct notices *notices);

/* What the project's folder brings along that counts only if the folder is trusted, in an order for
 * people: [{"path", "what", "names": [...]}], the names of its settings, hooks, rules, commands and
 * variables.  All of it is foreign text; nothing of it counts by being read here.  Empty: trust
 * would switch nothing on.  A new reference. */
json_t *prepare_brought(const struct settings *settings);
/* The first `max` names of an item, sorted: "a, b and 3 more"; "" without. The caller frees. */
char *prepare_brought_names(const json_t *item, size_t max);

/* `word`: the user's choice; NULL: the setting. An unknown mode means the default. */
enum approval_mode prepare_mode(const struct settings *settings, const char *word);
/* As --approval-mode and the settings spell it; policies have another word. */
const char *prepare_mode_word(enum approval_mode mode);
/* DENIED_BY_POLICY: the settings forbid it. PERMISSION_DENIED: it is for trusted folders. */
bool prepare_mode_check(const struct settings *settings, enum approval_mode mode, struct err *err);

/* policy_load, with its problems reported.  INVALID_ARGUMENT also where a rule or a setting that
 * restricts cannot be understood (policy_load's *ret_lost, settings_unusable), unless
 * hasp.ignoreUnknownRules is set. */
bool prepare_policy(const struct policy_sources *sources, const struct notices *notices,
                    struct policy **ret, struct err *err);

/* Where to look for more workspace folders, and where to report missing ones. */
struct prepare_folders {
	json_t *list;      /* texts; those that are found are added to it */
	bool remote;       /* on another machine: paths are not checked, and ~ stays */
	struct notices notices;
};

/* Adds `folders` (texts); "~" and "~/" stand for the user's home. Anything that is not a folder is
 * left out with a warning, as in Gemini CLI; the warning names `named_by` as its source. */
void prepare_add_folders(const json_t *folders, const char *named_by,
                         const struct prepare_folders *to);
/* The workspace's folders: the project, those in included->list, and those of the setting
 * context.includeDirectories, which are added to it.  The caller frees the array; its strings are
 * `project` and those of the list. */
const char **prepare_roots(const struct settings *settings, const char *project,
                           const struct prepare_folders *included, size_t *ret_count);

/* The confinement that the user asked for; "auto": the strongest that the machine supports. */
struct prepare_level {
	const char *flag;     /* --sandbox; NULL: not given */
	const char *variable; /* HASP_SANDBOX; NULL or "": not set */
};

/* Sets the level of `ret` from these and the setting hasp.sandbox.level, which is a minimum: a
 * variable never lowers it; a flag may lower the user's own (which is reported), but not the
 * administrator's. `settings` may be NULL: there is no minimum. INVALID_ARGUMENT: unknown level.
 * DENIED_BY_POLICY: the level would be lowered, or ret->network is set and the administrator
 * forbids the network. */
bool prepare_level(const struct settings *settings, const struct prepare_level *given,
                   const struct notices *notices, struct worker_options *ret, struct err *err);

/* Whether hasp.worker lets work be done on this machine, for what cannot be done elsewhere: it is
 * not set, or one of its places is local, and the level of `options`, which prepare_level has
 * settled, suffices for it; that is then the level that `options` demand. INVALID_ARGUMENT: the
 * setting cannot be used.  DENIED_BY_SANDBOX: work must be done elsewhere. */
bool prepare_local(const struct settings *settings, struct worker_options *options,
                   struct err *err);

/* Whether commands and servers may have the network: no administrator forbids it.  `settings` may
 * be NULL. */
bool prepare_may_network(const struct settings *settings);

/* Whether all hooks that could refuse something can run, for commands that run hooks and no agent.
 * INVALID_ARGUMENT: which cannot, or a setting that restricts cannot be understood; not where
 * hasp.ignoreUnknownRules is set. */
bool prepare_hooks(const struct settings *settings, struct err *err);

/* Whether hasp can use what files say for a setting that restricts, or for all below a name: what
 * it cannot use is left out of the settings, and would restrict nothing. `settings` may be NULL.
 * INVALID_ARGUMENT: the file, the line, what is expected. */
bool prepare_is_read(const struct settings *settings, const char *name, struct err *err);
/* What hasp.sandbox.syscalls forbids to commands, into `options`.  *ret has the memory, for the
 * caller to free with sandbox_calls_free when the options are not used any more.  INVALID_ARGUMENT:
 * a name is none. */
bool prepare_syscalls(const struct settings *settings, struct worker_options *options, char ***ret,
                      struct err *err);
/* Adds the sandbox settings to `ret`: the network, and the paths to write and to read, in an array
 * that replaces ret->write and ret->read. The caller frees the array; its strings belong to the
 * settings. */
const char **prepare_sandbox(const struct settings *settings, struct worker_options *ret);

/* What rules on paths keep from being written, as ret->keep, ->ask, ->voted.  The caller frees the
 * array; its strings are *ret_texts', which the caller releases later. */
const char **prepare_kept(const struct policy *policy, json_t **ret_texts,
                          struct worker_options *ret);

/* The same for what is no session of the agent's (hasp tool, sandbox, serve mcp) and begins in
 * `project`, by the policies of the user, the administrator, extensions, and a trusted project; a
 * rule that asks refuses (ret->ask_refuses).  *ret_kept, *ret_texts as above; NULL where there are
 * no policy files at all.  INVALID_ARGUMENT: as policy_load.  What else rules have wrong is a
 * warning. */
bool prepare_kept_of(const char *project, const struct notices *notices,
                     const char ***ret_kept, json_t **ret_texts, struct worker_options *ret,
                     struct err *err);

/* After that, where one person answers and no one else can: what a rule asks reviewers about is
 * kept, whatever that person allows. */
void prepare_keep_voted(struct worker_options *options);

/* Of hooks, from this process's: they are the user's programs, but secrets are not theirs,
 * unless the settings say so. Freed with environment_free. */
char **prepare_environment(const struct settings *settings);

/* ---- what is ignored --------------------------------------------------------- */

/* What users of Gemini CLI have set up and hasp does not do yet: extensions, skills, agents.
 * A run that meets such a thing says so.
 *
 * Not here: settings without effect ("hasp config", docs/settings.md).
 */

/* Whether a prompt that is no command (front/command/command.h) can be sent. INVALID_ARGUMENT: it
 * begins with /NAME, and that is no path. "//NAME" is text: *ret_skip is 1 then, the bytes to leave
 * out, else 0. */
bool prepare_check_prompt(struct span prompt, size_t *ret_skip, struct err *err);

#endif
