/* SPDX-License-Identifier: Apache-2.0 */
/* The first message of a conversation: where and when it takes place, and what the project's files of
 * instructions say.
 *
 * It stands before the history, also after a compaction, and is made anew for each session, resumed ones too;
 * it is not recorded.
 */
#ifndef HASP_AGENT_FACTS_H
#define HASP_AGENT_FACTS_H

#include <time.h>

#include "agent/memory.h"

struct facts_options {
	const struct settings *settings;
	struct provider *provider;
	const struct memory *memory;     /* may be NULL */
	const char *temp_folder;         /* where outputs are kept; or NULL */
	time_t now;
};

/* The text, for content_user_text; the caller frees. The tree of files (context.includeDirectoryTree) has at
 * most 200 lines; names in it are escaped. */
char *facts_text(const struct facts_options *options);

#endif
