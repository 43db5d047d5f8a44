/* SPDX-License-Identifier: Apache-2.0 */
/* A glob in the first line, paths in the others: never a crash or a slow match,
 * and what matches lies beneath folders that are said to hold matches. */
#include <stdint.h>
#include <stdlib.h>

#include "base/text.h"
#include "search/rules/glob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_path(const struct glob *glob, struct span path)
{
	if (!glob_match(glob, path))
		return;
	for (size_t i = 0; i < path.len; i++) {
		if (path.data[i] == '/' && !glob_may_match_beneath(glob, span_head(path, i)))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span rest = span_of((const char *)data, size), line;
	struct err err = ERR_INIT;
	struct glob *glob = NULL;

	if (!line_next(&rest, &line) ||
	    !glob_compile(line_body(line), line.len % 4, &glob, &err))
		return 0;
	while (line_next(&rest, &line))
		check_path(glob, line_body(line));
	glob_free(glob);
	return 0;
}
