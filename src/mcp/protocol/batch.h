/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to a JSON-RPC batch, which leave together.  Private to this folder.
 *
 *     batch = batch_new(peer, exchange);
 *     each request:  batch_expect(batch); ... later batch_add or batch_forget
 *     batch_release(batch);       when all requests have been taken
 */
#ifndef HASP_MCP_PROTOCOL_BATCH_H
#define HASP_MCP_PROTOCOL_BATCH_H

#include "mcp/protocol/peer.h"

struct batch *batch_new(struct mcp_peer *peer, struct mcp_exchange *exchange);
void batch_expect(struct batch *batch);
void batch_add(struct batch *batch, struct span answer);
void batch_forget(struct batch *batch);
void batch_release(struct batch *batch);
/* The exchange is gone. */
void batch_abandon(struct batch *batch);

#endif
