/* SPDX-License-Identifier: Apache-2.0 */
/* Reading: the request within the worker's limits. */
#include "workerd/ops.h"

bool op_read(const struct worker *worker, const struct read_request *request,
             struct read_result *ret, struct err *err)
{
	struct read_request own = *request;

	if (!own.max_file_bytes || (worker->max_file_bytes &&
	                            own.max_file_bytes > worker->max_file_bytes))
		own.max_file_bytes = worker->max_file_bytes;
	return read_file(worker->workspace, &own, ret, err);
}
