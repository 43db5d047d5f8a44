/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/local_defaults.h"

#include <stdlib.h>

#include "base/mem.h"

/* The end of the journal's path beneath the home folder. */
#define JOURNAL_BENEATH_HOME "/.gemini/tmp/hasp/journal"

char *local_journal_folder(void)
{
	static const char *const homes[] = { "GEMINI_CLI_HOME", "HOME" };

	for (size_t i = 0; i < ARRAY_LEN(homes); i++) {
		const char *home = getenv(homes[i]);

		if (home && home[0] == '/')
			return mem_printf("%s" JOURNAL_BENEATH_HOME, home);
	}
	return NULL;
}

bool local_provider_open(const struct worker_options *options, struct provider **ret, struct err *err)
{
	if (options->level_given && options->level == SANDBOX_PATHS)
		return provider_none(options, ret, err);
	return provider_local(options, ret, err);
}

char *local_sentences(const struct worker_options *options, enum sandbox_level level)
{
	if (level == SANDBOX_PATHS)
		return mem_strdup("WARNING: commands are not confined here (sandbox level paths): "
		                  "they can do all that the user can. Be careful.");
	return mem_printf("All is confined by the kernel (sandbox level %s): only the workspace "
	                  "can be written%s, credentials cannot be read, the network is %s. What is "
	                  "denied is told with what would allow it: ask the user, do not work "
	                  "around it.",
	                  sandbox_level_name(level),
	                  options->write_count ? " (and what the user added)" : "",
	                  options->network ? "on" : "off");
}
