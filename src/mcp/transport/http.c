/* SPDX-License-Identifier: Apache-2.0 */
/* The endpoint: what is checked, GET and DELETE, time. */
#include "mcp/transport/http.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/transport/http_private.h"
#include "net/http/headers.h"
#include "net/http/sse.h"

enum {
	IDLE_SECONDS = 30 * 60,
	MAX_SESSIONS = 1000,
	SWEEP_MS = 5000,
	/* A client that waits longer than this for the first byte may be given up by what is
	 * between us: its answer becomes a stream, which is kept alive. */
	PATIENCE_SECONDS = 10,
	LINGER_MS = 1000,
	/* Not JSON-RPC's own codes, which would say something about a message. */
	CODE_REFUSED = -32000,
	CODE_NO_SESSION = -32001,
};

static uint64_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec;
}

/* ---- before the body -------------------------------------------------------- */

static void explain(void *data, unsigned status, const char *sentence, struct buf *out)
{
	int code = status == 400 ? RPC_INVALID_REQUEST :
	           status == 404 ? CODE_NO_SESSION :
	                           CODE_REFUSED;

	(void)data;
	rpc_write_error(out, NULL, code, sentence, NULL);
}

static void on_head(void *data, struct http_request *request)
{
	const char *accept = http_request_header(request, "Accept");
	const char *method = http_request_method(request);
	bool stream = http_accepts(accept, EVENT_STREAM_TYPE);

	(void)data;
	if (strcmp(method, "GET") == 0 && !stream)
		http_refuse(request, 406, "A GET is answered with text/event-stream alone.");
	if (strcmp(method, "POST") != 0)
		return;
	if (!http_content_type_is(http_request_header(request, "Content-Type"),
	                          "application/json"))
		http_refuse(request, 415, "The body has to be application/json.");
	else if (!stream && !http_accepts(accept, "application/json"))
		http_refuse(request, 406,
		            "Answers are application/json or text/event-stream.");
}

/* ---- GET and DELETE --------------------------------------------------------- */

/* "STREAM-EVENT", both hexadecimal. */
static bool parse_event_id(const char *text, uint64_t *ret_stream, uint64_t *ret_event)
{
	char *end;

	size_t len = strlen(text);

	if (len > 33 || strspn(text, "0123456789abcdef-") != len || *text == '-')
		return false;
	*ret_stream = strtoull(text, &end, 16);
	if (*end != '-' || end[1] == '\0' || end[1] == '-')
		return false;
	*ret_event = strtoull(end + 1, &end, 16);
	return *end == '\0';
}

static void resume_stream(struct session *session, struct http_request *request,
                          const char *last_event)
{
	struct mcp_exchange *exchange = NULL;
	uint64_t stream, event;

	if (parse_event_id(last_event, &stream, &event))
		exchange = session_stream(session, stream);
	if (exchange && exchange->streaming)
		exchange_resume(exchange, request, event);
	else
		http_refuse(request, 400,
		            "Nothing is kept of the stream that Last-Event-ID names.");
}

/* A client may have several streams; each message goes to one of them. */
static void open_stream(struct session *session, struct http_request *request)
{
	struct mcp_exchange *exchange = session_unrelated(session);

	if (exchange->request) {
		exchange = exchange_new(session->http, session, NULL);
		exchange->unrelated = exchange->streaming = exchange->takes_stream = true;
	}
	exchange_resume(exchange, request, exchange->delivered);
}

static void take_get(struct mcp_http *http, struct http_request *request)
{
	struct session *session = session_needed(http, request);
	const char *last_event = http_request_header(request, "Last-Event-ID");

	if (session && last_event)
		resume_stream(session, request, last_event);
	else if (session)
		open_stream(session, request);
}

static void take_delete(struct mcp_http *http, struct http_request *request)
{
	struct session *session = session_needed(http, request);

	if (!session)
		return;
	session_end(session);
	http_answer(request, 204, NULL, NULL);
}

static void on_request(void *data, struct http_request *request, struct span body)
{
	struct mcp_http *http = data;
	const char *method = http_request_method(request);

	http->now = seconds();
	if (strcmp(method, "POST") == 0)
		post_take(http, request, body);
	else if (strcmp(method, "GET") == 0)
		take_get(http, request);
	else
		take_delete(http, request);
}

/* ---- ends ------------------------------------------------------------------- */

/* The end of a stateless client's request is its cancellation. */
static void close_stateless(struct mcp_exchange *exchange)
{
	if (!exchange->final)
		mcp_peer_abandon(exchange->peer, exchange);
	mcp_peer_close(exchange->peer);
	exchange_free(exchange);
}

static void on_closed(void *data, struct http_request *request, bool whole)
{
	struct mcp_exchange *exchange = http_request_data(request);
	struct session *session = exchange ? exchange->session : NULL;

	(void)data;
	(void)whole;
	if (!exchange)
		return;
	exchange->request = NULL;
	if (!session) {
		close_stateless(exchange);
		return;
	}
	session_touch(session);
	if (exchange->announce && exchange->final && !mcp_peer_initialized(session->peer))
		session_end(session);
	else
		exchange_closed(exchange);
}

static void begin_streams(struct mcp_http *http, struct mcp_exchange *fixed)
{
	struct mcp_exchange *exchange = fixed->next;

	for (; exchange != fixed; exchange = exchange->next)
		if (!exchange->final && http->now > exchange->since + PATIENCE_SECONDS)
			exchange_stream(exchange);
}

static void on_sweep(void *data)
{
	struct mcp_http *http = data;
	struct session *session = http->sessions.next;

	http->now = seconds();
	begin_streams(http, &http->stateless);
	for (; session != &http->sessions; session = session->next)
		begin_streams(http, &session->exchanges);
	session_end_idle(http);
}

/* ---- life ------------------------------------------------------------------- */

static const struct http_route routes[] = {
	{ "/mcp", "GET, POST, DELETE", on_head, on_request, on_closed },
};

static bool start(struct mcp_http *http, const struct mcp_http_options *options, struct err *err)
{
	const struct http_options web = {
		.address = options->address ? options->address : "127.0.0.1",
		.port = options->port,
		.token = options->token,
		.hosts = options->hosts,
		.host_count = options->host_count,
		.origins = options->origins,
		.origin_count = options->origin_count,
		.exposed_headers = "Mcp-Session-Id",
		.routes = routes,
		.route_count = ARRAY_LEN(routes),
		.body_max = LIMIT_MESSAGE_BYTES,
		.explain = explain,
		.data = http,
	};

	if (strcmp(web.address, "127.0.0.1") != 0 && strcmp(web.address, "::1") != 0)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "\"%s\" is not 127.0.0.1 or ::1: only this machine is served.",
		               web.address);
	return http_server_new(http->loop, &web, &http->web, err);
}

bool mcp_serve_http(struct mcp_server *server, struct loop *loop,
                    const struct mcp_http_options *options, struct mcp_http **ret,
                    struct err *err)
{
	struct mcp_http *http = mem_alloc(1, sizeof(*http));

	http->server = server;
	http->loop = loop;
	http->idle_s = options->session_idle_s ? options->session_idle_s : IDLE_SECONDS;
	http->max_sessions = options->max_sessions ? options->max_sessions : MAX_SESSIONS;
	http->now = seconds();
	http->sessions.prev = http->sessions.next = &http->sessions;
	http->stateless.prev = http->stateless.next = &http->stateless;
	if (!start(http, options, err)) {
		free(http);
		return false;
	}
	http->sweep = loop_timer_start(loop, SWEEP_MS, SWEEP_MS, on_sweep, http);
	*ret = http;
	return true;
}

uint16_t mcp_http_port(const struct mcp_http *http)
{
	return http_server_port(http->web);
}

void mcp_http_free(struct mcp_http *http)
{
	struct mcp_exchange *exchange;

	if (!http)
		return;
	loop_timer_stop(http->sweep);
	while (http->sessions.next != &http->sessions)
		session_end(http->sessions.next);
	for (exchange = http->stateless.next; exchange != &http->stateless;
	     exchange = exchange->next) {
		mcp_peer_finish(exchange->peer); /* answers subscriptions */
		exchange_hang_up(exchange, 503, "The server ends.");
	}
	http_server_free(http->web, LINGER_MS); /* closes the rest, which frees them */
	free(http);
}
