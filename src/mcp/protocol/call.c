/* SPDX-License-Identifier: Apache-2.0 */
/* A call from its message to its answer: memory, reports, results. */
#include "mcp/protocol/call.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/protocol/private.h"

/* ---- what handlers do with a call -------------------------------------------- */

/* What handlers do with a call: read it, report, answer it. */

enum { PROGRESS_INTERVAL_MS = 50 };

void *mcp_call_session(const struct mcp_call *call)
{
	return call->session;
}

const json_t *mcp_call_params(const struct mcp_call *call)
{
	return call->params;
}

const json_t *mcp_call_arguments(const struct mcp_call *call)
{
	return call->arguments;
}

const char *mcp_call_name(const struct mcp_call *call)
{
	return call->name;
}

const char *mcp_call_uri(const struct mcp_call *call)
{
	return call->uri;
}

const char *mcp_call_cursor(const struct mcp_call *call)
{
	return call->cursor;
}

bool mcp_call_cancelled(const struct mcp_call *call)
{
	return cancelled(&call->cancel);
}

const struct cancel *mcp_call_cancel(const struct mcp_call *call)
{
	return &call->cancel;
}

void mcp_call_set_state(struct mcp_call *call, const char *state)
{
	char *copy = mem_strdup(state);

	free(call->questions.state);
	call->questions.state = copy;
}

const char *mcp_call_state(const struct mcp_call *call)
{
	return call->questions.state ? call->questions.state : "";
}

/* --- Reports --------------------------------------------------------------------------- */

/* A line of a call that the pool has, on its way to the loop's thread. It arrives before the
 * call's own post, so the call is still there. */
struct call_note {
	struct post post;
	struct mcp_call *call;
	struct buf line;
};

static void send_note(struct post *post)
{
	struct call_note *note = (struct call_note *)post;
	const struct mcp_call *call = note->call;

	if (!mcp_call_cancelled(call))
		peer_send(call->peer, MCP_ROUTE_RELATED, call->exchange, buf_view(&note->line), 0);
	buf_release(&note->line);
	free(note);
}

/* Sends a line that belongs to the call before its answer, from the thread that has the call.
 * The line is emptied. */
static void call_send(struct mcp_call *call, struct buf *line)
{
	struct call_note *note;

	if (mcp_call_cancelled(call)) {
		buf_release(line);
	} else if (call->on_loop) {
		peer_send(call->peer, MCP_ROUTE_RELATED, call->exchange, buf_view(line), 0);
		buf_release(line);
	} else {
		note = mem_alloc(1, sizeof(*note));
		note->post.run = send_note;
		note->call = call;
		note->line = *line;
		*line = (struct buf){ .max = line->max };
		mcp_outbox_post(call->peer->server->outbox, &note->post);
	}
}

/* Whole numbers as such: 50, not 50.0. */
static json_t *json_progress(double value)
{
	if (value == floor(value) && fabs(value) < 1e15)
		return json_integer((json_int_t)value);
	return json_real(value);
}

static void write_progress(struct mcp_call *call, double value, double total, const char *message)
{
	struct call_progress *progress = &call->progress;
	json_t *params = json_object();

	json_object_set(params, "progressToken", (json_t *)progress->token);
	json_object_set_new(params, "progress", json_progress(value));
	if (total > 0)
		json_object_set_new(params, "total", json_progress(total));
	if (message && call->version->progress_message)
		json_object_set_new(params, "message", json_cstr(message));
	buf_clear(&progress->waiting);
	rpc_write_notification(&progress->waiting, "notifications/progress", params);
	json_decref(params);
}

static void call_flush_progress(struct mcp_call *call);

void mcp_call_progress(struct mcp_call *call, double progress, double total, const char *message)
{
	struct call_progress *last = &call->progress;
	int64_t now;

	if (!last->token || call->ended || mcp_call_cancelled(call) || !isfinite(progress) ||
	    !isfinite(total) || (last->any && progress <= last->value))
		return;
	last->any = true;
	last->value = progress;
	write_progress(call, progress, total, message);
	now = clock_monotonic_ms();
	if (last->sent_ms && now - last->sent_ms < PROGRESS_INTERVAL_MS)
		return;
	last->sent_ms = now;
	call_flush_progress(call);
}

/* Sends progress that waited (before the answer). */
static void call_flush_progress(struct mcp_call *call)
{
	if (call->progress.waiting.len && !call->progress.waiting.overflowed)
		call_send(call, &call->progress.waiting);
}

static const char *level_name(enum mcp_level level)
{
	static const char *const names[] = {
		[MCP_DEBUG] = "debug",     [MCP_INFO] = "info",
		[MCP_NOTICE] = "notice",   [MCP_WARNING] = "warning",
		[MCP_ERROR] = "error",     [MCP_CRITICAL] = "critical",
		[MCP_ALERT] = "alert",     [MCP_EMERGENCY] = "emergency",
	};

	return names[level];
}

int mcp_level_find(const char *name)
{
	for (enum mcp_level level = MCP_DEBUG; name && level <= MCP_EMERGENCY; level++) {
		if (strcmp(level_name(level), name) == 0)
			return (int)level;
	}
	return -1;
}

/* Whether the client subscribes to messages of this level for this call. */
static bool log_level_is_wanted(const struct mcp_call *call, enum mcp_level level)
{
	int from = call->version->stateless ? call->log_level : call->peer->log_level;

	return from >= 0 && (int)level >= from;
}

void mcp_call_log(struct mcp_call *call, enum mcp_level level, const char *logger, json_t *data)
{
	struct buf line = BUF_INIT(LIMIT_MESSAGE_BYTES);
	json_t *params;

	if (call->ended || !log_level_is_wanted(call, level)) {
		json_decref(data);
		return;
	}
	params = json_object();
	json_object_set_new(params, "level", json_cstr(level_name(level)));
	if (logger)
		json_object_set_new(params, "logger", json_cstr(logger));
	json_object_set_new(params, "data", data ? data : json_null());
	if (rpc_write_notification(&line, "notifications/message", params))
		call_send(call, &line);
	buf_release(&line);
	json_decref(params);
}

/* --- The event stream ------------------------------------------------------------------ */

struct closing {
	struct post post;
	struct mcp_call *call;
	unsigned retry_ms;
};

static void close_stream(const struct mcp_call *call, unsigned retry_ms)
{
	const struct mcp_wire *wire = &call->peer->wire;

	if (wire->close_stream && call->exchange && !call->peer->closed &&
	    !mcp_call_cancelled(call))
		wire->close_stream(call->peer->wire_data, call->exchange, retry_ms);
}

static void close_later(struct post *post)
{
	struct closing *closing = (struct closing *)post;

	close_stream(closing->call, closing->retry_ms);
	free(closing);
}

void mcp_call_close_stream(struct mcp_call *call, unsigned retry_ms)
{
	struct closing *closing;

	/* Streams of stateless requests cannot be taken up again. */
	if (call->ended || call->version->stateless)
		return;
	if (call->on_loop) {
		close_stream(call, retry_ms);
		return;
	}
	closing = mem_alloc(1, sizeof(*closing));
	*closing = (struct closing){ .post.run = close_later, .call = call, .retry_ms = retry_ms };
	mcp_outbox_post(call->peer->server->outbox, &closing->post);
}

/* --- Ends ------------------------------------------------------------------------------ */

/* False when the call has ended before; that answer stays. */
static bool begin_end(struct mcp_call *call)
{
	if (call->ended)
		return false;
	call_flush_progress(call);
	call->ended = true;
	return true;
}

static void call_write_error(struct mcp_call *call, int code, const char *message,
                             const json_t *data)
{
	buf_clear(&call->line);
	call->error_code = code;
	if (!rpc_write_error_to(&call->line, call_id(call), code, message, data)) {
		buf_clear(&call->line);
		rpc_write_error_to(&call->line, call_id(call), code, message, NULL);
	}
}

static void write_result(struct mcp_call *call, struct span text, bool complete)
{
	const struct method *method = call->method;
	struct result_form form = {
		.version = call->version,
		.tool = method->tool,
		.complete = complete,
		.cache_scope = complete ? method->cache_scope : NULL,
		.server_info = catalog_server_info(call->peer->server->catalog),
	};

	if (mcp_call_cancelled(call))
		return;
	buf_clear(&call->line);
	rpc_begin_result(&call->line, call_id(call));
	if (!result_write(&call->line, &form, text) || !rpc_end_result(&call->line))
		call_write_error(call, RPC_INTERNAL_ERROR, "The result is too long or no object.",
		                 NULL);
}

void call_answer_text(struct mcp_call *call, struct span result)
{
	if (begin_end(call))
		write_result(call, result, /* complete= */ true);
}

void mcp_call_result_view(struct mcp_call *call, struct span text)
{
	call_answer_text(call, text);
}

void mcp_call_result_text(struct mcp_call *call, struct buf *text)
{
	call_answer_text(call, buf_view(text));
	buf_release(text);
}

static void result_value(struct mcp_call *call, json_t *result, bool complete)
{
	struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);

	/* What is too long or too deep becomes no result at all. */
	if (!result)
		buf_str(&text, "{}");
	else if (!json_print(&text, result, 0))
		buf_release(&text);
	if (begin_end(call))
		write_result(call, buf_view(&text), complete);
	buf_release(&text);
	json_decref(result);
}

void mcp_call_result(struct mcp_call *call, json_t *result)
{
	result_value(call, result, /* complete= */ true);
}

void mcp_call_pending(struct mcp_call *call)
{
	json_t *result;

	if (!call->version->stateless || !call->method->asks) {
		mcp_call_error(call, RPC_INTERNAL_ERROR, "Nothing is pending.", NULL);
		return;
	}
	result = ask_questions_result(call);
	if (result)
		result_value(call, result, /* complete= */ false);
	else
		mcp_call_error(call, RPC_INTERNAL_ERROR,
		               "The answers are too long to be asked for more.", NULL);
}

/* The code as the call's version has it; the version may be unknown yet. */
static int code_for(const struct mcp_call *call, int code)
{
	if (!call->version)
		return code;
	if (code == MCP_RESOURCE_NOT_FOUND)
		return call->version->not_found;
	if (code == MCP_MISSING_CAPABILITY && !call->version->stateless)
		return RPC_INVALID_REQUEST;
	return code;
}

void mcp_call_error(struct mcp_call *call, int code, const char *message, json_t *data)
{
	if (begin_end(call))
		call_write_error(call, code_for(call, code), message, data);
	json_decref(data);
}

void mcp_call_not_found(struct mcp_call *call)
{
	_cleanup_free_ char *message = mem_printf("Resource not found: %s", call->uri);

	mcp_call_error(call, MCP_RESOURCE_NOT_FOUND, message, json_pack("{s:s}", "uri", call->uri));
}

void mcp_call_lacks(struct mcp_call *call, const char *capability)
{
	_cleanup_free_ char *message =
		mem_printf("The client did not declare the capability %s.", capability);

	mcp_call_error(call, MCP_MISSING_CAPABILITY, message,
	               json_pack("{s:{s:{}}}", "requiredCapabilities", capability));
}

void call_refuse(struct mcp_call *call, struct refusal *refusal)
{
	mcp_call_error(call, refusal->code, refusal->message, refusal->data);
	refusal->data = NULL;
}

/* --- Results --------------------------------------------------------------------------- */

json_t *mcp_text_content(const char *text)
{
	return json_pack("{s:s,s:o}", "type", "text", "text", json_cstr(text ? text : ""));
}

json_t *mcp_text_result(const char *text)
{
	return json_pack("{s:[o]}", "content", mcp_text_content(text));
}

json_t *mcp_error_result(const char *message)
{
	return json_pack("{s:[o],s:b}", "content", mcp_text_content(message), "isError", 1);
}

/* ---- life -------------------------------------------------------------------- */

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
                          struct message_batch *batch, struct rpc_message *message)
{
	struct mcp_call *call = mem_alloc(1, sizeof(*call));

	cancel_init_lazily(&call->cancel);
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
		return mcp_refuse(refusal, RPC_INVALID_REQUEST,
		                  "A request with this id is under way already.");
	if (mcp_peer_calls(peer) >= LIMIT_PEER_CALLS)
		return mcp_refuse(refusal, RPC_INTERNAL_ERROR,
		                  "More than %d requests are under way: send this one again when "
		                  "some have been answered.", LIMIT_PEER_CALLS);
	if (peer->calls.count && peer->bytes > LIMIT_PEER_BYTES)
		return mcp_refuse(refusal, RPC_INTERNAL_ERROR,
		                  "The requests that are under way hold more than %zu MiB: send "
		                  "this one again when some have been answered.",
		                  LIMIT_PEER_BYTES >> 20);
	idmap_add(&peer->calls, &call->entry, call_id(call));
	call->listed = true;
	return true;
}

static void call_unlist(struct mcp_call *call)
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

/* A call that was held may have been freed when the handler returns. */
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

static void call_run_on_pool(struct pool_job *job)
{
	struct mcp_call *call = (struct mcp_call *)((char *)job - offsetof(struct mcp_call, job));
	struct mcp_server *server = call->peer->server;

	/* On a thread of the pool. */
	if (call->resume)
		call->resume(call, call->resume_data);
	else if (!mcp_call_cancelled(call))
		call->run(call, call->data);
	end_if_not_ended(call);
	mcp_outbox_post(server->outbox, &call->post);
	/* The call is the loop's again. */
	pthread_mutex_lock(&server->lock);
	if (--server->running == 0)
		pthread_cond_signal(&server->idle);
	pthread_mutex_unlock(&server->lock);
}

/* From the loop's thread to the pool's. */
static void call_to_pool(struct mcp_call *call)
{
	struct mcp_server *server = call->peer->server;

	call_leave_loop(call);
	call->job.run = call_run_on_pool;
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
	call_to_pool(call);
	pool_submit(call->peer->server->pool, &call->job);
}

void mcp_call_hold(struct mcp_call *call)
{
	assert(call->held); /* only on the loop's thread */
	*call->held = true;
	call_to_pool(call);
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

/* The wait for all calls (server.c) must see the post. */
void mcp_call_arrived(struct mcp_call *call)
{
	struct mcp_server *server = call->peer->server;

	pthread_mutex_lock(&server->lock);
	mcp_outbox_post(server->outbox, &call->post);
	pthread_cond_signal(&server->idle);
	pthread_mutex_unlock(&server->lock);
}

void mcp_call_later(struct mcp_call *call, mcp_handler *run, void *data)
{
	mcp_call_await(call, run, data);
	mcp_outbox_post(call->peer->server->outbox, &call->post);
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
	ask_questions_release(&call->questions);
	rpc_message_release(&call->message);
	peer->bytes -= call->bytes;
	cancel_release(&call->cancel);
	free(call->long_id);
	free(call);
	peer_unhold(peer);
}

void call_done(struct mcp_call *call)
{
	call_unlist(call);
	if (call->listen)
		call->unlisten(call);
	if (!mcp_call_cancelled(call))
		peer_answer(call->peer, call->exchange, call->batch, buf_view(&call->line),
		            call->error_code);
	call_free(call);
}

void call_cancel(struct mcp_call *call)
{
	struct mcp_exchange *exchange = call->exchange;
	struct message_batch *batch = call->batch;

	cancel_set(&call->cancel);
	call->exchange = NULL;
	call->batch = NULL;
	call_unlist(call);
	if (call->ask)
		ask_give_up(call->ask);
	if (batch)
		peer_batch_forget(batch);
	else if (exchange)
		peer_send(call->peer, MCP_ROUTE_FINAL, exchange, SPAN(""), 0);
	/* Only subscriptions have no handler. */
	if (!call->run)
		call_done(call);
}
