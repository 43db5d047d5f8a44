/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/call/gemini_names.h"

#include <string.h>

#include "base/mem.h"

static const struct {
	const char *tool, *ours, *theirs;
} rows[] = {
	{ "update_file", "old_content", "old_string" },
	{ "update_file", "new_content", "new_string" },
	{ "update_file", "expected_matches", "expected_replacements" },
	{ "search_files", "path", "dir_path" },
	{ "search_files", "include", "include_pattern" },
	{ "search_files", "exclude", "exclude_pattern" },
	{ "search_files", "max_per_file", "max_matches_per_file" },
	{ "search_files", "max_results", "total_max_matches" },
	{ "glob", "patterns", "pattern" },
	{ "glob", "path", "dir_path" },
	{ "list_directory", "path", "dir_path" },
	{ "read_many_files", "paths", "include" },
};

/* A list of one pattern is a pattern there. */
static json_t *their_value(json_t *value)
{
	return json_array_size(value) == 1 ? json_array_get(value, 0) : value;
}

static json_t *renamed(const struct tool *tool, const json_t *arguments, bool keep_ours)
{
	json_t *all = json_copy((json_t *)arguments);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_t *value = json_object_get(arguments, rows[i].ours);

		if (!value || strcmp(rows[i].tool, tool->name) != 0)
			continue;
		json_object_set(all, rows[i].theirs, their_value(value));
		if (!keep_ours)
			json_object_del(all, rows[i].ours);
	}
	return all;
}

json_t *gemini_arguments(const struct tool *tool, const json_t *arguments)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!strcmp(rows[i].tool, tool->name) && json_object_get(arguments, rows[i].ours))
			return renamed(tool, arguments, false);
	return NULL;
}

json_t *both_arguments(const struct tool *tool, const json_t *arguments)
{
	return renamed(tool, arguments, true);
}
