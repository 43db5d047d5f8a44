/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a command that a person runs with `hasp sandbox`.
 *
 *   safe    the person's own, without what looks like a secret and is not known to be none
 *   keep    all of it
 *   clean   what commands of models get
 *
 * What looks like a secret, and what commands of models get, is in worker/environment.h.  This
 * keeps secrets from leaking by accident; it is not a boundary.
 */
#ifndef HASP_CLI_COMMAND_CHILD_ENV_H
#define HASP_CLI_COMMAND_CHILD_ENV_H

#include "worker/environment.h"

struct child_env {
	const char **vars;     /* owned array, NULL-terminated; the strings are borrowed */
	const char **withheld; /* owned array of borrowed NAME=VALUE */
	size_t withheld_count;
	char **clean;          /* owned; what `vars` points to, if it was made */
};

/* `which`: NULL is "safe". `from`: what to choose from; borrowed until the release. */
void child_env_make(const char *which, const char *const *from,
                    const struct environment_options *options, struct child_env *ret);
void child_env_release(struct child_env *env);
#define _cleanup_child_env_ __attribute__((cleanup(child_env_release)))

#endif
