/* SPDX-License-Identifier: Apache-2.0 */
/* A headless run with --web: its session has a thread then, as in a terminal, so that pages can be
 * attached to it; the run itself is a front that gives one task and waits. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/notices.h"
#include "cli/command/private.h"
#include "cli/command/web_page.h"
#include "data/json.h"
#include "front/front.h"

struct agent_web {
	struct web_page *page;
	struct front_session *session;
	struct front_runner *runner;
	struct front *front;
	struct notices notices;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_woken;
	struct front_task task;
	void (*run)(void *data);
	void *data;
};

/* As front_options.wake. */
static void agent_web_woken(void *data, bool is_piece)
{
	struct agent_web *web = data;

	(void)is_piece;
	pthread_mutex_lock(&web->lock);
	web->is_woken = true;
	pthread_cond_signal(&web->wake);
	pthread_mutex_unlock(&web->lock);
}

static void agent_web_note(const struct agent_web *web, const json_t *message)
{
	const char *severity = json_string_value(json_object_get(message, "severity"));
	const char *text = json_string_value(json_object_get(message, "message"));
	enum severity level = SEVERITY_INFO;

	if (!severity || !text)
		return;
	while (level != SEVERITY_HOOK && strcmp(notices_severity_name(level), severity) != 0)
		level++;
	notices_say(&web->notices, level, text);
}

/* Whether it is an end of what the run has given: then *err is why it failed. */
static bool agent_web_see(const struct agent_web *web, const struct front_event *event,
                          struct err *err)
{
	if (event->kind == FRONT_NOTICE)
		agent_web_note(web, event->message);
	if (event->kind == FRONT_CLOSED && event->err)
		*err = *event->err;
	return event->kind == FRONT_OPENED || event->kind == FRONT_CLOSED ||
	       (event->kind == FRONT_DONE && event->task == &web->task);
}

/* Until the opening, or the task, is over. False: *err. */
static bool agent_web_wait(struct agent_web *web, struct err *err)
{
	struct front_event *event, *next;
	struct err why = ERR_INIT;
	bool is_over = false;

	while (!is_over) {
		pthread_mutex_lock(&web->lock);
		while (!web->is_woken)
			pthread_cond_wait(&web->wake, &web->lock);
		web->is_woken = false;
		pthread_mutex_unlock(&web->lock);
		for (event = front_take(web->front); event; event = next) {
			next = event->next;
			is_over = agent_web_see(web, event, &why) || is_over;
			front_event_free(event);
		}
	}
	if (why.code != ERR_NONE)
		*err = why;
	return why.code == ERR_NONE;
}

void agent_web_close(struct agent_web *web)
{
	if (!web)
		return;
	if (web->runner)
		front_runner_end(web->runner, "exit");
	if (web->page && web->runner)
		web_page_detach(web->page, web->runner);
	web_page_free(web->page);
	front_detach(web->front);
	front_runner_free(web->runner);
	pthread_cond_destroy(&web->wake);
	pthread_mutex_destroy(&web->lock);
	free(web);
}

static bool agent_web_begin(struct agent_web *web, const struct agent_request *request,
                            struct err *err)
{
	const struct front_runner_options options = {
		.session = web->session, .resume = request->resume,
		.cancel = request->session.cancel, .starts_late = true,
	};

	if (!web_page_new(request->invocation, NULL, &web->page, err) ||
	    !front_runner_new(&options, &web->runner, err))
		return false;
	/* It gives orders; questions are the page's. */
	web->front = front_attach(web->runner, &(struct front_options){
		.name = "run", .roles = FRONT_DRIVE, .wake = agent_web_woken, .data = web });
	web_page_attach(web->page, web->runner, web->session);
	if (!web_page_begin(web->page, err))
		return false;
	front_runner_begin(web->runner);
	return agent_web_wait(web, err);
}

bool agent_web_open(const struct agent_request *request, struct front_session *session,
                    const struct notices *notices, struct agent_web **ret, struct err *err)
{
	struct agent_web *web = mem_alloc(1, sizeof(*web));

	web->session = session;
	web->notices = *notices;
	pthread_mutex_init(&web->lock, NULL);
	pthread_cond_init(&web->wake, NULL);
	if (agent_web_begin(web, request, err)) {
		*ret = web;
		return true;
	}
	agent_web_close(web);
	return false;
}

/* As front_task.run. */
static void agent_web_task(struct front_task *task, struct front_session *session)
{
	struct agent_web *web =
		(struct agent_web *)((char *)task - offsetof(struct agent_web, task));

	(void)session;
	web->run(web->data);
}

bool agent_web_run(struct agent_web *web, void (*run)(void *data), void *data, struct err *err)
{
	web->task.run = agent_web_task;
	web->run = run;
	web->data = data;
	return front_give(web->front, &web->task, err) && agent_web_wait(web, err);
}
