/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/offer/calls.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { SLOTS = 1024 }; /* queues by key; those of one slot are a list */

/* A turn's place in the queue of one key. */
struct turn_place {
	struct turn *turn;
	struct queue *queue;
	struct turn_place *behind;
};

/* A key that is in use. */
struct queue {
	char *key; /* owned */
	struct turn_place *first, *last;
	struct queue *next; /* in the slot */
};

struct turns {
	pthread_mutex_t lock;
	struct queue *slots[SLOTS];
	size_t count; /* queues in them */
};

static struct queue **queue_slot(struct turns *turns, const char *key)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (; *key; key++)
		hash = (hash ^ (unsigned char)*key) * 16777619u;
	return &turns->slots[hash % SLOTS];
}

static struct queue *queue_find(struct turns *turns, const char *key)
{
	struct queue *queue = *queue_slot(turns, key);

	while (queue && strcmp(queue->key, key) != 0)
		queue = queue->next;
	return queue;
}

static struct queue *queue_find_or_add(struct turns *turns, const char *key)
{
	struct queue **slot = queue_slot(turns, key);
	struct queue *queue = queue_find(turns, key);

	if (queue)
		return queue;
	queue = mem_alloc(1, sizeof(*queue));
	*queue = (struct queue){ .key = mem_strdup(key), .next = *slot };
	*slot = queue;
	turns->count++;
	return queue;
}

struct turns *turns_new(void)
{
	struct turns *turns = mem_alloc(1, sizeof(*turns));

	pthread_mutex_init(&turns->lock, NULL);
	return turns;
}

void turns_free(struct turns *turns)
{
	if (!turns)
		return;
	pthread_mutex_destroy(&turns->lock);
	free(turns);
}

/* Enters a queue; a key that the turn has already is passed over: its place is the last. */
static void queue_enter(struct turns *turns, struct turn *turn, const char *key)
{
	struct queue *queue = queue_find_or_add(turns, key);
	struct turn_place *place = &turn->places[turn->place_count];

	if (queue->last && queue->last->turn == turn)
		return;
	*place = (struct turn_place){ .turn = turn, .queue = queue };
	turn->place_count++;
	if (queue->last) {
		queue->last->behind = place;
		turn->waits++;
	} else {
		queue->first = place;
	}
	queue->last = place;
}

void turns_take(struct turns *turns, struct turn *turn, const char *const *keys, size_t count)
{
	bool now;

	turn->places = mem_alloc(count, sizeof(*turn->places));
	turn->place_count = turn->waits = 0;
	pthread_mutex_lock(&turns->lock);
	for (size_t i = 0; i < count; i++)
		queue_enter(turns, turn, keys[i]);
	now = turn->waits == 0;
	pthread_mutex_unlock(&turns->lock);
	if (now)
		turn->go(turn);
}

/* Leaves a queue; returns the turn that can begin because of it, or NULL. */
static struct turn *queue_leave(struct turns *turns, struct turn_place *place)
{
	struct queue *queue = place->queue;
	struct turn_place *next = place->behind;

	queue->first = next;
	if (!next) {
		struct queue **at = queue_slot(turns, queue->key);

		while (*at != queue)
			at = &(*at)->next;
		*at = queue->next;
		turns->count--;
		free(queue->key);
		free(queue);
		return NULL;
	}
	return --next->turn->waits == 0 ? next->turn : NULL;
}

void turns_done(struct turns *turns, struct turn *turn)
{
	struct turn *ready = NULL;
	struct turn **end = &ready;

	pthread_mutex_lock(&turns->lock);
	for (size_t i = 0; i < turn->place_count; i++) {
		struct turn *next = queue_leave(turns, &turn->places[i]);

		if (!next)
			continue;
		next->next = NULL;
		*end = next;
		end = &next->next;
	}
	pthread_mutex_unlock(&turns->lock);
	free(turn->places);
	turn->places = NULL;
	while (ready) {
		struct turn *next = ready->next;

		ready->go(ready);
		ready = next;
	}
}

bool turns_busy(struct turns *turns, const char *key)
{
	bool busy;

	pthread_mutex_lock(&turns->lock);
	busy = queue_find(turns, key) != NULL;
	pthread_mutex_unlock(&turns->lock);
	return busy;
}

bool turns_any(struct turns *turns)
{
	bool any;

	pthread_mutex_lock(&turns->lock);
	any = turns->count != 0;
	pthread_mutex_unlock(&turns->lock);
	return any;
}
