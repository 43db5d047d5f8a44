/* SPDX-License-Identifier: Apache-2.0 */
/* The provider that answers in this process, with this process's rights.
 *
 * This is what a confined worker answers with (serve.h), and what libraries and tests use without
 * one.
 */
#ifndef HASP_WORKER_INSIDE_INPROCESS_H
#define HASP_WORKER_INSIDE_INPROCESS_H

#include "data/structured/structured.h"
#include "worker/provider.h"

struct inprocess_options {
	const char *const *roots; /* at least one; "." is the current folder */
	size_t root_count;
	const char *const *root_names; /* as in struct worker_options (worker/local.h) */
	size_t root_name_count;
	const char *const *read; /* folders that can be read besides, and not changed; others are
	                          * left out */
	size_t read_count;
	const char *journal_folder; /* absolute; where apply_changes keeps its journal */
	enum durability durability;
	size_t max_file_bytes; /* 0: the default */
	/* For a process that answers many searches: what they found out about the tree is kept
	 * for the next (search/cache/cache.h), from the first search on. */
	bool keep_cache;
	size_t *ret_recovered; /* NULL, or gets how many crashed transactions were put right */
	/* NULL, or how this process is confined (borrowed): what it forbids is refused with the
	 * rule's name, and commands run with it. */
	const struct sandbox_plan *plan;
	int recall; /* what guards know of each other (borrowed; sandbox/guard/recall.h); 0: none */
};

/* Opens the workspace and recovers what a crashed transaction left. */
bool inprocess_provider(const struct inprocess_options *options, struct provider **ret,
                        struct err *err);

/* ---- the operations behind it: not for other folders ---- */

/* What every operation works on. */
struct worker {
	struct workspace *workspace;
	char *journal_folder;
	enum durability durability;
	size_t max_file_bytes;
	const struct sandbox_plan *plan; /* borrowed; what may be read and written, or NULL: all */
	int recall;                      /* borrowed; as in the options */
	bool hides;                      /* the plan hides something beneath a root */
	/* read_request.arrived of the last for which no root had a .geminiignore. */
	_Atomic uint64_t none_ignored;
};

/* A change of values by update_data, of which nothing is written yet (schema_guard.c). */
struct schema_guard {
	const struct worker *worker;
	/* Whether the plan lets a file be read. */
	bool (*may_read)(const struct worker *worker, const char *path, struct err *err);
	const char *path; /* of the file; absolute */
	enum structured_format format;
	struct span before, after;
	bool allow_errors; /* a schema that cannot be read or does not decide refuses nothing */
};

/* Whether the file's JSON Schema, if it has one, lets the change be made: a valid file stays valid,
 * an invalid one gets no further problems.  INVALID_ARGUMENT: what is wrong, where, and what is
 * allowed; or why the schema, which is there, cannot be judged by.
 * True also where the schema is not there, or `allow_errors` is set; `note` then says why. */
bool schema_guard(const struct schema_guard *guard, char note[EDIT_NOTE_BYTES], struct err *err);

/* Reads a file through the reader of its format (op_derive.c), if there is one and the request is
 * for it: *ret_known; otherwise nothing was done, and *ret and *err are as they were.  The path may
 * be read. */
bool op_derive(const struct worker *worker, const struct read_request *request, bool *ret_known,
               struct read_result *ret, struct err *err);

/* The watches of one worker (op_watch.c): a thread that is started by the first. */
struct watcher;

struct watcher *op_watch_new(const struct workspace *workspace); /* borrowed; never NULL */
void op_watch_free(struct watcher *watcher); /* no watch is left; NULL is fine */
bool op_watch(struct watcher *watcher, const struct watch_request *request,
              struct provider_watch **ret, struct err *err);
void op_watch_end(struct watcher *watcher, struct provider_watch *watch);

/* Runs a command with this process's confinement (op_run.c): the plan is that of this process; one
 * whose level is paths confines nothing.  run_request's permissions are the caller's matter: they
 * are in the plan. */
bool op_run(const struct worker *worker, const struct sandbox_plan *plan,
            const struct run_request *request, const struct run_events *events, void *data,
            struct run **ret, struct err *err);

#endif
