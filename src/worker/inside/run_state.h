/* SPDX-License-Identifier: Apache-2.0 */
/* One command under way. Private to op_run. */
#ifndef HASP_WORKER_INSIDE_RUN_STATE_H
#define HASP_WORKER_INSIDE_RUN_STATE_H

#include <pthread.h>

#include "base/buf.h"
#include "sandbox/guard/guard.h"
#include "worker/inside/ops.h"
#include "worker/inside/run_child.h"
#include "worker/inside/run_streams.h"
#include "worker/inside/run_report.h"
#include "worker/inside/run_tree.h"

struct run_state {
	struct run run; /* first: the two are cast into each other */
	struct run_events events;
	void *data;
	pthread_mutex_t telling; /* held while an event is told: the supervisor tells some */

	const struct sandbox_plan *plan; /* borrowed; NULL: no confinement, no limits */
	unsigned timeout_ms, inactivity_ms;
	bool leave_running;
	uint64_t began_ms;

	struct run_child child;
	struct run_tree tree;
	struct run_streams streams; /* the loop's, after the start */
	struct guard *guard;        /* owned; NULL: none */
	struct run_reporter reporter;   /* of output */

	pthread_t thread;
	int wake;              /* owned eventfd: something below changed */
	pthread_mutex_t lock;  /* of what follows */
	struct buf input;      /* not written yet */
	bool input_gone;       /* nobody reads it */
	bool end_input, cancelled;
	bool over;             /* nobody is left to get a signal */
	bool resized;
	unsigned rows, columns;
};

/* run_loop.c: the thread, until `ended` was told. */
void *run_loop(void *state);
/* Tells output; the reporter's function. */
void run_tell_output(void *state, enum run_stream stream, struct span bytes);
/* run_hidden.c: tells what the plan hides from the command. */
void run_tell_hidden(struct run_state *state);
/* Tells a denial, from any thread. */
void run_tell_denied(void *state, const struct denial *denial);

#endif
