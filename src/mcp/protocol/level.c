/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/level.h"

#include <string.h>

int level_of(const char *name)
{
	for (enum mcp_level level = MCP_DEBUG; name && level <= MCP_EMERGENCY; level++) {
		if (strcmp(level_name(level), name) == 0)
			return (int)level;
	}
	return -1;
}

const char *level_name(enum mcp_level level)
{
	static const char *const names[] = {
		[MCP_DEBUG] = "debug",     [MCP_INFO] = "info",
		[MCP_NOTICE] = "notice",   [MCP_WARNING] = "warning",
		[MCP_ERROR] = "error",     [MCP_CRITICAL] = "critical",
		[MCP_ALERT] = "alert",     [MCP_EMERGENCY] = "emergency",
	};

	return names[level];
}
