/* SPDX-License-Identifier: Apache-2.0 */
/* An interpreter that a session keeps: one process, confined as a command is, that runs one text of
 * code after another and keeps its variables between them.
 *
 *     struct interpreter *interpreter = jobs_interpreter(jobs);
 *     struct interpreter_report report;
 *     if (interpreter_call(interpreter, provider, &call, &report, &err)) {
 *             ... report.answer, report.text, report.why ...
 *             interpreter_report_release(&report);
 *     }
 *     interpreter_end(interpreter);          // and with it all variables
 *
 * The process is started by the first call.  Its standard input takes requests: 4 bytes of length
 * (big-endian), a mark of INTERPRETER_MARK bytes, the code.  Its standard output gives answers: 4
 * bytes of length, and a text that is the caller's to read.  What the code prints comes on standard
 * error, then the mark of its request, so that all of its output is known to have come.
 *
 * The code that runs there can write whatever it likes on these descriptors: an answer that is too
 * long, or comes without a request or without its mark, ends the process (INTERPRETER_BROKEN).
 *
 * One call runs at a time; others wait.  All functions may be called from any thread.
 */
#ifndef HASP_WORKER_JOB_INTERPRETER_H
#define HASP_WORKER_JOB_INTERPRETER_H

#include "base/cancel.h"
#include "worker/job/capture.h"
#include "worker/provider.h"

enum { INTERPRETER_MARK = 42 };

struct jobs;
struct interpreter;

struct interpreter_call {
	/* Starts the process: argv, env, permissions, limits; pipes and timeouts are set here. */
	const struct run_request *run;
	struct span code;
	unsigned timeout_ms;         /* then it is interrupted; 0: never */
	const struct cancel *cancel; /* the same when it is set; or NULL */
	/* NULL, or gets what the code prints, as it comes, on a provider's thread. */
	void (*output)(void *data, enum run_stream stream, struct span bytes);
	void *data;
};

/* How a call ended. */
enum interpreter_why {
	INTERPRETER_ANSWERED,
	INTERPRETER_ENDED,  /* the process ended: `end` */
	INTERPRETER_KILLED, /* it ran on after it was interrupted */
	INTERPRETER_BROKEN, /* it did not keep to the protocol, and was killed */
};

struct interpreter_report {
	enum interpreter_why why;
	bool timed_out, cancelled; /* why it was interrupted */
	bool started;              /* by this call: there were no variables */
	struct buf answer;         /* owned; of ANSWERED */
	struct run_end end;        /* of ENDED */
	struct capture_text text;  /* owned; empty when it is binary */
	bool binary;
	uint64_t bytes;            /* of output */
	uint64_t wall_ms;
	struct denial *denials;    /* owned; LIMIT_DENIALS at most, each once */
	size_t denial_count;
};

/* The interpreter of these jobs, which ends with them, and when a provider's jobs end
 * (jobs_end_of).  Borrowed. */
struct interpreter *jobs_interpreter(struct jobs *jobs);
/* Ends its process, if these jobs have one: a new conversation begins. */
void jobs_end_interpreter(struct jobs *jobs);

/* Runs the code of one call, in the process that there is, else in one of this provider.  False: it
 * could not be started, or the code is too long (TOO_LARGE); else *ret is the caller's to
 * release. */
bool interpreter_call(struct interpreter *interpreter, struct provider *provider,
                      const struct interpreter_call *call, struct interpreter_report *ret,
                      struct err *err);
void interpreter_report_release(struct interpreter_report *report);
/* Ends the process, if there is one, and the call under way with it. */
void interpreter_end(struct interpreter *interpreter);

/* ---- for jobs.c ---- */

struct interpreter *interpreter_new(void); /* without a process; never NULL */
void interpreter_free(struct interpreter *interpreter); /* NULL is fine */

/* ---- the protocol, for its fuzzer ---- */

/* Finds the mark of a request in what is printed; a part of it at the end of `bytes` is held
 * back. */
struct interpreter_marker {
	char mark[INTERPRETER_MARK]; /* the first byte occurs nowhere else in it */
	size_t matched;              /* so much of it came last */
	bool found;
};

/* Passes what is no mark to `emit`, in order, until the mark is found. Returns how many bytes were
 * taken: all of them, or those up to the end of the mark. */
size_t interpreter_marker_feed(struct interpreter_marker *marker, struct span bytes,
                               void (*emit)(void *data, struct span text), void *data);
/* Passes on what is held back: no mark comes any more. */
void interpreter_marker_end(struct interpreter_marker *marker,
                            void (*emit)(void *data, struct span text), void *data);

/* An answer that arrives in pieces. */
struct interpreter_frame {
	struct buf bytes; /* with its length in front; `max` of it: LIMIT_INTERPRETER_ANSWER + 4 */
};

enum interpreter_frame_state { FRAME_PARTIAL, FRAME_WHOLE, FRAME_BAD };

/* Adds bytes. WHOLE: *ret_body is the answer, borrowed. BAD: it is too long, or more follows it. */
enum interpreter_frame_state interpreter_frame_feed(struct interpreter_frame *frame,
                                                    struct span bytes, struct span *ret_body);

#endif
