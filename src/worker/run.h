/* SPDX-License-Identifier: Apache-2.0 */
/* A command that runs: what is asked for, what happens, how it ended.
 *
 * provider->ops->run starts it and returns at once; what happens is told through events, in order, on
 * a thread of the provider's.  An `output` that takes its time slows the command down.  `main_ended`
 * comes exactly once, when the command itself has ended and its output was told; `ended` is the
 * last, exactly once, after it and, unless `leave_running`, all its processes are gone.
 *
 *     struct run *run;
 *     if (provider->ops->run(provider, &request, &events, data, &run, &err)) ...
 *     run->ops->input(run, bytes); run->ops->kill(run); ...
 *     run->ops->free(run);            // kills what still runs; no event comes after it returned
 */
#ifndef HASP_WORKER_RUN_H
#define HASP_WORKER_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "sandbox/plan/denial.h"

struct run_request {
	const char *const *argv;     /* NULL-terminated; argv[0] is looked up in PATH of `env` */
	const char *folder;          /* working directory: a workspace path; NULL: the first root */
	const char *const *env;      /* NULL-terminated NAME=VALUE: the whole environment but TMPDIR,
	                              * which the one who runs it sets. NULL: what is allowed
	                              * through of its own (worker/environment.h) */
	bool pty;                    /* a terminal of its own, else pipes */
	bool merge;                  /* pipes: errors go where the output goes, in order: RUN_STDOUT */
	unsigned rows, columns;      /* of the terminal; 0: 24, 80 */
	bool no_input;               /* standard input is empty (/dev/null; a terminal stays silent) */
	/* Local providers only: the command gets these as 0, 1, 2 and no output is told. */
	const int *stdio;            /* NULL, or three descriptors */
	unsigned timeout_ms;         /* of it all; 0: none */
	unsigned inactivity_ms;      /* without output; 0: none */
	bool leave_running;          /* processes that outlive the command itself go on: `main_ended`
	                              * tells how it ended, `ended` comes when the last is gone */
	bool network;                /* permissions beyond the session's */
	const char *const *write;    /* canonical or workspace paths; may be NULL */
	size_t write_count;
	const char *const *read;
	size_t read_count;
	struct sandbox_limits limits; /* all 0: the defaults */
};

enum run_why {
	RUN_EXITED,    /* by itself: exit_code */
	RUN_SIGNALLED, /* by a signal that was not ours */
	RUN_TIMED_OUT,
	RUN_INACTIVE,
	RUN_CANCELLED, /* run->ops->kill, or the session's end */
	RUN_LIMIT,     /* memory or processes: the last denial says which */
	RUN_LOST,      /* the worker died or misbehaved */
};

const char *run_why_name(enum run_why why); /* "exited", "signalled", "timed_out", ... */

struct run_end {
	enum run_why why;
	int exit_code;   /* EXITED; else -1 */
	int signal;      /* SIGNALLED; else 0 */
	unsigned left_running; /* main_ended: processes that go on */
	uint64_t wall_ms, cpu_ms;
	uint64_t peak_memory_bytes; /* of the largest process; 0 unknown */
};

enum run_stream { RUN_STDOUT, RUN_STDERR }; /* a terminal has one: RUN_STDOUT */

/* What a command cannot read: a fact of its plan.  The kernel refuses it (EACCES, or ENOENT beneath
 * a folder) and no denial tells of it, for nothing stands between a program and a file that it
 * opens for reading. */
struct run_hidden {
	const char *const *paths; /* canonical; a folder stands for all beneath it */
	size_t count;             /* at most LIMIT_HIDDEN_TOLD */
	size_t left_out;          /* there are so many more */
};

struct run_events {
	void (*started)(void *data, int pid);  /* pid (and process group) as the command sees it; may be NULL */
	void (*output)(void *data, enum run_stream stream, struct span bytes);
	void (*hidden)(void *data, const struct run_hidden *hidden); /* at most once, before
	                              * `main_ended`, if the command is confined; may be NULL */
	void (*denied)(void *data, const struct denial *denial);
	void (*main_ended)(void *data, const struct run_end *end);
	void (*ended)(void *data, const struct run_end *end);
};

struct run;

struct run_ops {
	/* Queued (LIMIT_RUN_INPUT_BYTES), never waits; false: nobody reads any more, or not fast
	 * enough */
	bool (*input)(struct run *run, struct span bytes);
	void (*close_input)(struct run *run); /* when all input was read; a terminal gets ^D */
	void (*resize)(struct run *run, unsigned rows, unsigned columns);
	void (*signal)(struct run *run, int signal); /* to the command's process group */
	void (*kill)(struct run *run); /* the whole tree, within 250 ms; RUN_CANCELLED */
	void (*free)(struct run *run);
};

struct run {
	const struct run_ops *ops;
};

#endif
