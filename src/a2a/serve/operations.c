/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol's operations on tasks.
 *
 * Source: A2A 1.0, section 3.1; streams end where a task is over or waits for its caller. */
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/push.h"
#include "a2a/serve/gemini.h"
#include "a2a/serve/tasks.h"
#include "agent/session/record.h"
#include "base/mem.h"
#include "data/json.h"

enum { PAGE_DEFAULT = 50, PAGE_MAX = 100 };

static const char *param_text(const struct a2a_order *order, const char *name)
{
	return json_string_value(json_object_get(order->params, name));
}

static void order_refuse(struct a2a_order *order, struct a2a_fault *fault)
{
	order->left = NULL;
	order->drained = NULL;
	order->refuse(order, fault);
}

static void order_refuse_with(struct a2a_order *order, enum a2a_fault_kind kind,
                              const char *sentence)
{
	struct a2a_fault fault = { 0 };

	a2a_fault_set(&fault, kind, "%s", sentence);
	order_refuse(order, &fault);
}

/* How many messages an answer has: -1 all.  False: refused. */
static bool order_history(struct a2a_order *order, const json_t *from, int *ret)
{
	const json_t *value = json_object_get(from, "historyLength");
	const json_int_t length = json_integer_value(value);

	*ret = !json_is_integer(value) ? -1 : length > LIMIT_A2A_HISTORY ? -1 : (int)length;
	if (json_is_integer(value) && length < 0)
		order_refuse_with(order, A2A_FAULT_PARAMS, "historyLength cannot be negative.");
	return !json_is_integer(value) || length >= 0;
}

/* The task of a parameter; NULL: refused. */
static struct a2a_task *order_task(struct a2a_order *order, const char *name)
{
	struct a2a_task *task = a2a_task_find(order->server, order->caller,
	                                      param_text(order, name));

	if (!task)
		order_refuse_with(order, A2A_FAULT_NO_TASK, "");
	return task;
}

/* ---- orders that wait for a task ------------------------------------------------- */

struct a2a_waiting_order {
	struct a2a_follower follower; /* the first member */
	struct a2a_waiting_order *next;
	struct a2a_task *task;
	struct a2a_order *order;
	int history;
	bool is_stream;
	bool only_over;               /* a task that waits for its caller is not enough */
	bool lags;                    /* a slow client: it has not got what came since `sent` */
	uint64_t sent;                /* the last number that it has */
};

/* Takes it off; the order is the caller's again. */
static struct a2a_order *waiting_leave(struct a2a_waiting_order *waiting)
{
	struct a2a_server *server = waiting->task->server;
	struct a2a_waiting_order **link = &server->tasks->orders;
	struct a2a_order *order = waiting->order;

	while (*link != waiting)
		link = &(*link)->next;
	*link = waiting->next;
	a2a_task_unfollow(waiting->task, &waiting->follower);
	server->streams -= waiting->is_stream;
	order->left = NULL;
	order->drained = NULL;
	free(waiting);
	return order;
}

static bool waiting_order_is_done(const struct a2a_waiting_order *waiting)
{
	if (a2a_task_state_is_over(waiting->task->state))
		return true;
	/* An agent of another server's (runner.h) reports until it has nothing more to do. */
	return waiting->task->server->options->context && waiting->is_stream ?
	               waiting->task->is_resting :
	               !waiting->only_over && a2a_task_state_asks(waiting->task->state);
}

/* What it waits for has come. */
static void waiting_end(struct a2a_waiting_order *waiting)
{
	struct a2a_task *task = waiting->task;
	const bool is_stream = waiting->is_stream;
	const int history = waiting->history;
	struct a2a_order *order = waiting_leave(waiting);
	json_t *value;

	if (is_stream) {
		order->end(order);
		return;
	}
	value = a2a_task_value(task, history, true);
	if (order->operation != A2A_CANCEL_TASK)
		value = json_pack("{s:o}", "task", value);
	order->answer(order, value);
}

/* The task as it is now, which stands for all events so far. */
static void stream_snapshot(struct a2a_waiting_order *waiting)
{
	json_auto_t *response = json_pack("{s:o}", "task",
	                                  a2a_task_value(waiting->task, waiting->history, true));

	waiting->sent = waiting->task->last_number;
	waiting->order->event(waiting->order, response, waiting->sent);
}

/* As a2a_follower.event. */
static void waiting_event(struct a2a_follower *follower, const json_t *response, uint64_t number)
{
	struct a2a_waiting_order *waiting = (struct a2a_waiting_order *)follower;
	struct a2a_order *order = waiting->order;

	if (waiting->is_stream && !waiting->lags) {
		waiting->lags = order->is_slow && order->is_slow(order);
		if (!waiting->lags) {
			order->event(order, response, number);
			waiting->sent = number;
		}
	}
	if (!waiting->lags && number == waiting->task->last_number &&
	    waiting_order_is_done(waiting))
		waiting_end(waiting);
}

/* As a2a_order.left: the task goes on. */
static void waiting_left(struct a2a_order *order)
{
	waiting_leave(order->data);
}

/* As a2a_order.drained: the client gets what it has missed, as far as that is kept, else the task
 * as it is now. */
static void waiting_drained(struct a2a_order *order)
{
	struct a2a_waiting_order *waiting = order->data;

	if (!waiting->lags)
		return;
	waiting->lags = false;
	if (a2a_task_can_repeat(waiting->task, waiting->sent)) {
		a2a_task_repeat(waiting->task, waiting->sent, &waiting->follower);
		return;
	}
	stream_snapshot(waiting);
	if (waiting_order_is_done(waiting))
		waiting_end(waiting);
}

static struct a2a_waiting_order *waiting_new(struct a2a_order *order, struct a2a_task *task,
                                             int history)
{
	struct a2a_waiting_order *waiting = mem_alloc(1, sizeof(*waiting));

	*waiting = (struct a2a_waiting_order){
		.follower.event = waiting_event, .next = task->server->tasks->orders, .task = task,
		.order = order, .history = history,
		.is_stream = order->operation == A2A_STREAM || order->operation == A2A_SUBSCRIBE,
		.only_over = order->operation == A2A_CANCEL_TASK,
	};
	task->server->tasks->orders = waiting;
	task->server->streams += waiting->is_stream;
	order->data = waiting;
	order->left = waiting_left;
	order->drained = waiting_drained;
	a2a_task_follow(task, &waiting->follower);
	return waiting;
}

/* Waits, or is done already. */
static void order_wait(struct a2a_order *order, struct a2a_task *task, int history)
{
	struct a2a_waiting_order *waiting = waiting_new(order, task, history);

	if (waiting->is_stream)
		stream_snapshot(waiting);
	/* Who subscribes to a task that asks waits for what comes of it. */
	if (waiting_order_is_done(waiting) && order->operation != A2A_SUBSCRIBE)
		waiting_end(waiting);
}

void a2a_orders_end(struct a2a_server *server)
{
	while (server->tasks->orders)
		waiting_end(server->tasks->orders);
}

/* ---- messages -------------------------------------------------------------------- */

/* Configurations of push notifications that come with a message.  False: *fault. */
static bool send_push(struct a2a_task *task, const json_t *config, enum a2a_version version,
                      struct a2a_fault *fault)
{
	_cleanup_free_ char *made = record_new_id();
	const char *id = json_string_value(json_object_get(config, "id"));
	json_t *kept;

	if (!config)
		return true;
	if (json_object_size(task->pushes) >= LIMIT_A2A_PUSH_CONFIGS &&
	    !json_object_get(task->pushes, id && *id ? id : made))
		return a2a_fault_set(fault, A2A_FAULT_PARAMS, "A task has at most %d push "
		                     "configurations.", LIMIT_A2A_PUSH_CONFIGS);
	kept = json_copy((json_t *)config);
	if (!id || !*id)
		json_object_set_new(kept, "id", json_string(made));
	json_object_set_new(kept, "taskId", json_string(task->id));
	/* As its notifications will be (push.h). */
	if (version == A2A_V0_3)
		json_object_set_new(kept, "protocolVersion", json_string("0.3"));
	if (!task->pushes)
		task->pushes = json_object();
	json_object_set_new(task->pushes, id && *id ? id : made, kept);
	a2a_task_pushes_changed(task);
	return true;
}

static bool push_check(const struct a2a_order *order, const json_t *config,
                       struct a2a_fault *fault)
{
	if (!config)
		return true;
	return order->server->push ? a2a_push_check(order->server->push, config, fault) :
	                             a2a_fault_set(fault, A2A_FAULT_NO_PUSH, "%s", "");
}

/* What can be said of a message before anything is done with it. */
static bool send_check(const struct a2a_order *order, const json_t *message, const json_t *config,
                       struct a2a_fault *fault)
{
	const char *role = json_string_value(json_object_get(message, "role"));
	struct a2a_content content;
	bool ok;

	if (!role || strcmp(role, "ROLE_USER") != 0)
		return a2a_fault_set(fault, A2A_FAULT_PARAMS, "message.role must be ROLE_USER.");
	if (order->operation == A2A_STREAM && order->server->streams >= LIMIT_A2A_STREAMS)
		return a2a_fault_set(fault, A2A_FAULT_BUSY,
		                     "%d streams are open. Close one first, or poll.",
		                     LIMIT_A2A_STREAMS);
	ok = a2a_content_read(message, &content, fault);
	a2a_content_release(&content);
	return ok && push_check(order, config, fault);
}

/* The task that a message is for; NULL: *fault. */
static struct a2a_task *send_find(const struct a2a_order *order, const json_t *message,
                                  struct a2a_fault *fault)
{
	const char *id = json_string_value(json_object_get(message, "taskId"));
	const char *context = json_string_value(json_object_get(message, "contextId"));
	struct a2a_task *task = a2a_task_find(order->server, order->caller, id);

	if (!task)
		a2a_fault_set(fault, A2A_FAULT_NO_TASK, "%s", "");
	else if (context && strcmp(context, task->context) != 0)
		a2a_fault_set(fault, A2A_FAULT_PARAMS,
		              "message.contextId is not the context of that task.");
	else if (a2a_task_state_is_over(task->state))
		a2a_fault_set(fault, A2A_FAULT_UNSUPPORTED, "That task is over (%s). Send the "
		              "message with its contextId alone to begin another.",
		              a2a_task_state_name(task->state));
	return fault->kind == A2A_FAULT_NONE ? task : NULL;
}

/* A further message. */
static struct a2a_task *send_more(struct a2a_order *order, const json_t *message,
                                  const json_t *config, struct a2a_fault *fault)
{
	struct a2a_task *task = send_find(order, message, fault);

	if (!task || !send_push(task, config, order->version, fault))
		return NULL;
	if (task->is_waiting)
		a2a_task_said(task, message);
	else if (!task->run && task->gemini)
		a2a_gemini_go_on(task, message);
	else if (!task->run)
		a2a_fault_set(fault, A2A_FAULT_UNSUPPORTED, "The task cannot take a message now.");
	else
		task->server->work->say(task, message, fault);
	return fault->kind == A2A_FAULT_NONE ? task : NULL;
}

/* A request without headers has it in its metadata. */
static void send_trace(const struct a2a_order *order, struct a2a_task *task)
{
	const char *given = json_string_value(json_object_get(
		json_object_get(order->params, "metadata"), "traceparent"));

	memcpy(task->trace, order->trace, sizeof(task->trace));
	if (order->server->options->context && given && strlen(given) < sizeof(task->trace))
		memcpy(task->trace, given, strlen(given) + 1);
}

static struct a2a_task *send_first(struct a2a_order *order, const json_t *message,
                                   const json_t *config, struct a2a_fault *fault)
{
	struct a2a_task *task = a2a_task_new(order->server, order->caller, message, fault);

	if (!task)
		return NULL;
	task->extensions = json_incref(order->extensions);
	send_trace(order, task);
	if (!task->gemini && a2a_gemini_is_asked(message, order->extensions))
		a2a_gemini_begin(task, message);
	send_push(task, config, order->version, fault);
	return task;
}

static void operation_send(struct a2a_order *order)
{
	json_auto_t *params = json_incref(order->params); /* the order may be freed before */
	const json_t *message = json_object_get(params, "message");
	const json_t *settings = json_object_get(params, "configuration");
	const json_t *config = json_object_get(settings, "taskPushNotificationConfig");
	const bool returns = json_is_true(json_object_get(settings, "returnImmediately"));
	struct a2a_fault fault = { 0 };
	const bool is_first = !json_string_length(json_object_get(message, "taskId"));
	struct a2a_task *task = NULL;
	int history;

	if (!order_history(order, settings, &history))
		return;
	if (send_check(order, message, config, &fault))
		task = is_first ? send_first(order, message, config, &fault) :
		                send_more(order, message, config, &fault);
	if (!task)
		order_refuse(order, &fault);
	else if (order->operation == A2A_SEND && returns)
		order->answer(order, json_pack("{s:o}", "task",
		                               a2a_task_value(task, history, true)));
	else
		order_wait(order, task, history);
	if (task && is_first) /* a stream has it from the start */
		a2a_queue_add(task);
}

/* ---- tasks ----------------------------------------------------------------------- */

static void operation_get(struct a2a_order *order)
{
	struct a2a_task *task;
	int history;

	if (!order_history(order, order->params, &history))
		return;
	task = order_task(order, "id");
	if (task)
		order->answer(order, a2a_task_value(task, history, true));
}

static void operation_cancel(struct a2a_order *order)
{
	struct a2a_task *task = order_task(order, "id");
	const bool waits = task && task->is_waiting;

	if (!task)
		return;
	if (a2a_task_state_is_over(task->state)) {
		order_refuse_with(order, A2A_FAULT_NOT_CANCELABLE, "");
		return;
	}
	if (waits || !task->run)
		a2a_task_set(task, A2A_TASK_CANCELED, a2a_task_message_text(
			task, "The task was canceled%s.", waits ? " before it began" : ""), NULL);
	else
		task->server->work->cancel(task);
	order_wait(order, task, -1);
}

static void operation_subscribe(struct a2a_order *order)
{
	struct a2a_task *task = order_task(order, "id");
	struct a2a_waiting_order *waiting;

	if (!task)
		return;
	if (order->server->streams >= LIMIT_A2A_STREAMS) {
		order_refuse_with(order, A2A_FAULT_BUSY,
		                  "Too many streams are open. Close one first, or poll.");
		return;
	}
	if (order->resumes && a2a_task_can_repeat(task, order->resume_after)) {
		waiting = waiting_new(order, task, -1);
		if (order->resume_after == task->last_number && waiting_order_is_done(waiting))
			waiting_end(waiting);
		else
			a2a_task_repeat(task, order->resume_after, &waiting->follower);
	} else if (a2a_task_state_is_over(task->state)) {
		order_refuse_with(order, A2A_FAULT_UNSUPPORTED,
		                  "That task is over: get it, there is nothing to follow.");
	} else {
		order_wait(order, task, -1);
	}
}

/* ---- lists ----------------------------------------------------------------------- */

struct task_listing {
	const char *context;
	enum a2a_task_state state; /* 0: any */
	uint64_t after_ms;         /* changed at that moment, or since */
	uint64_t before_ms;        /* of the page: changed before it; 0: the first page */
	size_t size;
	int history;
	bool artifacts;
};

/* A token is the moment of the last task of the page before, which no other task has. */
static bool token_read(const char *token, uint64_t *ret_ms)
{
	char *end;

	*ret_ms = 0;
	if (!token || !*token)
		return true;
	if (*token != 'p' || strlen(token) > 17 ||
	    strspn(token + 1, "0123456789abcdef") != strlen(token) - 1)
		return false;
	*ret_ms = strtoull(token + 1, &end, 16);
	return *ret_ms != 0;
}

static const char *listing_read(struct a2a_order *order, struct task_listing *ret)
{
	const json_t *size = json_object_get(order->params, "pageSize");
	const json_int_t pages = json_is_integer(size) ? json_integer_value(size) : PAGE_DEFAULT;
	const char *state = param_text(order, "status");
	const char *after = param_text(order, "statusTimestampAfter");

	*ret = (struct task_listing){
		.context = param_text(order, "contextId"), .size = (size_t)pages,
		.state = a2a_task_state_parse(state),
		.artifacts = json_is_true(json_object_get(order->params, "includeArtifacts")),
	};
	if (ret->context && !*ret->context)
		ret->context = NULL;
	if (pages < 1 || pages > PAGE_MAX)
		return "pageSize must be from 1 to 100.";
	if (!token_read(param_text(order, "pageToken"), &ret->before_ms))
		return "pageToken is not one of this server's.";
	if (after && *after && !a2a_moment_parse(after, &ret->after_ms))
		return "statusTimestampAfter must be a moment such as 2026-11-30T12:00:00Z.";
	if (state && *state && !ret->state && strcmp(state, "TASK_STATE_UNSPECIFIED") != 0)
		return "status is not a task state.";
	return NULL;
}

static bool listing_has(const struct task_listing *listing, const struct a2a_order *order,
                        const struct a2a_task *task)
{
	return !strcmp(task->caller->name, order->caller->name) &&
	       (!listing->context || !strcmp(listing->context, task->context)) &&
	       (!listing->state || listing->state == task->state) &&
	       task->updated_ms >= listing->after_ms;
}

/* Tasks in their order, the one that changed last first. */
static json_t *listing_page(const struct task_listing *listing, const struct a2a_order *order)
{
	json_t *page = json_array();
	uint64_t last = 0;
	size_t total = 0;
	bool more = false;
	char token[24] = "";

	for (struct a2a_task *task = order->server->tasks->first; task; task = task->next) {
		if (!listing_has(listing, order, task))
			continue;
		total++;
		if (listing->before_ms && task->updated_ms >= listing->before_ms)
			continue;
		more = json_array_size(page) >= listing->size;
		if (more)
			continue;
		json_array_append_new(page, a2a_task_value(task, listing->history,
		                                           listing->artifacts));
		last = task->updated_ms;
	}
	if (more)
		snprintf(token, sizeof(token), "p%llx", (unsigned long long)last);
	return json_pack("{s:o, s:s, s:I, s:I}", "tasks", page, "nextPageToken", token, "pageSize",
	                 (json_int_t)listing->size, "totalSize", (json_int_t)total);
}

static void operation_list(struct a2a_order *order)
{
	struct task_listing listing;
	const char *wrong = listing_read(order, &listing);

	if (wrong)
		order_refuse_with(order, A2A_FAULT_PARAMS, wrong);
	else if (order_history(order, order->params, &listing.history))
		order->answer(order, listing_page(&listing, order));
}

/* ---- push configurations --------------------------------------------------------- */

/* The task of an operation on these; NULL: refused. */
static struct a2a_task *push_task(struct a2a_order *order)
{
	if (order->server->push)
		return order_task(order, "taskId");
	order_refuse_with(order, A2A_FAULT_NO_PUSH, "");
	return NULL;
}

static void operation_push_create(struct a2a_order *order)
{
	struct a2a_task *task = push_task(order);
	struct a2a_fault fault = { 0 };
	const char *id = param_text(order, "id");
	json_t *kept;

	if (!task)
		return;
	if (!push_check(order, order->params, &fault) ||
	    !send_push(task, order->params, order->version, &fault)) {
		order_refuse(order, &fault);
		return;
	}
	kept = id && *id ? json_object_get(task->pushes, id) : NULL;
	if (!kept) /* the last one: objects keep their order */
		for (void *at = json_object_iter(task->pushes); at;
		     at = json_object_iter_next(task->pushes, at))
			kept = json_object_iter_value(at);
	order->answer(order, json_incref(kept));
}

static void operation_push_get(struct a2a_order *order)
{
	struct a2a_task *task = push_task(order);
	const char *id = param_text(order, "id");
	json_t *config = task ? json_object_get(task->pushes, id ? id : "") : NULL;

	if (config)
		order->answer(order, json_incref(config));
	else if (task)
		order_refuse_with(order, A2A_FAULT_NO_TASK,
		                  "The task has no push configuration of that id.");
}

static void operation_push_list(struct a2a_order *order)
{
	struct a2a_task *task = push_task(order);
	json_t *list, *config;
	const char *id;

	if (!task)
		return;
	list = json_array();
	json_object_foreach(task->pushes, id, config)
		json_array_append(list, config);
	order->answer(order, json_pack("{s:o, s:s}", "configs", list, "nextPageToken", ""));
}

static void operation_push_delete(struct a2a_order *order)
{
	struct a2a_task *task = push_task(order);
	const char *id = param_text(order, "id");

	if (!task)
		return;
	if (id && json_object_del(task->pushes, id) == 0)
		a2a_task_pushes_changed(task);
	order->answer(order, json_object());
}

static void operation_card(struct a2a_order *order)
{
	if (order->server->extended_card)
		order->answer(order, order->server->extended_card(order));
	else
		order_refuse_with(order, A2A_FAULT_NO_EXTENDED_CARD, "");
}

/* ---- all of them ----------------------------------------------------------------- */

void a2a_order_begin(struct a2a_order *order)
{
	static void (*const operations[A2A_OPERATION_COUNT])(struct a2a_order *order) = {
		[A2A_SEND] = operation_send,
		[A2A_STREAM] = operation_send,
		[A2A_GET_TASK] = operation_get,
		[A2A_LIST_TASKS] = operation_list,
		[A2A_CANCEL_TASK] = operation_cancel,
		[A2A_SUBSCRIBE] = operation_subscribe,
		[A2A_PUSH_CREATE] = operation_push_create,
		[A2A_PUSH_GET] = operation_push_get,
		[A2A_PUSH_LIST] = operation_push_list,
		[A2A_PUSH_DELETE] = operation_push_delete,
		[A2A_EXTENDED_CARD] = operation_card,
	};

	operations[order->operation](order);
}
