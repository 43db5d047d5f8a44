/* SPDX-License-Identifier: Apache-2.0 */
/* Searching the contents of files. */
#include "workerd/ops.h"

bool op_search(const struct worker *worker, struct search_cache *cache,
               const struct search_request *request, struct search_result *ret,
               struct err *err)
{
	return search(worker->workspace, cache, request, ret, err);
}
