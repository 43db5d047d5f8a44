/* SPDX-License-Identifier: Apache-2.0 */
/* One job: what its provider reports, and the questions and orders about it. */

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
#include "worker/job/job_private.h"

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
	for (const struct news_waiter *waiter = job->waiters; waiter; waiter = waiter->next)
		if (job_has_news(job, waiter->news))
			fd_ring(waiter->fd);
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
void job_announce(struct job *job, const struct job_request *request)
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

bool job_denials_add(struct denial **denials, size_t *count, size_t *cap,
                     const struct denial *denial)
{
	size_t i = 0;

	while (i < *count && !is_same_denial(&(*denials)[i], denial))
		i++;
	if (i < *count) {
		(*denials)[i].count = denial->count;
	} else if (i < LIMIT_DENIALS) {
		*denials = mem_grow(*denials, cap, i + 1, sizeof(**denials));
		(*denials)[(*count)++] = *denial;
	} else {
		return false;
	}
	return true;
}

static void job_note_denied(void *data, const struct denial *denial)
{
	struct job *job = data;

	pthread_mutex_lock(&job->lock);
	if (!job_denials_add(&job->denials, &job->denial_count, &job->denial_cap, denial))
		job->denials_left_out++;
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

const struct run_events job_events = {
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
	fd_wait(fds, ARRAY_LEN(fds), ms);
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
void job_drop_run(struct job *job)
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

/* ---- one job's life ---- */

struct job *job_new(struct jobs *jobs, const struct provider *provider,
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

void job_unref(struct job *job)
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

bool job_has_ended(struct job *job)
{
	bool ended;

	pthread_mutex_lock(&job->lock);
	ended = job->state == JOB_ENDED;
	pthread_mutex_unlock(&job->lock);
	return ended;
}
