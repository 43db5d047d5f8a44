/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/server.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/random.h"
#include "mcp/protocol/private.h"

struct mcp_server *mcp_server_new(struct loop *loop, struct pool *pool,
                                  const struct mcp_offer *offer, struct err *err)
{
	struct mcp_server *server = mem_alloc(1, sizeof(*server));

	if (!random_fill(server->key.bytes, sizeof(server->key.bytes), err) ||
	    !random_fill(&server->map_key, sizeof(server->map_key), err)) {
		free(server);
		return NULL;
	}
	server->loop = loop;
	server->pool = pool;
	server->offer = offer;
	server->outbox = mcp_outbox_new(loop);
	server->empty = json_object();
	server->empty->refcount = (size_t)-1; /* jansson's mark for objects without a reference
	                                       * count */
	server->catalog = catalog_new(offer, server->map_key);
	idmap_init(&server->watches, server->map_key);
	pthread_mutex_init(&server->lock, NULL);
	pthread_cond_init(&server->idle, NULL);
	return server;
}

void mcp_server_free(struct mcp_server *server)
{
	if (!server)
		return;
	/* Ends what every peer waits for, hangs up its transport, and lets no more in. */
	for (struct mcp_peer *peer = server->peers, *next; peer; peer = next) {
		peer_hold(peer);
		if (!peer->closed) {
			mcp_peer_end_waits(peer);
			if (!peer->closed && peer->wire.hang_up)
				peer->wire.hang_up(peer->wire_data);
		}
		mcp_peer_shut(peer);
		next = peer->next;
		peer_unhold(peer);
	}
	/* A handler may have been about to ask when its call was cancelled: it waits until it
	 * learns that there will be no answer (ask.c signals `idle` after such a post). */
	pthread_mutex_lock(&server->lock);
	while (server->running) {
		if (mcp_outbox_empty(server->outbox)) {
			pthread_cond_wait(&server->idle, &server->lock);
			continue;
		}
		pthread_mutex_unlock(&server->lock);
		mcp_outbox_drain(server->outbox);
		pthread_mutex_lock(&server->lock);
	}
	pthread_mutex_unlock(&server->lock);
	mcp_outbox_close(server->outbox);
	if (server->shared_started && server->offer->end)
		server->offer->end(server->shared);
	catalog_free(server->catalog);
	server->empty->refcount = 1;
	json_decref(server->empty);
	idmap_release(&server->watches);
	pthread_mutex_destroy(&server->lock);
	pthread_cond_destroy(&server->idle);
	free(server);
}
