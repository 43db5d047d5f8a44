/* SPDX-License-Identifier: Apache-2.0 */
/* The members of an object that is JSON text.  Private to this folder.
 *
 *     struct members members = { .rest = text };
 *     while (members_next(&members, &key, &value)) ...
 *
 * For text that hasp's own tools wrote: well-formed, or members_next says false too early.
 */
#ifndef HASP_MCP_PROTOCOL_MEMBERS_H
#define HASP_MCP_PROTOCOL_MEMBERS_H

#include <stdbool.h>

#include "base/span.h"

struct members {
	struct span rest; /* from the object's brace on, then from the end of the last member */
};

/* The key without its quotation marks, as it was written; the text of the value. */
bool members_next(struct members *members, struct span *ret_key, struct span *ret_value);

/* Whether the text ended where the object did (otherwise it is not well-formed). */
bool members_ended(const struct members *members);

#endif
