/* SPDX-License-Identifier: Apache-2.0 */
/* Where a session's work runs, and how confined: a workspace opened as its user asks.
 *
 *     struct confinement confinement = { .level = { .flag = "full" } };
 *     confinement.options.roots = roots; confinement.options.root_count = count;
 *     if (!confinement_settle_with(&confinement, settings, &notices, &err) ||
 *         !places_choose(&confinement, settings, level_given, &notices, &err) ||
 *         !confinement_open(&confinement, &provider, &err)) ...
 *     confinement_release(&confinement);          // the provider does not need it any more
 *
 * session.h does all of that for a session.  What flags of the command line say is read in
 * cli/command/private.h.
 */
#ifndef HASP_FRONT_CONFINEMENT_H
#define HASP_FRONT_CONFINEMENT_H

#include <jansson.h>

#include "agent/setup/prepare.h"
#include "config/settings.h"
#include "worker/local.h"
#include "worker/provider.h"

struct confinement {
	struct worker_options options; /* roots and what else is known are the caller's to add */
	char **worker;                 /* owned; the words of --worker, or NULL: this machine */
	const char **write, **read, **deny; /* owned arrays; `options` points to them */
	char *journal;                 /* owned; likewise */
	char *project;                 /* owned; where commands without a session begin */
	const char **kept;             /* owned; paths that rules protect; `options` points to it */
	json_t *kept_texts;            /* owned; its strings */
	char **syscalls;               /* owned; likewise (hasp.sandbox.syscalls) */
	char *root;                    /* owned; the folder over there, of --worker-root or the
	                                * place; NULL: not named */
	char *place;                   /* owned; which of hasp.worker was chosen; NULL: not set */
	char *passed_over;             /* owned; why those before it were not; or empty */
	bool durability_given;         /* options.durability overrides hasp.durability */
	enum sandbox_level least;      /* that the place must give */
	struct prepare_level level;    /* what --sandbox and HASP_SANDBOX say; borrowed */
};

/* The level, out of what `confinement` asks for and what the user or the administrator require
 * (prepare_level), and what they forbid (prepare_syscalls). `settings` may be NULL.  Errors of
 * these. */
bool confinement_settle_with(struct confinement *confinement, const struct settings *settings,
                             const struct notices *notices, struct err *err);
/* Where work runs (places.c): the setting hasp.worker, unless `confinement` names a worker.  Call
 * after the level is settled; `level_given`: options.level_given as it was before that.  The notice
 * says which place was chosen and why others were not.  INVALID_ARGUMENT: the setting is wrong, or
 * confinement->root is not an absolute path, or names a folder where no worker is elsewhere;
 * DENIED_BY_SANDBOX: no place can be had, with what each said; DENIED_BY_POLICY: the
 * administrator's setting rules another worker out. */
bool places_choose(struct confinement *confinement, const struct settings *settings,
                   bool level_given, const struct notices *notices, struct err *err);
/* Whether a place of the setting is on another machine, before one is chosen. */
bool places_leave(const struct settings *settings);
/* Starts the provider. The options' roots must be set.  Errors of local_provider_open;
 * DENIED_BY_SANDBOX: the place is at a weaker level than it must give. */
bool confinement_open(const struct confinement *confinement, struct provider **ret,
                      struct err *err);
void confinement_release(struct confinement *confinement);
#define _cleanup_confinement_ __attribute__((cleanup(confinement_release)))

/* The sandbox in words for a model, at this level (provider_info). The caller frees. */
char *confinement_sentences_at(const struct confinement *confinement, enum sandbox_level level);

#endif
