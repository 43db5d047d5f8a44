/* SPDX-License-Identifier: Apache-2.0 */
#include "workerd/inprocess.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/transaction.h"
#include "workerd/ops.h"

struct inprocess {
	struct provider provider; /* first: the two are cast into each other */
	struct worker worker;
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

static bool inprocess_walk(struct provider *provider, const struct walk_request *request,
                           struct walk_result *ret, struct err *err)
{
	return op_walk(worker_of(provider), request, ret, err);
}

static const char *inprocess_root(struct provider *provider, size_t i)
{
	const struct workspace *ws = worker_of(provider)->workspace;

	return i < workspace_root_count(ws) ? workspace_root_path(ws, i) : NULL;
}

static void inprocess_free(struct provider *provider)
{
	struct inprocess *own = (struct inprocess *)provider;

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
	.root = inprocess_root,
	.free = inprocess_free,
};

bool provider_inprocess(const struct inprocess_options *options, struct provider **ret,
                        struct err *err)
{
	struct inprocess *own = mem_alloc(1, sizeof(*own));
	struct worker *worker = &own->worker;
	size_t recovered;

	own->provider.ops = &ops;
	worker->journal_folder = mem_strdup(options->journal_folder);
	worker->durability = options->durability;
	worker->max_file_bytes = options->max_file_bytes;
	if (!workspace_open(options->roots, options->root_count, &worker->workspace, err) ||
	    (worker->journal_folder && !transaction_recover(worker->workspace,
	                                                    worker->journal_folder, &recovered,
	                                                    err))) {
		provider_free(&own->provider);
		return false;
	}
	*ret = &own->provider;
	return true;
}
