/* SPDX-License-Identifier: Apache-2.0 */
/* A session that pages may show: its state, its people's fronts, lists.  The owner's front is
 * attached as long as the session is, and follows its state; another person's from the first time
 * that they come until they may not any more, so that a question waits while they reload. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "web/private.h"

/* ---- the state -------------------------------------------------------------------- */

static void keep_question(struct web_session *session, const struct front_event *event)
{
	const char *id = json_string_value(json_object_get(event->message, "correlationId"));

	if (!id)
		return;
	if (bus_topic_answer(event->topic) != BUS_NONE)
		json_object_set_new(session->questions, id, json_true());
	else if (event->topic != BUS_QUESTION_VOTE)
		json_object_del(session->questions, id);
}

static void keep_event(struct web_session *session, const struct front_event *event)
{
	if (event->kind == FRONT_BUS)
		keep_question(session, event);
	if (event->kind == FRONT_BUS && event->topic == BUS_MCP_LISTED)
		web_commands_look_again(session);
	if (event->kind == FRONT_DONE && event->task == &session->look)
		web_commands_looked(session);
	if (event->kind == FRONT_STARTED || event->ends)
		session->is_working = event->kind == FRONT_STARTED;
	if (event->kind == FRONT_OPENED)
		session->is_opened = true;
	if (event->kind == FRONT_OVER || event->kind == FRONT_CLOSED)
		session->is_over = true;
	if (event->kind == FRONT_OVER || event->ends)
		json_object_clear(session->questions);
	if (event->last)
		session->last = event->last;
}

/* As loop_waker.woken. */
static void keeper_take(void *data)
{
	struct web_session *session = data;
	struct front_event *event, *next;

	for (event = front_take(session->keeper); event; event = next) {
		next = event->next;
		keep_event(session, event);
		front_event_free(event);
	}
	clock_timestamp(session->updated);
}

/* As front_options.wake. */
static void web_keeper_wake(void *data, bool is_piece)
{
	loop_waker_wake(((struct web_session *)data)->waker, is_piece);
}

const char *web_session_state(const struct web_session *session)
{
	return session->is_over ? "closed" :
	       json_object_size(session->questions) ? "question" :
	       session->is_working && session->is_opened ? "working" :
	       session->is_opened ? "idle" : "opening";
}

/* ---- fronts ----------------------------------------------------------------------- */

/* Each person but the owner is a reviewer, with one vote. */
static struct web_seat *seat_new(struct web_session *session, struct web_person *person,
                                 const struct front_options *given, struct err *err)
{
	const struct front_person reviewer = { .name = person->name, .groups = person->groups };
	struct front_options options = *given;
	struct web_seat *seat;
	struct front *front;

	options.reviewer = person->is_owner ? NULL : &reviewer;
	front = front_attach(session->runner, &options);

	if (!front) {
		err_set(err, ERR_LIMIT_REACHED, "%d fronts are attached to this session.",
		        LIMIT_FRONTS);
		return NULL;
	}
	seat = mem_alloc(1, sizeof(*seat));
	*seat = (struct web_seat){ .next = session->seats, .person = person, .front = front };
	session->seats = seat;
	return seat;
}

struct web_seat *web_seat_of(struct web_session *session, struct web_person *person,
                             struct err *err)
{
	for (struct web_seat *seat = session->seats; seat; seat = seat->next)
		if (seat->person == person)
			return seat;
	return seat_new(session, person, &(struct front_options){ .name = person->name,
		.roles = person->roles }, err);
}

static void seat_remove(struct web_session *session, struct web_seat *seat)
{
	struct web_seat **link = &session->seats;

	while (*link != seat)
		link = &(*link)->next;
	*link = seat->next;
	front_detach(seat->front);
	free(seat);
}

static void seat_rest(struct web_session *session, struct web_seat *seat)
{
	if (--seat->tasks == 0 && seat->is_left)
		seat_remove(session, seat);
}

/* One whose task runs is waited for later: that may take its time. */
static void seats_leave(struct web_session *session, const struct web_person *person)
{
	struct web_seat *seat, *next;

	for (seat = session->seats; seat; seat = next) {
		next = seat->next;
		if (seat->person != person)
			continue;
		seat->person = NULL;
		seat->is_left = true;
		if (!seat->tasks)
			seat_remove(session, seat);
	}
}

void web_person_leave(struct web_person *person)
{
	for (struct web_session *session = person->web->sessions; session;
	     session = session->next) {
		struct web_follower *follower, *next;

		for (follower = session->followers; follower; follower = next) {
			next = follower->next;
			if (follower->person == person)
				follower->end(follower, true);
		}
		seats_leave(session, person);
		front_uninvite(session->runner, person->name);
	}
}

/* A question may wait for them before they have come. */
static void session_expect(struct web_session *session, const struct web_person *person)
{
	if (!person->is_owner && person->roles & FRONT_APPROVE)
		front_invite(session->runner, &(struct front_person){ .name = person->name,
			.groups = person->groups });
}

void web_person_join(struct web_person *person)
{
	for (struct web_session *session = person->web->sessions; session;
	     session = session->next)
		session_expect(session, person);
}

/* ---- tasks ------------------------------------------------------------------------ */

/* As web_later.closed. */
static void web_task_closed(struct web_later *later)
{
	((struct web_task *)later)->request = NULL;
}

/* As front_task.run. */
static void web_task_run(struct front_task *front_task, struct front_session *session)
{
	struct web_task *task =
		(struct web_task *)((char *)front_task - offsetof(struct web_task, task));

	task->run(task, session);
	atomic_store(&task->has_run, true);
	loop_post(task->loop, &task->ended);
}

static void web_task_end(struct web_task *task, bool has_run)
{
	if (task->request)
		http_request_set_data(task->request, NULL);
	task->done(task, has_run);
}

/* The session may have been removed: then tasks_drop has marked the task. */
static void web_task_ended(struct loop_task *loop_task)
{
	struct web_task *task =
		(struct web_task *)((char *)loop_task - offsetof(struct web_task, ended));

	if (task->session) {
		struct web_task **link = &task->session->tasks;

		while (*link != task)
			link = &(*link)->next;
		*link = task->next;
		seat_rest(task->session, task->seat);
	}
	web_task_end(task, true);
}

void web_task_give(struct web_exchange *exchange, struct web_task *task)
{
	struct web_session *session = exchange->session;
	struct err err = ERR_INIT;

	task->later.closed = web_task_closed;
	task->task.run = web_task_run;
	task->ended.run = web_task_ended;
	task->session = session;
	task->loop = exchange->web->loop;
	task->request = exchange->http;
	task->seat = web_seat_of(session, exchange->person, &err);
	if (task->seat && front_give(task->seat->front, &task->task, &err)) {
		task->next = session->tasks;
		session->tasks = task;
		task->seat->tasks++;
		http_request_set_data(exchange->http, &task->later);
		return;
	}
	web_refuse(exchange->http, &err);
	task->request = NULL;
	task->done(task, false);
}

/* ---- given and taken -------------------------------------------------------------- */

struct web_session *web_session_add(struct web *web, struct front_runner *runner,
                                    struct front_session *session, struct err *err)
{
	struct web_session *added, **link = &web->sessions;
	struct web_seat *seat;

	if (web->session_count >= LIMIT_WEB_SESSIONS) {
		err_set(err, ERR_LIMIT_REACHED, "%d sessions are open. Close one first.",
		        LIMIT_WEB_SESSIONS);
		return NULL;
	}
	added = mem_alloc(1, sizeof(*added));
	*added = (struct web_session){ .web = web, .runner = runner, .session = session,
		                       .questions = json_object(),
		                       .commands = web_commands(session) };
	snprintf(added->id, sizeof(added->id), "%u", ++web->last_session);
	clock_timestamp(added->updated);
	added->waker = loop_waker_new(web->loop, keeper_take, added);
	seat = seat_new(added, web->people, &(struct front_options){
		.name = web->people->name, .roles = FRONT_ALL, .wake = web_keeper_wake,
		.opened = web_commands_look, .data = added, .output_tail = 1 }, err);
	if (!seat) {
		loop_waker_free(added->waker);
		json_decref(added->questions);
		json_decref(added->commands);
		free(added);
		return NULL;
	}
	added->keeper = seat->front;
	while (*link)
		link = &(*link)->next;
	*link = added;
	web->session_count++;
	for (struct web_person *person = web->people; person; person = person->next)
		session_expect(added, person);
	return added;
}

void web_session_remove(struct web_session *session)
{
	struct web *web = session->web;
	struct web_session **link = &web->sessions;

	while (*link != session)
		link = &(*link)->next;
	*link = session->next;
	web->session_count--;
	while (session->followers)
		session->followers->end(session->followers, false);
	for (struct web_seat *seat = session->seats, *next; seat; seat = next) {
		next = seat->next;
		front_detach(seat->front);
	}
	/* Those that will not run any more. */
	while (session->tasks) {
		struct web_task *task = session->tasks;

		session->tasks = task->next;
		task->session = NULL;
		/* Else its end is posted, and frees it. */
		if (!atomic_load(&task->has_run))
			web_task_end(task, false);
	}
	while (session->seats) {
		struct web_seat *seat = session->seats;

		session->seats = seat->next;
		free(seat);
	}
	loop_waker_free(session->waker);
	json_decref(session->questions);
	json_decref(session->commands);
	json_decref(atomic_load(&session->looked_up));
	free(session);
}

struct web_session *web_session_find(struct web *web, struct span id)
{
	for (struct web_session *session = web->sessions; session; session = session->next)
		if (span_eq(span_str(session->id), id))
			return session;
	return NULL;
}
