/* SPDX-License-Identifier: Apache-2.0 */
/* What a stateless request says about itself in its _meta.  Private to this folder.
 *
 * Source: 2026-07-28, basic/index, "_meta", and basic/versioning.
 */
#ifndef HASP_MCP_PROTOCOL_STATELESS_H
#define HASP_MCP_PROTOCOL_STATELESS_H

#include "mcp/protocol/call.h"

/* Sets version, client and log_level of the call from its params._meta, and checks the headers
 * that go with them. */
bool stateless_open(struct mcp_call *call, struct refusal *refusal);

#endif
