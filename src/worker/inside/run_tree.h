/* SPDX-License-Identifier: Apache-2.0 */
/* All processes of one command: which there are, reaping them, ending them. Private to op_run.
 *
 * How they are known depends on the process that runs the command:
 *   process 1 of a PID namespace   all others in it are the command's
 *   the command's own worker       is a subreaper: all its descendants are the command's
 *   any other process              descendants of the command's first process, members of its
 *                                  session, and those with its mark in their first environment
 */
#ifndef HASP_WORKER_INSIDE_RUN_TREE_H
#define HASP_WORKER_INSIDE_RUN_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/plan/plan.h"

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

/* Before the start: decides the kind. `plan` may be NULL. Makes this process a subreaper when
 * it has to be one. */
void run_tree_init(struct run_tree *tree, const struct sandbox_plan *plan);

/* Reaps what has ended without waiting. False when nobody of the command is left; a process
 * of kind SHARED finds that out with a look at /proc. */
bool run_tree_reap(struct run_tree *tree);

/* The processes of the command that have not ended; *ret is the caller's to free. */
size_t run_tree_list(const struct run_tree *tree, struct run_process **ret);

/* Sends SIGKILL to all of them, and to their process groups but this one's own: what a member forks
 * meanwhile gets it too.  Again and again, with run_tree_reap, until none is left. */
void run_tree_kill(const struct run_tree *tree);

#endif
