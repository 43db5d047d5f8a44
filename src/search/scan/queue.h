/* SPDX-License-Identifier: Apache-2.0 */
/* What the threads of a scan still have to do. Private to this folder.
 *
 *     while (scan_queue_take(&queue, &task)) {
 *             ... scan_queue_push(&queue, more, count) ...
 *             scan_task_release(&task);
 *     }
 *
 * A stack: what was pushed last, first element on top, comes out first, so that the tree is
 * taken depth first and nearly in order.  It is over when it is empty and nobody works.
 */
#ifndef HASP_SEARCH_SCAN_QUEUE_H
#define HASP_SEARCH_SCAN_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "search/rules/chain.h"

/* Names of a large folder's files, shared by its parts. */
struct scan_batch;

struct scan_task {
	char *path;              /* owned; the folder: "" or ends with '/' */
	size_t path_len;
	struct chain *above;     /* owned reference: the chain of the folder above */
	struct scan_batch *batch; /* owned reference; NULL: the folder is still to be read */
	size_t from, count;      /* the part of the batch */
};

struct scan_queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct scan_task *tasks; /* owned */
	size_t count, cap;
	unsigned working;        /* threads between take and take */
	bool stopped;
};

void scan_queue_init(struct scan_queue *queue);
void scan_queue_release(struct scan_queue *queue);

/* Takes the tasks over; false when there would be too many (LIMIT_SCAN_PENDING), then they are
 * still the caller's. Returns in *ret_waiting how many wait now. */
bool scan_queue_push(struct scan_queue *queue, const struct scan_task *tasks, size_t count,
                     size_t *ret_waiting);
/* Waits for a task; `was_working` when the caller has just finished one. False at the end. */
bool scan_queue_take(struct scan_queue *queue, bool was_working, struct scan_task *ret);
/* Everybody's next take is the last. */
void scan_queue_stop(struct scan_queue *queue);

void scan_task_release(struct scan_task *task);

/* Copies `count` names; one reference. */
struct scan_batch *scan_batch_new(const char *const *names, size_t count);
struct scan_batch *scan_batch_ref(struct scan_batch *batch);
const char *const *scan_batch_names(const struct scan_batch *batch);

#endif
