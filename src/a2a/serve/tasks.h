/* SPDX-License-Identifier: Apache-2.0 */
/* What the files share that keep tasks and have them carried out: task.c, store.c, queue.c, local.c,
 * publish.c, question.c, operations.c, runner.c. */
#ifndef HASP_A2A_SERVE_TASKS_H
#define HASP_A2A_SERVE_TASKS_H

#include "a2a/serve/callers.h"
#include "a2a/serve/private.h"

/* ---- queue.c: which waits, and who is next --------------------------------------------- */

/* SUBMITTED tasks wait here; they begin by a2a_work.say, round robin by caller, each caller's and
 * each context's in their order. */
struct a2a_queue *a2a_queue_new(struct a2a_server *server);
void a2a_queue_free(struct a2a_queue *queue); /* NULL is fine */
/* Whether another one (of so many bytes) may wait. */
bool a2a_queue_has_room(const struct a2a_queue *queue, const struct a2a_caller *caller);
void a2a_queue_add(struct a2a_task *task);
/* Takes it out, where it waits. */
void a2a_queue_remove(struct a2a_task *task);
/* Something has ended, or waits for an answer: begins what may begin. */
void a2a_queue_next(struct a2a_server *server);
/* task.c: after each change of state. */
void a2a_queue_state(struct a2a_task *task, enum a2a_task_state before);
/* How many run (not: those that wait for an answer), how many wait. */
size_t a2a_queue_running(const struct a2a_queue *queue);
size_t a2a_queue_waiting(const struct a2a_queue *queue);
/* Of draining: work has nothing under way any more. */
void a2a_queue_idle(struct a2a_server *server);

/* ---- store.c: all tasks and contexts, and their record --------------------------------- */

/* A context: a recorded session. */
struct a2a_context {
	struct a2a_context *next;     /* of the same hash */
	char *id;
	struct a2a_caller *caller;    /* whose it is: a reference */
	const char *folder;           /* one of options->folders */
	char *file;                   /* its record; NULL: it has none yet */
	size_t tasks;
	struct record *record;        /* while several lines are written; or NULL */
	/* local.c: takes a line (borrowed) while the session is open; NULL: it is not. */
	bool (*write)(struct a2a_context *context, const json_t *line);
	void *session;                /* local.c's */
};
struct a2a_context *a2a_context_find(struct a2a_server *server, const char *id);
/* A line about a task: {"hasp": {"a2aTask": line}}; takes it. */
void a2a_store_write(struct a2a_task *task, json_t *line);
/* The Task of a record; a new reference. NULL: it is not there any more. */
json_t *a2a_store_read(struct a2a_task *task);

#endif
