/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a session: foreground and background, their output, their end.
 *
 *     struct jobs *jobs = jobs_new(&options);
 *     struct job *job;
 *     if (job_start(jobs, provider, &request, &job, &err)) {
 *             while (!job_wait(job, 100) && !cancelled)   // until the command ended
 *                     ;
 *             job_report(job, &report);                    // head and tail, exit code, denials
 *             job_report_release(&report);
 *             job_release(job);                            // it goes on if it has not ended
 *     }
 *     jobs_free(jobs);                                     // kills all that still run
 *
 * Each job has a small number as its id.  A job is remembered, and can be found by its id, while
 * it runs, and after its end if it was asked for in the background, or its output is longer than
 * a report shows: the last LIMIT_JOBS_KEPT of those.
 *
 * All functions may be called from any thread, but jobs_free only when no other is under way.
 * A provider must outlive its jobs (jobs_end_of).
 */
#ifndef HASP_WORKER_JOB_JOB_H
#define HASP_WORKER_JOB_JOB_H

#include "base/buf.h"
#include "base/cancel.h"
#include "worker/job/capture.h"
#include "worker/provider.h"

struct jobs;
struct job;

/* Shown of an output: so much of its beginning and of its end, in bytes of text. */
#define JOB_HEAD_BYTES_DEFAULT ((size_t)20000)
#define JOB_TAIL_BYTES_DEFAULT ((size_t)20000)

struct job_request;

/* Callbacks for the commands that are typed into (job_request.interactive), `started` on the thread
 * that starts them, the others on threads of their providers; may use them, but not wait. */
struct jobs_watch {
	/* Before all others; `call` is borrowed. */
	void (*started)(void *data, unsigned id, const struct job_request *request);
	void (*output)(void *data, unsigned id, struct span bytes);
	void (*secret)(void *data, unsigned id, bool secret); /* as run_events has it */
	void (*ended)(void *data, unsigned id); /* all its processes */
};

struct jobs_options {
	const char *log_folder;        /* absolute (capture.h); NULL: long output is not kept
	                                * whole */
	size_t head_bytes, tail_bytes; /* 0: the defaults */
	uint64_t log_bytes;            /* of one log; 0: LIMIT_JOB_LOG_BYTES, which is the most */
	bool keep_logs;                /* when the session ends */
	/* NULL, or called at each end, on a provider's thread; must not call into jobs. */
	void (*ended)(void *data, unsigned id);
	const struct jobs_watch *watch; /* borrowed; NULL: no watcher */
	void *data;
};

/* The commands of one session; `options` is copied, never NULL. */
struct jobs *jobs_new(const struct jobs_options *options);
void jobs_free(struct jobs *jobs); /* kills all jobs and waits for their end; NULL is fine */
/* Kills all jobs of a provider and waits until they have ended. Their output stays readable. */
void jobs_end_of(struct jobs *jobs, const struct provider *provider);
/* $HOME/.gemini/tmp/hasp/output, the caller's to free; NULL without a home. */
char *jobs_default_log_folder(void);

struct job_request {
	const struct run_request *run;
	const char *command; /* what people are shown: copied */
	bool background;     /* remembered after its end */
	/* On a terminal that only the user types into (job_type).  What it shows on the alternate
	 * screen is not part of its output. */
	bool interactive;
	const char *call;    /* for jobs_watch: of which call it is; or NULL */
	/* NULL, or gets the output as it comes, on a provider's thread; what takes its time
	 * slows the command down. */
	void (*output)(void *data, enum run_stream stream, struct span bytes);
	void *data;
};

/* TOO_LARGE: LIMIT_JOBS_RUNNING run already; else as provider->ops->run. *ret is the caller's to
 * release. */
bool job_start(struct jobs *jobs, struct provider *provider, const struct job_request *request,
               struct job **ret, struct err *err);
/* The job with this id, for the caller to release; NULL if there is none. */
struct job *jobs_find(struct jobs *jobs, unsigned id);
void job_release(struct job *job); /* the caller's reference; the command goes on */

unsigned job_id(const struct job *job); /* 1, 2, ...: the same as long as the session lives */
/* Waits up to `ms` for the end of the command itself, whatever it left running. */
bool job_wait(struct job *job, unsigned ms);
/* The same for the end of all its processes. */
bool job_wait_all(struct job *job, unsigned ms);

/* What job_wait_news waits for, in addition to the end of the command itself. */
struct job_news {
	bool all;       /* the end of all its processes instead, wherever it goes; otherwise it is
	                 * also waited for that it is sent away (job_send_away) */
	uint64_t bytes; /* more output than so much; UINT64_MAX: however much there is */
	const struct cancel *cancel; /* that it is set; or NULL */
	int ms;         /* the time that passes; -1: none */
};

/* Sleeps until one of these is there. Returns whether the command, or all of it, has ended. */
bool job_wait_news(struct job *job, const struct job_news *news);
void job_background(struct job *job);       /* keep it in the table */
/* Its output is not passed on any more (job_request): not after this returned. */
void job_quiet(struct job *job);
void job_kill(struct job *job);
/* The same, and that is why it ended: RUN_INACTIVE, RUN_TIMED_OUT. */
void job_stop(struct job *job, enum run_why why);
/* False: it does not read, or only the user types into it. */
bool job_input(struct job *job, struct span bytes);
void job_close_input(struct job *job);

/* ---- commands that are typed into: job_request.interactive ---- */

/* Input that the user types, or (`answer`) the terminal's reply to a query of the command.  False:
 * it does not read. */
bool job_type(struct job *job, struct span bytes, bool answer);
void job_resize(struct job *job, unsigned rows, unsigned columns);
/* Who waits for it is to go on (job_is_away), as if it had been asked for in the background. */
void job_send_away(struct job *job);
bool job_is_away(struct job *job);
/* Since it last wrote something; 0 once the user has typed something. */
uint64_t job_silent_ms(struct job *job);

enum job_state {
	JOB_RUNNING,
	JOB_LEFT,  /* the command has ended, processes of it go on */
	JOB_ENDED,
};

const char *job_state_name(enum job_state state); /* "running", "left_running", "ended" */

struct job_info {
	unsigned id;
	int pid;            /* as the command sees it: its process group; 0: not known yet */
	enum job_state state;
	char *command;      /* owned */
	uint64_t bytes;     /* of output */
	uint64_t age_ms;    /* since its start */
	struct run_end end; /* of the command, unless it is RUNNING */
};

/* How it stands, all but `command`, which is NULL. */
void job_state(struct job *job, struct job_info *ret);
uint64_t job_output_bytes(struct job *job);

/* Of all remembered jobs, by id. */
size_t jobs_list(struct jobs *jobs, struct job_info **ret);
void job_infos_free(struct job_info *infos, size_t count);

struct job_report {
	struct job_info info;
	struct capture_text text; /* of both streams; empty when it is binary */
	bool binary;
	uint64_t text_bytes; /* not 0: what comes after so many bytes is no text, and not in it */
	char *log_path;           /* owned; NULL: all of it is in `text`, or can be read by
	                           * job_last */
	int log_errno;            /* why the log is not whole; 0: it is */
	struct denial *denials;   /* owned */
	size_t denial_count;
	uint64_t denials_left_out; /* different ones, past LIMIT_DENIALS */
	char **hidden;            /* owned; what it could not read (struct run_hidden) */
	size_t hidden_count;
	uint64_t hidden_left_out;
};

/* How it stands and what it has written so far, at any time. */
void job_report(struct job *job, struct job_report *ret);
void job_report_release(struct job_report *report); /* frees all that is owned, also of `info` */

/* A part of the output (capture.h), at any time. */
bool job_last(struct job *job, size_t lines, struct capture_part *ret, struct err *err);
bool job_from(struct job *job, uint64_t offset, struct capture_part *ret, struct err *err);

#endif
