/* SPDX-License-Identifier: Apache-2.0 */
/* Content-Type and Accept (RFC 9110, sections 8.3 and 12.5.1). Pure functions. */
#ifndef HASP_NET_HTTP_MEDIA_TYPE_H
#define HASP_NET_HTTP_MEDIA_TYPE_H

#include <stdbool.h>

/* Whether a Content-Type names `type` ("application/json"), whatever its parameters. */
bool http_content_type_is(const char *content_type, const char *type);

/* Whether an Accept admits `type`: by name, by "application" and an asterisk, or by two of
 * them, with a weight above 0; the most specific one decides.  NULL or empty: everything. */
bool http_accepts(const char *accept, const char *type);

#endif
