/* SPDX-License-Identifier: Apache-2.0 */
/* The start of a command's first process. Private to op_run.
 *
 * The child makes a session of its own, takes its descriptors and folder, confines itself
 * (sandbox/apply/inside.h) and executes the program; run_child_start returns when that is done, so
 * that a program that is not there is an error and not an exit code.
 */
#ifndef HASP_WORKER_INSIDE_RUN_CHILD_H
#define HASP_WORKER_INSIDE_RUN_CHILD_H

#include <sys/types.h>

#include "sandbox/supervise/supervise.h"

struct run_child_request {
	const char *const *argv, *const *env; /* NULL-terminated */
	int folder;    /* the working directory to be */
	int stdio[3];  /* become 0, 1, 2 */
	bool terminal; /* 0 becomes its controlling terminal */
	const struct sandbox_plan *plan; /* NULL: neither confined nor limited */
	const struct supervisor_events *events;
};

struct run_child {
	pid_t pid;  /* and its process group, and its session */
	int pidfd;  /* owned */
	struct supervisor *supervisor; /* owned; NULL: none */
};

/* FILE_NOT_FOUND, PERMISSION_DENIED: of the program; DENIED_BY_SANDBOX: the confinement failed;
 * TOO_LARGE: no more processes. */
bool run_child_start(const struct run_child_request *request, struct run_child *ret,
                     struct err *err);

#endif
