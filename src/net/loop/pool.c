/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of threads: they come when jobs wait, and go when there are none. */
#include "net/loop/loop.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "base/mem.h"

/* A thread without work ends after this: long enough for the pauses of a conversation
 * between a program and its tools, short enough to leave nothing behind for a quiet hour. */
enum { IDLE_SECONDS = 10 };

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t work;    /* a job is queued, a place is free, or the pool ends */
	pthread_cond_t resumed; /* a place is free for a job that has waited */
	pthread_cond_t ended;   /* a thread has ended */
	struct pool_job *first, **last;
	unsigned places;      /* jobs that may compute at a time */
	unsigned threads_max;
	unsigned threads;     /* alive */
	unsigned idle;        /* of these, waiting for work */
	unsigned called;      /* of the idle ones, woken and not yet awake */
	unsigned computing;
	unsigned resuming;    /* jobs whose wait is over and that want a place again */
	pthread_t last_ended; /* not joined yet: the next thread that ends does that */
	bool has_ended;
	bool ending;
};

/* ---- threads ---------------------------------------------------------------- */

static bool may_begin(const struct pool *pool)
{
	/* Started jobs go first: they hold memory, and a client waits for the answer. */
	return pool->first && pool->computing + pool->resuming < pool->places;
}

static struct pool_job *pool_take_job(struct pool *pool)
{
	struct pool_job *job = pool->first;

	pool->first = job->next;
	if (!pool->first)
		pool->last = &pool->first;
	pool->computing++;
	return job;
}

/* The end of a computation or the beginning of a wait. */
static void leave_place(struct pool *pool)
{
	pool->computing--;
	if (pool->resuming)
		pthread_cond_signal(&pool->resumed);
}

/* Waits for work; false when there was none for long, or the pool ends. */
static bool pool_wait_for_work(struct pool *pool)
{
	struct timespec until;
	int failed = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += IDLE_SECONDS;
	pool->idle++;
	while (!failed && !may_begin(pool) && !(pool->ending && !pool->first)) {
		failed = pthread_cond_timedwait(&pool->work, &pool->lock, &until);
		if (pool->called)
			pool->called--;
	}
	pool->idle--;
	return may_begin(pool);
}

static void *thread_main(void *data);

static bool start_pool_thread(struct pool *pool)
{
	sigset_t all, before;
	pthread_t thread;
	bool started;

	/* Signals are for the loop's thread; faults stay with the thread that made them. */
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, NULL, thread_main, pool) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!started)
		return false;
	pool->threads++;
	return true;
}

/* Starts a queued job if one may start: called whenever that may have changed.  Returns whether to
 * wake an idle thread: best without the lock, which that thread takes. */
static bool call_for_work(struct pool *pool)
{
	if (!may_begin(pool))
		return false;
	if (pool->idle > pool->called) {
		pool->called++;
		return true;
	}
	if (pool->threads < pool->threads_max &&
	    pool->computing + pool->resuming + pool->called < pool->places)
		start_pool_thread(pool);
	return false;
}

/* With the lock held, and so again when it returns. */
static void run_next(struct pool *pool)
{
	struct pool_job *job = pool_take_job(pool);
	bool wake = call_for_work(pool);

	pthread_mutex_unlock(&pool->lock);
	if (wake)
		pthread_cond_signal(&pool->work);
	job->run(job);
	pthread_mutex_lock(&pool->lock);
	leave_place(pool);
}

static void *thread_main(void *data)
{
	struct pool *pool = data;
	pthread_t before;
	bool join;

	pthread_setname_np(pthread_self(), "hasp-pool");
	pthread_mutex_lock(&pool->lock);
	while (may_begin(pool) || pool_wait_for_work(pool))
		run_next(pool);
	join = pool->has_ended;
	before = pool->last_ended;
	pool->last_ended = pthread_self();
	pool->has_ended = true;
	pool->threads--;
	pthread_cond_signal(&pool->ended);
	pthread_cond_broadcast(&pool->work); /* others may see now that the pool ends */
	pthread_mutex_unlock(&pool->lock);
	if (join)
		pthread_join(before, NULL);
	return NULL;
}

/* ---- for everybody ---------------------------------------------------------- */

static unsigned processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) < 1)
		return 1;
	return (unsigned)CPU_COUNT(&set);
}

struct pool *pool_new(unsigned threads, unsigned threads_max)
{
	struct pool *pool = mem_alloc(1, sizeof(*pool));
	pthread_condattr_t monotonic;

	pool->places = threads ? threads : processors();
	pool->threads_max = threads_max > pool->places ? threads_max : pool->places;
	pool->last = &pool->first;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->work, &monotonic);
	pthread_cond_init(&pool->resumed, NULL);
	pthread_cond_init(&pool->ended, NULL);
	pthread_condattr_destroy(&monotonic);
	return pool;
}

void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->ending = true;
	pthread_cond_broadcast(&pool->work);
	while (pool->threads)
		pthread_cond_wait(&pool->ended, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
	if (pool->has_ended)
		pthread_join(pool->last_ended, NULL);
	pthread_cond_destroy(&pool->work);
	pthread_cond_destroy(&pool->resumed);
	pthread_cond_destroy(&pool->ended);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void pool_submit(struct pool *pool, struct pool_job *job)
{
	bool wake;

	job->next = NULL;
	pthread_mutex_lock(&pool->lock);
	*pool->last = job;
	pool->last = &job->next;
	wake = call_for_work(pool);
	/* The system gives us no thread at all: better late, here, than never. */
	while (pool->threads == 0 && pool->first)
		run_next(pool);
	pthread_mutex_unlock(&pool->lock);
	if (wake)
		pthread_cond_signal(&pool->work);
}

void pool_wait_begin(struct pool *pool)
{
	bool wake;

	pthread_mutex_lock(&pool->lock);
	leave_place(pool);
	wake = call_for_work(pool);
	pthread_mutex_unlock(&pool->lock);
	if (wake)
		pthread_cond_signal(&pool->work);
}

void pool_wait_end(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->resuming++;
	while (pool->computing >= pool->places)
		pthread_cond_wait(&pool->resumed, &pool->lock);
	pool->resuming--;
	pool->computing++;
	pthread_mutex_unlock(&pool->lock);
}
