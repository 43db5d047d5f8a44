/* SPDX-License-Identifier: Apache-2.0 */
/* What a transport of a client (stdio.c, http.c, websocket.c) has to have, and what it calls: the
 * operations, and a client's side of messages, their answers and the end.
 *
 * To add one: a file with these operations and a function that opens it, which makes the client
 * (mcp_client_new) and shakes hands (mcp_client_begin); its prototype stands in client.h. */
#ifndef HASP_MCP_CLIENT_TRANSPORT_H
#define HASP_MCP_CLIENT_TRANSPORT_H

#include "mcp/client/client.h"

struct mcp_ask;

struct mcp_transport_ops {
	/* HTTP: each request is a separate exchange, with headers that repeat its method and name
	 * (mcp_client_headers), and closing it cancels the request.  There 2026-07-28 is tried
	 * first; elsewhere initialize is, since some servers exit when anything else comes
	 * first. */
	bool exchanges;
	/* Sends one message, without an end of line. `ask`: what it asks, NULL: nothing.  One that
	 * answers in the same exchange (HTTP) returns when mcp_client_settled(ask). */
	bool (*send)(void *transport, struct span message, struct mcp_ask *ask,
	             struct err *err);
	/* HTTP: sends a request of 2026-07-28 whose answer is a stream that stands until the next
	 * such request, or the end; mcp_client_unheard(number) when it has ended.  `headers` as of
	 * mcp_client_headers, borrowed. False: it could not be sent. NULL: `send` does. */
	bool (*listen)(void *transport, struct span message, int64_t number,
	               const char *const *headers);
	/* The version in force is known. May be NULL. */
	void (*agreed)(void *transport, const char *version);
	/* Asks the server to end. */
	void (*end)(void *transport);
	/* Ends it, and frees the transport: no message comes any more. */
	void (*free)(void *transport);
	/* As mcp_client_denials; NULL: there are none. */
	json_t *(*denials)(void *transport, size_t from, size_t *ret_next);
};

/* A client, held once; the transport is freed with it. */
struct mcp_client *mcp_client_new(const struct mcp_client_options *options,
                                  const struct mcp_transport_ops *ops, void *transport);
/* Shakes hands (handshake.c). */
bool mcp_client_begin(struct mcp_client *client, const struct mcp_wait *wait, struct err *err);
/* For that, and before any other request: what hasp declares; whether requests are as in
 * MCP_MODERN; what was agreed on, with the server's answer, which is kept. */
const json_t *mcp_client_capabilities(const struct mcp_client *client);
void mcp_client_try_modern(struct mcp_client *client);
void mcp_client_try_older(struct mcp_client *client);
void mcp_client_agree(struct mcp_client *client, const char *version, json_t *hello);
/* The level to request from a server that supports logging; NULL: none. */
const char *mcp_client_log_level(const struct mcp_client *client);
/* Sends a notification. */
bool mcp_client_notify(struct mcp_client *client, const char *method, const json_t *params,
                       struct err *err);
/* One message arrived, from any thread; it may answer.  An answer that cannot be read fails the
 * request it was for without waiting: the one that it names, or `asked` where the transport answers
 * each request separately (else NULL).  If neither is known, the requests that still wait fail as
 * soon as no more of them wait than such answers came. */
void mcp_client_receive(struct mcp_client *client, struct span message, struct mcp_ask *asked);
/* No message comes any more, and all that is asked fails; the first reason counts. */
void mcp_client_lose(struct mcp_client *client, const struct err *why);
/* The server does not know the session any more. */
void mcp_client_forget(struct mcp_client *client);
/* Between the two the timeouts of requests do not run: a person logs in.  Calls nest. */
void mcp_client_stop_clock(struct mcp_client *client);
void mcp_client_restart_clock(struct mcp_client *client);
/* For how long it was stopped altogether. */
uint64_t mcp_client_held_ms(struct mcp_client *client);
/* Whether the request is settled: answered, lost, timed out or cancelled.  The requesting thread
 * calls it repeatedly: it delivers progress reports, too. */
bool mcp_client_settled(struct mcp_ask *ask);
/* What ends the wait for it besides its answer: its cancellation (or NULL), and when it times out,
 * by clock_monotonic_ms (0: never). */
void mcp_client_wait_of(struct mcp_ask *ask, const struct cancel **ret_cancel,
                        uint64_t *ret_until_ms);
/* Set once the client is lost. Borrowed. */
const struct cancel *mcp_client_over(const struct mcp_client *client);
/* The response has started: mcp_wait.started_ms counts from now. */
void mcp_client_response_started(struct mcp_ask *ask);
/* Headers that a request of 2026-07-28 must have, "Name: value", NULL-terminated: instead of a
 * session and an agreed version.  NULL: it is of an older one. Borrowed. */
const char *const *mcp_client_headers(const struct mcp_ask *ask);
/* The stream of transport.listen with this number has ended; `for_good`: the server has none. */
void mcp_client_unheard(struct mcp_client *client, int64_t stream, bool for_good);
/* Logs a line about it. */
void mcp_client_log(struct mcp_client *client, struct span line);
/* Of the options. Borrowed. */
const char *mcp_client_name(const struct mcp_client *client);
/* Where the old HTTP+SSE transport takes messages: what its `endpoint` event says, resolved against
 * the address of the stream, whose origin it must have. The caller frees; NULL: it has not. */
char *mcp_http_endpoint(const char *url, struct span said);

#endif
