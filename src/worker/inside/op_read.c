/* SPDX-License-Identifier: Apache-2.0 */
/* Reading: the request within the worker's limits. */
#include "worker/inside/ops.h"

#include <string.h>

#include "base/mem.h"
#include "search/walk.h"

static bool is_ignored(const struct worker *worker, const struct read_request *request,
                       const char *path)
{
	const struct walk_rules rules = {
		.no_git_ignore = true, /* what is not kept in git may be what a question is about */
		.no_gemini_ignore = !request->gemini_ignore,
		.ignore_files = request->ignore_files,
		.ignore_file_count = request->ignore_file_count,
	};

	return search_ignored(worker->workspace, path, &rules);
}

static bool refuse_ignored(const struct read_request *request, struct err *err)
{
	return err_set(err, ERR_IGNORED,
	               "%s is left out by .geminiignore or another of the user's ignore files.",
	               request->path);
}

static bool resolve_only(const struct worker *worker, const struct read_request *request,
                         struct read_result *ret, struct err *err)
{
	_cleanup_place_ struct place place = PLACE_INIT;

	if (!workspace_resolve(worker->workspace, request->path, PLACE_FILE, &place, err))
		return false;
	ret->state.path = mem_steal(&place.path);
	ret->line_endings = "none";
	return true;
}

bool op_read(const struct worker *worker, const struct read_request *request,
             struct read_result *ret, struct err *err)
{
	struct read_request own = *request;

	*ret = (struct read_result){ 0 };
	if (!op_may(worker, request->path, SANDBOX_READ, false, err))
		return false;
	if (request->resolve)
		return resolve_only(worker, request, ret, err);
	if (is_ignored(worker, request, request->path))
		return refuse_ignored(request, err);
	if (!own.max_file_bytes || (worker->max_file_bytes &&
	                            own.max_file_bytes > worker->max_file_bytes))
		own.max_file_bytes = worker->max_file_bytes;
	if (!read_file(worker->workspace, &own, ret, err))
		return false;
	/* A link may have changed since: the file that was opened is what counts. */
	if (strcmp(ret->state.path, request->path) == 0 ||
	    !is_ignored(worker, request, ret->state.path))
		return true;
	read_result_release(ret);
	*ret = (struct read_result){ 0 };
	return refuse_ignored(request, err);
}
