/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/builtin/whole_run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { POLL_MS = 20 };

/* The command while it runs. The provider's thread writes, under the lock. */
struct watched {
	struct whole_run_result *result;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool ended;
};

static void on_output(void *data, enum run_stream stream, struct span bytes)
{
	struct watched *watched = data;
	struct whole_run_result *result = watched->result;

	pthread_mutex_lock(&watched->lock);
	if (!buf_span(stream == RUN_STDERR ? &result->errors : &result->out, bytes)) {
		result->too_much = true;
		pthread_cond_broadcast(&watched->changed);
	}
	pthread_mutex_unlock(&watched->lock);
}

static void on_denied(void *data, const struct denial *denial)
{
	(void)data;
	(void)denial;
}

static void on_main_ended(void *data, const struct run_end *end)
{
	struct watched *watched = data;

	pthread_mutex_lock(&watched->lock);
	watched->result->end = *end;
	pthread_mutex_unlock(&watched->lock);
}

static void on_ended(void *data, const struct run_end *end)
{
	struct watched *watched = data;

	(void)end;
	pthread_mutex_lock(&watched->lock);
	watched->ended = true;
	pthread_cond_broadcast(&watched->changed);
	pthread_mutex_unlock(&watched->lock);
}

/* Until it has ended, wrote too much, or nobody waits for it any more. */
static void wait_for(struct watched *watched, const _Atomic bool *cancel, bool *ret_cancelled)
{
	struct timespec until;

	pthread_mutex_lock(&watched->lock);
	while (!watched->ended && !watched->result->too_much && !*ret_cancelled) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += POLL_MS * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_clockwait(&watched->changed, &watched->lock, CLOCK_MONOTONIC, &until);
		*ret_cancelled = cancel && atomic_load(cancel);
	}
	pthread_mutex_unlock(&watched->lock);
}

static bool attend(struct run *run, struct watched *watched, const struct whole_run *request,
                   struct err *err)
{
	bool is_cancelled = false;

	/* What is not taken is not read: it may have ended without looking. */
	if (request->input.len) {
		run->ops->input(run, request->input);
		run->ops->close_input(run);
	}
	wait_for(watched, request->cancel, &is_cancelled);
	if (is_cancelled)
		return err_set(err, ERR_CANCELLED, "The call was cancelled; its command was ended.");
	return true;
}

bool whole_run(struct provider *provider, const struct whole_run *request,
               struct whole_run_result *ret, struct err *err)
{
	const struct run_request run_request = {
		.argv = request->argv,
		.env = request->env,
		.no_input = !request->input.len,
		.timeout_ms = request->timeout_ms,
	};
	static const struct run_events events = {
		.output = on_output,
		.denied = on_denied,
		.main_ended = on_main_ended,
		.ended = on_ended,
	};
	struct watched watched = { .result = ret, .lock = PTHREAD_MUTEX_INITIALIZER,
		                   .changed = PTHREAD_COND_INITIALIZER };
	struct run *run;
	bool ok;

	*ret = (struct whole_run_result){ .out = BUF_INIT(request->max_bytes),
		                          .errors = BUF_INIT(request->max_bytes) };
	if (!provider->ops->run)
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "Commands cannot be run in this session.");
	if (!provider->ops->run(provider, &run_request, &events, &watched, &run, err))
		return false;
	ok = attend(run, &watched, request, err);
	run->ops->free(run); /* kills what still runs; no event comes after it */
	pthread_cond_destroy(&watched.changed);
	pthread_mutex_destroy(&watched.lock);
	return ok;
}

void whole_run_result_release(struct whole_run_result *result)
{
	buf_release(&result->out);
	buf_release(&result->errors);
}
