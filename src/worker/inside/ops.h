/* SPDX-License-Identifier: Apache-2.0 */
/* The operations behind a provider. Not for other folders. */
#ifndef HASP_WORKER_INSIDE_OPS_H
#define HASP_WORKER_INSIDE_OPS_H

#include "sandbox/plan/denial.h"
#include "worker/provider.h"

/* What every operation works on. */
struct worker {
	struct workspace *workspace;
	char *journal_folder;
	enum durability durability;
	size_t max_file_bytes;
	const struct sandbox_plan *plan; /* borrowed; what may be read and written, or NULL: all */
	bool hides;                      /* the plan hides something beneath a root */
};

/* The watches of one worker (op_watch.c): a thread that is started by the first. */
struct watcher;

struct watcher *op_watcher_new(const struct workspace *workspace); /* borrowed; never NULL */
void op_watcher_free(struct watcher *watcher); /* no watch is left; NULL is fine */
bool op_watch(struct watcher *watcher, const struct watch_request *request, struct watch **ret,
              struct err *err);
void op_unwatch(struct watcher *watcher, struct watch *watch);

/* Runs a command with this process's confinement (op_run.c): the plan is that of this process; one
 * whose level is paths confines nothing.  run_request's permissions are the caller's matter: they
 * are in the plan. */
bool op_run(const struct worker *worker, const struct sandbox_plan *plan,
            const struct run_request *request, const struct run_events *events, void *data,
            struct run **ret, struct err *err);

#endif
