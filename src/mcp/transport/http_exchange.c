/* SPDX-License-Identifier: Apache-2.0 */
/* One request's way out: as JSON when only its answer is sent, else as a stream of events. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/transport/http_private.h"
#include "net/http/headers.h"
#include "net/http/sse.h"

/* The codes that 2026-07-28 adds, for the statuses that go with them. */
enum {
	HEADER_MISMATCH = -32020,
	MISSING_CLIENT_CAPABILITY = -32021,
	UNSUPPORTED_PROTOCOL_VERSION = -32022,
};

enum { EVENT_ID_SIZE = 40 };

_Static_assert(LIMIT_STREAM_BACKLOG > LIMIT_REPLAY_BYTES, "a replay is not taken for a flood");

/* ---- life ------------------------------------------------------------------- */

struct mcp_exchange *exchange_new(struct mcp_http *http, struct session *session,
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

void exchange_free(struct mcp_exchange *exchange)
{
	let_go(exchange);
	if (exchange->session)
		session_forget(exchange->session, exchange);
	exchange->prev->next = exchange->next;
	exchange->next->prev = exchange->prev;
	free(exchange);
}

/* Frees it when nobody will ask for it any more. */
void exchange_closed(struct mcp_exchange *exchange)
{
	if (!exchange->request && exchange->final && !exchange->kept)
		exchange_free(exchange);
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

/* Begins the stream on its request; `primed`: with an event that gives the client an id. */
static void begin_stream(struct mcp_exchange *exchange, bool primed)
{
	exchange->streaming = true;
	http_stream_begin(exchange->request);
	if (primed && exchange->session && session_primes(exchange->session))
		write_event(exchange, exchange->delivered, SPAN(""));
}

void exchange_stream(struct mcp_exchange *exchange)
{
	if (!exchange->streaming && exchange->request && exchange->takes_stream)
		begin_stream(exchange, /* primed= */ true);
}

static void add_event(struct mcp_exchange *exchange, struct span text)
{
	exchange->events++;
	if (exchange->request)
		write_event(exchange, exchange->events, text);
	if (exchange->session)
		session_keep(exchange->session, exchange, text);
}

void exchange_event(struct mcp_exchange *exchange, struct span text)
{
	exchange_stream(exchange);
	/* Otherwise the client takes nothing but the answer. */
	if (exchange->streaming)
		add_event(exchange, text);
}

/* ---- answers ---------------------------------------------------------------- */

static unsigned status_of(const struct mcp_exchange *exchange, int error_code)
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

	if (!text.len) { /* taken back by the client: there is no answer */
		http_answer(exchange->request, 202, NULL, NULL);
		return;
	}
	buf_span(&body, text);
	http_answer(exchange->request, status_of(exchange, error_code), "application/json", &body);
}

void exchange_answer(struct mcp_exchange *exchange, struct span text, int error_code)
{
	exchange->final = true;
	if (exchange->request && exchange->announce && !error_code)
		http_add_header(exchange->request, "Mcp-Session-Id", exchange->session->id);
	if (!exchange->takes_json)
		exchange_stream(exchange);
	if (!exchange->streaming && exchange->request)
		answer_json(exchange, text, error_code);
	else if (exchange->streaming && text.len)
		add_event(exchange, text);
	if (exchange->streaming && exchange->request)
		http_stream_end(exchange->request);
	exchange_closed(exchange);
}

void exchange_hang_up(struct mcp_exchange *exchange, unsigned status, const char *sentence)
{
	if (!exchange->request)
		return;
	if (exchange->streaming)
		http_stream_end(exchange->request);
	else
		http_refuse(exchange->request, status, sentence);
}

/* ---- leaving and coming back ------------------------------------------------- */

void exchange_pause(struct mcp_exchange *exchange, unsigned retry_ms)
{
	_cleanup_buf_ struct buf out = BUF_INIT(64);

	/* Before 2025-11-25 a client takes the end of its stream for a failure. */
	if (!exchange->session || !session_primes(exchange->session) || exchange->final)
		return;
	exchange_stream(exchange);
	if (!exchange->request || !exchange->streaming)
		return;
	sse_write_retry(&out, retry_ms);
	http_stream_write(exchange->request, buf_view(&out));
	http_stream_end(exchange->request);
	let_go(exchange);
}

void exchange_resume(struct mcp_exchange *exchange, struct http_request *request, uint64_t after)
{
	struct kept *kept = exchange->session->oldest;
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
