/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, and the record of tasks: lines of their session's own file, which a server that starts
 * again reads.
 *
 * {"hasp": {"a2aTask": {"id", and of a new task "caller", "task" (whole); later "status", "number";
 * "said", "asked"; "artifact" (whole); "metadata"; "pushes"}}}
 *
 * While a session is open its own record writes them (host_record_a2a_task), else they are added to
 * the file, which has its first line from here if nothing was said in the session yet. */
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/gemini.h"
#include "a2a/serve/tasks.h"
#include "agent/session/record.h"
#include "agent/session/sessions.h"
#include "base/mem.h"
#include "config/home.h"
#include "data/json.h"

/* The next number of events after a restart: streams count some that are not recorded. */
#define NUMBERS_SKIPPED ((uint64_t)1 << 20)

/* ---- contexts -------------------------------------------------------------------------- */

static struct a2a_context **context_slot(struct a2a_tasks *tasks, const char *id)
{
	size_t hash = 5381;

	for (const char *at = id; *at; at++)
		hash = hash * 33 + (unsigned char)*at;
	return &tasks->contexts[hash % A2A_TABLE_SIZE];
}

struct a2a_context *a2a_context_find(struct a2a_server *server, const char *id)
{
	struct a2a_context *context = *context_slot(server->tasks, id);

	while (context && strcmp(context->id, id) != 0)
		context = context->next;
	return context;
}

static struct a2a_context *context_add(struct a2a_server *server, const char *id,
                                       const char *folder, const char *caller_name)
{
	struct a2a_context **slot = context_slot(server->tasks, id);
	struct a2a_context *context = mem_alloc(1, sizeof(*context));

	*context = (struct a2a_context){ .next = *slot, .server = server, .id = mem_strdup(id),
		                         .folder = folder,
		                         .caller_name = mem_strdup(caller_name) };
	*slot = context;
	return context;
}

static void context_free(struct a2a_context *context)
{
	json_decref(context->pending);
	a2a_caller_unref(context->caller);
	free(context->caller_name);
	free(context->id);
	free(context->file);
	free(context);
}

static struct home *store_home(const struct a2a_server *server, const char *folder)
{
	for (size_t i = 0; server->options->folders[i]; i++)
		if (server->options->folders[i] == folder)
			return server->tasks->homes[i];
	return NULL;
}

/* ---- the workspace of a message ----------------------------------------------------------- */

static bool caller_may_use(const struct a2a_caller *caller, const char *folder)
{
	return !caller->workspaces || json_lists(caller->workspaces, span_str(folder));
}

/* {"metadata": {"hasp": {"workspace"}}}: one of those that the server has and the caller may use;
 * none is named: the first of these. */
static const char *message_folder(const struct a2a_server *server,
                                  const struct a2a_caller *caller, const json_t *message,
                                  struct a2a_fault *fault)
{
	const json_t *hasp = json_object_get(json_object_get(message, "metadata"), "hasp");
	const json_t *settings = a2a_gemini_workspace(message);
	const json_t *named = settings ? settings : json_object_get(hasp, "workspace");
	const char *const *folders = server->options->folders;

	for (size_t i = 0; folders[i]; i++)
		if (caller_may_use(caller, folders[i]) &&
		    (!named || span_eq(json_span(named), span_str(folders[i]))))
			return folders[i];
	a2a_fault_set(fault, A2A_FAULT_PARAMS, named ? "This caller cannot use that workspace." :
	              "This caller has no workspace.");
	return NULL;
}

/* A client's own name for a context must be new, and no session of the user's. */
static bool context_is_new(const struct a2a_server *server, const char *id, const char *folder)
{
	struct home *home = store_home(server, folder);

	return record_id_is_valid(id) && !(home && home_find(home) && sessions_have(home, id));
}

struct a2a_context *a2a_context_of(struct a2a_server *server, struct a2a_caller *caller,
                                   const json_t *message, struct a2a_fault *fault)
{
	const char *id = json_string_value(json_object_get(message, "contextId"));
	struct a2a_context *context = id ? a2a_context_find(server, id) : NULL;
	_cleanup_free_ char *made = NULL;
	const char *folder;

	if (context && !strcmp(context->caller_name, caller->name) &&
	    caller_may_use(caller, context->folder))
		return context;
	folder = message_folder(server, caller, message, fault);
	if (!folder)
		return NULL;
	if (context || (id && !context_is_new(server, id, folder))) {
		a2a_fault_set(fault, A2A_FAULT_PARAMS, "This caller cannot use that context.");
		return NULL;
	}
	made = id ? NULL : record_new_id();
	context = context_add(server, id ? id : made, folder, caller->name);
	context->caller = a2a_caller_ref(caller);
	return context;
}

/* ---- writing ------------------------------------------------------------------------------- */

static bool store_open(struct a2a_context *context, struct record **ret, struct err *err)
{
	const struct record_options options = {
		.home = store_home(context->server, context->folder), .session_id = context->id,
		.resume_file = context->file,
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
	return context->session ? a2a_local_record(context, line) :
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

	json_object_set_new(line, "id", json_string(task->id));
	if (!a2a_store_flush(context, &err) || !store_put(context, line, &err)) {
		if (!context->pending)
			context->pending = json_array();
		if (!json_array_size(context->pending) && !context->session && task->server->warn)
			task->server->warn(task->server, err.message);
		if (json_array_size(context->pending) < LIMIT_A2A_UNRECORDED)
			json_array_append(context->pending, line);
	}
	json_decref(line);
}

/* ---- reading ------------------------------------------------------------------------------- */

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

/* ---- what there is of earlier runs ------------------------------------------------------------ */

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
	context = context_add(reading->server, id, reading->folder, caller);
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

/* Those that waited wait again; what ran when the server ended did not end well. */
static void store_resume(struct a2a_server *server)
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
				task, "The server stopped while this task was under way. Edits that "
				"were made before are kept; send another message with this "
				"contextId to continue."), NULL);
	}
}

static void store_read_folder(struct a2a_server *server, size_t i)
{
	struct store_reading reading = { .server = server, .tasks = json_object(),
		                         .folder = server->options->folders[i] };

	if (server->tasks->homes[i])
		sessions_own_lines(server->tasks->homes[i], "a2aTask", LIMIT_A2A_RECORDS,
		                   store_visit, &reading);
	store_restore_all(&reading);
	json_decref(reading.tasks);
}

bool a2a_core_open(struct a2a_server *server, struct err *err)
{
	struct a2a_tasks *tasks = mem_alloc(1, sizeof(*tasks));

	*tasks = (struct a2a_tasks){ .server = server };
	server->tasks = tasks;
	while (server->options->folders[tasks->home_count])
		tasks->home_count++;
	tasks->homes = mem_alloc(tasks->home_count + 1, sizeof(*tasks->homes));
	for (size_t i = 0; i < tasks->home_count; i++)
		if (!home_open(server->options->folders[i], &tasks->homes[i], err))
			return false;
	tasks->is_starting = true;
	for (size_t i = 0; i < tasks->home_count; i++)
		store_read_folder(server, i);
	store_resume(server);
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
			context_free(context);
		}
	for (size_t i = 0; i < tasks->home_count; i++)
		home_free(tasks->homes[i]);
	free(tasks->homes);
	free(tasks);
	server->tasks = NULL;
}
