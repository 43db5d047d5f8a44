/* SPDX-License-Identifier: Apache-2.0 */
/* All that keeps tasks, put together: opened with what there is of earlier runs, and closed. */
#include <stdlib.h>

#include "a2a/serve/gemini.h"
#include "a2a/serve/push.h"
#include "a2a/serve/tasks.h"
#include "agent/session/sessions.h"
#include "base/mem.h"
#include "config/home.h"

static void core_push(struct a2a_task *task, const json_t *response)
{
	if (task->server->push && json_object_size(task->pushes))
		a2a_push_send(task->server->push, task, response);
}

static void core_made(struct a2a_task *task, const json_t *message)
{
	a2a_meter_state(task, 0);
	if (a2a_gemini_is_asked(message, NULL))
		a2a_gemini_begin(task, message);
}

static void core_freed(struct a2a_task *task)
{
	a2a_gemini_free(task->gemini);
}

static const struct a2a_links core_links = {
	.has_room = a2a_queue_has_room, .write = a2a_store_write, .read = a2a_store_read,
	.changed = a2a_queue_state, .push = core_push, .made = core_made,
	.restored = a2a_gemini_restore, .metadata = a2a_gemini_metadata, .freed = core_freed,
	.ended = a2a_orders_end,
};

/* Those that waited wait again; what ran when the server ended did not end well. */
static void core_resume(struct a2a_server *server)
{
	struct a2a_task *task = server->tasks->end, *before;

	for (; task; task = before) {
		before = task->previous; /* a change makes it the first */
		if (!task->is_restored)
			continue;
		task->is_restored = false;
		if (!a2a_task_has_prompt(task))
			continue;
		if (task->state == A2A_TASK_SUBMITTED)
			a2a_queue_add(task);
		else if (!a2a_task_state_is_over(task->state))
			a2a_task_set(task, A2A_TASK_FAILED, a2a_task_message_text(
				task, "The server stopped while this task was under way. Edits "
				"that were made before are kept; send another message with "
				"this contextId to continue."), NULL);
	}
}

/* The one context of an agent that another server has started: tasks and their record are that
 * server's. */
static void core_open_context(struct a2a_server *server)
{
	const struct a2a_serve_options *options = server->options;
	const char *name = options->caller ? options->caller : "token";
	struct a2a_context *context = a2a_context_add(server, options->context,
	                                              options->folders[0], name);

	context->caller = a2a_callers_find(server->callers, name);
	if (server->tasks->homes[0])
		context->file = sessions_file(server->tasks->homes[0], context->id);
}

static void core_restore(struct a2a_server *server)
{
	for (size_t i = 0; i < server->tasks->home_count; i++)
		a2a_store_restore(server, i);
	core_resume(server);
}

bool a2a_core_open(struct a2a_server *server, struct err *err)
{
	struct a2a_tasks *tasks = mem_alloc(1, sizeof(*tasks));

	*tasks = (struct a2a_tasks){ .server = server, .links = &core_links };
	server->tasks = tasks;
	while (server->options->folders[tasks->home_count])
		tasks->home_count++;
	tasks->homes = mem_alloc(tasks->home_count + 1, sizeof(*tasks->homes));
	for (size_t i = 0; i < tasks->home_count; i++)
		if (!home_open(server->options->folders[i], &tasks->homes[i], err))
			return false;
	tasks->is_starting = true;
	if (server->options->context)
		core_open_context(server);
	else
		core_restore(server);
	tasks->is_starting = false;
	a2a_queue_next(server);
	return true;
}

void a2a_core_close(struct a2a_server *server)
{
	struct a2a_tasks *tasks = server->tasks;
	struct a2a_context *context, *next;
	struct err ignored = ERR_INIT;

	if (!tasks)
		return;
	a2a_queue_release(tasks);
	while (tasks->first)
		a2a_task_free(tasks->first);
	for (size_t i = 0; i < A2A_TABLE_SIZE; i++)
		for (context = tasks->contexts[i]; context; context = next) {
			next = context->next;
			a2a_store_flush(context, &ignored);
			a2a_context_free(context);
		}
	for (size_t i = 0; i < tasks->home_count; i++)
		home_free(tasks->homes[i]);
	free(tasks->homes);
	free(tasks);
	server->tasks = NULL;
}
