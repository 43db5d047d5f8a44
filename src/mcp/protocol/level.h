/* SPDX-License-Identifier: Apache-2.0 */
/* Levels of log messages by name (RFC 5424).  Private to this folder. */
#ifndef HASP_MCP_PROTOCOL_LEVEL_H
#define HASP_MCP_PROTOCOL_LEVEL_H

#include "mcp/protocol/server.h"

#define LEVEL_NAMES "debug, info, notice, warning, error, critical, alert, emergency"

/* -1 for what is no level; NULL is none. */
int level_of(const char *name);
const char *level_name(enum mcp_level level);

#endif
