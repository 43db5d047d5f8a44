/* SPDX-License-Identifier: Apache-2.0 */
/* What the settings say of the environment of commands and hooks. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/setup/prepare.h"
#include "base/mem.h"
#include "data/json.h"

#define REDACTION "security.environmentVariableRedaction."

/* NAME=VALUE of those that are set, here or in .env; NULL-terminated. */
static char **values_of(const struct settings *settings, const json_t *names)
{
	char **more = mem_alloc(json_array_size(names) + 1, sizeof(*more));
	size_t i, count = 0;
	json_t *name;

	json_array_foreach((json_t *)names, i, name) {
		const char *text = json_string_value(name);
		const char *value = text ? variables_get(settings_variables(settings), text) : NULL;

		if (value && !strchr(text, '='))
			more[count++] = mem_printf("%s=%s", text, value);
	}
	return more;
}

static const char **strings_in(const json_t *names)
{
	const char **texts = mem_alloc(json_array_size(names) + 1, sizeof(*texts));
	size_t i, count = 0;
	json_t *name;

	json_array_foreach((json_t *)names, i, name)
		if (json_string_length(name))
			texts[count++] = json_string_value(name);
	return texts;
}

void setup_command_env_init(struct command_env *env, const struct settings *settings)
{
	const char *pager = settings_string(settings, "tools.shell.pager", "cat");

	*env = (struct command_env){
		.more = values_of(settings, settings_get(settings, REDACTION "allowed")),
		.blocked = strings_in(settings_get(settings, REDACTION "blocked")),
	};
	env->options = (struct environment_options){
		.level = SANDBOX_PATHS,
		.pager = strcmp(pager, "cat") == 0 ? NULL : pager,
		.more = (const char *const *)env->more,
		.blocked = env->blocked,
	};
	env->usual = !env->options.pager && !env->more[0] && !env->blocked[0];
}

void setup_command_env_release(struct command_env *env)
{
	environment_free(env->more);
	free(env->blocked);
	*env = (struct command_env){ 0 };
}

char **prepare_environment(const struct settings *settings)
{
	struct command_env own;
	char **env;

	setup_command_env_init(&own, settings);
	env = environment_for_command((const char *const *)environ, &own.options);
	setup_command_env_release(&own);
	return env;
}
