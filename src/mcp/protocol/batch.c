/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/batch.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/protocol/private.h"

struct batch {
	struct mcp_peer *peer;
	struct mcp_exchange *exchange;
	size_t waiting; /* requests not answered yet, and one while they are being taken */
	bool expected;  /* there was a request */
	bool abandoned;
	struct buf out;
};

struct batch *batch_new(struct mcp_peer *peer, struct mcp_exchange *exchange)
{
	struct batch *batch = mem_alloc(1, sizeof(*batch));

	batch->peer = peer;
	batch->exchange = exchange;
	batch->waiting = 1;
	batch->out.max = LIMIT_RESULT_BYTES;
	peer_hold(peer);
	return batch;
}

void batch_expect(struct batch *batch)
{
	batch->expected = true;
	batch->waiting++;
}

void batch_add(struct batch *batch, struct span answer)
{
	buf_char(&batch->out, batch->out.len ? ',' : '[');
	buf_span(&batch->out, answer);
	batch_forget(batch);
}

static void send_all(struct batch *batch)
{
	if (batch->out.len)
		buf_char(&batch->out, ']');
	if (batch->out.len || (batch->expected && batch->exchange))
		peer_send(batch->peer, MCP_ROUTE_FINAL, batch->exchange, buf_view(&batch->out), 0);
}

void batch_forget(struct batch *batch)
{
	struct mcp_peer *peer = batch->peer;

	if (--batch->waiting)
		return;
	if (!batch->abandoned)
		send_all(batch);
	buf_release(&batch->out);
	free(batch);
	peer_unhold(peer);
}

void batch_release(struct batch *batch)
{
	batch_forget(batch);
}

void batch_abandon(struct batch *batch)
{
	batch->abandoned = true;
}
