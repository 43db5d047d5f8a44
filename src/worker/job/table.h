/* SPDX-License-Identifier: Apache-2.0 */
/* A job and the table of a session's jobs. Private to this folder. */
#ifndef HASP_WORKER_JOB_TABLE_H
#define HASP_WORKER_JOB_TABLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/limits.h"
#include "worker/job/job.h"

struct job {
	struct jobs *jobs;             /* borrowed */
	const struct provider *provider; /* of which it is; never called through */
	unsigned id;
	char *command;                 /* owned */
	uint64_t began_ms;
	pthread_mutex_t output_lock;   /* held while output is told */
	void (*output)(void *data, enum run_stream stream, struct span bytes);
	void *output_data;
	pthread_mutex_t run_lock;      /* of `run`; no other lock is taken inside it */
	struct run *run;               /* owned; set before anybody else has the job; NULL when its
	                                * provider is gone */
	_Atomic unsigned references;   /* the table's is one */

	pthread_mutex_t lock;          /* of what follows */
	pthread_cond_t changed;        /* `state` did */
	enum job_state state;
	bool background;
	int pid;
	struct run_end end;
	struct capture capture;
	struct denial *denials;        /* owned */
	size_t denial_count, denial_cap;
	uint64_t denials_left_out;
	char **hidden;                 /* owned, with its strings */
	size_t hidden_count;
	uint64_t hidden_left_out;
};

struct jobs {
	size_t head_bytes, tail_bytes;
	uint64_t log_bytes;
	struct logs *logs;             /* owned; NULL: none */
	void (*ended)(void *data, unsigned id);
	void *ended_data;

	pthread_mutex_t lock;          /* of what follows; a job's own may be taken inside it */
	struct job **table;            /* owned; by id */
	size_t count, cap;
	size_t starting;               /* not in the table yet */
	unsigned last_id;
};

/* Lets go of the run: what is left of it is killed. */
void job_drop_run(struct job *job);

void job_texts_free(char **texts, size_t count);

extern const struct run_events job_events;
struct job_info job_info(struct job *job);

#endif
