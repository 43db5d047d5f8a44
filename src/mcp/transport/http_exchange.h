/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP transport from the inside.  Private to this folder.
 *
 * An exchange is a request that will be answered, and later the stream that its messages go
 * out on; or a stream that a GET opened.  It belongs to a session, and then outlives its
 * HTTP request: what could not be delivered is kept until the client comes back with
 * Last-Event-ID.  Or it is of a stateless client, has a separate peer, and ends with its HTTP
 * request.
 */
#ifndef HASP_MCP_TRANSPORT_HTTP_EXCHANGE_H
#define HASP_MCP_TRANSPORT_HTTP_EXCHANGE_H

#include "mcp/protocol/peer.h"
#include "mcp/transport/transport.h"
#include "net/http/server.h"

enum { SESSION_ID_SIZE = 33, SESSION_BUCKETS = 256 };

struct http_session;

/* A message that went out as an event, for a client that comes back. */
struct kept_event {
	struct kept_event *next; /* of its session, the oldest first */
	struct mcp_exchange *exchange;
	uint64_t event;
	size_t len;
	char text[];
};

struct mcp_exchange {
	struct mcp_exchange *prev, *next; /* of its session, or of the stateless ones */
	struct mcp_http *http;
	struct http_session *session;
	struct mcp_peer *peer;        /* its own when stateless, else NULL */
	struct http_request *request; /* NULL: no client is connected to it */
	uint64_t since;               /* second of its beginning */
	uint64_t number;              /* of the stream in its session */
	uint64_t events;              /* numbered so far, from 1 on */
	uint64_t delivered;           /* of these, given to a connection */
	size_t kept;
	bool takes_json, takes_stream;
	bool announce;  /* answers initialize: its answer names the session */
	bool unrelated; /* opened by GET */
	bool streaming; /* the answer is an event stream */
	bool final;     /* the peer is done with it */
};

struct http_session {
	struct http_session *prev, *next; /* the one that was used last is the last */
	struct http_session *chain;       /* of its bucket */
	struct mcp_http *http;
	struct mcp_peer *peer;
	char id[SESSION_ID_SIZE];
	uint64_t used; /* second of its last request, or of its end */
	uint64_t streams;
	struct mcp_exchange exchanges; /* a ring; this is its fixed point */
	struct kept_event *oldest, **newest;
	size_t kept_bytes;
};

struct mcp_http {
	struct mcp_server *server;
	struct loop *loop;
	struct http_server *web;
	unsigned idle_s;
	size_t max_sessions;
	struct http_session sessions; /* a ring; this is its fixed point */
	struct http_session *buckets[SESSION_BUCKETS];
	size_t session_count;
	struct mcp_exchange stateless; /* a ring; this is its fixed point */
	size_t kept_bytes;             /* of all sessions */
	struct loop_timer *sweep;
	uint64_t now; /* second */
};

/* ---- http_session.c ------------------------------------------------------------------- */

/* For a request (NULL: none yet) of a session, or of a stateless client. */
struct mcp_exchange *http_exchange_new(struct mcp_http *http, struct http_session *session,
                                       struct http_request *request);
/* Frees it with what is kept of it, and lets go of its request. */
void http_exchange_free(struct mcp_exchange *exchange);
/* Its HTTP request is over: it may be freed. */
void http_exchange_closed(struct mcp_exchange *exchange);
/* The final message. */
void http_exchange_answer(struct mcp_exchange *exchange, struct span text, int error_code);
/* A message before that. */
void http_exchange_event(struct mcp_exchange *exchange, struct span text);
/* Makes its answer an event stream, if it is not decided and the client takes one. */
void http_exchange_stream(struct mcp_exchange *exchange);
/* Goes on with a stream on this request, after event `after` of it. */
void http_exchange_resume(struct mcp_exchange *exchange, struct http_request *request,
                          uint64_t after);
/* Ends its request: nothing will come any more. */
void http_exchange_hang_up(struct mcp_exchange *exchange, unsigned status, const char *sentence);

/* ---- http_session.c -------------------------------------------------------------------- */

/* NULL when there are too many sessions and all are in use. */
struct http_session *http_session_new(struct mcp_http *http, struct err *err);
struct http_session *http_session_find(struct mcp_http *http, const char *id);
void http_session_touch(struct http_session *session);
void http_session_end(struct http_session *session);
/* Ends those that were not used for long. */
void http_session_end_idle(struct mcp_http *http);
/* The stream of this number; NULL: nothing is kept of it. */
struct mcp_exchange *http_session_stream(struct http_session *session, uint64_t number);
/* The stream for messages that belong to no request; made when there is none. */
struct mcp_exchange *http_session_unrelated(struct http_session *session);

/* ---- http.c ----------------------------------------------------------------------- */

#endif
