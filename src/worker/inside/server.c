/* SPDX-License-Identifier: Apache-2.0 */
/* What a server does with its jobs and answers: the queue, the order of edits, the threads, and
 * sending.  What the threads read, and what they answer, is serve.c's and answers.c's.
 *
 * Edits that name a file of the same name (the last component) wait for one another, in the order
 * in which they came.  (Links of another name to the same file are not known here: those edits
 * are safe, by compare-and-swap, but come in any order.) */
#include "worker/inside/server.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	THREADS = 9,             /* one reads */
	STACK_BYTES = 1 << 20,
	QUICK_BYTES = 64 << 10,  /* of an edit that the reading thread answers itself */
};

/* ---- sending ---- */

static void encode_and_send(struct server *server, bool queue, enum wire_type type, uint64_t id,
                            const void *body)
{
	_cleanup_wire_out_ struct wire_out out;
	struct err err = ERR_INIT;
	bool sent;

	wire_out_init(&out);
	wire_encode_message(&out, type, body);
	sent = queue ? wire_queue(&server->wire, type, id, &out, &err) :
	               wire_send(&server->wire, type, id, &out, NULL, 0, &err);
	/* The reading thread notices that the connection has closed. */
	if (!sent && err.code == ERR_TOO_LARGE)
		server_send_error(server, id, &err);
}

void server_send(struct server *server, enum wire_type type, uint64_t id, const void *body)
{
	encode_and_send(server, false, type, id, body);
}

void server_queue(struct server *server, enum wire_type type, uint64_t id, const void *body)
{
	encode_and_send(server, true, type, id, body);
}

void server_send_error(struct server *server, uint64_t id, const struct err *err)
{
	const struct wire_error error = { *err };

	server_send(server, WIRE_MESSAGE_ERROR, id, &error);
}

/* ---- threads ---- */

static bool start_server_thread(struct server *server)
{
	pthread_attr_t how;
	pthread_t thread;
	bool ok;

	pthread_attr_init(&how);
	pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&how, STACK_BYTES);
	ok = pthread_create(&thread, &how, server->run_thread, server) == 0;
	pthread_attr_destroy(&how);
	server->threads += ok;
	return ok;
}

/* Whether some thread will look at the queue, or read, once it is woken (*ret_wake: by a signal);
 * false: all are busy, and will. Locked. */
static bool find_thread(struct server *server, bool *ret_wake)
{
	*ret_wake = server->idle > 0;
	return *ret_wake || (server->threads < THREADS && start_server_thread(server));
}

/* ---- the order of edits ---- */

static uint64_t name_bit(const char *path)
{
	const char *end = path + strlen(path);
	uint64_t hash = 14695981039346656037u; /* FNV-1a, from the end of the path */

	while (end > path && end[-1] == '/')
		end--;
	while (end > path && end[-1] != '/')
		hash = (hash ^ (unsigned char)*--end) * 1099511628211u;
	/* Names that differ in their first letter alone are to differ here, too. */
	return (uint64_t)1 << (hash * 11400714819323198485u >> 58);
}

uint64_t server_edit_names(const struct wire_edit *edit)
{
	uint64_t names = 0;

	for (size_t i = 0; i < edit->count; i++) {
		names |= name_bit(edit->changes[i].path);
		if (edit->changes[i].new_path)
			names |= name_bit(edit->changes[i].new_path);
	}
	return names;
}

/* Whether an edit that came before it, and is not done, is about the same names. Locked. */
static bool edit_must_wait(const struct server *server, const struct served_request *job)
{
	for (const struct served_request *other = server->alive; other; other = other->next_alive)
		if (other->edits && other->arrived < job->arrived && (other->names & job->names))
			return true;
	return false;
}

/* ---- jobs ---- */

static void enqueue(struct server *server, struct served_request *job)
{
	bool wake;

	job->next = NULL;
	*server->queue_last = job;
	server->queue_last = &job->next;
	if (find_thread(server, &wake) && wake)
		pthread_cond_signal(&server->work);
}

static void add_alive(struct server *server, struct served_request *job)
{
	job->arrived = ++server->arrivals;
	job->next_alive = server->alive;
	server->alive = job;
	server->alive_count++;
}

void server_push(struct server *server, struct served_request *job)
{
	add_alive(server, job);
	enqueue(server, job);
}

/* After an edit is done. Locked. */
static void release_waiting(struct server *server)
{
	for (struct served_request **at = &server->waiting; *at;) {
		struct served_request *job = *at;

		if (edit_must_wait(server, job)) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		enqueue(server, job);
	}
}

void server_free_job(struct served_request *job)
{
	for (size_t i = 0; i < job->fd_count; i++)
		close(job->fds[i]);
	wire_arena_release(&job->arena);
	cancel_release(&job->cancel);
	free(job);
}

static void finish_job(struct server *server, struct served_request *job)
{
	struct served_request **at = &server->alive;

	while (*at != job)
		at = &(*at)->next_alive;
	*at = job->next_alive;
	server->alive_count--;
	if (job->edits) {
		server->edits_started--;
		release_waiting(server);
	}
	pthread_cond_broadcast(&server->idle_all);
}

bool server_run_job(struct server *server, struct served_request *job, bool wake)
{
	bool leads;

	server->edits_started += job->edits;
	pthread_mutex_unlock(&server->lock);
	if (wake)
		pthread_cond_signal(&server->work);
	job->request->answer(server, job);
	pthread_mutex_lock(&server->lock);
	finish_job(server, job);
	leads = job->leads;
	pthread_mutex_unlock(&server->lock);
	server_free_job(job);
	pthread_mutex_lock(&server->lock);
	return leads;
}

void server_yield(void *data)
{
	struct served_request *job = data;
	struct server *server = job->server;
	bool wake;

	if (!job->leads)
		return;
	wire_flush(&server->wire); /* answers that were to go with this one's */
	pthread_mutex_lock(&server->lock);
	job->leads = server->leading = false;
	wake = find_thread(server, &wake) && wake;
	pthread_mutex_unlock(&server->lock);
	if (wake)
		pthread_cond_signal(&server->work);
}

/* Whether the reading thread answers it before it reads on.  Another thread must be free to read if
 * that takes long. Locked. */
static bool is_quick(const struct server *server, const struct served_request *job)
{
	const struct wire_edit *edit = job->body;

	return job->edits && edit->count == 1 &&
	       edit->changes[0].text.len + edit->changes[0].old_text.len <= QUICK_BYTES &&
	       (server->idle || server->threads < THREADS);
}

bool server_take_job(struct server *server, struct served_request *job)
{
	bool wake;

	add_alive(server, job);
	if (job->edits && edit_must_wait(server, job)) {
		struct served_request **at = &server->waiting;

		while (*at)
			at = &(*at)->next;
		job->next = NULL;
		*at = job;
	} else if (is_quick(server, job)) {
		job->leads = true;
		return server_run_job(server, job, /* wake= */ false);
	} else if (find_thread(server, &wake)) {
		server->leading = false;
		server_run_job(server, job, wake);
		return false;
	} else {
		enqueue(server, job);
	}
	return true;
}
