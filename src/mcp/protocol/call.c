/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/call.h"

#include <assert.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/protocol/ask.h"
#include "mcp/protocol/batch.h"
#include "mcp/protocol/methods.h"
#include "mcp/protocol/private.h"

/* Memory that is kept for the next line. */
enum { SPARE_MAX = 1 << 20 };

/* The id as text: in the call itself, where nearly all fit. */
static struct span keep_id(struct mcp_call *call)
{
	struct buf id = BUF_INIT(LIMIT_RESULT_BYTES);
	struct span kept;

	rpc_write_id(&id, call->message.id);
	kept = buf_view(&id);
	if (id.len <= sizeof(call->short_id)) {
		memcpy(call->short_id, id.data, id.len);
		kept.data = call->short_id;
		buf_release(&id);
	} else {
		call->long_id = id.data;
	}
	return kept;
}

struct mcp_call *call_new(struct mcp_peer *peer, struct mcp_exchange *exchange,
                          struct batch *batch, struct rpc_message *message)
{
	struct mcp_call *call = mem_alloc(1, sizeof(*call));

	call->peer = peer;
	call->exchange = exchange;
	call->batch = batch;
	call->message = *message;
	*message = (struct rpc_message){ 0 };
	call->params = call->message.body ? call->message.body : peer->server->empty;
	call->arguments = peer->server->empty;
	call->log_level = -1;
	/* Memory that is warm already. */
	call->on_loop = true;
	call->line = peer->spare;
	peer->spare = (struct buf)BUF_INIT(LIMIT_RESULT_BYTES);
	call->progress.waiting.max = LIMIT_MESSAGE_BYTES;
	call->entry.id = keep_id(call);
	/* A batch is counted with its first request. */
	call->bytes = peer->arrived;
	peer->arrived = 0;
	peer->bytes += call->bytes;
	peer_hold(peer);
	return call;
}

bool call_list(struct mcp_call *call, struct refusal *refusal)
{
	struct mcp_peer *peer = call->peer;

	if (idmap_find(&peer->calls, call_id(call)))
		return refuse(refusal, RPC_INVALID_REQUEST,
		              "A request with this id is under way already.");
	if (mcp_peer_calls(peer) >= LIMIT_PEER_CALLS)
		return refuse(refusal, RPC_INTERNAL_ERROR,
		              "More than %d requests are under way: send this one again when some "
		              "have been answered.", LIMIT_PEER_CALLS);
	if (peer->calls.count && peer->bytes > LIMIT_PEER_BYTES)
		return refuse(refusal, RPC_INTERNAL_ERROR,
		              "The requests that are under way hold more than %zu MiB: send this "
		              "one again when some have been answered.", LIMIT_PEER_BYTES >> 20);
	idmap_add(&peer->calls, &call->entry, call_id(call));
	call->listed = true;
	return true;
}

static void unlist(struct mcp_call *call)
{
	if (call->listed)
		idmap_remove(&call->peer->calls, &call->entry);
	call->listed = false;
}

static void keep_spare(struct mcp_peer *peer, struct buf *line)
{
	if (!peer->spare.data && line->cap <= SPARE_MAX) {
		buf_clear(line);
		peer->spare = *line;
		*line = (struct buf){ 0 };
	}
	buf_release(line);
}

void call_leave_loop(struct mcp_call *call)
{
	keep_spare(call->peer, &call->line);
	call->line = (struct buf)BUF_INIT(LIMIT_RESULT_BYTES);
	call->on_loop = false;
}

/* --- Running --------------------------------------------------------------------------- */

static void end_if_not_ended(struct mcp_call *call)
{
	if (!call->ended)
		mcp_call_error(call, RPC_INTERNAL_ERROR, "The handler gave no answer.", NULL);
}

/* On a thread of the pool. */
static void run_handler(struct mcp_call *call)
{
	if (call->resume)
		call->resume(call, call->resume_data);
	else if (!mcp_call_cancelled(call))
		call->run(call, call->data);
	end_if_not_ended(call);
}

/* A call that was held may be gone when the handler returns. */
static void run_on_loop(struct mcp_call *call)
{
	bool held = false;

	call->held = &held;
	if (call->resume)
		call->resume(call, call->resume_data);
	else if (!mcp_call_cancelled(call))
		call->run(call, call->data);
	if (held)
		return;
	end_if_not_ended(call);
	call_done(call);
}

static void handler_returned(struct post *post)
{
	call_done((struct mcp_call *)((char *)post - offsetof(struct mcp_call, post)));
}

static void run_on_pool(struct pool_job *job)
{
	struct mcp_call *call = (struct mcp_call *)((char *)job - offsetof(struct mcp_call, job));
	struct mcp_server *server = call->peer->server;

	run_handler(call);
	outbox_post(server->outbox, &call->post);
	/* The call is the loop's again. */
	pthread_mutex_lock(&server->lock);
	if (--server->running == 0)
		pthread_cond_signal(&server->idle);
	pthread_mutex_unlock(&server->lock);
}

/* From the loop's thread to the pool's. */
static void hand_over(struct mcp_call *call)
{
	struct mcp_server *server = call->peer->server;

	call_leave_loop(call);
	call->job.run = run_on_pool;
	call->post.run = handler_returned;
	pthread_mutex_lock(&server->lock);
	server->running++;
	pthread_mutex_unlock(&server->lock);
}

void call_start(struct mcp_call *call)
{
	if (call->on_loop) {
		run_on_loop(call);
		return;
	}
	hand_over(call);
	pool_submit(call->peer->server->pool, &call->job);
}

void mcp_call_hold(struct mcp_call *call)
{
	assert(call->held); /* only on the loop's thread */
	*call->held = true;
	hand_over(call);
}

static void count_running(struct mcp_server *server, int more)
{
	pthread_mutex_lock(&server->lock);
	server->running += more;
	if (server->running == 0)
		pthread_cond_signal(&server->idle);
	pthread_mutex_unlock(&server->lock);
}

static void run_later(struct post *post)
{
	struct mcp_call *call = (struct mcp_call *)((char *)post - offsetof(struct mcp_call, post));
	struct mcp_server *server = call->peer->server;

	call->line = call->peer->spare;
	call->peer->spare = (struct buf)BUF_INIT(LIMIT_RESULT_BYTES);
	run_on_loop(call);
	count_running(server, -1);
}

bool mcp_call_shares_stream(const struct mcp_call *call)
{
	return !call->exchange;
}

void mcp_call_await(struct mcp_call *call, mcp_handler *run, void *data)
{
	assert(call->held); /* only on the loop's thread */
	*call->held = true;
	call->resume = run;
	call->resume_data = data;
	keep_spare(call->peer, &call->line);
	call->post.run = run_later;
	count_running(call->peer->server, 1);
}

/* Whoever waits for all calls (server.c) is to see the post. */
void mcp_call_arrived(struct mcp_call *call)
{
	struct mcp_server *server = call->peer->server;

	pthread_mutex_lock(&server->lock);
	outbox_post(server->outbox, &call->post);
	pthread_cond_signal(&server->idle);
	pthread_mutex_unlock(&server->lock);
}

void mcp_call_later(struct mcp_call *call, mcp_handler *run, void *data)
{
	mcp_call_await(call, run, data);
	outbox_post(call->peer->server->outbox, &call->post);
}

void mcp_call_resume(struct mcp_call *call, mcp_handler *run, void *data)
{
	call->resume = run;
	call->resume_data = data;
	pool_submit(call->peer->server->pool, &call->job);
}

/* --- Ending ---------------------------------------------------------------------------- */

static void call_free(struct mcp_call *call)
{
	struct mcp_peer *peer = call->peer;

	if (call->on_loop)
		keep_spare(peer, &call->line);
	else
		buf_release(&call->line);
	buf_release(&call->progress.waiting);
	questions_release(&call->questions);
	rpc_message_release(&call->message);
	peer->bytes -= call->bytes;
	free(call->long_id);
	free(call);
	peer_unhold(peer);
}

void call_done(struct mcp_call *call)
{
	unlist(call);
	if (call->listen)
		watch_unlisten(call);
	if (!mcp_call_cancelled(call))
		peer_answer(call->peer, call->exchange, call->batch, buf_view(&call->line),
		            call->error_code);
	call_free(call);
}

void call_cancel(struct mcp_call *call)
{
	struct mcp_exchange *exchange = call->exchange;
	struct batch *batch = call->batch;

	call->cancelled = true;
	call->exchange = NULL;
	call->batch = NULL;
	unlist(call);
	if (call->ask)
		ask_give_up(call->ask);
	if (batch)
		batch_forget(batch);
	else if (exchange)
		peer_send(call->peer, MCP_ROUTE_FINAL, exchange, SPAN(""), 0);
	/* Nobody else has a subscription. */
	if (!call->run)
		call_done(call);
}
