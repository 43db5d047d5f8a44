/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/host/plans.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "worker/local.h"

struct plans {
	struct provider provider; /* first */
	struct provider_ops ops;  /* which of them there are depends on `base` */
	struct provider *base;
	char *folder;
	pthread_mutex_t lock;
	struct provider *own;     /* of the folder; NULL: not started */
};

static struct plans *plans_of(struct provider *provider)
{
	return (struct plans *)provider;
}

static struct provider *base_of(struct provider *provider)
{
	return plans_of(provider)->base;
}

/* ---- the folder's own worker ------------------------------------------------------------ */

/* At the level of the workspace's. */
static bool start(struct plans *plans, struct err *err)
{
	const struct provider_info *info = plans->base->ops->info(plans->base);
	const char *roots[] = { plans->folder };
	struct worker_options options = {
		.roots = roots,
		.root_count = 1,
		.durability = DURABILITY_RENAME,
	};

	if (!file_make_folders(plans->folder, err))
		return false;
	if (info->level == SANDBOX_PATHS)
		return provider_none(&options, &plans->own, err);
	return provider_local(&options, &plans->own, err);
}

/* NULL with *err: it cannot be started. */
static struct provider *own_of(struct provider *provider, struct err *err)
{
	struct plans *plans = plans_of(provider);
	struct provider *own;

	pthread_mutex_lock(&plans->lock);
	own = plans->own || start(plans, err) ? plans->own : NULL;
	pthread_mutex_unlock(&plans->lock);
	return own;
}

/* Relative paths begin at the workspace's first root. The caller frees; NULL: there is none. */
static char *absolute(const struct plans *plans, const char *path)
{
	return path ? path_join(plans->base->ops->root(plans->base, 0), path) : NULL;
}

static bool is_plan(const struct plans *plans, const char *path)
{
	_cleanup_free_ char *whole = absolute(plans, path);
	size_t len = strlen(plans->folder);

	return whole && strncmp(whole, plans->folder, len) == 0 && whole[len] == '/';
}

/* ---- what it answers -------------------------------------------------------------------- */

static bool read_one(struct provider *provider, const struct read_request *request,
                     struct read_result *ret, struct err *err)
{
	struct provider *to = base_of(provider);
	struct read_request own = *request;
	_cleanup_free_ char *path = NULL;

	if (!is_plan(plans_of(provider), request->path))
		return to->ops->read(to, request, ret, err);
	to = own_of(provider, err);
	if (!to) {
		*ret = (struct read_result){ 0 };
		return false;
	}
	own.path = path = absolute(plans_of(provider), request->path);
	return to->ops->read(to, &own, ret, err);
}

static bool are_plans(const struct plans *plans, const struct change *changes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_plan(plans, changes[i].path) ||
		    (changes[i].new_path && !is_plan(plans, changes[i].new_path)))
			return false;
	return count > 0;
}

static bool fail_all(struct change_result *results, size_t count, const struct err *err)
{
	for (size_t i = 0; i < count; i++)
		results[i] = (struct change_result){ .err = *err };
	return false;
}

static bool edit_plans(struct provider *provider, const struct change *changes, size_t count,
                       const struct edit_options *options, struct change_result *results,
                       struct err *err)
{
	struct provider *to = own_of(provider, err);
	_cleanup_free_ struct change *own = mem_alloc(count, sizeof(*own));
	_cleanup_free_ char **paths = mem_alloc(2 * count, sizeof(*paths));
	bool ok;

	if (!to)
		return fail_all(results, count, err);
	for (size_t i = 0; i < count; i++) {
		own[i] = changes[i];
		own[i].path = paths[2 * i] = absolute(plans_of(provider), changes[i].path);
		own[i].new_path = paths[2 * i + 1] = absolute(plans_of(provider), changes[i].new_path);
	}
	ok = to->ops->edit(to, own, count, options, results, err);
	for (size_t i = 0; i < 2 * count; i++)
		free(paths[i]);
	return ok;
}

static bool edit(struct provider *provider, const struct change *changes, size_t count,
                 const struct edit_options *options, struct change_result *results,
                 struct err *err)
{
	struct provider *to = base_of(provider);

	if (are_plans(plans_of(provider), changes, count))
		return edit_plans(provider, changes, count, options, results, err);
	return to->ops->edit(to, changes, count, options, results, err);
}

static bool walk_all(struct provider *provider, const struct walk_request *request,
                 struct walk_result *ret, struct err *err)
{
	return base_of(provider)->ops->walk(base_of(provider), request, ret, err);
}

static bool search_all(struct provider *provider, const struct search_request *request,
                       struct search_result *ret, struct err *err)
{
	return base_of(provider)->ops->search(base_of(provider), request, ret, err);
}

static bool watch(struct provider *provider, const struct watch_request *request,
                  struct watch **ret, struct err *err)
{
	return base_of(provider)->ops->watch(base_of(provider), request, ret, err);
}

static void unwatch(struct provider *provider, struct watch *one)
{
	base_of(provider)->ops->unwatch(base_of(provider), one);
}

static bool run(struct provider *provider, const struct run_request *request,
                const struct run_events *events, void *data, struct run **ret, struct err *err)
{
	return base_of(provider)->ops->run(base_of(provider), request, events, data, ret, err);
}

static const struct provider_info *info_of(struct provider *provider)
{
	return base_of(provider)->ops->info(base_of(provider));
}

static const char *root(struct provider *provider, size_t i)
{
	return base_of(provider)->ops->root(base_of(provider), i);
}

static void plans_free(struct provider *provider)
{
	struct plans *plans = plans_of(provider);

	provider_free(plans->own);
	pthread_mutex_destroy(&plans->lock);
	free(plans->folder);
	free(plans);
}

struct provider *plans_provider(struct provider *base, const char *folder)
{
	struct plans *plans = mem_alloc(1, sizeof(*plans));

	plans->ops = (struct provider_ops){
		.name = base->ops->name,
		.read = read_one,
		.edit = edit,
		.walk = walk_all,
		.search = search_all,
		.watch = base->ops->watch ? watch : NULL,
		.unwatch = base->ops->unwatch ? unwatch : NULL,
		.run = base->ops->run ? run : NULL,
		.info = info_of,
		.root = root,
		.free = plans_free,
	};
	plans->provider.ops = &plans->ops;
	plans->base = base;
	plans->folder = mem_strdup(folder);
	pthread_mutex_init(&plans->lock, NULL);
	return &plans->provider;
}
