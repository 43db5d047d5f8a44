/* SPDX-License-Identifier: Apache-2.0 */
/* A command run by op_run, in this process, and what was told of it. */
#ifndef HASP_TEST_JOB_RUN_FIXTURE_H
#define HASP_TEST_JOB_RUN_FIXTURE_H

#include <pthread.h>

#include "base/buf.h"
#include "worker/inside/inprocess.h"

struct fixture {
	char *root;  /* a new folder: the workspace */
	struct workspace *workspace;
	struct sandbox_plan plan; /* level paths, use COMMAND: this process is the command's own */
};

int run_fixture_open(void **state);
int run_fixture_close(void **state);

struct told {
	struct fixture *fixture;
	struct run *run;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct buf text[2];   /* by stream, up to 8 MiB */
	size_t bytes[2];      /* all of them */
	int started, main_ended, ended;
	struct run_end main_end, end;
	struct denial denial; /* the last */
	unsigned denials;
	unsigned slow_us;     /* each output takes so long */
	bool holds;           /* each output takes until told_release */
	bool held;            /* one has come */
};

/* Fails the test when it does not start. `script` is bash's. */
void told_start(struct told *told, struct fixture *fixture, const char *script,
                const struct run_request *request);
/* The same; false with *err when it does not start. */
bool told_try(struct told *told, struct fixture *fixture, const struct run_request *request,
              struct err *err);
void told_wait(struct told *told);             /* for `ended`, 20 s at most */
void told_wait_text(struct told *told, const char *text); /* for it in the output */
void told_wait_held(struct told *told);        /* for output that is held */
void told_release(struct told *told);
void told_free(struct told *told);
const char *told_text(const struct told *told, enum run_stream stream); /* never NULL */

/* Start and wait. */
void told_run(struct told *told, struct fixture *fixture, const char *script,
              const struct run_request *request);

#endif
