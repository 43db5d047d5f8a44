/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: settings are read on a thread of the pool, the rest is opened on the session's own
 * (front/front.h), whose events are taken here. */
#include <stdlib.h>
#include <string.h>

#include "acp/private.h"
#include "agent/session/sessions.h"
#include "base/mem.h"
#include "config/home.h"
#include "data/json.h"

static struct acp_session *acp_session_of_work(struct acp_work *work)
{
	return (struct acp_session *)((char *)work - offsetof(struct acp_session, work));
}

/* ---- what the client gives ------------------------------------------------------- */

static json_t *acp_named_values(const json_t *list)
{
	json_t *values = json_object(), *element;
	size_t i;

	json_array_foreach((json_t *)list, i, element)
		if (acp_text(element, "name"))
			json_object_set(values, acp_text(element, "name"),
			                json_object_get(element, "value"));
	return values;
}

/* A server as mcpServers of the settings has it; NULL: it is none. It is asked about and confined
 * as the user's own. */
static json_t *acp_server_entry(const json_t *server)
{
	const char *type = acp_text(server, "type"), *url = acp_text(server, "url");
	const char *command = acp_text(server, "command");

	if (!acp_text(server, "name"))
		return NULL;
	if (type && strcmp(type, "stdio") != 0)
		return !url || (strcmp(type, "http") != 0 && strcmp(type, "sse") != 0) ? NULL :
		       json_pack("{s:s, s:o, s:b}", strcmp(type, "http") ? "url" : "httpUrl", url,
		                 "headers", acp_named_values(json_object_get(server, "headers")),
		                 "trust", 0);
	if (!command)
		return NULL;
	return json_pack("{s:s, s:o, s:o, s:b}", "command", command,
	                 "args", json_is_array(json_object_get(server, "args")) ?
	                         json_incref(json_object_get(server, "args")) : json_array(),
	                 "env", acp_named_values(json_object_get(server, "env")), "trust", 0);
}

/* What flags set, and the client's servers; a new reference. NULL: *err names a server. */
static json_t *acp_overrides(const struct acp *acp, const json_t *params, struct err *err)
{
	json_auto_t *overrides = json_deep_copy(acp->options->request->overrides);
	json_t *servers, *server;
	size_t i;

	if (!overrides)
		overrides = json_object();
	servers = json_object();
	json_object_set_new(overrides, "mcpServers", servers);
	json_array_foreach(json_object_get(params, "mcpServers"), i, server) {
		json_t *entry = acp_server_entry(server);

		if (!entry) {
			err_set(err, ERR_INVALID_ARGUMENT, "mcpServers[%zu] has no name, or "
			        "neither a command nor the url of an http or sse server.", i);
			return NULL;
		}
		json_object_set_new(servers, acp_text(server, "name"), entry);
	}
	return json_incref(overrides);
}

/* The caller frees the array; NULL: *err names an element. */
static const char **acp_more_folders(const json_t *params, struct err *err)
{
	const json_t *list = json_object_get(params, "additionalDirectories");
	const char **more = mem_alloc(json_array_size(list) + 1, sizeof(*more));

	for (size_t i = 0; i < json_array_size(list); i++) {
		more[i] = json_string_value(json_array_get(list, i));
		if (more[i] && more[i][0] == '/')
			continue;
		err_set(err, ERR_INVALID_ARGUMENT,
		        "additionalDirectories[%zu] must be an absolute path.", i);
		free(more);
		return NULL;
	}
	return more;
}

/* The request of a session, out of what flags and the client say; the params stay the session's. */
static bool acp_session_request(struct acp_session *session, struct err *err)
{
	struct session_request *request = &session->request;

	*request = *session->acp->options->request;
	request->overrides = NULL; /* the session's own, below */
	request->folder = acp_text(session->params, "cwd");
	if (request->folder[0] != '/')
		return err_set(err, ERR_INVALID_ARGUMENT, "params.cwd must be an absolute path.");
	session->more = acp_more_folders(session->params, err);
	if (!session->more)
		return false;
	request->overrides = acp_overrides(session->acp, session->params, err);
	request->more = session->more;
	request->interactive = request->watched = request->checkpoints = true;
	request->cancel = &session->cancel;
	request->interpose = session->acp->client.reads_files ? acp_buffers_new : NULL;
	request->interpose_data = session;
	request->notices = (struct notices){ 0 };
	return request->overrides != NULL;
}

/* ---- events ---------------------------------------------------------------------- */

/* The client has its answer, and then what goes with it. */
static void acp_session_answer(struct acp_session *session)
{
	json_t *result = json_object();

	if (!session->resumes)
		json_object_set_new(result, "sessionId", json_string(session->id));
	acp_put_state(session, result);
	acp_answer(mem_steal(&session->opening), result);
	acp_updates_release(session);
	acp_menus_begin(session);
	acp_prompt_next(session);
}

static void acp_session_failed(struct acp_session *session, const struct err *err)
{
	if (session->opening && session_step(session->session) == SESSION_STEP_RESUMED)
		acp_refuse(mem_steal(&session->opening), ACP_NOT_FOUND, "%s", err->message);
	else if (session->opening)
		acp_refuse_err(mem_steal(&session->opening), err);
	acp_prompts_drop(session, err);
	acp_session_close(session, NULL);
}

static void acp_session_take_facts(struct acp_session *session, const json_t *facts)
{
	session->id = mem_strdup(acp_text(facts, "session"));
	session->model = mem_strdup(acp_text(facts, "model"));
	session->window = (uint64_t)json_integer_value(json_object_get(facts, "window"));
	session->is_titled = session->is_titled || session->resumes ||
	                     json_object_get(facts, "topic");
}

static void acp_session_opened(struct acp_session *session, const json_t *facts)
{
	struct err err = ERR_INIT;

	session->state = ACP_OPEN;
	acp_session_take_facts(session, facts);
	atomic_store(&session->asks_files, true);
	session->mode = session_mode(session->session);
	if (!session->replays)
		acp_session_answer(session);
	else if (!acp_history_begin(session, &err))
		acp_session_failed(session, &err);
}

static void acp_session_task_done(struct acp_session *session, const struct front_event *event)
{
	struct err err = ERR_INIT;

	if (!event->task || acp_menus_done(session, event))
		return;
	if (event->task != session->history)
		acp_prompt_task_done(session, event);
	else if (!acp_history_done(session, event, &err))
		acp_session_failed(session, &err);
	else if (session->opening)
		acp_session_answer(session);
}

static void acp_session_bus(struct acp_session *session, const struct front_event *event)
{
	if (bus_topic_answer(event->topic) != BUS_NONE)
		acp_ask(session, event->topic, event->message);
	else
		acp_update_bus(session, event->topic, event->message);
	if (event->topic == BUS_QUESTION_ANSWERED || event->topic == BUS_QUESTION_VOTE ||
	    event->topic == BUS_COMMENT)
		acp_update_others(session, event->topic, event->message);
	if (event->topic == BUS_QUESTION_ANSWERED)
		acp_questions_over(session, event->message);
	if (event->topic == BUS_MCP_LISTED)
		acp_menus_begin(session);
}

static void acp_session_event(struct acp_session *session, const struct front_event *event)
{
	switch (event->kind) {
	case FRONT_STARTED:
		session->is_foreign = event->by && !event->is_own;
		break;
	case FRONT_BUS:
		acp_session_bus(session, event);
		break;
	case FRONT_NOTICE:
		acp_update_notice(session, event->message);
		break;
	case FRONT_OPENED:
		acp_session_opened(session, event->message);
		break;
	case FRONT_CLOSED:
		acp_session_failed(session, event->err);
		break;
	case FRONT_ENDED:
		acp_prompt_ended(session, event);
		break;
	case FRONT_DONE:
		acp_session_task_done(session, event);
		break;
	default:
		break;
	}
}

void acp_session_take(struct acp_session *session)
{
	struct front_event *event, *next;

	if (!session->front || session->acp->is_full)
		return;
	for (event = front_take(session->front); event; event = next) {
		next = event->next;
		acp_session_event(session, event);
		front_event_free(event);
	}
}

static void acp_session_woken(struct loop_task *task)
{
	struct acp_session *session =
		(struct acp_session *)((char *)task - offsetof(struct acp_session, woken));

	atomic_store(&session->is_woken, false);
	acp_session_take(session);
}

/* As front_options.wake: from any thread. */
static void acp_session_wake(void *data, bool is_piece)
{
	struct acp_session *session = data;

	(void)is_piece;
	if (!atomic_exchange(&session->is_woken, true))
		loop_post(session->acp->loop, &session->woken);
}

/* ---- closing --------------------------------------------------------------------- */

/* Its thread has ended: other fronts leave, too. */
static void acp_session_leave(const struct acp_session *session)
{
	const struct acp_options *options = session->acp->options;

	if (session->runner && options->detached)
		options->detached(options->data, session->runner);
}

static void acp_session_free(struct acp_session *session)
{
	acp_session_leave(session);
	front_runner_free(session->runner);
	session_free(session->session);
	cancel_release(&session->cancel);
	json_decref(session->request.overrides);
	json_decref(session->params);
	json_decref(session->held);
	json_decref(session->calls);
	json_decref(session->menus);
	free(session->more);
	free(session->message);
	free(session->model);
	free(session->id);
	free(session);
}

/* The last that is done of it: what `woken` was posted for has run. */
static void acp_session_remove(struct loop_task *task)
{
	struct acp_session *session =
		(struct acp_session *)((char *)task - offsetof(struct acp_session, woken));
	struct acp *acp = session->acp;

	for (struct acp_session **link = &acp->sessions; *link; link = &(*link)->next)
		if (*link == session) {
			*link = session->next;
			break;
		}
	acp->session_count--;
	if (session->closing)
		acp_answer(session->closing, NULL);
	acp_session_free(session);
	acp_end_if_done(acp);
}

/* As acp_work.run. */
static void acp_session_end(struct acp_work *work)
{
	front_runner_end(acp_session_of_work(work)->runner, "exit");
}

/* As acp_work.then. */
static void acp_session_ended(struct acp_work *work)
{
	struct acp_session *session = acp_session_of_work(work);

	acp_session_take(session);
	acp_questions_drop(session);
	acp_prompts_drop(session, NULL);
	loop_timer_stop(session->output);
	if (session->opening)
		acp_refuse(mem_steal(&session->opening), ACP_CANCELLED, "The session was closed.");
	front_detach(session->front);
	session->front = NULL;
	acp_menus_drop(session);
	acp_history_drop(session);
	/* It was posted before, if it waits. */
	session->woken.run = acp_session_remove;
	if (!atomic_exchange(&session->is_woken, true))
		loop_post(session->acp->loop, &session->woken);
}

static void acp_session_begin_end(struct acp_session *session)
{
	acp_questions_drop(session);
	acp_buffers_drop(session);
	acp_prompts_cancel(session);
	if (!session->runner) {
		acp_session_ended(&session->work);
		return;
	}
	session->work.run = acp_session_end;
	session->work.then = acp_session_ended;
	acp_work_start(session->acp, &session->work);
}

void acp_session_close(struct acp_session *session, struct acp_request *closing)
{
	const enum acp_state before = session->state;

	if (before == ACP_CLOSING)
		return;
	session->state = ACP_CLOSING;
	session->closing = closing;
	cancel_set(&session->cancel);
	if (before != ACP_LOADING) /* else when that is done */
		acp_session_begin_end(session);
}

void acp_do_close_session(struct acp_request *request)
{
	struct acp_session *session = acp_session_of(request);

	if (session)
		acp_session_close(session, request);
}

/* ---- opening --------------------------------------------------------------------- */

/* Whether the record that is asked for is there, by exactly this id. */
static bool acp_session_find(struct acp_session *session, struct err *err)
{
	const char *id = acp_text(session->params, "sessionId");
	struct home *home = NULL;
	bool found;

	if (!session->resumes)
		return true;
	if (!home_open(session_folder(session->session), &home, err))
		return false;
	found = home_find(home) && sessions_have(home, id);
	home_free(home);
	return found || err_set(err, ERR_FILE_NOT_FOUND, "There is no session \"%.100s\" of %s.",
	                        id, session_folder(session->session));
}

/* As acp_work.run. */
static void acp_session_load(struct acp_work *work)
{
	struct acp_session *session = acp_session_of_work(work);

	session->is_loaded = session_load(session->session, &session->err) &&
	                     session_mode_check(session->session, &session->err) &&
	                     acp_session_find(session, &session->err);
}

static bool acp_session_start(struct acp_session *session, struct err *err)
{
	const struct front_runner_options options = {
		.session = session->session, .cancel = &session->cancel, .starts_late = true,
		.resume = session->resumes ? acp_text(session->params, "sessionId") : NULL,
	};

	if (!front_runner_new(&options, &session->runner, err))
		return false;
	session->front = front_attach(session->runner, &(struct front_options){
		.name = "editor", .roles = FRONT_ALL, .wake = acp_session_wake,
		.opened = acp_menus_opened, .data = session,
	});
	if (session->acp->options->attached)
		session->acp->options->attached(session->acp->options->data, session->runner,
		                                session->session);
	front_runner_begin(session->runner);
	return true;
}

/* As acp_work.then. */
static void acp_session_loaded(struct acp_work *work)
{
	struct acp_session *session = acp_session_of_work(work);

	if (session->state == ACP_CLOSING) {
		acp_session_begin_end(session);
		return;
	}
	session->state = ACP_OPENING;
	if (!session->is_loaded || !acp_session_start(session, &session->err))
		acp_session_failed(session, &session->err);
}

static void acp_session_begin_load(struct acp_session *session)
{
	session->state = ACP_LOADING;
	session->session = session_new(&session->request);
	session->work.run = acp_session_load;
	session->work.then = acp_session_loaded;
	acp_work_start(session->acp, &session->work);
}

/* ---- methods ------------------------------------------------------------------------ */

/* As acp_request.cancel. */
static void acp_cancel_opening(struct acp_request *request)
{
	acp_session_close(request->data, NULL);
}

static struct acp_session *acp_session_new(struct acp_request *request, struct err *err)
{
	struct acp_session *session = mem_alloc(1, sizeof(*session));

	*session = (struct acp_session){
		.acp = request->acp, .params = json_incref(request->params),
		.held = json_array(), .calls = json_object(), .woken.run = acp_session_woken,
		.err = ERR_INIT,
	};
	session->last_prompt = &session->prompts;
	if (cancel_init(&session->cancel, err)) {
		if (acp_session_request(session, err))
			return session;
		cancel_release(&session->cancel);
	}
	json_decref(session->request.overrides);
	json_decref(session->params);
	json_decref(session->held);
	json_decref(session->calls);
	free(session->more);
	free(session);
	return NULL;
}

static void acp_session_open(struct acp_request *request, bool resumes, bool replays)
{
	struct acp *acp = request->acp;
	struct acp_session *session;
	struct err err = ERR_INIT;

	if (acp->is_ending || acp->session_count >= LIMIT_ACP_SESSIONS) {
		acp_refuse(request, RPC_INTERNAL_ERROR,
		           acp->is_ending ? "The connection is being closed." :
		           "%d sessions are open. Close one first.", LIMIT_ACP_SESSIONS);
		return;
	}
	session = acp_session_new(request, &err);
	if (!session) {
		acp_refuse_err(request, &err);
		return;
	}
	session->resumes = resumes;
	session->replays = replays;
	session->opening = request;
	request->cancel = acp_cancel_opening;
	request->data = session;
	session->next = acp->sessions;
	acp->sessions = session;
	acp->session_count++;
	acp_session_begin_load(session);
}

void acp_do_new_session(struct acp_request *request)
{
	acp_session_open(request, false, false);
}

void acp_do_load_session(struct acp_request *request)
{
	acp_session_open(request, true, true);
}

void acp_do_resume_session(struct acp_request *request)
{
	acp_session_open(request, true, false);
}
