/* SPDX-License-Identifier: Apache-2.0 */
/* Listing and finding files. */
#include "workerd/ops.h"

bool op_walk(const struct worker *worker, const struct walk_request *request,
             struct walk_result *ret, struct err *err)
{
	return walk(worker->workspace, request, ret, err);
}
