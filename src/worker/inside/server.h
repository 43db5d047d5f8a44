/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's side of a connection: what serve.c (reading), server.c (jobs, threads, sending) and
 * answers.c (what is done with each request) share. */
#ifndef HASP_WORKER_INSIDE_SERVER_H
#define HASP_WORKER_INSIDE_SERVER_H

#include "base/cancel.h"
#include "worker/inside/serve.h"
#include "worker/wire/wire.h"

struct server;

/* One request under way or waiting. */
struct served_request {
	struct served_request *next;        /* in the queue, or among the edits that wait */
	struct served_request *next_alive;
	const struct request_kind *request;
	uint64_t id;
	struct wire_arena arena;
	void *body;              /* the arena's */
	int fds[WIRE_FDS_MAX];   /* owned */
	size_t fd_count;
	struct cancel cancel;
	uint64_t arrived;        /* edits: their order */
	uint64_t names;          /* edits: a bit for each of the names of their files */
	bool edits;
	bool leads;              /* edits: the reading thread answers it, and stays the reader
	                          * unless it takes long */
	struct server *server;
};

/* What is done with a kind of request (answers.c). */
struct request_kind {
	enum wire_type type;
	void (*answer)(struct server *server, struct served_request *job);
};

struct served_watch {
	struct served_watch *next;
	struct server *server;
	uint64_t id;
	struct provider_watch *watch;     /* the provider's */
};

struct run_piece {
	struct run_piece *next;
	size_t len;
	char bytes[];
};

struct served_run {
	struct served_run *next;
	struct server *server;
	uint64_t id;
	/* Under the server's lock. */
	struct run *run;         /* the provider's; NULL: not started yet */
	bool ended;
	uint64_t outstanding;    /* bytes of output that the other side has not handled */
	pthread_cond_t credit;
	enum { CONFIG_IDLE, CONFIG_ASKED, CONFIG_DONE, CONFIG_REFUSED } config;
	pthread_cond_t config_answered;
	struct run_piece *input, **input_last; /* owned; not taken by the command yet */
	size_t input_bytes;
	size_t unacknowledged;           /* bytes that were taken, and the other side does not
	                                  * know */
	bool end_input;          /* after that */
};

struct server {
	struct wire wire;
	struct provider *provider;
	bool greeted;
	struct wire_arena hello_arena; /* what the HELLO said: borrowed by the provider's options */
	size_t recovered;
	bool (*open)(void *data, const struct wire_hello *hello, struct provider **ret,
	             struct err *err);
	void *open_data;
	const struct worker_options *most;

	pthread_mutex_t lock;    /* of what follows */
	pthread_cond_t work;     /* for idle threads */
	pthread_cond_t idle_all; /* a job is done */
	void *(*run_thread)(void *server); /* what a thread of the pool does: serve.c */
	bool leading; /* a thread is reading */
	bool stopping;
	unsigned threads, idle;
	struct served_request *queue, **queue_last;
	struct served_request *waiting;     /* edits that wait for others, in order of arrival */
	struct served_request *alive;       /* all */
	_Atomic size_t alive_count; /* read without the lock, too */
	size_t edits_started;
	uint64_t arrivals;
	struct served_watch *watches;
	struct served_run *runs;
	bool offering;           /* a thread offers input again */
};

/* ---- sending (server.c) ---- */

/* Any thread; does not fail: the reading thread notices that the connection has closed. A body that
 * is too large becomes an ERROR. `body` is what the row of `type` carries (worker/wire/message.h);
 * NULL: nothing. */
void server_send(struct server *server, enum wire_type type, uint64_t id, const void *body);
/* For the reading thread, which sends it at the latest before it waits for input. */
void server_queue(struct server *server, enum wire_type type, uint64_t id, const void *body);
/* Answers request `id` with an ERROR. */
void server_send_error(struct server *server, uint64_t id, const struct err *err);

/* ---- jobs and threads (server.c) ---- */

/* For the reading thread: answers a new request, while another reads, or queues it. Locked. Whether
 * it is still the reader. */
bool server_take_job(struct server *server, struct served_request *job);
/* Something to be done by a thread of the pool. Locked. */
void server_push(struct server *server, struct served_request *job);
/* Answers and frees the job.  Called locked; unlocks meanwhile. `wake`: a thread was found idle; it
 * is woken without the lock, so that it need not wait for it.  Whether this thread, which read the
 * job, is still the reader. */
bool server_run_job(struct server *server, struct served_request *job, bool wake);
void server_free_job(struct served_request *job); /* one that is not alive, with its descriptors */
/* An edit that the reading thread answers takes long: has another thread read.  `job`: a struct
 * served_request. */
void server_yield(void *job);
/* A bit for each of the names of an edit's files: job.names. */
uint64_t server_edit_names(const struct wire_edit *edit);

/* ---- answers (answers.c) ---- */

/* The row for the number of a message; NULL: it is no request. */
const struct request_kind *server_find_request(unsigned number);
/* Answers a READ immediately if that does not delay others; false: it did not. */
bool server_answer_read(struct server *server, uint64_t id, const struct read_request *request);
/* RUN_INPUT ... for a run of that number, if there is one; false: broke the protocol. */
bool server_control_run(struct server *server);
/* Kills all commands, and waits for that. */
void server_end_runs(struct server *server);
/* Holds the options of a HELLO to what is allowed here. */
bool server_limit_options(struct worker_options *options, const struct worker_options *most,
                          struct wire_arena *arena, struct err *err);

/* ---- a connection (serve.c) ---- */

/* The connection until it ends, with providers that `open` makes of a HELLO; false: it ended
 * otherwise than between two messages. */
struct serve_connection {
	int read_fd, write_fd;
	bool (*open)(void *data, const struct wire_hello *hello, struct provider **ret,
	             struct err *err);
	void *data;
	const struct worker_options *most; /* what commands may be allowed; NULL: anything */
	bool leave_at_once; /* _exit when nothing that matters is under way */
	unsigned silence_ms; /* after which the other side counts as dead; 0: WIRE_SILENCE_MS */
};
/* Returns when the connection and its threads have ended (or not at all, leave_at_once). */
bool serve_connection(const struct serve_connection *connection);

#endif
