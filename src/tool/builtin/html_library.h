/* SPDX-License-Identifier: Apache-2.0 */
/* libxml2's HTML parser, loaded when a page is read and not before.  Private to html_text.c. */
#ifndef HASP_TOOL_BUILTIN_HTML_LIBRARY_H
#define HASP_TOOL_BUILTIN_HTML_LIBRARY_H

#include <libxml/HTMLparser.h>

#include "base/err.h"

/* Its functions, with the types that its header gives them. */
struct html_library {
	__typeof__(xmlInitParser) *init_parser;
	__typeof__(htmlCreatePushParserCtxt) *create_push_parser;
	__typeof__(htmlCtxtUseOptions) *use_options;
	__typeof__(htmlParseChunk) *parse_chunk;
	__typeof__(htmlFreeParserCtxt) *free_parser;
};

/* Loaded once for the process, from whichever thread asks first; NULL with INTERNAL and the package
 * to install when it cannot be. */
const struct html_library *html_library(struct err *err);

#endif
