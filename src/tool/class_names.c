/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/class_names.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"

static const struct {
	const char *class_name, *tool;
} rows[] = {
	{ "ReadFileTool", "read_file" },
	{ "ReadManyFilesTool", "read_many_files" },
	{ "WriteFileTool", "write_file" },
	{ "EditTool", "update_file" },
	{ "ReplaceTool", "update_file" },
	{ "SmartEditTool", "update_file" },
	{ "SafePatchTool", "safe_patch" },
	{ "LSTool", "list_directory" },
	{ "GlobTool", "glob" },
	{ "GrepTool", "search_files" },
	{ "RipGrepTool", "search_files" },
	{ "ShellTool", "run_shell_command" },
	{ "WebFetchTool", "web_fetch" },
	{ "WebSearchTool", "google_web_search" },
	{ "MemoryTool", "save_memory" },
	{ "WriteTodosTool", "write_todos" },
	{ "AskUserTool", "ask_user" },
	{ "EnterPlanModeTool", "enter_plan_mode" },
	{ "ExitPlanModeTool", "exit_plan_mode" },
	{ "ActivateSkillTool", "activate_skill" },
	{ "AgentTool", "invoke_agent" },
};

const char *class_name_tool(const char *class_name)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].class_name, class_name) == 0)
			return rows[i].tool;
	return NULL;
}
