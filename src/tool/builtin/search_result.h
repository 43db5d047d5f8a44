/* SPDX-License-Identifier: Apache-2.0 */
/* What search_files answers. Private to its files. */
#ifndef HASP_TOOL_BUILTIN_SEARCH_RESULT_H
#define HASP_TOOL_BUILTIN_SEARCH_RESULT_H

#include "tool/tool.h"

/* The forms of `output`. */
enum search_form {
	FORM_LINES,    /* "12:text", as grep prints */
	FORM_DETAILED, /* an object a line, with where the match is */
	FORM_FILES,
	FORM_COUNTS,
};

/* Adds what was found in another root: its files get the paths that other tools take, those that
 * are there already (of a root in a root) are dropped. `room`: false if only whether there is more
 * counts. `found` is used up. */
void search_result_add(struct session *session, struct search_result *into,
                       struct search_result *found, bool room);

/* The result object. `asked` is the request that was answered. */
json_t *search_result_json(struct session *session, const struct search_request *asked,
                           enum search_form form, const struct search_result *found);

/* What a reader should know about the result besides it: what is missing and how to get it.
 * NULL when there is nothing to say. */
json_t *search_message(const struct search_request *asked, enum search_form form,
                       const struct search_result *found);

#endif
