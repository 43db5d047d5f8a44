/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks given to an agent elsewhere: the card, requests and their streams, and what becomes of
 * them.
 *
 * Source: A2A 1.0, sections 9 and 11; 0.3, sections 7 and 8; the methods are in methods.c.  A
 * stream that breaks off is taken up again (SubscribeToTask); where that cannot be, or an answer
 * comes before the task is over, GetTask follows, again and again.
 */
#include "a2a/a2a.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "a2a/private.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"
#include "net/http/client.h"
#include "net/http/headers.h"
#include "net/http/sse.h"

enum {
	CONNECT_MS = 15000,
	CARD_MS = 30000,
	CANCEL_MS = 5000,       /* for the agent to hear that a task is cancelled */
	GET_MS = 30000,         /* of one GetTask */
	SETTLED_MS = 1000,      /* for what follows the last state in a stream */
	EVENT_BYTES = 4 << 20,
	ANSWER_BYTES = 64 << 20, /* of one stream */
	POLL_MS = 500,          /* before the first GetTask; then half as long again */
	POLL_MS_MAX = 10000,
	POLLS_FAILED_MAX = 5,   /* in a row */
	REJOINS_MAX = 3,        /* of one stream */
	REJOINED_IDLE_MS = 10000, /* then the task is asked for: it may have ended meanwhile */
	QUESTIONS_MAX = 32,
	LOGINS_MAX = 2,         /* for one request */
	SAID_BYTES = 300,
	UNSUPPORTED = -32004,   /* A2A 1.0, section 9.5; 0.3, section 8.2 */
};

#define WELL_KNOWN "/.well-known/agent-card.json"

struct a2a_agent {
	char *name, *card_url, *card_text;
	json_t *(*renew)(void *data, struct err *err); /* as a2a_options have it */
	void *renew_data;
	pthread_mutex_t lock;      /* of what follows */
	struct a2a_auth auth;      /* its field alone changes */
	struct a2a_card card;      /* does not change once `has_card` is set */
	bool has_card;
	char *context, *task;      /* what goes on with the next task; or NULL */
};

/* One a2a_ask. */
struct a2a_asking {
	struct a2a_agent *agent;
	const struct a2a_request *request;
	struct a2a_reply reply;
	struct http_client *client;
	uint64_t until_ms;
	bool timed_out;
	int rpc_code;              /* of the last answer that is an error; 0: none */
};

/* One request, and what comes of it. */
struct a2a_exchange {
	struct a2a_asking *asking;
	const char *method, *url;  /* of HTTP */
	struct span sent;
	const char *accept;
	struct sse_reader events;
	struct buf body;           /* of anything but a stream of events */
	char *challenge, *field;   /* owned; of a login; or NULL */
	int status;
	bool streams, is_bare;     /* is_bare: a card, whatever the reply has */
	bool is_done;              /* nothing more is waited for */
	uint64_t settled_ms;       /* when the reply settled; 0: it has not */
	unsigned total_ms;         /* 0: asking->until_ms */
	unsigned idle_ms;          /* without a byte; 0: as long as it takes */
	const struct cancel *cancel;
	struct err why;            /* what the agent answered instead of a result */
};

/* ---- opening ---------------------------------------------------------------------- */

/* The caller frees. */
static char *card_address(const char *url)
{
	const char *path = strstr(url, "://") + 3;

	path += strcspn(path, "/?");
	return *path && strcmp(path, "/") != 0 ?
	               mem_strdup(url) : mem_printf("%.*s" WELL_KNOWN, (int)(path - url), url);
}

bool a2a_open(const struct a2a_options *options, struct a2a_agent **ret, struct err *err)
{
	struct a2a_agent *agent;
	struct a2a_auth auth;

	if (options->card_url &&
	    !a2a_url_check(span_str(options->card_url), "agent_card_url", err))
		return false;
	if (!a2a_auth_open(options, &auth, err)) {
		a2a_auth_release(&auth);
		return false;
	}
	agent = mem_alloc(1, sizeof(*agent));
	agent->name = mem_strdup(options->name);
	agent->card_url = options->card_url ? card_address(options->card_url) : NULL;
	agent->card_text = mem_strdup(options->card);
	agent->auth = auth;
	agent->renew = options->renew;
	agent->renew_data = options->renew_data;
	pthread_mutex_init(&agent->lock, NULL);
	*ret = agent;
	return true;
}

void a2a_free(struct a2a_agent *agent)
{
	if (!agent)
		return;
	a2a_auth_release(&agent->auth);
	a2a_card_release(&agent->card);
	pthread_mutex_destroy(&agent->lock);
	free(agent->context);
	free(agent->task);
	free(agent->card_url);
	free(agent->card_text);
	free(agent->name);
	free(agent);
}

void a2a_outcome_release(struct a2a_outcome *outcome)
{
	free(outcome->text);
	outcome->text = NULL;
}

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
	exchange->asking->rpc_code = json_is_integer(code) ? (int)json_integer_value(code) : 1;
	if (exchange->asking->agent->card.is_rest &&
	    error_reason_is(error, "UNSUPPORTED_OPERATION"))
		exchange->asking->rpc_code = UNSUPPORTED;
	err_set(&exchange->why, ERR_TOOL_FAILED, "The agent %s answered with an error%s%s",
	        exchange->asking->agent->name, said.len ? ": " : ".", said.len ? said.data : "");
}

/* A response of JSON-RPC. False: there is an error. */
static bool take_response(struct a2a_exchange *exchange, struct span text)
{
	struct a2a_asking *asking = exchange->asking;
	struct err why = ERR_INIT;
	json_auto_t *response = NULL, *result = NULL;
	const json_t *error;
	bool lone, news = false;

	if (!json_parse_lenient(text, A2A_DEPTH_MAX, &response, &lone, &why))
		return err_set(&exchange->why, ERR_TOOL_FAILED,
		               "The agent %s sent an answer that cannot be read: %s",
		               asking->agent->name, why.message);
	error = json_object_get(response, "error");
	if (json_is_object(error)) {
		take_rpc_error(exchange, error);
		return false;
	}
	if (exchange->status < 200 || exchange->status > 299)
		return true; /* the status says more */
	result = json_whole(asking->agent->card.is_rest ? response :
	                                                   json_object_get(response, "result"));
	if (!a2a_reply_take(&asking->reply, result, &news, &why))
		return err_set(&exchange->why, why.code, "The agent %s cannot be understood: %s",
		               asking->agent->name, why.message);
	if (news && asking->request->progress)
		asking->request->progress(asking->request->data,
		                          buf_view(&asking->reply.latest));
	return true;
}

static bool on_stream_event(void *data, const struct sse_event *event, struct err *err)
{
	struct a2a_exchange *exchange = data;
	const struct a2a_reply *reply = &exchange->asking->reply;

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

static unsigned ms_left_until(uint64_t at, uint64_t now)
{
	return at <= now ? 0 : at - now > UINT_MAX ? UINT_MAX : (unsigned)(at - now);
}

static unsigned on_agent_waiting(void *data, struct err *err)
{
	struct a2a_exchange *exchange = data;
	struct a2a_asking *asking = exchange->asking;
	const uint64_t now = clock_monotonic_ms();
	unsigned left;

	if (exchange->total_ms)
		return UINT_MAX; /* the request's own limit counts */
	if (exchange->settled_ms) {
		left = ms_left_until(exchange->settled_ms + SETTLED_MS, now);
		exchange->is_done = !left;
	} else {
		left = ms_left_until(asking->until_ms, now);
		asking->timed_out = !left;
	}
	if (!left)
		err_set(err, ERR_CANCELLED, "The request was abandoned.");
	return left;
}

static bool task_is_unwanted(void *data)
{
	return cancelled(((const struct a2a_exchange *)data)->cancel);
}

/* ---- sending ---------------------------------------------------------------------- */

/* What logs in now; NULL: nothing. The caller frees. */
static char *agent_field(struct a2a_agent *agent, struct a2a_exchange *exchange)
{
	char *field;

	if (agent->auth.tokens)
		return a2a_auth_field(&agent->auth, task_is_unwanted, exchange);
	pthread_mutex_lock(&agent->lock);
	field = a2a_auth_field(&agent->auth, task_is_unwanted, exchange);
	pthread_mutex_unlock(&agent->lock);
	return field;
}

static bool exchange_send_once(struct a2a_exchange *exchange, struct err *err)
{
	static const struct http_events events = { .head = on_agent_head,
		                                   .body = on_agent_body,
		                                   .waiting = on_agent_waiting };
	struct a2a_agent *agent = exchange->asking->agent;
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
	return http_client_send(exchange->asking->client, &request, &events, exchange, err);
}

/* Whether the request may be sent again; the time that a login takes does not count. */
static bool agent_log_in(struct a2a_exchange *exchange, struct err *err)
{
	struct a2a_asking *asking = exchange->asking;
	const uint64_t since = clock_monotonic_ms();
	const bool ok = mcp_auth_challenged(asking->agent->auth.tokens, exchange->status,
	                                    span_str(exchange->challenge), exchange->field,
	                                    task_is_unwanted, exchange, err);

	asking->until_ms += clock_monotonic_ms() - since;
	buf_clear(&exchange->body);
	return ok;
}

/* Whether there is another field by now, so that the request may be sent again.  False without
 * *err: it is the same that was refused. */
static bool agent_renew_field(struct a2a_exchange *exchange, struct err *err)
{
	struct a2a_agent *agent = exchange->asking->agent;
	const uint64_t since = clock_monotonic_ms();
	json_auto_t *said = agent->renew(agent->renew_data, err);
	const struct a2a_options options = { .name = agent->name, .auth = said };
	struct a2a_auth auth = { 0 };
	char *fresh;
	bool ok = said && a2a_auth_open(&options, &auth, err);

	exchange->asking->until_ms += clock_monotonic_ms() - since;
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

static bool agent_wants_login(const struct a2a_exchange *exchange)
{
	return exchange->status == 401 || exchange->status == 403;
}

static bool agent_refused(const struct a2a_exchange *exchange, struct err *err)
{
	const struct a2a_agent *agent = exchange->asking->agent;
	const char *what = exchange->is_bare ? "card of the agent" : "agent";
	const int status = exchange->status;

	if (agent_wants_login(exchange) && !agent->auth.any)
		return err_set(err, ERR_AUTHENTICATION_FAILED,
		               "The agent %s requires a login (HTTP status %d), and its file has "
		               "no \"auth\".", agent->name, status);
	if (agent_wants_login(exchange))
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
	struct a2a_asking *asking = exchange->asking;
	const char *name = asking->agent->name;

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
	if (asking->timed_out)
		return err_set(err, ERR_LIMIT_REACHED, "The agent %s has not answered in time.",
		               name);
	return err_set(err, why->code, "The agent %s: %s", name, why->message);
}

/* Sends it, after a login if need be. True: the answer, or all of it that is waited for, came. */
static bool exchange_send(struct a2a_exchange *exchange, struct err *err)
{
	const struct a2a_agent *agent = exchange->asking->agent;
	struct err why = ERR_INIT, renewal = ERR_INIT;
	bool ok = exchange_send_once(exchange, &why);

	for (int i = 0; ok && i < LOGINS_MAX && agent_wants_login(exchange) && agent->auth.tokens;
	     i++) {
		if (!agent_log_in(exchange, err))
			return false;
		ok = exchange_send_once(exchange, &why);
	}
	if (ok && agent_wants_login(exchange) && agent->auth.field && agent->renew) {
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
	if (!exchange->is_bare && !agent_wants_login(exchange) &&
	    span_starts(span_trim(buf_view(&exchange->body)), SPAN("{"))) {
		if (!take_response(exchange, buf_view(&exchange->body))) {
			*err = exchange->why;
			return false;
		}
	}
	return (exchange->status >= 200 && exchange->status < 300) || agent_refused(exchange, err);
}

static void exchange_open(struct a2a_exchange *exchange, struct a2a_asking *asking)
{
	*exchange = (struct a2a_exchange){ .asking = asking, .method = "POST",
		                           .accept = "Accept: application/json",
		                           .body = BUF_INIT(EVENT_BYTES), .why = ERR_INIT,
		                           .cancel = asking->request->cancel };
	sse_reader_init(&exchange->events, EVENT_BYTES, on_stream_event, exchange);
}

static void exchange_close(struct a2a_exchange *exchange)
{
	sse_reader_release(&exchange->events);
	buf_release(&exchange->body);
	free(exchange->challenge);
	if (exchange->field)
		explicit_bzero(exchange->field, strlen(exchange->field));
	free(exchange->field);
}

/* ---- the card --------------------------------------------------------------------- */

static bool card_take(struct a2a_agent *agent, struct span text, struct err *err)
{
	struct a2a_card card = { 0 };
	struct err why = ERR_INIT;

	if (!a2a_card_read(text, agent->card_url, &card, &why))
		return err_set(err, why.code, "The agent %s cannot be used: %s", agent->name,
		               why.message);
	if (card.other_origin && agent->auth.any) {
		const struct span host = a2a_url_host(card.url);

		err_set(err, ERR_TOOL_FAILED,
		        "The agent %s cannot be used: its card sends tasks to %.*s, port %lu, "
		        "which is not its own %s, and its login must not be sent there.",
		        agent->name, (int)host.len, host.data, a2a_url_port(card.url),
		        card.elsewhere ? "host" : "address");
		a2a_card_release(&card);
		return false;
	}
	pthread_mutex_lock(&agent->lock);
	if (!agent->has_card) {
		agent->card = card;
		card = (struct a2a_card){ 0 };
	}
	agent->has_card = true;
	pthread_mutex_unlock(&agent->lock);
	a2a_card_release(&card);
	return true;
}

static bool card_fetch(struct a2a_asking *asking, struct err *err)
{
	struct a2a_agent *agent = asking->agent;
	struct a2a_exchange exchange;
	bool ok;

	exchange_open(&exchange, asking);
	exchange.method = "GET";
	exchange.url = agent->card_url;
	exchange.is_bare = true;
	exchange.body.max = A2A_CARD_BYTES;
	exchange.total_ms = asking->request->timeout_ms < CARD_MS ? asking->request->timeout_ms :
	                                                            CARD_MS;
	ok = exchange_send(&exchange, err) && card_take(agent, buf_view(&exchange.body), err);
	exchange_close(&exchange);
	return ok;
}

static bool card_need(struct a2a_asking *asking, struct err *err)
{
	struct a2a_agent *agent = asking->agent;
	bool has_card;

	pthread_mutex_lock(&agent->lock);
	has_card = agent->has_card;
	pthread_mutex_unlock(&agent->lock);
	if (has_card)
		return true;
	return agent->card_url ? card_fetch(asking, err) :
	                         card_take(agent, span_str(agent->card_text), err);
}

/* ---- requests --------------------------------------------------------------------- */

/* Takes `message` (a2a_call_make). A stream of events is asked for with `streams`. */
static bool method_send(struct a2a_asking *asking, struct a2a_exchange *exchange,
                        enum a2a_method method, json_t *message, bool streams, struct err *err)
{
	struct a2a_call call;
	bool ok = a2a_call_make(&asking->agent->card, method, asking->reply.task, message, &call,
	                        err);

	exchange->method = call.http;
	exchange->url = call.url;
	exchange->sent = buf_view(&call.body);
	exchange->accept = streams ? "Accept: text/event-stream, application/json" :
	                             "Accept: application/json";
	asking->rpc_code = 0;
	ok = ok && exchange_send(exchange, err);
	a2a_call_release(&call);
	return ok;
}

/* A new object. */
static json_t *message_params(const struct a2a_asking *asking, const char *text)
{
	const struct a2a_reply *reply = &asking->reply;
	json_t *part = json_pack("{s:o}", "text", json_text(span_str(text)));
	json_t *message = json_pack("{s:o, s:s, s:[o]}", "messageId", a2a_random_id(), "role",
	                            asking->agent->card.is_v1 ? "ROLE_USER" : "user", "parts",
	                            part);
	json_t *params = json_pack("{s:o}", "message", message);

	if (reply->context)
		json_object_set_new(message, "contextId", json_text(span_str(reply->context)));
	if (reply->task)
		json_object_set_new(message, "taskId", json_text(span_str(reply->task)));
	if (!asking->agent->card.is_v1) {
		json_object_set_new(message, "kind", json_string("message"));
		json_object_set_new(part, "kind", json_string("text"));
		json_object_set_new(params, "configuration", json_pack("{s:b}", "blocking", 1));
	}
	return params;
}

static bool message_send(struct a2a_asking *asking, const char *text, bool streams, struct err *err)
{
	struct a2a_exchange exchange;
	bool ok;

	exchange_open(&exchange, asking);
	ok = method_send(asking, &exchange, streams ? A2A_STREAM : A2A_SEND,
	                 message_params(asking, text), streams, err);
	exchange_close(&exchange);
	return ok;
}

/* A request about the task; `total_ms` of it, 0: a stream, until it says no more. */
static bool task_request(struct a2a_asking *asking, enum a2a_method method, unsigned total_ms,
                         const struct cancel *cancel, struct err *err)
{
	struct a2a_exchange exchange;
	bool ok;

	exchange_open(&exchange, asking);
	exchange.total_ms = total_ms;
	exchange.idle_ms = total_ms ? 0 : REJOINED_IDLE_MS;
	exchange.cancel = cancel;
	ok = method_send(asking, &exchange, method, NULL, !total_ms, err);
	exchange_close(&exchange);
	return ok;
}

/* Cancels the abandoned task at the agent, whose answer does not matter. */
static void cancel_there(struct a2a_asking *asking)
{
	const enum a2a_state state = asking->reply.state;
	struct err ignored = ERR_INIT;

	if (!asking->reply.task || state >= A2A_STATE_COMPLETED || asking->reply.has_message)
		return;
	task_request(asking, A2A_CANCEL, CANCEL_MS, NULL, &ignored);
	asking->reply.state = A2A_STATE_CANCELED;
}

/* ---- a task that is not over when its answer is -------------------------------------- */

/* False: cancelled, or the time is over. */
static bool wait_before_get(struct a2a_asking *asking, unsigned ms, struct err *err)
{
	struct pollfd stop = { .fd = cancel_fd(asking->request->cancel), .events = POLLIN };
	const unsigned left = ms_left_until(asking->until_ms, clock_monotonic_ms());

	poll(&stop, 1, (int)(ms < left ? ms : left));
	if (cancelled(asking->request->cancel))
		return err_set(err, ERR_CANCELLED, "The call was cancelled.");
	asking->timed_out = clock_monotonic_ms() >= asking->until_ms;
	return !asking->timed_out ||
	       err_set(err, ERR_LIMIT_REACHED, "The agent %s has not answered in time.",
	               asking->agent->name);
}

static bool task_poll(struct a2a_asking *asking, struct err *err)
{
	unsigned ms = POLL_MS, failed = 0;

	while (!a2a_reply_is_settled(&asking->reply)) {
		struct err why = ERR_INIT;

		if (!asking->reply.task)
			return err_set(err, ERR_TOOL_FAILED,
			               "The agent %s ended its answer without a result.",
			               asking->agent->name);
		if (!wait_before_get(asking, ms, err))
			return false;
		ms = ms + ms / 2 < POLL_MS_MAX ? ms + ms / 2 : POLL_MS_MAX;
		if (task_request(asking, A2A_GET, GET_MS, asking->request->cancel, &why)) {
			failed = 0;
		} else if (why.code != ERR_NETWORK_ERROR || ++failed == POLLS_FAILED_MAX) {
			*err = why;
			return false;
		}
	}
	return true;
}

/* ---- one round ------------------------------------------------------------------- */

/* What can be followed up by asking for the task. */
static bool is_followed(const struct a2a_asking *asking, const struct err *why)
{
	return why->code == ERR_NETWORK_ERROR && asking->reply.task &&
	       asking->reply.state != A2A_STATE_NONE;
}

/* A stream that broke off is taken up again where the agent can do that; what was said meanwhile
 * is in the task. What fails is followed by asking for the task. */
static void task_rejoin(struct a2a_asking *asking)
{
	struct err ignored = ERR_INIT;
	bool joined = false;

	for (int i = 0; i < REJOINS_MAX && asking->reply.task &&
	                !a2a_reply_is_settled(&asking->reply); i++) {
		if (!wait_before_get(asking, POLL_MS, &ignored) ||
		    (!task_request(asking, A2A_SUBSCRIBE, 0, asking->request->cancel, &ignored) &&
		     ignored.code != ERR_NETWORK_ERROR))
			break;
		joined = true;
	}
	asking->rpc_code = 0;
	if (joined && a2a_reply_is_settled(&asking->reply) && !asking->reply.has_message)
		task_request(asking, A2A_GET, GET_MS, asking->request->cancel, &ignored);
}

/* Sends `text` and waits until the task rests. */
static bool round_run(struct a2a_asking *asking, const char *text, struct err *err)
{
	const bool kept = asking->reply.task;
	struct err why = ERR_INIT;
	bool ok = message_send(asking, text, asking->agent->card.streams, &why);

	if (!ok && asking->rpc_code == UNSUPPORTED && asking->agent->card.streams)
		ok = message_send(asking, text, false, &why);
	if (!ok && asking->rpc_code && kept && asking->reply.state == A2A_STATE_NONE) {
		/* It does not know the task any more. */
		free(mem_steal(&asking->reply.task));
		ok = message_send(asking, text, asking->agent->card.streams, &why);
	}
	if (!ok && !is_followed(asking, &why)) {
		*err = why;
		return false;
	}
	if (asking->agent->card.streams && !a2a_reply_is_settled(&asking->reply))
		task_rejoin(asking);
	return task_poll(asking, err);
}

/* ---- a task ---------------------------------------------------------------------- */

static bool agent_asks(const struct a2a_reply *reply)
{
	return !reply->has_message &&
	       (reply->state == A2A_STATE_AUTH ||
	        (reply->state == A2A_STATE_INPUT &&
	         !span_is_blank(buf_view(&reply->last))));
}

/* The caller frees. */
static char *agent_question(struct a2a_asking *asking, struct err *err)
{
	const struct a2a_request *request = asking->request;
	const uint64_t since = clock_monotonic_ms();
	char *answer = request->question(request->data, span_trim(buf_view(&asking->reply.last)),
	                                 asking->reply.state == A2A_STATE_AUTH, err);

	asking->until_ms += clock_monotonic_ms() - since;
	return answer;
}

/* How the task ended; *err unless it is well. */
static enum a2a_end task_end(struct a2a_asking *asking, struct err *err)
{
	static const char *const words[] = {
		[A2A_STATE_FAILED] = "says that it failed",
		[A2A_STATE_CANCELED] = "says that the task was cancelled there",
		[A2A_STATE_REJECTED] = "rejects the task",
	};
	const struct a2a_reply *reply = &asking->reply;
	_cleanup_buf_ struct buf said = BUF_INIT(8 * SAID_BYTES);

	if (reply->has_message || reply->state == A2A_STATE_COMPLETED ||
	    reply->state == A2A_STATE_INPUT)
		return A2A_ANSWERED;
	name_line(&said, utf8_head(span_trim(buf_view(&reply->last)), SAID_BYTES));
	err_set(err, ERR_TOOL_FAILED, "The agent %s %s%s%s", asking->agent->name,
	        words[reply->state], said.len ? ": " : ".", said.len ? said.data : "");
	return A2A_FAILED;
}

static enum a2a_end task_run(struct a2a_asking *asking, struct err *err)
{
	_cleanup_free_ char *text = mem_strdup(asking->request->task);

	if (!card_need(asking, err))
		return cancelled(asking->request->cancel) ? A2A_CANCELLED : A2A_FAILED;
	for (unsigned asked = 0;; asked++) {
		char *answer;

		if (!round_run(asking, text, err))
			return cancelled(asking->request->cancel) ? A2A_CANCELLED :
			       asking->timed_out ? A2A_TIME_LIMIT : A2A_FAILED;
		if (!agent_asks(&asking->reply))
			return task_end(asking, err);
		if (asked == QUESTIONS_MAX) {
			err_set(err, ERR_LIMIT_REACHED, "The agent %s has asked %d times.",
			        asking->agent->name, QUESTIONS_MAX);
			return A2A_FAILED;
		}
		answer = agent_question(asking, err);
		if (!answer)
			return cancelled(asking->request->cancel) ? A2A_CANCELLED : A2A_ASKED;
		free(text);
		text = answer;
		a2a_reply_continue(&asking->reply);
	}
}

/* A task that waits is for one a2a_ask alone. */
static void conversation_take(struct a2a_asking *asking)
{
	struct a2a_agent *agent = asking->agent;

	pthread_mutex_lock(&agent->lock);
	asking->reply.context = mem_strdup(agent->context);
	asking->reply.task = mem_steal(&agent->task);
	pthread_mutex_unlock(&agent->lock);
}

static void conversation_keep(struct a2a_asking *asking)
{
	struct a2a_agent *agent = asking->agent;
	struct a2a_reply *reply = &asking->reply;
	const bool waits = reply->state == A2A_STATE_INPUT || reply->state == A2A_STATE_AUTH;

	pthread_mutex_lock(&agent->lock);
	if (reply->context) {
		free(agent->context);
		agent->context = mem_steal(&reply->context);
	}
	if (waits && reply->task) {
		free(agent->task);
		agent->task = mem_steal(&reply->task);
	}
	pthread_mutex_unlock(&agent->lock);
}

void a2a_ask(struct a2a_agent *agent, const struct a2a_request *request,
             struct a2a_outcome *ret, struct err *err)
{
	struct a2a_asking asking = { .agent = agent, .request = request,
		                     .client = http_client_new(),
		                     .until_ms = clock_monotonic_ms() + request->timeout_ms };

	a2a_reply_init(&asking.reply);
	conversation_take(&asking);
	*ret = (struct a2a_outcome){ .end = task_run(&asking, err) };
	if (ret->end == A2A_CANCELLED || ret->end == A2A_TIME_LIMIT || ret->end == A2A_FAILED ||
	    (ret->end == A2A_ASKED && err->code == ERR_DENIED_BY_USER))
		cancel_there(&asking);
	conversation_keep(&asking);
	ret->text = a2a_reply_text(&asking.reply);
	ret->cut = asking.reply.cut;
	a2a_reply_release(&asking.reply);
	http_client_free(asking.client);
}
