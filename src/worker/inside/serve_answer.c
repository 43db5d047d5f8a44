/* SPDX-License-Identifier: Apache-2.0 */
/* One function a kind of request: asks the provider, sends what it says. */
#include <stdlib.h>

#include "base/mem.h"
#include "worker/inside/serve_private.h"

typedef void send_function(struct server *server, enum wire_type type, uint64_t id,
                           const struct wire_layout *layout, const void *body);

static void send_read(struct server *server, send_function *send, uint64_t id, bool ok,
                      const struct err *err, struct read_result *result)
{
	struct wire_read_done done = { .result = *result };

	if (!ok)
		done.err = *err;
	send(server, WIRE_MESSAGE_READ_DONE, id, &wire_layout_read_done, &done);
	read_result_release(result);
}

bool answer_read_quickly(struct server *server, uint64_t id, const struct read_request *request)
{
	struct read_request quick = *request;
	struct err err = ERR_INIT;
	struct read_result result;
	bool ok;

	quick.at_once = true;
	ok = server->provider->ops->read(server->provider, &quick, &result, &err);
	if (!ok && result.not_at_once && !request->at_once) {
		read_result_release(&result);
		return false;
	}
	send_read(server, server_queue, id, ok, &err, &result);
	return true;
}

static void answer_read(struct server *server, struct job *job)
{
	struct err err = ERR_INIT;
	struct read_result result;
	bool ok = server->provider->ops->read(server->provider, job->body, &result, &err);

	send_read(server, server_send, job->id, ok, &err, &result);
}

static void answer_edit(struct server *server, struct job *job)
{
	const struct wire_edit *edit = job->body;
	struct wire_edit_done done = { .count = edit->count };
	struct edit_options options = edit->options;
	struct err err = ERR_INIT;

	if (job->leads) {
		options.commit.waits = serve_yield;
		options.commit.waits_data = job;
	}
	done.results = mem_alloc(edit->count + 1, sizeof(*done.results));
	if (!server->provider->ops->edit(server->provider, edit->changes, edit->count,
	                                 &options, done.results, &err))
		done.err = err;
	(job->leads ? server_queue : server_send)(server, WIRE_MESSAGE_EDIT_DONE, job->id,
	                                          &wire_layout_edit_done, &done);
	for (size_t i = 0; i < edit->count; i++)
		change_result_release(&done.results[i]);
	free(done.results);
}

static void answer_walk(struct server *server, struct job *job)
{
	struct walk_result result;
	struct err err = ERR_INIT;

	if (!server->provider->ops->walk(server->provider, job->body, &result, &err)) {
		server_send_error(server, job->id, &err);
		return;
	}
	server_send(server, WIRE_MESSAGE_WALK_DONE, job->id, &wire_layout_walk_done, &result);
	walk_result_release(&result);
}

static void answer_search(struct server *server, struct job *job)
{
	struct search_request request = *(const struct search_request *)job->body;
	struct search_result result;
	struct err err = ERR_INIT;

	request.cancel = &job->cancel;
	if (!server->provider->ops->search(server->provider, &request, &result, &err)) {
		server_send_error(server, job->id, &err);
		return;
	}
	server_send(server, WIRE_MESSAGE_SEARCH_DONE, job->id, &wire_layout_search_done, &result);
	search_result_release(&result);
}

/* ---- watches --------------------------------------------------------------- */

static void report_change(void *data)
{
	struct served_watch *served = data;

	server_send(served->server, WIRE_MESSAGE_CHANGED, served->id, NULL, NULL);
}

static void answer_watch(struct server *server, struct job *job)
{
	const struct wire_watch *body = job->body;
	struct served_watch *served = mem_alloc(1, sizeof(*served));
	const struct watch_request request = { body->path, report_change, served };
	struct err err = ERR_INIT;

	*served = (struct served_watch){ .server = server, .id = job->id };
	if (!server->provider->ops->watch(server->provider, &request, &served->watch, &err)) {
		free(served);
		server_send_error(server, job->id, &err);
		return;
	}
	pthread_mutex_lock(&server->lock);
	served->next = server->watches;
	server->watches = served;
	pthread_mutex_unlock(&server->lock);
	server_send(server, WIRE_MESSAGE_WATCHING, job->id, NULL, NULL);
}

static void answer_unwatch(struct server *server, struct job *job)
{
	struct served_watch *served = NULL;

	pthread_mutex_lock(&server->lock);
	for (struct served_watch **at = &server->watches; *at; at = &(*at)->next)
		if ((*at)->id == job->id) {
			served = *at;
			*at = served->next;
			break;
		}
	pthread_mutex_unlock(&server->lock);
	if (!served)
		return;
	server->provider->ops->unwatch(server->provider, served->watch);
	free(served);
}

const struct request *request_find(unsigned number)
{
	static const struct request requests[] = {
		{ WIRE_MESSAGE_READ, answer_read },   { WIRE_MESSAGE_EDIT, answer_edit },
		{ WIRE_MESSAGE_WALK, answer_walk },   { WIRE_MESSAGE_SEARCH, answer_search },
		{ WIRE_MESSAGE_WATCH, answer_watch }, { WIRE_MESSAGE_UNWATCH, answer_unwatch },
		{ WIRE_MESSAGE_RUN, answer_run },
	};

	for (size_t i = 0; i < ARRAY_LEN(requests); i++)
		if ((unsigned)requests[i].type == number)
			return &requests[i];
	return NULL;
}
