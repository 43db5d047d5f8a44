/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/interpose.h"

static struct provider *base_of(struct provider *provider)
{
	return ((struct interposer *)provider)->base;
}

static bool pass_walk(struct provider *provider, const struct walk_request *request,
                      struct walk_result *ret, struct err *err)
{
	return base_of(provider)->ops->walk(base_of(provider), request, ret, err);
}

static bool pass_search(struct provider *provider, const struct search_request *request,
                        struct search_result *ret, struct err *err)
{
	return base_of(provider)->ops->search(base_of(provider), request, ret, err);
}

static bool pass_watch(struct provider *provider, const struct watch_request *request,
                       struct provider_watch **ret, struct err *err)
{
	return base_of(provider)->ops->watch(base_of(provider), request, ret, err);
}

static void pass_unwatch(struct provider *provider, struct provider_watch *watch)
{
	base_of(provider)->ops->unwatch(base_of(provider), watch);
}

static bool pass_run(struct provider *provider, const struct run_request *request,
                     const struct run_events *events, void *data, struct run **ret,
                     struct err *err)
{
	return base_of(provider)->ops->run(base_of(provider), request, events, data, ret, err);
}

static bool pass_plan(struct provider *provider, const struct run_request *request,
                      struct sandbox_plan **ret, struct err *err)
{
	return base_of(provider)->ops->plan(base_of(provider), request, ret, err);
}

static const struct provider_info *pass_info(struct provider *provider)
{
	return base_of(provider)->ops->info(base_of(provider));
}

static const char *pass_root(struct provider *provider, size_t i)
{
	return base_of(provider)->ops->root(base_of(provider), i);
}

static void free_nothing(struct provider *provider)
{
	(void)provider;
}

void interpose_init(struct interposer *interposer, struct provider *base,
                    const struct provider_ops *own)
{
	const struct provider_ops *theirs = base->ops;

	*interposer = (struct interposer){ .base = base, .ops = *own };
	interposer->provider.ops = &interposer->ops;
	if (!own->name)
		interposer->ops.name = theirs->name;
	if (!own->walk && theirs->walk)
		interposer->ops.walk = pass_walk;
	if (!own->search && theirs->search)
		interposer->ops.search = pass_search;
	if (!own->watch && theirs->watch)
		interposer->ops.watch = pass_watch;
	if (!own->unwatch && theirs->unwatch)
		interposer->ops.unwatch = pass_unwatch;
	if (!own->run && theirs->run)
		interposer->ops.run = pass_run;
	if (!own->plan && theirs->plan)
		interposer->ops.plan = pass_plan;
	if (!own->info && theirs->info)
		interposer->ops.info = pass_info;
	if (!own->root && theirs->root)
		interposer->ops.root = pass_root;
	if (!own->free)
		interposer->ops.free = free_nothing;
}
