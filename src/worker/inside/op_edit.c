/* SPDX-License-Identifier: Apache-2.0 */
/* Editing: the changes, with the worker's limits, durability and journal. */
#include <string.h>

#include "worker/inside/ops.h"

static bool may(const struct worker *worker, const struct change *change, struct err *err)
{
	bool removes = change->kind == CHANGE_DELETE || change->kind == CHANGE_MOVE;

	return op_may(worker, change->path, SANDBOX_READ, false, err) &&
	       op_may(worker, change->path, SANDBOX_WRITE, removes, err) &&
	       (change->kind != CHANGE_MOVE ||
	        op_may(worker, change->new_path, SANDBOX_WRITE, false, err));
}

/* All changes are looked at, so that one answer names all that is forbidden. */
static bool may_all(const struct worker *worker, const struct change *changes, size_t count,
                    struct change_result *results, struct err *err)
{
	struct err first = ERR_INIT;

	if (!worker->plan)
		return true;
	memset(results, 0, count * sizeof(*results));
	for (size_t i = 0; i < count; i++)
		if (!may(worker, &changes[i], &results[i].err) && first.code == ERR_NONE)
			first = results[i].err;
	if (first.code == ERR_NONE)
		return true;
	for (size_t i = 0; i < count; i++)
		if (results[i].err.code == ERR_NONE)
			err_set(&results[i].err, ERR_ROLLED_BACK,
			        "Another change is forbidden, so this one was not made.");
	*err = first;
	return false;
}

/* A user namespace knows no other users and groups than one's own, not even the groups that one is
 * a member of besides: owners that could be kept without it cannot be kept in it. */
static void explain_owner(const struct worker *worker, struct err *err)
{
	struct err plain = *err;

	if (err->code == ERR_CANNOT_PRESERVE && worker->plan && worker->plan->user_namespace)
		err_set(err, plain.code, "%s Level full knows only the user's own group: it may "
		                         "work with --sandbox landlock.", plain.message);
}

bool op_edit(const struct worker *worker, const struct change *changes, size_t count,
             const struct edit_options *options, struct change_result *results,
             struct err *err)
{
	struct edit_options own = *options;

	if (!may_all(worker, changes, count, results, err))
		return false;
	if (!own.max_file_bytes || (worker->max_file_bytes &&
	                            own.max_file_bytes > worker->max_file_bytes))
		own.max_file_bytes = worker->max_file_bytes;
	own.commit.durability = worker->durability;
	own.journal_folder = worker->journal_folder;
	if (edit_apply(worker->workspace, changes, count, &own, results, err))
		return true;
	explain_owner(worker, err);
	for (size_t i = 0; i < count; i++)
		explain_owner(worker, &results[i].err);
	return false;
}
