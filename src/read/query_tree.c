/* SPDX-License-Identifier: Apache-2.0 */
/* Which format a file is of. */
#include <string.h>
#include <strings.h>

#include "read/query.h"

bool query_tree_of(struct query_source *source, struct span head, struct err *err)
{
	const char *dot = strrchr(source->input->name, '.');

	(void)head;
	source->format = STRUCTURED_JSON;
	if (dot && (strcasecmp(dot, ".jsonl") == 0 || strcasecmp(dot, ".ndjson") == 0))
		source->format = STRUCTURED_JSON_LINES;
	else if (!dot || strcasecmp(dot, ".json") != 0)
		return err_set(err, ERR_NOT_TEXT, "Its name is none of JSON or JSON Lines files.");
	return true;
}

bool query_tree_comments(struct query_source *source)
{
	(void)source;
	return false;
}
