/* SPDX-License-Identifier: Apache-2.0 */
/* Results as a version wants them.  Private to this folder.
 *
 * A handler's result is one for all versions; here it gains or loses what differs: no
 * structuredContent before 2025-06-18; resultType, serverInfo in _meta, ttlMs and cacheScope
 * from 2026-07-28 on.  What a handler has set itself stays.
 */
#ifndef HASP_MCP_PROTOCOL_RESULT_H
#define HASP_MCP_PROTOCOL_RESULT_H

#include "base/buf.h"
#include "mcp/protocol/version.h"

struct result_form {
	const struct version *version;
	bool tool;               /* a result of tools/call */
	bool complete;           /* of a kind that says so ("resultType": "complete") */
	const char *cache_scope; /* "public", "private"; NULL: the result is not cacheable */
	struct span server_info; /* JSON text of an object */
};

/* Appends the result, an object as JSON text on one line. False when it is none, or too long. */
bool result_write(struct buf *out, const struct result_form *form, struct span text);

#endif
