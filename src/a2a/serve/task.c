/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: their state, history and artifacts, and those who follow them.
 *
 * Every change is one event: it goes to the record (store.c), to the value, to the last events that
 * are kept for streams that come again, to followers and to push notifications, in this order.
 *
 * Source: A2A 1.0, sections 3.4, 3.5 and 4.1. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "a2a/serve/tasks.h"
#include "agent/session/record.h"
#include "base/clock.h"
#include "base/mem.h"
#include "data/json.h"

/* ---- states ---------------------------------------------------------------------- */

static const char *const state_names[] = {
	[A2A_TASK_SUBMITTED] = "TASK_STATE_SUBMITTED",
	[A2A_TASK_WORKING] = "TASK_STATE_WORKING",
	[A2A_TASK_COMPLETED] = "TASK_STATE_COMPLETED",
	[A2A_TASK_FAILED] = "TASK_STATE_FAILED",
	[A2A_TASK_CANCELED] = "TASK_STATE_CANCELED",
	[A2A_TASK_INPUT_REQUIRED] = "TASK_STATE_INPUT_REQUIRED",
	[A2A_TASK_REJECTED] = "TASK_STATE_REJECTED",
	[A2A_TASK_AUTH_REQUIRED] = "TASK_STATE_AUTH_REQUIRED",
};

const char *a2a_task_state_name(enum a2a_task_state state)
{
	return state_names[state];
}

enum a2a_task_state a2a_task_state_parse(const char *name)
{
	for (size_t i = 1; name && i < ARRAY_LEN(state_names); i++)
		if (!strcmp(state_names[i], name))
			return (enum a2a_task_state)i;
	return 0;
}

bool a2a_task_state_is_over(enum a2a_task_state state)
{
	return state == A2A_TASK_COMPLETED || state == A2A_TASK_FAILED ||
	       state == A2A_TASK_CANCELED || state == A2A_TASK_REJECTED;
}

bool a2a_task_state_asks(enum a2a_task_state state)
{
	return state == A2A_TASK_INPUT_REQUIRED || state == A2A_TASK_AUTH_REQUIRED;
}

/* ---- moments --------------------------------------------------------------------- */

void a2a_moment_print(uint64_t ms, char out[static CLOCK_TIMESTAMP_SIZE])
{
	const time_t seconds = (time_t)(ms / 1000);
	struct tm parts;
	size_t len;

	gmtime_r(&seconds, &parts);
	len = strftime(out, CLOCK_TIMESTAMP_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(out + len, CLOCK_TIMESTAMP_SIZE - len, ".%03uZ", (unsigned)(ms % 1000));
}

/* ".25": 250; *rest is moved behind it.  Finer digits do not count. */
static unsigned moment_fraction(const char **rest)
{
	unsigned ms = 0, weight = 100;

	if (**rest != '.')
		return 0;
	for ((*rest)++; **rest >= '0' && **rest <= '9'; (*rest)++, weight /= 10)
		ms += weight * (unsigned)(**rest - '0');
	return ms;
}

/* "Z", or "+01:30"; false: neither. */
static bool moment_zone(const char *text, int *ret_seconds)
{
	unsigned hours, minutes;
	char sign, end;

	*ret_seconds = 0;
	if (!strcmp(text, "Z") || !strcmp(text, "z"))
		return true;
	if (sscanf(text, "%c%2u:%2u%c", &sign, &hours, &minutes, &end) != 3 || hours > 23 ||
	    minutes > 59 || (sign != '+' && sign != '-'))
		return false;
	*ret_seconds = (int)(hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
	return true;
}

bool a2a_moment_parse(const char *text, uint64_t *ret_ms)
{
	struct tm parts = { 0 };
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &parts) : NULL;
	unsigned ms;
	int zone;
	time_t seconds;

	if (!rest)
		return false;
	ms = moment_fraction(&rest);
	if (!moment_zone(rest, &zone))
		return false;
	seconds = timegm(&parts) - zone;
	if (seconds < 0)
		return false;
	*ret_ms = (uint64_t)seconds * 1000 + ms;
	return true;
}

/* Now; later than every other such moment of this server, so that lists have one order. */
static uint64_t moment_next(struct a2a_tasks *tasks)
{
	struct timespec now;
	uint64_t ms;

	clock_gettime(CLOCK_REALTIME, &now);
	ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	tasks->last_ms = ms > tasks->last_ms ? ms : tasks->last_ms + 1;
	return tasks->last_ms;
}

/* ---- all of them ----------------------------------------------------------------- */

static size_t id_hash(const char *id)
{
	size_t hash = 5381;

	for (; *id; id++)
		hash = hash * 33 + (unsigned char)*id;
	return hash % A2A_TABLE_SIZE;
}

static void task_leave(struct a2a_task *task)
{
	struct a2a_tasks *tasks = task->server->tasks;

	*(task->previous ? &task->previous->next : &tasks->first) = task->next;
	*(task->next ? &task->next->previous : &tasks->end) = task->previous;
	task->next = task->previous = NULL;
}

static void task_enter(struct a2a_task *task)
{
	struct a2a_tasks *tasks = task->server->tasks;

	task->next = tasks->first;
	task->previous = NULL;
	*(tasks->first ? &tasks->first->previous : &tasks->end) = task;
	tasks->first = task;
}

static struct a2a_task *task_add(struct a2a_server *server, struct a2a_context *context,
                                 json_t *value)
{
	struct a2a_task *task = mem_alloc(1, sizeof(*task));
	struct a2a_tasks *tasks = server->tasks;
	size_t hash;

	*task = (struct a2a_task){
		.server = server, .value = value, .context = mem_strdup(context->id),
		.id = mem_strdup(json_string_value(json_object_get(value, "id"))),
		.caller = a2a_caller_ref(context->caller), .folder = context->folder,
	};
	task->recent_end = &task->recent;
	hash = id_hash(task->id);
	task->same_hash = tasks->table[hash];
	tasks->table[hash] = task;
	tasks->count++;
	task_enter(task);
	return task;
}

static void task_forget_events(struct a2a_task *task)
{
	struct a2a_event *next;

	for (; task->recent; task->recent = next) {
		next = task->recent->next;
		json_decref(task->recent->response);
		free(task->recent);
	}
	task->recent_end = &task->recent;
	task->recent_bytes = 0;
}

void a2a_task_free(struct a2a_task *task)
{
	struct a2a_tasks *tasks = task->server->tasks;
	struct a2a_task **link = &tasks->table[id_hash(task->id)];

	while (*link != task)
		link = &(*link)->same_hash;
	*link = task->same_hash;
	task_leave(task);
	tasks->count--;
	tasks->over_count -= task->value && a2a_task_state_is_over(task->state);
	task_forget_events(task);
	json_decref(task->value);
	json_decref(task->pushes);
	json_decref(task->extensions);
	tasks->links->freed(task);
	a2a_caller_unref(task->caller);
	free(task->id);
	free(task->context);
	free(task);
}

struct a2a_task *a2a_task_find(struct a2a_server *server, const struct a2a_caller *caller,
                               const char *id)
{
	struct a2a_task *task = id ? server->tasks->table[id_hash(id)] : NULL;

	while (task && strcmp(task->id, id) != 0)
		task = task->same_hash;
	return task && task->caller && !strcmp(task->caller->name, caller->name) ? task : NULL;
}

/* Of the tasks that are over, only the last stay whole; of all, only so many are known. */
static void tasks_trim(struct a2a_tasks *tasks)
{
	struct a2a_task *task = tasks->end, *before;

	for (; task && (tasks->over_count > LIMIT_A2A_KEPT || tasks->count > LIMIT_A2A_TASKS);
	     task = before) {
		before = task->previous;
		if (!a2a_task_state_is_over(task->state) || task->followers || !before)
			continue;
		if (tasks->count > LIMIT_A2A_TASKS) {
			a2a_task_free(task);
			continue;
		}
		if (!task->value)
			continue;
		task_forget_events(task);
		json_decref(task->value);
		task->value = NULL;
		tasks->over_count--;
	}
}

/* A line of its record; takes it. */
static void task_write(struct a2a_task *task, json_t *line)
{
	task->server->tasks->links->write(task, line);
}

/* ---- events ---------------------------------------------------------------------- */

static size_t event_bytes(const json_t *response)
{
	return json_dumpb(response, NULL, 0, JSON_COMPACT);
}

/* Keeps it for those who come again. */
static void event_keep(struct a2a_task *task, json_t *response)
{
	struct a2a_event *event = mem_alloc(1, sizeof(*event)), *first;

	*event = (struct a2a_event){ .number = task->last_number, .bytes = event_bytes(response),
		                     .response = json_incref(response) };
	*task->recent_end = event;
	task->recent_end = &event->next;
	task->recent_bytes += event->bytes;
	while (task->recent_bytes > LIMIT_A2A_RECENT_BYTES) {
		first = task->recent;
		task->recent = first->next;
		task->recent_bytes -= first->bytes;
		json_decref(first->response);
		free(first);
		if (!task->recent)
			task->recent_end = &task->recent;
	}
}

/* Followers may leave, and others may come, meanwhile. */
static void event_tell(struct a2a_task *task, const json_t *response)
{
	const uint64_t number = task->last_number;
	struct a2a_follower *follower, *next;

	for (follower = task->followers; follower; follower = next) {
		next = follower->next;
		follower->event(follower, response, number);
	}
	task->server->tasks->links->push(task, response);
}

/* Takes it. */
static void task_event(struct a2a_task *task, const char *kind, json_t *event)
{
	json_auto_t *response = json_pack("{s:o}", kind, event);

	task->last_number++;
	event_keep(task, response);
	event_tell(task, response);
}

bool a2a_task_can_repeat(const struct a2a_task *task, uint64_t after)
{
	return after == task->last_number ||
	       (after < task->last_number && task->recent && task->recent->number <= after + 1);
}

static bool task_is_followed(const struct a2a_task *task, const struct a2a_follower *follower)
{
	const struct a2a_follower *one = task->followers;

	while (one && one != follower)
		one = one->next;
	return one != NULL;
}

void a2a_task_repeat(struct a2a_task *task, uint64_t after, struct a2a_follower *follower)
{
	const struct a2a_event *event = task->recent;

	for (; event && task_is_followed(task, follower); event = event->next)
		if (event->number > after)
			follower->event(follower, event->response, event->number);
}

void a2a_task_follow(struct a2a_task *task, struct a2a_follower *follower)
{
	struct a2a_follower **link = &task->followers;

	while (*link)
		link = &(*link)->next;
	follower->next = NULL;
	*link = follower;
}

void a2a_task_unfollow(struct a2a_task *task, struct a2a_follower *follower)
{
	for (struct a2a_follower **link = &task->followers; *link; link = &(*link)->next)
		if (*link == follower) {
			*link = follower->next;
			return;
		}
}

/* ---- what there is --------------------------------------------------------------- */

static json_t *task_member(json_t *value, const char *name, json_t *(*make)(void))
{
	json_t *member = json_object_get(value, name);

	if (!member) {
		member = make();
		json_object_set_new(value, name, member);
	}
	return member;
}

/* The oldest messages go where there are too many; the first, which has the task,
 * stays. */
static void task_history_add(json_t *value, json_t *message)
{
	json_t *history = task_member(value, "history", json_array);

	json_array_append_new(history, message);
	if (json_array_size(history) > LIMIT_A2A_HISTORY)
		json_array_remove(history, 1);
}

static json_t *artifact_find(const json_t *artifacts, const json_t *id, size_t *ret_index)
{
	json_t *artifact;
	size_t i;

	json_array_foreach((json_t *)artifacts, i, artifact)
		if (json_equal(json_object_get(artifact, "artifactId"), id)) {
			*ret_index = i;
			return artifact;
		}
	return NULL;
}

/* Text that follows text is one part; past LIMIT_A2A_ARTIFACT_BYTES its end is not kept. */
static void artifact_append(json_t *artifact, const json_t *more)
{
	json_t *parts = task_member(artifact, "parts", json_array), *part, *last, *text;
	size_t i;

	json_array_foreach(json_object_get(more, "parts"), i, part) {
		last = json_array_get(parts, json_array_size(parts) - 1);
		text = json_object_get(part, "text");
		if (!text || !json_is_string(json_object_get(last, "text"))) {
			json_array_append_new(parts, json_deep_copy(part));
		} else if (json_string_length(json_object_get(last, "text")) +
		           json_string_length(text) <= LIMIT_A2A_ARTIFACT_BYTES) {
			_cleanup_free_ char *joined =
				mem_printf("%s%s", json_string_value(json_object_get(last, "text")),
				           json_string_value(text));

			json_object_set_new(last, "text", json_text(span_str(joined)));
		}
	}
}

static void artifact_put(json_t *value, const json_t *artifact, bool append)
{
	json_t *artifacts = task_member(value, "artifacts", json_array);
	size_t i = 0;
	json_t *old = artifact_find(artifacts, json_object_get(artifact, "artifactId"), &i);

	if (old && append)
		artifact_append(old, artifact);
	else if (old)
		json_array_set_new(artifacts, i, json_deep_copy(artifact));
	else if (json_array_size(artifacts) < LIMIT_A2A_ARTIFACTS)
		json_array_append_new(artifacts, json_deep_copy(artifact));
}

void a2a_task_replay(json_t *value, const json_t *line)
{
	json_t *status = json_object_get(line, "status"), *message = json_object_get(line, "said");
	json_t *artifact = json_object_get(line, "artifact");
	json_t *note = json_object_get(line, "metadata");

	if (json_is_object(json_object_get(line, "asked")))
		task_history_add(value, json_incref(json_object_get(line, "asked")));
	if (json_is_object(message))
		task_history_add(value, json_incref(message));
	if (json_is_object(status))
		json_object_set(value, "status", status);
	if (json_is_object(artifact))
		artifact_put(value, artifact, false);
	if (json_is_object(note))
		json_object_update(task_member(value, "metadata", json_object), note);
}

/* The whole value, of a task that is over and only in its record, too; a new reference. */
static json_t *task_whole(struct a2a_task *task)
{
	json_t *value = task->value ? json_incref(task->value) :
	                              task->server->tasks->links->read(task);
	char moment[CLOCK_TIMESTAMP_SIZE];

	if (value)
		return value;
	a2a_moment_print(task->updated_ms, moment);
	return json_pack("{s:s, s:s, s:{s:s, s:s}}", "id", task->id, "contextId", task->context,
	                 "status", "state", a2a_task_state_name(task->state), "timestamp", moment);
}

json_t *a2a_task_value(struct a2a_task *task, int history, bool artifacts)
{
	json_auto_t *whole = task_whole(task);
	json_t *value = json_copy(whole), *all = json_object_get(value, "history");
	const size_t count = json_array_size(all);

	if (!artifacts)
		json_object_del(value, "artifacts");
	else if (!json_object_get(value, "artifacts"))
		json_object_set_new(value, "artifacts", json_array());
	if (history == 0) {
		json_object_del(value, "history");
	} else if (history > 0 && count > (size_t)history) {
		json_t *last = json_array();

		for (size_t i = count - (size_t)history; i < count; i++)
			json_array_append(last, json_array_get(all, i));
		json_object_set_new(value, "history", last);
	} else if (all) { /* a copy: later messages join the task's own */
		json_object_set_new(value, "history", json_copy(all));
	}
	return value;
}

json_t *a2a_task_message(const struct a2a_task *task, json_t *parts)
{
	_cleanup_free_ char *id = record_new_id();

	return json_pack("{s:s, s:s, s:o, s:s, s:s}", "messageId", id, "role", "ROLE_AGENT",
	                 "parts", parts, "taskId", task->id, "contextId", task->context);
}

json_t *a2a_task_message_text(const struct a2a_task *task, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return a2a_task_message(task, json_pack("[{s:o}]", "text", json_utf8(span_str(text))));
}

/* ---- changes --------------------------------------------------------------------- */

/* A new message may be of a context that exists: its task has the same caller and workspace. */
struct a2a_task *a2a_task_new(struct a2a_server *server, struct a2a_caller *caller,
                              const json_t *message, struct a2a_fault *fault)
{
	struct a2a_tasks *tasks = server->tasks;
	struct a2a_context *context;
	struct a2a_task *task;
	_cleanup_free_ char *id = NULL;
	char moment[CLOCK_TIMESTAMP_SIZE];
	json_t *said, *value;

	if (server->is_ending)
		a2a_fault_set(fault, A2A_FAULT_BUSY, "The server is shutting down.");
	else if (!tasks->links->has_room(tasks, event_bytes(message)))
		a2a_fault_set(fault, A2A_FAULT_BUSY,
		              "Too many tasks are waiting (%zu). Retry later.", tasks->waiting);
	if (fault->kind != A2A_FAULT_NONE)
		return NULL;
	context = a2a_context_of(server, caller, message, fault);
	if (!context)
		return NULL;
	id = record_new_id();
	said = json_copy((json_t *)message);
	json_object_set_new(said, "taskId", json_string(id));
	json_object_set_new(said, "contextId", json_string(context->id));
	a2a_moment_print(moment_next(tasks), moment);
	value = json_pack("{s:s, s:s, s:{s:s, s:s}, s:[o]}", "id", id, "contextId", context->id,
	                  "status", "state", a2a_task_state_name(A2A_TASK_SUBMITTED), "timestamp",
	                  moment, "history", said);
	task = task_add(server, context, value);
	task->state = A2A_TASK_SUBMITTED;
	task->updated_ms = tasks->last_ms;
	if (!json_array_size(json_object_get(message, "parts"))) /* made before its first message */
		json_array_clear(json_object_get(value, "history"));
	task_write(task, json_pack("{s:s, s:O}", "caller", caller->name, "task", value));
	tasks->links->made(task, message);
	tasks_trim(tasks);
	return task;
}

struct a2a_task *a2a_task_restore(struct a2a_server *server, struct a2a_context *context,
                                  json_t *value, uint64_t updated_ms, uint64_t last_number)
{
	struct a2a_task *task = task_add(server, context, value);
	const json_t *state = json_object_get(json_object_get(value, "status"), "state");

	task->state = a2a_task_state_parse(json_string_value(state));
	task->updated_ms = updated_ms;
	task->last_number = last_number;
	server->tasks->links->restored(task);
	if (updated_ms > server->tasks->last_ms)
		server->tasks->last_ms = updated_ms;
	server->tasks->over_count += a2a_task_state_is_over(task->state);
	tasks_trim(server->tasks);
	return task;
}

static void task_touch(struct a2a_task *task)
{
	task->updated_ms = moment_next(task->server->tasks);
	task_leave(task);
	task_enter(task);
}

void a2a_task_set(struct a2a_task *task, enum a2a_task_state state, json_t *message,
                  json_t *metadata)
{
	const enum a2a_task_state before = task->state;
	char moment[CLOCK_TIMESTAMP_SIZE];
	json_t *status, *event;

	if (a2a_task_state_is_over(before)) {
		json_decref(message);
		json_decref(metadata);
		return;
	}
	metadata = task->server->tasks->links->metadata(task, metadata);
	task_touch(task);
	task->state = state;
	a2a_moment_print(task->updated_ms, moment);
	status = json_pack("{s:s, s:s, s:o*}", "state", a2a_task_state_name(state), "timestamp",
	                   moment, "message", message);
	json_object_set_new(task->value, "status", status);
	event = json_pack("{s:s, s:s, s:O, s:o*}", "taskId", task->id, "contextId", task->context,
	                  "status", status, "metadata", metadata);
	if (state != before) /* what it is just doing is no part of the record */
		task_write(task, json_pack("{s:O, s:I}", "status", status, "number",
		                                (json_int_t)task->last_number + 1));
	task->server->tasks->over_count += a2a_task_state_is_over(state);
	task_event(task, "statusUpdate", event);
	if (state != before)
		task->server->tasks->links->changed(task, before);
	tasks_trim(task->server->tasks);
}

void a2a_task_add(struct a2a_task *task, json_t *artifact, bool append, bool last)
{
	json_t *event;
	json_t *whole;
	size_t i;

	if (a2a_task_state_is_over(task->state)) {
		json_decref(artifact);
		return;
	}
	artifact_put(task->value, artifact, append);
	whole = artifact_find(json_object_get(task->value, "artifacts"),
	                      json_object_get(artifact, "artifactId"), &i);
	event = json_pack("{s:s, s:s, s:O, s:b, s:b}", "taskId", task->id, "contextId",
	                  task->context, "artifact", artifact, "append", append, "lastChunk", last);
	if (last && whole)
		task_write(task, json_pack("{s:O}", "artifact", whole));
	task_event(task, "artifactUpdate", event);
	json_decref(artifact);
}

void a2a_task_said(struct a2a_task *task, const json_t *message)
{
	json_t *said = json_copy((json_t *)message);
	json_t *asked = a2a_task_state_asks(task->state) ?
	                json_object_get(json_object_get(task->value, "status"), "message") : NULL;

	json_object_set_new(said, "taskId", json_string(task->id));
	json_object_set_new(said, "contextId", json_string(task->context));
	if (asked)
		task_history_add(task->value, json_incref(asked));
	task_history_add(task->value, json_incref(said));
	task_write(task, json_pack("{s:O*, s:o}", "asked", asked, "said", said));
}

void a2a_task_note(struct a2a_task *task, const char *name, json_t *value)
{
	json_t *note = json_pack("{s:o}", name, value);

	if (task->value)
		json_object_update(task_member(task->value, "metadata", json_object), note);
	task_write(task, json_pack("{s:o}", "metadata", note));
}

bool a2a_task_has_prompt(const struct a2a_task *task)
{
	return json_array_size(json_object_get(task->value, "history")) &&
	       !(task->gemini && a2a_task_state_asks(task->state));
}

void a2a_task_pushes_changed(struct a2a_task *task)
{
	task_write(task, json_pack("{s:O}", "pushes", task->pushes ?: json_null()));
}
