/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled schemas of a session. Private to this folder. */
#ifndef HASP_TOOL_SCHEMAS_H
#define HASP_TOOL_SCHEMAS_H

#include "data/schema.h"
#include "tool/set.h"

struct kept;

/* Of the tool's arguments; made at its first call. *ret is borrowed from the session or its set of
 * tools; NULL: any object will do. INTERNAL when a built-in tool's own text is no schema. From any
 * thread. */
bool session_schema(struct session *session, const struct tool *tool, struct schema **ret,
                    struct err *err);
/* All built-in tools: those of tool_at, then those of a conversation. */
size_t tool_builtin_count(void);
const struct tool *tool_builtin_at(size_t i);

/* The schema of a tool that was added to the set; false: it is none of those. */
bool tool_set_schema(const struct tool_set *set, const struct tool *tool, struct schema **ret);

#endif
