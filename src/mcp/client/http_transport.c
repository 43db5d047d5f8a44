/* SPDX-License-Identifier: Apache-2.0 */
/* A server at an address: each message a POST, whose answer is JSON or a stream of events (MCP,
 * basic/transports, Streamable HTTP).  And the old way of 2024-11-05 (HTTP+SSE): one stream brings
 * all messages, and its first event says where ours are posted.
 *
 * A stream that ends before the answer is taken up where it broke, by a GET (Last-Event-ID).
 * Messages that belong to no request come on a stream that stands as long as the session, if the
 * server has one.
 *
 * Not here: how a login goes (mcp/auth/auth.h). */
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/http.h"
#include "mcp/client/requests.h"
#include "mcp/client/transport.h"
#include "net/http/client.h"
#include "net/http/headers.h"
#include "net/http/sse.h"
#include "net/rpc/rpc.h"

enum {
	END_MS_MAX = 2000,     /* of the DELETE at the end */
	STREAM_OPEN_MS = 1000, /* for a server to say whether it has the standing stream */
};

static bool http_begin(struct http *http, const struct mcp_wait *wait, struct err *err)
{
	bool ok;

	pthread_mutex_lock(&http->lock);
	http->begin_ms = wait->timeout_ms;
	http->begin_cancel = wait->cancel;
	pthread_mutex_unlock(&http->lock);
	ok = mcp_client_begin(http->client, wait, err);
	pthread_mutex_lock(&http->lock);
	http->begin_ms = 0;
	http->begin_cancel = NULL;
	pthread_mutex_unlock(&http->lock);
	return ok;
}

static bool streamable_send(void *transport, struct span message, struct mcp_ask *ask,
                            struct err *err)
{
	return http_post_message(transport, message, ask, ask, err);
}

/* ---- the other operations ------------------------------------------------------------------- */

static void streamable_agreed(void *transport, const char *version)
{
	struct http *http = transport;

	pthread_mutex_lock(&http->lock);
	http->version = version;
	pthread_mutex_unlock(&http->lock);
}

/* The thread of the standing stream.  A server without one says so (405), and that is that; one
 * that ends is opened again where it was, and given up when that brings nothing several times. */
static void *stream_listen(void *data)
{
	struct http *http = data;
	struct client_exchange exchange = { .http = http, .stands = true,
		                            .body = BUF_INIT(LIMIT_MCP_LOG_LINE) };
	struct pollfd closing = { .fd = cancel_fd(&http->closing), .events = POLLIN };

	sse_reader_init(&exchange.events, LIMIT_MCP_MESSAGE_BYTES, http_on_event, &exchange);
	for (unsigned tries = 0; tries < HTTP_RESUMES_MAX; tries++) {
		struct err ignored = ERR_INIT;

		exchange.event_came = exchange.streams = false;
		http_exchange_send(&exchange, "GET", SPAN(""), 0, &ignored);
		if (!exchange.streams || ignored.code == ERR_CANCELLED ||
		    mcp_client_lost(http->client))
			break;
		if (exchange.event_came)
			tries = 0;
		sse_reader_end(&exchange.events, &ignored);
		if (poll(&closing, 1, (int)http_retry_ms(&exchange)) > 0)
			break;
	}
	http_exchange_release(&exchange);
	pthread_mutex_lock(&http->lock);
	http->stream_answered = true; /* also when there was no answer */
	pthread_mutex_unlock(&http->lock);
	return NULL;
}

/* The thread of the stream of 2026-07-28 (subscriptions/listen). */
static void *notices_listen(void *data)
{
	struct http *http = data;
	struct client_exchange exchange = { .http = http, .stands = true,
		                            .headers = (const char *const *)http->listen_headers,
		                            .body = BUF_INIT(LIMIT_MCP_LOG_LINE) };
	struct err ignored = ERR_INIT;

	sse_reader_init(&exchange.events, LIMIT_MCP_MESSAGE_BYTES, http_on_event, &exchange);
	http_exchange_send(&exchange, "POST", span_str(http->listens), 0, &ignored);
	mcp_client_unheard(http->client, http->listen_number,
	                   exchange.status && !exchange.streams);
	http_exchange_release(&exchange);
	return NULL;
}

static void stop_listener(struct http *http)
{
	if (http->listening)
		pthread_join(http->listener, NULL);
	http->listening = false;
	free(http->listens);
	http->listens = NULL;
	worker_texts_free(http->listen_headers);
	http->listen_headers = NULL;
}

/* The one before it is ended: a request cannot be changed. */
static bool streamable_listen(void *transport, struct span message, int64_t number,
                              const char *const *headers)
{
	struct http *http = transport;

	cancel_set(&http->closing);
	stop_listener(http);
	cancel_reset(&http->closing);
	http->listens = mem_dup(message.data, message.len);
	http->listen_headers = worker_texts_copy(headers, http_header_count(headers));
	http->listen_number = number;
	http->listening = pthread_create(&http->listener, NULL, notices_listen, http) == 0;
	return http->listening;
}

/* End the session on the server. */
static void streamable_end(void *transport)
{
	struct http *http = transport;
	struct client_exchange exchange = { .http = http, .body = BUF_INIT(LIMIT_MCP_LOG_LINE) };
	struct err ignored = ERR_INIT;
	bool has_session;

	cancel_set(&http->closing);
	pthread_mutex_lock(&http->lock);
	has_session = http->session;
	pthread_mutex_unlock(&http->lock);
	if (!has_session || mcp_client_lost(http->client))
		return;
	sse_reader_init(&exchange.events, LIMIT_MCP_LOG_LINE, http_on_event, &exchange);
	http_exchange_send(&exchange, "DELETE", SPAN(""), END_MS_MAX, &ignored);
	http_exchange_release(&exchange);
	pthread_mutex_lock(&http->lock);
	free(http->session);
	http->session = NULL;
	pthread_mutex_unlock(&http->lock);
}

static void streamable_free(void *transport)
{
	struct http *http = transport;

	streamable_end(http);
	stop_listener(http);
	for (size_t i = 0; i < http->idle_count; i++)
		http_client_free(http->idle[i]);
	cancel_release(&http->closing);
	worker_texts_free(http->headers);
	pthread_mutex_destroy(&http->lock);
	free(http->session);
	free(http->endpoint);
	free(http->url);
	free(http);
}

/* ---- the old way: HTTP+SSE ---- */

/* Opens the stream and reads it to its end, after a login if need be. */
static bool sse_read_stream(struct client_exchange *exchange, struct err *err)
{
	struct err why = ERR_INIT;
	bool refused = false;
	bool ok = http_exchange_attend(exchange, "GET", SPAN(""), 0, &refused, &why);

	if (refused) {
		*err = why;
		return false;
	}
	return ok ||
	       err_set(err, why.code == ERR_CANCELLED ? ERR_TOO_LARGE : why.code,
	               "The MCP server \"%s\": %s", mcp_client_name(exchange->http->client),
	               why.code == ERR_CANCELLED ? "a message is too large." : why.message);
}

/* The thread that reads the stream: the server lives as long as that. */
static void *sse_listen(void *data)
{
	struct http *http = data;
	struct client_exchange exchange = { .http = http, .listens = true,
		                            .body = BUF_INIT(LIMIT_MCP_LOG_LINE) };
	struct err why = ERR_INIT;

	sse_reader_init(&exchange.events, LIMIT_MCP_MESSAGE_BYTES, http_on_event, &exchange);
	if (sse_read_stream(&exchange, &why) && !exchange.streams)
		http_refuse_status(&exchange, &why);
	else if (!why.message[0])
		err_set(&why, ERR_TOOL_FAILED, "The MCP server \"%s\" ended its stream.",
		        mcp_client_name(http->client));
	mcp_client_lose(http->client, &why);
	http_exchange_release(&exchange);
	return NULL;
}

/* The answer comes on the stream. */
static bool sse_send(void *transport, struct span message, struct mcp_ask *ask, struct err *err)
{
	return http_post_message(transport, message, NULL, ask, err);
}

static void sse_end(void *transport)
{
	struct http *http = transport;

	cancel_set(&http->closing);
}

/* Until the stream has said where messages go. */
static bool await_endpoint(struct http *http, const struct mcp_wait *wait, struct err *err)
{
	const struct timespec step = { .tv_nsec = 10 * 1000000L };
	const uint64_t until = clock_monotonic_ms() +
	                       (wait->timeout_ms ? wait->timeout_ms : HTTP_CONNECT_MS);
	bool known = false;

	while (!known && !mcp_client_lost(http->client)) {
		if (cancelled(wait->cancel))
			return err_set(err, ERR_CANCELLED, "The call was cancelled.");
		if (clock_monotonic_ms() > until + mcp_client_held_ms(http->client))
			return err_set(err, ERR_TOOL_FAILED,
			               "The stream of the MCP server \"%s\" does not say where "
			               "messages go (endpoint).", mcp_client_name(http->client));
		pthread_mutex_lock(&http->lock);
		known = http->endpoint;
		pthread_mutex_unlock(&http->lock);
		if (!known)
			nanosleep(&step, NULL);
	}
	return true; /* if it is lost, the handshake says why */
}

/* ---- opening ---- */

static struct http *http_new(const struct mcp_client_options *options,
                             const struct mcp_address_options *from,
                             const struct mcp_transport_ops *ops, struct err *err)
{
	struct http *http = mem_alloc(1, sizeof(*http));
	size_t count = 0;

	if (!cancel_init(&http->closing, err)) {
		free(http);
		return NULL;
	}
	while (from->headers && from->headers[count])
		count++;
	http->url = mem_strdup(from->url);
	http->headers = worker_texts_copy(from->headers, count);
	http->auth = from->auth;
	http->helped = from->helped;
	http->direct = from->direct;
	pthread_mutex_init(&http->lock, NULL);
	http->client = mcp_client_new(options, ops, http);
	return http;
}

static bool open_sse(const struct mcp_client_options *options,
                     const struct mcp_address_options *from, const struct mcp_wait *wait,
                     struct mcp_client **ret, struct err *err)
{
	static const struct mcp_transport_ops ops = {
		.send = sse_send,
		.agreed = streamable_agreed,
		.end = sse_end,
		.free = streamable_free,
	};
	struct http *http = http_new(options, from, &ops, err);

	if (!http)
		return false;
	http->listening = pthread_create(&http->listener, NULL, sse_listen, http) == 0;
	if (!http->listening)
		err_set(err, ERR_INTERNAL, "There is no thread for the MCP server \"%s\".",
		        mcp_client_name(http->client));
	else if (await_endpoint(http, wait, err) && http_begin(http, wait, err)) {
		*ret = http->client;
		return true;
	}
	mcp_client_unref(http->client);
	return false;
}

/* Opens the standing stream before the first call, so that what the server says from then on has a
 * way to come; but one that does not answer is not waited for for long. */
static void open_standing_stream(struct http *http, const struct cancel *cancel)
{
	const struct timespec step = { .tv_nsec = 5 * 1000000L };
	const uint64_t until = clock_monotonic_ms() + STREAM_OPEN_MS;
	bool answered = false;

	http->listening = pthread_create(&http->listener, NULL, stream_listen, http) == 0;
	while (http->listening && !answered && clock_monotonic_ms() < until &&
	       !cancelled(cancel)) {
		nanosleep(&step, NULL);
		pthread_mutex_lock(&http->lock);
		answered = http->stream_answered;
		pthread_mutex_unlock(&http->lock);
	}
}

/* *ret_unwanted: the address takes no such messages. */
static bool open_streamable(const struct mcp_client_options *options,
                            const struct mcp_address_options *from, const struct mcp_wait *wait,
                            struct mcp_client **ret, bool *ret_unwanted, struct err *err)
{
	static const struct mcp_transport_ops ops = {
		.exchanges = true,
		.send = streamable_send,
		.listen = streamable_listen,
		.agreed = streamable_agreed,
		.end = streamable_end,
		.free = streamable_free,
	};
	struct http *http = http_new(options, from, &ops, err);

	if (!http)
		return false;
	if (http_begin(http, wait, err)) {
		if (strcmp(mcp_client_version(http->client), MCP_MODERN) != 0)
			open_standing_stream(http, wait->cancel);
		*ret = http->client;
		return true;
	}
	*ret_unwanted = http->unwanted && err->code == ERR_TOOL_FAILED;
	mcp_client_unref(http->client);
	return false;
}

bool mcp_client_open_http(const struct mcp_client_options *options,
                          const struct mcp_address_options *from, const struct mcp_wait *wait,
                          struct mcp_client **ret, struct err *err)
{
	struct err first = ERR_INIT, ignored = ERR_INIT;
	bool unwanted = false;

	if (from->kind == MCP_HTTP_SSE)
		return open_sse(options, from, wait, ret, err);
	if (open_streamable(options, from, wait, ret, &unwanted, &first) ||
	    (from->kind == MCP_HTTP_EITHER && unwanted &&
	     open_sse(options, from, wait, ret, &ignored)))
		return true;
	*err = first;
	return false;
}
