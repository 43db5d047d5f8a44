/* SPDX-License-Identifier: Apache-2.0 */
/* Listing and finding files. */
#include "worker/inside/ops.h"

bool op_walk(const struct worker *worker, struct search_cache *cache,
             const struct walk_request *request, struct walk_result *ret, struct err *err)
{
	return op_may(worker, request->path, SANDBOX_READ, false, err) &&
	       walk(worker->workspace, cache, request, ret, err);
}
