/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/inside/inprocess.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "file/transaction.h"
#include "worker/inside/ops.h"

struct inprocess {
	struct provider provider; /* first: the two are cast into each other */
	struct worker worker;
	bool keep_cache;
	pthread_mutex_t cache_lock; /* of `cache`: the pointer, not what it points to */
	struct search_cache *cache; /* owned; made by the first search, NULL before */
	struct watcher *watcher;    /* owned */
	struct provider_info info;
};

static const struct worker *worker_of(struct provider *provider)
{
	return &((struct inprocess *)provider)->worker;
}

static bool inprocess_read(struct provider *provider, const struct read_request *request,
                           struct read_result *ret, struct err *err)
{
	return op_read(worker_of(provider), request, ret, err);
}

static bool inprocess_edit(struct provider *provider, const struct change *changes, size_t count,
                           const struct edit_options *options, struct change_result *results,
                           struct err *err)
{
	return op_edit(worker_of(provider), changes, count, options, results, err);
}

static struct search_cache *cache_of(struct inprocess *own)
{
	struct search_cache *cache;

	if (!own->keep_cache)
		return NULL;
	pthread_mutex_lock(&own->cache_lock);
	if (!own->cache)
		own->cache = search_cache_new(own->worker.workspace,
		                              &(struct search_cache_options){ 0 });
	cache = own->cache;
	pthread_mutex_unlock(&own->cache_lock);
	return cache;
}

static bool inprocess_walk(struct provider *provider, const struct walk_request *request,
                           struct walk_result *ret, struct err *err)
{
	struct inprocess *own = (struct inprocess *)provider;

	return op_walk(&own->worker, request->recursive ? cache_of(own) : NULL, request, ret, err);
}

static bool inprocess_search(struct provider *provider, const struct search_request *request,
                             struct search_result *ret, struct err *err)
{
	struct inprocess *own = (struct inprocess *)provider;

	return op_search(&own->worker, cache_of(own), request, ret, err);
}

static bool inprocess_watch(struct provider *provider, const struct watch_request *request,
                            struct watch **ret, struct err *err)
{
	return op_watch(((struct inprocess *)provider)->watcher, request, ret, err);
}

static void inprocess_unwatch(struct provider *provider, struct watch *watch)
{
	op_unwatch(((struct inprocess *)provider)->watcher, watch);
}

static const char *inprocess_root(struct provider *provider, size_t i)
{
	const struct workspace *ws = worker_of(provider)->workspace;

	return i < workspace_root_count(ws) ? workspace_root_path(ws, i) : NULL;
}

static bool inprocess_run(struct provider *provider, const struct run_request *request,
                          const struct run_events *events, void *data, struct run **ret,
                          struct err *err)
{
	const struct worker *worker = worker_of(provider);

	if (worker->plan && worker->plan->use != SANDBOX_USE_COMMAND)
		return err_set(err, ERR_DENIED_BY_SANDBOX, "No commands run here.");
	return op_run(worker, worker->plan, request, events, data, ret, err);
}

static const struct provider_info *inprocess_info(struct provider *provider)
{
	return &((struct inprocess *)provider)->info;
}

static void inprocess_free(struct provider *provider)
{
	struct inprocess *own = (struct inprocess *)provider;

	watcher_free(own->watcher);
	search_cache_free(own->cache);
	pthread_mutex_destroy(&own->cache_lock);
	if (own->worker.workspace)
		workspace_free(own->worker.workspace);
	free(own->worker.journal_folder);
	free(own);
}

static const struct provider_ops ops = {
	.name = "in-process",
	.read = inprocess_read,
	.edit = inprocess_edit,
	.walk = inprocess_walk,
	.search = inprocess_search,
	.watch = inprocess_watch,
	.unwatch = inprocess_unwatch,
	.run = inprocess_run,
	.info = inprocess_info,
	.root = inprocess_root,
	.free = inprocess_free,
};

/* What a transaction that was cut short left behind is for those who edit files. */
static bool recover(const struct worker *worker, size_t *ret, struct err *err)
{
	if (!worker->journal_folder ||
	    (worker->plan && worker->plan->use == SANDBOX_USE_COMMAND))
		return true;
	return transaction_recover(worker->workspace, worker->journal_folder, ret, err);
}

bool provider_inprocess(const struct inprocess_options *options, struct provider **ret,
                        struct err *err)
{
	const struct sandbox_plan *plan = options->plan;
	struct inprocess *own = mem_alloc(1, sizeof(*own));
	struct worker *worker = &own->worker;
	size_t recovered = 0;

	own->provider.ops = &ops;
	own->keep_cache = options->keep_cache;
	pthread_mutex_init(&own->cache_lock, NULL);
	worker->journal_folder = mem_strdup(options->journal_folder);
	worker->durability = options->durability;
	worker->max_file_bytes = options->max_file_bytes;
	worker->plan = plan;
	own->info = (struct provider_info){ "in-process", plan ? plan->level : SANDBOX_PATHS,
		                            plan ? plan->weaker_because : NULL };
	if (!workspace_open(options->roots, options->root_count, &worker->workspace, err) ||
	    !recover(worker, &recovered, err)) {
		provider_free(&own->provider);
		return false;
	}
	for (size_t i = 0; i + 1 < options->root_name_count; i += 2)
		workspace_name_root(worker->workspace, options->root_names[i],
		                    options->root_names[i + 1]);
	worker->hides = plan && plan_hides_beneath(plan, worker->workspace);
	own->watcher = watcher_new(worker->workspace);
	if (options->ret_recovered)
		*options->ret_recovered = recovered;
	*ret = &own->provider;
	return true;
}
