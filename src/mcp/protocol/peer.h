/* SPDX-License-Identifier: Apache-2.0 */
/* One client of a server, as a transport sees it.  For transports (stdio.c, http.c).
 *
 *     struct mcp_peer *peer = mcp_peer_open(server, &wire, wire_data);
 *     mcp_peer_receive(peer, exchange, &message);      for every message that arrives
 *     mcp_peer_abandon(peer, exchange);                its stream was closed by the client
 *     mcp_peer_close(peer);
 *
 * An exchange is what a message arrived on and its answers leave on: an HTTP request.  A
 * connection that is one stream for everything (stdio) passes NULL.  The peer never looks
 * into it; it stays valid until the message's final answer was sent on it, or until the
 * transport abandons it.
 *
 * All functions run on the loop's thread.  `send` of a FINAL may call back into any of them,
 * also mcp_peer_close; of other messages, into none.  When the server is freed first, its
 * peers are silent from then on, and wait only for mcp_peer_close.
 */
#ifndef HASP_MCP_PROTOCOL_PEER_H
#define HASP_MCP_PROTOCOL_PEER_H

#include "mcp/protocol/server.h"
#include "net/rpc/rpc.h"

struct mcp_peer;
struct mcp_exchange; /* the transport's own */

/* Which way a message goes out. */
enum mcp_route {
	MCP_ROUTE_FINAL,     /* answers the exchange; nothing follows on it */
	MCP_ROUTE_RELATED,   /* belongs to the exchange, which goes on: progress, log, a question */
	MCP_ROUTE_UNRELATED, /* belongs to none (exchange is NULL): list changes, pings */
};

struct mcp_outgoing {
	enum mcp_route route;
	struct mcp_exchange *exchange;
	/* The message, one line without its end; borrowed for the call. Empty in a FINAL of
	 * an exchange whose request was cancelled by notifications/cancelled: the exchange ends
	 * without an answer. */
	struct span text;
	int error_code; /* of an error response, for the transport's status; else 0 */
};

/* What a transport does for a peer. */
struct mcp_wire {
	void (*send)(void *data, const struct mcp_outgoing *message);
	/* A header of the HTTP request, or NULL if it has none; the function is NULL where
	 * there are no headers. */
	const char *(*header)(void *data, struct mcp_exchange *exchange, const char *name);
	/* Ends the stream of an exchange early, asking the client to come back after
	 * `retry_ms`; its remaining messages are kept for then. NULL: cannot. */
	void (*close_stream)(void *data, struct mcp_exchange *exchange, unsigned retry_ms);
	/* The protocol is broken or over: the transport closes the peer soon. May be NULL. */
	void (*hang_up)(void *data);
	bool stateless; /* the peer serves one exchange of a stateless client (HTTP, 2026) */
};

/* Never NULL. */
struct mcp_peer *mcp_peer_open(struct mcp_server *server, const struct mcp_wire *wire, void *data);
/* Cancels its calls; nothing is sent from now on. Freed when the last handler is done. */
void mcp_peer_close(struct mcp_peer *peer);

/* Takes a message over. What it may not be answered is ignored. Every request gets exactly
 * one FINAL message on its exchange, now or later; a notification or response gets none. */
void mcp_peer_receive(struct mcp_peer *peer, struct mcp_exchange *exchange,
                      struct rpc_message *message);
/* Takes a line of text: JSON-RPC message, or batch where the version has them; answers what
 * cannot be read. For stream transports. */
void mcp_peer_receive_text(struct mcp_peer *peer, struct span text);
/* The same for the body of an HTTP request: a batch is answered by one FINAL. Returns whether
 * a FINAL will be sent on the exchange, or was already (not for notifications, responses and
 * batches of nothing else). */
bool mcp_peer_receive_body(struct mcp_peer *peer, struct mcp_exchange *exchange,
                           struct span text);
/* A line longer than LIMIT_MESSAGE_BYTES, with its beginning: answers with an error. */
void mcp_peer_receive_too_long(struct mcp_peer *peer, struct span beginning);
/* The client closed the exchange: its calls are cancelled, and it is not used again. */
void mcp_peer_abandon(struct mcp_peer *peer, struct mcp_exchange *exchange);

/* No more messages will come, but answers can still be sent (end of input): questions to the
 * client are given up, subscriptions end with their result, calls go on. */
void mcp_peer_finish(struct mcp_peer *peer);

/* Calls that will be answered and are not yet; subscriptions are not counted. Requests past
 * LIMIT_PEER_CALLS of them, or LIMIT_PEER_BYTES of text, are answered with an error, so a
 * transport need not stop reading (if it does, then not the answers to questions that calls
 * are waiting for). */
size_t mcp_peer_calls(const struct mcp_peer *peer);
/* Whether initialize has been answered. */
bool mcp_peer_initialized(const struct mcp_peer *peer);
/* "2025-11-25", or NULL before initialize. */
const char *mcp_peer_version(const struct mcp_peer *peer);

/* Whether a message is of the stateless kind: its _meta has a protocolVersion that is not one
 * of the versions with initialize. So it may be an unknown one, or no string at all: the peer
 * answers that. */
bool mcp_message_is_stateless(const struct rpc_message *message);
bool mcp_version_is_known(const char *version);

#endif
