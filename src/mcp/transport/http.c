/* SPDX-License-Identifier: Apache-2.0 */
/* The endpoint: what is checked, POST, GET and DELETE, time. */
#include "mcp/transport/transport.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/transport/http_exchange.h"
#include "net/http/headers.h"
#include "net/http/sse.h"

/* ---- POST -------------------------------------------------------------------- */

/* What a POST brings: to which peer it goes, and what is no message for any. */

/* ---- refusals --------------------------------------------------------------- */

/* Answers with a JSON-RPC error; `id` may be NULL. */
static void post_refuse(struct http_request *request, unsigned status, int code,
                        const char *sentence, const json_t *id)
{
	_cleanup_buf_ struct buf body = BUF_INIT(LIMIT_MESSAGE_BYTES);

	rpc_write_error(&body, id, code, sentence, NULL);
	http_answer(request, status, "application/json", &body);
}

/* A version that is none, or one that has no sessions: for requests of sessions. */
static const char *version_problem(struct http_request *request)
{
	const char *version = http_request_header(request, "MCP-Protocol-Version");

	if (!version || mcp_version_is_known(version))
		return NULL;
	return "The server does not know the version that MCP-Protocol-Version names.";
}

/* The session that a request names; NULL when that was refused. */
static struct http_session *session_needed(struct mcp_http *http, struct http_request *request)
{
	const char *id = http_request_header(request, "Mcp-Session-Id");
	const char *problem = version_problem(request);
	struct http_session *session = http_session_find(http, id);

	if (problem)
		http_refuse(request, 400, problem);
	else if (!id)
		http_refuse(request, 400,
		            "The request has no Mcp-Session-Id: send initialize first.");
	else if (!session)
		http_refuse(request, 404, "There is no such session, or it has ended.");
	else
		http_session_touch(session);
	return http_request_waits(request) ? session : NULL;
}

/* ---- stateless clients ------------------------------------------------------- */

static void stateless_send(void *data, const struct mcp_outgoing *message)
{
	if (message->route == MCP_ROUTE_FINAL)
		http_exchange_answer(data, message->text, message->error_code);
	else
		http_exchange_event(data, message->text);
}

static const char *stateless_header(void *data, struct mcp_exchange *exchange, const char *name)
{
	struct mcp_exchange *only = data;

	(void)exchange;
	return only->request ? http_request_header(only->request, name) : NULL;
}

static void stateless_hang_up(void *data)
{
	http_exchange_hang_up(data, 503, "The server ends.");
}

static void take_stateless(struct mcp_http *http, struct http_request *request,
                           struct rpc_message *message)
{
	static const struct mcp_wire wire = {
		.send = stateless_send,
		.header = stateless_header,
		.hang_up = stateless_hang_up,
		.stateless = true,
	};
	struct mcp_exchange *exchange;

	if (message->kind != RPC_REQUEST) {
		bool notification = message->kind == RPC_NOTIFICATION;

		rpc_message_release(message);
		if (notification)
			http_answer(request, 202, NULL, NULL);
		else
			http_refuse(request, 400, "This version has no responses of clients.");
		return;
	}
	exchange = http_exchange_new(http, NULL, request);
	exchange->peer = mcp_peer_open(http->server, &wire, exchange);
	mcp_peer_receive(exchange->peer, exchange, message);
}

/* ---- clients with sessions --------------------------------------------------- */

static void take_initialize(struct mcp_http *http, struct http_request *request,
                            struct rpc_message *message)
{
	struct err err = ERR_INIT;
	struct http_session *session = http_session_new(http, &err);
	struct mcp_exchange *exchange;

	if (!session) {
		post_refuse(request, 503, RPC_INTERNAL_ERROR, err.message, message->id);
		rpc_message_release(message);
		return;
	}
	exchange = http_exchange_new(http, session, request);
	exchange->announce = true;
	mcp_peer_receive(session->peer, exchange, message);
}

static void take_with_session(struct http_session *session, struct http_request *request,
                              struct rpc_message *message)
{
	struct mcp_exchange *exchange = NULL;

	if (message->kind == RPC_REQUEST)
		exchange = http_exchange_new(session->http, session, request);
	mcp_peer_receive(session->peer, exchange, message);
	if (!exchange)
		http_answer(request, 202, NULL, NULL);
}

static void take_batch(struct http_session *session, struct http_request *request, struct span body)
{
	struct mcp_exchange *exchange = http_exchange_new(session->http, session, request);

	if (mcp_peer_receive_body(session->peer, exchange, body))
		return;
	exchange->final = true;
	http_answer(request, 202, NULL, NULL);
}

/* ---- which of them ------------------------------------------------------------ */

/* Its body says so, or a header that only such clients send. initialize is of the others. */
static bool is_stateless(struct http_request *request, const struct rpc_message *message)
{
	const char *version = http_request_header(request, "MCP-Protocol-Version");

	if (mcp_message_is_stateless(message))
		return true;
	return version && mcp_version_is_known(version) && strcmp(version, "2026") > 0 &&
	       !(message->method && strcmp(message->method, "initialize") == 0);
}

static void take_message(struct mcp_http *http, struct http_request *request,
                         struct rpc_message *message)
{
	bool initialize = message->kind == RPC_REQUEST &&
	                  strcmp(message->method, "initialize") == 0;
	struct http_session *session;

	if (is_stateless(request, message)) {
		take_stateless(http, request, message);
		return;
	}
	if (initialize && !http_request_header(request, "Mcp-Session-Id")) {
		take_initialize(http, request, message);
		return;
	}
	session = session_needed(http, request);
	if (session)
		take_with_session(session, request, message);
	else
		rpc_message_release(message);
}

static void post_take(struct mcp_http *http, struct http_request *request, struct span body)
{
	struct rpc_message message;
	struct rpc_problem problem;
	struct http_session *session;

	if (span_starts(span_trim(body), SPAN("["))) {
		session = session_needed(http, request);
		if (session)
			take_batch(session, request, body);
		return;
	}
	if (rpc_parse(body, &message, &problem)) {
		take_message(http, request, &message);
		return;
	}
	post_refuse(request, 400, problem.code, problem.message, problem.id);
	rpc_problem_release(&problem);
}

/* ---- the endpoint ------------------------------------------------------------ */

/* The endpoint: what is checked, GET and DELETE, time. */

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

static uint64_t coarse_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec;
}

/* ---- before the body -------------------------------------------------------- */

static void write_refusal(void *data, unsigned status, const char *sentence, struct buf *out)
{
	int code = status == 400 ? RPC_INVALID_REQUEST :
	           status == 404 ? CODE_NO_SESSION :
	                           CODE_REFUSED;

	(void)data;
	rpc_write_error(out, NULL, code, sentence, NULL);
}

static void on_request_head(void *data, struct http_request *request)
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
		http_refuse(request, 415, "The body must be application/json.");
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

static void resume_stream(struct http_session *session, struct http_request *request,
                          const char *last_event)
{
	struct mcp_exchange *exchange = NULL;
	uint64_t stream, event;

	if (parse_event_id(last_event, &stream, &event))
		exchange = http_session_stream(session, stream);
	if (exchange && exchange->streaming)
		http_exchange_resume(exchange, request, event);
	else
		http_refuse(request, 400,
		            "Nothing is kept of the stream that Last-Event-ID names.");
}

/* A client may have several streams; each message goes to one of them. */
static void open_stream(struct http_session *session, struct http_request *request)
{
	struct mcp_exchange *exchange = http_session_unrelated(session);

	if (exchange->request) {
		exchange = http_exchange_new(session->http, session, NULL);
		exchange->unrelated = exchange->streaming = exchange->takes_stream = true;
	}
	http_exchange_resume(exchange, request, exchange->delivered);
}

static void take_get(struct mcp_http *http, struct http_request *request)
{
	struct http_session *session = session_needed(http, request);
	const char *last_event = http_request_header(request, "Last-Event-ID");

	if (session && last_event)
		resume_stream(session, request, last_event);
	else if (session)
		open_stream(session, request);
}

static void take_delete(struct mcp_http *http, struct http_request *request)
{
	struct http_session *session = session_needed(http, request);

	if (!session)
		return;
	http_session_end(session);
	http_answer(request, 204, NULL, NULL);
}

static void on_request(void *data, struct http_request *request, struct span body)
{
	struct mcp_http *http = data;
	const char *method = http_request_method(request);

	http->now = coarse_seconds();
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
	http_exchange_free(exchange);
}

static void on_closed(void *data, struct http_request *request, bool whole)
{
	struct mcp_exchange *exchange = http_request_data(request);
	struct http_session *session = exchange ? exchange->session : NULL;

	(void)data;
	(void)whole;
	if (!exchange)
		return;
	exchange->request = NULL;
	if (!session) {
		close_stateless(exchange);
		return;
	}
	http_session_touch(session);
	if (exchange->announce && exchange->final && !mcp_peer_initialized(session->peer))
		http_session_end(session);
	else
		http_exchange_closed(exchange);
}

static void begin_streams(struct mcp_http *http, struct mcp_exchange *fixed)
{
	struct mcp_exchange *exchange = fixed->next;

	for (; exchange != fixed; exchange = exchange->next)
		if (!exchange->final && http->now > exchange->since + PATIENCE_SECONDS)
			http_exchange_stream(exchange);
}

static void on_sweep(void *data)
{
	struct mcp_http *http = data;
	struct http_session *session = http->sessions.next;

	http->now = coarse_seconds();
	begin_streams(http, &http->stateless);
	for (; session != &http->sessions; session = session->next)
		begin_streams(http, &session->exchanges);
	http_session_end_idle(http);
}

/* ---- life ------------------------------------------------------------------- */

static const struct http_route routes[] = {
	{ .path = "/mcp", .methods = "GET, POST, DELETE", .head = on_request_head,
	  .request = on_request, .closed = on_closed },
};

static bool http_start(struct mcp_http *http, const struct mcp_http_options *options,
                       struct err *err)
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
		.explain = write_refusal,
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
	http->now = coarse_seconds();
	http->sessions.prev = http->sessions.next = &http->sessions;
	http->stateless.prev = http->stateless.next = &http->stateless;
	if (!http_start(http, options, err)) {
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
		http_session_end(http->sessions.next);
	for (exchange = http->stateless.next; exchange != &http->stateless;
	     exchange = exchange->next) {
		mcp_peer_finish(exchange->peer); /* answers subscriptions */
		http_exchange_hang_up(exchange, 503, "The server ends.");
	}
	http_server_free(http->web, LINGER_MS); /* closes the rest, which frees them */
	free(http);
}
