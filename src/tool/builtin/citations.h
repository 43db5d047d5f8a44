/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of a grounded answer: numbers in its text, and a list.
 *
 * Which part of the text (in bytes of UTF-8) comes from which sources is in groundingSupports;
 * numbers go behind that part.  All of it is hostile: indices are held to the text, titles and
 * addresses to one line.
 */
#ifndef HASP_TOOL_BUILTIN_CITATIONS_H
#define HASP_TOOL_BUILTIN_CITATIONS_H

#include <jansson.h>

#include "tool/services.h"

/* "Answer [1][2].\n\nSources:\n[1] Title (https://...)\n"; a new reference. */
json_t *citations_text(const struct grounded *grounded);
/* [{"title", "url"}], in the order of their numbers; a new reference. */
json_t *citations_sources(const struct grounded *grounded);

/* clang-format off */
#define RESULT_SOURCES SCHEMA( \
	"sources": {"type": "array", "items": {"type": "object", "required": ["title", "url"], \
		"additionalProperties": false, \
		"properties": {"title": {"type": "string"}, "url": {"type": "string"}}}})
/* clang-format on */

#endif
