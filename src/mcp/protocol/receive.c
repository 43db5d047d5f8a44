/* SPDX-License-Identifier: Apache-2.0 */
/* What a peer receives: requests, notifications, answers to questions, batches; and the end of a
 * peer, which ends all of it. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/protocol/call.h"
#include "mcp/protocol/private.h"

/* ---- the end of a peer ------------------------------------------------------- */

static void cancel_call(struct idmap_entry *entry, void *data)
{
	(void)data;
	call_cancel((struct mcp_call *)entry);
}

void mcp_peer_shut(struct mcp_peer *peer)
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
	mcp_peer_shut(peer);
	peer->released = true;
	peer_unhold(peer);
}

static void find_stream(struct idmap_entry *entry, void *data)
{
	struct mcp_call **found = data;
	struct mcp_call *call = (struct mcp_call *)entry;

	if (call->listen)
		*found = call;
}

void mcp_peer_end_waits(struct mcp_peer *peer)
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
		mcp_peer_end_waits(peer);
}

/* ---- messages ---------------------------------------------------------------- */

/* Answers what is no request. */
static void answer_problem(struct mcp_peer *peer, struct mcp_exchange *exchange,
                           struct message_batch *batch, const struct rpc_problem *problem)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_RESULT_BYTES);

	rpc_write_error(&line, problem->id, problem->code, problem->message, NULL);
	peer_answer(peer, exchange, batch, buf_view(&line), problem->code);
}

static void receive_request(struct mcp_peer *peer, struct mcp_exchange *exchange,
                            struct message_batch *batch, struct rpc_message *message)
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
                            struct message_batch *batch,
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
                          struct message_batch *batch, json_t *value)
{
	struct rpc_message message;
	struct rpc_problem problem;
	bool answered;

	if (rpc_parse_value(value, &message, &problem)) {
		if (batch && message.kind == RPC_REQUEST)
			peer_batch_expect(batch);
		return receive_message(peer, exchange, batch, &message);
	}
	answered = !problem.silent;
	if (answered && batch)
		peer_batch_expect(batch);
	if (answered)
		answer_problem(peer, exchange, batch, &problem);
	rpc_problem_release(&problem);
	return answered;
}

/* Why an array cannot be taken as a batch; NULL when it can. */
static const char *batch_problem(const struct mcp_peer *peer, const json_t *array)
{
	if (!peer->version)
		return "The first message must be initialize, not a batch.";
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
	struct message_batch *batch;
	bool answered = false;
	json_t *value;
	size_t i;

	if (why) {
		memcpy(problem.message, why, strlen(why) + 1);
		answer_problem(peer, exchange, NULL, &problem);
		return true;
	}
	batch = peer_batch_new(peer, exchange);
	json_array_foreach(array, i, value)
		answered |= receive_value(peer, exchange, batch, json_incref(value));
	peer_batch_forget(batch);
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
		peer_batch_abandon(call->batch);
	call_cancel(call);
}

void mcp_peer_abandon(struct mcp_peer *peer, struct mcp_exchange *exchange)
{
	peer_hold(peer);
	if (exchange)
		idmap_each(&peer->calls, abandon_call, exchange);
	peer_unhold(peer);
}
