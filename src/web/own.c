/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that the server opens itself: new ones, and recorded ones that go on. */
#include <stdlib.h>
#include <string.h>

#include "agent/session/sessions.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/home.h"
#include "data/json.h"
#include "web/private.h"

enum { PROJECTS_DEPTH = 8 };

struct web_own {
	struct session_request request;
	char *folder, *resume;       /* owned */
	struct cancel cancel;
	struct front_session *session;
	struct front_runner *runner;
	bool is_closing;
};

static void own_free(struct web_own *own)
{
	front_runner_free(own->runner);
	session_free(own->session);
	cancel_release(&own->cancel);
	free(own->folder);
	free(own->resume);
	free(own);
}

/* ---- opening ---------------------------------------------------------------------- */

struct own_opening {
	struct web_job job;          /* the first member */
	struct web_own *own;
	bool ok;
	struct err err;
};

/* As web_job.run. */
static void opening_run(struct web_job *job)
{
	struct own_opening *opening = (struct own_opening *)job;
	struct web_own *own = opening->own;
	_cleanup_free_ char *file = NULL;

	opening->ok = session_load(own->session, &opening->err) &&
	              session_mode_check(own->session, &opening->err) &&
	              (!own->resume || sessions_find_in(session_folder(own->session),
	                                                own->resume, &file, &opening->err));
}

/* The session's thread and its place among the others. */
static struct web_session *own_begin(struct web *web, struct web_own *own, struct err *err)
{
	const struct front_runner_options options = {
		.session = own->session, .resume = own->resume, .cancel = &own->cancel,
	};
	struct web_session *session;

	if (!front_runner_new(&options, &own->runner, err))
		return NULL;
	session = web_session_add(web, own->runner, own->session, err);
	if (!session)
		return NULL;
	session->own = own;
	front_runner_begin(own->runner);
	return session;
}

/* As web_job.then. */
static void opening_then(struct web_job *job)
{
	struct own_opening *opening = (struct own_opening *)job;
	struct web_session *session = NULL;

	if (opening->ok && !job->web->is_ending)
		session = own_begin(job->web, opening->own, &opening->err);
	if (!session)
		own_free(opening->own);
	if (job->request && session)
		web_answer(job->request, 201, json_pack("{s:s}", "id", session->id));
	else if (job->request)
		web_refuse(job->request, &opening->err);
	free(opening);
}

static struct web_own *own_new(struct web *web, const char *folder, const char *resume,
                               struct err *err)
{
	struct web_own *own = mem_alloc(1, sizeof(*own));

	if (!cancel_init(&own->cancel, err)) {
		free(own);
		return NULL;
	}
	own->folder = mem_strdup(folder);
	own->resume = mem_strdup(resume);
	own->request = *web->options.request;
	own->request.folder = own->folder;
	own->request.cancel = &own->cancel;
	own->request.interactive = own->request.watched = own->request.checkpoints = true;
	own->session = session_new(&own->request);
	return own;
}

void web_do_open(struct web_exchange *exchange)
{
	const char *folder = web_text_of(exchange, "folder");
	const json_t *resume = json_object_get(exchange->body, "resume");
	struct own_opening *opening;
	struct err err = ERR_INIT;

	if (!folder)
		return;
	if (!exchange->web->options.request)
		err_set(&err, ERR_PERMISSION_DENIED,
		        "This web front shows one session: \"hasp serve web\" opens others.");
	else if (folder[0] != '/' || (resume && !json_is_string(resume)))
		err_set(&err, ERR_INVALID_ARGUMENT,
		        "\"folder\" is an absolute path, \"resume\" the id of a session.");
	else if (exchange->web->session_count >= LIMIT_WEB_SESSIONS)
		err_set(&err, ERR_LIMIT_REACHED, "%d sessions are open. Close one first.",
		        LIMIT_WEB_SESSIONS);
	if (err.code != ERR_NONE) {
		web_refuse(exchange->http, &err);
		return;
	}
	opening = mem_alloc(1, sizeof(*opening));
	*opening = (struct own_opening){ .job = { .run = opening_run, .then = opening_then },
		                     .err = ERR_INIT };
	opening->own = own_new(exchange->web, folder, json_string_value(resume), &err);
	if (opening->own) {
		web_job_give(exchange, &opening->job);
		return;
	}
	free(opening);
	web_refuse(exchange->http, &err);
}

/* ---- closing ---------------------------------------------------------------------- */

struct own_closing {
	struct web_job job;          /* the first member */
	struct web_session *session;
};

/* As web_job.run: hooks of its end may take their time. */
static void closing_run(struct web_job *job)
{
	front_runner_end(((struct own_closing *)job)->session->own->runner, "exit");
}

static void own_remove(struct web_session *session)
{
	struct web_own *own = session->own;

	web_session_remove(session);
	own_free(own);
}

/* As web_job.then. */
static void closing_then(struct web_job *job)
{
	struct own_closing *closing = (struct own_closing *)job;

	if (job->web) /* else it was not taken: web_own_end closes it */
		own_remove(closing->session);
	if (job->request)
		web_answer(job->request, 200, json_object());
	free(closing);
}

void web_do_close(struct web_exchange *exchange)
{
	struct web_own *own = exchange->session->own;
	struct own_closing *closing;

	if (!own || own->is_closing) {
		web_refuse_with(exchange->http, own ? 409 : 403, own ? "busy" : "permission_denied",
		                own ? "The session is being closed." :
		                      "The session is another front's: end it there.");
		return;
	}
	own->is_closing = !exchange->web->is_ending;
	closing = mem_alloc(1, sizeof(*closing));
	*closing = (struct own_closing){ .job = { .run = closing_run, .then = closing_then },
		                     .session = exchange->session };
	web_job_give(exchange, &closing->job);
}

/* ---- the end ---------------------------------------------------------------------- */

struct ending {
	struct pool *pool;
	struct front_runner *runners[LIMIT_WEB_SESSIONS];
	size_t count;
};

static void ending_begin(struct web *web, void *data)
{
	struct ending *ending = data;

	web->is_ending = true;
	ending->pool = mem_steal(&web->pool);
	for (struct web_session *session = web->sessions; session; session = session->next)
		if (session->own && !session->own->is_closing)
			ending->runners[ending->count++] = session->own->runner;
}

static void ending_remove(struct web *web, void *data)
{
	struct web_session *session, *next;

	(void)data;
	for (session = web->sessions; session; session = next) {
		next = session->next;
		if (session->own)
			own_remove(session);
	}
}

void web_own_end(struct web *web)
{
	struct ending ending = { 0 };

	web_call(web, ending_begin, &ending);
	/* Waits for those that are being opened and closed; what they post comes before the
	 * next call. */
	pool_free(ending.pool);
	for (size_t i = 0; i < ending.count; i++)
		front_runner_end(ending.runners[i], "exit");
	web_call(web, ending_remove, NULL);
}

/* ---- recorded ones ---------------------------------------------------------------- */

struct recorded {
	struct web_job job;          /* the first member */
	json_t *list;                /* owned; those that are open come first */
	json_t *rows;                /* owned */
};

/* The paths of all projects that have sessions, as names; a new reference. */
static json_t *all_projects(void)
{
	struct home *home = NULL;
	struct err ignored = ERR_INIT;
	_cleanup_free_ char *path = NULL;
	json_auto_t *all = NULL;

	if (!home_open("/", &home, &ignored))
		return json_object();
	path = path_join(home_gemini(home), "projects.json");
	all = home_object_read(path, PROJECTS_DEPTH, &ignored);
	home_free(home);
	return json_incref(json_object_get(all, "projects")) ?: json_object();
}

static bool is_open(const json_t *list, const json_t *id)
{
	const json_t *row;
	size_t i;

	json_array_foreach((json_t *)list, i, row)
		if (json_equal(json_object_get(row, "session"), id))
			return true;
	return false;
}

static void recorded_add_project(struct recorded *recorded, struct home *home)
{
	json_auto_t *rows = sessions_browse(home, SPAN(""), NULL);
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		json_t *id = json_object_get(row, "id"), *shown;

		if (is_open(recorded->list, id))
			continue;
		shown = json_pack("{s:O, s:O, s:o, s:s}", "id", id, "session", id, "folder",
		                  json_text(span_str(home_project(home))), "state", "recorded");
		if (!shown)
			continue;
		if (json_string_length(json_object_get(row, "title")))
			json_object_set(shown, "title", json_object_get(row, "title"));
		if (json_object_get(row, "time"))
			json_object_set(shown, "updated", json_object_get(row, "time"));
		if (json_object_get(row, "model"))
			json_object_set(shown, "model", json_object_get(row, "model"));
		json_array_append_new(recorded->rows, shown);
	}
}

/* As web_job.run. */
static void recorded_run(struct web_job *job)
{
	struct recorded *recorded = (struct recorded *)job;
	json_auto_t *projects = all_projects();
	const char *path;
	json_t *slug;

	json_object_foreach(projects, path, slug) {
		struct home *home = NULL;
		struct err ignored = ERR_INIT;

		if (*path != '/' || !home_open(path, &home, &ignored))
			continue;
		if (home_find(home))
			recorded_add_project(recorded, home);
		home_free(home);
	}
}

static int recorded_later_first(const void *a, const void *b)
{
	const struct span first = json_span(json_object_get(*(json_t *const *)a, "updated"));
	const struct span second = json_span(json_object_get(*(json_t *const *)b, "updated"));

	return strcmp(second.data ? second.data : "", first.data ? first.data : "");
}

/* As web_job.then. */
static void recorded_then(struct web_job *job)
{
	struct recorded *recorded = (struct recorded *)job;
	const size_t count = json_array_size(recorded->rows);
	_cleanup_free_ json_t **rows = mem_alloc(count + 1, sizeof(*rows));

	for (size_t i = 0; i < count; i++)
		rows[i] = json_array_get(recorded->rows, i);
	qsort(rows, count, sizeof(*rows), recorded_later_first);
	for (size_t i = 0; i < count && i < LIMIT_WEB_RECORDED; i++)
		json_array_append(recorded->list, rows[i]);
	if (job->request)
		web_answer(job->request, 200, json_incref(recorded->list));
	json_decref(recorded->list);
	json_decref(recorded->rows);
	free(recorded);
}

void web_own_list(struct web_exchange *exchange, json_t *list)
{
	struct recorded *recorded = mem_alloc(1, sizeof(*recorded));

	*recorded = (struct recorded){ .job = { .run = recorded_run, .then = recorded_then },
		                       .list = list, .rows = json_array() };
	web_job_give(exchange, &recorded->job);
}
