/* SPDX-License-Identifier: Apache-2.0 */
/* What the settings say of the environment of commands and hooks: variables that they get all the same
 * or do not get (security.environmentVariableRedaction), the pager (tools.shell.pager).
 *
 *     struct command_env env;
 *     command_env_init(&env, settings);
 *     vars = environment_for_command(environ, &env.options);
 *     command_env_release(&env);
 *
 * What else they see is in worker/environment.h.
 */
#ifndef HASP_AGENT_SETUP_COMMAND_ENV_H
#define HASP_AGENT_SETUP_COMMAND_ENV_H

#include <stdbool.h>

#include "config/settings.h"
#include "worker/environment.h"

struct command_env {
	struct environment_options options; /* of pipes, at level paths */
	bool usual;                         /* the settings say nothing: any worker's own serves */
	char **more;                        /* owned; what options.more borrows */
	const char **blocked;               /* owned array; the names are the settings' */
};

/* `settings` must outlive it. */
void command_env_init(struct command_env *env, const struct settings *settings);
void command_env_release(struct command_env *env);

#endif
