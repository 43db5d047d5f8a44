/* SPDX-License-Identifier: Apache-2.0 */
#include "search/scan/queue.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

struct scan_batch {
	atomic_size_t references;
	const char **names; /* owned */
	char *text;         /* owned */
};

void scan_queue_init(struct scan_queue *queue)
{
	*queue = (struct scan_queue){ 0 };
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->changed, NULL);
}

void scan_queue_release(struct scan_queue *queue)
{
	while (queue->count > 0)
		scan_task_release(&queue->tasks[--queue->count]);
	free(queue->tasks);
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
}

bool scan_queue_push(struct scan_queue *queue, const struct scan_task *tasks, size_t count,
                     size_t *ret_waiting)
{
	bool room;

	pthread_mutex_lock(&queue->lock);
	room = queue->count + count <= LIMIT_SCAN_PENDING;
	if (room) {
		if (queue->count + count > queue->cap)
			queue->tasks = mem_grow(queue->tasks, &queue->cap, queue->count + count,
			                        sizeof(*queue->tasks));
		for (size_t i = count; i-- > 0;)
			queue->tasks[queue->count++] = tasks[i];
		pthread_cond_broadcast(&queue->changed);
	}
	*ret_waiting = queue->count;
	pthread_mutex_unlock(&queue->lock);
	return room;
}

bool scan_queue_take(struct scan_queue *queue, bool was_working, struct scan_task *ret)
{
	bool taken;

	pthread_mutex_lock(&queue->lock);
	if (was_working)
		queue->working--;
	while (!queue->stopped && queue->count == 0 && queue->working > 0)
		pthread_cond_wait(&queue->changed, &queue->lock);
	taken = !queue->stopped && queue->count > 0;
	if (taken) {
		*ret = queue->tasks[--queue->count];
		queue->working++;
	} else {
		pthread_cond_broadcast(&queue->changed);
	}
	pthread_mutex_unlock(&queue->lock);
	return taken;
}

void scan_queue_stop(struct scan_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->stopped = true;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

static void batch_unref(struct scan_batch *batch)
{
	if (!batch ||
	    atomic_fetch_sub_explicit(&batch->references, 1, memory_order_acq_rel) != 1)
		return;
	free(batch->names);
	free(batch->text);
	free(batch);
}

void scan_task_release(struct scan_task *task)
{
	free(task->path);
	chain_unref(task->above);
	batch_unref(task->batch);
}

struct scan_batch *scan_batch_new(const char *const *names, size_t count)
{
	struct scan_batch *batch = mem_alloc(1, sizeof(*batch));
	size_t len = 0, at = 0;

	for (size_t i = 0; i < count; i++)
		len += strlen(names[i]) + 1;
	atomic_init(&batch->references, 1);
	batch->names = mem_alloc(count, sizeof(*batch->names));
	batch->text = mem_alloc(len, 1);
	for (size_t i = 0; i < count; i++) {
		size_t size = strlen(names[i]) + 1;

		batch->names[i] = memcpy(batch->text + at, names[i], size);
		at += size;
	}
	return batch;
}

struct scan_batch *scan_batch_ref(struct scan_batch *batch)
{
	atomic_fetch_add_explicit(&batch->references, 1, memory_order_relaxed);
	return batch;
}

const char *const *scan_batch_names(const struct scan_batch *batch)
{
	return batch->names;
}
