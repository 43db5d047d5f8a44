/* SPDX-License-Identifier: Apache-2.0 */
/* Reading requests, and the threads that answer them.
 *
 * One thread at a time reads.  Having read a request it lets another one read, and answers it
 * itself, so that a request changes threads only when all are busy; a small read, or a small edit,
 * is answered before the next request is looked at, which is quicker than waking anybody.  An edit
 * that turns out to take long (it waits for the disk or a lock, or the file is large) has another
 * thread read from then on.  Threads are started when there is no other to read, and end after a
 * while.
 *
 * Edits that name a file of the same name (the last component) wait for one another, in the order
 * in which they came.  (Links of another name to the same file are not known here: those edits
 * are safe, by compare-and-swap, but come in any order.) */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/apply/inside.h"
#include "worker/inside/inprocess.h"
#include "worker/inside/serve_private.h"

/* ---- from a HELLO to a provider ---- */

/* Inside a sandbox: with this process's rights, which the plan describes. */
static bool open_confined(void *data, const struct wire_hello *hello, struct provider **ret,
                          struct err *err)
{
	const struct worker_options *from = &hello->options;
	const struct inprocess_options options = {
		.roots = from->roots,
		.root_count = from->root_count,
		.root_names = from->root_names,
		.root_name_count = from->root_name_count,
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
	if (hello->plan->use == SANDBOX_USE_FILES && !sandbox_harden_files(hello->plan, err))
		return false;
	/* Whoever made the plan has not looked into git's files, which may say anything. */
	if (!sandbox_plan_holds(hello->plan))
		return err_set(err, ERR_STATE_MISMATCH,
		               "git's files say something else than the plan rests on.");
	return provider_inprocess(&options, ret, err);
}

/* Limits of folders mean nothing without confinement: whoever wants that has to say so. */
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

/* Anywhere: with workers of its own, within what whoever started this one allows. */
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
	ok = (!most || serve_limit(&options, most, &arena, err)) &&
	     (options.level_given && options.level == SANDBOX_PATHS ?
	              provider_none(&options, ret, err) : provider_local(&options, ret, err));
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
	THREADS = 9,             /* one reads */
	STACK_BYTES = 1 << 20,
	IDLE_S = 10,
	COMMIT_WAIT_S = 60,      /* the other side has gone: for edits under way */
	QUICK_BYTES = 64 << 10,  /* of an edit that the one who reads answers itself */
};

/* ---- sending ---- */

static void send_or_queue(struct server *server, bool queue, enum wire_type type, uint64_t id,
                          const struct wire_layout *layout, const void *body)
{
	_cleanup_wire_out_ struct wire_out out;
	struct err err = ERR_INIT;
	bool sent;

	wire_out_init(&out);
	if (layout)
		wire_encode(&out, layout, body);
	sent = queue ? wire_queue(&server->wire, type, id, &out, &err) :
	               wire_send(&server->wire, type, id, &out, NULL, 0, &err);
	/* When the connection is gone, whoever reads finds out. */
	if (!sent && err.code == ERR_TOO_LARGE)
		server_send_error(server, id, &err);
}

void server_send(struct server *server, enum wire_type type, uint64_t id,
                 const struct wire_layout *layout, const void *body)
{
	send_or_queue(server, false, type, id, layout, body);
}

void server_queue(struct server *server, enum wire_type type, uint64_t id,
                  const struct wire_layout *layout, const void *body)
{
	send_or_queue(server, true, type, id, layout, body);
}

void server_send_error(struct server *server, uint64_t id, const struct err *err)
{
	const struct wire_error error = { *err };

	server_send(server, WIRE_MESSAGE_ERROR, id, &wire_layout_error, &error);
}

/* ---- threads to be had ---- */

static void *pool_thread(void *data);

static bool start_server_thread(struct server *server)
{
	pthread_attr_t how;
	pthread_t thread;
	bool ok;

	pthread_attr_init(&how);
	pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&how, STACK_BYTES);
	ok = pthread_create(&thread, &how, pool_thread, server) == 0;
	pthread_attr_destroy(&how);
	server->threads += ok;
	return ok;
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

static uint64_t names_of(const struct wire_edit *edit)
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
static bool must_wait(const struct server *server, const struct job *job)
{
	for (const struct job *other = server->alive; other; other = other->next_alive)
		if (other->edits && other->arrived < job->arrived && (other->names & job->names))
			return true;
	return false;
}

/* Whether some thread will look at the queue, or read, once it is woken (*ret_wake: by a signal);
 * false: all are busy, and will. Locked. */
static bool find_thread(struct server *server, bool *ret_wake)
{
	*ret_wake = server->idle > 0;
	return *ret_wake || (server->threads < THREADS && start_server_thread(server));
}

static void enqueue(struct server *server, struct job *job)
{
	bool wake;

	job->next = NULL;
	*server->queue_last = job;
	server->queue_last = &job->next;
	if (find_thread(server, &wake) && wake)
		pthread_cond_signal(&server->work);
}

static void add_alive(struct server *server, struct job *job)
{
	job->arrived = ++server->arrivals;
	job->next_alive = server->alive;
	server->alive = job;
	server->alive_count++;
}

void server_push(struct server *server, struct job *job)
{
	add_alive(server, job);
	enqueue(server, job);
}

/* After an edit is done. Locked. */
static void release_waiting(struct server *server)
{
	for (struct job **at = &server->waiting; *at;) {
		struct job *job = *at;

		if (must_wait(server, job)) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		enqueue(server, job);
	}
}

/* ---- jobs ---- */

static void job_free(struct job *job)
{
	for (size_t i = 0; i < job->fd_count; i++)
		close(job->fds[i]);
	wire_arena_release(&job->arena);
	free(job);
}

static void finish_job(struct server *server, struct job *job)
{
	struct job **at = &server->alive;

	while (*at != job)
		at = &(*at)->next_alive;
	*at = job->next_alive;
	server->alive_count--;
	if (job->edits) {
		server->edits_begun--;
		release_waiting(server);
	}
	pthread_cond_broadcast(&server->idle_all);
}

/* `wake`: a thread that find_thread has found. Woken without the lock, it does not have to wait for
 * that. Whether this thread, which read the job, is still the one who reads. */
static bool run_job(struct server *server, struct job *job, bool wake)
{
	bool leads;

	server->edits_begun += job->edits;
	pthread_mutex_unlock(&server->lock);
	if (wake)
		pthread_cond_signal(&server->work);
	job->request->answer(server, job);
	pthread_mutex_lock(&server->lock);
	finish_job(server, job);
	leads = job->leads;
	pthread_mutex_unlock(&server->lock);
	job_free(job);
	pthread_mutex_lock(&server->lock);
	return leads;
}

void serve_yield(void *data)
{
	struct job *job = data;
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

/* ---- what arrives ---- */

static bool refuse(struct server *server, const struct err *err)
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

static struct job *make_job(struct server *server)
{
	struct wire_frame *frame = &server->wire.frame;
	struct job *job = mem_alloc(1, sizeof(*job));

	job->id = frame->id;
	job->server = server;
	job->request = request_find(frame->message->number);
	job->body = read_body(server, &job->arena);
	if (!job->body || !job->request) {
		job_free(job);
		return NULL;
	}
	memcpy(job->fds, frame->fds, sizeof(job->fds));
	job->fd_count = frame->fd_count;
	frame->fd_count = 0;
	job->edits = job->request->type == WIRE_MESSAGE_EDIT;
	if (job->edits)
		job->names = names_of(job->body);
	return job;
}

static void cancel_job(struct server *server, uint64_t id)
{
	pthread_mutex_lock(&server->lock);
	for (struct job *job = server->alive; job; job = job->next_alive)
		if (job->id == id)
			job->cancel = true;
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
	server_send(server, WIRE_MESSAGE_WELCOME, server->wire.frame.id, &wire_layout_welcome,
	            &answer);
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
	return welcome(server) && wire_done(&server->wire) == WIRE_FRAME;
}

/* A small read. *ret_job: it was not small. */
static bool take_read(struct server *server, struct job **ret_job)
{
	struct job *job = make_job(server);

	if (!job)
		return false;
	if (answer_read_quickly(server, job->id, job->body))
		job_free(job);
	else
		*ret_job = job;
	return wire_done(&server->wire) == WIRE_FRAME;
}

/* One frame; *ret_job: what is to be done about it on some thread. False: the end. */
static bool take_frame(struct server *server, struct job **ret_job)
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
		server_send(server, WIRE_MESSAGE_PONG, frame->id, NULL, NULL);
		return wire_done(&server->wire) == WIRE_FRAME;
	case WIRE_MESSAGE_CANCEL:
		cancel_job(server, frame->id);
		return wire_done(&server->wire) == WIRE_FRAME;
	case WIRE_MESSAGE_READ:
		return take_read(server, ret_job);
	}
	if (frame->message->when == WIRE_WHEN_RUN)
		return serve_control(server) && wire_done(&server->wire) == WIRE_FRAME;
	if (server->alive_count >= LIMIT_WIRE_CALLS && !frame->blob_bytes)
		return refuse(server, &too_many);
	*ret_job = make_job(server);
	return *ret_job && wire_done(&server->wire) == WIRE_FRAME;
}

/* ---- threads ---- */

/* Whether the one who reads answers it before it reads on. Another must be there to read if that
 * takes long. Locked. */
static bool is_quick(const struct server *server, const struct job *job)
{
	const struct wire_edit *edit = job->body;

	return job->edits && edit->count == 1 &&
	       edit->changes[0].text.len + edit->changes[0].old_text.len <= QUICK_BYTES &&
	       (server->idle || server->threads < THREADS);
}

/* A new request, by the one who reads: answers it, while another reads, or queues it. Locked.
 * Whether it is still the one who reads. */
static bool take_job(struct server *server, struct job *job)
{
	bool wake;

	add_alive(server, job);
	if (job->edits && must_wait(server, job)) {
		struct job **at = &server->waiting;

		while (*at)
			at = &(*at)->next;
		job->next = NULL;
		*at = job;
	} else if (is_quick(server, job)) {
		job->leads = true;
		return run_job(server, job, /* wake= */ false);
	} else if (find_thread(server, &wake)) {
		server->leading = false;
		run_job(server, job, wake);
		return false;
	} else {
		enqueue(server, job);
	}
	return true;
}

/* Reads until it has a request to answer, and answers it; or until the end. Locked. */
static void lead(struct server *server)
{
	server->leading = true;
	while (!server->stopping) {
		struct job *job = NULL;
		bool ok;

		pthread_mutex_unlock(&server->lock);
		ok = wire_next(&server->wire) == WIRE_FRAME && take_frame(server, &job);
		pthread_mutex_lock(&server->lock);
		if (!ok) {
			server->stopping = true;
			if (job) /* never begun */
				job_free(job);
			break;
		}
		if (job && !take_job(server, job))
			return;
	}
}

static void work(struct server *server, bool forever)
{
	struct timespec until;
	int waited = 0;

	while (!server->stopping && (forever || waited != ETIMEDOUT)) {
		struct job *job = server->queue;

		waited = 0;
		if (job) {
			server->queue = job->next;
			if (!server->queue)
				server->queue_last = &server->queue;
			run_job(server, job, /* wake= */ false);
		} else if (!server->leading) {
			lead(server);
		} else {
			clock_gettime(CLOCK_REALTIME, &until);
			until.tv_sec += IDLE_S;
			server->idle++;
			waited = pthread_cond_timedwait(&server->work, &server->lock, &until);
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

/* Cancels what can be; waits for what must not be cut short. Locked. */
static void stop(struct server *server, bool leave_at_once)
{
	struct timespec until;

	for (struct job *job = server->alive; job; job = job->next_alive)
		job->cancel = true;
	if (server->wire.is_socket) /* nobody is to wait for room in it */
		shutdown(server->wire.write_fd, SHUT_RDWR);
	pthread_cond_broadcast(&server->work);
	for (struct served_run *run = server->runs; run; run = run->next)
		pthread_cond_broadcast(&run->credit);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += COMMIT_WAIT_S;
	while (leave_at_once && server->edits_begun)
		if (pthread_cond_timedwait(&server->idle_all, &server->lock, &until) != 0)
			break;
	if (leave_at_once && !server->runs)
		_exit(0);
	while (server->threads)
		pthread_cond_wait(&server->idle_all, &server->lock);
}

/* Requests that nobody began. */
static void drop_jobs(struct job *jobs)
{
	while (jobs) {
		struct job *job = jobs;

		jobs = job->next;
		job_free(job);
	}
}

static void release_server(struct server *server)
{
	serve_end_runs(server);
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

static bool greet(struct server *server)
{
	struct err err = ERR_INIT;

	return wire_greet(&server->wire, WIRE_FEATURE_RUN, &err) &&
	       wire_greeted(&server->wire, NULL, 0) == WIRE_FRAME &&
	       server->wire.peer.least <= WIRE_VERSION &&
	       server->wire.peer.most >= WIRE_VERSION_LEAST;
}

bool serve_connection(const struct serve_connection *connection)
{
	struct server server = { .open = connection->open, .open_data = connection->data,
		                 .most = connection->most };
	bool orderly;

	wire_init(&server.wire, connection->read_fd, connection->write_fd, WIRE_TO_WORKER);
	pthread_mutex_init(&server.lock, NULL);
	pthread_cond_init(&server.work, NULL);
	pthread_cond_init(&server.idle_all, NULL);
	server.queue_last = &server.queue;
	if (greet(&server)) {
		pthread_mutex_lock(&server.lock);
		work(&server, true);
		stop(&server, connection->leave_at_once);
		pthread_mutex_unlock(&server.lock);
	}
	orderly = !server.wire.problem[0];
	release_server(&server);
	return orderly;
}
