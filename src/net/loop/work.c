/* SPDX-License-Identifier: Apache-2.0 */
/* Work between threads: calls to a loop's thread, jobs on a pool, wakers. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "net/loop/loop.h"

/* ---- calls from other threads ----------------------------------------------------- */

struct loop_called {
	struct loop_task task;
	void (*run)(void *data);
	void *data;
	pthread_mutex_t lock;
	pthread_cond_t done;
	bool is_done;
};

static void loop_called_run(struct loop_task *task)
{
	struct loop_called *called = (struct loop_called *)task;

	called->run(called->data);
	pthread_mutex_lock(&called->lock);
	called->is_done = true;
	pthread_cond_signal(&called->done);
	pthread_mutex_unlock(&called->lock);
}

void loop_call(struct loop *loop, void (*run)(void *data), void *data)
{
	struct loop_called called = { .task.run = loop_called_run, .run = run, .data = data,
		                      .lock = PTHREAD_MUTEX_INITIALIZER,
		                      .done = PTHREAD_COND_INITIALIZER };

	loop_post(loop, &called.task);
	pthread_mutex_lock(&called.lock);
	while (!called.is_done)
		pthread_cond_wait(&called.done, &called.lock);
	pthread_mutex_unlock(&called.lock);
	pthread_cond_destroy(&called.done);
	pthread_mutex_destroy(&called.lock);
}

/* ---- jobs ------------------------------------------------------------------------- */

static void loop_job_ended(struct loop_task *task)
{
	struct loop_job *job = (struct loop_job *)((char *)task - offsetof(struct loop_job, ended));
	struct loop *loop = job->loop;

	job->then(job);
	loop_unhold(loop);
}

static void loop_job_run(struct pool_job *pool_job)
{
	struct loop_job *job =
		(struct loop_job *)((char *)pool_job - offsetof(struct loop_job, job));

	job->run(job);
	loop_post(job->loop, &job->ended);
}

void loop_job_start(struct loop *loop, struct pool *pool, struct loop_job *job)
{
	job->loop = loop;
	job->job.run = loop_job_run;
	job->ended.run = loop_job_ended;
	loop_hold(loop);
	pool_submit(pool, &job->job);
}

/* ---- wakers ------------------------------------------------------------------------ */

struct loop_waker {
	struct loop_task task;
	struct loop *loop;
	atomic_bool is_woken;
	bool is_dead;
	void (*woken)(void *data);
	void *data;
};

static void loop_waker_run(struct loop_task *task)
{
	struct loop_waker *waker = (struct loop_waker *)task;

	atomic_store(&waker->is_woken, false);
	if (waker->is_dead)
		free(waker);
	else
		waker->woken(waker->data);
}

struct loop_waker *loop_waker_new(struct loop *loop, void (*woken)(void *data), void *data)
{
	struct loop_waker *waker = mem_alloc(1, sizeof(*waker));

	*waker = (struct loop_waker){ .task.run = loop_waker_run, .loop = loop, .woken = woken,
		                      .data = data };
	return waker;
}

void loop_waker_free(struct loop_waker *waker)
{
	if (!waker)
		return;
	waker->is_dead = true;
	if (!atomic_load(&waker->is_woken))
		free(waker);
}

void loop_waker_wake(void *data, bool is_piece)
{
	struct loop_waker *waker = data;

	(void)is_piece;
	if (!atomic_exchange(&waker->is_woken, true))
		loop_post(waker->loop, &waker->task);
}
