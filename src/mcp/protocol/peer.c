/* SPDX-License-Identifier: Apache-2.0 */
/* A peer: messages in, lines out, batches, its life. */
#include "mcp/protocol/peer.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/protocol/call.h"
#include "mcp/protocol/private.h"
#include "mcp/protocol/result.h"

/* ---- what waits to be sent --------------------------------------------------- */

struct outbox {
	struct loop_task task;
	struct loop *loop;
	pthread_mutex_t lock; /* guards the rest */
	struct post *first, **last;
	bool posted; /* the task is with the loop */
	bool closed;
};

static void outbox_free(struct outbox *outbox)
{
	pthread_mutex_destroy(&outbox->lock);
	free(outbox);
}

static void outbox_arrive(struct loop_task *task)
{
	struct outbox *outbox = (struct outbox *)task;
	bool closed;

	pthread_mutex_lock(&outbox->lock);
	outbox->posted = false;
	closed = outbox->closed;
	pthread_mutex_unlock(&outbox->lock);
	if (closed)
		outbox_free(outbox);
	else
		mcp_outbox_drain(outbox);
}

struct outbox *mcp_outbox_new(struct loop *loop)
{
	struct outbox *outbox = mem_alloc(1, sizeof(*outbox));

	outbox->task.run = outbox_arrive;
	outbox->loop = loop;
	outbox->last = &outbox->first;
	pthread_mutex_init(&outbox->lock, NULL);
	return outbox;
}

void mcp_outbox_post(struct outbox *outbox, struct post *post)
{
	bool wake;

	post->next = NULL;
	pthread_mutex_lock(&outbox->lock);
	*outbox->last = post;
	outbox->last = &post->next;
	wake = !outbox->posted;
	outbox->posted = true;
	/* Under the lock: the outbox may be closed as soon as the post is seen. */
	if (wake)
		loop_post(outbox->loop, &outbox->task);
	pthread_mutex_unlock(&outbox->lock);
}

void mcp_outbox_drain(struct outbox *outbox)
{
	struct post *post;

	pthread_mutex_lock(&outbox->lock);
	post = outbox->first;
	outbox->first = NULL;
	outbox->last = &outbox->first;
	pthread_mutex_unlock(&outbox->lock);
	while (post) {
		struct post *next = post->next;

		post->run(post);
		post = next;
	}
}

bool mcp_outbox_empty(struct outbox *outbox)
{
	bool empty;

	pthread_mutex_lock(&outbox->lock);
	empty = !outbox->first;
	pthread_mutex_unlock(&outbox->lock);
	return empty;
}

void mcp_outbox_close(struct outbox *outbox)
{
	bool posted;

	mcp_outbox_drain(outbox);
	pthread_mutex_lock(&outbox->lock);
	outbox->closed = true;
	posted = outbox->posted;
	pthread_mutex_unlock(&outbox->lock);
	if (!posted)
		outbox_free(outbox);
}

/* ---- batches ----------------------------------------------------------------- */

struct batch {
	struct mcp_peer *peer;
	struct mcp_exchange *exchange;
	size_t waiting; /* requests not answered yet, and one while they are being taken */
	bool expected;  /* there was a request */
	bool abandoned;
	struct buf out;
};

/* Answers to a JSON-RPC batch, which leave together.
 *
 *     batch = batch_new(peer, exchange);
 *     each request:  batch_expect(batch); ... later batch_add_answer or peer_batch_forget
 *     batch_release(batch);       when all requests have been taken
 */
static struct batch *batch_new(struct mcp_peer *peer, struct mcp_exchange *exchange)
{
	struct batch *batch = mem_alloc(1, sizeof(*batch));

	batch->peer = peer;
	batch->exchange = exchange;
	batch->waiting = 1;
	batch->out.max = LIMIT_RESULT_BYTES;
	peer_hold(peer);
	return batch;
}

static void batch_expect(struct batch *batch)
{
	batch->expected = true;
	batch->waiting++;
}

static void batch_add_answer(struct batch *batch, struct span answer)
{
	buf_char(&batch->out, batch->out.len ? ',' : '[');
	buf_span(&batch->out, answer);
	peer_batch_forget(batch);
}

static void send_all(struct batch *batch)
{
	if (batch->out.len)
		buf_char(&batch->out, ']');
	if (batch->out.len || (batch->expected && batch->exchange))
		peer_send(batch->peer, MCP_ROUTE_FINAL, batch->exchange, buf_view(&batch->out), 0);
}

void peer_batch_forget(struct batch *batch)
{
	struct mcp_peer *peer = batch->peer;

	if (--batch->waiting)
		return;
	if (!batch->abandoned)
		send_all(batch);
	buf_release(&batch->out);
	free(batch);
	peer_unhold(peer);
}

static void batch_release(struct batch *batch)
{
	peer_batch_forget(batch);
}

/* The exchange is gone. */
static void batch_abandon(struct batch *batch)
{
	batch->abandoned = true;
}

/* ---- messages ---------------------------------------------------------------- */

/* --- Life ------------------------------------------------------------------------------ */

struct mcp_peer *mcp_peer_open(struct mcp_server *server, const struct mcp_wire *wire, void *data)
{
	struct mcp_peer *peer = mem_alloc(1, sizeof(*peer));

	peer->server = server;
	peer->wire = *wire;
	peer->wire_data = data;
	peer->log_level = MCP_INFO;
	peer->spare.max = LIMIT_RESULT_BYTES;
	idmap_init(&peer->calls, server->map_key);
	idmap_init(&peer->asks, server->map_key);
	peer->at = &server->peers;
	peer->next = server->peers;
	if (peer->next)
		peer->next->at = &peer->next;
	server->peers = peer;
	return peer;
}

void peer_hold(struct mcp_peer *peer)
{
	peer->holds++;
}

/* The last call of a peer that is closed has finished. */
static void end_session(struct mcp_peer *peer)
{
	const struct mcp_offer *offer = peer->server->offer;

	*peer->at = peer->next;
	if (peer->next)
		peer->next->at = peer->at;
	if (peer->session_begun && offer->end)
		offer->end(peer->session);
	peer->server = NULL;
}

/* Frees what nobody needs any more. */
static void peer_settle(struct mcp_peer *peer)
{
	if (!peer->closed || peer->holds)
		return;
	if (peer->server)
		end_session(peer);
	if (!peer->released)
		return;
	idmap_release(&peer->calls);
	idmap_release(&peer->asks);
	buf_release(&peer->spare);
	json_decref(peer->client);
	free(peer);
}

void peer_unhold(struct mcp_peer *peer)
{
	peer->holds--;
	peer_settle(peer);
}

static void cancel_call(struct idmap_entry *entry, void *data)
{
	(void)data;
	call_cancel((struct mcp_call *)entry);
}

void peer_shut(struct mcp_peer *peer)
{
	if (peer->closed)
		return;
	peer_hold(peer);
	peer->closed = true;
	idmap_each(&peer->calls, cancel_call, NULL);
	ask_give_up_all(peer);
	watch_unsubscribe_all(peer);
	peer_unhold(peer);
}

void mcp_peer_close(struct mcp_peer *peer)
{
	peer_hold(peer);
	peer_shut(peer);
	peer->released = true;
	peer_unhold(peer);
}

void peer_begin_session(struct mcp_peer *peer)
{
	const struct mcp_offer *offer = peer->server->offer;
	struct mcp_session_info info = { .server = peer->server, .peer = peer };

	peer->session_begun = true;
	if (offer->begin)
		peer->session = offer->begin(offer->data, &info);
}

static void find_stream(struct idmap_entry *entry, void *data)
{
	struct mcp_call **found = data;
	struct mcp_call *call = (struct mcp_call *)entry;

	if (call->listen)
		*found = call;
}

void peer_end_waits(struct mcp_peer *peer)
{
	peer_hold(peer);
	peer->input_ended = true;
	ask_give_up_all(peer);
	while (peer->listens) {
		struct mcp_call *call = NULL;

		idmap_each(&peer->calls, find_stream, &call);
		watch_end(call);
	}
	peer_unhold(peer);
}

void mcp_peer_finish(struct mcp_peer *peer)
{
	if (!peer->closed)
		peer_end_waits(peer);
}

/* --- Out ------------------------------------------------------------------------------- */

void peer_send(struct mcp_peer *peer, enum mcp_route route, struct mcp_exchange *exchange,
               struct span text, int error_code)
{
	struct mcp_outgoing message = { .route = route, .exchange = exchange, .text = text,
		.error_code = error_code };

	if (!peer->closed)
		peer->wire.send(peer->wire_data, &message);
}

void peer_answer(struct mcp_peer *peer, struct mcp_exchange *exchange, struct batch *batch,
                 struct span text, int error_code)
{
	if (batch)
		batch_add_answer(batch, text);
	else
		peer_send(peer, MCP_ROUTE_FINAL, exchange, text, error_code);
}

/* Answers what is no request. */
static void answer_problem(struct mcp_peer *peer, struct mcp_exchange *exchange,
                           struct batch *batch, const struct rpc_problem *problem)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_RESULT_BYTES);

	rpc_write_error(&line, problem->id, problem->code, problem->message, NULL);
	peer_answer(peer, exchange, batch, buf_view(&line), problem->code);
}

/* --- In -------------------------------------------------------------------------------- */

static void receive_request(struct mcp_peer *peer, struct mcp_exchange *exchange,
                            struct batch *batch, struct rpc_message *message)
{
	struct mcp_call *call = call_new(peer, exchange, batch, message);
	struct refusal refusal = { 0 };

	if (method_start(call, &refusal))
		return;
	call_refuse(call, &refusal);
	call_done(call);
}

static void receive_cancelled(struct mcp_peer *peer, const struct rpc_message *message)
{
	_cleanup_buf_ struct buf id = BUF_INIT(LIMIT_RESULT_BYTES);
	const json_t *value = json_object_get(message->body, "requestId");
	struct idmap_entry *entry;

	if (!json_is_string(value) && !json_is_integer(value))
		return;
	rpc_write_id(&id, value);
	entry = idmap_find(&peer->calls, buf_view(&id));
	if (entry)
		call_cancel((struct mcp_call *)entry);
}

static void receive_initialized(struct mcp_peer *peer)
{
	const struct mcp_offer *offer = peer->server->offer;

	if (!peer->version || peer->ready)
		return;
	peer->ready = true;
	if (offer->ready)
		offer->ready(peer->session, peer);
}

static void receive_notification(struct mcp_peer *peer, const struct rpc_message *message)
{
	const struct mcp_offer *offer = peer->server->offer;
	struct span method = span_str(message->method);

	if (span_eq(method, SPAN("notifications/cancelled")))
		receive_cancelled(peer, message);
	else if (span_eq(method, SPAN("notifications/initialized")))
		receive_initialized(peer);
	else if (span_eq(method, SPAN("notifications/roots/list_changed")) && peer->ready &&
	         offer->roots_changed)
		offer->roots_changed(peer->session, peer);
}

/* Returns whether the message will be answered. */
static bool receive_message(struct mcp_peer *peer, struct mcp_exchange *exchange,
                            struct batch *batch,
                            struct rpc_message *message)
{
	bool request = message->kind == RPC_REQUEST;

	peer_hold(peer);
	if (peer->closed)
		request = false;
	else if (request)
		receive_request(peer, exchange, batch, message);
	else if (message->kind == RPC_NOTIFICATION)
		receive_notification(peer, message);
	else
		ask_answered(peer, message);
	rpc_message_release(message);
	peer_unhold(peer);
	return request;
}

void mcp_peer_receive(struct mcp_peer *peer, struct mcp_exchange *exchange,
                      struct rpc_message *message)
{
	receive_message(peer, exchange, NULL, message);
}

/* Takes the value over. */
static bool receive_value(struct mcp_peer *peer, struct mcp_exchange *exchange,
                          struct batch *batch, json_t *value)
{
	struct rpc_message message;
	struct rpc_problem problem;
	bool answered;

	if (rpc_parse_value(value, &message, &problem)) {
		if (batch && message.kind == RPC_REQUEST)
			batch_expect(batch);
		return receive_message(peer, exchange, batch, &message);
	}
	answered = !problem.silent;
	if (answered && batch)
		batch_expect(batch);
	if (answered)
		answer_problem(peer, exchange, batch, &problem);
	rpc_problem_release(&problem);
	return answered;
}

/* Why an array cannot be taken as a batch; NULL when it can. */
static const char *batch_problem(const struct mcp_peer *peer, const json_t *array)
{
	if (!peer->version)
		return "The first message has to be initialize, not a batch.";
	if (!peer->version->batches)
		return "This version of the protocol has no batches.";
	if (json_array_size(array) == 0)
		return "The batch is empty.";
	if (json_array_size(array) > LIMIT_RPC_BATCH)
		return "The batch has more than 1000 messages.";
	return NULL;
}

_Static_assert(LIMIT_RPC_BATCH == 1000, "the sentence above says so");

static bool receive_batch(struct mcp_peer *peer, struct mcp_exchange *exchange, json_t *array)
{
	const char *why = batch_problem(peer, array);
	struct rpc_problem problem = { .code = RPC_INVALID_REQUEST };
	struct batch *batch;
	bool answered = false;
	json_t *value;
	size_t i;

	if (why) {
		memcpy(problem.message, why, strlen(why) + 1);
		answer_problem(peer, exchange, NULL, &problem);
		return true;
	}
	batch = batch_new(peer, exchange);
	json_array_foreach(array, i, value)
		answered |= receive_value(peer, exchange, batch, json_incref(value));
	batch_release(batch);
	return answered;
}

bool mcp_peer_receive_body(struct mcp_peer *peer, struct mcp_exchange *exchange, struct span text)
{
	struct rpc_problem problem;
	json_t *value;
	bool answered = true;

	peer_hold(peer);
	peer->arrived = text.len;
	if (peer->closed) {
		answered = false;
	} else if (!rpc_parse_json(text, &value, &problem)) {
		answer_problem(peer, exchange, NULL, &problem);
		rpc_problem_release(&problem);
	} else if (json_is_array(value)) {
		answered = receive_batch(peer, exchange, value);
		json_decref(value);
	} else {
		answered = receive_value(peer, exchange, NULL, value);
	}
	peer->arrived = 0;
	peer_unhold(peer);
	return answered;
}

void mcp_peer_receive_text(struct mcp_peer *peer, struct span text)
{
	mcp_peer_receive_body(peer, NULL, text);
}

/* The id of a message whose beginning this is, if it comes early enough; new. */
static json_t *early_id(struct span beginning)
{
	struct members members = { .rest = beginning };
	struct err err = ERR_INIT;
	struct span key, value;
	json_t *id;

	while (result_member_next(&members, &key, &value)) {
		/* What ends with the text may go on. */
		if (!span_eq(key, SPAN("id")) || !members.rest.len ||
		    !json_parse(value, &id, &err))
			continue;
		if (json_is_string(id) || json_is_integer(id))
			return id;
		json_decref(id);
	}
	return NULL;
}

void mcp_peer_receive_too_long(struct mcp_peer *peer, struct span beginning)
{
	struct rpc_problem problem = { .code = RPC_INVALID_REQUEST, .id = early_id(beginning),
		.message = "The message is longer than 64 MiB." };

	answer_problem(peer, NULL, NULL, &problem);
	rpc_problem_release(&problem);
}

_Static_assert(LIMIT_MESSAGE_BYTES == (size_t)64 << 20, "the sentence above says so");

static void abandon_call(struct idmap_entry *entry, void *data)
{
	struct mcp_call *call = (struct mcp_call *)entry;

	if (call->exchange != data)
		return;
	call->exchange = NULL;
	if (call->batch)
		batch_abandon(call->batch);
	call_cancel(call);
}

void mcp_peer_abandon(struct mcp_peer *peer, struct mcp_exchange *exchange)
{
	peer_hold(peer);
	if (exchange)
		idmap_each(&peer->calls, abandon_call, exchange);
	peer_unhold(peer);
}

size_t mcp_peer_calls(const struct mcp_peer *peer)
{
	return peer->calls.count - peer->listens;
}

bool mcp_peer_initialized(const struct mcp_peer *peer)
{
	return peer->version != NULL;
}

const char *mcp_peer_version(const struct mcp_peer *peer)
{
	return peer->version ? peer->version->name : NULL;
}
