/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled schemas of a session. Private to this folder. */
#ifndef HASP_TOOL_SCHEMAS_H
#define HASP_TOOL_SCHEMAS_H

#include "data/schema.h"
#include "tool/tool.h"

/* Of the tool's arguments; made at its first call. Borrowed from the session; NULL with
 * INTERNAL when the tool's own text is no schema. From any thread. */
struct schema *session_schema(struct session *session, const struct tool *tool, struct err *err);

#endif
