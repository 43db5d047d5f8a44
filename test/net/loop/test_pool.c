/* SPDX-License-Identifier: Apache-2.0 */
/* The pool: every job runs once, as many at a time as allowed, and waits make room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "net/loop/loop.h"

/* Long for a thread, short for a person. */
static void pause_ms(long ms)
{
	const struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&pause, NULL);
}

struct tally {
	struct pool *pool;
	atomic_int ran, now, most, order_broken;
	atomic_int last;
	atomic_bool open;
};

struct job {
	struct pool_job job;
	struct tally *tally;
	int number;
};

static void enter(struct tally *tally)
{
	int now = atomic_fetch_add(&tally->now, 1) + 1;
	int most = atomic_load(&tally->most);

	while (now > most && !atomic_compare_exchange_weak(&tally->most, &most, now))
		;
}

static void leave(struct tally *tally)
{
	atomic_fetch_sub(&tally->now, 1);
	atomic_fetch_add(&tally->ran, 1);
}

static void count(struct pool_job *pool_job)
{
	struct job *job = (struct job *)pool_job;

	enter(job->tally);
	if (job->number % 64 == 0)
		pause_ms(1);
	leave(job->tally);
}

static struct job *jobs_new(struct tally *tally, int n, void (*run)(struct pool_job *job))
{
	struct job *jobs = mem_alloc((size_t)n, sizeof(*jobs));

	for (int i = 0; i < n; i++)
		jobs[i] = (struct job){ .job.run = run, .tally = tally, .number = i };
	return jobs;
}

static void every_job_runs_once_and_no_more_at_a_time_than_allowed(void **state)
{
	enum { JOBS = 5000 };

	(void)state;
	for (unsigned places = 1; places <= 4; places++) {
		struct tally tally = { 0 };
		struct pool *pool = pool_new(places, 16);
		struct job *jobs = jobs_new(&tally, JOBS, count);

		for (int i = 0; i < JOBS; i++)
			pool_submit(pool, &jobs[i].job);
		pool_free(pool);
		assert_int_equal(tally.ran, JOBS);
		assert_in_range(tally.most, 1, places);
		free(jobs);
	}
}

static void in_order(struct pool_job *pool_job)
{
	struct job *job = (struct job *)pool_job;

	if (atomic_exchange(&job->tally->last, job->number) != job->number - 1)
		atomic_fetch_add(&job->tally->order_broken, 1);
	leave(job->tally);
}

static void jobs_begin_in_the_order_of_their_submission(void **state)
{
	enum { JOBS = 1000 };
	struct tally tally = { .last = -1 };
	struct pool *pool = pool_new(1, 8);
	struct job *jobs = jobs_new(&tally, JOBS, in_order);

	(void)state;
	for (int i = 0; i < JOBS; i++)
		pool_submit(pool, &jobs[i].job);
	pool_free(pool);
	assert_int_equal(tally.order_broken, 0);
	assert_int_equal(tally.ran, JOBS);
	free(jobs);
}

/* Waits, by its own word, until the last job has opened the gate. */
static void wait_for_gate(struct pool_job *pool_job)
{
	struct tally *tally = ((struct job *)pool_job)->tally;

	pool_wait_begin(tally->pool);
	while (!atomic_load(&tally->open))
		pause_ms(1);
	pool_wait_end(tally->pool);
	enter(tally);
	pause_ms(2);
	leave(tally);
}

static void open_gate(struct pool_job *pool_job)
{
	atomic_store(&((struct job *)pool_job)->tally->open, true);
}

static void a_job_that_waits_gives_its_place_to_another(void **state)
{
	enum { WAITING = 20 };
	struct tally tally = { .pool = pool_new(2, WAITING + 2) };
	struct job *jobs = jobs_new(&tally, WAITING, wait_for_gate);
	struct job last = { .job.run = open_gate, .tally = &tally };

	(void)state;
	for (int i = 0; i < WAITING; i++)
		pool_submit(tally.pool, &jobs[i].job);
	pool_submit(tally.pool, &last.job); /* never begins unless the others make room */
	pool_free(tally.pool);
	assert_int_equal(tally.ran, WAITING);
	assert_in_range(tally.most, 1, 2); /* after their waits too */
	free(jobs);
}

static void submit_next(struct pool_job *pool_job)
{
	struct job *job = (struct job *)pool_job;

	if (job->number > 0) {
		job->number--;
		pool_submit(job->tally->pool, &job->job);
	}
	atomic_fetch_add(&job->tally->ran, 1);
}

static void jobs_may_submit_jobs_also_while_the_pool_ends(void **state)
{
	struct tally tally = { .pool = pool_new(2, 2) };
	struct job job = { .job.run = submit_next, .tally = &tally, .number = 500 };

	(void)state;
	pool_submit(tally.pool, &job.job);
	pool_free(tally.pool);
	assert_int_equal(tally.ran, 501);
}

static void *submit_many(void *data)
{
	struct job *jobs = data;

	for (int i = 0; i < 1000; i++)
		pool_submit(jobs[i].tally->pool, &jobs[i].job);
	return NULL;
}

static void any_thread_may_submit(void **state)
{
	struct tally tally = { .pool = pool_new(3, 8) };
	struct job *jobs = jobs_new(&tally, 4000, count);
	pthread_t threads[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, submit_many, jobs + i * 1000);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	pool_free(tally.pool);
	assert_int_equal(tally.ran, 4000);
	free(jobs);
}

static void record_name(struct pool_job *pool_job)
{
	struct tally *tally = ((struct job *)pool_job)->tally;
	char name[16] = "";

	pthread_getname_np(pthread_self(), name, sizeof(name));
	atomic_fetch_add(&tally->ran, strcmp(name, "hasp-pool") == 0);
}

static void threads_have_a_name_and_a_pool_without_jobs_has_no_threads(void **state)
{
	struct tally tally = { .pool = pool_new(0, 0) };
	struct job job = { .job.run = record_name, .tally = &tally };

	(void)state;
	pool_submit(tally.pool, &job.job);
	pool_free(tally.pool);
	assert_int_equal(tally.ran, 1);
	pool_free(pool_new(4, 4));
	pool_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_job_runs_once_and_no_more_at_a_time_than_allowed),
		cmocka_unit_test(jobs_begin_in_the_order_of_their_submission),
		cmocka_unit_test(a_job_that_waits_gives_its_place_to_another),
		cmocka_unit_test(jobs_may_submit_jobs_also_while_the_pool_ends),
		cmocka_unit_test(any_thread_may_submit),
		cmocka_unit_test(threads_have_a_name_and_a_pool_without_jobs_has_no_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
