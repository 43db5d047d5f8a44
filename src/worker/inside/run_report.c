/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/inside/run_report.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

static void *reporter_thread(void *data)
{
	struct run_reporter *reporter = data;
	uint64_t one = 1;

	pthread_mutex_lock(&reporter->lock);
	for (;;) {
		while (!reporter->len && !reporter->stop)
			pthread_cond_wait(&reporter->changed, &reporter->lock);
		if (!reporter->len)
			break;
		pthread_mutex_unlock(&reporter->lock);
		reporter->tell(reporter->data, reporter->stream,
		               span_of(reporter->buffer, reporter->len));
		pthread_mutex_lock(&reporter->lock);
		reporter->len = 0;
		pthread_cond_broadcast(&reporter->changed);
		(void)!write(reporter->wake, &one, sizeof(one));
	}
	pthread_mutex_unlock(&reporter->lock);
	return NULL;
}

void run_reporter_init(struct run_reporter *reporter,
                       void (*tell)(void *data, enum run_stream stream, struct span bytes),
                       void *data, int wake)
{
	*reporter = (struct run_reporter){ .tell = tell, .data = data, .wake = wake,
		                           .buffer = mem_alloc(RUN_PIECE_BYTES, 1) };
	pthread_mutex_init(&reporter->lock, NULL);
	pthread_cond_init(&reporter->changed, NULL);
}

bool run_reporter_busy(struct run_reporter *reporter)
{
	bool busy;

	pthread_mutex_lock(&reporter->lock);
	busy = reporter->len > 0;
	pthread_mutex_unlock(&reporter->lock);
	return busy;
}

void run_reporter_output(struct run_reporter *reporter, enum run_stream stream, size_t len)
{
	if (!reporter->started)
		reporter->started =
			pthread_create(&reporter->thread, NULL, reporter_thread, reporter) == 0;
	if (!reporter->started) {
		reporter->tell(reporter->data, stream, span_of(reporter->buffer, len));
		return;
	}
	pthread_mutex_lock(&reporter->lock);
	reporter->stream = stream;
	reporter->len = len;
	pthread_cond_broadcast(&reporter->changed);
	pthread_mutex_unlock(&reporter->lock);
}

void run_reporter_wait(struct run_reporter *reporter)
{
	pthread_mutex_lock(&reporter->lock);
	while (reporter->len)
		pthread_cond_wait(&reporter->changed, &reporter->lock);
	pthread_mutex_unlock(&reporter->lock);
}

void run_reporter_release(struct run_reporter *reporter)
{
	if (reporter->started) {
		pthread_mutex_lock(&reporter->lock);
		reporter->stop = true;
		pthread_cond_broadcast(&reporter->changed);
		pthread_mutex_unlock(&reporter->lock);
		pthread_join(reporter->thread, NULL);
	}
	pthread_mutex_destroy(&reporter->lock);
	pthread_cond_destroy(&reporter->changed);
	free(reporter->buffer);
}
