/* SPDX-License-Identifier: Apache-2.0 */
/* One exchange with a server at an address: its headers, the answer as JSON or as a stream of
 * events, what a status means, a stream that ends too early, a login.
 *
 * Not here: how a login goes (mcp/auth/auth.h); which exchanges a transport has
 * (http_transport.c). */
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
	LOGINS_MAX = 2,        /* for one message: a token, then more scopes */
	WAIT_STEP_MS = 50,
	ANSWER_MS = 10000,     /* of an answer, or a notification, of ours, but in the handshake */
	SESSION_BYTES = 1024,
	ERROR_BODY_SHOWN = 300,
	RETRY_MS = 1000,       /* before a stream is taken up, unless it says */
	RETRY_MS_MIN = 100,    /* and whatever it says */
	RETRY_MS_MAX = 30000,
};

/* ---- clients ------------------------------------------------------------------------- */

static struct http_client *take_http_client(struct http *http)
{
	struct http_client *client = NULL;

	pthread_mutex_lock(&http->lock);
	if (http->idle_count)
		client = http->idle[--http->idle_count];
	pthread_mutex_unlock(&http->lock);
	return client ? client : http_client_new();
}

static void give_http_client(struct http *http, struct http_client *client)
{
	pthread_mutex_lock(&http->lock);
	if (http->idle_count < HTTP_IDLE_CLIENTS) {
		http->idle[http->idle_count++] = client;
		client = NULL;
	}
	pthread_mutex_unlock(&http->lock);
	http_client_free(client);
}

/* ---- what comes back -------------------------------------------------------------------- */

/* Visible ASCII, as the specification requires: it is sent in a header. */
static bool is_session_name(struct span id)
{
	for (size_t i = 0; i < id.len; i++)
		if (id.data[i] < 0x21 || id.data[i] > 0x7e)
			return false;
	return id.len > 0 && id.len <= SESSION_BYTES;
}

/* Of 2026-07-28; NULL: an older message. */
static const char *const *exchange_headers(const struct client_exchange *exchange)
{
	return exchange->ask ? mcp_client_headers(exchange->ask) : exchange->headers;
}

static bool on_head(void *data, int status, struct span headers)
{
	struct client_exchange *exchange = data;
	struct http *http = exchange->http;
	const struct span session = http_field(headers, "mcp-session-id");
	const struct span type = http_field(headers, "content-type");
	const struct span challenge = http_field(headers, "www-authenticate");
	_cleanup_free_ char *type_text = mem_dup(type.data ? type.data : "", type.len);

	exchange->status = status;
	free(exchange->challenge);
	exchange->challenge = mem_dup(challenge.data ? challenge.data : "", challenge.len);
	exchange->streams = status == 200 && http_content_type_is(type_text, EVENT_STREAM_TYPE);
	if (exchange->ask && status >= 200 && status <= 299)
		mcp_client_response_started(exchange->ask);
	pthread_mutex_lock(&http->lock);
	http->stream_answered = http->stream_answered || exchange->stands;
	if (!http->version && !http->session && !exchange->listens && status == 200 &&
	    is_session_name(session) && !exchange_headers(exchange))
		http->session = mem_dup(session.data, session.len);
	pthread_mutex_unlock(&http->lock);
	return true;
}

char *mcp_http_endpoint(const char *url, struct span said)
{
	const char *host = strstr(url, "://");
	struct span origin, path, folder;

	if (!host || !said.len || said.len > LIMIT_PATH_BYTES)
		return NULL;
	origin = span_of(url, (size_t)(host + 3 - url) + strcspn(host + 3, "/?#"));
	path = span_of(url + origin.len, strcspn(url + origin.len, "?#"));
	for (size_t i = 0; i < said.len; i++)
		if (said.data[i] < 0x21 || said.data[i] > 0x7e || said.data[i] == '\\')
			return NULL;
	if (span_starts(said, SPAN("http://")) || span_starts(said, SPAN("https://")))
		return span_starts(said, origin) && said.len > origin.len &&
		       strchr("/?", said.data[origin.len]) ?
		               mem_dup(said.data, said.len) : NULL;
	if (span_starts(said, SPAN("//")))
		return NULL;
	folder = path;
	while (folder.len && folder.data[folder.len - 1] != '/')
		folder.len--;
	if (said.data[0] == '/')
		folder.len = 0;
	else if (said.data[0] == '?')
		folder = path;
	return mem_printf("%.*s%.*s%s%.*s", (int)origin.len, origin.data, (int)folder.len,
	                  folder.data, folder.len || said.data[0] == '/' ? "" : "/",
	                  (int)said.len, said.data);
}

/* The first counts. */
static void take_endpoint(struct http *http, struct span said)
{
	char *endpoint = mcp_http_endpoint(http->url, said);
	struct err why = ERR_INIT;

	if (!endpoint) {
		err_set(&why, ERR_TOOL_FAILED,
		        "The MCP server \"%s\" redirects messages to another server.",
		        mcp_client_name(http->client));
		mcp_client_lose(http->client, &why);
		return;
	}
	pthread_mutex_lock(&http->lock);
	if (!http->endpoint)
		http->endpoint = mem_steal(&endpoint);
	pthread_mutex_unlock(&http->lock);
	free(endpoint);
}

bool http_on_event(void *data, const struct sse_event *event, struct err *err)
{
	struct client_exchange *exchange = data;

	(void)err;
	exchange->event_came = true;
	if (exchange->listens && span_eq(event->type, SPAN("endpoint")))
		take_endpoint(exchange->http, event->data);
	else if (event->data.len)
		mcp_client_receive(exchange->http->client, event->data, exchange->ask);
	return true;
}

/* Whether it is the listening thread's: that ends with `closing`. */
static bool is_listener(const struct client_exchange *exchange)
{
	return exchange->listens || exchange->stands;
}

static bool on_body(void *data, struct span bytes)
{
	struct client_exchange *exchange = data;
	struct err err = ERR_INIT;

	if (!exchange->streams)
		return buf_span(&exchange->body, bytes);
	return sse_reader_feed(&exchange->events, bytes, &err) &&
	       !(exchange->ask && mcp_client_settled(exchange->ask)) &&
	       !(is_listener(exchange) && mcp_client_lost(exchange->http->client));
}

/* The caller of the handshake has stopped waiting. */
static bool begin_is_cancelled(struct http *http)
{
	const struct cancel *cancel;

	pthread_mutex_lock(&http->lock);
	cancel = http->begin_cancel;
	pthread_mutex_unlock(&http->lock);
	return cancelled(cancel);
}

static unsigned on_waiting(void *data, struct err *err)
{
	const struct client_exchange *exchange = data;

	if (is_listener(exchange))
		return UINT_MAX; /* the request's `cancel` wakes it */
	if (exchange->ask ? !mcp_client_settled(exchange->ask) :
	                    !begin_is_cancelled(exchange->http))
		return WAIT_STEP_MS;
	err_set(err, ERR_CANCELLED, "The request was abandoned.");
	return 0;
}

/* ---- sending ------------------------------------------------------------------------------ */

size_t http_header_count(const char *const *headers)
{
	size_t count = 0;

	while (headers && headers[count])
		count++;
	return count;
}

/* As long as its request waits; for the stream of notifications, until the end. */
static struct auth_wait login_wait(const struct client_exchange *exchange)
{
	const struct http *http = exchange->http;
	struct auth_wait wait = { .cancels = { &http->closing, mcp_client_over(http->client) } };

	if (exchange->waits)
		mcp_client_wait_of(exchange->waits, &wait.cancels[2], &wait.until_ms);
	return wait;
}

/* The message's, the session's and the settings'; with `resumes`, where the stream broke. The
 * caller frees the array and the strings in `own`. */
static const char **request_headers(struct client_exchange *exchange, bool resumes,
                                    char *own[static 3])
{
	const struct auth_wait wait = login_wait(exchange);
	static const char *const usual[] = {
		"Content-Type: application/json",
		"Accept: application/json, text/event-stream",
		("User-Agent: hasp/" HASP_VERSION),
	};
	struct http *http = exchange->http;
	const char *const *modern = exchange_headers(exchange);
	const size_t count = http_header_count((const char *const *)http->headers);
	const char **headers = mem_alloc(ARRAY_LEN(usual) + count + http_header_count(modern) + 5,
	                                 sizeof(*headers));
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		headers[n++] = usual[i];
	for (size_t i = 0; i < count; i++)
		headers[n++] = http->headers[i];
	for (size_t i = 0; modern && modern[i]; i++)
		headers[n++] = modern[i];
	pthread_mutex_lock(&http->lock);
	own[0] = http->session ? mem_printf("Mcp-Session-Id: %s", http->session) : NULL;
	own[1] = http->version ? mem_printf("MCP-Protocol-Version: %s", http->version) : NULL;
	pthread_mutex_unlock(&http->lock);
	exchange->had_session = own[0];
	own[2] = resumes ? mem_printf("Last-Event-ID: %.*s", (int)exchange->events.id.len,
	                              exchange->events.id.data) : NULL;
	for (size_t i = 0; i < 3; i++)
		if (own[i])
			headers[n++] = own[i];
	free(exchange->token);
	exchange->token =
		http->auth ? mcp_auth_field(http->auth, &wait) : NULL;
	if (exchange->token)
		headers[n++] = exchange->token;
	return headers;
}

/* The caller frees. */
static char *exchange_url(const struct client_exchange *exchange)
{
	struct http *http = exchange->http;
	char *url;

	pthread_mutex_lock(&http->lock);
	url = mem_strdup(http->endpoint && !exchange->listens ? http->endpoint : http->url);
	pthread_mutex_unlock(&http->lock);
	return url;
}

bool http_exchange_send(struct client_exchange *exchange, const char *method,
                        struct span body, unsigned total_ms, struct err *err)
{
	static const struct http_events events = { .head = on_head, .body = on_body,
		                                   .waiting = on_waiting };
	struct http *http = exchange->http;
	struct http_client *client = take_http_client(http);
	char *own[3];
	const bool resumes = (exchange->ask || exchange->stands) && !strcmp(method, "GET") &&
	                     is_session_name(buf_view(&exchange->events.id));
	_cleanup_free_ const char **headers = request_headers(exchange, resumes, own);
	_cleanup_free_ char *url = exchange_url(exchange);
	const struct http_client_request request = {
		.method = method, .url = url, .headers = headers, .body = body,
		.proxy = http->direct ? "" : NULL,
		.connect_ms = HTTP_CONNECT_MS, .total_ms = total_ms,
		.idle_ms = UINT32_MAX / 2, /* the request's own time counts */
		.max_bytes = is_listener(exchange) ? SIZE_MAX / 2 : 4 * LIMIT_MCP_MESSAGE_BYTES,
		.cancel = is_listener(exchange) ? &http->closing : NULL,
	};
	bool ok = http_client_send(client, &request, &events, exchange, err);

	for (size_t i = 0; i < 3; i++)
		free(own[i]);
	if (ok)
		give_http_client(http, client);
	else
		http_client_free(client);
	return ok;
}

/* ---- what a status means -------------------------------------------------------------------- */

/* What a login may help against. */
static bool login_is_required(const struct client_exchange *exchange)
{
	return exchange->http->auth && (exchange->status == 401 || exchange->status == 403);
}

bool http_refuse_status(struct client_exchange *exchange, struct err *err)
{
	const char *name = mcp_client_name(exchange->http->client);
	_cleanup_buf_ struct buf shown = BUF_INIT(8 * ERROR_BODY_SHOWN);

	name_line(&shown, utf8_head(span_trim(buf_view(&exchange->body)), ERROR_BODY_SHOWN));
	if (login_is_required(exchange))
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The MCP server \"%s\" goes on refusing after a login (HTTP "
		               "status %d).", name, exchange->status);
	if (exchange->status == 401 || exchange->status == 403)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The MCP server \"%s\" does not take %s mcpServers.%s.%s (HTTP "
		               "status %d).", name,
		               exchange->http->helped ? "what is printed by" : "the token in", name,
		               exchange->http->helped ? "headersHelper" : "headers",
		               exchange->status);
	if (exchange->status >= 400 && exchange->status < 500 && !exchange->had_session) {
		pthread_mutex_lock(&exchange->http->lock);
		exchange->http->unwanted = true;
		pthread_mutex_unlock(&exchange->http->lock);
	}
	if ((exchange->status == 404 || exchange->status == 405) && !exchange->had_session)
		return err_set(err, ERR_TOOL_FAILED,
		               "At the address of the MCP server \"%s\" messages are not accepted "
		               "(HTTP status %d). For the old transport, set \"type\": "
		               "\"sse\".", name, exchange->status);
	return err_set(err, ERR_TOOL_FAILED,
	               "The MCP server \"%s\" answered with HTTP status %d%s%s", name,
	               exchange->status, shown.len ? ": " : ".", shown.len ? shown.data : "");
}

/* What its headersHelper gave for this connection was taken, and is not any more. */
static bool outlived_headers(const struct client_exchange *exchange)
{
	struct http *http = exchange->http;
	bool agreed;

	pthread_mutex_lock(&http->lock);
	agreed = http->version;
	pthread_mutex_unlock(&http->lock);
	return agreed && http->helped && exchange->status == 401 && !login_is_required(exchange);
}

static bool body_is_answer(const struct client_exchange *exchange)
{
	const struct span body = span_trim(buf_view(&exchange->body));
	struct rpc_remains remains;

	if (!span_starts(body, SPAN("{")) && !span_starts(body, SPAN("[")))
		return false;
	rpc_remains_read(body, &remains);
	return (exchange->status >= 200 && exchange->status <= 299) || remains.has_id;
}

/* Of an exchange that came to its end. */
static bool exchange_outcome(struct client_exchange *exchange, struct err *err)
{
	struct mcp_client *client = exchange->http->client;

	if ((exchange->status == 404 && exchange->had_session) || outlived_headers(exchange)) {
		mcp_client_forget(client);
		return true;
	}
	/* Protocol errors may come with an HTTP status; the body says more than the status. */
	if (exchange->ask && !exchange->streams && body_is_answer(exchange))
		mcp_client_receive(client, span_trim(buf_view(&exchange->body)), exchange->ask);
	if (exchange->ask && mcp_client_settled(exchange->ask))
		return true;
	if (exchange->status < 200 || exchange->status > 299)
		return http_refuse_status(exchange, err);
	return !exchange->ask ||
	       err_set(err, ERR_TOOL_FAILED,
	               "The MCP server \"%s\" ended its answer without a result.",
	               mcp_client_name(client));
}

/* ---- a stream that ends before the answer ---- */

/* As the stream said. */
unsigned http_retry_ms(const struct client_exchange *exchange)
{
	const unsigned ms = exchange->events.retry_ms ? exchange->events.retry_ms : RETRY_MS;

	return ms < RETRY_MS_MIN ? RETRY_MS_MIN : ms > RETRY_MS_MAX ? RETRY_MS_MAX : ms;
}

/* Waits as long as the stream's retry field says. False: the request is settled. */
static bool wait_retry(struct client_exchange *exchange)
{
	const struct timespec step = { .tv_nsec = 20 * 1000000L };
	const uint64_t until = clock_monotonic_ms() + http_retry_ms(exchange);

	while (clock_monotonic_ms() < until && !mcp_client_settled(exchange->ask))
		nanosleep(&step, NULL);
	return !mcp_client_settled(exchange->ask);
}

static bool broke_off(const struct client_exchange *exchange, bool ok, const struct err *why)
{
	return exchange->ask && exchange->streams && !exchange_headers(exchange) &&
	       is_session_name(buf_view(&exchange->events.id)) &&
	       (ok || why->code == ERR_NETWORK_ERROR) && !mcp_client_settled(exchange->ask);
}

/* Until the answer is here, or the server has nothing more. As http_exchange_send. */
static bool take_up(struct client_exchange *exchange, struct err *why)
{
	bool ok = true;

	for (unsigned tries = 0; tries < HTTP_RESUMES_MAX && wait_retry(exchange); tries++) {
		struct err failed = ERR_INIT;

		exchange->status = 0;
		exchange->streams = exchange->event_came = false;
		sse_reader_end(&exchange->events, &failed);
		ok = http_exchange_send(exchange, "GET", SPAN(""), 0, &failed);
		if (!ok)
			*why = failed;
		if (mcp_client_settled(exchange->ask) || (exchange->status && !exchange->streams) ||
		    (!ok && failed.code != ERR_NETWORK_ERROR))
			return ok;
		if (exchange->event_came)
			tries = 0;
	}
	return ok;
}

void http_exchange_release(struct client_exchange *exchange)
{
	sse_reader_release(&exchange->events);
	buf_release(&exchange->body);
	free(exchange->token);
	free(exchange->challenge);
}

/* Why a login failed; where it leads cannot always be asked. */
static void refuse_login(const struct client_exchange *exchange, const struct err *why,
                         struct err *err)
{
	const char *name = mcp_client_name(exchange->http->client);

	*err = *why;
	if (why->code == ERR_NETWORK_ERROR)
		err_set(err, ERR_AUTHENTICATION_FAILED,
		        "The MCP server \"%s\" requires a login (HTTP status %d), and its "
		        "authorization server could not be reached: %s A token goes into "
		        "mcpServers.%s.headers, as {\"Authorization\": \"Bearer "
		        "$TOKEN\"}.", name, exchange->status,
		        why->message, name);
}

/* It may be sent again. */
static bool exchange_log_in(struct client_exchange *exchange, struct err *err)
{
	struct mcp_client *client = exchange->http->client;
	struct auth_wait wait = login_wait(exchange);
	struct err why = ERR_INIT;
	bool ok;

	wait.until_ms = 0; /* the user has the time that a login takes */
	mcp_client_stop_clock(client);
	ok = mcp_auth_challenged(exchange->http->auth, exchange->status,
	                         span_str(exchange->challenge), exchange->token, &wait, &why);
	mcp_client_restart_clock(client);
	buf_clear(&exchange->body);
	if (!ok)
		refuse_login(exchange, &why, err);
	return ok;
}

/* Requests have their own timeout.  A server that starts slowly is slow to accept the handshake's
 * notification, too, without which it answers nothing. */
static unsigned message_ms(struct http *http, const struct mcp_ask *ask)
{
	unsigned ms;

	pthread_mutex_lock(&http->lock);
	ms = http->begin_ms > ANSWER_MS ? http->begin_ms : ANSWER_MS;
	pthread_mutex_unlock(&http->lock);
	return ask ? 0 : ms;
}

bool http_exchange_attend(struct client_exchange *exchange, const char *method, struct span body,
                          unsigned total_ms, bool *ret_refused, struct err *err)
{
	bool ok = http_exchange_send(exchange, method, body, total_ms, err);

	for (int logins = 0; ok && login_is_required(exchange) && logins < LOGINS_MAX; logins++) {
		*ret_refused = !exchange_log_in(exchange, err);
		ok = !*ret_refused && http_exchange_send(exchange, method, body, total_ms, err);
	}
	return ok;
}

bool http_post_message(struct http *http, struct span message, struct mcp_ask *ask,
                       struct mcp_ask *waits, struct err *err)
{
	struct client_exchange exchange = { .http = http, .ask = ask, .waits = waits,
		                            .body = BUF_INIT(LIMIT_MCP_MESSAGE_BYTES) };
	struct err why = ERR_INIT;
	bool ok, refused = false;

	sse_reader_init(&exchange.events, LIMIT_MCP_MESSAGE_BYTES, http_on_event, &exchange);
	ok = http_exchange_attend(&exchange, "POST", message, message_ms(http, ask), &refused,
	                          &why);
	if (refused) {
		http_exchange_release(&exchange);
		*err = why;
		return false;
	}
	if (broke_off(&exchange, ok, &why))
		ok = take_up(&exchange, &why);
	/* A stream may continue after the answer; it is closed, as is an exchange without a
	 * waiter. */
	if (ok)
		ok = exchange_outcome(&exchange, err);
	else if (ask && mcp_client_settled(ask))
		ok = true;
	else if (!ask && begin_is_cancelled(http))
		err_set(err, ERR_CANCELLED, "The call was cancelled.");
	else
		err_set(err, why.code == ERR_CANCELLED ? ERR_TOO_LARGE : why.code,
		        "The MCP server \"%s\": %s", mcp_client_name(exchange.http->client),
		        why.code == ERR_CANCELLED ? "its answer is too large." : why.message);
	http_exchange_release(&exchange);
	return ok;
}
