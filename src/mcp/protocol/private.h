/* SPDX-License-Identifier: Apache-2.0 */
/* The server and its peers from the inside.  Private to this folder. */
#ifndef HASP_MCP_PROTOCOL_PRIVATE_H
#define HASP_MCP_PROTOCOL_PRIVATE_H

#include <pthread.h>

#include "base/sha256.h"
#include "mcp/protocol/call.h"
#include "mcp/protocol/catalog.h"
#include "mcp/protocol/watch.h"

struct mcp_server {
	struct loop *loop;
	struct pool *pool;
	const struct mcp_offer *offer;
	struct outbox *outbox;
	struct catalog *catalog;
	struct sha256 key;      /* random; signs requestState */
	uint64_t map_key;       /* random; of the maps */
	json_t *empty;          /* {} for what is absent */
	struct mcp_peer *peers; /* all that are open */
	struct idmap watches;   /* by URI (watch.h) */
	void *shared;           /* the session of stateless clients */
	bool shared_begun;
	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t idle;
	size_t running; /* calls that the pool has */
};

struct mcp_peer {
	struct mcp_server *server; /* NULL once it is gone */
	struct mcp_peer *next, **at; /* among the server's */
	struct mcp_wire wire;
	void *wire_data;
	size_t holds;        /* by calls, and by functions that are running */
	bool closed;         /* nothing is sent or received any more */
	bool released;       /* the transport has let go of it */
	bool input_ended;    /* no answers to questions will come */
	struct idmap calls;  /* by id */
	size_t listens;      /* of these, subscriptions */
	size_t bytes;        /* of all its calls */
	size_t arrived;      /* bytes of the text that is being received; 0: unknown */
	struct idmap asks;   /* by id (ask.h) */
	_Atomic int64_t last_ask; /* id of the latest; from any thread */
	struct buf spare;    /* memory for the line of the next call on the loop's thread */

	/* With initialize. */
	const struct version *version; /* NULL before */
	json_t *client;                /* its capabilities */
	void *session;
	bool session_begun, ready;
	_Atomic int log_level;
	struct watch_list watches; /* what it subscribed to */
};

/* Sends a message, unless the peer is closed. */
void peer_send(struct mcp_peer *peer, enum mcp_route route, struct mcp_exchange *exchange,
               struct span text, int error_code);
/* Sends an answer, or adds it to its batch. */
void peer_answer(struct mcp_peer *peer, struct mcp_exchange *exchange, struct batch *batch,
                 struct span text, int error_code);

/* Keep it, and let go of it: it may be freed then. */
void peer_hold(struct mcp_peer *peer);
void peer_unhold(struct mcp_peer *peer);
/* Ends what needs a client: nothing is sent or received from now on. */
void peer_shut(struct mcp_peer *peer);
/* Answers subscriptions with their result; gives up questions. */
void peer_end_waits(struct mcp_peer *peer);

/* Begins the session of a client that has initialized. */
void peer_begin_session(struct mcp_peer *peer);
/* The session of stateless clients; begins it when it is the first. */
void *server_shared_session(struct mcp_server *server);

#endif
