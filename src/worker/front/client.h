/* SPDX-License-Identifier: Apache-2.0 */
/* One connection to one worker, used by many threads.
 *
 *     struct client *client;
 *     if (client_open(&process, &hello, &options, &welcome, &err))  // takes the process over
 *             ok = client_call(client, &call, &err);
 *     client_unref(client);
 *
 * Only threads that wait for something read the connection: one of them at a time reads, and hands
 * the others their frames; so a single call costs no change of threads.  The kinds of waiters are
 * calls (for their answer), runs (for events), and one watcher (for changes).
 *
 * With programs in between (client_options.lease), a thread periodically reports that this side is
 * alive, and takes the frames that have come meanwhile if no other thread reads.
 *
 * A worker that dies, breaks the protocol, or says nothing for so long although it is asked
 * (patience; then a PING; then patience again) is killed, and everything under way fails with one
 * sentence that says what happened.  A client that failed stays so: private.h makes a new one.
 */
#ifndef HASP_WORKER_FRONT_CLIENT_H
#define HASP_WORKER_FRONT_CLIENT_H

#include "base/buf.h"
#include "sandbox/apply/spawn.h"
#include "worker/wire/wire.h"

/* ---- the process at the other end ---- */

/* Its descriptors, what it says on standard error, its end.
 *
 *     struct process process;
 *     if (process_start(&start, &process, &err)) ...
 *     process_listen(&process);            // takes in what it has written to standard error
 *     process_describe_end(&process, &out);
 *     process_release(&process);           // closes; waits a little; kills */

struct process_start {
	const char *const *argv;         /* NULL-terminated */
	const char *const *envp;         /* NULL-terminated; the whole environment */
	/* A worker of this machine: `program`, inside `plan`, behind a socket.  Otherwise
	 * argv[0] is looked up in PATH and gets two pipes. */
	bool own;
	const char *program;             /* own: its path; NULL: this program again */
	const struct sandbox_plan *plan; /* own: NULL or level paths: not confined */
	const struct sandbox_network *network; /* own: as in struct sandbox_spawn */
	int recall;                      /* own: a command's descriptor 3
	                                  * (sandbox/guard/recall.h); 0: none */
};

struct process {
	int read_fd, write_fd;      /* owned; one and the same for a socket */
	int errors_fd;              /* owned; what it writes to standard error arrives here */
	struct sandbox_child child; /* owned */
	bool ended;                 /* was waited for */
	int status;
	char errors[2048];          /* the last it said there */
	size_t errors_len;
};

#define PROCESS_INIT { .read_fd = -1, .write_fd = -1, .errors_fd = -1, .child = { .pidfd = -1 }, \
		       .ended = true }

/* FILE_NOT_FOUND: there is no such program; DENIED_BY_SANDBOX as sandbox_spawn. */
bool process_start(const struct process_start *start, struct process *ret, struct err *err);
/* Never waits. */
void process_listen(struct process *process);
void process_kill(struct process *process);
/* "It was killed by SIGSEGV. It said: ..." after waiting a moment for the end and the last
 * words.  One that has not ended "was killed": the caller calls process_kill next. */
void process_describe_end(struct process *process, struct buf *out);
/* Text of a stranger's as one line, without anything that a terminal would obey. */
void process_say(struct span text, struct buf *out);
/* With its descriptors closed a worker ends by itself; after `grace_ms` it is killed. */
void process_release(struct process *process, int grace_ms);

struct client;

struct client_options {
	const char *name;        /* how sentences about it begin; NULL: "The worker" */
	unsigned patience_ms;    /* 0: 10 s */
	unsigned hello_ms;       /* until the worker answers at all; 0: 60 s */
	size_t banner_max;       /* bytes that may come before its greeting */
	bool lease;              /* programs in between may not notice this side's end: a thread
	                          * reports to the worker every `sign_ms` that it is alive */
	unsigned sign_ms;        /* 0: WIRE_SIGN_MS */
};

/* Greets and waits for the welcome.  *process is taken over, also on failure. */
bool client_open(struct process *process, const struct wire_hello *hello,
                 const struct client_options *options, struct client **ret,
                 struct wire_welcome *ret_welcome, struct err *err);
struct client *client_ref(struct client *client);
void client_unref(struct client *client); /* the last one ends the worker; NULL is fine */

/* Whether it seems usable; asks the kernel, without waiting, if no other thread is reading. */
bool client_alive(struct client *client);
/* Nothing works any more: the worker is killed, those who wait get `why`. */
void client_fail(struct client *client, const char *why);
/* What became of it, for who found out otherwise. */
void client_why(struct client *client, struct err *err);

/* ---- calls ---- */

struct client_call {
	enum wire_type request, answer;
	const void *body;                 /* of the message `request`; NULL if it carries nothing */
	const int *fds;                   /* to go with it; or NULL */
	size_t fd_count;
	void *object;                     /* what the answer is decoded into (owned); zeroed */
	const struct cancel *cancel;      /* set: CANCELLED, immediately; may be NULL */
	uint64_t id;                      /* 0: a new one */
	bool sent;                        /* out: whether the worker may have done it */
	/* NULL, or for a started call: called once, when client_end would no longer wait (`here`),
	 * or would wait for something that should not hold up others: a large answer, the end of
	 * the worker. On any thread, with the client's lock: it must be quick, and call no
	 * client. */
	void (*ready)(void *data, bool here);
	void *ready_data;
};

/* A waiting thread: on its stack, linked in while another thread reads. */
struct client_waiter {
	struct client_waiter *next;
	pthread_cond_t wake;
	int stop_fd; /* when this is readable it looks again whether it is to wait; -1: none */
	int wake_fd;    /* an eventfd, rung with `wake`, while it follows with a stop_fd; else -1 */
};

/* A call that was sent. */
struct pending {
	struct pending *next;
	struct client_waiter waiter;
	struct client_call *call;
	uint64_t id;
	bool busy;               /* its answer is being read */
	bool answered;
	bool signalled;          /* call->ready was called */
	struct err err;          /* the worker's; NONE: the object is filled in */
};

/* Sends the request and waits for its answer.  An ERROR of the worker's is *err. */
bool client_call(struct client *client, struct client_call *call, struct err *err);

/* The same in two steps, so that several requests go with one system call and are under way
 * together.  Between the steps the caller keeps `call`, what it points to, and `pending`, which
 * it need not fill in; the second step must follow.  False: the request is too large to
 * be left unread for a while (or it failed: *err), and nothing was started. */
bool client_begin(struct client *client, struct client_call *call, struct pending *pending,
                  struct err *err);
bool client_end(struct client *client, struct pending *pending, struct err *err);

/* For calls with `ready`, whose caller has a loop and lets no thread wait: after the last
 * client_begin, client_flush sends them. `ready_fd` is an epoll descriptor of the caller's that
 * stays open as long as the client: it becomes readable when something has arrived and no thread
 * reads; then client_take hands that out.  Also call client_take every few seconds while such calls
 * are under way: it detects a worker that does not answer. */
void client_set_ready_fd(struct client *client, int ready_fd);
void client_flush(struct client *client);
void client_take(struct client *client);

/* A number for client_call.id or client_notify that no other request of this connection has. */
uint64_t client_new_id(struct client *client);
/* A message without an answer. */
bool client_notify(struct client *client, enum wire_type type, uint64_t id, const void *body);

/* ---- watches (remote.c) ---- */

/* Before WATCH is sent: CHANGED may have this number. */
void client_expect_changes(struct client *client, uint64_t id);
void client_forget_changes(struct client *client, uint64_t id);
/* Waits until a watch has changed, and takes it: its number; 0: client_disturb was called, or the
 * client has failed (*ret_failed). For one thread. */
uint64_t client_wait_change(struct client *client, bool *ret_failed);
void client_disturb(struct client *client);

/* ---- runs (client_run.c) ---- */

struct client_run_options {
	/* NULL, or the worker is for this command alone, inside this plan: it is killed with it.
	 * The run's to free, unless client_run fails. */
	struct sandbox_plan *plan;
};

/* Sends RUN. The run keeps a reference of the client. */
bool client_start_run(struct client *client, const struct run_request *request,
                      const struct run_events *events, void *data,
                      const struct client_run_options *options, struct run **ret, struct err *err);

#endif
