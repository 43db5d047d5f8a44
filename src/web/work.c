/* SPDX-License-Identifier: Apache-2.0 */
/* Work between threads: calls to the web thread, jobs on a pool that answer requests. */
#include <stdlib.h>

#include "web/private.h"

enum { POOL_THREADS = 4, POOL_THREADS_MAX = 32 };

struct web_called {
	struct web *web;
	void (*run)(struct web *web, void *data);
	void *data;
};

static void web_called_run(void *data)
{
	const struct web_called *called = data;

	called->run(called->web, called->data);
}

void web_call(struct web *web, void (*run)(struct web *web, void *data), void *data)
{
	struct web_called called = { web, run, data };

	loop_call(web->loop, web_called_run, &called);
}

/* ---- jobs ------------------------------------------------------------------------- */

static struct web_job *web_job_of(struct loop_job *job)
{
	return (struct web_job *)((char *)job - offsetof(struct web_job, job));
}

/* As web_later.closed. */
static void job_closed(struct web_later *later)
{
	((struct web_job *)later)->request = NULL;
}

/* As loop_job.then. */
static void web_job_ended(struct loop_job *loop_job)
{
	struct web_job *job = web_job_of(loop_job);

	if (job->request)
		http_request_set_data(job->request, NULL);
	job->then(job);
}

/* As loop_job.run. */
static void web_job_run(struct loop_job *loop_job)
{
	struct web_job *job = web_job_of(loop_job);

	job->run(job);
}

void web_job_give(struct web_exchange *exchange, struct web_job *job)
{
	struct web *web = exchange->web;

	if (web->is_ending) {
		web_refuse_with(exchange->http, 409, "busy", "The web front is ending.");
		job->then(job);
		return;
	}
	job->web = web;
	job->request = exchange->http;
	job->later.closed = job_closed;
	http_request_set_data(job->request, &job->later);
	job->job.run = web_job_run;
	job->job.then = web_job_ended;
	if (!web->pool)
		web->pool = pool_new(POOL_THREADS, POOL_THREADS_MAX);
	loop_job_start(web->loop, web->pool, &job->job);
}
