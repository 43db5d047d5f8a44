/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks for remote agents: the card, the requests (exchange.c), and the state of each task.
 *
 * Source: A2A 1.0, sections 9 (JSON-RPC) and 11, and specification/a2a.proto (HTTP+JSON: the tenant
 * is the first part of the path); 0.3, sections 7 (JSON-RPC) and 8.  A stream that breaks off is
 * resumed (SubscribeToTask); if that is impossible, or an answer comes before the task has ended,
 * GetTask is sent repeatedly.
 */
#include "a2a/a2a.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "a2a/private.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"

/* ---- what is sent for each method, in the binding that a card names ---- */

static const struct {
	const char *v1, *v03;       /* JSON-RPC's names */
	const char *http;           /* HTTP+JSON's method */
	const char *before, *after; /* and its path: around the task's id */
} methods[] = {
	[A2A_SEND] = { "SendMessage", "message/send", "POST", "/message:send", NULL },
	[A2A_STREAM] = { "SendStreamingMessage", "message/stream", "POST", "/message:stream",
	                 NULL },
	[A2A_GET] = { "GetTask", "tasks/get", "GET", "/tasks/", "" },
	[A2A_CANCEL] = { "CancelTask", "tasks/cancel", "POST", "/tasks/", ":cancel" },
	[A2A_SUBSCRIBE] = { "SubscribeToTask", "tasks/resubscribe", "GET", "/tasks/",
	                    ":subscribe" },
};

/* A UUID, a new string. */
static json_t *a2a_random_id(void)
{
	char id[RANDOM_UUID_SIZE];

	random_uuid(id);
	return json_string(id);
}

/* Nothing of a stranger's text leaves its part of the path. */
static void put_path_part(struct buf *out, const char *text)
{
	for (; *text; text++)
		buf_printf(out, ascii_is_alnum(*text) || strchr("-_~", *text) ? "%c" : "%%%02X",
		           (unsigned char)*text);
}

/* The address of the method in HTTP+JSON; the caller frees. */
static char *http_address(const struct a2a_card *card, enum a2a_method method, const char *task)
{
	_cleanup_buf_ struct buf out = BUF_INIT(A2A_URL_BYTES + 6 * A2A_ID_BYTES + 100);
	struct span base = span_str(card->url);

	while (span_ends(base, SPAN("/")))
		base.len--;
	buf_span(&out, base);
	if (card->tenant) {
		buf_char(&out, '/');
		put_path_part(&out, card->tenant);
	}
	buf_str(&out, methods[method].before);
	if (methods[method].after) {
		put_path_part(&out, task);
		buf_str(&out, methods[method].after);
	}
	return buf_steal(&out);
}

static bool a2a_call_make(const struct a2a_card *card, enum a2a_method method, const char *task,
                          json_t *message, struct a2a_call *ret, struct err *err)
{
	json_auto_t *params = message ? message : json_object(), *request = NULL;
	struct a2a_call call = { .http = "POST", .body = BUF_INIT(LIMIT_MESSAGE_BYTES) };
	bool ok = true;

	if (card->is_rest) {
		call.http = methods[method].http;
		call.url = http_address(card, method, task);
		if (strcmp(call.http, "GET") != 0)
			ok = json_print(&call.body, params, 0);
	} else {
		call.url = mem_strdup(card->url);
		if (card->tenant)
			json_object_set_new(params, "tenant", json_string(card->tenant));
		if (methods[method].after)
			json_object_set_new(params, "id", json_text(span_str(task)));
		request = json_pack("{s:s, s:o, s:s, s:O}", "jsonrpc", "2.0", "id",
		                    a2a_random_id(), "method",
		                    card->is_v1 ? methods[method].v1 : methods[method].v03,
		                    "params", params);
		ok = json_print(&call.body, request, 0);
	}
	*ret = call;
	return ok || err_set(err, ERR_TOO_LARGE, "The task is too large to be sent.");
}

/* `message`: of those that send one, taken; else NULL.  `task`: of the others, its id.  TOO_LARGE;
 * `ret` must be released then, too. */
static void a2a_call_release(struct a2a_call *call)
{
	free(call->url);
	buf_release(&call->body);
}

enum {
	CARD_MS = 30000,
	CANCEL_MS = 5000,       /* for the agent to hear that a task is cancelled */
	GET_MS = 30000,         /* of one GetTask */
	POLL_MS = 500,          /* before the first GetTask; then half as long again */
	POLL_MS_MAX = 10000,
	POLLS_FAILED_MAX = 5,   /* in a row */
	REJOINS_MAX = 3,        /* of one stream */
	REJOINED_IDLE_MS = 10000, /* then the task is asked for: it may have ended meanwhile */
	QUESTIONS_MAX = 32,
};

#define WELL_KNOWN "/.well-known/agent-card.json"

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

static bool card_fetch(struct a2a_ask *ask, struct err *err)
{
	struct a2a_agent *agent = ask->agent;
	struct a2a_exchange exchange;
	bool ok;

	exchange_open(&exchange, ask);
	exchange.method = "GET";
	exchange.url = agent->card_url;
	exchange.is_bare = true;
	exchange.body.max = A2A_CARD_BYTES;
	exchange.total_ms = ask->request->timeout_ms < CARD_MS ? ask->request->timeout_ms :
	                                                            CARD_MS;
	ok = exchange_send(&exchange, err) && card_take(agent, buf_view(&exchange.body), err);
	exchange_close(&exchange);
	return ok;
}

static bool card_need(struct a2a_ask *ask, struct err *err)
{
	struct a2a_agent *agent = ask->agent;
	bool has_card;

	pthread_mutex_lock(&agent->lock);
	has_card = agent->has_card;
	pthread_mutex_unlock(&agent->lock);
	if (has_card)
		return true;
	return agent->card_url ? card_fetch(ask, err) :
	                         card_take(agent, span_str(agent->card_text), err);
}

/* ---- requests --------------------------------------------------------------------- */

/* Takes `message` (a2a_call_make). A stream of events is asked for with `streams`. */
static bool method_send(struct a2a_ask *ask, struct a2a_exchange *exchange,
                        enum a2a_method method, json_t *message, bool streams, struct err *err)
{
	struct a2a_call call;
	bool ok = a2a_call_make(&ask->agent->card, method, ask->reply.task, message, &call,
	                        err);

	exchange->method = call.http;
	exchange->url = call.url;
	exchange->sent = buf_view(&call.body);
	exchange->accept = streams ? "Accept: text/event-stream, application/json" :
	                             "Accept: application/json";
	ask->rpc_code = 0;
	ok = ok && exchange_send(exchange, err);
	a2a_call_release(&call);
	return ok;
}

/* A new object. */
static json_t *message_params(const struct a2a_ask *ask, const char *text)
{
	const struct a2a_reply *reply = &ask->reply;
	json_t *part = json_pack("{s:o}", "text", json_text(span_str(text)));
	json_t *message = json_pack("{s:o, s:s, s:[o]}", "messageId", a2a_random_id(), "role",
	                            ask->agent->card.is_v1 ? "ROLE_USER" : "user", "parts",
	                            part);
	json_t *params = json_pack("{s:o}", "message", message);

	if (reply->context)
		json_object_set_new(message, "contextId", json_text(span_str(reply->context)));
	if (reply->task)
		json_object_set_new(message, "taskId", json_text(span_str(reply->task)));
	if (!ask->agent->card.is_v1) {
		json_object_set_new(message, "kind", json_string("message"));
		json_object_set_new(part, "kind", json_string("text"));
		json_object_set_new(params, "configuration", json_pack("{s:b}", "blocking", 1));
	}
	return params;
}

static bool message_send(struct a2a_ask *ask, const char *text, bool streams, struct err *err)
{
	struct a2a_exchange exchange;
	bool ok;

	exchange_open(&exchange, ask);
	ok = method_send(ask, &exchange, streams ? A2A_STREAM : A2A_SEND,
	                 message_params(ask, text), streams, err);
	exchange_close(&exchange);
	return ok;
}

/* A request about the task; `total_ms` of it, 0: a stream, until it says no more. */
static bool task_request(struct a2a_ask *ask, enum a2a_method method, unsigned total_ms,
                         const struct cancel *cancel, struct err *err)
{
	struct a2a_exchange exchange;
	bool ok;

	exchange_open(&exchange, ask);
	exchange.total_ms = total_ms;
	exchange.idle_ms = total_ms ? 0 : REJOINED_IDLE_MS;
	exchange.cancel = cancel;
	ok = method_send(ask, &exchange, method, NULL, !total_ms, err);
	exchange_close(&exchange);
	return ok;
}

/* Cancels the abandoned task at the agent, whose answer does not matter. */
static void cancel_there(struct a2a_ask *ask)
{
	const enum a2a_state state = ask->reply.state;
	struct err ignored = ERR_INIT;

	if (!ask->reply.task || state >= A2A_STATE_COMPLETED || ask->reply.has_message)
		return;
	task_request(ask, A2A_CANCEL, CANCEL_MS, NULL, &ignored);
	ask->reply.state = A2A_STATE_CANCELED;
}

/* ---- a task that is not over when its answer is -------------------------------------- */

/* False: cancelled, or the time is over. */
static bool wait_before_get(struct a2a_ask *ask, unsigned ms, struct err *err)
{
	struct pollfd stop = { .fd = cancel_fd(ask->request->cancel), .events = POLLIN };
	const unsigned left = exchange_ms_left(ask->until_ms, clock_monotonic_ms());

	fd_wait(&stop, 1, (int)(ms < left ? ms : left));
	if (cancelled(ask->request->cancel))
		return err_set(err, ERR_CANCELLED, "The call was cancelled.");
	ask->timed_out = clock_monotonic_ms() >= ask->until_ms;
	return !ask->timed_out ||
	       err_set(err, ERR_LIMIT_REACHED, "The agent %s has not answered in time.",
	               ask->agent->name);
}

static bool task_poll(struct a2a_ask *ask, struct err *err)
{
	unsigned ms = POLL_MS, failed = 0;

	while (!a2a_reply_is_settled(&ask->reply)) {
		struct err why = ERR_INIT;

		if (!ask->reply.task)
			return err_set(err, ERR_TOOL_FAILED,
			               "The agent %s ended its answer without a result.",
			               ask->agent->name);
		if (!wait_before_get(ask, ms, err))
			return false;
		ms = ms + ms / 2 < POLL_MS_MAX ? ms + ms / 2 : POLL_MS_MAX;
		if (task_request(ask, A2A_GET, GET_MS, ask->request->cancel, &why)) {
			failed = 0;
		} else if (why.code != ERR_NETWORK_ERROR || ++failed == POLLS_FAILED_MAX) {
			*err = why;
			return false;
		}
	}
	return true;
}

/* ---- one round ------------------------------------------------------------------- */

/* What can be followed up by requests for the task. */
static bool is_followed(const struct a2a_ask *ask, const struct err *why)
{
	return why->code == ERR_NETWORK_ERROR && ask->reply.task &&
	       ask->reply.state != A2A_STATE_NONE;
}

/* A stream that broke off is taken up again where the agent can do that; what was said meanwhile
 * is in the task. What fails is followed by asking for the task. */
static void task_rejoin(struct a2a_ask *ask)
{
	struct err ignored = ERR_INIT;
	bool joined = false;

	for (int i = 0; i < REJOINS_MAX && ask->reply.task &&
	                !a2a_reply_is_settled(&ask->reply); i++) {
		if (!wait_before_get(ask, POLL_MS, &ignored) ||
		    (!task_request(ask, A2A_SUBSCRIBE, 0, ask->request->cancel, &ignored) &&
		     ignored.code != ERR_NETWORK_ERROR))
			break;
		joined = true;
	}
	ask->rpc_code = 0;
	if (joined && a2a_reply_is_settled(&ask->reply) && !ask->reply.has_message)
		task_request(ask, A2A_GET, GET_MS, ask->request->cancel, &ignored);
}

/* Sends `text` and waits until the task rests. */
static bool round_run(struct a2a_ask *ask, const char *text, struct err *err)
{
	const bool kept = ask->reply.task;
	struct err why = ERR_INIT;
	bool ok = message_send(ask, text, ask->agent->card.streams, &why);

	if (!ok && ask->rpc_code == UNSUPPORTED && ask->agent->card.streams)
		ok = message_send(ask, text, false, &why);
	if (!ok && ask->rpc_code && kept && ask->reply.state == A2A_STATE_NONE) {
		/* It does not know the task any more. */
		free(mem_steal(&ask->reply.task));
		ok = message_send(ask, text, ask->agent->card.streams, &why);
	}
	if (!ok && !is_followed(ask, &why)) {
		*err = why;
		return false;
	}
	if (ask->agent->card.streams && !a2a_reply_is_settled(&ask->reply))
		task_rejoin(ask);
	return task_poll(ask, err);
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
static char *agent_question(struct a2a_ask *ask, struct err *err)
{
	const struct a2a_request *request = ask->request;
	const uint64_t since = clock_monotonic_ms();
	char *answer = request->question(request->data, span_trim(buf_view(&ask->reply.last)),
	                                 ask->reply.state == A2A_STATE_AUTH, err);

	ask->until_ms += clock_monotonic_ms() - since;
	return answer;
}

/* How the task ended; *err unless it is well. */
static enum a2a_end task_end(struct a2a_ask *ask, struct err *err)
{
	static const char *const words[] = {
		[A2A_STATE_FAILED] = "says that it failed",
		[A2A_STATE_CANCELED] = "says that the task was cancelled there",
		[A2A_STATE_REJECTED] = "rejects the task",
	};
	const struct a2a_reply *reply = &ask->reply;
	_cleanup_buf_ struct buf said = BUF_INIT(8 * SAID_BYTES);

	if (reply->has_message || reply->state == A2A_STATE_COMPLETED ||
	    reply->state == A2A_STATE_INPUT)
		return A2A_ANSWERED;
	name_line(&said, utf8_head(span_trim(buf_view(&reply->last)), SAID_BYTES));
	err_set(err, ERR_TOOL_FAILED, "The agent %s %s%s%s", ask->agent->name,
	        words[reply->state], said.len ? ": " : ".", said.len ? said.data : "");
	return A2A_FAILED;
}

static enum a2a_end task_run(struct a2a_ask *ask, struct err *err)
{
	_cleanup_free_ char *text = mem_strdup(ask->request->task);

	if (!card_need(ask, err))
		return cancelled(ask->request->cancel) ? A2A_CANCELLED : A2A_FAILED;
	for (unsigned asked = 0;; asked++) {
		char *answer;

		if (!round_run(ask, text, err))
			return cancelled(ask->request->cancel) ? A2A_CANCELLED :
			       ask->timed_out ? A2A_TIME_LIMIT : A2A_FAILED;
		if (!agent_asks(&ask->reply))
			return task_end(ask, err);
		if (asked == QUESTIONS_MAX) {
			err_set(err, ERR_LIMIT_REACHED, "The agent %s has asked %d times.",
			        ask->agent->name, QUESTIONS_MAX);
			return A2A_FAILED;
		}
		answer = agent_question(ask, err);
		if (!answer)
			return cancelled(ask->request->cancel) ? A2A_CANCELLED : A2A_ASKED;
		free(text);
		text = answer;
		a2a_reply_continue(&ask->reply);
	}
}

/* A task that waits is for one a2a_ask alone. */
static void conversation_take(struct a2a_ask *ask)
{
	struct a2a_agent *agent = ask->agent;

	pthread_mutex_lock(&agent->lock);
	ask->reply.context = mem_strdup(agent->context);
	ask->reply.task = mem_steal(&agent->task);
	pthread_mutex_unlock(&agent->lock);
}

static void conversation_keep(struct a2a_ask *ask)
{
	struct a2a_agent *agent = ask->agent;
	struct a2a_reply *reply = &ask->reply;
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
	struct a2a_ask ask = { .agent = agent, .request = request,
		                     .client = http_client_new(),
		                     .until_ms = clock_monotonic_ms() + request->timeout_ms };

	a2a_reply_init(&ask.reply);
	conversation_take(&ask);
	*ret = (struct a2a_outcome){ .end = task_run(&ask, err) };
	if (ret->end == A2A_CANCELLED || ret->end == A2A_TIME_LIMIT || ret->end == A2A_FAILED ||
	    (ret->end == A2A_ASKED && err->code == ERR_DENIED_BY_USER))
		cancel_there(&ask);
	conversation_keep(&ask);
	ret->text = a2a_reply_text(&ask.reply);
	ret->cut = ask.reply.cut;
	a2a_reply_release(&ask.reply);
	http_client_free(ask.client);
}
