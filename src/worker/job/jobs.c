/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a session's jobs. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "worker/job/job_private.h"

char *jobs_default_log_folder(void)
{
	const char *home = getenv("HOME");

	return home && *home == '/' ? mem_printf("%s/.gemini/tmp/hasp/output", home) : NULL;
}

struct jobs *jobs_new(const struct jobs_options *options)
{
	struct jobs *jobs = mem_alloc(1, sizeof(*jobs));

	jobs->head_bytes = options->head_bytes ? options->head_bytes : JOB_HEAD_BYTES_DEFAULT;
	jobs->tail_bytes = options->tail_bytes ? options->tail_bytes : JOB_TAIL_BYTES_DEFAULT;
	jobs->log_bytes = options->log_bytes && options->log_bytes < LIMIT_JOB_LOG_BYTES ?
	                  options->log_bytes : LIMIT_JOB_LOG_BYTES;
	jobs->logs = options->log_folder ?
	             capture_logs_new(options->log_folder, options->keep_logs) : NULL;
	jobs->ended = options->ended;
	jobs->watch = options->watch;
	jobs->data = options->data;
	pthread_mutex_init(&jobs->lock, NULL);
	return jobs;
}

struct interpreter *jobs_interpreter(struct jobs *jobs)
{
	struct interpreter *interpreter;

	pthread_mutex_lock(&jobs->lock);
	if (!jobs->interpreter)
		jobs->interpreter = interpreter_new();
	interpreter = jobs->interpreter;
	pthread_mutex_unlock(&jobs->lock);
	return interpreter;
}

void jobs_end_interpreter(struct jobs *jobs)
{
	struct interpreter *interpreter;

	pthread_mutex_lock(&jobs->lock);
	interpreter = jobs->interpreter;
	pthread_mutex_unlock(&jobs->lock);
	if (interpreter)
		interpreter_end(interpreter);
}

/* Whether it can be removed from the table. */
static bool job_is_forgettable(struct job *job)
{
	const struct capture *capture = &job->capture;
	bool over;

	pthread_mutex_lock(&job->lock);
	over = job->state == JOB_ENDED && !job->background && !capture->log_path &&
	       !capture->log_errno && !capture_leaves_out(capture);
	pthread_mutex_unlock(&job->lock);
	return over;
}

/* With the table's lock. The table's reference is the caller's then. */
static struct job *table_take(struct jobs *jobs, size_t i)
{
	struct job *job = jobs->table[i];

	jobs->count--;
	memmove(&jobs->table[i], &jobs->table[i + 1], (jobs->count - i) * sizeof(*jobs->table));
	return job;
}

/* With the table's lock: the oldest that has ended, when there are too many. */
static struct job *table_evict(struct jobs *jobs)
{
	size_t ended = 0, oldest = 0;

	for (size_t i = jobs->count; i-- > 0;) {
		if (!job_has_ended(jobs->table[i]))
			continue;
		ended++;
		oldest = i;
	}
	return ended > LIMIT_JOBS_KEPT ? table_take(jobs, oldest) : NULL;
}

static void table_add(struct jobs *jobs, struct job *job)
{
	struct job *evicted;
	size_t i;

	pthread_mutex_lock(&jobs->lock);
	jobs->starting--;
	jobs->table = mem_grow(jobs->table, &jobs->cap, jobs->count + 1, sizeof(*jobs->table));
	for (i = jobs->count; i > 0 && jobs->table[i - 1]->id > job->id; i--)
		jobs->table[i] = jobs->table[i - 1];
	jobs->table[i] = job;
	jobs->count++;
	atomic_fetch_add(&job->references, 1);
	evicted = table_evict(jobs);
	pthread_mutex_unlock(&jobs->lock);
	if (evicted)
		job_unref(evicted);
}

static bool jobs_may_start(struct jobs *jobs, struct err *err)
{
	size_t running;
	bool may;

	pthread_mutex_lock(&jobs->lock);
	running = jobs->starting;
	for (size_t i = 0; i < jobs->count; i++)
		running += !job_has_ended(jobs->table[i]);
	may = running < LIMIT_JOBS_RUNNING;
	jobs->starting += may;
	pthread_mutex_unlock(&jobs->lock);
	return may || err_set(err, ERR_TOO_LARGE,
	                      "%zu commands of this session run already, and no more may at a "
	                      "time. Wait until one has ended, or end one of them.",
	                      running);
}

bool job_start(struct jobs *jobs, struct provider *provider, const struct job_request *request,
               struct job **ret, struct err *err)
{
	struct job *job;

	if (!jobs_may_start(jobs, err))
		return false;
	job = job_new(jobs, provider, request);
	if (!provider->ops->run(provider, request->run, &job_events, job, &job->run, err)) {
		job->run = NULL;
		job_unref(job);
		pthread_mutex_lock(&jobs->lock);
		jobs->starting--;
		pthread_mutex_unlock(&jobs->lock);
		return false;
	}
	table_add(jobs, job);
	job_announce(job, request);
	*ret = job;
	return true;
}

struct job *jobs_find(struct jobs *jobs, unsigned id)
{
	struct job *found = NULL;

	pthread_mutex_lock(&jobs->lock);
	for (size_t i = 0; i < jobs->count && !found; i++)
		if (jobs->table[i]->id == id)
			found = jobs->table[i];
	if (found)
		atomic_fetch_add(&found->references, 1);
	pthread_mutex_unlock(&jobs->lock);
	return found;
}

void job_release(struct job *job)
{
	struct jobs *jobs = job->jobs;
	struct job *over = NULL;

	if (job_is_forgettable(job)) {
		pthread_mutex_lock(&jobs->lock);
		for (size_t i = 0; i < jobs->count && !over; i++)
			if (jobs->table[i] == job)
				over = table_take(jobs, i);
		pthread_mutex_unlock(&jobs->lock);
	}
	if (over)
		job_unref(over);
	job_unref(job);
}

size_t jobs_list(struct jobs *jobs, struct job_info **ret)
{
	size_t count;

	pthread_mutex_lock(&jobs->lock);
	count = jobs->count;
	*ret = mem_alloc(count + 1, sizeof(**ret));
	for (size_t i = 0; i < count; i++)
		(*ret)[i] = job_info(jobs->table[i]);
	pthread_mutex_unlock(&jobs->lock);
	return count;
}

/* References to the jobs of a provider, or of all. */
static struct job **jobs_of(struct jobs *jobs, const struct provider *provider, size_t *ret_count)
{
	struct job **list;
	size_t count = 0;

	pthread_mutex_lock(&jobs->lock);
	list = mem_alloc(jobs->count + 1, sizeof(struct job *));
	for (size_t i = 0; i < jobs->count; i++) {
		if (provider && jobs->table[i]->provider != provider)
			continue;
		list[count] = jobs->table[i];
		atomic_fetch_add(&list[count++]->references, 1);
	}
	pthread_mutex_unlock(&jobs->lock);
	*ret_count = count;
	return list;
}

/* In parallel, so that it takes no longer than the slowest. */
static void jobs_kill_all(struct job **list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!job_has_ended(list[i]))
			job_kill(list[i]);
}

void jobs_end_of(struct jobs *jobs, const struct provider *provider)
{
	size_t count;
	struct job **list = jobs_of(jobs, provider, &count);

	jobs_kill_all(list, count);
	for (size_t i = 0; i < count; i++) {
		while (!job_wait_all(list[i], 1000))
			;
		job_drop_run(list[i]);
		job_unref(list[i]);
	}
	free(list);
	jobs_end_interpreter(jobs);
}

void jobs_free(struct jobs *jobs)
{
	if (!jobs)
		return;
	jobs_kill_all(jobs->table, jobs->count);
	while (jobs->count)
		job_unref(table_take(jobs, jobs->count - 1));
	free(jobs->table);
	interpreter_free(jobs->interpreter);
	capture_logs_free(jobs->logs);
	pthread_mutex_destroy(&jobs->lock);
	free(jobs);
}
