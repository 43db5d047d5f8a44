/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tool names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "data/tool_info.h"

static void every_name_is_of_one_tool(void **state)
{
	(void)state;
	for (size_t i = 0; i < tool_info_count(); i++) {
		const struct tool_info *row = tool_info_at(i);

		assert_ptr_equal(tool_info_find(row->name), row);
		assert_ptr_equal(tool_info_of(row->name), row);
		assert_false(tool_info_foreign(row->name));
		for (const char *const *alias = row->aliases; *alias; alias++) {
			assert_ptr_equal(tool_info_find(*alias), row);
			assert_null(tool_info_of(*alias));
			assert_false(tool_info_foreign(*alias));
			assert_null(tool_info_nearest(*alias));
		}
		if (row->gemini)
			assert_ptr_equal(tool_info_find(row->gemini), row);
		if (row->like)
			assert_non_null(tool_info_of(row->like));
		/* A hook for Claude Code gets a name that stands for the tool. */
		if (row->claude && strcmp(row->name, "apply_changes") != 0)
			assert_true(tool_info_stand_for(row->claude, row->name, false));
	}
}

static void other_agents_spellings_are_known(void **state)
{
	static const struct {
		const char *name, *tool;
	} rows[] = {
		/* Gemini CLI's classes and display names, Claude Code's, Codex', OpenCode's. */
		{ "SmartEditTool", "update_file" }, { "ReplaceTool", "update_file" },
		{ "ShellTool", "run_shell_command" }, { "AgentTool", "invoke_agent" },
		{ "ReadFile", "read_file" }, { "FindFiles", "glob" }, { "ReadFolder", "list_directory" },
		{ "SearchText", "search_files" }, { "GoogleSearch", "google_web_search" },
		{ "Edit", "update_file" }, { "MultiEdit", "update_file" }, { "Write", "write_file" },
		{ "Bash", "run_shell_command" }, { "Task", "invoke_agent" },
		{ "TodoWrite", "write_todos" }, { "apply_patch", "apply_changes" },
		{ "exec_command", "run_shell_command" }, { "shell", "run_shell_command" },
		{ "webfetch", "web_fetch" }, { "todowrite", "write_todos" },
		/* Prefixes and camelCase. */
		{ "default_api.read_file", "read_file" }, { "functions.replace", "update_file" },
		{ "readFile", "read_file" }, { "runShellCommand", "run_shell_command" },
		{ "default_api.writeFile", "write_file" },
		/* None of them. */
		{ "", NULL }, { "Read_file", NULL }, { "read_fil", NULL }, { "functions.", NULL },
		{ "mcp_read_file", NULL }, { "*", NULL }, { "NotebookEdit", NULL },
		{ "default_api.default_api.read_file", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct tool_info *names = tool_info_find(rows[i].name);

		if (!rows[i].tool)
			assert_null(names);
		else
			assert_string_equal(names ? names->name : rows[i].name, rows[i].tool);
	}
	assert_true(tool_info_foreign("NotebookEdit"));
	assert_false(tool_info_foreign("NotebookEdits"));
	assert_string_equal(tool_info_nearest("wirte_file"), "write_file");
	assert_string_equal(tool_info_nearest("SmartEditTol"), "SmartEditTool");
	assert_null(tool_info_nearest("xy"));
	assert_null(tool_info_nearest("deploy_to_production"));
}

static void words_of_lists_stand_for_tools(void **state)
{
	static const struct {
		const char *word, *tool;
		bool gives, takes;
	} rows[] = {
		{ "Edit", "update_file", true, true }, { "Edit", "safe_patch", true, true },
		{ "Edit", "apply_changes", false, true }, { "Edit", "write_file", false, false },
		{ "update_file", "safe_patch", false, false },
		{ "update_file", "apply_changes", false, false },
		{ "Read", "read_many_files", true, true },
		{ "read_file", "read_many_files", false, true },
		{ "Write", "apply_changes", false, true }, { "*", "glob", true, true },
		{ "grep*", "search_files", true, true }, { "mcp_a_*", "mcp_a_b", true, true },
		{ "mcp_a_*", "glob", false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(tool_info_stand_for(rows[i].word, rows[i].tool, false),
		                 rows[i].gives);
		assert_int_equal(tool_info_stand_for(rows[i].word, rows[i].tool, true),
		                 rows[i].takes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_is_of_one_tool),
		cmocka_unit_test(other_agents_spellings_are_known),
		cmocka_unit_test(words_of_lists_stand_for_tools),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
