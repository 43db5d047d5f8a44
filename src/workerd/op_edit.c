/* SPDX-License-Identifier: Apache-2.0 */
/* Editing: the changes, with the worker's limits, durability and journal. */
#include "workerd/ops.h"

bool op_edit(const struct worker *worker, const struct change *changes, size_t count,
             const struct edit_options *options, struct change_result *results,
             struct err *err)
{
	struct edit_options own = *options;

	if (!own.max_file_bytes || (worker->max_file_bytes &&
	                            own.max_file_bytes > worker->max_file_bytes))
		own.max_file_bytes = worker->max_file_bytes;
	own.commit.durability = worker->durability;
	own.journal_folder = worker->journal_folder;
	return edit_apply(worker->workspace, changes, count, &own, results, err);
}
