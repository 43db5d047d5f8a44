/* SPDX-License-Identifier: Apache-2.0 */
/* The operations behind a provider, one op_*.c each. Not for other folders. */
#ifndef HASP_WORKER_INSIDE_OPS_H
#define HASP_WORKER_INSIDE_OPS_H

#include "sandbox/plan/judge.h"
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

/* judged.c: DENIED_BY_SANDBOX with the rule and what would allow it, where the kernel would only
 * say that something failed.  Paths that lead nowhere are let through: the operation says so. */
bool op_may(const struct worker *worker, const char *path, enum sandbox_access wanted,
            bool removes, struct err *err);
bool plan_hides_beneath(const struct sandbox_plan *plan, const struct workspace *ws);
/* Whether `path` beneath the folder (both as results have them) is hidden. */
bool op_is_hidden(const struct worker *worker, const char *folder, const char *path);

bool op_read(const struct worker *worker, const struct read_request *request,
             struct read_result *ret, struct err *err);
bool op_edit(const struct worker *worker, const struct change *changes, size_t count,
             const struct edit_options *options, struct change_result *results,
             struct err *err);
/* `cache` may be NULL. */
bool op_walk(const struct worker *worker, struct search_cache *cache,
             const struct walk_request *request, struct walk_result *ret, struct err *err);
bool op_search(const struct worker *worker, struct search_cache *cache,
               const struct search_request *request, struct search_result *ret,
               struct err *err);

/* The watches of one worker (op_watch.c): a thread that is started by the first. */
struct watcher;

struct watcher *watcher_new(const struct workspace *workspace); /* borrowed; never NULL */
void watcher_free(struct watcher *watcher); /* no watch is left; NULL is fine */
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
