/* SPDX-License-Identifier: Apache-2.0 */
/* Searching the contents of files. */
#include <stdlib.h>

#include "worker/inside/ops.h"

/* Files that are hidden by a rule and not by the kernel (level paths). */
static void leave_out_hidden(const struct worker *worker, struct search_result *result)
{
	size_t kept = 0;

	for (size_t i = 0; i < result->count; i++) {
		struct file_match *file = &result->files[i];

		if (!op_is_hidden(worker, result->folder, file->path)) {
			result->files[kept++] = *file;
			continue;
		}
		for (size_t line = 0; line < file->line_count; line++)
			result->matches -= file->lines[line].match;
		result->unreadable++;
		free(file->path);
		free(file->lines);
		free(file->text);
	}
	result->count = kept;
}

bool op_search(const struct worker *worker, struct search_cache *cache,
               const struct search_request *request, struct search_result *ret,
               struct err *err)
{
	/* The folder or file itself: that the path leads to something hidden is told. */
	if (!op_may(worker, request->path, SANDBOX_READ, false, err) ||
	    !search(worker->workspace, cache, request, ret, err))
		return false;
	if (worker->plan && worker->hides && !ret->one_file)
		leave_out_hidden(worker, ret);
	return true;
}
