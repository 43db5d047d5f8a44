/* SPDX-License-Identifier: Apache-2.0 */
/* The record of tasks: lines of their session's own file, which a server that starts
 * again reads.
 *
 * {"hasp": {"a2aTask": {"id", and of a new task "caller", "task" (whole); later "status", "number";
 * "said", "asked"; "artifact" (whole); "metadata"; "pushes"}}}
 *
 * While a session is open its own record writes them (host_record_a2a_task), else they are added to
 * the file, which has its first line from here if nothing was said in the session yet. */
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/tasks.h"
#include "agent/session/record.h"
#include "agent/session/sessions.h"
#include "base/mem.h"
#include "config/home.h"
#include "data/json.h"

/* The next number of events after a restart: streams count some that are not recorded. */
#define NUMBERS_SKIPPED ((uint64_t)1 << 20)

/* ---- writing --------------------------------------------------------------------- */

static bool store_open(struct a2a_context *context, struct record **ret, struct err *err)
{
	const struct record_options options = {
		.home = a2a_context_home(context->server, context->folder),
		.session_id = context->id, .resume_file = context->file,
	};

	return options.home ? record_open(&options, ret, err) :
	                      err_set(err, ERR_IO_ERROR, "There is no home folder for sessions.");
}

/* While the session is not open here. */
static bool store_append(struct a2a_context *context, const json_t *line, struct err *err)
{
	struct record *record = NULL;
	bool ok;

	if (!store_open(context, &record, err))
		return false;
	record_a2a_task(record, line);
	ok = record_whole(record, err);
	if (!context->file && *record_path(record))
		context->file = mem_strdup(record_path(record));
	record_close(record);
	return ok;
}

/* A session that is being opened or closed has its file for itself: the line waits. */
static bool store_put(struct a2a_context *context, const json_t *line, struct err *err)
{
	return context->session || context->remote ?
	               context->server->work->record(context, line) :
	               store_append(context, line, err);
}

bool a2a_store_flush(struct a2a_context *context, struct err *err)
{
	while (json_array_size(context->pending)) {
		if (!store_put(context, json_array_get(context->pending, 0), err))
			return false;
		json_array_remove(context->pending, 0);
	}
	return true;
}

void a2a_store_write(struct a2a_task *task, json_t *line)
{
	struct a2a_context *context = a2a_context_find(task->server, task->context);
	struct err err = ERR_INIT;

	if (task->server->options->context) { /* the server that started this agent does */
		json_decref(line);
		return;
	}
	json_object_set_new(line, "id", json_string(task->id));
	if (!a2a_store_flush(context, &err) || !store_put(context, line, &err)) {
		if (!context->pending)
			context->pending = json_array();
		if (!json_array_size(context->pending) && !context->session && !context->remote &&
		    task->server->warn)
			task->server->warn(task->server, err.message);
		if (json_array_size(context->pending) < LIMIT_A2A_UNRECORDED)
			json_array_append(context->pending, line);
	}
	json_decref(line);
}

/* ---- reading --------------------------------------------------------------------- */

struct store_found {
	const char *id;
	json_t *value;
};

/* As session_own_lines' visit: what the lines say of one task. */
static void store_visit_one(void *data, const char *path, const json_t *line)
{
	struct store_found *found = data;
	json_t *task = json_object_get(line, "task");

	(void)path;
	if (!span_eq(json_span(json_object_get(line, "id")), span_str(found->id)))
		return;
	if (!found->value && json_is_object(task))
		found->value = json_incref(task);
	else if (found->value)
		a2a_task_replay(found->value, line);
}

json_t *a2a_store_read(const struct a2a_task *task)
{
	const struct a2a_context *context = a2a_context_find(task->server, task->context);
	struct store_found found = { .id = task->id };

	if (context && context->file)
		session_own_lines(context->file, "a2aTask", store_visit_one, &found);
	return found.value;
}

/* ---- what there is of earlier runs ----------------------------------------------- */

/* All tasks of a workspace as their lines are read. */
struct store_reading {
	struct a2a_server *server;
	const char *folder;
	json_t *tasks; /* {ID: {"value", "caller", "number", "file", "pushes"}} */
};

static bool store_is_task(const json_t *id, const json_t *task)
{
	const json_t *state = json_object_get(json_object_get(task, "status"), "state");

	return json_is_string(id) && record_id_is_valid(json_string_value(id)) &&
	       json_equal(json_object_get(task, "id"), id) &&
	       json_is_string(json_object_get(task, "contextId")) &&
	       record_id_is_valid(json_string_value(json_object_get(task, "contextId"))) &&
	       a2a_task_state_parse(json_string_value(state));
}

/* As session_own_lines' visit. */
static void store_visit(void *data, const char *path, const json_t *line)
{
	struct store_reading *reading = data;
	json_t *id = json_object_get(line, "id"), *task = json_object_get(line, "task");
	json_t *entry = json_object_get(reading->tasks, json_string_value(id) ?: "");

	if (!entry && store_is_task(id, task) && json_is_string(json_object_get(line, "caller")) &&
	    json_object_size(reading->tasks) < LIMIT_A2A_TASKS) {
		json_object_set_new(reading->tasks, json_string_value(id), json_pack(
			"{s:O, s:O, s:o}", "value", task, "caller", json_object_get(line, "caller"),
			"file", json_path_bytes(path)));
		return;
	}
	if (!entry)
		return;
	a2a_task_replay(json_object_get(entry, "value"), line);
	if (json_is_integer(json_object_get(line, "number")))
		json_object_set(entry, "number", json_object_get(line, "number"));
	if (json_object_get(line, "pushes"))
		json_object_set(entry, "pushes", json_object_get(line, "pushes"));
}

/* Its context; NULL: the line belongs to another caller's, or another workspace's. */
static struct a2a_context *store_context(const struct store_reading *reading, const json_t *entry)
{
	const json_t *value = json_object_get(entry, "value");
	const char *id = json_string_value(json_object_get(value, "contextId"));
	const char *caller = json_string_value(json_object_get(entry, "caller"));
	struct a2a_context *context = a2a_context_find(reading->server, id);

	if (context)
		return context->folder == reading->folder && !strcmp(context->caller_name, caller) ?
		               context : NULL;
	context = a2a_context_add(reading->server, id, reading->folder, caller);
	context->caller = a2a_callers_find(reading->server->callers, caller);
	context->file = mem_strdup(json_string_value(json_object_get(entry, "file")));
	return context;
}

static void store_restore(struct store_reading *reading, json_t *entry)
{
	json_t *value = json_object_get(entry, "value"), *pushes = json_object_get(entry, "pushes");
	const json_t *status = json_object_get(value, "status");
	struct a2a_context *context = store_context(reading, entry);
	uint64_t updated_ms = 0, number;
	struct a2a_task *task;

	if (!context || !context->caller ||
	    !a2a_task_state_parse(json_string_value(json_object_get(status, "state"))))
		return;
	a2a_moment_parse(json_string_value(json_object_get(status, "timestamp")), &updated_ms);
	number = (uint64_t)json_integer_value(json_object_get(entry, "number"));
	task = a2a_task_restore(reading->server, context, json_incref(value), updated_ms,
	                        number + NUMBERS_SKIPPED);
	if (json_is_object(pushes))
		task->pushes = json_incref(pushes);
	task->is_restored = true;
}

static int entry_earlier_first(const void *a, const void *b)
{
	const json_t *left = json_object_get(*(json_t *const *)a, "value");
	const json_t *right = json_object_get(*(json_t *const *)b, "value");
	const char *first = json_string_value(json_object_get(json_object_get(left, "status"),
	                                                      "timestamp"));
	const char *second = json_string_value(json_object_get(json_object_get(right, "status"),
	                                                       "timestamp"));

	return strcmp(first ? first : "", second ? second : "");
}

static void store_restore_all(struct store_reading *reading)
{
	const size_t count = json_object_size(reading->tasks);
	_cleanup_free_ json_t **entries = mem_alloc(count + 1, sizeof(json_t *));
	const char *id;
	json_t *entry;
	size_t i = 0;

	json_object_foreach(reading->tasks, id, entry)
		entries[i++] = entry;
	qsort(entries, count, sizeof(json_t *), entry_earlier_first);
	for (i = 0; i < count; i++)
		store_restore(reading, entries[i]);
}

void a2a_store_restore(struct a2a_server *server, size_t i)
{
	struct store_reading reading = { .server = server, .tasks = json_object(),
		                         .folder = server->options->folders[i] };

	if (server->tasks->homes[i])
		sessions_own_lines(server->tasks->homes[i], "a2aTask", LIMIT_A2A_RECORDS,
		                   store_visit, &reading);
	store_restore_all(&reading);
	json_decref(reading.tasks);
}
