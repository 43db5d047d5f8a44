/* SPDX-License-Identifier: Apache-2.0 */
/* The provider: the only way tools reach files.
 *
 * A provider answers requests that are plain data, so that the one who answers
 * can be in this process (provider_inprocess, worker/inside/inprocess.h), in a
 * confined child, or at the other end of any pipe.  Tools hold a `struct
 * provider *` and nothing else that touches the workspace.
 *
 *     struct provider *p = ...;
 *     ok = p->ops->read(p, &request, &result, &err);
 *
 * Requests are borrowed for the call; results are the caller's to release with
 * the functions of the types' own headers.
 */
#ifndef HASP_WORKER_PROVIDER_H
#define HASP_WORKER_PROVIDER_H

#include "edit/edit.h"
#include "file/read.h"
#include "search/search.h"
#include "search/walk.h"
#include "worker/run.h"

struct provider;
struct edit_begun;
struct read_begun;
struct watch;

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

struct provider_ops {
	const char *name; /* "in-process", "local", "command" */
	bool (*read)(struct provider *provider, const struct read_request *request,
	             struct read_result *ret, struct err *err);
	/* NULL, or the same in two steps, for callers who have several files to read and one thread:
	 * what is begun is under way together.  Between the steps the caller keeps the request. False:
	 * this one cannot be begun (then read it), *err means nothing. Each that has begun has to
	 * be ended, soon, by the same thread; LIMIT_READS_BEGUN at a time. */
	bool (*read_begin)(struct provider *provider, const struct read_request *request,
	                   struct read_begun **ret);
	bool (*read_end)(struct provider *provider, struct read_begun *begun,
	                 struct read_result *ret, struct err *err);
	bool (*edit)(struct provider *provider, const struct change *changes, size_t count,
	             const struct edit_options *options, struct change_result *results,
	             struct err *err);
	/* NULL, or the same for one change in two steps, for callers with a loop, which let no
	 * thread wait. Between the steps the caller keeps the change, the options and the result.
	 * `ready` is called once, on any thread: with `here`, when edit_end does not wait, the edit
	 * was made and the result is small; else when edit_end had better be left to a thread that
	 * can wait. It must be quick and call no provider. edit_end may be called before, too, and
	 * waits; from any thread. False: this one cannot be begun (then edit it). */
	bool (*edit_begin)(struct provider *provider, const struct change *change,
	                   const struct edit_options *options, struct change_result *result,
	                   void (*ready)(void *data, bool here), void *data,
	                   struct edit_begun **ret);
	bool (*edit_end)(struct provider *provider, struct edit_begun *begun, struct err *err);
	/* With edit_begin: sends what was begun. */
	void (*flush)(struct provider *provider);
	/* Likewise: a descriptor, the same as long as the provider lives, that becomes readable
	 * when `take` has something to take; which is to be called every few seconds besides, as
	 * long as edits are begun and not ready. -1: there is none, and edit_begin fails. */
	int (*bell)(struct provider *provider);
	void (*take)(struct provider *provider);
	bool (*walk)(struct provider *provider, const struct walk_request *request,
	             struct walk_result *ret, struct err *err);
	/* `request->cancel`, if any, is looked at by the one who answers. */
	bool (*search)(struct provider *provider, const struct search_request *request,
	               struct search_result *ret, struct err *err);
	/* Tells when a file changes, appears or goes, until unwatch: *ret is for that alone.
	 * OUTSIDE_WORKSPACE and the like for the path; TOO_LARGE when there are too many. */
	bool (*watch)(struct provider *provider, const struct watch_request *request,
	              struct watch **ret, struct err *err);
	/* `changed` is not running, and not called any more, when it returns. */
	void (*unwatch)(struct provider *provider, struct watch *watch);
	/* Starts a command. `ret` is for the caller to free (run.h). DENIED_BY_SANDBOX: this provider
	 * runs none, or not with such permissions. */
	bool (*run)(struct provider *provider, const struct run_request *request,
	            const struct run_events *events, void *data, struct run **ret,
	            struct err *err);
	/* Borrowed, for as long as the provider lives. Never NULL. Asked again after a command
	 * was started, the level may be weaker (worker/local.h). */
	const struct provider_info *(*info)(struct provider *provider);
	/* Canonical path of workspace root `i`; NULL past the last. Borrowed. */
	const char *(*root)(struct provider *provider, size_t i);
	void (*free)(struct provider *provider);
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

#endif
