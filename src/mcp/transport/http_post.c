/* SPDX-License-Identifier: Apache-2.0 */
/* What a POST brings: to which peer it goes, and what is no message for any. */
#include <string.h>

#include "base/limits.h"
#include "mcp/transport/http_private.h"

/* ---- refusals --------------------------------------------------------------- */

void post_refuse(struct http_request *request, unsigned status, int code,
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

struct session *session_needed(struct mcp_http *http, struct http_request *request)
{
	const char *id = http_request_header(request, "Mcp-Session-Id");
	const char *problem = version_problem(request);
	struct session *session = session_find(http, id);

	if (problem)
		http_refuse(request, 400, problem);
	else if (!id)
		http_refuse(request, 400,
		            "The request has no Mcp-Session-Id: send initialize first.");
	else if (!session)
		http_refuse(request, 404, "There is no such session, or it has ended.");
	else
		session_touch(session);
	return http_request_waits(request) ? session : NULL;
}

/* ---- stateless clients ------------------------------------------------------- */

static void stateless_send(void *data, const struct mcp_outgoing *message)
{
	if (message->route == MCP_ROUTE_FINAL)
		exchange_answer(data, message->text, message->error_code);
	else
		exchange_event(data, message->text);
}

static const char *stateless_header(void *data, struct mcp_exchange *exchange, const char *name)
{
	struct mcp_exchange *only = data;

	(void)exchange;
	return only->request ? http_request_header(only->request, name) : NULL;
}

static void stateless_hang_up(void *data)
{
	exchange_hang_up(data, 503, "The server ends.");
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
	exchange = exchange_new(http, NULL, request);
	exchange->peer = mcp_peer_open(http->server, &wire, exchange);
	mcp_peer_receive(exchange->peer, exchange, message);
}

/* ---- clients with sessions --------------------------------------------------- */

static void take_initialize(struct mcp_http *http, struct http_request *request,
                            struct rpc_message *message)
{
	struct session *session = session_new(http);
	struct mcp_exchange *exchange;

	if (!session) {
		post_refuse(request, 503, RPC_INTERNAL_ERROR,
		                  "Too many sessions are in use.", message->id);
		rpc_message_release(message);
		return;
	}
	exchange = exchange_new(http, session, request);
	exchange->announce = true;
	mcp_peer_receive(session->peer, exchange, message);
}

static void take_with_session(struct session *session, struct http_request *request,
                              struct rpc_message *message)
{
	struct mcp_exchange *exchange = NULL;

	if (message->kind == RPC_REQUEST)
		exchange = exchange_new(session->http, session, request);
	mcp_peer_receive(session->peer, exchange, message);
	if (!exchange)
		http_answer(request, 202, NULL, NULL);
}

static void take_batch(struct session *session, struct http_request *request, struct span body)
{
	struct mcp_exchange *exchange = exchange_new(session->http, session, request);

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
	struct session *session;

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

void post_take(struct mcp_http *http, struct http_request *request, struct span body)
{
	struct rpc_message message;
	struct rpc_problem problem;
	struct session *session;

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
