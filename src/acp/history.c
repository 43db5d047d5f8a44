/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded sessions: listed and deleted, and one that is loaded shown again from its record. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acp/private.h"
#include "agent/session/sessions.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/home.h"
#include "data/json.h"

enum {
	PAGE_SESSIONS = 50,          /* of one answer */
	PROJECTS_DEPTH = 8,          /* of projects.json */
	PROJECTS_MAX = 4096,
};

/* A request that looks at files, on a thread of the pool. */
struct acp_lookup {
	struct acp_work work;
	struct acp_request *request;
	size_t from;                 /* the page's first */
	json_t *sessions;            /* owned; those of the list, the latest first */
	struct err err;              /* ERR_NONE: all went well */
};

/* ---- the projects ---------------------------------------------------------------- */

/* The paths of all projects that have sessions, as keys; a new reference, never NULL. */
static json_t *acp_projects(void)
{
	struct home *home = NULL;
	struct err ignored = ERR_INIT;
	json_auto_t *all = NULL;
	_cleanup_free_ char *path = NULL;

	if (!home_open("/", &home, &ignored))
		return json_object();
	path = path_join(home_gemini(home), "projects.json");
	all = home_object_read(path, PROJECTS_DEPTH, &ignored);
	home_free(home);
	return json_incref(json_object_get(all, "projects")) ?: json_object();
}

/* Calls `look` for the home of each project until it returns false; `only`: of this one. */
static void acp_each_project(const char *only, bool (*look)(struct acp_lookup *lookup,
                                                            struct home *home),
                             struct acp_lookup *lookup)
{
	json_auto_t *projects = only ? json_object() : acp_projects();
	const char *path;
	json_t *slug;
	bool more = true;

	if (only)
		json_object_set_new_nocheck(projects, only, json_null());
	json_object_foreach(projects, path, slug) {
		struct home *home = NULL;
		struct err ignored = ERR_INIT;

		if (!more || *path != '/' || !home_open(path, &home, &ignored))
			continue;
		more = !home_find(home) || look(lookup, home);
		home_free(home);
	}
}

static void acp_lookup_free(struct acp_lookup *lookup)
{
	json_decref(lookup->sessions);
	free(lookup);
}

static void acp_lookup_start(struct acp_request *request, size_t from,
                             void (*run)(struct acp_work *work),
                             void (*then)(struct acp_work *work))
{
	struct acp_lookup *lookup = mem_alloc(1, sizeof(*lookup));

	*lookup = (struct acp_lookup){ .request = request, .from = from,
		                       .sessions = json_array(), .err = ERR_INIT,
		                       .work = { .run = run, .then = then } };
	acp_work_start(request->acp, &lookup->work);
}

/* ---- session/list ---------------------------------------------------------------- */

static bool acp_list_project(struct acp_lookup *lookup, struct home *home)
{
	json_auto_t *rows = sessions_browse(home, SPAN(""), NULL);
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		json_t *info = json_pack("{s:O, s:o}", "sessionId", json_object_get(row, "id"),
		                         "cwd", json_text(span_str(home_project(home))));

		if (!info)
			continue;
		if (json_string_length(json_object_get(row, "title")))
			json_object_set(info, "title", json_object_get(row, "title"));
		if (json_string_length(json_object_get(row, "time")))
			json_object_set(info, "updatedAt", json_object_get(row, "time"));
		json_array_append_new(lookup->sessions, info);
	}
	return json_array_size(lookup->sessions) < PROJECTS_MAX;
}

static int acp_later_first(const void *a, const void *b)
{
	const char *first = acp_text(*(json_t *const *)a, "updatedAt");
	const char *second = acp_text(*(json_t *const *)b, "updatedAt");

	return strcmp(second ? second : "", first ? first : "");
}

/* As acp_work.run. */
static void acp_list_run(struct acp_work *work)
{
	struct acp_lookup *lookup = (struct acp_lookup *)work;
	const char *folder = acp_text(lookup->request->params, "cwd");
	_cleanup_free_ char *real = folder ? realpath(folder, NULL) : NULL;
	_cleanup_free_ json_t **rows = NULL;
	size_t count;

	acp_each_project(real ? real : folder, acp_list_project, lookup);
	count = json_array_size(lookup->sessions);
	rows = mem_alloc(count + 1, sizeof(*rows));
	for (size_t i = 0; i < count; i++)
		rows[i] = json_incref(json_array_get(lookup->sessions, i));
	qsort(rows, count, sizeof(*rows), acp_later_first);
	json_array_clear(lookup->sessions);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(lookup->sessions, rows[i]);
}

/* As acp_work.then: a page of it. */
static void acp_list_then(struct acp_work *work)
{
	struct acp_lookup *lookup = (struct acp_lookup *)work;
	const size_t end = lookup->from + PAGE_SESSIONS;
	json_t *page = json_array(), *result;
	char cursor[32];

	for (size_t i = lookup->from; i < end && i < json_array_size(lookup->sessions); i++)
		json_array_append(page, json_array_get(lookup->sessions, i));
	result = json_pack("{s:o}", "sessions", page);
	if (end < json_array_size(lookup->sessions)) {
		snprintf(cursor, sizeof(cursor), "from-%zu", end);
		json_object_set_new(result, "nextCursor", json_string(cursor));
	}
	acp_answer(lookup->request, result);
	acp_lookup_free(lookup);
}

void acp_do_list(struct acp_request *request)
{
	const char *cursor = acp_text(request->params, "cursor");
	const char *folder = acp_text(request->params, "cwd");
	unsigned from = 0;
	char end;

	if (cursor && sscanf(cursor, "from-%9u%c", &from, &end) != 1)
		acp_refuse(request, RPC_INVALID_PARAMS, "params.cursor is not one of this agent.");
	else if (folder && *folder != '/')
		acp_refuse(request, RPC_INVALID_PARAMS, "params.cwd must be an absolute path.");
	else
		acp_lookup_start(request, from, acp_list_run, acp_list_then);
}

/* ---- session/delete -------------------------------------------------------------- */

static bool acp_delete_in_project(struct acp_lookup *lookup, struct home *home)
{
	const char *id = acp_text(lookup->request->params, "sessionId");

	if (!sessions_have(home, id))
		return true;
	sessions_delete(home, id, &lookup->err);
	return false;
}

/* As acp_work.run. */
static void acp_delete_run(struct acp_work *work)
{
	acp_each_project(NULL, acp_delete_in_project, (struct acp_lookup *)work);
}

/* As acp_work.then. One that there is not is deleted, too. */
static void acp_delete_then(struct acp_work *work)
{
	struct acp_lookup *lookup = (struct acp_lookup *)work;

	if (lookup->err.code == ERR_NONE)
		acp_answer(lookup->request, NULL);
	else
		acp_refuse_err(lookup->request, &lookup->err);
	acp_lookup_free(lookup);
}

void acp_do_delete(struct acp_request *request)
{
	acp_lookup_start(request, 0, acp_delete_run, acp_delete_then);
}

/* ---- a session that is loaded ------------------------------------------------------ */

/* Reads its record, on the session's thread. */
struct acp_history {
	struct front_task task;
	json_t *messages, *prompts; /* owned */
	struct err err;
};

/* As front_task.run. */
static void acp_history_read(struct front_task *task, struct front_session *session)
{
	struct acp_history *history = (struct acp_history *)task;
	struct host *host = session_host(session);

	if (!host)
		return;
	history->messages = host_messages(host, &history->err);
	history->prompts = host_prompts(host, &history->err);
}

static void acp_history_free(struct acp_history *history)
{
	json_decref(history->messages);
	json_decref(history->prompts);
	free(history);
}

void acp_history_drop(struct acp_session *session)
{
	if (session->history)
		acp_history_free((struct acp_history *)session->history);
	session->history = NULL;
}

bool acp_history_begin(struct acp_session *session, struct err *err)
{
	struct acp_history *history = mem_alloc(1, sizeof(*history));

	*history = (struct acp_history){ .task.run = acp_history_read, .err = ERR_INIT };
	session->history = &history->task;
	if (front_give(session->front, &history->task, err))
		return true;
	session->history = NULL;
	acp_history_free(history);
	return false;
}

static void acp_history_text(struct acp_session *session, const char *kind, const json_t *id,
                             struct span text)
{
	if (!span_is_blank(text))
		acp_update_now(session, json_pack(
			"{s:s, s:O, s:{s:s, s:o}}", "sessionUpdate", kind, "messageId", id,
			"content", "type", "text", "text", json_text(text)));
}

/* What the user said: not the files that went along. */
static void acp_history_user(struct acp_session *session, const json_t *message,
                             const json_t *prompts)
{
	const json_t *id = json_object_get(message, "id"), *content, *prompt;
	size_t i;

	json_array_foreach((json_t *)prompts, i, prompt)
		if (json_equal(json_object_get(prompt, "id"), id)) {
			acp_history_text(session, "user_message_chunk", id,
			                 json_span(json_object_get(prompt, "text")));
			return;
		}
	content = json_object_get(message, "content");
	if (json_is_array(content))
		content = json_object_get(json_array_get(content, 0), "text");
	acp_history_text(session, "user_message_chunk", id, json_span(content));
}

static void acp_history_thoughts(struct acp_session *session, const json_t *message)
{
	const json_t *id = json_object_get(message, "id"), *thought;
	size_t i;

	json_array_foreach(json_object_get(message, "thoughts"), i, thought) {
		const char *subject = acp_text(thought, "subject");
		_cleanup_free_ char *text = mem_printf(
			"%s%s%s%s", subject && *subject ? "**" : "", subject ? subject : "",
			subject && *subject ? "**\n" : "", acp_text(thought, "description") ?: "");

		acp_history_text(session, "agent_thought_chunk", id, span_str(text));
	}
}

static void acp_history_model(struct acp_session *session, const json_t *message)
{
	const json_t *content = json_object_get(message, "content"), *call, *part;
	size_t i;

	acp_history_thoughts(session, message);
	if (json_is_string(content))
		acp_history_text(session, "agent_message_chunk", json_object_get(message, "id"),
		                 json_span(content));
	json_array_foreach((json_t *)content, i, part)
		acp_history_text(session, "agent_message_chunk", json_object_get(message, "id"),
		                 json_span(json_object_get(part, "text")));
	json_array_foreach(json_object_get(message, "toolCalls"), i, call) {
		json_t *shown = acp_call_recorded(session, call);

		if (!shown)
			continue;
		json_object_set_new(shown, "sessionUpdate", json_string("tool_call"));
		acp_update_now(session, shown);
	}
}

bool acp_history_done(struct acp_session *session, const struct front_event *event,
                      struct err *err)
{
	struct acp_history *history = (struct acp_history *)event->task;
	json_t *message;
	size_t i;
	bool ok = history->messages != NULL;

	session->history = NULL;
	json_array_foreach(history->messages, i, message) {
		const char *type = acp_text(message, "type");

		if (type && !strcmp(type, "user"))
			acp_history_user(session, message, history->prompts);
		else if (type && !strcmp(type, "gemini"))
			acp_history_model(session, message);
	}
	if (!ok)
		*err = history->err;
	acp_history_free(history);
	return ok;
}
