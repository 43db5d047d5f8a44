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

/* The result object. `asked` is the request that was answered. */
json_t *search_result_json(struct session *session, const struct search_request *asked,
                           enum search_form form, const struct search_result *found);

/* What a reader should know about the result besides it: what is missing and how to get it.
 * NULL when there is nothing to say. */
json_t *search_message(const struct search_request *asked, enum search_form form,
                       const struct search_result *found);

#endif
