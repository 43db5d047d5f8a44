/* SPDX-License-Identifier: Apache-2.0 */
/* file: URIs and paths (RFC 8089; RFC 3986 for the escapes).
 *
 * Not here: whether a path lies in the workspace (file/workspace.h).
 */
#ifndef HASP_MCP_OFFER_URI_H
#define HASP_MCP_OFFER_URI_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* The absolute path that the URI names; the caller frees *ret.  file:/path, file:///path and
 * file://localhost/path; a query or fragment is not a part of the path.  INVALID_ARGUMENT:
 * another scheme or host, a path that is not absolute, a broken escape, an escaped NUL, or
 * longer than LIMIT_PATH_BYTES. */
bool uri_to_path(const char *uri, char **ret, struct err *err);

/* Appends "file://" and the absolute path, with all but unreserved characters and '/' as %XX:
 * a path has exactly one such URI. */
bool uri_from_path(struct buf *out, const char *path);

#endif
