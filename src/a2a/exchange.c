/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request to an agent, with logins, and its answer or stream of events. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "a2a/private.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"
#include "net/http/headers.h"

enum {
	CONNECT_MS = 15000,
	SETTLED_MS = 1000,      /* for what follows the last state in a stream */
	EVENT_BYTES = 4 << 20,
	ANSWER_BYTES = 64 << 20, /* of one stream */
	LOGINS_MAX = 2,         /* for one request */
};

/* ---- what comes back -------------------------------------------------------------- */

static bool on_agent_head(void *data, int status, struct span headers)
{
	struct a2a_exchange *exchange = data;
	const struct span type = http_field(headers, "content-type");
	const struct span challenge = http_field(headers, "www-authenticate");
	_cleanup_free_ char *type_text = mem_dup(type.len ? type.data : "", type.len);

	exchange->status = status;
	free(exchange->challenge);
	exchange->challenge = mem_dup(challenge.len ? challenge.data : "", challenge.len);
	exchange->streams = status == 200 && !exchange->is_bare &&
	                    http_content_type_is(type_text, EVENT_STREAM_TYPE);
	return true;
}

/* HTTP+JSON: google.rpc.Status, with its ErrorInfo. */
static bool error_reason_is(const json_t *error, const char *reason)
{
	size_t i;
	json_t *detail;

	json_array_foreach(json_object_get(error, "details"), i, detail)
		if (span_eq(json_span(json_object_get(detail, "reason")), span_str(reason)))
			return true;
	return false;
}

static void take_rpc_error(struct a2a_exchange *exchange, const json_t *error)
{
	const json_t *code = json_object_get(error, "code");
	_cleanup_buf_ struct buf said = BUF_INIT(8 * SAID_BYTES);

	name_line(&said, utf8_head(json_span(json_object_get(error, "message")), SAID_BYTES));
	exchange->ask->rpc_code = json_is_integer(code) ? (int)json_integer_value(code) : 1;
	if (exchange->ask->agent->card.is_rest &&
	    error_reason_is(error, "UNSUPPORTED_OPERATION"))
		exchange->ask->rpc_code = UNSUPPORTED;
	err_set(&exchange->why, ERR_TOOL_FAILED, "The agent %s answered with an error%s%s",
	        exchange->ask->agent->name, said.len ? ": " : ".", said.len ? said.data : "");
}

/* A response of JSON-RPC. False: there is an error. */
static bool take_response(struct a2a_exchange *exchange, struct span text)
{
	struct a2a_ask *ask = exchange->ask;
	struct err why = ERR_INIT;
	json_auto_t *response = NULL, *result = NULL;
	const json_t *error;
	bool lone, news = false;

	if (!json_parse_lenient(text, A2A_DEPTH_MAX, &response, &lone, &why))
		return err_set(&exchange->why, ERR_TOOL_FAILED,
		               "The agent %s sent an answer that cannot be read: %s",
		               ask->agent->name, why.message);
	error = json_object_get(response, "error");
	if (json_is_object(error)) {
		take_rpc_error(exchange, error);
		return false;
	}
	if (exchange->status < 200 || exchange->status > 299)
		return true; /* the status says more */
	result = json_whole(ask->agent->card.is_rest ? response :
	                                                   json_object_get(response, "result"));
	if (!a2a_reply_take(&ask->reply, result, &news, &why))
		return err_set(&exchange->why, why.code, "The agent %s cannot be understood: %s",
		               ask->agent->name, why.message);
	if (news && ask->request->progress)
		ask->request->progress(ask->request->data,
		                          buf_view(&ask->reply.latest));
	return true;
}

static bool on_stream_event(void *data, const struct sse_event *event, struct err *err)
{
	struct a2a_exchange *exchange = data;
	const struct a2a_reply *reply = &exchange->ask->reply;

	if (!event->data.len)
		return true;
	if (!take_response(exchange, event->data)) {
		*err = exchange->why;
		return false;
	}
	if (reply->has_message || reply->is_final || reply->state >= A2A_STATE_COMPLETED)
		exchange->is_done = true;
	else if (a2a_reply_is_settled(reply))
		exchange->settled_ms = clock_monotonic_ms();
	return true;
}

static bool on_agent_body(void *data, struct span bytes)
{
	struct a2a_exchange *exchange = data;
	struct err why = ERR_INIT;

	if (!exchange->streams)
		return buf_span(&exchange->body, bytes);
	if (!sse_reader_feed(&exchange->events, bytes, &why)) {
		if (!exchange->why.code)
			exchange->why = why;
		return false;
	}
	return !exchange->is_done;
}

unsigned exchange_ms_left(uint64_t at, uint64_t now)
{
	return at <= now ? 0 : at - now > UINT_MAX ? UINT_MAX : (unsigned)(at - now);
}

static unsigned on_agent_waiting(void *data, struct err *err)
{
	struct a2a_exchange *exchange = data;
	struct a2a_ask *ask = exchange->ask;
	const uint64_t now = clock_monotonic_ms();
	unsigned left;

	if (exchange->total_ms)
		return UINT_MAX; /* the request's own limit counts */
	if (exchange->settled_ms) {
		left = exchange_ms_left(exchange->settled_ms + SETTLED_MS, now);
		exchange->is_done = !left;
	} else {
		left = exchange_ms_left(ask->until_ms, now);
		ask->timed_out = !left;
	}
	if (!left)
		err_set(err, ERR_CANCELLED, "The request was abandoned.");
	return left;
}

/* ---- sending ---------------------------------------------------------------------- */

/* What logs in now; NULL: nothing. The caller frees. */
static char *agent_field(struct a2a_agent *agent, struct a2a_exchange *exchange)
{
	char *field;

	if (agent->auth.tokens)
		return a2a_auth_field(&agent->auth, exchange->cancel);
	pthread_mutex_lock(&agent->lock);
	field = a2a_auth_field(&agent->auth, exchange->cancel);
	pthread_mutex_unlock(&agent->lock);
	return field;
}

static bool exchange_send_once(struct a2a_exchange *exchange, struct err *err)
{
	static const struct http_events events = { .head = on_agent_head,
		                                   .body = on_agent_body,
		                                   .waiting = on_agent_waiting };
	struct a2a_agent *agent = exchange->ask->agent;
	const bool elsewhere = !exchange->is_bare && agent->card.elsewhere;
	const char *headers[7] = { "User-Agent: hasp/" HASP_VERSION, exchange->accept };
	const struct http_client_request request = {
		.method = exchange->method, .url = exchange->url, .headers = headers,
		.body = exchange->sent, .connect_ms = CONNECT_MS, .total_ms = exchange->total_ms,
		.idle_ms = exchange->idle_ms ? exchange->idle_ms : UINT32_MAX / 2,
		.max_bytes = ANSWER_BYTES, .public_only = elsewhere, .proxy_resolves = true,
		.cancel = exchange->cancel,
	};
	size_t n = 2;

	if (exchange->sent.len)
		headers[n++] = "Content-Type: application/json";
	if (!exchange->is_bare && agent->card.is_v1)
		headers[n++] = "A2A-Version: 1.0";
	free(exchange->field);
	exchange->field = !exchange->is_bare && agent->card.other_origin ?
		                  NULL : agent_field(agent, exchange);
	if (exchange->field)
		headers[n++] = exchange->field;
	return http_client_send(exchange->ask->client, &request, &events, exchange, err);
}

/* Whether the request may be sent again; the time that a login takes does not count. */
static bool agent_log_in(struct a2a_exchange *exchange, struct err *err)
{
	struct a2a_ask *ask = exchange->ask;
	const uint64_t since = clock_monotonic_ms();
	const struct auth_wait wait = { .cancels = { exchange->cancel } };
	const bool ok = mcp_auth_challenged(ask->agent->auth.tokens, exchange->status,
	                                    span_str(exchange->challenge), exchange->field,
	                                    &wait, err);

	ask->until_ms += clock_monotonic_ms() - since;
	buf_clear(&exchange->body);
	return ok;
}

/* Whether there is another field by now, so that the request may be sent again.  False without
 * *err: it is the same that was refused. */
static bool agent_renew_field(struct a2a_exchange *exchange, struct err *err)
{
	struct a2a_agent *agent = exchange->ask->agent;
	const uint64_t since = clock_monotonic_ms();
	json_auto_t *said = agent->renew(agent->renew_data, err);
	const struct a2a_options options = { .name = agent->name, .auth = said };
	struct a2a_auth auth = { 0 };
	char *fresh;
	bool ok = said && a2a_auth_open(&options, &auth, err);

	exchange->ask->until_ms += clock_monotonic_ms() - since;
	if (ok) {
		pthread_mutex_lock(&agent->lock);
		fresh = auth.field;
		auth.field = agent->auth.field;
		agent->auth.field = fresh;
		ok = exchange->field && strcmp(fresh, exchange->field) != 0;
		pthread_mutex_unlock(&agent->lock);
	}
	a2a_auth_release(&auth);
	buf_clear(&exchange->body);
	return ok;
}

static bool agent_requires_login(const struct a2a_exchange *exchange)
{
	return exchange->status == 401 || exchange->status == 403;
}

static bool agent_refused(const struct a2a_exchange *exchange, struct err *err)
{
	const struct a2a_agent *agent = exchange->ask->agent;
	const char *what = exchange->is_bare ? "card of the agent" : "agent";
	const int status = exchange->status;

	if (agent_requires_login(exchange) && !agent->auth.any)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The agent %s requires a login (HTTP status %d), and its file has "
		               "no \"auth\".", agent->name, status);
	if (agent_requires_login(exchange))
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The agent %s does not take what it is logged in with (HTTP status "
		               "%d).", agent->name, status);
	if (status >= 300 && status < 400)
		return err_set(err, ERR_TOOL_FAILED,
		               "The %s %s is at another address (HTTP status %d), and redirects "
		               "are not followed.", what, agent->name, status);
	return err_set(err, ERR_TOOL_FAILED, "The %s %s was answered with HTTP status %d.", what,
	               agent->name, status);
}

/* Of a transfer that did not come to its end. */
static bool agent_broke_off(const struct a2a_exchange *exchange, const struct err *why,
                            struct err *err)
{
	struct a2a_ask *ask = exchange->ask;
	const char *name = ask->agent->name;

	if (exchange->is_done)
		return true;
	if (exchange->why.code == ERR_TOO_LARGE || why->code == ERR_TOO_LARGE ||
	    exchange->body.overflowed)
		return err_set(err, ERR_TOO_LARGE, "The answer of the agent %s is too large.",
		               name);
	if (exchange->why.code) {
		*err = exchange->why;
		return false;
	}
	if (ask->timed_out)
		return err_set(err, ERR_LIMIT_REACHED, "The agent %s has not answered in time.",
		               name);
	return err_set(err, why->code, "The agent %s: %s", name, why->message);
}

bool exchange_send(struct a2a_exchange *exchange, struct err *err)
{
	const struct a2a_agent *agent = exchange->ask->agent;
	struct err why = ERR_INIT, renewal = ERR_INIT;
	bool ok = exchange_send_once(exchange, &why);

	for (int i = 0; ok && i < LOGINS_MAX && agent_requires_login(exchange) &&
	                agent->auth.tokens; i++) {
		if (!agent_log_in(exchange, err))
			return false;
		ok = exchange_send_once(exchange, &why);
	}
	if (ok && agent_requires_login(exchange) && agent->auth.field && agent->renew) {
		if (agent_renew_field(exchange, &renewal))
			ok = exchange_send_once(exchange, &why);
		else if (renewal.code) {
			*err = renewal;
			return false;
		}
	}
	if (!ok)
		return agent_broke_off(exchange, &why, err);
	if (exchange->streams)
		return true;
	if (!exchange->is_bare && !agent_requires_login(exchange) &&
	    span_starts(span_trim(buf_view(&exchange->body)), SPAN("{"))) {
		if (!take_response(exchange, buf_view(&exchange->body))) {
			*err = exchange->why;
			return false;
		}
	}
	return (exchange->status >= 200 && exchange->status < 300) || agent_refused(exchange, err);
}

void exchange_open(struct a2a_exchange *exchange, struct a2a_ask *ask)
{
	*exchange = (struct a2a_exchange){ .ask = ask, .method = "POST",
		                           .accept = "Accept: application/json",
		                           .body = BUF_INIT(EVENT_BYTES), .why = ERR_INIT,
		                           .cancel = ask->request->cancel };
	sse_reader_init(&exchange->events, EVENT_BYTES, on_stream_event, exchange);
}

void exchange_close(struct a2a_exchange *exchange)
{
	sse_reader_release(&exchange->events);
	buf_release(&exchange->body);
	free(exchange->challenge);
	if (exchange->field)
		explicit_bzero(exchange->field, strlen(exchange->field));
	free(exchange->field);
}
