/* SPDX-License-Identifier: Apache-2.0 */
/* The provider: the only way tools reach files and run commands.
 *
 * A provider answers requests that are plain data, so that the one who answers
 * can be in this process (inprocess_provider, worker/inside/inprocess.h), in a
 * confined child, or at the other end of any pipe.  Tools hold a `struct
 * provider *` and nothing else that touches the workspace.
 *
 *     struct provider *p = ...;
 *     ok = provider_read(p, &request, &result, &err);
 *
 * Requests are borrowed for the call; results are the caller's to release with
 * the functions of the types' own headers. */
#ifndef HASP_WORKER_PROVIDER_H
#define HASP_WORKER_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"
#include "edit/edit.h"
#include "file/read.h"
#include "sandbox/plan/denial.h"
#include "search/search.h"
#include "search/walk.h"

/* ---- a command that runs ---- */

/* A command: the request, its events, its end.
 *
 * provider->ops->run starts it and returns immediately; events are delivered in order, on a thread
 * of the provider.  An `output` that takes its time slows the command down.  `main_ended` comes
 * exactly once, when the command itself has ended and its output was passed on; `ended` is the
 * last, exactly once, after it and, unless `leave_running`, all its processes have ended.
 *
 *     struct run *run;
 *     if (provider->ops->run(provider, &request, &events, data, &run, &err)) ...
 *     run->ops->input(run, bytes); run->ops->kill(run); ...
 *     run->ops->free(run);            // kills what still runs; no event comes after it returned
 */

struct run_request {
	const char *const *argv;     /* NULL-terminated; argv[0] is looked up in PATH of `env` */
	const char *folder;          /* working directory: a workspace path; NULL: the first root */
	const char *const *env;      /* NULL-terminated NAME=VALUE: the whole environment but
	                              * TMPDIR, which the runner sets. NULL: the allowed part of the
	                              * runner's environment (worker/environment.h) */
	bool pty;                    /* a pseudoterminal, else pipes */
	bool merge;                  /* pipes: errors go where the output goes, in order:
	                              * RUN_STDOUT */
	unsigned rows, columns;      /* of the terminal; 0: 24, 80 */
	bool no_input;               /* standard input is empty (/dev/null; a terminal stays
	                              * silent) */
	/* Local providers only: the command gets these as 0, 1, 2 and no output is passed on. */
	const int *stdio;            /* NULL, or three descriptors */
	unsigned timeout_ms;         /* of it all; 0: none */
	unsigned inactivity_ms;      /* without output; 0: none */
	bool leave_running;          /* processes that outlive the command itself go on:
	                              * `main_ended` says how it ended, `ended` comes when the last
	                              * has ended */
	bool network;                /* permissions beyond the session's */
	const char *const *write;    /* canonical or workspace paths; may be NULL */
	size_t write_count;
	const char *const *read;
	size_t read_count;
	/* Local providers only: files that may be written, and no others
	 * (sandbox_options.exact). */
	const char *const *exact;
	size_t exact_count;
	struct sandbox_limits limits; /* all 0: the defaults */
};

enum run_why {
	RUN_EXITED,    /* by itself: exit_code */
	RUN_SIGNALLED, /* by a signal that was not ours */
	RUN_TIMED_OUT,
	RUN_INACTIVE,
	RUN_CANCELLED, /* run->ops->kill, or the session's end */
	RUN_LIMIT,     /* memory or processes: the last denial says which */
	RUN_LOST,      /* the worker died or misbehaved */
};

const char *worker_run_why_name(enum run_why why); /* "exited", "signalled", "timed_out", ... */

struct run_end {
	enum run_why why;
	int exit_code;   /* EXITED; else -1 */
	int signal;      /* SIGNALLED; else 0 */
	unsigned left_running; /* main_ended: processes that go on */
	uint64_t wall_ms, cpu_ms;
	uint64_t peak_memory_bytes; /* of the largest process; 0 unknown */
};

enum run_stream { RUN_STDOUT, RUN_STDERR }; /* a terminal has one: RUN_STDOUT */

/* What a command cannot read: a fact of its plan.  The kernel refuses it (EACCES, or ENOENT beneath
 * a folder) and no denial reports it, for nothing stands between a program and a file that it
 * opens for reading. */
struct run_hidden {
	const char *const *paths; /* canonical; a folder stands for all beneath it */
	size_t count;             /* at most LIMIT_HIDDEN_REPORTED */
	size_t left_out;          /* there are so many more */
};

struct run_events {
	void (*started)(void *data, int pid);  /* pid (and process group) as the command sees it;
	                                        * may be NULL */
	void (*output)(void *data, enum run_stream stream, struct span bytes);
	/* No more output comes on this stream, and the command runs on: 200 ms after it was
	 * closed, since a command that ends closes it, too.  Of pipes; may be NULL. */
	void (*closed)(void *data, enum run_stream stream);
	void (*hidden)(void *data, const struct run_hidden *hidden); /* at most once, before
	                              * `main_ended`, if the command is confined; may be NULL */
	void (*denied)(void *data, const struct denial *denial);
	/* Of a terminal that is not silent: whether input is hidden, as for a password (lines are
	 * read, and not echoed).  At each change; may be NULL. */
	void (*secret)(void *data, bool secret);
	/* Between a worker and its front alone, NULL elsewhere: the command renames PATH.lock to
	 * this path, a protected configuration of git's, and what differs seems harmless.  Waits
	 * until the front has judged and written it; false: it has not, or does not answer. */
	bool (*config)(void *data, const char *path);
	void (*main_ended)(void *data, const struct run_end *end);
	void (*ended)(void *data, const struct run_end *end);
};

struct run;

struct run_ops {
	/* Queued (LIMIT_RUN_INPUT_BYTES), never waits; false: the command no longer reads, or not
	 * fast enough */
	bool (*input)(struct run *run, struct span bytes);
	void (*close_input)(struct run *run); /* when all input was read; a terminal gets ^D */
	void (*resize)(struct run *run, unsigned rows, unsigned columns);
	void (*signal)(struct run *run, int signal); /* to the command's process group */
	void (*kill)(struct run *run); /* the whole tree, within 250 ms; RUN_CANCELLED */
	void (*free)(struct run *run);
};

struct run {
	const struct run_ops *ops;
};

/* ---- the provider ---- */

struct provider;
struct provider_started;
struct provider_watch;

/* Who answers, and how it is confined. */
struct provider_info {
	const char *kind;           /* "in-process", "local", "none", "command" */
	enum sandbox_level level;   /* of file operations and commands: the weakest at which one of
	                             * them was done so far */
	const char *weaker_because; /* NULL, or why the level is not full: one sentence */
};

/* A file to be watched. It need not exist, nor the folders it would be in. Symlinks are
 * followed when the watch begins and whenever something changes on the way. */
struct watch_request {
	const char *path;
	/* Called on a thread of the provider's, once for changes that come close together:
	 * after 30 ms without one, or 300 ms after the first. */
	void (*changed)(void *data);
	void *data;
};

/* An access that was allowed to a file outside of the roots. */
enum outside_file_kind {
	OUTSIDE_FILE_WRITE,  /* to be made or replaced */
	OUTSIDE_FILE_REMOVE,
	OUTSIDE_FILE_MOVE,   /* to `to` */
};

struct outside_file {
	enum outside_file_kind kind;
	const char *path, *to; /* canonical; `to`: MOVE alone, which may be beneath a root */
};

struct outside_request {
	const char *const *folders; /* its roots: absolute, canonical, each named once */
	size_t folder_count;
	bool write;                 /* else they are only read */
	/* Of one change of several files: this provider's own roots come first, if it spans both,
	 * and what was allowed.  A change that is cut short is undone or finished as one inside is,
	 * by the next worker of this provider or the next that a provider like this one starts; and
	 * only as far as it is about these files, or beneath these roots (front/outside.c). */
	bool with_roots;
	const struct outside_file *files;
	size_t file_count;          /* 0: only one file can be changed at a time */
};

/* A read, or changes that are made together.  Between `begin` and `end` the caller keeps it and all
 * that it points to. */
struct provider_request {
	const struct read_request *read; /* or NULL: an edit */
	struct read_result *read_result; /* filled in by `end` */
	const struct change *changes;
	size_t count;
	const struct edit_options *options;
	struct change_result *results;   /* `count`, filled in by `end` */
	/* Of a request for `begin`.  NULL: the thread that begins it ends it, soon
	 * (LIMIT_READS_STARTED at a time).  Otherwise for callers with a loop, whose threads must
	 * not wait: called once, on any thread.  With `here` `end` does not wait, the request
	 * succeeded and the result is small; without it, leave `end` to a thread that can wait.
	 * It must be quick and call no provider.  `end` may also be called earlier, and waits; from
	 * any thread. */
	void (*ready)(void *data, bool here);
	void *data;
	struct provider_started *started; /* set by `begin`, for `end`; NULL before */
};

/* The operations of a provider: OWN(type, name, parameters) is one that an interposer
 * (worker/interpose.h) answers itself or leaves out, PASS(type, name, parameters, arguments) one
 * that it passes to its `base`.  They are named here alone: to add one, add a row, and a function
 * in each provider that has it.
 *
 * begin: NULL, or starts a read or one change, for callers that have one thread for many requests:
 * started requests are under way together.  False: this request cannot be started (call `end`
 * without); nothing was done.
 *
 * end: waits for the answer of a started request, and must follow each; answers one that was not
 * started.  provider_read and provider_edit are the usual way to call it.
 *
 * flush: with `begin`: sends the requests that were started with a `ready`.
 *
 * ready_fd: with `begin`: a descriptor, the same as long as the provider lives, that becomes
 * readable when `take` has something to take.  Call `take` every few seconds as well, as long as a
 * request with a `ready` is not ready.  -1: no descriptor is left, so no such request can be
 * started.
 *
 * walk, search: lists, and searches, files.  `request->cancel` of a search may be NULL.
 *
 * watch: reports when a file changes, appears or disappears, until unwatch, which *ret is for.
 * OUTSIDE_WORKSPACE and the like for the path; TOO_LARGE when there are too many.
 *
 * unwatch: when it returns, `changed` is not running and will not be called.
 *
 * run: starts a command.  The caller frees *ret.  DENIED_BY_SANDBOX: this provider runs no
 * commands, or none with such permissions.
 *
 * plan: NULL, or the plan that such a command would run in, to look at; it assumes nothing about
 * git's files.  The caller frees it.  False: the plan is made on another machine.
 *
 * outside: NULL, or another provider, confined as this one is, for folders outside this one's
 * roots.  It is for files alone.  OUTSIDE_WORKSPACE: a folder leads elsewhere by now.  The caller
 * frees it, before this one.
 *
 * info: borrowed, as long as the provider lives; never NULL.  After a command was started the level
 * may be weaker (worker/local.h).
 *
 * root: the canonical path of workspace root `i`; NULL past the last.  Borrowed. */
#define PROVIDER_OPERATIONS(OWN, PASS) \
	OWN(bool, begin, (struct provider *provider, struct provider_request *request)) \
	OWN(bool, end, (struct provider *provider, struct provider_request *request, \
	                struct err *err)) \
	OWN(void, flush, (struct provider *provider)) \
	OWN(int, ready_fd, (struct provider *provider)) \
	OWN(void, take, (struct provider *provider)) \
	PASS(bool, walk, (struct provider *provider, const struct walk_request *request, \
	                  struct walk_result *ret, struct err *err), (base, request, ret, err)) \
	PASS(bool, search, (struct provider *provider, const struct search_request *request, \
	                    struct search_result *ret, struct err *err), \
	     (base, request, ret, err)) \
	PASS(bool, watch, (struct provider *provider, const struct watch_request *request, \
	                   struct provider_watch **ret, struct err *err), \
	     (base, request, ret, err)) \
	PASS(void, unwatch, (struct provider *provider, struct provider_watch *watch), \
	     (base, watch)) \
	PASS(bool, run, (struct provider *provider, const struct run_request *request, \
	                 const struct run_events *events, void *data, struct run **ret, \
	                 struct err *err), (base, request, events, data, ret, err)) \
	PASS(bool, plan, (struct provider *provider, const struct run_request *request, \
	                  struct sandbox_plan **ret, struct err *err), (base, request, ret, err)) \
	OWN(bool, outside, (struct provider *provider, const struct outside_request *request, \
	                    struct provider **ret, struct err *err)) \
	PASS(const struct provider_info *, info, (struct provider *provider), (base)) \
	PASS(const char *, root, (struct provider *provider, size_t i), (base, i)) \
	OWN(void, free, (struct provider *provider))

#define PROVIDER_OWN_MEMBER(type, name, parameters) type (*name) parameters;
#define PROVIDER_PASS_MEMBER(type, name, parameters, arguments) type (*name) parameters;

struct provider_ops {
	const char *name; /* "in-process", "local", "command" */
	PROVIDER_OPERATIONS(PROVIDER_OWN_MEMBER, PROVIDER_PASS_MEMBER)
};

/* Each kind of provider begins with this. */
struct provider {
	const struct provider_ops *ops;
};

static inline void provider_free(struct provider *provider)
{
	if (provider)
		provider->ops->free(provider);
}

/* Reads a file, and waits for it.  *ret is the caller's to release, on failure too: a file that
 * cannot be shown may still be named. */
bool provider_read(struct provider *provider, const struct read_request *request,
                   struct read_result *ret, struct err *err);
/* Makes `count` changes together, or none of them, and waits for it.  The results are the caller's
 * to release, on failure too. */
bool provider_edit(struct provider *provider, const struct change *changes, size_t count,
                   const struct edit_options *options, struct change_result *results,
                   struct err *err);

#endif
