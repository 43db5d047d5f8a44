/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the client, asked over the peer or, of stateless ones, by answers that ask. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/protocol/private.h"

/* ---- signatures -------------------------------------------------------------- */

enum { BLOCK = 64 }; /* of SHA-256 */

static void hmac_start(struct sha256_stream *stream, const struct sha256 *key, unsigned char pad)
{
	char block[BLOCK];

	memset(block, (char)pad, sizeof(block));
	for (size_t i = 0; i < SHA256_SIZE; i++)
		block[i] = (char)(key->bytes[i] ^ pad);
	sha256_init(stream);
	sha256_update(stream, span_of(block, sizeof(block)));
}

void sign_hex(const struct sha256 *key, struct span text, char hex[static SHA256_HEX_SIZE])
{
	struct sha256_stream stream;
	struct sha256 sum;

	hmac_start(&stream, key, 0x36);
	sha256_update(&stream, text);
	sum = sha256_final(&stream);
	hmac_start(&stream, key, 0x5c);
	sha256_update(&stream, span_of((const char *)sum.bytes, SHA256_SIZE));
	sum = sha256_final(&stream);
	sha256_hex(&sum, hex);
}

bool mcp_sign_check(const struct sha256 *key, struct span text, struct span hex)
{
	char wanted[SHA256_HEX_SIZE];
	unsigned char difference = 0;

	if (hex.len != SHA256_HEX_SIZE - 1)
		return false;
	sign_hex(key, text, wanted);
	for (size_t i = 0; i < hex.len; i++)
		difference |= (unsigned char)(wanted[i] ^ hex.data[i]);
	return difference == 0;
}

/* ---- in answers -------------------------------------------------------------- */

/* Questions to stateless clients: multi round-trip requests.
 *
 * What was answered in earlier rounds, as far as the handler asked for it, travels through the
 * client in requestState, together with what the handler remembers: "<64 digits>:<JSON>",
 * the digits being an HMAC-SHA-256 of the JSON under a key that lives as long as the process.
 * The JSON says until when it holds and of which request it is.
 *
 * Source: 2026-07-28, basic/patterns/mrtr.
 */

enum { LIFETIME_S = 1800 }; /* a person has to answer meanwhile */

static json_int_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec;
}

void ask_questions_release(struct call_questions *questions)
{
	json_decref(questions->answers);
	json_decref(questions->used);
	json_decref(questions->asked);
	free(questions->state);
	*questions = (struct call_questions){ 0 };
}

/* Names the request: its method and what it is about, whatever the order of members. */
static json_t *request_digest(const struct mcp_call *call)
{
	_cleanup_free_ char *arguments =
		json_dumps(call->arguments, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY);
	struct span parts[] = { span_str(call->message.method), span_str(call->name),
	                        span_str(call->uri), span_str(arguments) };
	struct sha256_stream stream;
	struct sha256 sum;

	sha256_init(&stream);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		sha256_update(&stream, parts[i]);
		sha256_update(&stream, SPAN("\0"));
	}
	sum = sha256_final(&stream);
	return json_sha256(&sum);
}

static json_t *state_text(const struct mcp_call *call)
{
	_cleanup_buf_ struct buf payload = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	const struct call_questions *questions = &call->questions;
	json_t *object = json_pack("{s:I,s:o,s:o}", "expires", now_s() + LIFETIME_S, "request",
	                           request_digest(call), "state",
	                           json_cstr(questions->state ? questions->state : ""));
	char hex[SHA256_HEX_SIZE];

	if (questions->used)
		json_object_set(object, "answers", questions->used);
	json_print(&payload, object, 0);
	json_decref(object);
	sign_hex(&call->peer->server->key, buf_view(&payload), hex);
	buf_str(&out, hex);
	buf_char(&out, ':');
	buf_span(&out, buf_view(&payload));
	return json_text(buf_view(&out));
}

json_t *ask_questions_result(const struct mcp_call *call)
{
	json_t *state = state_text(call);
	json_t *result;

	if (json_string_length(state) > LIMIT_REQUEST_STATE_BYTES) {
		json_decref(state);
		return NULL;
	}
	result = json_object();
	json_object_set_new(result, "resultType", json_string("input_required"));
	if (call->questions.asked)
		json_object_set(result, "inputRequests", call->questions.asked);
	json_object_set_new(result, "requestState", state);
	return result;
}

/* The answer known for `key`, or notes that it is asked. */
static enum mcp_ask questions_ask(struct mcp_call *call, const char *key, const char *method,
                                  json_t *params, json_t **ret)
{
	struct call_questions *questions = &call->questions;
	json_t *answer = json_object_get(questions->answers, key);
	json_t *question;

	if (answer) {
		questions->used = questions->used ? questions->used : json_object();
		json_object_set(questions->used, key, answer);
		*ret = json_incref(answer);
		return MCP_ASK_ANSWERED;
	}
	questions->asked = questions->asked ? questions->asked : json_object();
	question = json_object();
	json_object_set_new(question, "method", json_cstr(method));
	json_object_set(question, "params", params);
	json_object_set_new(questions->asked, key, question);
	return MCP_ASK_PENDING;
}

/* --- Reading them back ------------------------------------------------------------------- */

static bool bad_state(struct refusal *refusal, const char *why)
{
	return mcp_refuse(refusal, RPC_INVALID_PARAMS, "params.requestState %s.", why);
}

static bool take_signed_answers(struct mcp_call *call, const json_t *payload,
                                struct refusal *refusal)
{
	struct call_questions *questions = &call->questions;
	json_t *digest = request_digest(call);
	bool same = json_equal(digest, json_object_get(payload, "request"));
	json_t *answers = json_object_get(payload, "answers");

	json_decref(digest);
	if (!same)
		return bad_state(refusal, "belongs to another request");
	if (json_integer_value(json_object_get(payload, "expires")) < now_s())
		return bad_state(refusal, "has expired: send the request without it");
	questions->state = mem_strdup(json_string_value(json_object_get(payload, "state")));
	questions->answers = answers ? json_copy(answers) : NULL;
	return true;
}

static bool open_state(struct mcp_call *call, const json_t *state, struct refusal *refusal)
{
	struct span text = json_span(state);
	struct err err = ERR_INIT;
	struct span payload;
	json_t *object;
	bool taken;

	if (!json_is_string(state))
		return bad_state(refusal, "must be a string");
	if (text.len > LIMIT_REQUEST_STATE_BYTES)
		return bad_state(refusal, "is too long");
	payload = span_skip(text, SHA256_HEX_SIZE);
	if (text.len < SHA256_HEX_SIZE || text.data[SHA256_HEX_SIZE - 1] != ':' ||
	    !mcp_sign_check(&call->peer->server->key, payload,
	                    span_head(text, SHA256_HEX_SIZE - 1)) ||
	    !json_parse(payload, &object, &err))
		return bad_state(refusal, "is not what this server has sent");
	taken = take_signed_answers(call, object, refusal);
	json_decref(object);
	return taken;
}

/* The client's answers of this round, added to those of earlier rounds. */
static bool take_answers(struct mcp_call *call, json_t *responses, struct refusal *refusal)
{
	const char *key;
	json_t *answer;

	if (!json_is_object(responses))
		return mcp_refuse(refusal, RPC_INVALID_PARAMS,
		                  "params.inputResponses must be an object, not %s.",
		                  json_type_phrase(responses));
	json_object_foreach(responses, key, answer) {
		if (!json_is_object(answer))
			return mcp_refuse(refusal, RPC_INVALID_PARAMS,
			                  "params.inputResponses.%s must be an object, not %s.",
			                  key,
			                  json_type_phrase(answer));
	}
	if (!call->questions.answers)
		call->questions.answers = json_object();
	json_object_update(call->questions.answers, responses);
	return true;
}

bool ask_questions_open(struct mcp_call *call, struct refusal *refusal)
{
	const json_t *state = json_object_get(call->params, "requestState");
	json_t *responses = json_object_get(call->params, "inputResponses");

	return (!state || open_state(call, state, refusal)) &&
	       (!responses || take_answers(call, responses, refusal));
}

/* ---- over the peer ----------------------------------------------------------- */

enum { TIMEOUT_MS = 600000 };

/* Held by the thread that waits and, until it is answered or given up, by the peer. */
struct client_question {
	struct idmap_entry entry; /* among the peer's, while `listed` */
	struct post arrive, drop;
	struct mcp_peer *peer;
	struct mcp_call *call; /* NULL: of no call */
	struct buf line;       /* the request */
	char id[24];
	bool listed;
	_Atomic unsigned holders;

	/* Of a call. */
	pthread_mutex_t lock; /* guards the rest of these */
	pthread_cond_t changed;
	bool done;
	enum mcp_ask outcome;
	struct rpc_message answer; /* owned; the whole of it, as values are not shared
	                            * between threads */

	/* Of no call. */
	void (*answered)(void *data, const json_t *result);
	void *data;
	struct loop_timer *timer;
};

static struct client_question *ask_make(struct mcp_peer *peer, struct mcp_call *call,
                                          const char *method, const json_t *params)
{
	struct client_question *ask = mem_alloc(1, sizeof(*ask));
	int64_t id = ++peer->last_ask;
	pthread_condattr_t clock;

	ask->peer = peer;
	ask->call = call;
	ask->holders = 1;
	ask->line.max = LIMIT_RESULT_BYTES;
	snprintf(ask->id, sizeof(ask->id), "%" PRId64, id);
	rpc_write_request(&ask->line, id, method, params);
	pthread_mutex_init(&ask->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&ask->changed, &clock);
	pthread_condattr_destroy(&clock);
	return ask;
}

static void ask_unhold(struct client_question *ask)
{
	if (--ask->holders)
		return;
	pthread_mutex_destroy(&ask->lock);
	pthread_cond_destroy(&ask->changed);
	buf_release(&ask->line);
	rpc_message_release(&ask->answer);
	free(ask);
}

/* --- Who can be asked what --------------------------------------------------------------- */

static bool elicitation_offered(const struct version *version, const json_t *declared,
                                const json_t *params)
{
	bool url = span_eq(json_span(json_object_get(params, "mode")), SPAN("url"));

	if (!version->elicitation || !json_is_object(declared))
		return false;
	if (!version->elicitation_url)
		return !url;
	/* An empty object stands for forms. */
	return json_object_get(declared, url ? "url" : "form") ||
	       (!url && json_object_size(declared) == 0);
}

/* Whether a client of these capabilities (NULL: none) can be asked that, in this version. The
 * params distinguish forms from URLs, and sampling with tools; NULL: plainly. */
static bool ask_offered(const struct version *version, const json_t *client, const char *method,
                        const json_t *params)
{
	struct span name = span_str(method);
	const json_t *sampling = json_object_get(client, "sampling");

	if (span_eq(name, SPAN("elicitation/create")))
		return elicitation_offered(version, json_object_get(client, "elicitation"), params);
	if (span_eq(name, SPAN("sampling/createMessage")))
		return json_is_object(sampling) &&
		       (!json_object_get(params, "tools") || json_object_get(sampling, "tools"));
	if (span_eq(name, SPAN("roots/list")))
		return json_is_object(json_object_get(client, "roots"));
	return span_eq(name, SPAN("ping")) && !version->stateless;
}

/* --- On the loop's thread ---------------------------------------------------------------- */

static void ask_unlist(struct client_question *ask)
{
	idmap_remove(&ask->peer->asks, &ask->entry);
	ask->listed = false;
	loop_timer_stop(ask->timer);
	ask->timer = NULL;
	if (ask->call)
		ask->call->ask = NULL;
}

/* Reports the outcome to the caller.  Takes `answer` over; NULL: there is none. */
static void ask_complete(struct client_question *ask, enum mcp_ask outcome,
                         struct rpc_message *answer)
{
	if (ask->answered) {
		ask->answered(ask->data, answer ? answer->body : NULL);
		peer_unhold(ask->peer);
	}
	pthread_mutex_lock(&ask->lock);
	ask->done = true;
	ask->outcome = outcome;
	if (answer) {
		ask->answer = *answer;
		*answer = (struct rpc_message){ 0 };
	}
	pthread_cond_signal(&ask->changed);
	pthread_mutex_unlock(&ask->lock);
	ask_unhold(ask);
}

static void ask_send(struct client_question *ask)
{
	struct mcp_call *call = ask->call;

	idmap_add(&ask->peer->asks, &ask->entry, span_str(ask->id));
	ask->listed = true;
	if (call)
		call->ask = ask;
	peer_send(ask->peer, call ? MCP_ROUTE_RELATED : MCP_ROUTE_UNRELATED,
	          call ? call->exchange : NULL, buf_view(&ask->line), 0);
}

static void ask_arrive(struct post *post)
{
	struct client_question *ask =
		(struct client_question *)((char *)post - offsetof(struct client_question, arrive));

	if (ask->peer->closed || ask->peer->input_ended ||
	    (ask->call && cancelled(&ask->call->cancel)))
		ask_complete(ask, MCP_ASK_LOST, NULL);
	else
		ask_send(ask);
}

static void send_cancelled(const struct client_question *ask)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_RESULT_BYTES);

	buf_printf(&line, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
	           "{\"requestId\":%s,\"reason\":\"No answer in time.\"}}", ask->id);
	peer_send(ask->peer, ask->call ? MCP_ROUTE_RELATED : MCP_ROUTE_UNRELATED,
	          ask->call ? ask->call->exchange : NULL, buf_view(&line), 0);
}

/* The asker has stopped waiting. */
static void ask_drop(struct post *post)
{
	struct client_question *ask =
		(struct client_question *)((char *)post - offsetof(struct client_question, drop));

	if (ask->listed) {
		send_cancelled(ask);
		ask_unlist(ask);
		ask_unhold(ask);
	}
	ask_unhold(ask);
}

void ask_answered(struct mcp_peer *peer, struct rpc_message *message)
{
	struct client_question *ask;
	char id[24];

	if (!json_is_integer(message->id))
		return;
	snprintf(id, sizeof(id), "%" JSON_INTEGER_FORMAT, json_integer_value(message->id));
	ask = (struct client_question *)idmap_find(&peer->asks, span_str(id));
	if (!ask)
		return;
	ask_unlist(ask);
	if (message->kind == RPC_RESULT && json_is_object(message->body))
		ask_complete(ask, MCP_ASK_ANSWERED, message);
	else
		ask_complete(ask, MCP_ASK_REFUSED, NULL);
}

void ask_give_up(struct client_question *ask)
{
	ask_unlist(ask);
	ask_complete(ask, MCP_ASK_LOST, NULL);
}

void ask_give_up_all(struct mcp_peer *peer)
{
	/* `answered` may ask again or close the peer: the map is not walked meanwhile. */
	while (peer->asks.count) {
		size_t i = 0;

		while (!peer->asks.buckets[i])
			i++;
		ask_give_up((struct client_question *)peer->asks.buckets[i]);
	}
}

static void too_late(void *data)
{
	struct client_question *ask = data;

	send_cancelled(ask);
	ask_give_up(ask);
}

bool mcp_peer_ask(struct mcp_peer *peer, const char *method, json_t *params,
                  void (*answered)(void *data, const json_t *result), void *data)
{
	struct client_question *ask;

	if (peer->closed || peer->input_ended || !peer->version ||
	    !ask_offered(peer->version, peer->client, method, params)) {
		json_decref(params);
		return false;
	}
	ask = ask_make(peer, NULL, method, params);
	json_decref(params);
	peer_hold(peer);
	ask->answered = answered;
	ask->data = data;
	ask->timer = loop_timer_start(peer->server->loop, TIMEOUT_MS, 0, too_late, ask);
	ask_send(ask);
	return true;
}

/* --- On the handler's thread ------------------------------------------------------------- */

/* Waits until the ask is done; false when `ms` have passed. */
static bool ask_wait(struct client_question *ask, unsigned ms)
{
	struct timespec end;
	bool done;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += ms / 1000;
	end.tv_nsec += (long)(ms % 1000) * 1000000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_nsec -= 1000000000;
		end.tv_sec++;
	}
	pthread_mutex_lock(&ask->lock);
	while (!ask->done && pthread_cond_timedwait(&ask->changed, &ask->lock, &end) != ETIMEDOUT)
		;
	done = ask->done;
	pthread_mutex_unlock(&ask->lock);
	return done;
}

static enum mcp_ask ask_and_wait(struct mcp_call *call, const char *method, const json_t *params,
                                 unsigned ms, json_t **ret)
{
	struct mcp_server *server = call->peer->server;
	struct client_question *ask = ask_make(call->peer, call, method, params);
	enum mcp_ask outcome = MCP_ASK_LOST;
	bool done;

	ask->holders = 2;
	ask->arrive.run = ask_arrive;
	ask->drop.run = ask_drop;
	mcp_outbox_post(server->outbox, &ask->arrive);
	pthread_mutex_lock(&server->lock);
	pthread_cond_signal(&server->idle);
	pthread_mutex_unlock(&server->lock);
	pool_wait_begin(server->pool);
	done = ask_wait(ask, ms ? ms : TIMEOUT_MS);
	pool_wait_end(server->pool);
	if (!done) {
		mcp_outbox_post(server->outbox, &ask->drop);
		return MCP_ASK_LOST;
	}
	outcome = ask->outcome;
	if (outcome == MCP_ASK_ANSWERED)
		*ret = json_incref((json_t *)ask->answer.body);
	rpc_message_release(&ask->answer);
	ask_unhold(ask);
	return outcome;
}

static const json_t *client_of(const struct mcp_call *call)
{
	return call->version->stateless ? call->client : call->peer->client;
}

bool mcp_call_client_answers(const struct mcp_call *call, const char *method)
{
	return ask_offered(call->version, client_of(call), method, NULL);
}

bool mcp_call_can_ask(const struct mcp_call *call, const char *method)
{
	if (call->version->stateless && !call->method->asks)
		return false;
	return (call->version->stateless || !call->on_loop) &&
	       mcp_call_client_answers(call, method);
}

enum mcp_ask mcp_call_ask(struct mcp_call *call, const char *key, const char *method,
                          json_t *params, unsigned timeout_ms, json_t **ret)
{
	enum mcp_ask outcome;

	if (!params)
		params = json_object();
	if (!mcp_call_can_ask(call, method) ||
	    !ask_offered(call->version, client_of(call), method, params))
		outcome = MCP_ASK_UNSUPPORTED;
	else if (call->version->stateless)
		outcome = questions_ask(call, key, method, params, ret);
	else if (cancelled(&call->cancel))
		outcome = MCP_ASK_LOST;
	else
		outcome = ask_and_wait(call, method, params, timeout_ms, ret);
	json_decref(params);
	return outcome;
}
