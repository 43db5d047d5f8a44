/* SPDX-License-Identifier: Apache-2.0 */
/* What is done with each kind of request: limits on what is asked for, answers, commands and
 * their events. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "sandbox/plan/location.h"
#include "worker/inside/server.h"

/* ---- serve limit ---- */

/* The limits given when the worker was started (`hasp worker --root DIR ...`), against what a HELLO
 * requests. */

/* Whether the path, which may not exist, is one of those or beneath one, links resolved. */
static bool path_is_among(const char *path, const char *const *paths, size_t count)
{
	_cleanup_free_ char *real = realpath(path, NULL);
	bool found = false;

	for (size_t i = 0; real && i < count && !found; i++) {
		_cleanup_free_ char *allowed = realpath(paths[i], NULL);

		found = allowed && location_within(real, allowed);
	}
	return found;
}

static bool check_allowed_paths(const char *const *paths, size_t count,
                                const struct worker_options *most,
                                const char *const *also, size_t also_count, const char *what,
                                struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (!path_is_among(paths[i], most->roots, most->root_count) &&
		    !path_is_among(paths[i], also, also_count))
			return err_set(err, ERR_DENIED_BY_SANDBOX,
			               "This worker does not allow %s %s.", what, paths[i]);
	return true;
}

static char **join_text_lists(const char *const *a, size_t a_count, const char *const *b,
                              size_t b_count)
{
	char **all = mem_alloc(a_count + b_count + 1, sizeof(*all));

	for (size_t i = 0; i < a_count + b_count; i++)
		all[i] = (char *)(i < a_count ? a[i] : b[i - a_count]);
	return all;
}

static bool check_allowed(const struct worker_options *options, const struct worker_options *most,
                          struct err *err)
{
	if (!most->root_count)
		return true;
	if (options->network && !most->network)
		return err_set(err, ERR_DENIED_BY_SANDBOX,
		               "This worker does not allow the network (--net).");
	return check_allowed_paths(options->roots, options->root_count, most, NULL, 0,
	                           "the workspace",
	                           err) &&
	       check_allowed_paths(options->write, options->write_count, most, most->write,
	                           most->write_count, "writing", err) &&
	       check_allowed_paths(options->read, options->read_count, most, most->read,
	                           most->read_count, "reading", err);
}

static bool check_level(struct worker_options *options, const struct worker_options *most,
                        struct err *err)
{
	if (!most->level_given)
		return true;
	if (options->level_given && options->level != most->level)
		return err_set(err, ERR_DENIED_BY_SANDBOX, "This worker works at level %s only.",
		               sandbox_level_name(most->level));
	options->level_given = true;
	options->level = most->level;
	return true;
}

bool server_limit_options(struct worker_options *options, const struct worker_options *most,
                 struct wire_arena *arena, struct err *err)
{
	if (!check_allowed(options, most, err) || !check_level(options, most, err))
		return false;
	/* What is hidden here is hidden, whatever is asked for. */
	options->deny = (const char *const *)join_text_lists(options->deny, options->deny_count,
	                                                     most->deny,
	                                                     most->deny_count);
	options->deny_count += most->deny_count;
	wire_arena_keep(arena, (void *)options->deny);
	options->keep = (const char *const *)join_text_lists(options->keep, options->keep_count,
	                                                     most->keep, most->keep_count);
	options->keep_count += most->keep_count;
	wire_arena_keep(arena, (void *)options->keep);
	options->syscalls = (const char *const *)join_text_lists(options->syscalls,
	                                                         options->syscall_count,
	                                                         most->syscalls,
	                                                         most->syscall_count);
	options->syscall_count += most->syscall_count;
	wire_arena_keep(arena, (void *)options->syscalls);
	return true;
}

/* Likewise what a command is permitted beyond its session. */
static bool limit_run(const struct run_request *request, const struct worker_options *most,
                            struct err *err)
{
	const struct worker_options asked = {
		.network = request->network,
		.write = request->write,
		.write_count = request->write_count,
		.read = request->read,
		.read_count = request->read_count,
	};

	return check_allowed(&asked, most, err);
}

/* ---- one function a kind of request ---- */

/* Asks the provider, sends what it says. */

typedef void send_function(struct server *server, enum wire_type type, uint64_t id,
                           const void *body);

static void send_read(struct server *server, send_function *send, uint64_t id, bool ok,
                      const struct err *err, struct read_result *result)
{
	struct wire_read_done done = { .result = *result };

	if (!ok)
		done.err = *err;
	send(server, WIRE_MESSAGE_READ_DONE, id, &done);
	read_result_release(result);
}

bool server_answer_read(struct server *server, uint64_t id, const struct read_request *request)
{
	struct read_request quick = *request;
	struct err err = ERR_INIT;
	struct read_result result;
	bool ok;

	quick.at_once = true;
	quick.arrived = server->wire.received;
	ok = provider_read(server->provider, &quick, &result, &err);
	if (!ok && result.not_at_once && !request->at_once) {
		read_result_release(&result);
		return false;
	}
	send_read(server, server_queue, id, ok, &err, &result);
	return true;
}

static void answer_read(struct server *server, struct served_request *job)
{
	struct read_request request = *(const struct read_request *)job->body;
	struct err err = ERR_INIT;
	struct read_result result;
	bool ok;

	request.cancel = &job->cancel;
	ok = provider_read(server->provider, &request, &result, &err);

	send_read(server, server_send, job->id, ok, &err, &result);
}

static void answer_edit(struct server *server, struct served_request *job)
{
	const struct wire_edit *edit = job->body;
	struct wire_edit_done done = { .count = edit->count };
	struct edit_options options = edit->options;
	struct err err = ERR_INIT;

	if (job->leads) {
		options.commit.waits = server_yield;
		options.commit.waits_data = job;
	}
	done.results = mem_alloc(edit->count + 1, sizeof(*done.results));
	if (!provider_edit(server->provider, edit->changes, edit->count,
	                                 &options, done.results, &err))
		done.err = err;
	(job->leads ? server_queue : server_send)(server, WIRE_MESSAGE_EDIT_DONE, job->id, &done);
	for (size_t i = 0; i < edit->count; i++)
		change_result_release(&done.results[i]);
	free(done.results);
}

static void answer_walk(struct server *server, struct served_request *job)
{
	struct walk_result result;
	struct err err = ERR_INIT;

	if (!server->provider->ops->walk(server->provider, job->body, &result, &err)) {
		server_send_error(server, job->id, &err);
		return;
	}
	server_send(server, WIRE_MESSAGE_WALK_DONE, job->id, &result);
	walk_result_release(&result);
}

static void answer_search(struct server *server, struct served_request *job)
{
	struct search_request request = *(const struct search_request *)job->body;
	struct search_result result;
	struct err err = ERR_INIT;

	request.cancel = &job->cancel;
	if (!server->provider->ops->search(server->provider, &request, &result, &err)) {
		server_send_error(server, job->id, &err);
		return;
	}
	server_send(server, WIRE_MESSAGE_SEARCH_DONE, job->id, &result);
	search_result_release(&result);
}

/* ---- watches ---- */

static void report_change(void *data)
{
	struct served_watch *served = data;

	server_send(served->server, WIRE_MESSAGE_CHANGED, served->id, NULL);
}

static void answer_watch(struct server *server, struct served_request *job)
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
	server_send(server, WIRE_MESSAGE_WATCHING, job->id, NULL);
}

static void answer_unwatch(struct server *server, struct served_request *job)
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

static void answer_run(struct server *server, struct served_request *job);

const struct request_kind *server_find_request(unsigned number)
{
	static const struct request_kind requests[] = {
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

/* ---- commands over a connection ---- */

/* Their events become messages, messages become orders to them. */

enum {
	OUTPUT_PIECE = 64 << 10,
	OFFER_MS = 20, /* input that a command does not take is offered again */
	CONFIG_WAIT_S = 10, /* for the front to write a configuration */
};

/* ---- events ---- */

static void served_started(void *data, int pid)
{
	struct served_run *served = data;
	const struct wire_run_started body = { pid };

	server_send(served->server, WIRE_MESSAGE_RUN_STARTED, served->id, &body);
}

/* Waits until the other side has handled enough of what it got. */
static bool await_credit(struct served_run *served, size_t len)
{
	struct server *server = served->server;
	bool go;

	pthread_mutex_lock(&server->lock);
	while (!server->stopping && served->outstanding + len > LIMIT_RUN_WINDOW)
		pthread_cond_wait(&served->credit, &server->lock);
	go = !server->stopping;
	served->outstanding += len;
	pthread_mutex_unlock(&server->lock);
	return go;
}

static void served_output(void *data, enum run_stream stream, struct span bytes)
{
	struct served_run *served = data;

	while (bytes.len) {
		const struct wire_run_output body = { stream, span_head(bytes, OUTPUT_PIECE) };

		if (!await_credit(served, body.bytes.len))
			return;
		server_send(served->server, WIRE_MESSAGE_RUN_OUTPUT, served->id, &body);
		bytes = span_skip(bytes, body.bytes.len);
	}
}

static void served_closed(void *data, enum run_stream stream)
{
	struct served_run *served = data;
	const struct wire_run_output body = { .stream = stream };

	server_send(served->server, WIRE_MESSAGE_RUN_OUTPUT, served->id, &body);
}

static void served_denied(void *data, const struct denial *denial)
{
	struct served_run *served = data;

	server_send(served->server, WIRE_MESSAGE_RUN_DENIED, served->id, denial);
}

static void served_hidden(void *data, const struct run_hidden *hidden)
{
	struct served_run *served = data;

	server_send(served->server, WIRE_MESSAGE_RUN_HIDDEN, served->id, hidden);
}

static void served_secret(void *data, bool secret)
{
	struct served_run *served = data;
	const struct wire_run_secret body = { secret };

	server_send(served->server, WIRE_MESSAGE_RUN_SECRET, served->id, &body);
}

/* Waits for the answer.  While it does the command makes no call that could change what is asked
 * about; other commands may. */
static bool served_config(void *data, const char *path)
{
	struct served_run *served = data;
	struct server *server = served->server;
	const struct wire_run_config body = { path };
	struct timespec until;
	bool done;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += CONFIG_WAIT_S;
	pthread_mutex_lock(&server->lock);
	served->config = CONFIG_ASKED;
	pthread_mutex_unlock(&server->lock);
	server_send(server, WIRE_MESSAGE_RUN_CONFIG, served->id, &body);
	pthread_mutex_lock(&server->lock);
	while (served->config == CONFIG_ASKED && !server->stopping &&
	       pthread_cond_timedwait(&served->config_answered, &server->lock, &until) == 0)
		;
	done = served->config == CONFIG_DONE;
	served->config = CONFIG_IDLE;
	pthread_mutex_unlock(&server->lock);
	return done;
}

static void served_main_ended(void *data, const struct run_end *end)
{
	struct served_run *served = data;

	server_send(served->server, WIRE_MESSAGE_RUN_MAIN_ENDED, served->id, end);
}

/* ---- the end of a run ---- */

static void served_free(struct served_run *served)
{
	if (served->run)
		served->run->ops->free(served->run);
	while (served->input) {
		struct run_piece *piece = served->input;

		served->input = piece->next;
		free(piece);
	}
	pthread_cond_destroy(&served->credit);
	pthread_cond_destroy(&served->config_answered);
	free(served);
}

static void unlink_run(struct server *server, const struct served_run *served)
{
	struct served_run **at = &server->runs;

	while (*at != served)
		at = &(*at)->next;
	*at = served->next;
}

static void answer_free_run(struct server *server, struct served_request *job)
{
	struct served_run *served = job->body;

	(void)server;
	served_free(served);
}

static const struct request_kind free_run = { WIRE_MESSAGE_RUN_KILL, answer_free_run };

/* It ended: freed on another thread, since its events arrive on one of its threads. Locked. */
static void served_retire(struct server *server, struct served_run *served)
{
	struct served_request *job;

	if (server->stopping)
		return; /* server_end_runs does it */
	unlink_run(server, served);
	job = mem_alloc(1, sizeof(*job));
	cancel_init_lazily(&job->cancel);
	job->request = &free_run;
	job->body = served;
	server_push(server, job);
}

static void served_ended(void *data, const struct run_end *end)
{
	struct served_run *served = data;
	struct server *server = served->server;

	server_send(server, WIRE_MESSAGE_RUN_ENDED, served->id, end);
	pthread_mutex_lock(&server->lock);
	served->ended = true;
	if (served->run)
		served_retire(server, served);
	pthread_mutex_unlock(&server->lock);
}

void server_end_runs(struct server *server)
{
	struct served_run *served;

	pthread_mutex_lock(&server->lock);
	while ((served = server->runs)) {
		server->runs = served->next;
		pthread_cond_broadcast(&served->credit);
		pthread_mutex_unlock(&server->lock);
		served_free(served);
		pthread_mutex_lock(&server->lock);
	}
	while (server->offering)
		pthread_cond_wait(&server->idle_all, &server->lock);
	pthread_mutex_unlock(&server->lock);
}

/* ---- the start ---- */

static void answer_run(struct server *server, struct served_request *job)
{
	static const struct run_events events = { .started = served_started,
	                                          .output = served_output,
		                                  .closed = served_closed,
		                                  .hidden = served_hidden,
		                                  .denied = served_denied,
		                                  .secret = served_secret,
		                                  .config = served_config,
		                                  .main_ended = served_main_ended,
		                                  .ended = served_ended };
	struct run_request request = *(const struct run_request *)job->body;
	struct served_run *served = mem_alloc(1, sizeof(*served));
	struct err err = ERR_INIT;
	pthread_condattr_t monotonic;
	struct run *run;

	*served = (struct served_run){ .server = server, .id = job->id };
	served->input_last = &served->input;
	pthread_cond_init(&served->credit, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&served->config_answered, &monotonic);
	pthread_condattr_destroy(&monotonic);
	request.stdio = job->fd_count == WIRE_FDS_MAX ? job->fds : NULL;
	if (!server->provider->ops->run ||
	    (server->most && !limit_run(&request, server->most, &err)) ||
	    !server->provider->ops->run(server->provider, &request, &events, served, &run, &err)) {
		if (err.code == ERR_NONE)
			err_set(&err, ERR_DENIED_BY_SANDBOX, "This worker runs no commands.");
		served_free(served);
		server_send_error(server, job->id, &err);
		return;
	}
	/* It must be known before the other side learns that it can send something to it. */
	pthread_mutex_lock(&server->lock);
	served->next = server->runs;
	server->runs = served;
	served->run = run;
	if (served->ended)
		served_retire(server, served);
	pthread_mutex_unlock(&server->lock);
	server_send(server, WIRE_MESSAGE_RUNNING, job->id, NULL);
}

/* ---- input ---- */

/* Hands on what is queued, as far as it is taken. Locked. */
static void offer_input(struct served_run *served)
{
	while (served->run && served->input && !served->ended) {
		struct run_piece *piece = served->input;

		if (!served->run->ops->input(served->run, span_of(piece->bytes, piece->len)))
			break;
		served->unacknowledged += piece->len;
		served->input_bytes -= piece->len;
		served->input = piece->next;
		if (!served->input)
			served->input_last = &served->input;
		free(piece);
	}
	if (served->run && !served->input && served->end_input && !served->ended) {
		served->end_input = false;
		served->run->ops->close_input(served->run);
	}
}

/* Says how much was taken; not with the lock, which is held before and after. */
static void report_taken(struct server *server)
{
	struct served_run *run = server->runs;

	while (run) {
		const struct wire_run_taken body = { run->unacknowledged };
		uint64_t id = run->id;

		if (!run->unacknowledged) {
			run = run->next;
			continue;
		}
		run->unacknowledged = 0;
		pthread_mutex_unlock(&server->lock);
		server_send(server, WIRE_MESSAGE_RUN_INPUT_TAKEN, id, &body);
		pthread_mutex_lock(&server->lock);
		run = server->runs;
	}
}

static bool any_stuck(const struct server *server)
{
	for (const struct served_run *run = server->runs; run; run = run->next)
		if (run->input && !run->ended)
			return true;
	return false;
}

static void *offer_thread(void *data)
{
	const struct timespec pause = { 0, OFFER_MS * 1000000 };
	struct server *server = data;

	pthread_mutex_lock(&server->lock);
	while (!server->stopping && any_stuck(server)) {
		pthread_mutex_unlock(&server->lock);
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&server->lock);
		for (struct served_run *run = server->runs; run; run = run->next)
			offer_input(run);
		report_taken(server);
	}
	server->offering = false;
	pthread_cond_broadcast(&server->idle_all);
	pthread_mutex_unlock(&server->lock);
	return NULL;
}

static void offer_later(struct server *server)
{
	pthread_attr_t how;
	pthread_t thread;

	if (server->offering)
		return;
	pthread_attr_init(&how);
	pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&how, 64 << 10);
	server->offering = pthread_create(&thread, &how, offer_thread, server) == 0;
	pthread_attr_destroy(&how);
}

static bool served_take_input(struct server *server, struct served_run *served, struct span bytes)
{
	struct run_piece *piece;

	if (served->input_bytes + bytes.len > LIMIT_RUN_INPUT_BYTES)
		return false;
	piece = mem_alloc(1, sizeof(*piece) + bytes.len);
	piece->len = bytes.len;
	memcpy(piece->bytes, bytes.data, bytes.len);
	*served->input_last = piece;
	served->input_last = &piece->next;
	served->input_bytes += bytes.len;
	offer_input(served);
	if (served->input)
		offer_later(server);
	return true;
}

/* ---- orders to a command ---- */

static bool served_control(struct server *server, struct served_run *served, const void *body)
{
	struct run *run = served->run;

	switch (server->wire.frame.message->number) {
	case WIRE_MESSAGE_RUN_INPUT:
		return served_take_input(server, served,
		                         ((const struct wire_run_input *)body)->bytes);
	case WIRE_MESSAGE_RUN_END_INPUT:
		served->end_input = true;
		offer_input(served);
		return true;
	case WIRE_MESSAGE_RUN_RESIZE: {
		const struct wire_run_resize *size = body;

		run->ops->resize(run, size->rows, size->columns);
		return true;
	}
	case WIRE_MESSAGE_RUN_SIGNAL:
		run->ops->signal(run, ((const struct wire_run_signal *)body)->signal);
		return true;
	case WIRE_MESSAGE_RUN_KILL:
		if (served->config == CONFIG_ASKED)
			served->config = CONFIG_REFUSED;
		pthread_cond_broadcast(&served->config_answered);
		run->ops->kill(run);
		return true;
	case WIRE_MESSAGE_RUN_CONFIG_DONE: /* one that comes too late answers nothing */
		if (served->config == CONFIG_ASKED)
			served->config = ((const struct wire_run_config_done *)body)->done ?
			                 CONFIG_DONE : CONFIG_REFUSED;
		pthread_cond_broadcast(&served->config_answered);
		return true;
	case WIRE_MESSAGE_RUN_TAKEN: {
		uint64_t bytes = ((const struct wire_run_taken *)body)->bytes;

		if (bytes > served->outstanding)
			return false;
		served->outstanding -= bytes;
		pthread_cond_broadcast(&served->credit);
		return true;
	}
	}
	return false;
}

bool server_control_run(struct server *server)
{
	struct wire *wire = &server->wire;
	const struct wire_layout *layout = wire->frame.message->layout;
	struct wire_arena arena = { 0 };
	_cleanup_wire_in_ struct wire_in in;
	void *body = wire_arena_alloc(&arena, 1, layout->size + 1);
	bool ok;

	wire_open(wire, &arena, &in);
	ok = wire_decode_frame(wire, &in, body);
	pthread_mutex_lock(&server->lock);
	for (struct served_run *run = server->runs; ok && run; run = run->next)
		if (run->id == wire->frame.id && run->run && !run->ended) {
			ok = served_control(server, run, body);
			break;
		}
	report_taken(server);
	pthread_mutex_unlock(&server->lock);
	wire_arena_release(&arena);
	return ok;
}
