/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/outbox.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

struct outbox {
	struct loop_task task;
	struct loop *loop;
	pthread_mutex_t lock; /* guards the rest */
	struct post *first, **last;
	bool posted; /* the task is with the loop */
	bool closed;
};

static void outbox_free(struct outbox *outbox)
{
	pthread_mutex_destroy(&outbox->lock);
	free(outbox);
}

static void arrive(struct loop_task *task)
{
	struct outbox *outbox = (struct outbox *)task;
	bool closed;

	pthread_mutex_lock(&outbox->lock);
	outbox->posted = false;
	closed = outbox->closed;
	pthread_mutex_unlock(&outbox->lock);
	if (closed)
		outbox_free(outbox);
	else
		outbox_drain(outbox);
}

struct outbox *outbox_new(struct loop *loop)
{
	struct outbox *outbox = mem_alloc(1, sizeof(*outbox));

	outbox->task.run = arrive;
	outbox->loop = loop;
	outbox->last = &outbox->first;
	pthread_mutex_init(&outbox->lock, NULL);
	return outbox;
}

void outbox_post(struct outbox *outbox, struct post *post)
{
	bool wake;

	post->next = NULL;
	pthread_mutex_lock(&outbox->lock);
	*outbox->last = post;
	outbox->last = &post->next;
	wake = !outbox->posted;
	outbox->posted = true;
	/* Under the lock: the outbox may be closed as soon as the post is seen. */
	if (wake)
		loop_post(outbox->loop, &outbox->task);
	pthread_mutex_unlock(&outbox->lock);
}

void outbox_drain(struct outbox *outbox)
{
	struct post *post;

	pthread_mutex_lock(&outbox->lock);
	post = outbox->first;
	outbox->first = NULL;
	outbox->last = &outbox->first;
	pthread_mutex_unlock(&outbox->lock);
	while (post) {
		struct post *next = post->next;

		post->run(post);
		post = next;
	}
}

bool outbox_empty(struct outbox *outbox)
{
	bool empty;

	pthread_mutex_lock(&outbox->lock);
	empty = !outbox->first;
	pthread_mutex_unlock(&outbox->lock);
	return empty;
}

void outbox_close(struct outbox *outbox)
{
	bool posted;

	outbox_drain(outbox);
	pthread_mutex_lock(&outbox->lock);
	outbox->closed = true;
	posted = outbox->posted;
	pthread_mutex_unlock(&outbox->lock);
	if (!posted)
		outbox_free(outbox);
}
