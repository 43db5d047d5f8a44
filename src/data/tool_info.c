/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: Gemini CLI (tool-names.ts, its classes and display names), Claude Code's tools
 * reference, Codex (its function tools), OpenCode, Qwen Code, Cline and Cursor. */
#include "data/tool_info.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/schema.h"

enum { NAME_MAX_BYTES = 64, NAMES_ALL_MAX = 256 };

#define ALIASES(...) .aliases = (const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL }

static const struct tool_info rows[] = {
	{ "read_file", .claude = "Read", .verb = "Read",
	  ALIASES("ReadFileTool", "Read", "read", "view", "view_file") },
	{ "read_many_files", .claude = "Read", .like = "read_file", .verb = "Read",
	  ALIASES("ReadManyFilesTool") },
	{ "safe_patch", .ours = true, .edits = true, .claude = "Edit",
	  .like = "update_file", .verb = "Edit",
	  ALIASES("SafePatchTool") },
	{ "write_file", .edits = true, .claude = "Write", .verb = "Write",
	  ALIASES("WriteFileTool", "Write", "write", "write_to_file", "create_file") },
	{ "update_file", .ours = true, .edits = true, .claude = "Edit",
	  .verb = "Edit",
	  ALIASES("replace", "edit", "EditTool", "ReplaceTool", "SmartEditTool", "Edit",
	          "MultiEdit", "multiedit", "multi_edit", "edit_file", "replace_in_file",
	          "str_replace", "str_replace_editor", "str_replace_based_edit_tool",
	          "search_replace", "replace_string_in_file") },
	{ "apply_changes", .ours = true, .edits = true, .claude = "Edit",
	  .verb = "Change",
	  ALIASES("ApplyChangesTool", "apply_patch", "applypatch", "patch", "delete_file") },
	{ "search_files", .gemini = "grep_search", .claude = "Grep",
	  .verb = "Search",
	  ALIASES("grep_search", "search_file_content", "GrepTool", "RipGrepTool", "Grep", "grep",
	          "grep_files", "search_text") },
	{ "glob", .claude = "Glob", .verb = "Find",
	  ALIASES("GlobTool", "Glob", "find_files", "file_search", "glob_file_search") },
	{ "list_directory", .claude = "LS", .verb = "List",
	  ALIASES("LSTool", "LS", "ls", "list", "list_dir", "list_files", "read_folder") },
	{ "run_shell_command", .claude = "Bash", .verb = "Run",
	  ALIASES("ShellTool", "shell", "bash", "Bash", "execute_command", "run_command",
	          "exec_command", "local_shell", "unified_exec", "container.exec",
	          "run_terminal_cmd", "run_terminal_command", "shell_command",
	          "run_in_terminal") },
	{ "list_background_processes", .verb = "List running commands",
	  .verb_alone = true, ALIASES() },
	{ "read_background_output", .claude = "BashOutput",
	  .verb = "Read the output of command", ALIASES("BashOutput", "TaskOutput") },
	{ "write_background_input", .verb = "Write to command",
	  ALIASES("write_stdin") },
	{ "kill_background_process", .verb = "End command",
	  ALIASES("KillShell", "KillBash", "TaskStop") },
	{ "web_fetch", .claude = "WebFetch", .verb = "Fetch",
	  ALIASES("WebFetchTool", "WebFetch", "webfetch", "fetch") },
	{ "google_web_search", .claude = "WebSearch",
	  .verb = "Search the web for",
	  ALIASES("WebSearchTool", "WebSearch", "websearch", "web_search", "google_search") },
	{ "save_memory", .verb = "Remember", ALIASES("MemoryTool", "memory") },
	{ "write_todos", .claude = "TodoWrite", .verb = "Steps",
	  .verb_alone = true,
	  ALIASES("WriteTodosTool", "TodoWrite", "todowrite", "todo_write", "update_plan") },
	{ "ask_user", .claude = "AskUserQuestion", .verb = "Ask you",
	  .verb_alone = true,
	  ALIASES("AskUserTool", "AskUserQuestion", "request_user_input", "question",
	          "ask_followup_question") },
	{ "enter_plan_mode", .verb = "Plan",
	  ALIASES("EnterPlanModeTool", "EnterPlanMode") },
	{ "exit_plan_mode", .claude = "ExitPlanMode",
	  .verb = "Carry out the plan", ALIASES("ExitPlanModeTool", "ExitPlanMode") },
	{ "request_permission", .ours = true,
	  ALIASES("request_permissions") },
	{ "search_tools", .ours = true, ALIASES("ToolSearch", "tool_search") },
	{ "call_tool", .ours = true, ALIASES() },
	{ "activate_skill", .claude = "Skill",
	  ALIASES("ActivateSkillTool", "Skill", "skill") },
	{ "invoke_agent", .claude = "Task",
	  ALIASES("AgentTool", "Task", "Agent", "task", "spawn_agent") },
	{ "update_topic", .verb = "Topic", ALIASES("UpdateTopicTool") },
	{ "get_internal_docs", ALIASES("GetInternalDocsTool") },
	{ "read_mcp_resource", ALIASES("ReadMcpResourceTool") },
	{ "list_mcp_resources", ALIASES("ListMcpResourcesTool") },
	/* Agents, which rules name as tools. */
	{ "codebase_investigator", ALIASES() },
	{ "cli_help", ALIASES() },
};

/* Tools of other agents that hasp has nothing like. Sorted. */
static const char *const foreign[] = {
	"CronCreate", "CronDelete", "CronList", "EnterWorktree", "ExitWorktree", "LSP", "Monitor",
	"NotebookEdit", "NotebookRead", "PowerShell", "PushNotification", "RemoteTrigger",
	"SendMessage", "SlashCommand", "StructuredOutput", "TaskCreate", "TaskGet", "TaskList",
	"TaskUpdate", "TeamCreate", "TeamDelete", "TodoRead", "access_mcp_resource",
	"attempt_completion", "browser_action", "browser_agent", "close_agent", "codebase_search",
	"codesearch", "complete_task", "generalist", "image_generation", "js_repl",
	"list_code_definition_names", "lsp", "new_task", "read_lints", "resume_agent", "send_input",
	"todoread", "tracker_add_dependency", "tracker_create_task", "tracker_get_task",
	"tracker_list_tasks", "tracker_update_task", "tracker_visualize", "use_mcp_tool",
	"view_image", "wait_agent",
};

/* ---- look-up ----------------------------------------------------------------- */

size_t tool_info_count(void)
{
	return ARRAY_LEN(rows);
}

const struct tool_info *tool_info_at(size_t i)
{
	return &rows[i];
}

const struct tool_info *tool_info_of(const char *canonical)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].name, canonical) == 0)
			return &rows[i];
	return NULL;
}

/* *ret: the name in the row. */
static const struct tool_info *tool_info_exact(const char *name, const char **ret)
{
	const struct tool_info *found = tool_info_of(name);

	if (found)
		*ret = found->name;
	for (size_t i = 0; i < ARRAY_LEN(rows) && !found; i++)
		for (const char *const *alias = rows[i].aliases; *alias && !found; alias++)
			if (strcmp(*alias, name) == 0) {
				found = &rows[i];
				*ret = *alias;
			}
	return found;
}

/* "readFile" and "ReadFile" as "read_file"; false: the name is not written so, or is too long. */
static bool snake_case(const char *name, char ret[NAME_MAX_BYTES])
{
	size_t len = 0;

	for (const char *c = name; *c; c++) {
		const bool upper = *c >= 'A' && *c <= 'Z';

		if (!ascii_is_alnum(*c) || len + 3 > NAME_MAX_BYTES)
			return false;
		if (upper && c > name)
			ret[len++] = '_';
		ret[len++] = (char)(upper ? *c - 'A' + 'a' : *c);
	}
	ret[len] = '\0';
	return len > 0;
}

/* *ret is the name as the row has it. */
static const struct tool_info *find_spelling(const char *name, const char **ret)
{
	static const char *const before[] = { "default_api.", "default_api:", "functions." };
	const struct tool_info *found;
	char snake[NAME_MAX_BYTES];

	if (strchr(name, '*') || strncmp(name, "mcp_", 4) == 0)
		return NULL;
	found = tool_info_exact(name, ret);
	for (size_t i = 0; i < ARRAY_LEN(before) && !found; i++)
		if (strncmp(name, before[i], strlen(before[i])) == 0)
			found = tool_info_exact(name += strlen(before[i]), ret);
	if (!found && snake_case(name, snake))
		found = tool_info_exact(snake, ret);
	return found;
}

const struct tool_info *tool_info_find(const char *name)
{
	const char *spelling;

	return find_spelling(name, &spelling);
}

const char *tool_info_spelling(const char *name)
{
	const char *spelling = NULL;

	return find_spelling(name, &spelling) ? spelling : NULL;
}

const char *tool_info_canonical(const char *name)
{
	const struct tool_info *names = tool_info_find(name);

	return names ? names->name : name;
}

bool tool_info_means_other(const struct tool_info *names, const char *name)
{
	return !names->ours || strcmp(names->name, name) != 0;
}

bool tool_info_means_edits(const char *name)
{
	return strcmp(name, "Edit") == 0 || strcmp(name, "apply_patch") == 0;
}

bool tool_info_stand_for(const char *word, const char *tool, bool restricts)
{
	const struct tool_info *known = tool_info_find(word), *own = tool_info_of(tool);

	if (span_fits(span_str(tool), span_str(word)) || (known && known == own))
		return true;
	for (const char *const *alias = own ? own->aliases : NULL; alias && *alias; alias++)
		if (strchr(word, '*') && span_fits(span_str(*alias), span_str(word)))
			return true;
	if (!own || !known || (!restricts && strcmp(known->name, word) == 0))
		return false;
	if (restricts && known->edits && strcmp(own->name, "apply_changes") == 0)
		return tool_info_means_other(known, word);
	return own->like && strcmp(own->like, known->name) == 0 &&
	       tool_info_means_other(known, word);
}

const char *tool_info_dialect(const char *spelling)
{
	static const struct {
		const char *name, *dialect;
	} known[] = {
		{ "safe_patch", "hasp" },
		{ "SafePatchTool", "hasp" },
		{ "update_file", "hasp" },
		{ "write_file", "hasp" },
		{ "WriteFileTool", "hasp" },
		{ "apply_changes", "hasp" },
		{ "ApplyChangesTool", "hasp" },
		{ "replace", "gemini" },
		{ "ReplaceTool", "gemini" },
		{ "EditTool", "gemini" },
		{ "SmartEditTool", "gemini" },
		{ "apply_patch", "openai" },
		{ "applypatch", "openai" },
		{ "patch", "openai" },
	};
	const struct tool_info *names = tool_info_find(spelling);

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(known[i].name, spelling) == 0)
			return known[i].dialect;
	return names && names->edits ? "anthropic" : NULL;
}

bool tool_info_foreign(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
		if (strcmp(foreign[i], name) == 0)
			return true;
	return false;
}

const char *tool_info_nearest(const char *name)
{
	const char *all[NAMES_ALL_MAX];
	size_t count = 0;

	if (tool_info_find(name) || tool_info_foreign(name))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (count < ARRAY_LEN(all))
			all[count++] = rows[i].name;
		for (const char *const *alias = rows[i].aliases; *alias; alias++)
			if (count < ARRAY_LEN(all))
				all[count++] = *alias;
	}
	return schema_nearest_name(name, all, count);
}
