/* SPDX-License-Identifier: Apache-2.0 */
/* One job: what its provider tells of it, and what can be asked. */
#include "worker/job/job.h"

#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "worker/job/table.h"

const char *job_state_name(enum job_state state)
{
	static const char *const names[] = {
		[JOB_RUNNING] = "running",
		[JOB_LEFT] = "left_running",
		[JOB_ENDED] = "ended",
	};

	return (unsigned)state < ARRAY_LEN(names) ? names[state] : "unknown";
}

/* ---- what the provider tells ---------------------------------------------------- */

static void told_started(void *data, int pid)
{
	struct job *job = data;

	pthread_mutex_lock(&job->lock);
	job->pid = pid;
	pthread_mutex_unlock(&job->lock);
}

static void told_output(void *data, enum run_stream stream, struct span bytes)
{
	struct job *job = data;

	pthread_mutex_lock(&job->lock);
	capture_feed(&job->capture, bytes);
	pthread_mutex_unlock(&job->lock);
	pthread_mutex_lock(&job->output_lock);
	if (job->output)
		job->output(job->output_data, stream, bytes);
	pthread_mutex_unlock(&job->output_lock);
}

static bool same_denial(const struct denial *a, const struct denial *b)
{
	return a->kind == b->kind && a->reason == b->reason && strcmp(a->what, b->what) == 0 &&
	       strcmp(a->program, b->program) == 0;
}

static void told_denied(void *data, const struct denial *denial)
{
	struct job *job = data;
	size_t i = 0;

	pthread_mutex_lock(&job->lock);
	while (i < job->denial_count && !same_denial(&job->denials[i], denial))
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

void job_texts_free(char **texts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}

static void told_hidden(void *data, const struct run_hidden *hidden)
{
	struct job *job = data;

	pthread_mutex_lock(&job->lock);
	job_texts_free(job->hidden, job->hidden_count);
	job->hidden = copied(hidden->paths, hidden->count);
	job->hidden_count = hidden->count;
	job->hidden_left_out = hidden->left_out;
	pthread_mutex_unlock(&job->lock);
}

static void told_main_ended(void *data, const struct run_end *end)
{
	struct job *job = data;

	pthread_mutex_lock(&job->lock);
	job->end = *end;
	job->state = JOB_LEFT;
	pthread_cond_broadcast(&job->changed);
	pthread_mutex_unlock(&job->lock);
}

/* A provider that lost its worker may tell only this. */
static void told_ended(void *data, const struct run_end *end)
{
	struct job *job = data;
	struct jobs *jobs = job->jobs;
	unsigned id = job->id;

	pthread_mutex_lock(&job->lock);
	if (job->state == JOB_RUNNING)
		job->end = *end;
	job->state = JOB_ENDED;
	capture_end(&job->capture);
	pthread_cond_broadcast(&job->changed);
	pthread_mutex_unlock(&job->lock);
	if (jobs->ended)
		jobs->ended(jobs->ended_data, id);
}

const struct run_events job_events = {
	.started = told_started,
	.output = told_output,
	.hidden = told_hidden,
	.denied = told_denied,
	.main_ended = told_main_ended,
	.ended = told_ended,
};

/* ---- what can be asked ------------------------------------------------------------ */

unsigned job_id(const struct job *job)
{
	return job->id;
}

static bool wait_for(struct job *job, enum job_state state, unsigned ms)
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
	return wait_for(job, JOB_LEFT, ms);
}

bool job_wait_all(struct job *job, unsigned ms)
{
	return wait_for(job, JOB_ENDED, ms);
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

bool job_input(struct job *job, struct span bytes)
{
	bool taken;

	pthread_mutex_lock(&job->run_lock);
	taken = job->run && job->run->ops->input(job->run, bytes);
	pthread_mutex_unlock(&job->run_lock);
	return taken;
}

void job_close_input(struct job *job)
{
	pthread_mutex_lock(&job->run_lock);
	if (job->run)
		job->run->ops->close_input(job->run);
	pthread_mutex_unlock(&job->run_lock);
}

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
static struct job_info info_of(const struct job *job)
{
	return (struct job_info){ .id = job->id, .pid = job->pid, .state = job->state,
		                  .command = mem_strdup(job->command),
		                  .bytes = job->capture.bytes,
		                  .age_ms = monotonic_ms() - job->began_ms, .end = job->end };
}

struct job_info job_info(struct job *job)
{
	struct job_info info;

	pthread_mutex_lock(&job->lock);
	info = info_of(job);
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
	ret->info = info_of(job);
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
