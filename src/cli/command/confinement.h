/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a workspace as the command line says: where, and how confined.
 *
 *     struct confinement confinement;
 *     if (!confinement_read(invocation, &confinement, &err)) ...
 *     confinement.options.roots = roots; confinement.options.root_count = count;
 *     ok = confinement_open(&confinement, &provider, &err);
 *     confinement_release(&confinement);          // the provider does not need it any more
 *
 * The flags are those of SANDBOX_FLAGS in options.c, and --durability.
 */
#ifndef HASP_CLI_COMMAND_CONFINEMENT_H
#define HASP_CLI_COMMAND_CONFINEMENT_H

#include "agent/setup/prepare.h"
#include "base/err.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "worker/environment.h"
#include "worker/local.h"

/* ---- words ------------------------------------------------------------------- */

/* A command line as words, without a shell.
 *
 *     ssh -p 2222 "my host" hasp worker        -> ssh, -p, 2222, my host, hasp, worker
 *     ["ssh", "my host", "hasp worker"]        -> the strings of a JSON array
 *
 * Words end at blanks (space, tab, newline).  Within '...' everything is itself; within "..." a
 * backslash keeps the special meaning of " and \ away; outside of quotes a backslash does so for
 * any character.  Nothing else means anything: no variables, globs, pipes, comments.
 */

/* *ret is NULL-terminated, with one word or more, for command_words_free. INVALID_ARGUMENT: a
 * quote that is not closed, no word, an array of anything but strings. */
bool command_words_split(const char *text, char ***ret, struct err *err);
void command_words_free(char **words); /* NULL is fine */

/* ---- variables of a command -------------------------------------------------- */

/* The environment of a command that a person runs with `hasp sandbox`.
 *
 *   safe    the person's own, without what looks like a secret and is not known to be none
 *   keep    all of it
 *   clean   what commands of models get
 *
 * What looks like a secret, and what commands of models get, is in worker/environment.h.  This
 * keeps secrets from leaking by accident; it is not a boundary.
 */

struct child_env {
	const char **vars;     /* owned array, NULL-terminated; the strings are borrowed */
	const char **withheld; /* owned array of borrowed NAME=VALUE */
	size_t withheld_count;
	char **clean;          /* owned; what `vars` points to, if it was made */
};

/* `which`: NULL is "safe". `from`: what to choose from; borrowed until the release. */
void command_child_env_make(const char *which, const char *const *from,
                            const struct environment_options *options, struct child_env *ret);
void command_child_env_release(struct child_env *env);
#define _cleanup_child_env_ __attribute__((cleanup(command_child_env_release)))

/* ---- projects ---------------------------------------------------------------- */

/* The project's folder (--root, or the current one), and its settings with --skip-trust.
 * *ret_project is the caller's to free, also on failure. FILE_NOT_FOUND; settings_load's errors. */
bool command_open_project(const struct invocation *invocation, char **ret_project,
                          struct settings **ret_settings, struct err *err);

/* ---- providers --------------------------------------------------------------- */

struct confinement {
	struct worker_options options; /* roots and what else is known are the caller's to add */
	char **worker;                 /* owned; the words of --worker, or NULL: this machine */
	const char **write, **read, **deny; /* owned arrays; `options` points to them */
	char *journal;                 /* owned; likewise */
	struct prepare_level level;    /* what --sandbox and HASP_SANDBOX say; borrowed */
};

/* What the flags and HASP_SANDBOX say. INVALID_ARGUMENT. */
bool confinement_read(const struct invocation *invocation, struct confinement *ret,
                      struct err *err);
/* The level, out of these and of what the user or the administrator require (prepare_level): for
 * commands that have read no settings, and need no project's. INVALID_ARGUMENT: a file is wrong. */
bool confinement_settle(struct confinement *confinement, struct err *err);
/* The same for a command that has read settings. */
bool confinement_settle_with(struct confinement *confinement, const struct settings *settings,
                             prepare_notice *notice, void *data, struct err *err);
bool confinement_open(const struct confinement *confinement, struct provider **ret,
                      struct err *err);
/* All of it for commands without settings of a project: the provider of the folders that --root
 * names, or of the current one. */
bool confinement_open_roots(const struct invocation *invocation, struct provider **ret,
                            struct err *err);
void confinement_release(struct confinement *confinement);
#define _cleanup_confinement_ __attribute__((cleanup(confinement_release)))

/* What a model is told: the level that is asked for or that this machine has, and what is
 * allowed. The caller frees. */
char *confinement_sentences(const struct confinement *confinement);
/* The same where the level is known (provider_info): nothing is probed. */
char *confinement_sentences_at(const struct confinement *confinement, enum sandbox_level level);

/* "not confined (level paths): WHY ..." to standard error, where that is so. */
void confinement_warn(struct provider *provider);

#endif
