/* SPDX-License-Identifier: Apache-2.0 */
/* A command that is run to its end. */
#include "worker/whole.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

enum { POLL_MS = 20 }; /* where there is no descriptor to wait for */

/* The command while it runs. The provider's thread writes, under the lock. */
struct running_whole {
	const struct whole_run *request;
	struct whole_run_result *result;
	pthread_mutex_t lock;
	int wake_fd;   /* an eventfd that is rung when watched_is_over; or -1 */
	bool ended;
};

static void watched_ring(const struct running_whole *watched)
{
	fd_ring(watched->wake_fd);
}

static void watched_on_output(void *data, enum run_stream stream, struct span bytes)
{
	struct running_whole *watched = data;
	struct whole_run_result *result = watched->result;

	pthread_mutex_lock(&watched->lock);
	if (!buf_span(stream == RUN_STDERR ? &result->errors : &result->out, bytes)) {
		result->too_much = true;
		watched_ring(watched);
	}
	pthread_mutex_unlock(&watched->lock);
}

static void watched_on_denied(void *data, const struct denial *denial)
{
	const struct whole_run *request = ((struct running_whole *)data)->request;

	if (request->denied)
		request->denied(request->data, denial);
}

static void watched_on_main_ended(void *data, const struct run_end *end)
{
	struct running_whole *watched = data;

	pthread_mutex_lock(&watched->lock);
	watched->result->end = *end;
	pthread_mutex_unlock(&watched->lock);
}

static void watched_on_ended(void *data, const struct run_end *end)
{
	struct running_whole *watched = data;

	(void)end;
	pthread_mutex_lock(&watched->lock);
	watched->ended = true;
	watched_ring(watched);
	pthread_mutex_unlock(&watched->lock);
}

static bool watched_is_over(struct running_whole *watched)
{
	bool over;

	pthread_mutex_lock(&watched->lock);
	over = watched->ended || watched->result->too_much;
	pthread_mutex_unlock(&watched->lock);
	return over;
}

/* Waits until it has ended (true), wrote too much, or was cancelled (false). */
static bool watched_wait(struct running_whole *watched, const struct whole_run *request)
{
	const int most_ms = watched->wake_fd < 0 ? POLL_MS : cancel_wait_ms(request->cancel, -1);
	struct pollfd fds[] = { { .fd = watched->wake_fd, .events = POLLIN },
		                { .fd = cancel_fd(request->cancel), .events = POLLIN } };

	while (!watched_is_over(watched)) {
		if (cancelled(request->cancel))
			return false;
		fd_wait(fds, ARRAY_LEN(fds), most_ms);
	}
	return true;
}

static bool watched_attend(struct run *run, struct running_whole *watched,
                           const struct whole_run *request,
                           struct err *err)
{
	/* What is not taken is not read: it may have ended without looking. */
	if (request->input.len) {
		run->ops->input(run, request->input);
		run->ops->close_input(run);
	}
	return watched_wait(watched, request) ||
	       err_set(err, ERR_CANCELLED, "The call was cancelled; its command was ended.");
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
		.output = watched_on_output,
		.denied = watched_on_denied,
		.main_ended = watched_on_main_ended,
		.ended = watched_on_ended,
	};
	_cleanup_fd_ int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct running_whole watched = { .request = request, .result = ret,
		                         .lock = PTHREAD_MUTEX_INITIALIZER, .wake_fd = wake_fd };
	struct run *run;
	bool ok;

	*ret = (struct whole_run_result){ .out = BUF_INIT(request->max_bytes),
		                          .errors = BUF_INIT(request->max_bytes) };
	if (!provider->ops->run)
		return err_set(err, ERR_DENIED_BY_POLICY,
		               "Commands cannot be run in this session.");
	if (!provider->ops->run(provider, &run_request, &events, &watched, &run, err))
		return false;
	ok = watched_attend(run, &watched, request, err);
	run->ops->free(run); /* kills what still runs; no event comes after it */
	pthread_mutex_destroy(&watched.lock);
	return ok;
}

void whole_run_result_release(struct whole_run_result *result)
{
	buf_release(&result->out);
	buf_release(&result->errors);
}
