/* SPDX-License-Identifier: Apache-2.0 */
/* Private to job.c and jobs.c: a job, and the table of a session's jobs.
 *
 * Locks, in the order in which they may be taken: the table's, a job's.  A job's run_lock and
 * output_lock are taken without the others. */
#ifndef HASP_WORKER_JOB_JOB_PRIVATE_H
#define HASP_WORKER_JOB_JOB_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/job/capture.h"
#include "worker/job/interpreter.h"
#include "worker/job/job.h"

/* Who waits for news of a job. */
struct news_waiter {
	const struct job_news *news;
	int fd; /* an eventfd */
	struct news_waiter *next;
};

struct job {
	struct jobs *jobs;             /* borrowed */
	const struct provider *provider; /* of which it is; never called through */
	unsigned id;
	char *command;                 /* owned */
	uint64_t began_ms;
	pthread_mutex_t output_lock;   /* held while output is passed on */
	void (*output)(void *data, enum run_stream stream, struct span bytes);
	void *output_data;
	pthread_mutex_t run_lock;      /* of `run`; no other lock is taken inside it */
	struct run *run;               /* owned; set before other threads have the job; NULL once
	                                * its provider has ended */
	_Atomic unsigned references;   /* the table's is one */

	pthread_mutex_t lock;          /* of what follows */
	pthread_cond_t changed;        /* `state` did */
	struct news_waiter *waiters;   /* each on the stack of who waits */
	enum job_state state;
	bool background, away;
	bool interactive, typed;
	bool announced;                /* to who watches */
	uint64_t output_ms;            /* the last */
	enum run_why stopped;          /* what to say of an end as cancelled */
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
	const struct jobs_watch *watch;
	void *data;

	pthread_mutex_t lock;          /* of what follows; a job's own may be taken inside it */
	struct interpreter *interpreter; /* owned; NULL: it was never used */
	struct job **table;            /* owned; by id */
	size_t count, cap;
	size_t starting;               /* not in the table yet */
	unsigned last_id;
};

/* Gets a job's events from its provider; their data is the job. */
extern const struct run_events job_events;

/* A job that is not in the table yet, with one reference. Copies the command. */
struct job *job_new(struct jobs *jobs, const struct provider *provider,
                    const struct job_request *request);
/* Drops a reference, and with the last frees the job and kills its command. */
void job_unref(struct job *job);
/* Its state now, for job_infos_free to release. Takes the job's lock. */
struct job_info job_info(struct job *job);
/* Whether the command has ended. Takes the job's lock. */
bool job_has_ended(struct job *job);
/* Frees its run, which kills what still runs; no event comes after this returned. */
void job_drop_run(struct job *job);
/* Keeps a denial, or the new count of one that is there; false: there are LIMIT_DENIALS others. */
bool job_denials_add(struct denial **denials, size_t *count, size_t *cap,
                     const struct denial *denial);
/* Reports its start to the watcher of interactive commands, if there is one. */
void job_announce(struct job *job, const struct job_request *request);

#endif
