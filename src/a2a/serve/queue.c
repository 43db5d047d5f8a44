/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that wait: who is next, how many run, and the end of a server. */
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/tasks.h"
#include "base/mem.h"

/* ---- turns ----------------------------------------------------------------------- */

static struct a2a_turn *turn_of(struct a2a_tasks *tasks, struct a2a_caller *caller)
{
	struct a2a_turn **link = &tasks->turns, *turn;

	for (; *link; link = &(*link)->next)
		if (!strcmp((*link)->caller->name, caller->name))
			return *link;
	turn = mem_alloc(1, sizeof(*turn));
	*turn = (struct a2a_turn){ .caller = a2a_caller_ref(caller) };
	turn->last = &turn->first;
	*link = turn;
	return turn;
}

static void turn_free(struct a2a_turn *turn)
{
	a2a_caller_unref(turn->caller);
	free(turn);
}

/* Takes it out; false: it is not there. */
static bool turn_take(struct a2a_turn *turn, struct a2a_task *task)
{
	struct a2a_task **link = &turn->first;

	while (*link && *link != task)
		link = &(*link)->waits;
	if (!*link)
		return false;
	*link = task->waits;
	if (!*link)
		turn->last = link;
	task->waits = NULL;
	return true;
}

/* ---- waiting --------------------------------------------------------------------- */

bool a2a_queue_has_room(const struct a2a_tasks *tasks, size_t bytes)
{
	return tasks->waiting < LIMIT_A2A_WAITING &&
	       tasks->waiting_bytes + bytes <= LIMIT_A2A_WAITING_BYTES;
}

void a2a_queue_add(struct a2a_task *task)
{
	struct a2a_tasks *tasks = task->server->tasks;
	struct a2a_turn *turn = turn_of(tasks, task->caller);

	task->waits = NULL;
	*turn->last = task;
	turn->last = &task->waits;
	task->is_waiting = true;
	task->bytes = json_dumpb(task->value, NULL, 0, JSON_COMPACT);
	tasks->waiting++;
	tasks->waiting_bytes += task->bytes;
	a2a_meter_wait(task);
	a2a_queue_next(task->server);
}

static void queue_remove(struct a2a_task *task)
{
	struct a2a_tasks *tasks = task->server->tasks;

	if (!task->is_waiting || !turn_take(turn_of(tasks, task->caller), task))
		return;
	task->is_waiting = false;
	tasks->waiting--;
	tasks->waiting_bytes -= task->bytes;
	a2a_meter_wait_over(task);
}

/* ---- running --------------------------------------------------------------------- */

static void queue_count(struct a2a_task *task, bool counts)
{
	struct a2a_turn *turn = turn_of(task->server->tasks, task->caller);

	if (task->is_counted == counts)
		return;
	task->is_counted = counts;
	turn->running += counts ? 1 : (size_t)-1;
	task->server->tasks->running += counts ? 1 : (size_t)-1;
}

/* What was said before it began is one message; a new reference. */
static json_t *queue_message(const struct a2a_task *task)
{
	json_t *history = json_object_get(task->value, "history"), *said;
	size_t i = task->prompt_from < json_array_size(history) ? task->prompt_from : 0;
	json_t *message = json_copy(json_array_get(history, i)), *parts = json_array();

	for (; (said = json_array_get(history, i)); i++)
		json_array_extend(parts, json_object_get(said, "parts"));
	json_object_set_new(message, "parts", parts);
	return message;
}

static void queue_begin(struct a2a_task *task)
{
	json_auto_t *message = queue_message(task);
	struct a2a_fault fault = { 0 };

	queue_remove(task);
	a2a_meter_begin(task);
	queue_count(task, true);
	if (task->server->work->say(task, message, &fault))
		return;
	a2a_task_set(task, A2A_TASK_REJECTED, a2a_task_message_text(task, "%s", fault.sentence),
	             NULL);
	json_decref(fault.fields);
}

/* The first task of a caller that may begin; NULL: none. */
static struct a2a_task *turn_next(const struct a2a_turn *turn)
{
	struct a2a_task *task = turn->first;

	if (turn->caller->tasks_at_once && turn->running >= turn->caller->tasks_at_once)
		return NULL;
	while (task &&
	       task->server->work->is_busy(a2a_context_find(task->server, task->context)))
		task = task->waits;
	return task;
}

/* Whose turn it is goes to the end of the row. */
static struct a2a_task *queue_choose(struct a2a_tasks *tasks)
{
	struct a2a_turn **link, **end, *turn;
	struct a2a_task *task;

	for (link = &tasks->turns; *link; link = &(*link)->next) {
		turn = *link;
		task = turn_next(turn);
		if (!task)
			continue;
		*link = turn->next;
		turn->next = NULL;
		for (end = &tasks->turns; *end; end = &(*end)->next)
			;
		*end = turn;
		return task;
	}
	return NULL;
}

/* Callers without any tasks. */
static void queue_sweep(struct a2a_tasks *tasks)
{
	struct a2a_turn **link = &tasks->turns, *turn;

	while (*link) {
		turn = *link;
		if (turn->first || turn->running) {
			link = &turn->next;
			continue;
		}
		*link = turn->next;
		turn_free(turn);
	}
}

void a2a_queue_next(struct a2a_server *server)
{
	struct a2a_tasks *tasks = server->tasks;
	const size_t most = server->options->tasks_at_once ? server->options->tasks_at_once :
	                                                     LIMIT_A2A_RUNNING;
	struct a2a_task *task;

	if (tasks->is_starting || server->is_ending)
		return;
	tasks->is_starting = true;
	while (tasks->running < most && (task = queue_choose(tasks)))
		queue_begin(task);
	tasks->is_starting = false;
	queue_sweep(tasks);
}

/* ---- the end --------------------------------------------------------------------- */

/* What runs is interrupted. */
static void queue_end(struct a2a_server *server)
{
	struct a2a_tasks *tasks = server->tasks;

	loop_timer_stop(tasks->patience);
	tasks->patience = NULL;
	if (tasks->is_draining)
		return;
	tasks->is_draining = true;
	server->work->end(server);
}

/* As loop_timer's. */
static void queue_out_of_patience(void *data)
{
	queue_end(data);
}

void a2a_core_drain(struct a2a_server *server, unsigned wait_ms)
{
	struct a2a_tasks *tasks = server->tasks;
	const bool again = server->is_ending;

	server->is_ending = true;
	if (again || !wait_ms || !tasks->running)
		queue_end(server);
	else
		tasks->patience = loop_timer_start(server->loop, wait_ms, 0, queue_out_of_patience,
		                                   server);
}

void a2a_queue_idle(struct a2a_server *server)
{
	struct a2a_tasks *tasks = server->tasks;

	if (!tasks->is_draining || tasks->is_drained)
		return;
	tasks->is_drained = true;
	tasks->links->ended(server);
	if (server->drained)
		server->drained(server);
}

void a2a_queue_state(struct a2a_task *task, enum a2a_task_state before)
{
	struct a2a_server *server = task->server;
	const bool asks = a2a_task_state_asks(task->state) && !task->is_resting;

	a2a_meter_state(task, before);
	if (asks != task->has_question)
		server->tasks->questions += asks ? 1 : (size_t)-1;
	task->has_question = asks;
	if (a2a_task_state_is_over(task->state))
		queue_remove(task);
	if (before != A2A_TASK_SUBMITTED || a2a_task_state_is_over(task->state))
		queue_count(task, task->state == A2A_TASK_WORKING && task->run);
	if (server->is_ending && !server->tasks->running && !server->tasks->is_starting)
		queue_end(server);
	else
		a2a_queue_next(server);
}

void a2a_queue_release(struct a2a_tasks *tasks)
{
	struct a2a_turn *next;

	loop_timer_stop(tasks->patience);
	for (; tasks->turns; tasks->turns = next) {
		next = tasks->turns->next;
		turn_free(tasks->turns);
	}
}
