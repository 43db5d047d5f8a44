/* SPDX-License-Identifier: Apache-2.0 */
/* What there is: who is asking, the sessions, one of them, its record. */
#include <stdlib.h>
#include <string.h>

#include "agent/session/sessions.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "web/private.h"

/* ---- lists ------------------------------------------------------------------------ */

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
		"{s:o, s:s, s:o, s:O, s:b, s:b, s:b, s:b, s:s, s:i}", "name",
		json_text(span_str(person->name)), "role", web_role_name(person->roles), "roles",
		roles_json(person->roles), "groups", person->groups, "owner", person->is_owner,
		"can_create", person->is_owner && web->options.request, "can_invite",
		person->is_owner, "stats",
		web->options.figures && (person->roles & FRONT_APPROVE), "version", HASP_VERSION,
		"port", web->options.socket ? 0 : http_server_port(web->server)));
}

/* The members that a list and a session's own answer share. */
static json_t *session_json(struct web_session *session, const json_t *facts)
{
	json_t *row = json_pack("{s:s, s:O, s:s, s:s}", "id", session->id, "folder",
	                        json_object_get(facts, "folder"), "state",
	                        web_session_state(session), "updated", session->updated);

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
	json_object_set_new(row, "modes", front_runner_modes(session->runner));
	if (json_object_get(facts, "branch"))
		json_object_set(row, "branch", json_object_get(facts, "branch"));
	if (json_object_get(facts, "level"))
		json_object_set(row, "level", json_object_get(facts, "level"));
	json_object_set_new(row, "fronts", fronts_json(session));
	json_object_set_new(row, "commands", json_incref((json_t *)web_commands_known(session)));
	web_answer(exchange->http, 200, row);
}

/* ---- the record ------------------------------------------------------------------- */

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
