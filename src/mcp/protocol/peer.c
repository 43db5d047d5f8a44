/* SPDX-License-Identifier: Apache-2.0 */
/* A peer from beneath: what is posted to the loop, batches, its life, what it is sent.  What it
 * receives is receive.c's. */
#include "mcp/protocol/peer.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/protocol/call.h"
#include "mcp/protocol/private.h"

/* ---- what waits to be sent --------------------------------------------------- */

struct outbox {
	struct loop_task task;
	struct loop *loop;
	pthread_mutex_t lock; /* guards the rest */
	struct post *first, **last;
	bool posted; /* the task is with the loop */
	bool closed;
};

static void outbox_free(struct outbox *outbox)
{
	pthread_mutex_destroy(&outbox->lock);
	free(outbox);
}

static void outbox_arrive(struct loop_task *task)
{
	struct outbox *outbox = (struct outbox *)task;
	bool closed;

	pthread_mutex_lock(&outbox->lock);
	outbox->posted = false;
	closed = outbox->closed;
	pthread_mutex_unlock(&outbox->lock);
	if (closed)
		outbox_free(outbox);
	else
		mcp_outbox_drain(outbox);
}

struct outbox *mcp_outbox_new(struct loop *loop)
{
	struct outbox *outbox = mem_alloc(1, sizeof(*outbox));

	outbox->task.run = outbox_arrive;
	outbox->loop = loop;
	outbox->last = &outbox->first;
	pthread_mutex_init(&outbox->lock, NULL);
	return outbox;
}

void mcp_outbox_post(struct outbox *outbox, struct post *post)
{
	bool wake;

	post->next = NULL;
	pthread_mutex_lock(&outbox->lock);
	*outbox->last = post;
	outbox->last = &post->next;
	wake = !outbox->posted;
	outbox->posted = true;
	/* Under the lock: the outbox may be closed as soon as the post is seen. */
	if (wake)
		loop_post(outbox->loop, &outbox->task);
	pthread_mutex_unlock(&outbox->lock);
}

void mcp_outbox_drain(struct outbox *outbox)
{
	struct post *post;

	pthread_mutex_lock(&outbox->lock);
	post = outbox->first;
	outbox->first = NULL;
	outbox->last = &outbox->first;
	pthread_mutex_unlock(&outbox->lock);
	while (post) {
		struct post *next = post->next;

		post->run(post);
		post = next;
	}
}

bool mcp_outbox_empty(struct outbox *outbox)
{
	bool empty;

	pthread_mutex_lock(&outbox->lock);
	empty = !outbox->first;
	pthread_mutex_unlock(&outbox->lock);
	return empty;
}

void mcp_outbox_close(struct outbox *outbox)
{
	bool posted;

	mcp_outbox_drain(outbox);
	pthread_mutex_lock(&outbox->lock);
	outbox->closed = true;
	posted = outbox->posted;
	pthread_mutex_unlock(&outbox->lock);
	if (!posted)
		outbox_free(outbox);
}

/* ---- batches ----------------------------------------------------------------- */

struct message_batch {
	struct mcp_peer *peer;
	struct mcp_exchange *exchange;
	size_t waiting; /* requests not answered yet, and one while they are being taken */
	bool expected;  /* there was a request */
	bool abandoned;
	struct buf out;
};

struct message_batch *peer_batch_new(struct mcp_peer *peer, struct mcp_exchange *exchange)
{
	struct message_batch *batch = mem_alloc(1, sizeof(*batch));

	batch->peer = peer;
	batch->exchange = exchange;
	batch->waiting = 1;
	batch->out.max = LIMIT_RESULT_BYTES;
	peer_hold(peer);
	return batch;
}

void peer_batch_expect(struct message_batch *batch)
{
	batch->expected = true;
	batch->waiting++;
}

static void batch_add_answer(struct message_batch *batch, struct span answer)
{
	buf_char(&batch->out, batch->out.len ? ',' : '[');
	buf_span(&batch->out, answer);
	peer_batch_forget(batch);
}

void peer_batch_forget(struct message_batch *batch)
{
	struct mcp_peer *peer = batch->peer;

	if (--batch->waiting)
		return;
	if (!batch->abandoned) {
		if (batch->out.len)
			buf_char(&batch->out, ']');
		if (batch->out.len || (batch->expected && batch->exchange))
			peer_send(batch->peer, MCP_ROUTE_FINAL, batch->exchange,
			          buf_view(&batch->out), 0);
	}
	buf_release(&batch->out);
	free(batch);
	peer_unhold(peer);
}

void peer_batch_abandon(struct message_batch *batch)
{
	batch->abandoned = true;
}

/* --- Life ------------------------------------------------------------------------------ */

struct mcp_peer *mcp_peer_open(struct mcp_server *server, const struct mcp_wire *wire, void *data)
{
	struct mcp_peer *peer = mem_alloc(1, sizeof(*peer));

	peer->server = server;
	peer->wire = *wire;
	peer->wire_data = data;
	peer->log_level = MCP_INFO;
	peer->spare.max = LIMIT_RESULT_BYTES;
	idmap_init(&peer->calls, server->map_key);
	idmap_init(&peer->asks, server->map_key);
	peer->at = &server->peers;
	peer->next = server->peers;
	if (peer->next)
		peer->next->at = &peer->next;
	server->peers = peer;
	return peer;
}

void peer_hold(struct mcp_peer *peer)
{
	peer->holds++;
}

/* Frees the peer once nothing refers to it. */
static void peer_settle(struct mcp_peer *peer)
{
	if (!peer->closed || peer->holds)
		return;
	if (peer->server) {
		/* The last call of a peer that is closed has finished. */
		const struct mcp_offer *offer = peer->server->offer;

		*peer->at = peer->next;
		if (peer->next)
			peer->next->at = peer->at;
		if (peer->session_started && offer->end)
			offer->end(peer->session);
		peer->server = NULL;
	}
	if (!peer->released)
		return;
	idmap_release(&peer->calls);
	idmap_release(&peer->asks);
	buf_release(&peer->spare);
	json_decref(peer->client);
	free(peer);
}

void peer_unhold(struct mcp_peer *peer)
{
	peer->holds--;
	peer_settle(peer);
}

void peer_begin_session(struct mcp_peer *peer)
{
	const struct mcp_offer *offer = peer->server->offer;
	struct mcp_session_info info = { .server = peer->server, .peer = peer };

	peer->session_started = true;
	if (offer->begin)
		peer->session = offer->begin(offer->data, &info);
}

void *peer_shared_session(struct mcp_server *server)
{
	const struct mcp_offer *offer = server->offer;
	struct mcp_session_info info = { .stateless = true, .server = server };

	if (!server->shared_started && offer->begin)
		server->shared = offer->begin(offer->data, &info);
	server->shared_started = true;
	return server->shared;
}

/* --- Out ------------------------------------------------------------------------------- */

void peer_send(struct mcp_peer *peer, enum mcp_route route, struct mcp_exchange *exchange,
               struct span text, int error_code)
{
	struct mcp_outgoing message = { .route = route, .exchange = exchange, .text = text,
		.error_code = error_code };

	if (!peer->closed)
		peer->wire.send(peer->wire_data, &message);
}

void peer_answer(struct mcp_peer *peer, struct mcp_exchange *exchange, struct message_batch *batch,
                 struct span text, int error_code)
{
	if (batch)
		batch_add_answer(batch, text);
	else
		peer_send(peer, MCP_ROUTE_FINAL, exchange, text, error_code);
}

/* --- What it is ---------------------------------------------------------------------------- */

size_t mcp_peer_calls(const struct mcp_peer *peer)
{
	return peer->calls.count - peer->listens;
}

bool mcp_peer_initialized(const struct mcp_peer *peer)
{
	return peer->version != NULL;
}

const char *mcp_peer_version(const struct mcp_peer *peer)
{
	return peer->version ? peer->version->name : NULL;
}
