/* SPDX-License-Identifier: Apache-2.0 */
/* Which ignore files count in a walk or search. */
#ifndef HASP_SEARCH_RULES_RULES_H
#define HASP_SEARCH_RULES_RULES_H

#include <stdbool.h>
#include <stddef.h>

struct walk_rules {
	bool no_git_ignore;    /* not .gitignore, .git/info/exclude, nor the global file */
	bool no_gemini_ignore; /* not .geminiignore */
	bool hidden_out;       /* leave out names that begin with '.' */
	/* Further names of ignore files (".ignore"), which count in every folder, as .gitignore
	 * does, and decide over git's; later names decide over earlier ones. */
	const char *const *ignore_files;
	size_t ignore_file_count;
};

#endif
