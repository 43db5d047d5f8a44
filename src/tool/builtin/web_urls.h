/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses in a prompt. */
#ifndef HASP_TOOL_BUILTIN_WEB_URLS_H
#define HASP_TOOL_BUILTIN_WEB_URLS_H

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"

enum { WEB_URLS_MAX = 20, WEB_URL_BYTES_MAX = 8192 };

/* The http and https addresses of a text, each once, in order, as they are to be fetched: without
 * fragments, and files shown on GitHub as the files themselves.  `out` gets the text with these
 * in their place.  A new array; NULL: INVALID_ARGUMENT, there is none, or there are more than
 * WEB_URLS_MAX, or one is too long, is of another scheme or carries a password. */
json_t *web_urls(struct span prompt, struct buf *out, struct err *err);
/* The same of one address alone. The caller frees; NULL: INVALID_ARGUMENT. */
char *web_url(struct span text, struct err *err);
/* The host of such an address, without a port, in lower case. The caller frees. */
char *web_host(const char *url);

#endif
