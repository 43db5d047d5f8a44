/* SPDX-License-Identifier: Apache-2.0 */
/* The first message of a conversation: where and when it takes place, and what the project's files of
 * instructions say.
 *
 * It stands before the history.  It is made once, and again by a compaction; what changes is told at the end
 * (told.h).
 */
#ifndef HASP_AGENT_PROMPT_FACTS_H
#define HASP_AGENT_PROMPT_FACTS_H

#include <time.h>

#include "agent/prompt/memory.h"

struct facts_options {
	const struct settings *settings;
	struct provider *provider;
	const struct memory *memory;     /* may be NULL */
	const char *temp_folder;         /* where outputs are kept; or NULL */
	const char *mode;                /* prompt_mode_text; or NULL */
	time_t now;
};

/* Its pieces (told.h), a new reference. The tree of files (context.includeDirectoryTree) has at most 200
 * lines; names in it are escaped. */
json_t *facts_pieces(const struct facts_options *options);
/* The piece that has the date; the caller frees. */
char *facts_date(time_t now);

#endif
