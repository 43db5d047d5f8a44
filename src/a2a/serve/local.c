/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks carried out by sessions of this process: one front for each context, attached to its
 * session as any front is.
 *
 * A session is opened for the first task of its context that begins, and closed when there has been
 * none for a while: `hasp --resume` can then go on with it.  The last lines about a task are
 * written when the session is closed, or by its own record while it is open. */
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/gemini.h"
#include "a2a/serve/tasks.h"
#include "agent/host/host.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "data/json.h"
#include "front/front.h"

enum local_state { LOCAL_LOADING, LOCAL_OPENING, LOCAL_OPEN, LOCAL_CLOSING };

struct local_question {
	struct local_question *next;
	int topic;
	json_t *message;
};

struct a2a_local_session {
	struct a2a_local_session *next; /* of all that are there */
	struct a2a_context *context;
	struct a2a_server *server;
	enum local_state state;
	struct session_request request;
	struct cancel cancel;
	struct front_session *session;
	struct front_runner *runner;
	struct front *front;
	struct loop_waker *waker;
	struct loop_job job;          /* opening, closing */
	struct err err;
	bool is_loaded;
	struct loop_timer *idle;
	struct a2a_task *task;        /* that it carries out; NULL: none */
	pthread_mutex_t lock;         /* of `host` */
	struct host *host;            /* while it is open: for its record */
};

struct a2a_run {
	struct a2a_local_session *session;
	struct a2a_content content;
	struct a2a_publish publish;
	struct front_task attach;     /* of media and the caller's trace, before the prompt */
	char trace[64];               /* as a2a_task.trace */
	bool is_given;                /* the prompt is the session's */
	bool is_started;              /* and under way */
	bool is_canceled;
	struct local_question *questions; /* the first is asked */
	struct loop_timer *patience;  /* for an answer */
};

static void local_take(struct a2a_local_session *session);
static void local_close(struct a2a_local_session *session);

/* ---- its record ------------------------------------------------------------------ */

/* As a2a_work.record. */
static bool local_record(struct a2a_context *context, const json_t *line)
{
	struct a2a_local_session *session = context->session;
	bool ok;

	pthread_mutex_lock(&session->lock);
	ok = session->host && host_record_a2a_task(session->host, line);
	pthread_mutex_unlock(&session->lock);
	return ok;
}

static void local_set_host(struct a2a_local_session *session, struct host *host)
{
	pthread_mutex_lock(&session->lock);
	session->host = host;
	pthread_mutex_unlock(&session->lock);
}

/* As front_options.opened. */
static void local_opened(void *data, struct front_session *session)
{
	local_set_host(data, session_host(session));
}

/* As front_options.closes. */
static void local_closes(void *data, struct front_session *session)
{
	(void)session;
	local_set_host(data, NULL);
}

/* ---- questions ------------------------------------------------------------------- */

static void local_question_free(struct local_question *question)
{
	json_decref(question->message);
	free(question);
}

static void question_reply(struct a2a_run *run, const struct local_question *question,
                           json_t *answer)
{
	struct err ignored = ERR_INIT; /* it was withdrawn, or others have answered it */

	json_object_set(answer, "correlationId",
	                json_object_get(question->message, "correlationId"));
	front_answer(run->session->front, bus_topic_answer((enum bus_topic)question->topic), answer,
	             &ignored);
	json_decref(answer);
}

/* Those that are open get a no. */
static void questions_drop(struct a2a_run *run)
{
	struct local_question *question;

	loop_timer_stop(run->patience);
	run->patience = NULL;
	while ((question = run->questions)) {
		run->questions = question->next;
		question_reply(run, question, a2a_question_no(question->topic));
		local_question_free(question);
	}
}

/* As loop_timer's: no answer is a no. */
static void question_out_of_patience(void *data)
{
	struct a2a_task *task = data;

	questions_drop(task->run);
	a2a_task_set(task, A2A_TASK_WORKING, a2a_task_message_text(
		task, "The question was declined: there was no answer."), NULL);
}

/* Asks the first one, or goes on; `why`: it is asked again, NULL: it is not. */
static void question_next(struct a2a_task *task, const char *why)
{
	struct a2a_run *run = task->run;
	const struct local_question *question = run->questions;
	json_t *parts;

	loop_timer_stop(run->patience);
	run->patience = NULL;
	if (!question) {
		if (a2a_task_state_asks(task->state))
			a2a_task_set(task, A2A_TASK_WORKING, NULL, NULL);
		return;
	}
	run->patience = loop_timer_start(task->server->loop, LIMIT_A2A_QUESTION_MS, 0,
	                                 question_out_of_patience, task);
	if (task->gemini && !why) {
		a2a_gemini_ask(task, (enum bus_topic)question->topic, question->message);
		return;
	}
	parts = a2a_question_parts(question->topic, question->message);
	if (why)
		json_array_insert_new(parts, 0, json_pack("{s:s}", "text", why));
	a2a_task_set(task, a2a_question_state(question->topic, question->message),
	             a2a_task_message(task, parts), NULL);
}

static void question_ask(struct a2a_task *task, const struct front_event *event)
{
	struct a2a_run *run = task->run;
	struct local_question *question = mem_alloc(1, sizeof(*question)), **link;

	*question = (struct local_question){ .topic = (int)event->topic,
		                             .message = json_incref(event->message) };
	if (run->is_canceled || task->server->tasks->questions >= LIMIT_A2A_QUESTIONS ||
	    !a2a_question_is_for_callers(question->topic, question->message)) {
		question_reply(run, question, a2a_question_no(question->topic));
		local_question_free(question);
		return;
	}
	for (link = &run->questions; *link; link = &(*link)->next)
		;
	*link = question;
	if (question == run->questions)
		question_next(task, NULL);
}

/* It is answered, by whichever front, or withdrawn. */
static void question_over(struct a2a_task *task, const json_t *message)
{
	struct a2a_run *run = task->run;
	struct local_question **link = &run->questions, *question;
	const json_t *id = json_object_get(message, "correlationId");

	while ((question = *link) &&
	       !json_equal(json_object_get(question->message, "correlationId"), id))
		link = &question->next;
	if (!question)
		return;
	*link = question->next;
	local_question_free(question);
	if (link == &run->questions)
		question_next(task, NULL);
}

static void local_question_answer(struct a2a_task *task, const json_t *message)
{
	struct a2a_run *run = task->run;
	struct local_question *question = run->questions;
	_cleanup_free_ char *why = NULL;
	json_t *answer = a2a_question_answer(question->topic, question->message, message, &why);

	a2a_task_said(task, message);
	if (answer) {
		run->questions = question->next;
		question_reply(run, question, answer);
		local_question_free(question);
	}
	question_next(task, answer ? NULL : why);
}

/* ---- the task under way ---------------------------------------------------------- */

static void local_run_free(struct a2a_task *task)
{
	struct a2a_run *run = task->run;

	loop_timer_stop(run->patience);
	a2a_content_release(&run->content);
	a2a_publish_release(&run->publish);
	free(run);
	task->run = NULL;
}

/* As loop_timer's. */
static void local_is_idle(void *data)
{
	struct a2a_local_session *session = data;

	loop_timer_stop(session->idle);
	session->idle = NULL;
	local_close(session);
}

static size_t local_idle_count(const struct a2a_server *server)
{
	const struct a2a_local_session *session = server->tasks->work_data;
	size_t count = 0;

	for (; session; session = session->next)
		count += session->idle != NULL;
	return count;
}

/* The task is over (its state is set): the session has its hands free. */
static void run_over(struct a2a_task *task)
{
	struct a2a_local_session *session = task->run->session;

	questions_drop(task->run);
	local_run_free(task);
	session->task = NULL;
	if (session->state != LOCAL_OPEN)
		return;
	session->idle = loop_timer_start(session->server->loop,
	                                 local_idle_count(session->server) < LIMIT_A2A_IDLE ?
	                                         LIMIT_A2A_IDLE_MS : 0, 0, local_is_idle, session);
	a2a_queue_next(session->server);
}

static void run_failed(struct a2a_task *task, const struct err *err)
{
	a2a_task_set(task, task->run->is_canceled ? A2A_TASK_CANCELED : A2A_TASK_FAILED,
	             a2a_task_message_text(task, "%s", err->message), NULL);
	run_over(task);
}

static void local_run_prompt(struct a2a_task *task)
{
	struct a2a_run *run = task->run;
	struct err err = ERR_INIT;

	if (!front_prompt(run->session->front, buf_view(&run->content.piped),
	                  buf_view(&run->content.said), &err))
		run_failed(task, &err);
}

/* As front_task.run. */
static void run_attach(struct front_task *front_task, struct front_session *session)
{
	struct a2a_run *run =
		(struct a2a_run *)((char *)front_task - offsetof(struct a2a_run, attach));

	if (!session_host(session))
		return;
	if (json_array_size(run->content.media))
		host_attach(session_host(session), mem_steal(&run->content.media));
	if (*run->trace)
		host_continue_trace(session_host(session), run->trace);
}

/* The session is open, and does nothing else of ours. */
static void run_begin(struct a2a_task *task)
{
	struct a2a_run *run = task->run;
	struct err err = ERR_INIT;

	run->is_given = true;
	if (run->is_canceled) {
		err_set(&err, ERR_CANCELLED, "The task was canceled.");
		run_failed(task, &err);
		return;
	}
	memcpy(run->trace, task->trace, sizeof(run->trace));
	if (!json_array_size(run->content.media) && !*run->trace) {
		local_run_prompt(task);
		return;
	}
	run->attach.run = run_attach;
	if (!front_give(run->session->front, &run->attach, &err))
		run_failed(task, &err);
}

static void local_shut_down(struct a2a_task *task)
{
	struct err err = ERR_INIT;

	err_set(&err, ERR_CANCELLED, "The server was shut down while this task was under way. Send "
	        "another message with this contextId to continue.");
	run_failed(task, &err);
}

/* What the model did not get any more is its next prompt. */
static bool run_goes_on(struct a2a_task *task, const struct front_event *event)
{
	struct a2a_run *run = task->run;
	const json_t *unsent = json_object_get(event->message, "unsent");

	if (event->end != AGENT_ANSWERED || event->err || run->is_canceled ||
	    !json_string_length(unsent))
		return false;
	buf_clear(&run->content.piped);
	buf_clear(&run->content.said);
	buf_span(&run->content.said, json_span(unsent));
	run->is_started = false;
	local_run_prompt(task);
	return true;
}

static void run_ended(struct a2a_task *task, const struct front_event *event)
{
	struct a2a_local_session *session = task->run->session;

	questions_drop(task->run);
	if (session->state == LOCAL_CLOSING && event->end != AGENT_ANSWERED) {
		local_shut_down(task);
		return;
	}
	if (run_goes_on(task, event))
		return;
	a2a_publish_end(task, &task->run->publish, event, task->run->is_canceled);
	run_over(task);
}

/* ---- events ---------------------------------------------------------------------- */

static void run_interrupt(struct a2a_run *run)
{
	struct err ignored = ERR_INIT;

	if (run->is_started)
		front_interrupt(run->session->front, &ignored);
}

static void run_event(struct a2a_task *task, const struct front_event *event)
{
	struct a2a_run *run = task->run;
	const bool asks = event->kind == FRONT_BUS &&
	                  bus_topic_answer(event->topic) != BUS_NONE;

	if (event->kind == FRONT_STARTED && event->is_own) {
		run->is_started = true;
		if (run->is_canceled)
			run_interrupt(run);
	} else if (event->kind == FRONT_DONE && event->task == &run->attach) {
		run->is_started = false;
		local_run_prompt(task);
	} else if (event->kind == FRONT_ENDED && event->is_own) {
		run_ended(task, event);
	} else if (asks && task->caller->confirms) {
		question_ask(task, event);
	} else if (event->kind == FRONT_BUS && event->topic == BUS_QUESTION_ANSWERED) {
		question_over(task, event->message);
	} else {
		a2a_publish_event(task, &run->publish, event);
	}
}

/* It could not be opened, or is closed. */
static void local_failed(struct a2a_local_session *session, const struct err *err)
{
	if (session->task && session->state == LOCAL_CLOSING)
		local_shut_down(session->task);
	else if (session->task)
		run_failed(session->task, err);
	local_close(session);
}

static void local_event(struct a2a_local_session *session, const struct front_event *event)
{
	struct err ignored = ERR_INIT; /* what waits goes on waiting */

	if (event->kind == FRONT_CLOSED) {
		local_failed(session, event->err);
	} else if (event->kind == FRONT_OPENED && session->state != LOCAL_CLOSING) {
		session->state = LOCAL_OPEN;
		a2a_store_flush(session->context, &ignored);
		if (session->task && !session->task->run->is_given)
			run_begin(session->task);
	} else if (session->task) {
		run_event(session->task, event);
	}
}

static void local_take_all(struct a2a_local_session *session)
{
	struct front_event *event, *next;

	for (event = front_take(session->front); event; event = next) {
		next = event->next;
		local_event(session, event);
		front_event_free(event);
	}
}

/* As loop_waker's. While it is being closed its file is not to be written. */
static void local_woken(void *data)
{
	struct a2a_local_session *session = data;

	if (session->state != LOCAL_CLOSING)
		local_take(session);
}

static void local_take(struct a2a_local_session *session)
{
	if (session->front)
		local_take_all(session);
}

/* ---- closing --------------------------------------------------------------------- */

static void local_free(struct a2a_local_session *session)
{
	const struct a2a_serve_options *options = session->server->options;
	struct a2a_server *server = session->server;
	struct a2a_local_session **link = (void *)&server->tasks->work_data;
	struct err ignored = ERR_INIT;

	while (*link != session)
		link = &(*link)->next;
	*link = session->next;
	if (session->runner && options->detached)
		options->detached(options->data, session->runner);
	front_detach(session->front);
	front_runner_free(session->runner);
	session_free(session->session);
	loop_waker_free(session->waker);
	loop_timer_stop(session->idle);
	cancel_release(&session->cancel);
	pthread_mutex_destroy(&session->lock);
	session->context->session = NULL;
	a2a_store_flush(session->context, &ignored);
	free(session);
	a2a_queue_next(server);
	if (!server->tasks->work_data)
		a2a_queue_idle(server);
}

/* As loop_job.run: hooks of its end may take their time. */
static void local_closing_run(struct loop_job *job)
{
	struct a2a_local_session *session =
		(struct a2a_local_session *)((char *)job - offsetof(struct a2a_local_session, job));

	front_runner_end(session->runner, "exit");
}

/* As loop_job.then. */
static void local_closing_then(struct loop_job *job)
{
	struct a2a_local_session *session =
		(struct a2a_local_session *)((char *)job - offsetof(struct a2a_local_session, job));

	local_take(session);
	if (session->task)
		local_shut_down(session->task);
	local_free(session);
}

static void local_close(struct a2a_local_session *session)
{
	const enum local_state before = session->state;

	if (before == LOCAL_CLOSING)
		return;
	session->state = LOCAL_CLOSING;
	cancel_set(&session->cancel);
	if (before == LOCAL_LOADING) /* when that is done */
		return;
	session->job = (struct loop_job){ .run = local_closing_run, .then = local_closing_then };
	loop_job_start(session->server->loop, session->server->pool, &session->job);
}

/* ---- opening --------------------------------------------------------------------- */

/* As loop_job.run. */
static void local_opening_run(struct loop_job *job)
{
	struct a2a_local_session *session =
		(struct a2a_local_session *)((char *)job - offsetof(struct a2a_local_session, job));

	session->is_loaded = session_load(session->session, &session->err) &&
	                     session_mode_check(session->session, &session->err);
}

/* As front_options.wake. */
static void local_wake(void *data, bool is_piece)
{
	loop_waker_wake(((struct a2a_local_session *)data)->waker, is_piece);
}

static bool local_start(struct a2a_local_session *session, struct err *err)
{
	const struct a2a_serve_options *options = session->server->options;
	const struct front_runner_options runner = { .session = session->session,
		                                     .cancel = &session->cancel };
	const struct front_options front = {
		.name = "a2a", .wake = local_wake, .opened = local_opened, .closes = local_closes,
		.roles = FRONT_DRIVE | (session->context->caller->confirms ? FRONT_APPROVE : 0),
		.data = session,
	};

	if (!front_runner_new(&runner, &session->runner, err))
		return false;
	session->front = front_attach(session->runner, &front);
	if (options->attached)
		options->attached(options->data, session->runner, session->session);
	front_runner_begin(session->runner);
	return true;
}

/* As loop_job.then. */
static void local_opening_then(struct loop_job *job)
{
	struct a2a_local_session *session =
		(struct a2a_local_session *)((char *)job - offsetof(struct a2a_local_session, job));
	const bool closes = session->state == LOCAL_CLOSING;

	session->state = LOCAL_OPENING;
	if (!closes && session->is_loaded && local_start(session, &session->err))
		return;
	if (session->task && closes)
		local_shut_down(session->task);
	else if (session->task)
		run_failed(session->task, &session->err);
	local_free(session);
}

static void local_request(struct a2a_local_session *session)
{
	const struct a2a_serve_options *options = session->server->options;
	const struct a2a_context *context = session->context;
	struct session_request *request = &session->request;

	*request = *options->request;
	request->folder = context->folder;
	request->caller = context->caller->name;
	request->cancel = &session->cancel;
	request->watched = request->checkpoints = true;
	request->interactive = context->caller->confirms || options->attached;
	request->resume_file = context->file;
	request->session_id = context->file ? NULL : context->id;
	request->notices = (struct notices){ 0 };
}

static struct a2a_local_session *local_session_open(struct a2a_context *context, struct err *err)
{
	struct a2a_local_session *session = mem_alloc(1, sizeof(*session));
	struct a2a_server *server = context->server;

	*session = (struct a2a_local_session){ .context = context, .server = server,
		                               .next = server->tasks->work_data,
		                               .err = ERR_INIT };
	if (!cancel_init(&session->cancel, err)) {
		free(session);
		return NULL;
	}
	pthread_mutex_init(&session->lock, NULL);
	session->waker = loop_waker_new(server->loop, local_woken, session);
	local_request(session);
	session->session = session_new(&session->request);
	context->session = session;
	server->tasks->work_data = session;
	session->job = (struct loop_job){ .run = local_opening_run, .then = local_opening_then };
	loop_job_start(server->loop, server->pool, &session->job);
	return session;
}

/* ---- the work -------------------------------------------------------------------- */

static bool local_first(struct a2a_task *task, const json_t *message, struct a2a_fault *fault)
{
	struct a2a_context *context = a2a_context_find(task->server, task->context);
	struct a2a_run *run = mem_alloc(1, sizeof(*run));
	struct err err = ERR_INIT;

	a2a_publish_init(&run->publish);
	task->run = run;
	if (!a2a_content_read(message, &run->content, fault)) {
		local_run_free(task);
		return false;
	}
	/* Recorded before the session has its file for itself: it is not to begin twice. */
	a2a_task_set(task, A2A_TASK_WORKING, NULL, NULL);
	run->session = context->session ? context->session : local_session_open(context, &err);
	if (!run->session) {
		a2a_fault_of(fault, &err);
		local_run_free(task);
		return false;
	}
	loop_timer_stop(run->session->idle);
	run->session->idle = NULL;
	run->session->task = task;
	if (run->session->state == LOCAL_OPEN)
		run_begin(task);
	return true;
}

/* Words for a task under way. */
static bool local_steer(struct a2a_task *task, const json_t *message, struct a2a_fault *fault)
{
	struct a2a_run *run = task->run;
	struct a2a_content more;
	struct err err = ERR_INIT;
	bool ok = a2a_content_read(message, &more, fault);

	if (ok && json_array_size(more.media))
		ok = a2a_fault_set(fault, A2A_FAULT_CONTENT_TYPE,
		                   "A task that is working takes text only.");
	if (ok && !run->is_given) { /* it belongs to the prompt that is yet to come */
		buf_str(&run->content.said, "\n\n");
		buf_span(&run->content.said, buf_view(&more.said));
		buf_span(&run->content.piped, buf_view(&more.piped));
	} else if (ok) {
		buf_span(&more.piped, buf_view(&more.said));
		if (!front_steer(run->session->front, buf_view(&more.piped), &err))
			ok = a2a_fault_set(fault, A2A_FAULT_UNSUPPORTED,
			                   "The task cannot take a message now. Retry when its "
			                   "state changes.");
	}
	a2a_content_release(&more);
	if (ok)
		a2a_task_said(task, message);
	return ok;
}

/* As a2a_work.say. */
static bool local_say(struct a2a_task *task, const json_t *message, struct a2a_fault *fault)
{
	if (!task->run)
		return local_first(task, message, fault);
	if (task->run->questions) {
		local_question_answer(task, message);
		return true;
	}
	return local_steer(task, message, fault);
}

/* As a2a_work.cancel. */
static void local_cancel(struct a2a_task *task)
{
	struct a2a_run *run = task->run;

	if (run->is_canceled)
		return;
	run->is_canceled = true;
	questions_drop(run);
	run_interrupt(run);
}

/* As a2a_work.is_busy. */
static bool local_is_busy(struct a2a_context *context)
{
	return context->session &&
	       (context->session->task || context->session->state == LOCAL_CLOSING);
}

/* As a2a_work.end. */
static void local_end(struct a2a_server *server)
{
	struct a2a_local_session *session = server->tasks->work_data, *next;

	if (!session)
		a2a_queue_idle(server);
	for (; session; session = next) {
		next = session->next;
		local_close(session);
	}
}

const struct a2a_work a2a_local_work = {
	.name = "local", .say = local_say, .cancel = local_cancel, .is_busy = local_is_busy,
	.record = local_record,	.end = local_end,
};
