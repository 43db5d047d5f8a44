/* SPDX-License-Identifier: Apache-2.0 */
/* One command under way: its process, its streams, what it started, what is reported of it. Private
 * to op_run.c, run_child.c and run_loop.c. */
#ifndef HASP_WORKER_INSIDE_RUN_PRIVATE_H
#define HASP_WORKER_INSIDE_RUN_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "sandbox/guard/guard.h"
#include "sandbox/plan/plan.h"
#include "sandbox/supervise/supervise.h"
#include "worker/inside/inprocess.h"
#include "worker/provider.h"

/* ---- the start of a command's first process ---- */

/* Private to op_run.
 *
 * The child starts a new session, sets up its descriptors and directory, confines itself
 * (sandbox/apply/inside.h) and executes the program; run_child_start returns when that is done, so
 * that a program that is not there is an error and not an exit code. */

struct run_child_request {
	const char *const *argv, *const *env; /* NULL-terminated */
	int folder;    /* the working directory to be */
	int stdio[3];  /* become 0, 1, 2 */
	bool terminal; /* 0 becomes its controlling terminal */
	const struct sandbox_plan *plan; /* NULL: neither confined nor limited */
	const struct supervisor_events *events;
};

struct run_child {
	pid_t pid;  /* and its process group, and its session */
	int pidfd;  /* owned */
	struct supervisor *supervisor; /* owned; NULL: none */
};

/* FILE_NOT_FOUND, PERMISSION_DENIED: of the program; DENIED_BY_SANDBOX: the confinement failed;
 * TOO_LARGE: no more processes. */
bool run_child_start(const struct run_child_request *request, struct run_child *ret,
                     struct err *err);

/* ---- the thread that passes on output ---- */

/* Private to op_run.
 *
 * The receiver may take as long as it likes: this delays the command, and nothing else; the loop
 * still watches time, limits and orders to kill.  One piece is passed on at a time; until that is
 * done nothing more is read. */

enum { RUN_PIECE_BYTES = 64 << 10 };

struct run_reporter {
	void (*emit)(void *data, enum run_stream stream, struct span bytes);
	void *data;
	int wake;              /* borrowed eventfd: written to when a piece was passed on */
	char *buffer;          /* owned; RUN_PIECE_BYTES: the loop's while nothing is passed on */
	pthread_t thread;      /* made by the first piece */
	bool started;
	pthread_mutex_t lock;  /* of what follows */
	pthread_cond_t changed;
	bool stop;
	size_t len;            /* of what is being passed on; 0: nothing is */
	enum run_stream stream;
};

/* `tell` and `data` are called for each piece, on the reporter's thread. */
void run_reporter_init(struct run_reporter *reporter,
                       void (*emit)(void *data, enum run_stream stream, struct span bytes),
                       void *data, int wake);
void run_reporter_release(struct run_reporter *reporter); /* waits too */

/* ---- A command's standard input, output and errors ---- */

/* A terminal or pipes. Private to op_run.
 *
 * hasp's ends do not block and are closed by execve; -1 is closed, or never was. */

struct run_streams {
	int child[3];  /* owned until run_streams_release_child */
	int output[2]; /* owned; by enum run_stream */
	int input;     /* owned */
	bool terminal; /* output[RUN_STDOUT] is one end of it, `input` the same end */
};

#define RUN_STREAMS_INIT { .child = { -1, -1, -1 }, .output = { -1, -1 }, .input = -1 }

/* IO_ERROR, TOO_LARGE: no more terminals or descriptors. */
bool run_streams_open(const struct run_request *request, struct run_streams *ret,
                      struct err *err);
void run_streams_release_child(struct run_streams *streams); /* after the start */
void run_streams_release(struct run_streams *streams);

/* Of a terminal; nothing happens to pipes. */
void run_pty_resize(const struct run_streams *streams, unsigned rows, unsigned columns);
/* Whether lines are read from it without being echoed. */
bool run_pty_is_secret(const struct run_streams *streams);
/* To the terminal's foreground group, as a key would; false: not such a signal. */
bool run_pty_signal(const struct run_streams *streams, int signal);

/* ---- all processes of one command ---- */

/* Which there are, reaping them, ending them. Private to op_run.
 *
 * How they are known depends on the process that runs the command:
 *   process 1 of a PID namespace   all others in it are the command's
 *   the command's own worker       is a subreaper: all its descendants are the command's
 *   any other process              descendants of the command's first process, members of its
 *                                  session, and those with its mark in their first environment
 */

enum run_tree_kind { RUN_TREE_NAMESPACE, RUN_TREE_WORKER, RUN_TREE_SHARED };

struct run_tree {
	enum run_tree_kind kind;
	pid_t main;     /* the first process: its group, its session */
	char mark[48];  /* SHARED: NAME=VALUE in the environment */
	bool reaped;    /* the first process was */
	int status;     /* then: as waitpid has it */
	uint64_t cpu_ms, peak_bytes; /* of those that were reaped */
};

struct run_process {
	pid_t pid, parent, group, session;
	bool ended; /* a zombie */
	bool ours;
};

/* Before the start: decides the kind. `plan` may be NULL. Makes this process a subreaper if
 * necessary. */
void run_tree_init(struct run_tree *tree, const struct sandbox_plan *plan);

/* Reaps what has ended without waiting. False when no process of the command is left; for kind
 * SHARED this reads /proc. */
bool run_tree_reap(struct run_tree *tree);

/* The processes of the command that have not ended; *ret is the caller's to free. */
size_t run_tree_list(const struct run_tree *tree, struct run_process **ret);

/* Sends SIGKILL to all of them, and to their process groups but this one's own: what a member forks
 * meanwhile gets it too.  Again and again, with run_tree_reap, until none is left. */
void run_tree_kill(const struct run_tree *tree);

/* ---- one command under way ---- */

/* Private to op_run. */

struct run_state {
	struct run run; /* first: the two are cast into each other */
	struct run_events events;
	void *data;
	pthread_mutex_t reporting; /* held while an event is: the supervisor reports some */

	const struct sandbox_plan *plan; /* borrowed; NULL: no confinement, no limits */
	unsigned timeout_ms, inactivity_ms;
	bool leave_running;
	bool typed_into;       /* a terminal that is not silent */
	uint64_t began_ms;

	struct run_child child;
	struct run_tree tree;
	struct run_streams streams; /* the loop's, after the start */
	struct guard *guard;        /* owned; NULL: none */
	struct run_reporter reporter;   /* of output */
	const char *lost_call;      /* of the supervisor's, which failed with lost_error */
	_Atomic int lost_error;     /* set last; 0: it goes on */

	pthread_t thread;
	int wake;              /* owned eventfd: something below changed */
	pthread_mutex_t lock;  /* of what follows */
	struct buf input;      /* not written yet */
	bool input_closed;       /* its reader has closed it */
	bool end_input, cancelled;
	bool over;             /* no process is left to signal */
	bool resized;
	unsigned rows, columns;
};

/* run_loop.c: the thread, until `ended` was reported. */
void *run_loop(void *state);
/* Passes on output; the reporter's function. */
void run_report_output(void *state, enum run_stream stream, struct span bytes);
/* Reports a denial, from any thread. */
void run_report_denied(void *state, const struct denial *denial);

#endif
