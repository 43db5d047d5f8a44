/* SPDX-License-Identifier: Apache-2.0 */
/* Providers that answer through workers.
 *
 *   local_provider    confined workers on this machine: one for files, started by the first call;
 *                     one for each command, with its plan
 *   local_provider_none     the same without confinement (level paths)
 *   local_provider_command  a worker behind the standard input and output of any command
 *
 * A worker that dies, hangs or misbehaves makes the calls under way fail with one clear error
 * (WORKER_LOST); the next call starts a fresh one.  A worker holds no lasting state: versions and
 * settings belong to the session, hashes to the caller.  A call whose request->cancel becomes true
 * returns CANCELLED immediately.
 *
 * Without a given level a worker is started at the strongest that the machine is believed to allow
 * (sandbox/apply/probe.h).  If the kernel then refuses that, the next weaker level is tried, and
 * info reports that level, with the kernel's error as the reason.  Level paths is used only where
 * the machine allows nothing else and that was reported from the start: no command runs unconfined
 * in a session that called itself confined, it is refused (DENIED_BY_SANDBOX). */
#ifndef HASP_WORKER_FRONT_OPEN_H
#define HASP_WORKER_FRONT_OPEN_H

#include "worker/local.h"

/* FILE_NOT_FOUND: there is no such program. Roots are checked and crashed transactions recovered
 * when it returns (that is the worker's first answer). */
bool local_provider(const struct worker_options *options, struct provider **ret, struct err *err);
/* The same without confinement. */
bool local_provider_none(const struct worker_options *options, struct provider **ret,
                         struct err *err);
/* `argv` NULL-terminated, copied: {"ssh", "host", "hasp", "worker", NULL}. No shell. Its standard
 * error is shown in errors (its last lines), never passed on raw. */
bool local_provider_command(const char *const *argv, const struct worker_options *options,
                            struct provider **ret, struct err *err);

/* local_provider_none where level paths is asked for, else local_provider. */
bool local_provider_open(const struct worker_options *options, struct provider **ret,
                         struct err *err);

#endif
