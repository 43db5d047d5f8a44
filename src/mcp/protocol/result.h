/* SPDX-License-Identifier: Apache-2.0 */
/* Results as a version wants them.
 *
 * A handler's result is one for all versions; here it gains or loses what differs: no
 * structuredContent before 2025-06-18; resultType, serverInfo in _meta, ttlMs and cacheScope
 * from 2026-07-28 on.  What a handler has set itself stays.
 */
#ifndef HASP_MCP_PROTOCOL_RESULT_H
#define HASP_MCP_PROTOCOL_RESULT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"
#include "mcp/protocol/version.h"

/* ---- results ----------------------------------------------------------------- */

struct result_form {
	const struct version *version;
	bool tool;               /* a result of tools/call */
	bool complete;           /* of a kind that says so ("resultType": "complete") */
	const char *cache_scope; /* "public", "private"; NULL: the result is not cacheable */
	struct span server_info; /* JSON text of an object */
};

/* Appends the result, an object as JSON text on one line. False when it is none, or too long. */
bool result_write(struct buf *out, const struct result_form *form, struct span text);

/* ---- members of a text ------------------------------------------------------- */

/* The members of an object that is JSON text.
 *
 *     struct members members = { .rest = text };
 *     while (result_member_next(&members, &key, &value)) ...
 *
 * For text that hasp's own tools wrote: well-formed, or result_member_next says false too early.
 */

struct members {
	struct span rest; /* from the object's brace on, then from the end of the last member */
};

/* The key without its quotation marks, as it was written; the text of the value. */
bool result_member_next(struct members *members, struct span *ret_key, struct span *ret_value);

/* Whether the text ended where the object did (otherwise it is not well-formed). */
bool result_members_ended(const struct members *members);

#endif
