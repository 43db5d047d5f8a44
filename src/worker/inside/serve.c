/* SPDX-License-Identifier: Apache-2.0 */
/* Reading requests, and the threads that answer them.
 *
 * One thread at a time reads.  Having read a request it hands reading to another, and answers the
 * request itself, so that a request changes threads only when all are busy; a small read, or a
 * small edit, is answered before the next request is read, which is faster than waking a thread.
 * During an edit that turns out to take long (it waits for the disk or a lock, or the file is
 * large) another thread reads.  Threads are started when none is left to read, and end after a
 * while. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/apply/inside.h"
#include "worker/front/open.h"
#include "worker/inside/inprocess.h"
#include "worker/inside/server.h"

/* ---- from a HELLO to a provider ---- */

/* Inside a sandbox: with this process's rights, which the plan describes. */
static bool open_confined(void *data, const struct wire_hello *hello, struct provider **ret,
                          struct err *err)
{
	const struct worker_options *from = &hello->options;
	struct inprocess_options options = {
		.roots = from->roots,
		.root_count = from->root_count,
		.root_names = from->root_names,
		.root_name_count = from->root_name_count,
		.read = from->read,
		.read_count = from->read_count,
		.journal_folder = from->journal_folder,
		.durability = from->durability,
		.max_file_bytes = (size_t)from->max_file_bytes,
		.keep_cache = from->keep_cache,
		.ret_recovered = from->ret_recovered,
		.plan = hello->plan,
	};

	(void)data;
	if (!from->root_count || !hello->plan)
		return err_set(err, ERR_INVALID_ARGUMENT, "A confined worker needs a plan.");
	if (hello->plan->use == SANDBOX_USE_COMMAND && hello->plan->level != SANDBOX_PATHS &&
	    fcntl(SERVE_RECALL_FD, F_SETFD, FD_CLOEXEC) == 0)
		options.recall = SERVE_RECALL_FD;
	if (hello->plan->use == SANDBOX_USE_FILES && !sandbox_harden_files(hello->plan, err))
		return false;
	/* The plan was made without reading git's files, which may say anything. */
	if (!sandbox_plan_holds(hello->plan))
		return err_set(err, ERR_STATE_MISMATCH,
		               "git's files say something else than the plan rests on.");
	return inprocess_provider(&options, ret, err);
}

/* Without confinement, limits on folders are not enforced: that must be requested explicitly. */
static bool check_confined(struct provider *provider, const struct worker_options *most,
                           struct err *err)
{
	if (!most || !most->root_count || most->level_given ||
	    provider->ops->info(provider)->level != SANDBOX_PATHS)
		return true;
	return err_set(err, ERR_DENIED_BY_SANDBOX,
	               "This worker has --root, but commands would not be confined (level paths); "
	               "\"hasp worker --sandbox paths\" allows that.");
}

/* Anywhere: with separate workers, within the limits that this one was started with. */
static bool open_free(void *data, const struct wire_hello *hello, struct provider **ret,
                      struct err *err)
{
	const struct worker_options *most = data;
	struct worker_options options = hello->options;
	struct wire_arena arena = { 0 };
	bool ok;

	if (!options.root_count)
		return err_set(err, ERR_INVALID_ARGUMENT, "Name a workspace folder.");
	if (!options.journal_folder && most)
		options.journal_folder = most->journal_folder;
	ok = (!most || server_limit_options(&options, most, &arena, err)) &&
	     (options.level_given && options.level == SANDBOX_PATHS ?
	              local_provider_none(&options, ret, err) : local_provider(&options, ret, err));
	wire_arena_release(&arena);
	if (ok && !check_confined(*ret, most, err)) {
		provider_free(*ret);
		ok = false;
	}
	return ok;
}

int worker_serve(const struct worker_serve_options *options)
{
	const struct serve_connection connection = {
		.read_fd = options->read_fd,
		.write_fd = options->write_fd,
		.open = options->confined ? open_confined : open_free,
		.data = (void *)options->most,
		.most = options->most,
		.leave_at_once = options->confined,
	};

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files: EFBIG */
	return serve_connection(&connection) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- reading and answering ---- */

enum {
	IDLE_S = 10,
	COMMIT_WAIT_S = 60,      /* the other side has closed: for edits under way */
};

/* ---- what arrives ---- */

static bool refuse_request(struct server *server, const struct err *err)
{
	server_send_error(server, server->wire.frame.id, err);
	return wire_done(&server->wire) == WIRE_FRAME;
}

/* Decodes the frame's body into the arena, blob and all. */
static void *read_body(struct server *server, struct wire_arena *arena)
{
	struct wire *wire = &server->wire;
	const struct wire_layout *layout = wire->frame.message->layout;
	_cleanup_wire_in_ struct wire_in in;
	void *body = wire_arena_alloc(arena, 1, layout->size + 1);

	wire_open(wire, arena, &in);
	wire_arena_keep(arena, wire_take_fields(wire));
	if (!wire_decode_frame(wire, &in, body) || wire_read_blob(wire, &in) != WIRE_FRAME)
		return NULL;
	return body;
}

static struct served_request *make_job(struct server *server)
{
	struct wire_frame *frame = &server->wire.frame;
	struct served_request *job = mem_alloc(1, sizeof(*job));

	cancel_init_lazily(&job->cancel);
	job->id = frame->id;
	job->server = server;
	job->request = server_find_request(frame->message->number);
	job->body = read_body(server, &job->arena);
	if (!job->body || !job->request) {
		server_free_job(job);
		return NULL;
	}
	memcpy(job->fds, frame->fds, sizeof(job->fds));
	job->fd_count = frame->fd_count;
	frame->fd_count = 0;
	job->edits = job->request->type == WIRE_MESSAGE_EDIT;
	if (job->edits)
		job->names = server_edit_names(job->body);
	return job;
}

static void cancel_job(struct server *server, uint64_t id)
{
	pthread_mutex_lock(&server->lock);
	for (struct served_request *job = server->alive; job; job = job->next_alive)
		if (job->id == id)
			cancel_set(&job->cancel);
	pthread_mutex_unlock(&server->lock);
}

static bool welcome(struct server *server)
{
	struct wire_welcome answer = { 0 };
	struct provider *provider = server->provider;
	const struct provider_info *info = provider->ops->info(provider);
	const char **roots = NULL;
	size_t cap = 0;
	const char *root;

	while ((root = provider->ops->root(provider, answer.root_count))) {
		roots = mem_grow(roots, &cap, answer.root_count + 1, sizeof(*roots));
		roots[answer.root_count++] = root;
	}
	answer.roots = (char **)roots;
	answer.kind = (char *)info->kind;
	answer.level = info->level;
	answer.weaker_because = (char *)info->weaker_because;
	answer.recovered = server->recovered;
	server_send(server, WIRE_MESSAGE_WELCOME, server->wire.frame.id, &answer);
	free(roots);
	return true;
}

static bool take_hello(struct server *server)
{
	struct wire_hello *hello;
	struct err err = ERR_INIT;

	hello = read_body(server, &server->hello_arena);
	if (!hello)
		return false;
	hello->options.ret_recovered = &server->recovered;
	if (!server->open(server->open_data, hello, &server->provider, &err)) {
		server->provider = NULL;
		server_send_error(server, server->wire.frame.id, &err);
		return false;
	}
	server->greeted = true;
	if (!(server->wire.peer.features & WIRE_FEATURE_LEASE))
		server->wire.silence_ms = 0;
	return welcome(server) && wire_done(&server->wire) == WIRE_FRAME;
}

/* A small read. *ret_job: it was not small. */
static bool take_small_read(struct server *server, struct served_request **ret_job)
{
	struct served_request *job = make_job(server);

	if (!job)
		return false;
	if (server_answer_read(server, job->id, job->body))
		server_free_job(job);
	else
		*ret_job = job;
	return wire_done(&server->wire) == WIRE_FRAME;
}

/* Takes one frame; *ret_job: a job for some thread. False: the end. */
static bool take_frame(struct server *server, struct served_request **ret_job)
{
	static const struct err too_many = { .code = ERR_TOO_LARGE,
		                             .message = "Too many calls are under way." };
	const struct wire_frame *frame = &server->wire.frame;

	if (!server->greeted)
		return frame->message->number == WIRE_MESSAGE_HELLO && take_hello(server);
	switch (frame->message->number) {
	case WIRE_MESSAGE_HELLO:
		return false;
	case WIRE_MESSAGE_PING:
		server_send(server, WIRE_MESSAGE_PONG, frame->id, NULL);
		return wire_done(&server->wire) == WIRE_FRAME;
	case WIRE_MESSAGE_CANCEL:
		cancel_job(server, frame->id);
		return wire_done(&server->wire) == WIRE_FRAME;
	case WIRE_MESSAGE_READ:
		return take_small_read(server, ret_job);
	}
	if (frame->message->when == WIRE_WHEN_RUN)
		return server_control_run(server) && wire_done(&server->wire) == WIRE_FRAME;
	if (server->alive_count >= LIMIT_WIRE_CALLS && !frame->blob_bytes)
		return refuse_request(server, &too_many);
	*ret_job = make_job(server);
	return *ret_job && wire_done(&server->wire) == WIRE_FRAME;
}

/* ---- threads ---- */

/* Reads until it has a request to answer, and answers it; or until the end. Locked. */
static void lead(struct server *server)
{
	server->leading = true;
	while (!server->stopping) {
		struct served_request *job = NULL;
		bool ok;

		pthread_mutex_unlock(&server->lock);
		ok = wire_next(&server->wire) == WIRE_FRAME && take_frame(server, &job);
		pthread_mutex_lock(&server->lock);
		if (!ok) {
			server->stopping = true;
			if (job) /* never started */
				server_free_job(job);
			break;
		}
		if (job && !server_take_job(server, job))
			return;
	}
}

static void work(struct server *server, bool forever)
{
	struct timespec until;
	int waited = 0;

	while (!server->stopping && (forever || waited != ETIMEDOUT)) {
		struct served_request *job = server->queue;

		waited = 0;
		if (job) {
			server->queue = job->next;
			if (!server->queue)
				server->queue_last = &server->queue;
			server_run_job(server, job, /* wake= */ false);
		} else if (!server->leading) {
			lead(server);
		} else {
			clock_gettime(CLOCK_REALTIME, &until);
			until.tv_sec += IDLE_S;
			/* One that is left stays, and sets no timer: a worker at rest sleeps. */
			if (server->idle++)
				waited = pthread_cond_timedwait(&server->work, &server->lock,
				                                &until);
			else
				pthread_cond_wait(&server->work, &server->lock);
			server->idle--;
			if (!server->leading || server->queue)
				waited = 0;
		}
	}
}

static void *pool_thread(void *data)
{
	struct server *server = data;

	pthread_mutex_lock(&server->lock);
	work(server, false);
	server->threads--;
	pthread_cond_broadcast(&server->work);
	pthread_cond_broadcast(&server->idle_all);
	pthread_mutex_unlock(&server->lock);
	return NULL;
}

/* ---- the end ---- */

/* The front shows what its worker wrote to standard error, if it ended unexpectedly. */
static void say_broken(const struct wire *wire)
{
	if (wire->write_error)
		dprintf(STDERR_FILENO, "Its messages could not be sent: %s.\n",
		        strerror(wire->write_error));
	else if (wire->problem[0])
		dprintf(STDERR_FILENO, "The connection to hasp failed: %s.\n", wire->problem);
}

/* Cancels what can be; waits for what must not be cut short. Locked. */
static void stop_server(struct server *server, bool leave_at_once)
{
	struct timespec until;

	for (struct served_request *job = server->alive; job; job = job->next_alive)
		cancel_set(&job->cancel);
	server->wire.leaving = true; /* no thread may wait for room in it */
	if (server->wire.is_socket)
		shutdown(server->wire.write_fd, SHUT_RDWR);
	pthread_cond_broadcast(&server->work);
	for (struct served_run *run = server->runs; run; run = run->next) {
		pthread_cond_broadcast(&run->credit);
		pthread_cond_broadcast(&run->config_answered);
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += COMMIT_WAIT_S;
	while (leave_at_once && server->edits_started)
		if (pthread_cond_timedwait(&server->idle_all, &server->lock, &until) != 0)
			break;
	if (leave_at_once)
		say_broken(&server->wire);
	if (leave_at_once && !server->runs)
		_exit(0);
	while (server->threads)
		pthread_cond_wait(&server->idle_all, &server->lock);
}

/* Requests that were not started. */
static void drop_jobs(struct served_request *jobs)
{
	while (jobs) {
		struct served_request *job = jobs;

		jobs = job->next;
		server_free_job(job);
	}
}

static void release_server(struct server *server)
{
	server_end_runs(server);
	while (server->watches) {
		struct served_watch *served = server->watches;

		server->watches = served->next;
		server->provider->ops->unwatch(server->provider, served->watch);
		free(served);
	}
	drop_jobs(server->queue);
	drop_jobs(server->waiting);
	provider_free(server->provider);
	wire_arena_release(&server->hello_arena);
	wire_release(&server->wire);
	pthread_cond_destroy(&server->work);
	pthread_cond_destroy(&server->idle_all);
	pthread_mutex_destroy(&server->lock);
}

/* Programs in between (conmon, sshd behind a dead network) may keep a connection open whose other
 * end has closed: nothing arrives, and what was started would run forever.  So the greeting and the
 * HELLO must arrive within the time of a lease, and after them keep-alives from a front that has
 * promised them. */
static bool greet(struct server *server, const struct serve_connection *connection)
{
	struct wire *wire = &server->wire;
	struct err err = ERR_INIT;

	wire->silence_ms = connection->silence_ms ? connection->silence_ms : WIRE_SILENCE_MS;
	return wire_greet(wire, WIRE_FEATURE_RUN | WIRE_FEATURE_LEASE, &err) &&
	       wire_greeted(wire, NULL, 0) == WIRE_FRAME &&
	       wire->peer.least <= WIRE_VERSION && wire->peer.most >= WIRE_VERSION_LEAST;
}

/* A thread that blocks in a write to a pipe could not be stopped, so the pipe is made non-blocking.
 * Its flags before, for restore_pipe; -1: it is as it was. */
static int unblock_pipe(const struct wire *wire)
{
	bool leased = wire->peer.features & WIRE_FEATURE_LEASE;
	int flags = leased && !wire->is_socket ? fcntl(wire->write_fd, F_GETFL) : -1;

	if (flags >= 0)
		fcntl(wire->write_fd, F_SETFL, flags | O_NONBLOCK);
	return flags;
}

static void restore_pipe(int fd, int flags)
{
	if (flags >= 0)
		fcntl(fd, F_SETFL, flags);
}

bool serve_connection(const struct serve_connection *connection)
{
	struct server server = { .open = connection->open, .open_data = connection->data,
		                 .most = connection->most, .run_thread = pool_thread };
	int flags = -1;
	bool orderly;

	wire_init(&server.wire, connection->read_fd, connection->write_fd, WIRE_TO_WORKER);
	pthread_mutex_init(&server.lock, NULL);
	pthread_cond_init(&server.work, NULL);
	pthread_cond_init(&server.idle_all, NULL);
	server.queue_last = &server.queue;
	if (greet(&server, connection)) {
		flags = unblock_pipe(&server.wire);
		pthread_mutex_lock(&server.lock);
		work(&server, true);
		stop_server(&server, connection->leave_at_once);
		pthread_mutex_unlock(&server.lock);
	}
	orderly = !server.wire.problem[0];
	release_server(&server);
	restore_pipe(connection->write_fd, flags);
	return orderly;
}
