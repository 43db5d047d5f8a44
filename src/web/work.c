/* SPDX-License-Identifier: Apache-2.0 */
/* Work between threads: calls to the web thread, jobs on a pool, wakers that wake it. */
#include <stdlib.h>

#include "base/mem.h"
#include "web/private.h"

enum { POOL_THREADS = 4, POOL_THREADS_MAX = 32 };

/* ---- calls from other threads ----------------------------------------------------- */

struct web_call {
	struct loop_task task;
	struct web *web;
	void (*run)(struct web *web, void *data);
	void *data;
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool is_done;
};

static void web_call_run(struct loop_task *task)
{
	struct web_call *call = (struct web_call *)task;

	call->run(call->web, call->data);
	pthread_mutex_lock(&call->lock);
	call->is_done = true;
	pthread_cond_signal(&call->done);
	pthread_mutex_unlock(&call->lock);
}

void web_call(struct web *web, void (*run)(struct web *web, void *data), void *data)
{
	struct web_call call = { .task.run = web_call_run, .web = web, .run = run, .data = data,
		                 .lock = PTHREAD_MUTEX_INITIALIZER,
		                 .done = PTHREAD_COND_INITIALIZER };

	loop_post(web->loop, &call.task);
	pthread_mutex_lock(&call.lock);
	while (!call.is_done)
		pthread_cond_wait(&call.done, &call.lock);
	pthread_mutex_unlock(&call.lock);
	pthread_cond_destroy(&call.done);
	pthread_mutex_destroy(&call.lock);
}

/* ---- jobs ------------------------------------------------------------------------- */

/* As web_later.closed. */
static void job_closed(struct web_later *later)
{
	((struct web_job *)later)->request = NULL;
}

static void job_ended(struct loop_task *task)
{
	struct web_job *job = (struct web_job *)((char *)task - offsetof(struct web_job, ended));
	struct loop *loop = job->web->loop;

	if (job->request)
		http_request_set_data(job->request, NULL);
	job->then(job);
	loop_unhold(loop);
}

static void web_job_run(struct pool_job *pool_job)
{
	struct web_job *job =
		(struct web_job *)((char *)pool_job - offsetof(struct web_job, job));

	job->run(job);
	loop_post(job->web->loop, &job->ended);
}

void web_job_give(struct web_exchange *exchange, struct web_job *job)
{
	if (exchange->web->is_ending) {
		web_refuse_with(exchange->http, 409, "busy", "The web front is ending.");
		job->then(job);
		return;
	}
	job->web = exchange->web;
	job->request = exchange->http;
	job->later.closed = job_closed;
	http_request_set_data(job->request, &job->later);
	job->job.run = web_job_run;
	job->ended.run = job_ended;
	if (!job->web->pool)
		job->web->pool = pool_new(POOL_THREADS, POOL_THREADS_MAX);
	loop_hold(job->web->loop);
	pool_submit(job->web->pool, &job->job);
}

/* ---- wakers ------------------------------------------------------------------------ */

static void waker_run(struct loop_task *task)
{
	struct web_waker *waker = (struct web_waker *)task;

	atomic_store(&waker->is_woken, false);
	if (waker->is_dead)
		free(waker);
	else
		waker->woken(waker->data);
}

struct web_waker *web_waker_new(struct loop *loop, void (*woken)(void *data), void *data)
{
	struct web_waker *waker = mem_alloc(1, sizeof(*waker));

	*waker = (struct web_waker){ .task.run = waker_run, .loop = loop, .woken = woken,
		                   .data = data };
	return waker;
}

void web_waker_free(struct web_waker *waker)
{
	if (!waker)
		return;
	waker->is_dead = true;
	if (!atomic_load(&waker->is_woken))
		free(waker);
}

void web_waker_wake(void *data, bool is_piece)
{
	struct web_waker *waker = data;

	(void)is_piece;
	if (!atomic_exchange(&waker->is_woken, true))
		loop_post(waker->loop, &waker->task);
}
