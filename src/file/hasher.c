/* SPDX-License-Identifier: Apache-2.0 */
/* The hashing thread: a bounded queue of pieces, in order. */
#include "file/hasher.h"

static void *hash_pieces(void *arg)
{
	struct hasher *hasher = arg;

	pthread_mutex_lock(&hasher->lock);
	for (;;) {
		struct span piece;

		while (!hasher->count && !hasher->closed)
			pthread_cond_wait(&hasher->changed, &hasher->lock);
		if (!hasher->count)
			break;
		piece = hasher->queue[hasher->head];
		pthread_mutex_unlock(&hasher->lock);
		sha256_update(&hasher->stream, piece);
		pthread_mutex_lock(&hasher->lock);
		hasher->head = (hasher->head + 1) % HASHER_QUEUE;
		hasher->count--;
		pthread_cond_signal(&hasher->changed);
	}
	pthread_mutex_unlock(&hasher->lock);
	return NULL;
}

void hasher_start(struct hasher *hasher, size_t total)
{
	hasher->head = hasher->count = 0;
	hasher->closed = false;
	hasher->threaded = false;
	sha256_init(&hasher->stream);
	if (total <= HASHER_THREAD_BYTES)
		return;
	pthread_mutex_init(&hasher->lock, NULL);
	pthread_cond_init(&hasher->changed, NULL);
	hasher->threaded = pthread_create(&hasher->thread, NULL, hash_pieces, hasher) == 0;
	if (!hasher->threaded) {
		pthread_cond_destroy(&hasher->changed);
		pthread_mutex_destroy(&hasher->lock);
	}
}

void hasher_feed(struct hasher *hasher, struct span piece)
{
	if (!hasher->threaded) {
		sha256_update(&hasher->stream, piece);
		return;
	}
	pthread_mutex_lock(&hasher->lock);
	while (hasher->count == HASHER_QUEUE)
		pthread_cond_wait(&hasher->changed, &hasher->lock);
	hasher->queue[(hasher->head + hasher->count++) % HASHER_QUEUE] = piece;
	pthread_cond_signal(&hasher->changed);
	pthread_mutex_unlock(&hasher->lock);
}

struct sha256 hasher_finish(struct hasher *hasher)
{
	if (hasher->threaded) {
		pthread_mutex_lock(&hasher->lock);
		hasher->closed = true;
		pthread_cond_signal(&hasher->changed);
		pthread_mutex_unlock(&hasher->lock);
		pthread_join(hasher->thread, NULL);
		pthread_cond_destroy(&hasher->changed);
		pthread_mutex_destroy(&hasher->lock);
	}
	return sha256_final(&hasher->stream);
}
