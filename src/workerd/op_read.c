/* SPDX-License-Identifier: Apache-2.0 */
/* Reading: the request within the worker's limits. */
#include "workerd/ops.h"

bool op_read(const struct worker *worker, const struct read_request *request,
             struct read_result *ret, struct err *err)
{
	struct read_request own = *request;

	*ret = (struct read_result){ 0 };
	if (!op_may(worker, request->path, SANDBOX_READ, false, err))
		return false;
	if (!own.max_file_bytes || (worker->max_file_bytes &&
	                            own.max_file_bytes > worker->max_file_bytes))
		own.max_file_bytes = worker->max_file_bytes;
	return read_file(worker->workspace, &own, ret, err);
}
