/* SPDX-License-Identifier: Apache-2.0 */
/* A provider whose workers run on this machine, each this program again inside a plan
 * (sandbox/apply/spawn.h): its state, and how a worker is started (local_start.c).  The provider's
 * operations are in local.c. */
#ifndef HASP_WORKER_FRONT_LOCAL_PRIVATE_H
#define HASP_WORKER_FRONT_LOCAL_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "sandbox/apply/spawn.h"
#include "sandbox/apply/temp.h"
#include "worker/front/client.h"
#include "worker/front/private.h"
#include "worker/local.h"
#include "worker/provider.h"

struct local {
	struct worker_options options; /* owned (worker_options_copy) */
	bool none;                     /* never confined */
	bool is_outside;                /* another's, for what is outside of its roots */
	pthread_mutex_t lock;          /* of what follows */
	struct temp_folder *temp;      /* owned; made by the first command */
	struct sandbox_network network; /* of commands without the machine's; made by the first */
	bool network_made;              /* or tried to */
	struct sandbox_pointer *known;  /* owned; what git's files were last seen to say */
	size_t known_count;
	struct worker_held held;       /* options.renew_held's */
	int recall;                     /* owned; -1: none (open_recall) */
	bool recalls;                   /* a command had a file that outlives the session */
	bool network_refused;           /* it cannot be had or entered: each command has its own */
	bool said;                      /* a level was: of the first worker, or of the first plan */
	enum sandbox_level said_level;
	struct provider_info weaker;    /* its reason is owned; what `announced` points to */
	struct outside_record *record;   /* owned; NULL, or of the change that it is for */
	/* NULL, or what is true since a command ran at a weaker level than was said. */
	_Atomic(const struct provider_info *) announced;
};

/* What all plans of one use have in common. Borrows from `local`. */
struct sandbox_options local_start_options(const struct local *local, enum sandbox_use use);

/* Makes a plan on what git's files were last seen to say; with options->assume false they are read,
 * and later plans assume what they say.  The caller frees *ret.  Errors of sandbox_plan_make. */
bool local_start_plan(struct local *local, const struct sandbox_options *options,
                     struct sandbox_plan **ret, struct err *err);

/* Reports the level of a plan as the provider's: the first one, or a weaker one, which can only be
 * landlock. */
void local_start_level(struct local *local, const struct sandbox_plan *plan);

/* Starts a worker in the plan of these options, at the strongest level that can be had.  If the
 * worker finds that git's files differ from what the plan assumes, they are read
 * (sandbox/plan/read.c) and another is started.  *ret and *ret_plan are the caller's.
 * DENIED_BY_SANDBOX: the kernel refuses the level, or it would be weaker than was reported. */
bool local_start_worker(struct local *local, const struct sandbox_options *options,
                        const char *const *env, struct client **ret,
                        struct wire_welcome *ret_welcome, struct sandbox_plan **ret_plan,
                        struct err *err);

#endif
