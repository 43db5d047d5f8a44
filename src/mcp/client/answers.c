/* SPDX-License-Identifier: Apache-2.0 */
/* Requests from a server, and the threads that answer them: one thread per request, so that a
 * question to the user delays neither the reader nor other requests. */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/client/answers.h"
#include "mcp/client/client.h"
#include "mcp/client/requests.h"
#include "net/rpc/rpc.h"

enum {
	RPC_REJECTED = -1, /* as the specification's example of a refused sampling has it */
	ANSWER_POLL_MS = 20,
};

/* One request that is being answered. */
struct answering {
	struct mcp_answers *all;
	struct cancel cancel;
	json_t *id;          /* NULL: it came within an answer, and is handed over */
	char *method;
	json_t *params;
	json_t *result;      /* as mcp_client_options.answer returned it */
	struct err err;
	bool done, withdrawn; /* with the lock; `withdrawn`: it is not answered any more */
	int wake_fd;            /* an eventfd, rung when it is done; -1: none */
	struct answering *next;
};

struct mcp_answers {
	struct mcp_client_options options;
	void (*send)(void *data, struct span message);
	void *data;
	pthread_mutex_t lock;      /* of what follows */
	pthread_cond_t changed;
	json_t *roots;
	struct answering *first;
	size_t count;
	bool stopped;
	size_t calls;              /* of its tools, that are under way */
	size_t sampled;            /* since the first of these began */
	uint64_t held_ms;          /* for how long any was being answered, up to `held_from_ms` */
	uint64_t held_from_ms;     /* since when one is */
};

struct mcp_answers *mcp_answers_new(const struct mcp_client_options *options,
                                    void (*send)(void *data, struct span message), void *data)
{
	struct mcp_answers *answers = mem_alloc(1, sizeof(*answers));

	answers->options = *options;
	answers->roots = json_incref((json_t *)options->roots);
	answers->send = send;
	answers->data = data;
	pthread_mutex_init(&answers->lock, NULL);
	pthread_cond_init(&answers->changed, NULL);
	return answers;
}

void mcp_answers_stop(struct mcp_answers *answers)
{
	pthread_mutex_lock(&answers->lock);
	answers->stopped = true;
	for (struct answering *one = answers->first; one; one = one->next) {
		one->withdrawn = true;
		cancel_set(&one->cancel);
	}
	pthread_mutex_unlock(&answers->lock);
}

void mcp_answers_await(struct mcp_answers *answers)
{
	pthread_mutex_lock(&answers->lock);
	while (answers->count)
		pthread_cond_wait(&answers->changed, &answers->lock);
	pthread_mutex_unlock(&answers->lock);
}

void mcp_answers_free(struct mcp_answers *answers)
{
	json_decref(answers->roots);
	pthread_cond_destroy(&answers->changed);
	pthread_mutex_destroy(&answers->lock);
	free(answers);
}

uint64_t mcp_answers_held_ms(struct mcp_answers *answers)
{
	uint64_t held;

	pthread_mutex_lock(&answers->lock);
	held = answers->held_ms;
	if (answers->count)
		held += clock_monotonic_ms() - answers->held_from_ms;
	pthread_mutex_unlock(&answers->lock);
	return held;
}

void mcp_answers_stop_clock(struct mcp_answers *answers)
{
	pthread_mutex_lock(&answers->lock);
	if (!answers->count++)
		answers->held_from_ms = clock_monotonic_ms();
	pthread_cond_broadcast(&answers->changed);
	pthread_mutex_unlock(&answers->lock);
}

void mcp_answers_restart_clock(struct mcp_answers *answers)
{
	pthread_mutex_lock(&answers->lock);
	if (!--answers->count)
		answers->held_ms += clock_monotonic_ms() - answers->held_from_ms;
	pthread_cond_broadcast(&answers->changed);
	pthread_mutex_unlock(&answers->lock);
}

/* ---- one request ---- */

static bool is_sampling(const char *method)
{
	return !strcmp(method, "sampling/createMessage");
}

/* With the lock. Counts it. */
static bool may_sample_now(struct mcp_answers *all, struct err *err)
{
	if (!all->calls)
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "A model answers only while a tool of the server is being called.");
	return ++all->sampled <= LIMIT_MCP_SAMPLINGS_CALL ||
	       err_set(err, ERR_BUSY, "A model answers at most %d requests in one call of a tool.",
	               LIMIT_MCP_SAMPLINGS_CALL);
}

static bool answering_begin(struct answering *one, struct err *err)
{
	struct mcp_answers *all = one->all;
	bool ok = false;

	if (!cancel_init(&one->cancel, err))
		return false;
	pthread_mutex_lock(&all->lock);
	if (all->stopped) {
		err_set(err, ERR_CANCELLED, "The MCP server \"%s\" is ended.", all->options.name);
	} else if (all->count >= LIMIT_MCP_ANSWERING) {
		err_set(err, ERR_BUSY, "%d requests are being answered already.",
		        LIMIT_MCP_ANSWERING);
	} else if (!is_sampling(one->method) || may_sample_now(all, err)) {
		if (!all->count++)
			all->held_from_ms = clock_monotonic_ms();
		one->next = all->first;
		all->first = one;
		ok = true;
	}
	pthread_mutex_unlock(&all->lock);
	if (!ok)
		cancel_release(&one->cancel);
	return ok;
}

/* Out of the list; whether it is still to be answered. */
static bool answering_take_out(struct answering *one)
{
	struct mcp_answers *all = one->all;
	struct answering **at = &all->first;
	bool wanted;

	pthread_mutex_lock(&all->lock);
	while (*at != one)
		at = &(*at)->next;
	*at = one->next;
	wanted = !one->withdrawn;
	pthread_mutex_unlock(&all->lock);
	return wanted;
}

/* The thread's last step: once the count is 0, nothing may use `all`. */
static void answering_end(struct answering *one)
{
	struct mcp_answers *all = one->all;

	cancel_release(&one->cancel);
	json_decref(one->id);
	json_decref(one->params);
	json_decref(one->result);
	free(one->method);
	free(one);
	pthread_mutex_lock(&all->lock);
	if (!--all->count)
		all->held_ms += clock_monotonic_ms() - all->held_from_ms;
	pthread_cond_broadcast(&all->changed);
	pthread_mutex_unlock(&all->lock);
}

static struct answering *answering_new(struct mcp_answers *all, const json_t *id,
                                       const char *method, const json_t *params)
{
	struct answering *one = mem_alloc(1, sizeof(*one));

	one->all = all;
	one->wake_fd = -1;
	one->id = json_incref((json_t *)id);
	one->method = mem_strdup(method);
	/* The message is the reader's. */
	one->params = params ? json_deep_copy(params) : json_object();
	return one;
}

static void answering_free_unbegun(struct answering *one)
{
	json_decref(one->id);
	json_decref(one->params);
	free(one->method);
	free(one);
}

static int answer_rpc_code(enum err_code code)
{
	switch (code) {
	case ERR_UNKNOWN_TOOL: return RPC_METHOD_NOT_FOUND;
	case ERR_INVALID_ARGUMENT: return RPC_INVALID_PARAMS;
	case ERR_DENIED_BY_USER:
	case ERR_DENIED_BY_POLICY: return RPC_REJECTED;
	default: return RPC_INTERNAL_ERROR;
	}
}

/* `result` NULL: *err. */
static void send_answer(struct mcp_answers *all, const json_t *id, const json_t *result,
                        const struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MCP_MESSAGE_BYTES);

	if (result)
		rpc_write_result(&out, id, result);
	else
		rpc_write_error(&out, id, answer_rpc_code(err->code), err->message, NULL);
	if (!out.overflowed)
		all->send(all->data, buf_view(&out));
}

static void *answering_thread(void *data)
{
	struct answering *one = data;
	struct mcp_answers *all = one->all;

	one->result = all->options.answer(all->options.data, one->method, one->params, &one->cancel,
	                                  &one->err);
	if (answering_take_out(one))
		send_answer(all, one->id, one->result, &one->err);
	answering_end(one);
	return NULL;
}

/* The requests that hasp answers immediately. NULL: *err, also for any other method. */
static json_t *answer_at_once(struct mcp_answers *all, const char *method, struct err *err)
{
	json_t *result = NULL;

	if (!strcmp(method, "ping"))
		return json_object();
	pthread_mutex_lock(&all->lock);
	if (!strcmp(method, "roots/list") && all->roots)
		result = json_pack("{s:O}", "roots", all->roots);
	pthread_mutex_unlock(&all->lock);
	if (!result)
		err_set(err, ERR_UNKNOWN_TOOL, "The client does not have this method.");
	return result;
}

static bool is_answered_at_once(const struct mcp_answers *all, const char *method)
{
	return !all->options.answer || !strcmp(method, "ping") || !strcmp(method, "roots/list");
}

void mcp_answers_take(struct mcp_answers *all, const json_t *id, const char *method,
                      const json_t *params)
{
	struct err err = ERR_INIT;
	struct answering *one;
	pthread_attr_t detached;
	pthread_t thread;
	bool ok;

	if (is_answered_at_once(all, method)) {
		json_auto_t *result = answer_at_once(all, method, &err);

		send_answer(all, id, result, &err);
		return;
	}
	one = answering_new(all, id, method, params);
	if (!answering_begin(one, &err)) {
		send_answer(all, id, NULL, &err);
		answering_free_unbegun(one);
		return;
	}
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	ok = pthread_create(&thread, &detached, answering_thread, one) == 0;
	pthread_attr_destroy(&detached);
	if (ok)
		return;
	err_set(&err, ERR_NO_RESOURCES, "No more threads can be started.");
	answering_take_out(one);
	send_answer(all, id, NULL, &err);
	answering_end(one);
}

/* With the lock. False: there is none. */
static bool cancel_samplings(struct mcp_answers *all)
{
	bool any = false;

	for (struct answering *one = all->first; one; one = one->next) {
		if (!is_sampling(one->method))
			continue;
		cancel_set(&one->cancel);
		any = true;
	}
	return any;
}

void mcp_answers_begin_call(struct mcp_answers *all)
{
	pthread_mutex_lock(&all->lock);
	if (!all->calls++)
		all->sampled = 0;
	pthread_mutex_unlock(&all->lock);
}

void mcp_answers_end_call(struct mcp_answers *all)
{
	pthread_mutex_lock(&all->lock);
	/* Without a call no further sampling starts. */
	if (!--all->calls)
		while (!all->calls && cancel_samplings(all))
			pthread_cond_wait(&all->changed, &all->lock);
	pthread_mutex_unlock(&all->lock);
}

void mcp_answers_withdraw(struct mcp_answers *all, const json_t *id)
{
	pthread_mutex_lock(&all->lock);
	for (struct answering *one = all->first; id && one; one = one->next) {
		if (one->id && json_equal(one->id, id)) {
			one->withdrawn = true;
			cancel_set(&one->cancel);
		}
	}
	pthread_mutex_unlock(&all->lock);
}

/* ---- requests within an answer ---- */

static void *answering_within_thread(void *data)
{
	struct answering *one = data;
	struct mcp_answers *all = one->all;

	one->result = all->options.answer(all->options.data, one->method, one->params, &one->cancel,
	                                  &one->err);
	pthread_mutex_lock(&all->lock);
	one->done = true;
	pthread_cond_broadcast(&all->changed);
	pthread_mutex_unlock(&all->lock);
	fd_ring(one->wake_fd);
	return NULL;
}

static bool answering_is_done(struct answering *one)
{
	bool done;

	pthread_mutex_lock(&one->all->lock);
	done = one->done;
	pthread_mutex_unlock(&one->all->lock);
	return done;
}

/* Waits until it is answered; cancels it first when the caller stops waiting. */
static void await_answered(struct answering *one, const struct mcp_wait *wait,
                           const struct mcp_expected *expected)
{
	const bool polls = one->wake_fd < 0 || cancel_wait_ms(wait->cancel, -1) >= 0 ||
	                   (expected && expected->wake_fd < 0);
	struct pollfd fds[] = {
		{ .fd = one->wake_fd, .events = POLLIN },
		{ .fd = cancel_fd(wait->cancel), .events = POLLIN },
		{ .fd = expected ? expected->wake_fd : -1, .events = POLLIN },
	};

	while (!answering_is_done(one)) {
		if (cancelled(wait->cancel) || (expected && expected->over)) {
			cancel_set(&one->cancel);
			fds[1].fd = fds[2].fd = -1; /* they stay readable */
		}
		fd_wait(fds, ARRAY_LEN(fds), polls ? ANSWER_POLL_MS : -1);
	}
}

bool mcp_answers_within(struct mcp_answers *all, const char *method, const json_t *params,
                        const struct mcp_wait *wait, const struct mcp_expected *expected,
                        json_t **ret, struct err *err)
{
	_cleanup_fd_ int wake_fd = -1;
	struct answering *one;
	pthread_t thread;
	bool ok;

	if (is_answered_at_once(all, method)) {
		*ret = answer_at_once(all, method, err);
		return *ret;
	}
	one = answering_new(all, NULL, method, params);
	if (!answering_begin(one, err)) {
		answering_free_unbegun(one);
		return false;
	}
	wake_fd = one->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ok = pthread_create(&thread, NULL, answering_within_thread, one) == 0;
	if (ok) {
		await_answered(one, wait, expected);
		pthread_join(thread, NULL);
	} else {
		err_set(&one->err, ERR_NO_RESOURCES, "No more threads can be started.");
	}
	answering_take_out(one);
	ok = one->result;
	if (ok)
		*ret = mem_steal(&one->result);
	else
		*err = one->err;
	answering_end(one);
	return ok;
}
