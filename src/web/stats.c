/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of recorded sessions: of a session's project for those who may answer in it, of all
 * projects for the owner.  They are counted on a thread of the pool, for one page at a time, so
 * that neither sessions nor other pages wait. */
#include <stdlib.h>

#include "base/mem.h"
#include "data/json.h"
#include "web/private.h"

struct figures_job {
	struct web_job job; /* the first member */
	char *folder, *since, *model; /* owned; or NULL */
	json_t *figures;
	bool ok;
	struct err err;
};

/* As web_job.run. */
static void figures_run(struct web_job *job)
{
	struct figures_job *figures = (struct figures_job *)job;
	const struct web_figures wanted = { .folder = figures->folder, .since = figures->since,
		                            .model = figures->model };

	figures->ok = job->web->options.figures(&wanted, &figures->figures, &figures->err);
}

/* As web_job.then. */
static void figures_then(struct web_job *job)
{
	struct figures_job *figures = (struct figures_job *)job;

	if (job->web)
		job->web->is_counting = false;
	if (job->request && figures->ok)
		web_answer(job->request, 200, mem_steal(&figures->figures));
	else if (job->request)
		web_refuse(job->request, &figures->err);
	json_decref(figures->figures);
	free(figures->folder);
	free(figures->since);
	free(figures->model);
	free(figures);
}

/* The project's folder, a new text; NULL without an error: all. */
static char *figures_folder(struct web_exchange *exchange, struct err *err)
{
	const char *id = http_request_query(exchange->http, "session");
	const struct web_session *session = id ? web_session_find(exchange->web, span_str(id)) :
	                                         NULL;
	json_auto_t *facts = session ? front_runner_facts(session->runner) : NULL;

	if (id && !session)
		err_set(err, ERR_FILE_NOT_FOUND, "There is no such session here.");
	else if (!id && !exchange->person->is_owner)
		err_set(err, ERR_PERMISSION_DENIED,
		        "Only the owner sees the figures of all projects. Open those of a "
		        "session's project.");
	return mem_strdup(json_string_value(json_object_get(facts, "folder")));
}

void web_do_stats(struct web_exchange *exchange)
{
	struct web *web = exchange->web;
	struct figures_job *figures;
	_cleanup_free_ char *folder = NULL;
	struct err err = ERR_INIT;

	if (!web->options.figures)
		err_set(&err, ERR_FILE_NOT_FOUND, "This page shows no statistics.");
	else if (web->is_counting)
		err_set(&err, ERR_LIMIT_REACHED,
		        "Statistics are being counted for another page. Try again.");
	else
		folder = figures_folder(exchange, &err);
	if (err.code != ERR_NONE) {
		if (web->is_counting)
			http_add_header(exchange->http, "Retry-After", "1");
		web_refuse(exchange->http, &err);
		return;
	}
	figures = mem_alloc(1, sizeof(*figures));
	*figures = (struct figures_job){
		.job = { .run = figures_run, .then = figures_then },
		.folder = mem_steal(&folder),
		.since = mem_strdup(http_request_query(exchange->http, "since")),
		.model = mem_strdup(http_request_query(exchange->http, "model")),
		.err = ERR_INIT,
	};
	web->is_counting = !web->is_ending;
	web_job_give(exchange, &figures->job);
}
