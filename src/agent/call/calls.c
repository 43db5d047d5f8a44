/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/call/calls.h"

#include <stdio.h>
#include <string.h>

#include "agent/call/call.h"
#include "agent/call/display.h"
#include "agent/call/error_type.h"
#include "agent/call/missing.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/content.h"

enum { ID_MAX = 256 };

struct batch {
	struct agent *agent;
	struct call *calls;
	struct order_call *order; /* shallow copies: `calls` owns what they point to */
	bool *ended;
	size_t count;
	pthread_mutex_t lock;     /* of `ended`, the calls' state, and what follows */
	pthread_cond_t changed;
	size_t running;
	bool refused;             /* nothing more begins */
};

struct runner {
	struct batch *batch;
	struct call *call;
	pthread_t thread;
	bool started;
};

/* ---- ids --------------------------------------------------------------------------- */

static bool take_id(struct agent *agent, const char *id)
{
	struct agent *top = agent->top;
	bool fresh;

	pthread_mutex_lock(&top->lock);
	fresh = !json_object_get(top->ids, id);
	if (fresh)
		json_object_set_new(top->ids, id, json_true());
	pthread_mutex_unlock(&top->lock);
	return fresh;
}

/* A part of a reply is nobody else's yet. */
static void name_part(struct agent *agent, json_t *part)
{
	json_t *call = json_object_get(part, "functionCall");
	struct span id = json_span(json_object_get(call, "id"));
	char fresh[ID_MAX + 32];

	if (!call || (id.len && id.len <= ID_MAX && take_id(agent, id.data)))
		return;
	for (size_t n = json_object_size(agent->top->ids) + 1;; n++) {
		struct span head = utf8_head(id.len ? id : SPAN("call"), ID_MAX);

		snprintf(fresh, sizeof(fresh), "%.*s_%zu", (int)head.len, head.data, n);
		if (take_id(agent, fresh))
			break;
	}
	json_object_set_new(call, "id", json_string(fresh));
}

void calls_name(struct agent *agent, json_t *content)
{
	size_t i;
	json_t *part;

	json_array_foreach(json_object_get(content, "parts"), i, part)
		if (part_get_call(part))
			name_part(agent, part);
}

void calls_remember(struct agent *agent, const json_t *history)
{
	size_t i, k;
	json_t *message, *part;

	json_array_foreach((json_t *)history, i, message)
		json_array_foreach(json_object_get(message, "parts"), k, part) {
			const char *id = json_string_value(
				json_object_get(part_get_call(part), "id"));

			if (id)
				take_id(agent, id);
		}
}

/* ---- telling ----------------------------------------------------------------------- */

static void publish_call(struct agent *agent, const struct call *call)
{
	_cleanup_free_ char *description = NULL;
	json_auto_t *message = NULL;
	const char *title;

	if (!agent->options.bus)
		return;
	title = call->tool && call->tool->title ? call->tool->title : call->name;
	description = display_call(call->tool, call->args);
	message = json_object();
	json_object_set_new(message, "callId", json_string(call->id));
	json_object_set_new(message, "toolName", json_string(call->name));
	json_object_set_new(message, "title", json_cstr(title));
	json_object_set(message, "arguments", call->args);
	json_object_set_new(message, "description", json_text(span_str(description)));
	bus_publish(agent->options.bus, BUS_TOOL_CALL, message);
}

/* ---- running ----------------------------------------------------------------------- */

static void ended(struct batch *batch, struct call *call)
{
	pthread_mutex_lock(&batch->lock);
	call->state = CALL_ENDED;
	batch->ended[call - batch->calls] = true;
	batch->running--;
	batch->refused = batch->refused || call->refused;
	pthread_cond_signal(&batch->changed);
	pthread_mutex_unlock(&batch->lock);
}

static void *run_on_thread(void *data)
{
	struct runner *runner = data;

	call_run(runner->call);
	ended(runner->batch, runner->call);
	return NULL;
}

/* Whether anything more is to begin. */
static bool goes_on(const struct batch *batch)
{
	const struct agent *agent = batch->agent;

	return !batch->refused && !cancelled(agent->options.cancel) && !agent->stop;
}

/* The first that may begin now; NULL: none. */
static struct call *next_call(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->calls[i].state == CALL_WAITING &&
		    order_may_begin(batch->order, i, batch->ended))
			return &batch->calls[i];
	return NULL;
}

/* Holds the lock before and after. */
static void begin(struct batch *batch, struct runner *runner, struct call *call, bool alone)
{
	call->state = CALL_RUNNING;
	batch->running++;
	*runner = (struct runner){ .batch = batch, .call = call };
	if (!alone)
		runner->started = pthread_create(&runner->thread, NULL, run_on_thread, runner) == 0;
	if (runner->started)
		return;
	pthread_mutex_unlock(&batch->lock);
	run_on_thread(runner);
	pthread_mutex_lock(&batch->lock);
}

/* A call beside which nothing can run needs no thread. */
static bool is_alone(struct batch *batch, struct call *call)
{
	struct call *other;

	if (batch->running)
		return false;
	call->state = CALL_RUNNING;
	other = next_call(batch);
	call->state = CALL_WAITING;
	return !other;
}

static void run_all(struct batch *batch, struct runner *runners)
{
	struct call *call;

	pthread_mutex_lock(&batch->lock);
	while (true) {
		call = goes_on(batch) && batch->running < CALLS_AT_ONCE ? next_call(batch) : NULL;
		if (call)
			begin(batch, &runners[call - batch->calls], call, is_alone(batch, call));
		else if (batch->running)
			pthread_cond_wait(&batch->changed, &batch->lock);
		else
			break;
	}
	pthread_mutex_unlock(&batch->lock);
	for (size_t i = 0; i < batch->count; i++)
		if (runners[i].started)
			pthread_join(runners[i].thread, NULL);
}

static void refuse_rest(struct batch *batch)
{
	const char *why = cancelled(batch->agent->options.cancel) ?
	                          "The call was cancelled; nothing was done." :
	                  batch->refused ?
	                          "Not done: the user declined a call before this one." :
	                          "Not done: a hook stopped the work.";

	for (size_t i = 0; i < batch->count; i++)
		if (batch->calls[i].state == CALL_WAITING)
			agent_call_refuse(&batch->calls[i], ERR_CANCELLED, why);
}

/* ---- a reply's calls --------------------------------------------------------------- */

static size_t collect(struct agent *agent, const json_t *content, struct call *calls)
{
	size_t count = 0, i;
	json_t *part;

	json_array_foreach(json_object_get(content, "parts"), i, part)
		if (part_get_call(part))
			call_init(&calls[count++], agent, part);
	return count;
}

static void too_many(struct batch *batch, size_t total)
{
	for (size_t i = batch->count; i < total; i++) {
		publish_call(batch->agent, &batch->calls[i]);
		agent_call_refuse(&batch->calls[i], ERR_INVALID_ARGUMENT,
		            "Not done: there are too many calls in one reply. Make 128 at most.");
	}
}

static void judge(struct batch *batch, size_t total, struct calls_outcome *ret)
{
	bool any_done = false;

	ret->message = content_new("user");
	ret->cancelled = cancelled(batch->agent->options.cancel);
	for (size_t i = 0; i < total; i++) {
		struct call *call = &batch->calls[i];

		any_done = any_done || !call->cancelled;
		content_add(ret->message, json_incref(call->answer));
		if (call->fatal && !ret->fatal)
			ret->fatal = mem_strdup(error_message_of(call->result));
		missing_note(call);
		loop_check_call(batch->agent->loop, call->tool, call->name, call->args,
		                call->result);
	}
	ret->refused = batch->refused && !any_done;
}

static void run_batch(struct batch *batch)
{
	_cleanup_free_ struct runner *runners = mem_alloc(batch->count, sizeof(*runners));

	pthread_mutex_init(&batch->lock, NULL);
	pthread_cond_init(&batch->changed, NULL);
	for (size_t i = 0; i < batch->count; i++)
		publish_call(batch->agent, &batch->calls[i]);
	run_all(batch, runners);
	refuse_rest(batch);
	pthread_cond_destroy(&batch->changed);
	pthread_mutex_destroy(&batch->lock);
}

void calls_run(struct agent *agent, const json_t *content, struct calls_outcome *ret)
{
	size_t total = content_call_count(content);
	_cleanup_free_ struct call *calls = mem_alloc(total, sizeof(*calls));
	_cleanup_free_ struct order_call *order = mem_alloc(total, sizeof(*order));
	_cleanup_free_ bool *done = mem_alloc(total, sizeof(*done));
	struct batch batch = { .agent = agent, .calls = calls, .order = order, .ended = done };

	*ret = (struct calls_outcome){ 0 };
	total = collect(agent, content, calls);
	batch.count = total < CALLS_MAX ? total : CALLS_MAX;
	for (size_t i = 0; i < batch.count; i++)
		order[i] = calls[i].order;
	run_batch(&batch);
	too_many(&batch, total);
	judge(&batch, total, ret);
	for (size_t i = 0; i < total; i++)
		call_release(&calls[i]);
}
