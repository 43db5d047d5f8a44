/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions, the ways out of their requests, and what is kept for clients to come back for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "mcp/transport/http_exchange.h"
#include "net/http/headers.h"
#include "net/http/sse.h"

/* ---- one request's way out --------------------------------------------------- */

/* One request's way out: as JSON when only its answer is sent, else as a stream of events. */

/* The codes that 2026-07-28 adds, for the statuses that go with them. */
enum {
	HEADER_MISMATCH = -32020,
	MISSING_CLIENT_CAPABILITY = -32021,
	UNSUPPORTED_PROTOCOL_VERSION = -32022,
};

enum { EVENT_ID_SIZE = 40 };

_Static_assert(LIMIT_STREAM_BACKLOG > LIMIT_REPLAY_BYTES, "a replay is not taken for a flood");

/* ---- life ------------------------------------------------------------------- */

struct mcp_exchange *http_exchange_new(struct mcp_http *http, struct http_session *session,
                                       struct http_request *request)
{
	struct mcp_exchange *exchange = mem_alloc(1, sizeof(*exchange));
	struct mcp_exchange *fixed = session ? &session->exchanges : &http->stateless;
	const char *accept = request ? http_request_header(request, "Accept") : NULL;

	exchange->http = http;
	exchange->session = session;
	exchange->request = request;
	exchange->since = http->now;
	exchange->number = session ? ++session->streams : 0;
	exchange->takes_json = http_accepts(accept, "application/json");
	exchange->takes_stream = http_accepts(accept, EVENT_STREAM_TYPE);
	exchange->next = fixed;
	exchange->prev = fixed->prev;
	exchange->prev->next = exchange->next->prev = exchange;
	if (request)
		http_request_set_data(request, exchange);
	return exchange;
}

/* Its request goes on without it. */
static void let_go(struct mcp_exchange *exchange)
{
	if (exchange->request)
		http_request_set_data(exchange->request, NULL);
	exchange->request = NULL;
}

static void session_forget(struct http_session *session, struct mcp_exchange *exchange);

void http_exchange_free(struct mcp_exchange *exchange)
{
	let_go(exchange);
	if (exchange->session)
		session_forget(exchange->session, exchange);
	exchange->prev->next = exchange->next;
	exchange->next->prev = exchange->prev;
	free(exchange);
}

/* Frees it if it cannot be resumed. */
void http_exchange_closed(struct mcp_exchange *exchange)
{
	if (!exchange->request && exchange->final && !exchange->kept)
		http_exchange_free(exchange);
}

/* ---- events ----------------------------------------------------------------- */

static void write_event(struct mcp_exchange *exchange, uint64_t event, struct span text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	char id[EVENT_ID_SIZE];

	snprintf(id, sizeof(id), "%" PRIx64 "-%" PRIx64, exchange->number, event);
	sse_write(&out, exchange->session ? id : NULL, text);
	http_stream_write(exchange->request, buf_view(&out));
	if (event > exchange->delivered)
		exchange->delivered = event;
}

static bool session_primes(const struct http_session *session);

/* Begins the stream on its request; `primed`: with an event that gives the client an id. */
static void begin_stream(struct mcp_exchange *exchange, bool primed)
{
	exchange->streaming = true;
	http_stream_begin(exchange->request);
	if (primed && exchange->session && session_primes(exchange->session))
		write_event(exchange, exchange->delivered, SPAN(""));
}

void http_exchange_stream(struct mcp_exchange *exchange)
{
	if (!exchange->streaming && exchange->request && exchange->takes_stream)
		begin_stream(exchange, /* primed= */ true);
}

static void session_keep(struct http_session *session, struct mcp_exchange *exchange,
                         struct span text);

static void add_event(struct mcp_exchange *exchange, struct span text)
{
	exchange->events++;
	if (exchange->request)
		write_event(exchange, exchange->events, text);
	if (exchange->session)
		session_keep(exchange->session, exchange, text);
}

void http_exchange_event(struct mcp_exchange *exchange, struct span text)
{
	http_exchange_stream(exchange);
	/* Otherwise the client takes nothing but the answer. */
	if (exchange->streaming)
		add_event(exchange, text);
}

/* ---- answers ---------------------------------------------------------------- */

static unsigned status_of_answer(const struct mcp_exchange *exchange, int error_code)
{
	switch (error_code) {
	case RPC_PARSE_ERROR:
	case RPC_INVALID_REQUEST:
		return 400;
	case RPC_METHOD_NOT_FOUND:
		return exchange->session ? 200 : 404;
	case RPC_INVALID_PARAMS:
	case HEADER_MISMATCH:
	case MISSING_CLIENT_CAPABILITY:
	case UNSUPPORTED_PROTOCOL_VERSION:
		return exchange->session ? 200 : 400;
	default:
		return 200;
	}
}

static void answer_json(struct mcp_exchange *exchange, struct span text, int error_code)
{
	_cleanup_buf_ struct buf body = BUF_INIT(LIMIT_RESULT_BYTES);

	if (!text.len) { /* cancelled by the client: there is no answer */
		http_answer(exchange->request, 202, NULL, NULL);
		return;
	}
	buf_span(&body, text);
	http_answer(exchange->request, status_of_answer(exchange, error_code), "application/json",
	            &body);
}

void http_exchange_answer(struct mcp_exchange *exchange, struct span text, int error_code)
{
	exchange->final = true;
	if (exchange->request && exchange->announce && !error_code)
		http_add_header(exchange->request, "Mcp-Session-Id", exchange->session->id);
	if (!exchange->takes_json)
		http_exchange_stream(exchange);
	if (!exchange->streaming && exchange->request)
		answer_json(exchange, text, error_code);
	else if (exchange->streaming && text.len)
		add_event(exchange, text);
	if (exchange->streaming && exchange->request)
		http_stream_end(exchange->request);
	http_exchange_closed(exchange);
}

void http_exchange_hang_up(struct mcp_exchange *exchange, unsigned status, const char *sentence)
{
	if (!exchange->request)
		return;
	if (exchange->streaming)
		http_stream_end(exchange->request);
	else
		http_refuse(exchange->request, status, sentence);
}

/* ---- leaving and coming back ------------------------------------------------- */

/* Ends the connection, asking the client to come back. */
static void exchange_pause(struct mcp_exchange *exchange, unsigned retry_ms)
{
	_cleanup_buf_ struct buf out = BUF_INIT(64);

	/* Before 2025-11-25 a client takes the end of its stream for a failure. */
	if (!exchange->session || !session_primes(exchange->session) || exchange->final)
		return;
	http_exchange_stream(exchange);
	if (!exchange->request || !exchange->streaming)
		return;
	sse_write_retry(&out, retry_ms);
	http_stream_write(exchange->request, buf_view(&out));
	http_stream_end(exchange->request);
	let_go(exchange);
}

void http_exchange_resume(struct mcp_exchange *exchange, struct http_request *request,
                          uint64_t after)
{
	struct kept_event *kept = exchange->session->oldest;
	bool first = exchange->delivered == 0 && exchange->unrelated;

	if (exchange->request) /* the client has lost that one before we noticed */
		http_stream_end(exchange->request);
	let_go(exchange);
	exchange->request = request;
	http_request_set_data(request, exchange);
	begin_stream(exchange, first);
	for (; kept; kept = kept->next)
		if (kept->exchange == exchange && kept->event > after)
			write_event(exchange, kept->event, span_of(kept->text, kept->len));
	if (exchange->final)
		http_stream_end(request);
}

/* ---- sessions ---------------------------------------------------------------- */

/* Sessions, and what is kept for their clients to come back for. */

/* ---- the table -------------------------------------------------------------- */

static size_t session_bucket(const char *id)
{
	/* Ids are random: any part of them spreads. Others are not found anywhere. */
	return ((unsigned char)id[0] * 31u + (unsigned char)id[1]) % SESSION_BUCKETS;
}

struct http_session *http_session_find(struct mcp_http *http, const char *id)
{
	struct http_session *session = NULL;

	if (id && strlen(id) == SESSION_ID_SIZE - 1)
		session = http->buckets[session_bucket(id)];
	while (session && strcmp(session->id, id) != 0)
		session = session->chain;
	return session;
}

static void session_list(struct http_session *session)
{
	struct http_session *fixed = &session->http->sessions;

	session->next = fixed;
	session->prev = fixed->prev;
	session->prev->next = session->next->prev = session;
}

static void session_unlist(struct http_session *session)
{
	session->prev->next = session->next;
	session->next->prev = session->prev;
}

void http_session_touch(struct http_session *session)
{
	session->used = session->http->now;
	session_unlist(session);
	session_list(session);
}

static bool is_in_use(const struct http_session *session)
{
	const struct mcp_exchange *exchange = session->exchanges.next;

	for (; exchange != &session->exchanges; exchange = exchange->next)
		if (exchange->request)
			return true;
	return false;
}

/* The session that has been without a connection for longest; NULL: all are in use. */
static struct http_session *least_used(struct mcp_http *http)
{
	struct http_session *session = http->sessions.next;

	while (session != &http->sessions && is_in_use(session))
		session = session->next;
	return session == &http->sessions ? NULL : session;
}

/* ---- the peer's side -------------------------------------------------------- */

static void session_send(void *data, const struct mcp_outgoing *message)
{
	struct http_session *session = data;

	if (message->route == MCP_ROUTE_FINAL)
		http_exchange_answer(message->exchange, message->text, message->error_code);
	else
		http_exchange_event(message->exchange ?
		                    message->exchange : http_session_unrelated(session),
		                    message->text);
}

static const char *session_header(void *data, struct mcp_exchange *exchange, const char *name)
{
	(void)data;
	return exchange && exchange->request ? http_request_header(exchange->request, name) : NULL;
}

static void session_close_stream(void *data, struct mcp_exchange *exchange, unsigned retry_ms)
{
	(void)data;
	exchange_pause(exchange, retry_ms);
}

static void session_hang_up(void *data)
{
	struct http_session *session = data;
	struct mcp_exchange *exchange = session->exchanges.next;

	for (; exchange != &session->exchanges; exchange = exchange->next)
		http_exchange_hang_up(exchange, 503, "The server ends.");
}

/* ---- life ------------------------------------------------------------------- */

struct http_session *http_session_new(struct mcp_http *http, struct err *err)
{
	static const struct mcp_wire wire = {
		.send = session_send,
		.header = session_header,
		.close_stream = session_close_stream,
		.hang_up = session_hang_up,
	};
	struct http_session *oldest =
		http->session_count < http->max_sessions ? NULL : least_used(http);
	struct http_session *session;
	char id[SESSION_ID_SIZE];

	if (!random_hex(id, (SESSION_ID_SIZE - 1) / 2, err))
		return NULL;
	if (oldest)
		http_session_end(oldest);
	if (http->session_count >= http->max_sessions) {
		err_set(err, ERR_LIMIT_REACHED, "Too many sessions are in use.");
		return NULL;
	}
	session = mem_alloc(1, sizeof(*session));
	session->http = http;
	session->used = http->now;
	session->newest = &session->oldest;
	session->exchanges.prev = session->exchanges.next = &session->exchanges;
	memcpy(session->id, id, sizeof(id));
	session->chain = http->buckets[session_bucket(session->id)];
	http->buckets[session_bucket(session->id)] = session;
	http->session_count++;
	session_list(session);
	session->peer = mcp_peer_open(http->server, &wire, session);
	return session;
}

void http_session_end(struct http_session *session)
{
	struct mcp_http *http = session->http;
	struct http_session **at = &http->buckets[session_bucket(session->id)];

	mcp_peer_close(session->peer);
	while (session->exchanges.next != &session->exchanges) {
		http_exchange_hang_up(session->exchanges.next, 404, "The session has ended.");
		http_exchange_free(session->exchanges.next);
	}
	while (*at != session)
		at = &(*at)->chain;
	*at = session->chain;
	session_unlist(session);
	http->session_count--;
	free(session);
}

void http_session_end_idle(struct mcp_http *http)
{
	struct http_session *session = http->sessions.next;

	while (session != &http->sessions) {
		struct http_session *next = session->next;

		if (http->now > session->used + http->idle_s && !is_in_use(session))
			http_session_end(session);
		session = next;
	}
}

/* Whether its version has streams that begin with an event without data (SEP-1699). */
static bool session_primes(const struct http_session *session)
{
	const char *version = mcp_peer_version(session->peer);

	return version && strcmp(version, "2025-11-25") >= 0;
}

/* ---- streams ---------------------------------------------------------------- */

struct mcp_exchange *http_session_stream(struct http_session *session, uint64_t number)
{
	struct mcp_exchange *exchange = session->exchanges.next;

	for (; exchange != &session->exchanges; exchange = exchange->next)
		if (exchange->number == number)
			return exchange;
	return NULL;
}

struct mcp_exchange *http_session_unrelated(struct http_session *session)
{
	struct mcp_exchange *found = NULL;
	struct mcp_exchange *exchange = session->exchanges.next;

	/* The latest, preferring one with a listener. */
	for (; exchange != &session->exchanges; exchange = exchange->next)
		if (exchange->unrelated && (exchange->request || !found || !found->request))
			found = exchange;
	if (!found) {
		found = http_exchange_new(session->http, session, NULL);
		found->unrelated = found->streaming = found->takes_stream = true;
	}
	return found;
}

/* ---- what is kept ----------------------------------------------------------- */

/* A small message costs more than its text. */
static size_t kept_cost(const struct kept_event *kept)
{
	return sizeof(*kept) + 16 + kept->len;
}

/* Takes the event at *at out; returns what it was of. */
static struct mcp_exchange *kept_drop(struct http_session *session, struct kept_event **at)
{
	struct kept_event *kept = *at;
	struct mcp_exchange *exchange = kept->exchange;

	session->kept_bytes -= kept_cost(kept);
	session->http->kept_bytes -= kept_cost(kept);
	exchange->kept--;
	*at = kept->next;
	if (!*at)
		session->newest = at;
	free(kept);
	return exchange;
}

static void kept_drop_oldest(struct http_session *session)
{
	http_exchange_closed(kept_drop(session, &session->oldest));
}

/* Makes room in all sessions, beginning with those that were not used for longest. */
static void kept_drop_of_all(struct mcp_http *http, const struct http_session *except)
{
	struct http_session *session = http->sessions.next;

	for (; session != &http->sessions; session = session->next)
		while (session != except && session->oldest && http->kept_bytes > LIMIT_REPLAY_ALL)
			kept_drop_oldest(session);
}

/* Keeps an event, and forgets older ones when they are too many. */
static void session_keep(struct http_session *session, struct mcp_exchange *exchange,
                         struct span text)
{
	struct kept_event *kept = mem_alloc(1, sizeof(*kept) + text.len);

	kept->exchange = exchange;
	kept->event = exchange->events;
	kept->len = text.len;
	memcpy(kept->text, text.data, text.len);
	session->kept_bytes += kept_cost(kept);
	session->http->kept_bytes += kept_cost(kept);
	kept->exchange->kept++;
	*session->newest = kept;
	session->newest = &kept->next;
	/* The newest stays, whatever its size: nothing else has it. */
	while (session->kept_bytes > LIMIT_REPLAY_BYTES && session->oldest->next)
		kept_drop_oldest(session);
	kept_drop_of_all(session->http, session);
}

/* Forgets what is kept of one exchange. */
static void session_forget(struct http_session *session, struct mcp_exchange *exchange)
{
	struct kept_event **at = &session->oldest;

	while (*at) {
		if ((*at)->exchange == exchange)
			kept_drop(session, at);
		else
			at = &(*at)->next;
	}
}
