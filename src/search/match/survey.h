/* SPDX-License-Identifier: Apache-2.0 */
/* What has to be known of lines before they are given to the engine together. Private to this
 * folder. */
#ifndef HASP_SEARCH_MATCH_SURVEY_H
#define HASP_SEARCH_MATCH_SURVEY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

struct survey {
	bool ascii;     /* no byte beyond ASCII */
	bool has_cr;
	size_t longest; /* bytes of the longest line, with its LF */
};

struct survey survey_text(struct span text);

/* The same without vector instructions, for tests. */
struct survey survey_text_portable(struct span text);

#endif
