/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools: names, and what rows say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "data/json.h"
#include "data/tools.h"

static void every_name_is_of_one_tool(void **state)
{
	(void)state;
	for (size_t i = 0; i < tool_info_count(); i++) {
		const struct tool_info *row = &tool_infos[i];

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
		assert_string_equal(tool_name((enum tool_id)i), row->name);
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

/* What code that reads a row takes for granted. */
static void rows_do_not_contradict_themselves(void **state)
{
	(void)state;
	for (size_t i = 0; i < tool_info_count(); i++) {
		const struct tool_info *row = &tool_infos[i];
		const bool writes = row->files == TOOL_FILES_WRITE;

		assert_int_equal(writes, row->edit != TOOL_EDIT_NONE);
		assert_int_equal(writes, row->kind == TOOL_KIND_EDIT);
		assert_int_equal(row->files != TOOL_FILES_NONE, row->paths != NULL);
		assert_int_equal(row->one != NULL, row->one_is != NULL);
		assert_int_equal(row->edit == TOOL_EDIT_MANY, row->acts == TOOL_ACTS_CHANGES);
		assert_int_equal(row->edit == TOOL_EDIT_PATCH, row->acts == TOOL_ACTS_PATCH);
		if (row->runs || row->acts == TOOL_ACTS_TYPED)
			assert_int_equal(row->kind, TOOL_KIND_EXECUTE);
		/* A permission for all files, or all commands, is not for ever. */
		if (row->files || row->kind == TOOL_KIND_EXECUTE)
			assert_true(row->narrow);
		if (row->plan)
			assert_int_equal(row->kind, TOOL_KIND_PLAN);
	}
}

static void changes_are_made_by_editors(void **state)
{
	static const struct {
		const char *kind, *tool;
	} rows[] = {
		{ "patch", "safe_patch" }, { "update", "update_file" }, { "write", "write_file" },
		{ "create", "write_file" }, { "move", NULL }, { "delete", NULL }, { "", NULL },
		{ "wri", NULL }, { "write create", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct tool_info *info = tool_info_of_change(span_str(rows[i].kind));

		assert_int_equal(info != NULL, rows[i].tool != NULL);
		if (info)
			assert_string_equal(info->name, rows[i].tool);
	}
}

static void arguments_have_gemini_clis_names(void **state)
{
	json_auto_t *arguments = json_pack("{s:[s], s:s, s:i}", "patterns", "*.c", "path", "src",
	                                   "max_results", 3);
	json_auto_t *theirs = tool_info_gemini(&tool_infos[TOOL_GLOB], arguments);
	json_auto_t *both = tool_info_both(&tool_infos[TOOL_GLOB], arguments);
	json_auto_t *wanted = json_pack("{s:s, s:s, s:i}", "pattern", "*.c", "dir_path", "src",
	                                "max_results", 3);

	(void)state;
	assert_true(json_equal(theirs, wanted));
	assert_int_equal(json_object_size(both), 5);
	assert_null(tool_info_gemini(&tool_infos[TOOL_READ_FILE], arguments));
	assert_null(tool_info_gemini(NULL, arguments));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_is_of_one_tool),
		cmocka_unit_test(other_agents_spellings_are_known),
		cmocka_unit_test(words_of_lists_stand_for_tools),
		cmocka_unit_test(rows_do_not_contradict_themselves),
		cmocka_unit_test(changes_are_made_by_editors),
		cmocka_unit_test(arguments_have_gemini_clis_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
