/* SPDX-License-Identifier: Apache-2.0 */
/* A session that pages may show: its state, its people's fronts, lists.  The owner's front is
 * attached as long as the session is, and follows its state; another person's from the first time
 * that they come until they may not any more, so that a question waits while they reload. */
#include <stdlib.h>
#include <string.h>

#include "agent/session/sessions.h"
#include "agent/setup/prepare.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "web/private.h"

/* ---- bells ------------------------------------------------------------------------------- */

static void bell_run(struct loop_task *task)
{
	struct web_bell *bell = (struct web_bell *)task;

	atomic_store(&bell->is_rung, false);
	if (bell->is_dead)
		free(bell);
	else
		bell->ring(bell->data);
}

struct web_bell *web_bell_new(struct loop *loop, void (*ring)(void *data), void *data)
{
	struct web_bell *bell = mem_alloc(1, sizeof(*bell));

	*bell = (struct web_bell){ .task.run = bell_run, .loop = loop, .ring = ring,
		                   .data = data };
	return bell;
}

void web_bell_free(struct web_bell *bell)
{
	if (!bell)
		return;
	bell->is_dead = true;
	if (!atomic_load(&bell->is_rung))
		free(bell);
}

void web_bell_ring(void *data, bool is_piece)
{
	struct web_bell *bell = data;

	(void)is_piece;
	if (!atomic_exchange(&bell->is_rung, true))
		loop_post(bell->loop, &bell->task);
}

/* ---- the state --------------------------------------------------------------------------- */

static void keep_question(struct web_session *session, const struct front_event *event)
{
	const char *id = json_string_value(json_object_get(event->message, "correlationId"));

	if (!id)
		return;
	if (bus_topic_answer(event->topic) != BUS_NONE)
		json_object_set_new(session->questions, id, json_true());
	else
		json_object_del(session->questions, id);
}

static void keep_event(struct web_session *session, const struct front_event *event)
{
	if (event->kind == FRONT_BUS)
		keep_question(session, event);
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

/* As web_bell.ring. */
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

static const char *state_of(const struct web_session *session)
{
	return session->is_over ? "closed" :
	       json_object_size(session->questions) ? "question" :
	       session->is_working && session->is_opened ? "working" :
	       session->is_opened ? "idle" : "opening";
}

/* ---- fronts ------------------------------------------------------------------------------- */

static struct web_seat *seat_new(struct web_session *session, struct web_person *person,
                                 const struct front_options *options, struct err *err)
{
	struct front *front = front_attach(session->runner, options);
	struct web_seat *seat;

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

void web_seat_rest(struct web_session *session, struct web_seat *seat)
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
		web_streams_drop(session, person);
		seats_leave(session, person);
	}
}

/* ---- given and taken ---------------------------------------------------------------------- */

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
		                       .questions = json_object() };
	snprintf(added->id, sizeof(added->id), "%u", ++web->last_session);
	clock_timestamp(added->updated);
	added->bell = web_bell_new(web->loop, keeper_take, added);
	seat = seat_new(added, web->people, &(struct front_options){
		.name = web->people->name, .roles = FRONT_ALL, .wake = web_bell_ring,
		.data = added->bell, .output_tail = 1 }, err);
	if (!seat) {
		web_bell_free(added->bell);
		json_decref(added->questions);
		free(added);
		return NULL;
	}
	added->keeper = seat->front;
	while (*link)
		link = &(*link)->next;
	*link = added;
	web->session_count++;
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
	web_streams_end(session);
	for (struct web_seat *seat = session->seats, *next; seat; seat = next) {
		next = seat->next;
		front_detach(seat->front);
	}
	web_tasks_drop(session);
	while (session->seats) {
		struct web_seat *seat = session->seats;

		session->seats = seat->next;
		free(seat);
	}
	web_bell_free(session->bell);
	json_decref(session->questions);
	free(session);
}

struct web_session *web_session_find(struct web *web, struct span id)
{
	for (struct web_session *session = web->sessions; session; session = session->next)
		if (span_eq(span_str(session->id), id))
			return session;
	return NULL;
}

/* ---- lists --------------------------------------------------------------------------------- */

static json_t *roles_json(unsigned roles)
{
	json_t *list = json_array();

	if (roles & FRONT_COMMENT)
		json_array_append_new(list, json_string("comment"));
	if (roles & FRONT_APPROVE)
		json_array_append_new(list, json_string("approve"));
	if (roles & FRONT_DRIVE)
		json_array_append_new(list, json_string("drive"));
	return list;
}

void web_do_me(struct web_exchange *exchange)
{
	const struct web_person *person = exchange->person;
	const struct web *web = exchange->web;

	web_answer(exchange->http, 200, json_pack(
		"{s:o, s:s, s:o, s:O, s:b, s:b, s:b, s:s, s:i}", "name",
		json_text(span_str(person->name)), "role", web_role_name(person->roles), "roles",
		roles_json(person->roles), "groups", person->groups, "owner", person->is_owner,
		"can_create", person->is_owner && web->options.request, "can_invite",
		person->is_owner, "version", HASP_VERSION, "port",
		web->options.socket ? 0 : http_server_port(web->server)));
}

/* The members that a list and a session's own answer share. */
static json_t *session_json(struct web_session *session, const json_t *facts)
{
	json_t *row = json_pack("{s:s, s:O, s:s, s:s}", "id", session->id, "folder",
	                        json_object_get(facts, "folder"), "state", state_of(session),
	                        "updated", session->updated);

	if (json_object_get(facts, "session"))
		json_object_set(row, "session", json_object_get(facts, "session"));
	if (json_object_get(facts, "model"))
		json_object_set(row, "model", json_object_get(facts, "model"));
	if (json_object_get(facts, "topic"))
		json_object_set(row, "title", json_object_get(facts, "topic"));
	return row;
}

void web_do_sessions(struct web_exchange *exchange)
{
	json_t *list = json_array();

	for (struct web_session *session = exchange->web->sessions; session;
	     session = session->next) {
		json_auto_t *facts = front_runner_facts(session->runner);

		json_array_append_new(list, session_json(session, facts));
	}
	if (exchange->person->is_owner && exchange->web->options.request)
		web_own_list(exchange, list);
	else
		web_answer(exchange->http, 200, list);
}

static json_t *modes_json(const struct web_session *session)
{
	const struct settings *settings = session_settings(session->session);
	json_t *list = json_array();

	for (enum approval_mode mode = 0; mode < MODE_COUNT; mode++) {
		struct err ignored = ERR_INIT;

		if (prepare_mode_check(settings, mode, &ignored))
			json_array_append_new(list, json_string(prepare_mode_word(mode)));
	}
	return list;
}

/* Fronts with their roles in words: those of this room's streams are not people. */
static json_t *fronts_json(const struct web_session *session)
{
	json_auto_t *fronts = front_runner_fronts(session->runner);
	json_t *list = json_array(), *front;
	size_t i;

	json_array_foreach(fronts, i, front) {
		const char *name = json_string_value(json_object_get(front, "name"));

		if (name && *name && *name != ' ')
			json_array_append_new(list, json_pack(
				"{s:s, s:o}", "name", name, "roles", roles_json(
					(unsigned)json_integer_value(
						json_object_get(front, "roles")))));
	}
	return list;
}

void web_do_session(struct web_exchange *exchange)
{
	struct web_session *session = exchange->session;
	json_auto_t *facts = front_runner_facts(session->runner);
	json_t *row = session_json(session, facts);
	const char *mode = json_string_value(json_object_get(facts, "mode"));
	enum approval_mode parsed = MODE_DEFAULT;

	if (mode)
		policy_mode_parse(mode, &parsed);
	json_object_set_new(row, "mode", json_string(prepare_mode_word(parsed)));
	json_object_set_new(row, "modes", modes_json(session));
	if (json_object_get(facts, "branch"))
		json_object_set(row, "branch", json_object_get(facts, "branch"));
	if (json_object_get(facts, "level"))
		json_object_set(row, "level", json_object_get(facts, "level"));
	json_object_set_new(row, "fronts", fronts_json(session));
	json_object_set_new(row, "commands", web_commands());
	web_answer(exchange->http, 200, row);
}

/* ---- the record ---------------------------------------------------------------------------- */

struct record_reading {
	struct web_job job; /* the first member */
	char *file;
	uint64_t last;
	struct session_read read;
	bool ok;
	struct err err;
};

/* As web_job.run. */
static void reading_run(struct web_job *job)
{
	struct record_reading *reading = (struct record_reading *)job;

	reading->ok = session_read_file(reading->file, &reading->read, &reading->err);
}

/* As web_job.then. */
static void reading_then(struct web_job *job)
{
	struct record_reading *reading = (struct record_reading *)job;

	if (job->request && reading->ok)
		web_answer(job->request, 200, json_pack("{s:O, s:I}", "messages",
		                                        reading->read.messages, "last",
		                                        (json_int_t)reading->last));
	else if (job->request)
		web_refuse(job->request, &reading->err);
	if (reading->ok)
		session_read_release(&reading->read);
	free(reading->file);
	free(reading);
}

void web_do_record(struct web_exchange *exchange)
{
	struct web_session *session = exchange->session;
	json_auto_t *facts = front_runner_facts(session->runner);
	const char *file = json_string_value(json_object_get(facts, "record"));
	struct record_reading *reading;

	/* Nothing has been said yet, or nothing is kept. */
	if (!file || !*file || !session_has_messages(file)) {
		web_answer(exchange->http, 200, json_pack("{s:[], s:I}", "messages", "last",
		                                          (json_int_t)0));
		return;
	}
	reading = mem_alloc(1, sizeof(*reading));
	*reading = (struct record_reading){
		.job = { .run = reading_run, .then = reading_then },
		.file = mem_strdup(file), .last = session->last, .err = ERR_INIT,
	};
	web_job_give(exchange, &reading->job);
}
