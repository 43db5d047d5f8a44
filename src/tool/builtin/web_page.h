/* SPDX-License-Identifier: Apache-2.0 */
/* One page of the public web as text: fetched from this machine, with hard limits. */
#ifndef HASP_TOOL_BUILTIN_WEB_PAGE_H
#define HASP_TOOL_BUILTIN_WEB_PAGE_H

#include <jansson.h>

#include "tool/services.h"

enum {
	WEB_PAGE_MS = 10000,           /* all of a page has to come in so long */
	WEB_PAGE_BYTES = 10 << 20,
	WEB_PAGE_REDIRECTS = 5,
	WEB_PAGE_CHARACTERS = 250000,  /* shown of all pages of a call */
};

/* {"url", "content_type", "title", "content", "truncated"} with at most *characters of content,
 * which become fewer by those that were used; a new reference. NULL with *err: NETWORK_ERROR
 * (the server, or its status), TOO_LARGE, NOT_TEXT, DENIED_BY_SANDBOX (not a host of the public
 * internet), CANCELLED. */
json_t *web_page(struct tool_services *services, const char *url, size_t *characters,
                 struct err *err);

#endif
