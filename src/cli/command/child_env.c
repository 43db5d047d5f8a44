/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/child_env.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static size_t count_of(const char *const *vars)
{
	size_t count = 0;

	while (vars[count])
		count++;
	return count;
}

static bool passes(const char *which, const char *variable)
{
	if (strcmp(which, "keep") == 0)
		return true;
	return environment_allows(variable) ||
	       (strcmp(which, "safe") == 0 && !environment_is_secret(variable));
}

void child_env_make(const char *which, const char *const *from,
                    const struct environment_options *options, struct child_env *ret)
{
	size_t total = count_of(from), kept = 0;

	which = which ? which : "safe";
	*ret = (struct child_env){ .withheld = mem_alloc(total + 1, sizeof(*ret->withheld)) };
	for (size_t i = 0; i < total; i++)
		if (!passes(which, from[i]))
			ret->withheld[ret->withheld_count++] = from[i];
	if (strcmp(which, "clean") == 0) {
		ret->clean = environment_for_command(from, options);
		from = (const char *const *)ret->clean;
		total = count_of(from);
	}
	ret->vars = mem_alloc(total + 1, sizeof(*ret->vars));
	for (size_t i = 0; i < total; i++)
		if (ret->clean || passes(which, from[i]))
			ret->vars[kept++] = from[i];
}

void child_env_release(struct child_env *env)
{
	free(env->vars);
	free(env->withheld);
	environment_free(env->clean);
	*env = (struct child_env){ 0 };
}
