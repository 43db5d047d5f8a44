/* SPDX-License-Identifier: Apache-2.0 */
/* Reading: the request within the worker's limits. */
#include "workerd/ops.h"

#include "search/ignored.h"

static bool is_ignored(const struct worker *worker, const struct read_request *request)
{
	const struct walk_rules rules = {
		.no_git_ignore = true, /* what is not kept in git may be what a question is about */
		.no_gemini_ignore = !request->gemini_ignore,
		.ignore_files = request->ignore_files,
		.ignore_file_count = request->ignore_file_count,
	};

	return search_ignored(worker->workspace, request->path, &rules);
}

bool op_read(const struct worker *worker, const struct read_request *request,
             struct read_result *ret, struct err *err)
{
	struct read_request own = *request;

	*ret = (struct read_result){ 0 };
	if (!op_may(worker, request->path, SANDBOX_READ, false, err))
		return false;
	if (is_ignored(worker, request))
		return err_set(err, ERR_IGNORED,
		               "%s is left out by .geminiignore or another of the user's ignore "
		               "files.", request->path);
	if (!own.max_file_bytes || (worker->max_file_bytes &&
	                            own.max_file_bytes > worker->max_file_bytes))
		own.max_file_bytes = worker->max_file_bytes;
	return read_file(worker->workspace, &own, ret, err);
}
