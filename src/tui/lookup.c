/* SPDX-License-Identifier: Apache-2.0 */
/* What MCP servers, or bash, say may stand at the caret: they are asked by a separate thread, one
 * question at a time, and what is typed meanwhile is asked about when that is answered.  The last
 * answer is kept. */
#include <pthread.h>
#include <stdlib.h>

#include "agent/host/host.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "data/json.h"
#include "tui/app.h"
#include "tui/complete.h"
#include "tui/term/frames.h"
#include "tui/runner.h"
#include "tui/send.h"
#include "tui/tui.h"
#include "tui/typeahead.h"

struct lookup {
	struct app *app;
	lookup_arrived *arrived;
	pthread_t thread;
	bool running;            /* the thread is, and will post */
	bool stopped;
	bool waited;             /* the thread has ended, before it has posted (lookup_wait) */
	struct cancel cancel;    /* of what it asks */
	bool can_cancel;         /* that was made */
	struct tui_opened opened; /* the thread's, as the next two are, until it has posted */
	json_t *asks, *answer;
	struct loop_task task;
	json_t *known_of, *known; /* the last question and its answer; or NULL */
	struct editor *editor;   /* what waits for an answer; or NULL */
	char *text;              /* that draft; owned */
	size_t caret;
	unsigned long version;   /* of it */
};

struct lookup *lookup_new(struct app *app, lookup_arrived *arrived)
{
	struct lookup *lookup = mem_alloc(1, sizeof(*lookup));
	struct err ignored = ERR_INIT;

	lookup->app = app;
	lookup->arrived = arrived;
	lookup->can_cancel = cancel_init(&lookup->cancel, &ignored);
	return lookup;
}

void lookup_wait(struct lookup *lookup)
{
	if (lookup->running && !lookup->waited) {
		cancel_set(&lookup->cancel);
		pthread_join(lookup->thread, NULL);
		cancel_reset(&lookup->cancel);
	}
	lookup->waited = lookup->running;
	json_decref(lookup->known_of);
	json_decref(lookup->known);
	lookup->known_of = lookup->known = NULL;
}

void lookup_stop(struct lookup *lookup)
{
	if (lookup->can_cancel)
		cancel_set(&lookup->cancel);
	if (lookup->running && !lookup->waited)
		pthread_join(lookup->thread, NULL);
	lookup->stopped = true;
}

void lookup_free(struct lookup *lookup)
{
	if (!lookup)
		return;
	if (lookup->can_cancel)
		cancel_release(&lookup->cancel);
	json_decref(lookup->asks);
	json_decref(lookup->answer);
	json_decref(lookup->known_of);
	json_decref(lookup->known);
	free(lookup->text);
	free(lookup);
}

static void lookup_answered(struct loop_task *task)
{
	struct lookup *lookup = (struct lookup *)((char *)task - offsetof(struct lookup, task));
	struct editor *editor = lookup->editor;
	_cleanup_free_ char *text = mem_steal(&lookup->text);

	if (!lookup->stopped && !lookup->waited)
		pthread_join(lookup->thread, NULL);
	lookup->running = lookup->waited = false;
	json_decref(lookup->known_of);
	json_decref(lookup->known);
	lookup->known_of = mem_steal(&lookup->asks);
	lookup->known = mem_steal(&lookup->answer);
	lookup->editor = NULL;
	if (!editor || lookup->app->frames.ended || lookup->version != editor_version(editor)) {
		typeahead_release(lookup->app->typeahead);
		return;
	}
	editor_offer_none(editor);
	lookup->arrived(lookup->app, editor, span_str(text), lookup->caret);
	frames_want(&lookup->app->frames);
}

static void *lookup_ask(void *data)
{
	struct lookup *lookup = data;
	const char *server = json_string_value(json_object_get(lookup->asks, "server"));

	lookup->answer = server ?
		host_server_complete(lookup->opened.host, server,
		                     json_object_get(lookup->asks, "params"),
		                     &lookup->cancel) :
		tui_shell_words(&lookup->opened, lookup->app->settings, lookup->asks,
		                &lookup->cancel);
	loop_post(lookup->app->loop, &lookup->task);
	return NULL;
}

bool lookup_waits(const struct lookup *lookup)
{
	return lookup->running && lookup->editor;
}

void lookup_forget(struct lookup *lookup)
{
	lookup->editor = NULL;
}

const json_t *lookup_known(const struct lookup *lookup, const json_t *asks)
{
	return lookup->known && json_equal(lookup->known_of, asks) ? lookup->known : NULL;
}

const json_t *lookup_values(struct lookup *lookup, const json_t *asks, struct editor *editor,
                            struct span text, size_t caret)
{
	const struct tui_opened *opened = runner_opened(lookup->app->runner);
	const json_t *known = lookup_known(lookup, asks);

	if (known)
		return known;
	if (!opened || !opened->host || lookup->stopped || !lookup->can_cancel)
		return NULL;
	free(lookup->text);
	lookup->text = mem_dup(text.data, text.len);
	lookup->caret = caret;
	lookup->version = editor_version(editor);
	lookup->editor = editor;
	if (lookup->running)
		return NULL;
	lookup->opened = *opened;
	lookup->asks = json_deep_copy(asks);
	lookup->task.run = lookup_answered;
	lookup->running = pthread_create(&lookup->thread, NULL, lookup_ask, lookup) == 0;
	if (!lookup->running) {
		json_decref(lookup->asks);
		lookup->asks = NULL;
	}
	return NULL;
}
