/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/version.h"

#include <string.h>

#include "base/mem.h"
#include "mcp/protocol/server.h"
#include "net/rpc/rpc.h"

static const struct version versions[] = {
	{ .name = "2026-07-28", .stateless = true, .tools = TOOL_WHOLE, .structured = true,
	  .completions = true, .progress_message = true, .titles = true, .website = true,
	  .elicitation = true, .elicitation_url = true, .result_type = true,
	  .not_found = RPC_INVALID_PARAMS },
	{ .name = "2025-11-25", .tools = TOOL_WHOLE, .structured = true, .completions = true,
	  .progress_message = true, .titles = true, .website = true, .elicitation = true,
	  .elicitation_url = true, .not_found = MCP_RESOURCE_NOT_FOUND },
	{ .name = "2025-06-18", .tools = TOOL_WHOLE, .structured = true, .completions = true,
	  .progress_message = true, .titles = true, .elicitation = true,
	  .not_found = MCP_RESOURCE_NOT_FOUND },
	{ .name = "2025-03-26", .batches = true, .tools = TOOL_ANNOTATED, .completions = true,
	  .progress_message = true, .not_found = MCP_RESOURCE_NOT_FOUND },
	{ .name = "2024-11-05", .batches = true, .tools = TOOL_PLAIN,
	  .not_found = MCP_RESOURCE_NOT_FOUND },
};

const struct version *version_at(size_t i)
{
	return i < ARRAY_LEN(versions) ? &versions[i] : NULL;
}

const struct version *version_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		if (strcmp(versions[i].name, name) == 0)
			return &versions[i];
	}
	return NULL;
}

const struct version *version_latest(bool stateless)
{
	const struct version *version = versions;

	while (version->stateless != stateless)
		version++;
	return version;
}
