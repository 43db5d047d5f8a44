/* SPDX-License-Identifier: Apache-2.0 */
/* The table of names. */
#include "policy/policy.h"

#include <string.h>

#include "base/mem.h"

/* Farther away than this a name is not a misspelt one (Gemini CLI's number). */
enum { TYPO_MAX = 3, NAME_MAX_BYTES = 64 };

static const struct {
	const char *name;
	const char *gemini;           /* NULL: the same, or none */
	const char *const *same;
} rows[] = {
#define SAME(...) ((const char *const[]){ __VA_ARGS__, NULL })
	{ "read_file", NULL, SAME("ReadFileTool") },
	{ "read_many_files", NULL, SAME("ReadManyFilesTool") },
	{ "safe_patch", NULL, NULL },
	{ "write_file", NULL, SAME("WriteFileTool") },
	{ "update_file", NULL, SAME("replace", "edit", "EditTool") },
	{ "apply_changes", NULL, NULL },
	{ "search_files", "grep_search",
	  SAME("grep_search", "search_file_content", "GrepTool", "RipGrepTool") },
	{ "glob", NULL, SAME("GlobTool") },
	{ "list_directory", NULL, SAME("LSTool") },
	{ "run_shell_command", NULL,
	  SAME("ShellTool", "shell", "bash", "Bash", "execute_command", "run_command") },
	{ "list_background_processes", NULL, NULL },
	{ "read_background_output", NULL, SAME("BashOutput") },
	{ "write_background_input", NULL, SAME("write_stdin") },
	{ "kill_background_process", NULL, SAME("KillShell", "KillBash") },
	{ "web_fetch", NULL, SAME("WebFetchTool") },
	{ "google_web_search", NULL, SAME("WebSearchTool") },
	{ "save_memory", NULL, SAME("MemoryTool") },
	{ "write_todos", NULL, SAME("WriteTodosTool") },
	{ "ask_user", NULL, SAME("AskUserTool") },
	{ "enter_plan_mode", NULL, SAME("EnterPlanModeTool") },
	{ "exit_plan_mode", NULL, SAME("ExitPlanModeTool") },
	{ "request_permission", NULL, NULL },
	{ "search_tools", NULL, NULL },
	{ "call_tool", NULL, NULL },
	{ "activate_skill", NULL, SAME("ActivateSkillTool") },
	{ "invoke_agent", NULL, NULL },
	{ "complete_task", NULL, NULL },
	{ "update_topic", NULL, SAME("UpdateTopicTool") },
	{ "get_internal_docs", NULL, NULL },
	{ "read_mcp_resource", NULL, NULL },
	{ "list_mcp_resources", NULL, NULL },
	{ "codebase_investigator", NULL, NULL },
	{ "cli_help", NULL, NULL },
	{ "tracker_create_task", NULL, NULL },
	{ "tracker_update_task", NULL, NULL },
	{ "tracker_get_task", NULL, NULL },
	{ "tracker_list_tasks", NULL, NULL },
	{ "tracker_add_dependency", NULL, NULL },
	{ "tracker_visualize", NULL, NULL },
#undef SAME
};

const char *const *names_same(const char *tool)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].name, tool) == 0)
			return rows[i].same;
	return NULL;
}

const char *names_canonical(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].name;
		for (const char *const *same = rows[i].same; same && *same; same++)
			if (strcmp(*same, name) == 0)
				return rows[i].name;
	}
	return name;
}

const char *names_gemini(const char *tool)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].name, tool) == 0 && rows[i].gemini)
			return rows[i].gemini;
	return tool;
}

/* Levenshtein's distance of two short names. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_BYTES + 1], len = strlen(b);

	for (size_t k = 0; k <= len; k++)
		row[k] = k;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t k = 0; k < len; k++) {
			size_t change = diagonal + (a[i] != b[k]);

			diagonal = row[k + 1];
			row[k + 1] = 1 + (row[k] < diagonal ? row[k] : diagonal);
			if (change < row[k + 1])
				row[k + 1] = change;
		}
	}
	return row[len];
}

static bool is_known_tool(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return true;
	return names_canonical(name) != name;
}

const char *names_suggest(const char *name)
{
	const char *best = NULL;
	size_t best_distance = TYPO_MAX + 1;

	if (strlen(name) > NAME_MAX_BYTES || strchr(name, '*') || strncmp(name, "mcp_", 4) == 0 ||
	    is_known_tool(name))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *candidate = rows[i].name;

		for (const char *const *same = rows[i].same; candidate;
		     candidate = same ? *same++ : NULL) {
			size_t far = distance(name, candidate);

			if (far < best_distance) {
				best_distance = far;
				best = candidate;
			}
		}
	}
	return best;
}
