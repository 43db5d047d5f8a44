/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks carried out by agents elsewhere, one process a task (runner.h).
 *
 * An agent that is lost (its process ended, or nothing was heard of it) gets a successor, if there
 * are attempts left and the record of its session is whole and no one's: the lock on the record
 * says whether the agent that was lost still works.  The successor resumes that session.  What the
 * one before has edited and not recorded is not edited twice: an edit names the hash of the state
 * that it changes. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/runner.h"
#include "a2a/serve/tasks.h"
#include "a2a/serve/wire.h"
#include "agent/session/record.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/name.h"
#include "config/settings.h"
#include "data/json.h"

enum {
	/* Bytes that one agent may send: a long answer is some 300 bytes an event. */
	RUNNER_BYTES_MOST = 64 << 20,
	RUNNER_LATER_MOST = 16,        /* messages that wait for an agent to begin */
	RUNNER_END_MS = 10000,         /* an agent whose task is over writes its record */
	RUNNER_CANCEL_MS = 10000,      /* from a cancel to the end of the process */
	RUNNER_BACK_OFF_MS = 500,      /* before the second attempt; doubled for each further one */
	RUNNER_LOCKED_TRIES = 40,      /* every RUNNER_BACK_OFF_MS */
	RUNNER_REASON_BYTES = 300,
};

/* Requests that are under way, by their ids. */
enum remote_request { REMOTE_HELLO, REMOTE_TASK, REMOTE_SAY, REMOTE_CANCEL, REMOTE_REQUESTS };

/* An agent elsewhere, and the task that it carries out. */
struct a2a_remote {
	struct a2a_remote *next;      /* of all */
	struct a2a_server *server;
	struct a2a_context *context;
	struct a2a_task *task;        /* NULL: it is over, the process is ending */
	struct a2a_child *child;      /* NULL: none now */
	struct loop_timer *timer;     /* looks after the agent, or waits for the next attempt */
	json_t *message;              /* what the agent gets to do */
	json_t *later;                /* messages that came before it had that */
	char *id;                     /* of the task over there; NULL: not started */
	uint64_t started_ms, event_ms, canceled_ms;
	size_t bytes;                 /* that this agent has sent */
	unsigned attempt, locked_tries, waiting[REMOTE_REQUESTS];
	bool is_greeted;              /* it has said what it is */
	bool has_started;               /* some agent has started the task */
	bool is_canceled, asks, is_lost;
	char reason[RUNNER_REASON_BYTES]; /* why its process was ended; "": its task is over */
};

static void remote_again(void *data);

/* A task of this kind of work has its agent in a2a_task.run. */
static struct a2a_remote *remote_of(const struct a2a_task *task)
{
	return (struct a2a_remote *)task->run;
}

/* ---- the end of an agent --------------------------------------------------------- */

static void remote_stop_timer(struct a2a_remote *remote)
{
	loop_timer_stop(remote->timer);
	remote->timer = NULL;
}

static void remote_drop(struct a2a_remote *remote)
{
	struct a2a_server *server = remote->server;
	struct a2a_remote **link = (void *)&server->tasks->work_data;
	struct err ignored = ERR_INIT; /* what waits goes on waiting */

	while (*link != remote)
		link = &(*link)->next;
	*link = remote->next;
	remote_stop_timer(remote);
	json_decref(remote->message);
	json_decref(remote->later);
	free(remote->id);
	remote->context->remote = NULL;
	a2a_store_flush(remote->context, &ignored);
	free(remote);
	a2a_queue_next(server);
	if (!server->tasks->work_data)
		a2a_queue_idle(server);
}

/* Its task is over, or rests: the process ends by itself, soon. */
static void remote_let_go(struct a2a_remote *remote, unsigned grace_ms)
{
	remote->task->run = NULL;
	remote->task = NULL;
	remote_stop_timer(remote);
	if (remote->child)
		a2a_child_end(remote->child, grace_ms);
	else
		remote_drop(remote);
}

static void remote_finish(struct a2a_remote *remote, enum a2a_task_state state, json_t *message,
                          json_t *metadata, unsigned grace_ms)
{
	a2a_task_set(remote->task, state, message, metadata);
	remote_let_go(remote, grace_ms);
}

static void remote_failed(struct a2a_remote *remote, const char *sentence)
{
	remote_finish(remote, A2A_TASK_FAILED,
	              a2a_task_message_text(remote->task, "%s", sentence), NULL, 0);
}

/* The agent does what no agent does: another agent would do the same. */
static void remote_refuse(struct a2a_remote *remote, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void remote_refuse(struct a2a_remote *remote, const char *format, ...)
{
	_cleanup_free_ char *sentence = NULL;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(remote->reason, sizeof(remote->reason), format, arguments);
	va_end(arguments);
	sentence = mem_printf("The agent that the runner started %s.", remote->reason);
	remote_failed(remote, sentence);
}

/* Nothing more will come from it; what follows is decided when its process has ended. */
static void remote_lose(struct a2a_remote *remote, const char *reason, unsigned grace_ms)
{
	snprintf(remote->reason, sizeof(remote->reason), "%s", reason);
	remote->is_lost = true;
	remote_stop_timer(remote);
	a2a_child_end(remote->child, grace_ms);
}

/* ---- requests -------------------------------------------------------------------- */

static const struct {
	const char *id, *method;
} remote_requests[REMOTE_REQUESTS] = {
	[REMOTE_HELLO] = { "hello", "GetExtendedAgentCard" },
	[REMOTE_TASK] = { "task", "SendStreamingMessage" },
	[REMOTE_SAY] = { "say", "SendMessage" },
	[REMOTE_CANCEL] = { "cancel", "CancelTask" },
};

/* Takes `params`. */
static void remote_ask(struct a2a_remote *remote, enum remote_request request, json_t *params)
{
	json_auto_t *line = json_pack("{s:s, s:s, s:s, s:o}", "jsonrpc", "2.0", "id",
	                              remote_requests[request].id, "method",
	                              remote_requests[request].method, "params", params);

	remote->waiting[request]++;
	a2a_child_write(remote->child, line);
}

/* Takes the message. */
static void remote_send(struct a2a_remote *remote, json_t *message)
{
	remote_ask(remote, REMOTE_SAY, json_pack(
		"{s:o, s:{s:b, s:i}}", "message", message, "configuration", "returnImmediately", 1,
		"historyLength", 0));
}

/* The no that every kind of question understands (question.c). */
static void remote_decline(struct a2a_remote *remote)
{
	_cleanup_free_ char *id = record_new_id();
	json_auto_t *message = json_pack(
		"{s:s, s:s, s:[{s:{s:s, s:b, s:s}}]}", "messageId", id, "role", "ROLE_USER",
		"parts", "data", "outcome", "cancel", "cancelled", 1, "action", "cancel");

	remote_send(remote, a2a_runner_message(message, remote->context, remote->id));
}

static void remote_send_cancel(struct a2a_remote *remote)
{
	remote_ask(remote, REMOTE_CANCEL, json_pack("{s:s}", "id", remote->id));
}

static void remote_give(struct a2a_remote *remote)
{
	json_t *message = a2a_runner_message(remote->message, remote->context, NULL);
	json_t *params = json_pack("{s:o, s:{s:i}}", "message", message, "configuration",
	                           "historyLength", 0);

	if (remote->task->gemini)
		a2a_runner_mark_gemini(message, remote->task->folder);
	if (*remote->task->trace)
		json_object_set_new(params, "metadata", json_pack("{s:s}", "traceparent",
		                                                  remote->task->trace));
	remote_ask(remote, REMOTE_TASK, params);
}

/* ---- the hello ------------------------------------------------------------------- */

static void remote_greeted(struct a2a_remote *remote, const json_t *card)
{
	_cleanup_free_ char *wrong = a2a_runner_card_check(card, remote->context->id);

	if (wrong) {
		remote_refuse(remote, "%s", wrong);
		return;
	}
	remote->is_greeted = true;
	remote_give(remote);
}

/* As remote_answers[]. */
static void remote_on_hello(struct a2a_remote *remote, json_t *result, const json_t *error)
{
	if (error)
		remote_refuse(remote, "does not show its card");
	else if (!remote->is_greeted)
		remote_greeted(remote, result);
}

/* ---- events of the task ---------------------------------------------------------- */

static bool update_is_ours(struct a2a_remote *remote, const json_t *update)
{
	if (remote->id &&
	    span_eq(json_span(json_object_get(update, "taskId")), span_str(remote->id)) &&
	    span_eq(json_span(json_object_get(update, "contextId")),
	            span_str(remote->context->id)))
		return true;
	remote_refuse(remote, "reports on a task that it does not have");
	return false;
}

/* Its message as one of this server's; a new reference; NULL: there is none. */
static json_t *status_message(const struct a2a_remote *remote, const json_t *status)
{
	const json_t *theirs = json_object_get(status, "message");

	return !theirs ? NULL : json_pack("{s:O, s:s, s:O, s:s, s:s}", "messageId",
	                                  json_object_get(theirs, "messageId"), "role",
	                                  "ROLE_AGENT", "parts", json_object_get(theirs, "parts"),
	                                  "taskId", remote->task->id, "contextId",
	                                  remote->context->id);
}

/* Whether the caller may be asked. */
static bool remote_may_ask(const struct a2a_remote *remote)
{
	return remote->task->caller->confirms && !remote->is_canceled &&
	       remote->server->tasks->questions < LIMIT_A2A_QUESTIONS;
}

/* Its prompt is over, and it waits for the next one (gemini.h). */
static bool status_rests(const struct a2a_remote *remote, const json_t *metadata)
{
	return remote->task->gemini &&
	       json_is_true(json_object_get(json_object_get(metadata, "hasp"), "rests"));
}

static void remote_asked(struct a2a_remote *remote, const json_t *status, enum a2a_task_state state,
                         const json_t *metadata)
{
	json_t *shown = metadata ? json_copy((json_t *)metadata) : NULL;

	if (status_rests(remote, metadata)) {
		json_object_del(shown, "hasp");
		remote->task->is_resting = true;
		remote_finish(remote, state, status_message(remote, status), shown, RUNNER_END_MS);
	} else if (remote_may_ask(remote)) {
		remote->asks = true;
		a2a_task_set(remote->task, state, status_message(remote, status), shown);
	} else {
		json_decref(shown);
		remote_decline(remote);
	}
}

static void remote_on_status(struct a2a_remote *remote, const json_t *update)
{
	const json_t *status = json_object_get(update, "status");
	json_t *metadata = json_object_get(update, "metadata");
	const enum a2a_task_state state =
		a2a_task_state_parse(json_string_value(json_object_get(status, "state")));

	if (!update_is_ours(remote, update))
		return;
	if (a2a_task_state_asks(state)) {
		remote_asked(remote, status, state, metadata);
	} else if (a2a_task_state_is_over(state)) {
		remote_finish(remote, state, status_message(remote, status), json_incref(metadata),
		              RUNNER_END_MS);
	} else if (state == A2A_TASK_WORKING) {
		remote->asks = false;
		a2a_task_set(remote->task, state, status_message(remote, status),
		             json_incref(metadata));
	}
}

static void remote_on_artifact(struct a2a_remote *remote, const json_t *update)
{
	if (update_is_ours(remote, update))
		a2a_task_add(remote->task, json_deep_copy(json_object_get(update, "artifact")),
		             json_is_true(json_object_get(update, "append")),
		             json_is_true(json_object_get(update, "lastChunk")));
}

/* The task over there: its beginning. */
static void remote_on_started(struct a2a_remote *remote, const json_t *task)
{
	json_t *message;
	size_t i;

	if (remote->id || !span_eq(json_span(json_object_get(task, "contextId")),
	                           span_str(remote->context->id))) {
		remote_refuse(remote, "reports on a task that it does not have");
		return;
	}
	remote->id = mem_strdup(json_string_value(json_object_get(task, "id")));
	remote->has_started = true;
	json_array_foreach(remote->later, i, message)
		remote_send(remote, a2a_runner_message(message, remote->context, remote->id));
	json_array_clear(remote->later);
	if (remote->is_canceled)
		remote_send_cancel(remote);
}

static void remote_on_event(struct a2a_remote *remote, const json_t *event)
{
	const json_t *status = json_object_get(event, "statusUpdate");
	const json_t *artifact = json_object_get(event, "artifactUpdate");
	const json_t *task = json_object_get(event, "task");

	if (status)
		remote_on_status(remote, status);
	else if (artifact)
		remote_on_artifact(remote, artifact);
	else if (task)
		remote_on_started(remote, task);
	else
		remote_refuse(remote, "sent a message without a task");
}

/* What it refuses: its sentence is hasp's, if hasp is what it is. */
static void remote_on_task(struct a2a_remote *remote, json_t *result, const json_t *error)
{
	json_auto_t *event = NULL;
	struct a2a_fault fault = { 0 };

	if (error)
		remote_refuse(remote, "did not take the task: %.200s",
		              json_string_value(json_object_get(error, "message")));
	else if (json_is_null(result))
		remote_refuse(remote, "ended its report before the task was over");
	else if (a2a_fields_read(A2A_MESSAGE_STREAM_RESPONSE, result, &event, &fault))
		remote_on_event(remote, event);
	else
		remote_refuse(remote, "sent an event that A2A 1.0 does not have");
	a2a_fault_release(&fault);
}

/* As remote_answers[]. */
static void remote_on_said(struct a2a_remote *remote, json_t *result, const json_t *error)
{
	(void)result;
	if (error)
		a2a_task_set(remote->task, remote->task->state, a2a_task_message_text(
			remote->task, "The agent did not take the last message: %.200s",
			json_string_value(json_object_get(error, "message"))), NULL);
}

static void remote_on_canceled(struct a2a_remote *remote, json_t *result, const json_t *error)
{
	(void)remote; /* the task's last event says so */
	(void)result;
	(void)error;
}

/* ---- lines ----------------------------------------------------------------------- */

/* How many answers each request has: the task's are many. */
static void (*const remote_answers[REMOTE_REQUESTS])(struct a2a_remote *remote, json_t *result,
                                                     const json_t *error) = {
	[REMOTE_HELLO] = remote_on_hello,
	[REMOTE_TASK] = remote_on_task,
	[REMOTE_SAY] = remote_on_said,
	[REMOTE_CANCEL] = remote_on_canceled,
};

/* The request that a response is for; REMOTE_REQUESTS: it is no response to one. */
static enum remote_request remote_response(const struct a2a_remote *remote, const json_t *line)
{
	const json_t *id = json_object_get(line, "id"), *error = json_object_get(line, "error");
	enum remote_request request = 0;

	while (request < REMOTE_REQUESTS &&
	       !span_eq(json_span(id), span_str(remote_requests[request].id)))
		request++;
	if (request == REMOTE_REQUESTS || !remote->waiting[request] ||
	    json_object_size(line) != 3 ||
	    !span_eq(json_span(json_object_get(line, "jsonrpc")), SPAN("2.0")) ||
	    (error ? !json_is_string(json_object_get(error, "message")) :
	             !json_object_get(line, "result")))
		return REMOTE_REQUESTS;
	return request;
}

static void remote_take_line(struct a2a_remote *remote, const json_t *line)
{
	const enum remote_request request = remote_response(remote, line);

	if (request == REMOTE_REQUESTS) {
		remote_refuse(remote, "printed a line that is no answer");
		return;
	}
	if (request != REMOTE_TASK)
		remote->waiting[request]--;
	remote_answers[request](remote, json_object_get(line, "result"),
	                        json_object_get(line, "error"));
}

/* As a2a_child_events.line. */
static void remote_on_line(void *data, struct span line, bool too_long)
{
	struct a2a_remote *remote = data;
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;

	if (!remote->task || remote->is_lost)
		return;
	remote->event_ms = clock_monotonic_ms();
	remote->bytes += line.len;
	if (too_long)
		remote_refuse(remote, "sent a line of more than %zu bytes", LIMIT_A2A_BODY_BYTES);
	else if (remote->bytes > RUNNER_BYTES_MOST)
		remote_refuse(remote, "sent more than %d MiB", RUNNER_BYTES_MOST >> 20);
	else if (!json_parse_depth(line, LIMIT_A2A_DEPTH, &value, &err))
		remote_refuse(remote, "printed a line that is not JSON");
	else
		remote_take_line(remote, value);
}

/* ---- what becomes of a task whose agent was lost --------------------------------- */

static void remote_wait(struct a2a_remote *remote, unsigned ms)
{
	remote_stop_timer(remote);
	remote->timer = loop_timer_start(remote->server->loop, ms, 0, remote_again, remote);
}

static void remote_is_lost(struct a2a_remote *remote)
{
	struct a2a_server *server = remote->server;
	char sentence[RUNNER_REASON_BYTES + 400];

	if (remote->is_canceled) {
		remote_finish(remote, A2A_TASK_CANCELED,
		              a2a_task_message_text(remote->task, "The task was canceled."), NULL,
		              0);
	} else if (server->tasks->is_draining) {
		remote_failed(remote, "The server was shut down while this task was under way. "
		              "Send another message with this contextId to continue.");
	} else if (remote->attempt >= server->runner.attempts) {
		snprintf(sentence, sizeof(sentence), "The agent of this task was lost (attempt %u "
		         "of %u: it %s). Edits that were made before are kept; send another "
		         "message with this contextId to continue.", remote->attempt,
		         server->runner.attempts, remote->reason);
		remote_failed(remote, sentence);
	} else {
		remote_wait(remote, RUNNER_BACK_OFF_MS << (remote->attempt - 1 < 6 ?
		                                           remote->attempt - 1 : 6));
	}
}

/* The user who runs the server sees what callers do not: the program's own words. */
static void remote_warn(const struct a2a_remote *remote, struct span how)
{
	_cleanup_buf_ struct buf sentence = BUF_INIT(LIMIT_RESULT_BYTES);

	buf_printf(&sentence, "Session %s: the agent that the runner started ",
	           remote->context->id);
	name_line(&sentence, span_str(remote->reason));
	buf_str(&sentence, ". ");
	buf_span(&sentence, how);
	if (remote->server->warn)
		remote->server->warn(remote->server, sentence.data);
}

/* As a2a_child_events.ended. */
static void remote_on_ended(void *data, struct span how)
{
	struct a2a_remote *remote = data;

	remote->child = NULL;
	if (*remote->reason)
		remote_warn(remote, how);
	if (remote->task)
		remote_is_lost(remote);
	else
		remote_drop(remote);
}

/* As a2a_child_events.silent. */
static void remote_on_silent(void *data)
{
	struct a2a_remote *remote = data;

	remote_lose(remote, remote->is_greeted ? "ended, or its connection did" :
	            "ended before it had said what it is", 0);
}

/* ---- while it works -------------------------------------------------------------- */

/* As loop_timer's. */
static void remote_look(void *data)
{
	struct a2a_remote *remote = data;
	const struct a2a_runner_limits *limits = &remote->server->runner;
	const uint64_t now = clock_monotonic_ms(), unheard = now - remote->event_ms;

	if (remote->is_canceled && now - remote->canceled_ms > RUNNER_CANCEL_MS)
		remote_lose(remote, "did not end after a cancel", 0);
	else if (!remote->is_greeted && now - remote->started_ms > limits->start_ms)
		remote_lose(remote, "did not start in time", 0);
	else if (remote->is_greeted && unheard > limits->silence_ms)
		remote_lose(remote, "has not answered for too long", 0);
	else if (remote->is_greeted && unheard > limits->silence_ms / 4 &&
	         !remote->waiting[REMOTE_HELLO])
		remote_ask(remote, REMOTE_HELLO, json_object());
}

/* ---- its start ------------------------------------------------------------------- */

static bool remote_start(struct a2a_remote *remote, struct err *err)
{
	static const struct a2a_child_events events = {
		.line = remote_on_line, .silent = remote_on_silent, .ended = remote_on_ended,
	};
	char **argv = a2a_runner_argv(remote->server->options, remote->context);
	const bool ok = a2a_child_start(remote->server->loop, (const char *const *)argv, &events,
	                                remote, &remote->child, err);
	unsigned every = remote->server->runner.silence_ms / 8;

	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	free(argv);
	if (!ok)
		return false;
	remote->attempt++;
	remote->started_ms = remote->event_ms = clock_monotonic_ms();
	remote->bytes = 0;
	remote->is_greeted = remote->is_lost = remote->asks = false;
	memset(remote->waiting, 0, sizeof(remote->waiting));
	free(remote->id);
	remote->id = NULL;
	remote->reason[0] = '\0';
	every = every < 100 ? 100 : every;
	remote->timer = loop_timer_start(remote->server->loop, every, every, remote_look, remote);
	remote_ask(remote, REMOTE_HELLO, json_object());
	return true;
}

/* Whether the record is there and no one else has it: a line is added. */
static bool remote_record_is_free(struct a2a_remote *remote)
{
	remote->context->remote = NULL;
	a2a_task_note(remote->task, "hasp", json_pack("{s:I}", "attempts",
	                                              (json_int_t)remote->attempt + 1));
	remote->context->remote = remote;
	return remote->context->file && !json_array_size(remote->context->pending);
}

static void remote_start_again(struct a2a_remote *remote)
{
	struct err err = ERR_INIT;
	json_t *message = remote->message;

	if (remote->has_started) {
		remote->message = a2a_runner_continuation(message);
		remote->has_started = false; /* said once */
		json_decref(message);
	}
	a2a_task_set(remote->task, A2A_TASK_WORKING, a2a_task_message_text(
		remote->task, "The agent of this task was lost: it %s. Attempt %u of %u begins.",
		remote->reason, remote->attempt + 1, remote->server->runner.attempts), NULL);
	if (!remote_start(remote, &err))
		remote_failed(remote, err.message);
}

/* As loop_timer's: the next attempt. */
static void remote_again(void *data)
{
	struct a2a_remote *remote = data;

	remote_stop_timer(remote);
	if (remote_record_is_free(remote))
		remote_start_again(remote);
	else if (++remote->locked_tries < RUNNER_LOCKED_TRIES)
		remote_wait(remote, RUNNER_BACK_OFF_MS);
	else
		remote_failed(remote, "The agent of this task was lost, and its session cannot be "
		              "continued elsewhere: its record is still open there, or cannot be "
		              "written. Edits that were made before are kept.");
}

/* ---- the work -------------------------------------------------------------------- */

static bool remote_first(struct a2a_task *task, const json_t *message, struct a2a_fault *fault)
{
	struct a2a_context *context = a2a_context_find(task->server, task->context);
	struct a2a_remote *remote = mem_alloc(1, sizeof(*remote));
	struct err err = ERR_INIT;

	*remote = (struct a2a_remote){
		.server = task->server, .context = context, .task = task,
		.message = json_copy((json_t *)message), .later = json_array(),
		.next = task->server->tasks->work_data,
	};
	task->server->tasks->work_data = remote;
	task->run = (struct a2a_run *)remote;
	/* Recorded before the agent has the record for itself: it must not start twice. */
	a2a_task_set(task, A2A_TASK_WORKING, NULL, NULL);
	context->remote = remote;
	if (remote_start(remote, &err))
		return true;
	if (task->server->warn)
		task->server->warn(task->server, err.message);
	a2a_fault_set(fault, A2A_FAULT_INTERNAL, "The runner of this server cannot be started.");
	task->run = NULL;
	remote->task = NULL;
	remote_drop(remote);
	return false;
}

/* Whether words for a task under way are such. */
static bool steer_check(const struct a2a_remote *remote, const json_t *message,
                        struct a2a_fault *fault)
{
	struct a2a_content content;
	bool ok = a2a_content_read(message, &content, fault);

	if (ok && json_array_size(content.media))
		ok = a2a_fault_set(fault, A2A_FAULT_CONTENT_TYPE,
		                   "A task that is working takes text only.");
	a2a_content_release(&content);
	if (ok && !remote->id && json_array_size(remote->later) >= RUNNER_LATER_MOST)
		ok = a2a_fault_set(fault, A2A_FAULT_BUSY,
		                   "The task has not started. Retry when its state changes.");
	return ok;
}

/* As a2a_work.say. */
static bool remote_work_say(struct a2a_task *task, const json_t *message, struct a2a_fault *fault)
{
	struct a2a_remote *remote = remote_of(task);

	if (!remote)
		return remote_first(task, message, fault);
	if (!remote->asks && !steer_check(remote, message, fault))
		return false;
	a2a_task_said(task, message);
	if (remote->asks)
		a2a_task_set(task, A2A_TASK_WORKING, NULL, NULL);
	remote->asks = false;
	if (remote->id && !remote->is_lost)
		remote_send(remote, a2a_runner_message(message, remote->context, remote->id));
	else
		json_array_append(remote->later, (json_t *)message);
	return true;
}

/* As a2a_work.cancel. */
static void remote_work_cancel(struct a2a_task *task)
{
	struct a2a_remote *remote = remote_of(task);

	if (remote->is_canceled)
		return;
	remote->is_canceled = true;
	remote->canceled_ms = clock_monotonic_ms();
	if (!remote->child)
		remote_is_lost(remote);
	else if (remote->id && !remote->is_lost)
		remote_send_cancel(remote);
	else if (!remote->is_lost)
		remote_lose(remote, "was canceled before it had started", 0);
}

/* As a2a_work.is_busy. */
static bool remote_work_is_busy(struct a2a_context *context)
{
	return context->remote != NULL;
}

/* As a2a_work.record: the agent elsewhere has the record. */
static bool remote_work_record(struct a2a_context *context, const json_t *line)
{
	(void)context;
	(void)line;
	return false;
}

/* As a2a_work.end: without its input an agent interrupts what it does. */
static void remote_work_end(struct a2a_server *server)
{
	struct a2a_remote *remote = server->tasks->work_data, *next;

	if (!remote)
		a2a_queue_idle(server);
	for (; remote; remote = next) {
		next = remote->next;
		if (remote->task && a2a_task_state_is_over(remote->task->state))
			continue; /* it ends by itself */
		if (remote->child && remote->task && !remote->is_lost)
			remote_lose(remote, "was interrupted: the server is shut down",
			            RUNNER_END_MS);
		else if (!remote->child)
			remote_is_lost(remote);
	}
}

const struct a2a_work a2a_runner_work = {
	.name = "runner", .say = remote_work_say, .cancel = remote_work_cancel,
	.is_busy = remote_work_is_busy,
	.record = remote_work_record, .end = remote_work_end,
};
