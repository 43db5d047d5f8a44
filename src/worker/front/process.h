/* SPDX-License-Identifier: Apache-2.0 */
/* The process at the other end: its descriptors, what it says on standard error, its end.
 *
 *     struct process process;
 *     if (process_start(&start, &process, &err)) ...
 *     process_listen(&process);            // takes in what it has written to standard error
 *     process_describe_end(&process, &out);
 *     process_release(&process);           // closes; waits a little; kills
 */
#ifndef HASP_WORKER_FRONT_PROCESS_H
#define HASP_WORKER_FRONT_PROCESS_H

#include "base/buf.h"
#include "sandbox/apply/spawn.h"

struct process_start {
	const char *const *argv;         /* NULL-terminated */
	const char *const *envp;         /* NULL-terminated; the whole environment */
	/* A worker of this machine: `program`, inside `plan`, behind a socket.  Otherwise
	 * argv[0] is looked up in PATH and gets two pipes. */
	bool own;
	const char *program;             /* own: its path; NULL: this program again */
	const struct sandbox_plan *plan; /* own: NULL or level paths: not confined */
	const struct sandbox_network *network; /* own: as in struct sandbox_spawn */
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

#endif
