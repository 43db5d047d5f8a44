/* SPDX-License-Identifier: Apache-2.0 */
/* A server behind a WebSocket: each message a text, with the subprotocol "mcp", as the official
 * SDK's WebSocketClientTransport has it.  The server lives as long as the connection. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/client/client.h"
#include "mcp/client/transport.h"
#include "net/http/client.h"

enum {
	OPEN_MS = 15000,
	OPEN_STEP_MS = 10,
	OPEN_LOGINS_MAX = 2, /* a token, then more scopes */
};

struct ws {
	struct mcp_client *client;  /* who holds it */
	struct websocket *socket;
	char *url;
	char **headers;
	unsigned open_ms;
	bool direct;
	pthread_t runner;           /* does all that touches the connection */
	bool runs;                  /* there is that thread */
	_Atomic bool opened;
	_Atomic int status;         /* of the handshake; 0: not known */
	char *challenge;            /* WWW-Authenticate of one that was refused; the runner's, and
	                             * read when the client is lost; or NULL */
};

/* ---- the thread of the connection ---- */

static void ws_on_opened(void *data)
{
	struct ws *ws = data;

	atomic_store(&ws->opened, true);
}

static void ws_on_refused(void *data, int status, struct span headers)
{
	struct ws *ws = data;
	const struct span challenge = http_field(headers, "www-authenticate");

	(void)status;
	ws->challenge = mem_dup(challenge.data ? challenge.data : "", challenge.len);
}

static bool ws_on_message(void *data, struct span text)
{
	struct ws *ws = data;

	mcp_client_receive(ws->client, text, NULL);
	return !mcp_client_lost(ws->client);
}

static void *ws_runner(void *data)
{
	static const struct websocket_events events = { .opened = ws_on_opened,
		                                        .refused = ws_on_refused,
		                                        .message = ws_on_message };
	struct ws *ws = data;
	const char *name = mcp_client_name(ws->client);
	const struct websocket_request request = {
		.url = ws->url, .headers = (const char *const *)ws->headers, .protocol = "mcp",
		.open_ms = ws->open_ms, .max_bytes = LIMIT_MCP_MESSAGE_BYTES,
		.direct = ws->direct,
	};
	struct err why = ERR_INIT, said = ERR_INIT;
	int status = 0;

	websocket_run(ws->socket, &request, &events, ws, &status, &why);
	atomic_store(&ws->status, status);
	if (status == 401 || status == 403)
		err_set(&said, ERR_AUTHENTICATION_FAILED,
		        "The MCP server \"%s\" does not accept the token in mcpServers.%s.headers "
		        "(HTTP status %d).", name, name, status);
	else
		err_set(&said, why.code, "The MCP server \"%s\": %s", name, why.message);
	mcp_client_lose(ws->client, &said);
	return NULL;
}

/* ---- operations ---- */

static bool ws_send(void *transport, struct span message, struct mcp_ask *ask, struct err *err)
{
	struct ws *ws = transport;

	(void)ask;
	if (message.len > LIMIT_MCP_MESSAGE_BYTES)
		return err_set(err, ERR_TOO_LARGE, "The message is too large.");
	return websocket_send(ws->socket, message) ||
	       err_set(err, ERR_TOOL_FAILED,
	               "The MCP server \"%s\" does not read what it is sent.",
	               mcp_client_name(ws->client));
}

static void ws_end(void *transport)
{
	struct ws *ws = transport;

	websocket_close(ws->socket);
}

static void ws_free(void *transport)
{
	struct ws *ws = transport;

	ws_end(ws);
	if (ws->runs)
		pthread_join(ws->runner, NULL);
	websocket_free(ws->socket);
	worker_texts_free(ws->headers);
	free(ws->challenge);
	free(ws->url);
	free(ws);
}

/* ---- opening ---- */

/* Until it is open, or lost, which the handshake then explains. */
static bool ws_await_open(struct ws *ws, const struct mcp_wait *wait, struct err *err)
{
	const struct timespec step = { .tv_nsec = OPEN_STEP_MS * 1000000L };

	while (!atomic_load(&ws->opened) && !mcp_client_lost(ws->client)) {
		if (cancelled(wait->cancel))
			return err_set(err, ERR_CANCELLED, "The call was cancelled.");
		nanosleep(&step, NULL);
	}
	return true;
}

/* `token`: a header more; or NULL. */
static struct ws *ws_new(const struct mcp_client_options *options,
                         const struct mcp_address_options *from, const char *token,
                         const struct mcp_wait *wait, struct err *err)
{
	static const struct mcp_transport_ops ops = {
		.send = ws_send,
		.end = ws_end,
		.free = ws_free,
	};
	struct websocket *socket = websocket_new(2 * LIMIT_MCP_MESSAGE_BYTES, err);
	_cleanup_free_ const char **headers = NULL;
	struct ws *ws;
	size_t count = 0;

	if (!socket)
		return NULL;
	while (from->headers && from->headers[count])
		count++;
	headers = mem_alloc(count + 2, sizeof(*headers));
	for (size_t i = 0; i < count; i++)
		headers[i] = from->headers[i];
	headers[count] = token;
	ws = mem_alloc(1, sizeof(*ws));
	ws->socket = socket;
	ws->url = mem_strdup(from->url);
	ws->headers = worker_texts_copy(headers, count + (token ? 1 : 0));
	ws->open_ms = wait->timeout_ms ? wait->timeout_ms : OPEN_MS;
	ws->direct = from->direct;
	ws->client = mcp_client_new(options, &ops, ws);
	ws->runs = pthread_create(&ws->runner, NULL, ws_runner, ws) == 0;
	return ws;
}

/* What a handshake that failed was answered with. */
struct ws_refusal {
	int status;      /* 0: it did not fail */
	char *challenge; /* owned; NULL: none */
};

static bool ws_try(const struct mcp_client_options *options, const struct mcp_address_options *from,
                   const char *token, const struct mcp_wait *wait, struct mcp_client **ret,
                   struct ws_refusal *ret_refusal, struct err *err)
{
	struct ws *ws = ws_new(options, from, token, wait, err);

	*ret_refusal = (struct ws_refusal){ 0 };
	if (!ws)
		return false;
	if (!ws->runs)
		err_set(err, ERR_INTERNAL, "There is no thread for the MCP server \"%s\".",
		        mcp_client_name(ws->client));
	else if (ws_await_open(ws, wait, err) && mcp_client_begin(ws->client, wait, err)) {
		*ret = ws->client;
		return true;
	}
	if (!atomic_load(&ws->opened) && mcp_client_lost(ws->client)) {
		ret_refusal->status = atomic_load(&ws->status);
		ret_refusal->challenge = mem_steal(&ws->challenge);
	}
	mcp_client_unref(ws->client);
	return false;
}

bool mcp_client_open_websocket(const struct mcp_client_options *options,
                               const struct mcp_address_options *from, const struct mcp_wait *wait,
                               struct mcp_client **ret, struct err *err)
{
	const struct auth_wait login_wait = { .cancels = { wait->cancel } };

	for (int logins = 0;; logins++) {
		_cleanup_free_ char *token =
			from->auth ? mcp_auth_field(from->auth, &login_wait) : NULL;
		_cleanup_free_ char *challenge = NULL;
		struct ws_refusal refusal;
		struct err why = ERR_INIT;

		if (ws_try(options, from, token, wait, ret, &refusal, &why))
			return true;
		challenge = refusal.challenge;
		if (!from->auth || (refusal.status != 401 && refusal.status != 403) ||
		    logins == OPEN_LOGINS_MAX) {
			*err = why;
			return false;
		}
		if (!mcp_auth_challenged(from->auth, refusal.status,
		                         span_str(challenge ? challenge : ""), token,
		                         &login_wait, err))
			return false;
	}
}
