/* SPDX-License-Identifier: Apache-2.0 */
/* A command's standard input, output and errors: a terminal or pipes. Private to op_run.
 *
 * hasp's ends do not block and are closed by execve; -1 is closed, or never was.
 */
#ifndef HASP_WORKER_INSIDE_RUN_STREAMS_H
#define HASP_WORKER_INSIDE_RUN_STREAMS_H

#include "worker/run.h"

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

/* run_pty.c */
bool run_pty_open(const struct run_request *request, struct run_streams *ret, struct err *err);
void run_pty_resize(const struct run_streams *streams, unsigned rows, unsigned columns);
/* To the terminal's foreground group, as a key would; false: not such a signal. */
bool run_pty_signal(const struct run_streams *streams, int signal);

#endif
