/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/inside/run_tell.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

static void *teller_thread(void *data)
{
	struct run_teller *teller = data;
	uint64_t one = 1;

	pthread_mutex_lock(&teller->lock);
	for (;;) {
		while (!teller->len && !teller->stop)
			pthread_cond_wait(&teller->changed, &teller->lock);
		if (!teller->len)
			break;
		pthread_mutex_unlock(&teller->lock);
		teller->tell(teller->data, teller->stream, span_of(teller->buffer, teller->len));
		pthread_mutex_lock(&teller->lock);
		teller->len = 0;
		pthread_cond_broadcast(&teller->changed);
		(void)!write(teller->wake, &one, sizeof(one));
	}
	pthread_mutex_unlock(&teller->lock);
	return NULL;
}

void run_teller_init(struct run_teller *teller,
                     void (*tell)(void *data, enum run_stream stream, struct span bytes),
                     void *data, int wake)
{
	*teller = (struct run_teller){ .tell = tell, .data = data, .wake = wake,
		                       .buffer = mem_alloc(RUN_PIECE_BYTES, 1) };
	pthread_mutex_init(&teller->lock, NULL);
	pthread_cond_init(&teller->changed, NULL);
}

bool run_teller_busy(struct run_teller *teller)
{
	bool busy;

	pthread_mutex_lock(&teller->lock);
	busy = teller->len > 0;
	pthread_mutex_unlock(&teller->lock);
	return busy;
}

void run_teller_tell(struct run_teller *teller, enum run_stream stream, size_t len)
{
	if (!teller->started)
		teller->started = pthread_create(&teller->thread, NULL, teller_thread, teller) == 0;
	if (!teller->started) {
		teller->tell(teller->data, stream, span_of(teller->buffer, len));
		return;
	}
	pthread_mutex_lock(&teller->lock);
	teller->stream = stream;
	teller->len = len;
	pthread_cond_broadcast(&teller->changed);
	pthread_mutex_unlock(&teller->lock);
}

void run_teller_wait(struct run_teller *teller)
{
	pthread_mutex_lock(&teller->lock);
	while (teller->len)
		pthread_cond_wait(&teller->changed, &teller->lock);
	pthread_mutex_unlock(&teller->lock);
}

void run_teller_release(struct run_teller *teller)
{
	if (teller->started) {
		pthread_mutex_lock(&teller->lock);
		teller->stop = true;
		pthread_cond_broadcast(&teller->changed);
		pthread_mutex_unlock(&teller->lock);
		pthread_join(teller->thread, NULL);
	}
	pthread_mutex_destroy(&teller->lock);
	pthread_cond_destroy(&teller->changed);
	free(teller->buffer);
}
