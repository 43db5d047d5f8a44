/* SPDX-License-Identifier: Apache-2.0 */
/* Names of levels. */
#include <string.h>

#include "base/mem.h"
#include "sandbox/plan/plan.h"

static const char *const names[] = {
	[SANDBOX_PATHS] = "paths",
	[SANDBOX_LANDLOCK] = "landlock",
	[SANDBOX_FULL] = "full",
};

const char *sandbox_level_name(enum sandbox_level level)
{
	return (unsigned)level < ARRAY_LEN(names) ? names[level] : "unknown";
}

bool sandbox_level_parse(const char *name, enum sandbox_level *ret)
{
	if (strcmp(name, "none") == 0)
		name = names[SANDBOX_PATHS];
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcmp(name, names[i]) == 0) {
			*ret = (enum sandbox_level)i;
			return true;
		}
	}
	return false;
}
