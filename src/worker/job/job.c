/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs: what a provider reports of each, what can be asked, and the table of them. */
#include "worker/job/job.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"

/* ---- jobs ---- */

/* Who waits for news of a job. */
struct news_waiter {
	const struct job_news *news;
	int fd; /* an eventfd */
	struct news_waiter *next;
};

struct job {
	struct jobs *jobs;             /* borrowed */
	const struct provider *provider; /* of which it is; never called through */
	unsigned id;
	char *command;                 /* owned */
	uint64_t began_ms;
	pthread_mutex_t output_lock;   /* held while output is passed on */
	void (*output)(void *data, enum run_stream stream, struct span bytes);
	void *output_data;
	pthread_mutex_t run_lock;      /* of `run`; no other lock is taken inside it */
	struct run *run;               /* owned; set before other threads have the job; NULL once
	                                * its provider has ended */
	_Atomic unsigned references;   /* the table's is one */

	pthread_mutex_t lock;          /* of what follows */
	pthread_cond_t changed;        /* `state` did */
	struct news_waiter *waiters;   /* each on the stack of who waits */
	enum job_state state;
	bool background, away;
	bool interactive, typed;
	bool announced;                /* to who watches */
	uint64_t output_ms;            /* the last */
	enum run_why stopped;          /* what to say of an end as cancelled */
	int pid;
	struct run_end end;
	struct capture capture;
	struct denial *denials;        /* owned */
	size_t denial_count, denial_cap;
	uint64_t denials_left_out;
	char **hidden;                 /* owned, with its strings */
	size_t hidden_count;
	uint64_t hidden_left_out;
};

struct jobs {
	size_t head_bytes, tail_bytes;
	uint64_t log_bytes;
	struct logs *logs;             /* owned; NULL: none */
	void (*ended)(void *data, unsigned id);
	const struct jobs_watch *watch;
	void *data;

	pthread_mutex_t lock;          /* of what follows; a job's own may be taken inside it */
	struct job **table;            /* owned; by id */
	size_t count, cap;
	size_t starting;               /* not in the table yet */
	unsigned last_id;
};

struct job_info job_info(struct job *job);

/* ---- one job ---- */

const char *job_state_name(enum job_state state)
{
	static const char *const names[] = {
		[JOB_RUNNING] = "running",
		[JOB_LEFT] = "left_running",
		[JOB_ENDED] = "ended",
	};

	return (unsigned)state < ARRAY_LEN(names) ? names[state] : "unknown";
}

/* ---- what the provider reports ---- */

/* With the lock held. */
static bool news_are_over(const struct job *job, const struct job_news *news)
{
	return job->state >= (news->all ? JOB_ENDED : JOB_LEFT);
}

/* The same. */
static bool job_has_news(const struct job *job, const struct job_news *news)
{
	return news_are_over(job, news) || (job->away && !news->all) ||
	       job->capture.bytes > news->bytes;
}

/* The same: wakes the waiters for which there is news. */
static void job_announce_news(struct job *job)
{
	const uint64_t one = 1;

	for (const struct news_waiter *waiter = job->waiters; waiter; waiter = waiter->next)
		if (job_has_news(job, waiter->news) && write(waiter->fd, &one, sizeof(one)) < 0)
			continue; /* full, and so readable */
}

/* The same. */
static void job_announce_state(struct job *job)
{
	pthread_cond_broadcast(&job->changed);
	job_announce_news(job);
}

static void job_note_started(void *data, int pid)
{
	struct job *job = data;

	pthread_mutex_lock(&job->lock);
	job->pid = pid;
	pthread_mutex_unlock(&job->lock);
}

/* The watcher; or NULL. */
static const struct jobs_watch *job_watch(const struct job *job)
{
	return job->interactive ? job->jobs->watch : NULL;
}

/* The same, for what follows its start: the provider may be quicker than job_start. */
static const struct jobs_watch *job_watch_started(struct job *job)
{
	const struct jobs_watch *watch = job_watch(job);

	if (!watch)
		return NULL;
	pthread_mutex_lock(&job->lock);
	while (!job->announced)
		pthread_cond_wait(&job->changed, &job->lock);
	pthread_mutex_unlock(&job->lock);
	return watch;
}

/* Only now: an order of who watches, a key or "to the background", has to find it in the table. */
static void job_announce(struct job *job, const struct job_request *request)
{
	if (!job_watch(job))
		return;
	job_watch(job)->started(job->jobs->data, job->id, request);
	pthread_mutex_lock(&job->lock);
	job->announced = true;
	pthread_cond_broadcast(&job->changed);
	pthread_mutex_unlock(&job->lock);
}

static void job_note_output(void *data, enum run_stream stream, struct span bytes)
{
	struct job *job = data;
	const struct jobs_watch *watch = job_watch_started(job);

	pthread_mutex_lock(&job->lock);
	capture_feed(&job->capture, bytes);
	job->output_ms = clock_monotonic_ms();
	job_announce_news(job);
	pthread_mutex_unlock(&job->lock);
	pthread_mutex_lock(&job->output_lock);
	if (job->output)
		job->output(job->output_data, stream, bytes);
	pthread_mutex_unlock(&job->output_lock);
	if (watch)
		watch->output(job->jobs->data, job->id, bytes);
}

static void job_note_secret(void *data, bool secret)
{
	struct job *job = data;
	const struct jobs_watch *watch = job_watch_started(job);

	if (watch)
		watch->secret(job->jobs->data, job->id, secret);
}

static bool is_same_denial(const struct denial *a, const struct denial *b)
{
	return a->kind == b->kind && a->reason == b->reason && strcmp(a->what, b->what) == 0 &&
	       strcmp(a->program, b->program) == 0;
}

static void job_note_denied(void *data, const struct denial *denial)
{
	struct job *job = data;
	size_t i = 0;

	pthread_mutex_lock(&job->lock);
	while (i < job->denial_count && !is_same_denial(&job->denials[i], denial))
		i++;
	if (i < job->denial_count) {
		job->denials[i].count = denial->count;
	} else if (i < LIMIT_DENIALS) {
		job->denials = mem_grow(job->denials, &job->denial_cap, i + 1,
		                        sizeof(*job->denials));
		job->denials[job->denial_count++] = *denial;
	} else {
		job->denials_left_out++;
	}
	pthread_mutex_unlock(&job->lock);
}

static char **copied(const char *const *texts, size_t count)
{
	char **copies = mem_alloc(count + 1, sizeof(*copies));

	for (size_t i = 0; i < count; i++)
		copies[i] = mem_strdup(texts[i]);
	return copies;
}

static void job_texts_free(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}

static void job_note_hidden(void *data, const struct run_hidden *hidden)
{
	struct job *job = data;

	pthread_mutex_lock(&job->lock);
	job_texts_free(job->hidden, job->hidden_count);
	job->hidden = copied(hidden->paths, hidden->count);
	job->hidden_count = hidden->count;
	job->hidden_left_out = hidden->left_out;
	pthread_mutex_unlock(&job->lock);
}

/* With the lock held. */
static void job_take_end(struct job *job, const struct run_end *end)
{
	job->end = *end;
	if (end->why == RUN_CANCELLED)
		job->end.why = job->stopped;
}

static void job_note_main_ended(void *data, const struct run_end *end)
{
	struct job *job = data;

	pthread_mutex_lock(&job->lock);
	job_take_end(job, end);
	job->state = JOB_LEFT;
	job_announce_state(job);
	pthread_mutex_unlock(&job->lock);
}

/* A provider that lost its worker may report only this. */
static void job_note_ended(void *data, const struct run_end *end)
{
	struct job *job = data;
	struct jobs *jobs = job->jobs;
	const struct jobs_watch *watch = job_watch_started(job);
	unsigned id = job->id;

	pthread_mutex_lock(&job->lock);
	if (job->state == JOB_RUNNING)
		job_take_end(job, end);
	job->state = JOB_ENDED;
	capture_end(&job->capture);
	job_announce_state(job);
	pthread_mutex_unlock(&job->lock);
	if (watch)
		watch->ended(jobs->data, id);
	if (jobs->ended)
		jobs->ended(jobs->data, id);
}

static const struct run_events job_events = {
	.started = job_note_started,
	.output = job_note_output,
	.hidden = job_note_hidden,
	.denied = job_note_denied,
	.secret = job_note_secret,
	.main_ended = job_note_main_ended,
	.ended = job_note_ended,
};

/* ---- what can be asked ---- */

unsigned job_id(const struct job *job)
{
	return job->id;
}

static bool job_wait_for(struct job *job, enum job_state state, unsigned ms)
{
	struct timespec until;
	bool there;
	int late = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&job->lock);
	while (job->state < state && !late)
		late = pthread_cond_timedwait(&job->changed, &job->lock, &until);
	there = job->state >= state;
	pthread_mutex_unlock(&job->lock);
	return there;
}

bool job_wait(struct job *job, unsigned ms)
{
	return job_wait_for(job, JOB_LEFT, ms);
}

bool job_wait_all(struct job *job, unsigned ms)
{
	return job_wait_for(job, JOB_ENDED, ms);
}

enum { NEWS_POLL_MS = 20 }; /* where no descriptor is left */

/* With the lock held. */
static void job_unlist_waiter(struct job *job, const struct news_waiter *waiter)
{
	struct news_waiter **at = &job->waiters;

	while (*at != waiter)
		at = &(*at)->next;
	*at = waiter->next;
}

/* With the lock held, but for the time it waits. */
static void job_sleep(struct job *job, const struct job_news *news)
{
	_cleanup_fd_ int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct news_waiter waiter = { .news = news, .fd = fd, .next = job->waiters };
	struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
		                { .fd = cancel_fd(news->cancel), .events = POLLIN } };
	const bool polls = fd < 0 && (news->ms < 0 || news->ms > NEWS_POLL_MS);
	const int ms = cancel_wait_ms(news->cancel, polls ? NEWS_POLL_MS : news->ms);

	if (fd >= 0)
		job->waiters = &waiter;
	pthread_mutex_unlock(&job->lock);
	poll(fds, ARRAY_LEN(fds), ms);
	pthread_mutex_lock(&job->lock);
	if (fd >= 0)
		job_unlist_waiter(job, &waiter);
}

bool job_wait_news(struct job *job, const struct job_news *news)
{
	bool over;

	pthread_mutex_lock(&job->lock);
	if (news->ms && !job_has_news(job, news))
		job_sleep(job, news);
	over = news_are_over(job, news);
	pthread_mutex_unlock(&job->lock);
	return over;
}

void job_background(struct job *job)
{
	pthread_mutex_lock(&job->lock);
	job->background = true;
	pthread_mutex_unlock(&job->lock);
}

void job_quiet(struct job *job)
{
	pthread_mutex_lock(&job->output_lock);
	job->output = NULL;
	pthread_mutex_unlock(&job->output_lock);
}

void job_kill(struct job *job)
{
	pthread_mutex_lock(&job->run_lock);
	if (job->run)
		job->run->ops->kill(job->run);
	pthread_mutex_unlock(&job->run_lock);
}

void job_stop(struct job *job, enum run_why why)
{
	pthread_mutex_lock(&job->lock);
	job->stopped = why;
	pthread_mutex_unlock(&job->lock);
	job_kill(job);
}

static bool job_write(struct job *job, struct span bytes)
{
	bool taken;

	pthread_mutex_lock(&job->run_lock);
	taken = job->run && job->run->ops->input(job->run, bytes);
	pthread_mutex_unlock(&job->run_lock);
	return taken;
}

bool job_input(struct job *job, struct span bytes)
{
	return !job->interactive && job_write(job, bytes);
}

bool job_type(struct job *job, struct span bytes, bool answer)
{
	if (!job->interactive)
		return false;
	pthread_mutex_lock(&job->lock);
	job->typed |= !answer;
	pthread_mutex_unlock(&job->lock);
	return job_write(job, bytes);
}

void job_resize(struct job *job, unsigned rows, unsigned columns)
{
	pthread_mutex_lock(&job->run_lock);
	if (job->run && job->interactive)
		job->run->ops->resize(job->run, rows, columns);
	pthread_mutex_unlock(&job->run_lock);
}

void job_send_away(struct job *job)
{
	pthread_mutex_lock(&job->lock);
	job->away = job->background = true;
	job_announce_news(job);
	pthread_mutex_unlock(&job->lock);
}

bool job_is_away(struct job *job)
{
	bool away;

	pthread_mutex_lock(&job->lock);
	away = job->away;
	pthread_mutex_unlock(&job->lock);
	return away;
}

uint64_t job_silent_ms(struct job *job)
{
	uint64_t silent;

	pthread_mutex_lock(&job->lock);
	silent = job->typed ? 0 : clock_monotonic_ms() - job->output_ms;
	pthread_mutex_unlock(&job->lock);
	return silent;
}

void job_close_input(struct job *job)
{
	pthread_mutex_lock(&job->run_lock);
	if (job->run && !job->interactive)
		job->run->ops->close_input(job->run);
	pthread_mutex_unlock(&job->run_lock);
}

/* Lets go of the run: what is left of it is killed. */
static void job_drop_run(struct job *job)
{
	struct run *run;

	pthread_mutex_lock(&job->run_lock);
	run = mem_steal(&job->run);
	pthread_mutex_unlock(&job->run_lock);
	if (run)
		run->ops->free(run);
}

/* With the lock held. */
static struct job_info job_info_of(const struct job *job)
{
	return (struct job_info){ .id = job->id, .pid = job->pid, .state = job->state,
		                  .command = mem_strdup(job->command),
		                  .bytes = job->capture.bytes,
		                  .age_ms = clock_monotonic_ms() - job->began_ms, .end = job->end };
}

struct job_info job_info(struct job *job)
{
	struct job_info info;

	pthread_mutex_lock(&job->lock);
	info = job_info_of(job);
	pthread_mutex_unlock(&job->lock);
	return info;
}

void job_state(struct job *job, struct job_info *ret)
{
	*ret = job_info(job);
	free(ret->command);
	ret->command = NULL;
}

uint64_t job_output_bytes(struct job *job)
{
	uint64_t bytes;

	pthread_mutex_lock(&job->lock);
	bytes = job->capture.bytes;
	pthread_mutex_unlock(&job->lock);
	return bytes;
}

void job_infos_free(struct job_info *infos, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(infos[i].command);
	free(infos);
}

void job_report(struct job *job, struct job_report *ret)
{
	const struct capture *capture = &job->capture;

	*ret = (struct job_report){ 0 };
	pthread_mutex_lock(&job->lock);
	ret->info = job_info_of(job);
	ret->binary = capture->binary;
	ret->text_bytes = capture->text_bytes;
	if (!capture->binary)
		capture_text(capture, &ret->text);
	ret->log_path = mem_strdup(capture->log_path);
	ret->log_errno = capture->log_errno;
	ret->denials = mem_alloc(job->denial_count + 1, sizeof(*ret->denials));
	ret->denial_count = job->denial_count;
	for (size_t i = 0; i < job->denial_count; i++)
		ret->denials[i] = job->denials[i];
	ret->denials_left_out = job->denials_left_out;
	ret->hidden = copied((const char *const *)job->hidden, job->hidden_count);
	ret->hidden_count = job->hidden_count;
	ret->hidden_left_out = job->hidden_left_out;
	pthread_mutex_unlock(&job->lock);
}

void job_report_release(struct job_report *report)
{
	free(report->info.command);
	capture_text_release(&report->text);
	free(report->log_path);
	free(report->denials);
	job_texts_free(report->hidden, report->hidden_count);
}

bool job_last(struct job *job, size_t lines, struct capture_part *ret, struct err *err)
{
	bool ok;

	pthread_mutex_lock(&job->lock);
	ok = capture_last(&job->capture, lines, ret, err);
	pthread_mutex_unlock(&job->lock);
	return ok;
}

bool job_from(struct job *job, uint64_t offset, struct capture_part *ret, struct err *err)
{
	bool ok;

	pthread_mutex_lock(&job->lock);
	ok = capture_from(&job->capture, offset, ret, err);
	pthread_mutex_unlock(&job->lock);
	return ok;
}

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

/* ---- one job's life ---- */

static struct job *job_new(struct jobs *jobs, const struct provider *provider,
                           const struct job_request *request)
{
	struct job *job = mem_alloc(1, sizeof(*job));
	struct capture_options options = { .head_bytes = jobs->head_bytes,
		                           .tail_bytes = jobs->tail_bytes, .logs = jobs->logs,
		                           .log_bytes = jobs->log_bytes,
		                           .hide_alternate = request->interactive };
	pthread_condattr_t clock;

	pthread_mutex_lock(&jobs->lock);
	options.id = job->id = ++jobs->last_id;
	pthread_mutex_unlock(&jobs->lock);
	job->jobs = jobs;
	job->provider = provider;
	job->command = mem_strdup(request->command ? request->command : "");
	job->began_ms = job->output_ms = clock_monotonic_ms();
	job->stopped = RUN_CANCELLED;
	job->interactive = request->interactive;
	job->output = request->output;
	job->output_data = request->data;
	job->background = request->background;
	atomic_init(&job->references, 1);
	capture_init(&job->capture, &options);
	pthread_mutex_init(&job->output_lock, NULL);
	pthread_mutex_init(&job->run_lock, NULL);
	pthread_mutex_init(&job->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&job->changed, &clock);
	pthread_condattr_destroy(&clock);
	return job;
}

static void job_unref(struct job *job)
{
	if (atomic_fetch_sub(&job->references, 1) > 1)
		return;
	job_drop_run(job);
	capture_release(&job->capture);
	free(job->denials);
	job_texts_free(job->hidden, job->hidden_count);
	free(job->command);
	pthread_cond_destroy(&job->changed);
	pthread_mutex_destroy(&job->lock);
	pthread_mutex_destroy(&job->run_lock);
	pthread_mutex_destroy(&job->output_lock);
	free(job);
}

static bool has_ended(struct job *job)
{
	bool ended;

	pthread_mutex_lock(&job->lock);
	ended = job->state == JOB_ENDED;
	pthread_mutex_unlock(&job->lock);
	return ended;
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

/* ---- the table ---- */

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
		if (!has_ended(jobs->table[i]))
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
		running += !has_ended(jobs->table[i]);
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
		if (!has_ended(list[i]))
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
}

void jobs_free(struct jobs *jobs)
{
	if (!jobs)
		return;
	jobs_kill_all(jobs->table, jobs->count);
	while (jobs->count)
		job_unref(table_take(jobs, jobs->count - 1));
	free(jobs->table);
	capture_logs_free(jobs->logs);
	pthread_mutex_destroy(&jobs->lock);
	free(jobs);
}
