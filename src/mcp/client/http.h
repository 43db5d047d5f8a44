/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of the HTTP transport share: one exchange with a server (http_exchange.c),
 * and the transports that are made of exchanges (http_transport.c).
 *
 *     struct client_exchange exchange = { .http = http, .ask = ask, .body = BUF_INIT(...) };
 *     sse_reader_init(&exchange.events, ..., http_on_event, &exchange);
 *     ok = http_exchange_attend(&exchange, "GET", SPAN(""), 0, &refused, &err);
 *     http_exchange_release(&exchange);
 */
#ifndef HASP_MCP_CLIENT_HTTP_H
#define HASP_MCP_CLIENT_HTTP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/cancel.h"
#include "mcp/client/client.h"
#include "net/http/client.h"
#include "net/http/sse.h"

enum {
	HTTP_IDLE_CLIENTS = 8, /* connections that are kept; each serves one thread */
	HTTP_CONNECT_MS = 15000,
	HTTP_RESUMES_MAX = 5,       /* in a row that brought nothing */
};

struct http {
	struct mcp_client *client;  /* who holds it */
	char *url;
	char **headers;
	struct mcp_auth *auth;      /* borrowed; or NULL */
	bool helped;                /* another connection has other headers */
	bool direct;                /* no proxy is asked */
	pthread_mutex_t lock;       /* of what follows */
	struct http_client *idle[HTTP_IDLE_CLIENTS];
	size_t idle_count;
	char *endpoint;             /* of the old way: where messages are posted; NULL: url */
	bool unwanted;              /* a message was refused as nothing for this address */
	char *session;              /* NULL: none */
	const char *version;        /* NULL: not agreed on */
	unsigned begin_ms;          /* of each message of the handshake; 0: that is over */
	const struct cancel *begin_cancel; /* of who waits for it; or NULL */
	pthread_t listener;         /* reads the stream of the old way, or the standing one */
	bool listening;             /* there is that thread */
	struct cancel closing;      /* it is to end */
	char *listens;              /* 2026-07-28: the request that is answered so; or NULL */
	char **listen_headers;
	int64_t listen_number;
	bool stream_answered;       /* the server has said whether it has the standing one */
};

/* One POST, and what comes of it. */
struct client_exchange {
	struct http *http;
	struct mcp_ask *ask;        /* NULL: nothing is asked */
	struct mcp_ask *waits;      /* who waits for what comes of a login; or NULL */
	struct sse_reader events;
	struct buf body;            /* of anything but a stream of events */
	char *token;                /* the field that was sent; NULL: none */
	char *challenge;            /* WWW-Authenticate of the answer */
	int status;
	bool listens;               /* the stream of the old way */
	bool stands;                /* the one for messages that belong to no request */
	bool streams, had_session;
	const char *const *headers; /* exchange_headers of a notification or response; or NULL */
	bool event_came;                 /* an event came since it was sent */
};

/* How many fields there are before the NULL. */
size_t http_header_count(const char *const *headers);
/* An event of a stream came (sse_reader_init); `data` is its exchange. */
bool http_on_event(void *data, const struct sse_event *event, struct err *err);
/* Sends the request and reads the answer until it is complete or its caller stops waiting; total_ms
 * 0: no other limit.  False: *err; a status that means a refusal is none (http_refuse_status). */
bool http_exchange_send(struct client_exchange *exchange, const char *method,
                        struct span body, unsigned total_ms, struct err *err);
/* The same, again after each login that the server asks for. *ret_refused (false before): there was
 * none, and *err says why. */
bool http_exchange_attend(struct client_exchange *exchange, const char *method, struct span body,
                          unsigned total_ms, bool *ret_refused, struct err *err);
/* What the status means, where it is no success: a sentence with the server's words. */
bool http_refuse_status(struct client_exchange *exchange, struct err *err);
/* How long to wait before a stream is taken up, as it said. */
unsigned http_retry_ms(const struct client_exchange *exchange);
/* Frees what it holds. */
void http_exchange_release(struct client_exchange *exchange);
/* One message, and what comes back until it is answered; resumed and logged in as need be.  `ask`:
 * what it asks, `waits`: who waits for what comes of a login; either may be NULL. */
bool http_post_message(struct http *http, struct span message, struct mcp_ask *ask,
                       struct mcp_ask *waits, struct err *err);

#endif
