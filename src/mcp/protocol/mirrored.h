/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of a stateless HTTP request that repeat what its body says.  Private to this folder.
 *
 * Source: 2026-07-28, basic/transports/streamable-http, "Request Metadata".
 */
#ifndef HASP_MCP_PROTOCOL_MIRRORED_H
#define HASP_MCP_PROTOCOL_MIRRORED_H

#include "mcp/protocol/call.h"
#include "mcp/protocol/catalog.h"

/* The arguments whose schema has a valid x-mcp-header; `*ret` is freed with mirrored_free. */
void mirrored_find(const json_t *schema, struct mirrored **ret, size_t *ret_count);
void mirrored_free(struct mirrored *mirrored, size_t count);

/* Whether the headers of the call's exchange agree with its body: MCP-Protocol-Version alone;
 * then, once the version is known to be one of ours, the others. */
bool mirrored_check_version(const struct mcp_call *call, const char *version,
                            struct refusal *refusal);
bool mirrored_check_method(const struct mcp_call *call, struct refusal *refusal);
bool mirrored_check_name(const struct mcp_call *call, const char *name, struct refusal *refusal);
bool mirrored_check_arguments(const struct mcp_call *call, const struct tool_entry *tool,
                              struct refusal *refusal);

#endif
