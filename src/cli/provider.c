/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/provider.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The end of the journal's path beneath the home folder. */
#define JOURNAL_BENEATH_HOME "/.gemini/tmp/hasp/journal"

const char **flag_values(const struct invocation *invocation, enum flag_id id, size_t *ret_count)
{
	const char **values = mem_alloc(invocation->flag_count + 2, sizeof(*values));

	*ret_count = 0;
	for (size_t i = 0; i < invocation->flag_count; i++)
		if (invocation->flags[i].id == id)
			values[(*ret_count)++] = invocation->flags[i].value;
	return values;
}

/* Where apply_changes keeps its journal; NULL when there is no home folder. The caller frees. */
static char *journal_folder(void)
{
	static const char *const homes[] = { "GEMINI_CLI_HOME", "HOME" };

	for (size_t i = 0; i < ARRAY_LEN(homes); i++) {
		const char *home = getenv(homes[i]);

		if (home && home[0] == '/')
			return mem_printf("%s" JOURNAL_BENEATH_HOME, home);
	}
	return NULL;
}

bool provider_from_flags(const struct invocation *invocation,
                         const struct inprocess_options *base, struct provider **ret,
                         struct err *err)
{
	const char *durability = invocation_value(invocation, FLAG_DURABILITY);
	_cleanup_free_ char *journal = journal_folder();
	struct inprocess_options options = *base;

	options.journal_folder = journal;
	options.durability = durability && strcmp(durability, "rename") == 0 ? DURABILITY_RENAME
	                                                                     : DURABILITY_FULL;
	return provider_inprocess(&options, ret, err);
}
