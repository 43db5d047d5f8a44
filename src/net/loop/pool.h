/* SPDX-License-Identifier: Apache-2.0 */
/* Threads for calls that take long.
 *
 *     struct pool *pool = pool_new(2, 256);
 *     pool_submit(pool, &job->job);         // job->job.run(&job->job) on some thread
 *     pool_free(pool);                      // waits for all jobs
 *
 * Threads are started when there is work and none is idle, and end after a while without
 * any.  At most `threads` jobs compute at a time; a job that waits for something else
 * (an answer of a client, a command) says so with pool_wait_begin, and another thread may then run
 * in its place, up to `threads_max` in all.  So a thousand jobs can be under way while
 * some wait, without a thousand threads.
 */
#ifndef HASP_NET_LOOP_POOL_H
#define HASP_NET_LOOP_POOL_H

#include <stddef.h>

struct pool;

/* Embedded in the caller's object, which must live until `run` begins. */
struct pool_job {
	void (*run)(struct pool_job *job);
	struct pool_job *next; /* the pool's */
};

/* `threads` 0: as many as there are processors the process may use. */
struct pool *pool_new(unsigned threads, unsigned threads_max);
/* Runs what is queued, waits for every job. NULL is fine. */
void pool_free(struct pool *pool);
/* From any thread. Jobs begin in the order of submission. */
void pool_submit(struct pool *pool, struct pool_job *job);
/* Called by a running job around a wait. */
void pool_wait_begin(struct pool *pool);
void pool_wait_end(struct pool *pool);

#endif
