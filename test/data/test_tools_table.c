/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools: names, and what rows say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
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

/* A call that has, under names that rows explain, something of other types. */
static const char odd[] =
	"{\"changes\": [{\"file_path\": \"a\"}, 3, \"x\"], \"file_path\": {\"row\": 1}, \"command\": 7,"
	" \"dir_path\": [], \"path\": \"p\", \"paths\": \"q\", \"include\": {}, \"content\": 5,"
	" \"input\": \"ls\", \"additional_permissions\": {\"network\": true}}";

static size_t places_of(const struct tool_info *info, const json_t *arguments)
{
	struct tool_place place = { 0 };
	size_t count = 0;

	while (tool_place_next(info, arguments, &place))
		count++;
	return count;
}

static void arguments_mean_nothing_without_a_row(void **state)
{
	json_auto_t *arguments = json_loads(odd, 0, NULL);

	(void)state;
	assert_non_null(arguments);
	assert_int_equal(tool_edit_count(NULL, arguments), 0);
	assert_null(tool_edit_at(NULL, arguments, 0));
	assert_null(tool_edit_content(NULL, arguments));
	assert_null(tool_command_line(NULL, arguments));
	assert_null(tool_command_folder(NULL, arguments));
	assert_null(tool_command_permissions(NULL, arguments));
	assert_null(tool_typed_input(NULL, arguments));
	assert_null(tool_first_path(NULL, arguments));
	assert_int_equal(places_of(NULL, arguments), 0);
}

/* Each row finds its own members alone, of any type. */
static void arguments_mean_what_their_row_says(void **state)
{
	json_auto_t *arguments = json_loads(odd, 0, NULL);

	(void)state;
	for (size_t i = 0; i < TOOL_COUNT; i++) {
		const struct tool_info *info = &tool_infos[i];
		const bool many = info->edit == TOOL_EDIT_MANY;

		assert_int_equal(tool_edit_count(info, arguments), many ? 3 : info->edit ? 1 : 0);
		assert_ptr_equal(tool_edit_at(info, arguments, 0),
		                 many ? json_array_get(json_object_get(arguments, "changes"), 0) :
		                 info->edit ? arguments : NULL);
		assert_int_equal(tool_command_line(info, arguments) != NULL, info->runs);
		assert_int_equal(tool_command_folder(info, arguments) != NULL, info->runs);
		assert_int_equal(tool_command_permissions(info, arguments) != NULL, info->runs);
		assert_int_equal(tool_typed_input(info, arguments) != NULL,
		                 info->acts == TOOL_ACTS_TYPED);
		assert_in_range(places_of(info, arguments), 0, info->paths ? 1 : 0);
	}
}

static void all_paths_of_a_call_are_walked(void **state)
{
	static const struct {
		enum tool_id tool;
		const char *arguments, *paths;
	} rows[] = {
		{ TOOL_READ_FILE, "{\"file_path\": \"a\"}", "a" },
		{ TOOL_READ_FILE, "{\"file_path\": \"\"}", "" },
		{ TOOL_UPDATE_DATA, "{\"file_path\": \"a\", \"changes\": [{\"file_path\": \"b\"}]}",
		  "a" },
		{ TOOL_APPLY_CHANGES,
		  "{\"file_path\": \"z\", \"changes\": [{\"file_path\": \"a\", \"new_path\": \"b\"},"
		  " {\"file_path\": \"\"}, 1, {\"file_path\": \"c\"}]}", "a c b" },
		{ TOOL_READ_MANY_FILES,
		  "{\"paths\": [\"a\", \"\", \"b\"], \"include\": [\"*.c\", {}]}", "a b *.c" },
		{ TOOL_GLOB, "{\"path\": \"d\", \"patterns\": [\"x\"]}", "d" },
		{ TOOL_RUN_SHELL_COMMAND, "{\"dir_path\": \"d\", \"file_path\": \"x\"}", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *arguments = json_loads(rows[i].arguments, 0, NULL);
		const struct tool_info *info = &tool_infos[rows[i].tool];
		_cleanup_buf_ struct buf walked = BUF_INIT(1000), again = BUF_INIT(1000);
		struct tool_place place = { 0 };

		/* Each is replaced as it comes, and the walk finds the others and it. */
		while (tool_place_next(info, arguments, &place)) {
			buf_printf(&walked, "%s%s", walked.len ? " " : "",
			           json_string_value(place.path));
			tool_place_set(&place, json_pack("s+", json_string_value(place.path), "!"));
		}
		assert_string_equal(walked.data ? walked.data : "", rows[i].paths);
		for (place = (struct tool_place){ 0 }; tool_place_next(info, arguments, &place);)
			buf_str(&again, json_string_value(place.path));
		assert_int_equal(again.len, walked.len + (walked.len > 0));
	}
}

static void an_edit_is_named_by_its_place(void **state)
{
	json_auto_t *arguments = json_pack("{s:[{}, {}], s:b}", "changes", "dry_run", 1);
	json_auto_t *edits = json_pack("[{s:s}]", "kind", "delete");
	json_auto_t *other = tool_edits_replaced(arguments, edits);
	const struct tool_info *many = &tool_infos[TOOL_APPLY_CHANGES];
	_cleanup_free_ char *second = tool_edit_where(many, 1);
	_cleanup_free_ char *alone = tool_edit_where(&tool_infos[TOOL_WRITE_FILE], 0);

	(void)state;
	assert_string_equal(second, "changes[1].");
	assert_string_equal(alone, "");
	assert_int_equal(tool_edit_count(many, other), 1);
	assert_true(json_is_true(json_object_get(other, "dry_run")));
	assert_int_equal(tool_edit_count(many, arguments), 2);
}

static void a_line_names_what_a_call_is_about(void **state)
{
	static const struct {
		int tool; /* -1: a server's */
		const char *arguments, *subject; /* as JSON */
	} rows[] = {
		{ TOOL_RUN_SHELL_COMMAND, "{\"dir_path\": \"d\", \"command\": \"ls\"}", "\"ls\"" },
		{ TOOL_SEARCH_FILES, "{\"path\": \"d\", \"pattern\": \"x\"}", "\"x\"" },
		{ TOOL_READ_MANY_FILES, "{\"paths\": [\"a\", \"b\"]}", "[\"a\", \"b\"]" },
		{ TOOL_APPLY_CHANGES, "{\"changes\": [{\"kind\": \"delete\"}]}",
		  "[{\"kind\": \"delete\"}]" },
		{ -1, "{\"changes\": [{\"kind\": \"delete\"}], \"file_path\": {}, \"paths\": [1],"
		      " \"command\": {\"x\": 1}, \"title\": \"t\"}", "\"t\"" },
		{ -1, "{\"changes\": [\"a\"], \"paths\": [], \"query\": \"\"}", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *arguments = json_loads(rows[i].arguments, 0, NULL);
		json_auto_t *subject = rows[i].subject ?
			json_loads(rows[i].subject, JSON_DECODE_ANY, NULL) : NULL;
		const json_t *found = tool_subject(
			rows[i].tool < 0 ? NULL : &tool_infos[rows[i].tool], arguments);

		assert_non_null(arguments);
		assert_true(found == subject || json_equal(found, subject));
	}
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
		cmocka_unit_test(arguments_mean_nothing_without_a_row),
		cmocka_unit_test(arguments_mean_what_their_row_says),
		cmocka_unit_test(all_paths_of_a_call_are_walked),
		cmocka_unit_test(an_edit_is_named_by_its_place),
		cmocka_unit_test(a_line_names_what_a_call_is_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
