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
#ifndef HASP_CLI_COMMAND_PROVIDER_H
#define HASP_CLI_COMMAND_PROVIDER_H

#include "agent/setup/prepare.h"
#include "cli/options/parse.h"
#include "worker/local.h"

/* The values of a flag that is given several times, in their order; the caller frees the array.
 * Never NULL; with room for one more. */
const char **flag_values(const struct invocation *invocation, enum flag_id id, size_t *ret_count);

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
