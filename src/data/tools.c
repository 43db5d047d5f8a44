/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: Gemini CLI (tool-names.ts, its classes and display names), Claude Code's tools
 * reference, Codex (its function tools), OpenCode, Qwen Code, Cline and Cursor. */
#include "data/tools.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/schema.h"

enum { NAME_MAX_BYTES = 64, NAMES_ALL_MAX = 256 };

/* The list of TOOL_EDIT_MANY, in arguments and in results. */
#define EDITS_MEMBER "changes"

/* ---- the table --------------------------------------------------------------- */

#define ALIASES(...) .aliases = (const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL }
#define MEMBERS(...) .members = (const struct tool_member[]){ __VA_ARGS__, { NULL, NULL } }
#define PATHS(...) .paths = (const struct tool_path[]){ __VA_ARGS__, { NULL, NULL } }

const struct tool_info tool_infos[TOOL_COUNT] = {
	/* ---- files ---- */
	[TOOL_READ_FILE] = {
		"read_file", .claude = "Read",
		ALIASES("ReadFileTool", "Read", "read", "view", "view_file"),
		.kind = TOOL_KIND_READ, .files = TOOL_FILES_READ, PATHS({ NULL, "file_path" }),
		.narrow = true, .verb = "Read" },
	[TOOL_READ_MANY_FILES] = {
		"read_many_files", .claude = "Read", .like = "read_file",
		ALIASES("ReadManyFilesTool"), MEMBERS({ "paths", "include" }),
		.kind = TOOL_KIND_READ, .files = TOOL_FILES_GATHER,
		PATHS({ "paths", NULL }, { "include", NULL }), .acts = TOOL_ACTS_FILES,
		.narrow = true, .verb = "Read" },
	[TOOL_SAFE_PATCH] = {
		"safe_patch", .ours = true, .claude = "Edit", .like = "update_file",
		ALIASES("SafePatchTool"),
		.kind = TOOL_KIND_EDIT, .files = TOOL_FILES_WRITE, PATHS({ NULL, "file_path" }),
		.edit = TOOL_EDIT_PATCH, .change = "patch", .acts = TOOL_ACTS_PATCH,
		.repeatable = true, .narrow = true, .verb = "Edit" },
	[TOOL_WRITE_FILE] = {
		"write_file", .claude = "Write",
		ALIASES("WriteFileTool", "Write", "write", "write_to_file", "create_file"),
		.kind = TOOL_KIND_EDIT, .files = TOOL_FILES_WRITE, PATHS({ NULL, "file_path" }),
		.edit = TOOL_EDIT_WRITE, .change = "write create",
		.repeatable = true, .narrow = true, .verb = "Write" },
	[TOOL_UPDATE_FILE] = {
		"update_file", .ours = true, .claude = "Edit",
		ALIASES("replace", "edit", "EditTool", "ReplaceTool", "SmartEditTool", "Edit",
		        "MultiEdit", "multiedit", "multi_edit", "edit_file", "replace_in_file",
		        "str_replace", "str_replace_editor", "str_replace_based_edit_tool",
		        "search_replace", "replace_string_in_file"),
		MEMBERS({ "old_content", "old_string" }, { "new_content", "new_string" },
		        { "expected_matches", "expected_replacements" }),
		.kind = TOOL_KIND_EDIT, .files = TOOL_FILES_WRITE, PATHS({ NULL, "file_path" }),
		.edit = TOOL_EDIT_UPDATE, .change = "update", .narrow = true, .verb = "Edit" },
	[TOOL_APPLY_CHANGES] = {
		"apply_changes", .ours = true, .claude = "Edit",
		ALIASES("ApplyChangesTool", "apply_patch", "applypatch", "patch", "delete_file"),
		.kind = TOOL_KIND_EDIT, .files = TOOL_FILES_WRITE,
		PATHS({ "changes", "file_path" }, { "changes", "new_path" }),
		.edit = TOOL_EDIT_MANY, .acts = TOOL_ACTS_CHANGES,
		.narrow = true, .verb = "Change" },
	[TOOL_UPDATE_DATA] = {
		"update_data", .ours = true, .claude = "Edit", .like = "update_file",
		ALIASES("UpdateDataTool"),
		.kind = TOOL_KIND_EDIT, .files = TOOL_FILES_WRITE, PATHS({ NULL, "file_path" }),
		.edit = TOOL_EDIT_DATA, .rare = true, .narrow = true, .verb = "Edit" },
	[TOOL_UPDATE_NOTEBOOK] = {
		"update_notebook", .ours = true, .claude = "Edit", .like = "update_file",
		ALIASES("UpdateNotebookTool"),
		.kind = TOOL_KIND_EDIT, .files = TOOL_FILES_WRITE, PATHS({ NULL, "file_path" }),
		.edit = TOOL_EDIT_DATA, .rare = true, .narrow = true, .verb = "Edit" },
	[TOOL_SEARCH_FILES] = {
		"search_files", .gemini = "grep_search", .claude = "Grep",
		ALIASES("grep_search", "search_file_content", "GrepTool", "RipGrepTool", "Grep",
		        "grep", "grep_files", "search_text"),
		MEMBERS({ "path", "dir_path" }, { "include", "include_pattern" },
		        { "exclude", "exclude_pattern" },
		        { "max_per_file", "max_matches_per_file" },
		        { "max_results", "total_max_matches" }),
		.kind = TOOL_KIND_SEARCH, .files = TOOL_FILES_SEARCH, PATHS({ NULL, "path" }),
		.narrow = true, .verb = "Search" },
	[TOOL_GLOB] = {
		"glob", .claude = "Glob",
		ALIASES("GlobTool", "Glob", "find_files", "file_search", "glob_file_search"),
		MEMBERS({ "patterns", "pattern" }, { "path", "dir_path" }),
		.kind = TOOL_KIND_SEARCH, .files = TOOL_FILES_FIND, PATHS({ NULL, "path" }),
		.acts = TOOL_ACTS_PATTERNS, .narrow = true, .verb = "Find" },
	[TOOL_LIST_DIRECTORY] = {
		"list_directory", .claude = "LS",
		ALIASES("LSTool", "LS", "ls", "list", "list_dir", "list_files", "read_folder"),
		MEMBERS({ "path", "dir_path" }),
		.kind = TOOL_KIND_SEARCH, .files = TOOL_FILES_LIST, PATHS({ NULL, "path" }),
		.narrow = true, .verb = "List" },
	[TOOL_QUERY_DATA] = {
		"query_data", .ours = true, .claude = "Read", .like = "read_file",
		ALIASES("jq", "query_json", "json_query", "query_sqlite", "sqlite_query"),
		.kind = TOOL_KIND_READ, .files = TOOL_FILES_READ, PATHS({ NULL, "file_path" }),
		.rare = true, .narrow = true, .verb = "Query" },
	/* ---- commands ---- */
	[TOOL_RUN_SHELL_COMMAND] = {
		"run_shell_command", .claude = "Bash",
		ALIASES("ShellTool", "shell", "bash", "Bash", "execute_command", "run_command",
		        "exec_command", "local_shell", "unified_exec", "container.exec",
		        "run_terminal_cmd", "run_terminal_command", "shell_command",
		        "run_in_terminal"),
		.kind = TOOL_KIND_EXECUTE, .runs = true, .narrow = true, .verb = "Run" },
	[TOOL_RUN_PYTHON] = {
		"run_python", .ours = true,
		ALIASES("python", "execute_python", "code_interpreter", "ipython", "python_repl",
		        "run_python_code", "execute_code"),
		.kind = TOOL_KIND_EXECUTE, .in_turn = true, .pictures = true, .narrow = true,
		.verb = "Run Python" },
	[TOOL_LIST_BACKGROUND_PROCESSES] = {
		"list_background_processes", ALIASES(), .kind = TOOL_KIND_READ, .waits = true,
		.verb = "List running commands", .verb_alone = true },
	[TOOL_READ_BACKGROUND_OUTPUT] = {
		"read_background_output", .claude = "BashOutput",
		ALIASES("BashOutput", "TaskOutput"), .kind = TOOL_KIND_READ, .waits = true,
		.verb = "Read the output of command" },
	[TOOL_WRITE_BACKGROUND_INPUT] = {
		"write_background_input", ALIASES("write_stdin"),
		.kind = TOOL_KIND_EXECUTE, .acts = TOOL_ACTS_TYPED,
		.each_time = true, .narrow = true, .verb = "Write to command" },
	[TOOL_KILL_BACKGROUND_PROCESS] = {
		"kill_background_process", ALIASES("KillShell", "KillBash", "TaskStop"),
		.verb = "End command" },
	/* ---- the network ---- */
	[TOOL_WEB_FETCH] = {
		"web_fetch", .claude = "WebFetch",
		ALIASES("WebFetchTool", "WebFetch", "webfetch", "fetch"),
		.kind = TOOL_KIND_FETCH, .verb = "Fetch" },
	[TOOL_GOOGLE_WEB_SEARCH] = {
		"google_web_search", .claude = "WebSearch",
		ALIASES("WebSearchTool", "WebSearch", "websearch", "web_search", "google_search"),
		.kind = TOOL_KIND_SEARCH, .verb = "Search the web for" },
	/* ---- the conversation ---- */
	[TOOL_SAVE_MEMORY] = { /* instructs every later session */
		"save_memory", ALIASES("MemoryTool", "memory"),
		.user_only = true, .each_time = true, .verb = "Remember" },
	[TOOL_WRITE_TODOS] = {
		"write_todos", .claude = "TodoWrite",
		ALIASES("WriteTodosTool", "TodoWrite", "todowrite", "todo_write", "update_plan"),
		.user_only = true, .verb = "Steps", .verb_alone = true },
	[TOOL_ASK_USER] = {
		"ask_user", .claude = "AskUserQuestion",
		ALIASES("AskUserTool", "AskUserQuestion", "request_user_input", "question",
		        "ask_followup_question"),
		.kind = TOOL_KIND_COMMUNICATE, .user_only = true,
		.verb = "Ask you", .verb_alone = true },
	[TOOL_ENTER_PLAN_MODE] = {
		"enter_plan_mode", ALIASES("EnterPlanModeTool", "EnterPlanMode"),
		.kind = TOOL_KIND_PLAN, .user_only = true, .verb = "Plan" },
	[TOOL_EXIT_PLAN_MODE] = {
		"exit_plan_mode", .claude = "ExitPlanMode",
		ALIASES("ExitPlanModeTool", "ExitPlanMode"),
		.kind = TOOL_KIND_PLAN, .user_only = true, .plan = true, .each_time = true,
		.verb = "Carry out the plan" },
	[TOOL_REQUEST_PERMISSION] = {
		"request_permission", .ours = true, ALIASES("request_permissions"),
		.kind = TOOL_KIND_COMMUNICATE, .user_only = true },
	[TOOL_SEARCH_TOOLS] = {
		"search_tools", .ours = true, ALIASES("ToolSearch", "tool_search"),
		.kind = TOOL_KIND_SEARCH },
	[TOOL_CALL_TOOL] = {
		"call_tool", .ours = true, ALIASES(), .kind = TOOL_KIND_THINK },
	[TOOL_ACTIVATE_SKILL] = {
		"activate_skill", .claude = "Skill",
		ALIASES("ActivateSkillTool", "Skill", "skill"),
		.one = "name", .one_is = "the skill" },
	[TOOL_INVOKE_AGENT] = {
		"invoke_agent", .claude = "Task",
		ALIASES("AgentTool", "Task", "Agent", "task", "spawn_agent"),
		.kind = TOOL_KIND_AGENT, .one = "agent_name", .one_is = "the agent" },
	[TOOL_UPDATE_TOPIC] = {
		"update_topic", ALIASES("UpdateTopicTool"),
		.kind = TOOL_KIND_THINK, .user_only = true, .topic = true, .verb = "Topic" },
	[TOOL_GET_INTERNAL_DOCS] = {
		"get_internal_docs", ALIASES("GetInternalDocsTool"), .kind = TOOL_KIND_READ },
	[TOOL_READ_MCP_RESOURCE] = {
		"read_mcp_resource", ALIASES("ReadMcpResourceTool"), .kind = TOOL_KIND_READ },
	[TOOL_LIST_MCP_RESOURCES] = {
		"list_mcp_resources", ALIASES("ListMcpResourcesTool"), .kind = TOOL_KIND_SEARCH },
	[TOOL_GET_DIAGNOSTICS] = {
		"get_diagnostics", .ours = true,
		ALIASES("getDiagnostics"), .kind = TOOL_KIND_READ, .files = TOOL_FILES_READ,
		PATHS({ NULL, "file_path" }), .narrow = true,
		.verb = "Problems" },
	[TOOL_CODEBASE_INVESTIGATOR] = {
		"codebase_investigator", ALIASES(), .kind = TOOL_KIND_AGENT },
	[TOOL_CLI_HELP] = {
		"cli_help", ALIASES(), .kind = TOOL_KIND_AGENT },
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

/* ---- Gemini CLI's parameters ------------------------------------------------- */

/* A list of one pattern is a pattern there. */
static void gemini_set(json_t *all, const struct tool_member *member, json_t *value)
{
	json_object_set(all, member->gemini,
	                json_array_size(value) == 1 ? json_array_get(value, 0) : value);
}

json_t *tool_info_both(const struct tool_info *info, const json_t *arguments)
{
	const struct tool_member *member = info ? info->members : NULL;
	json_t *all = json_copy((json_t *)arguments), *value;

	for (; member && member->name; member++)
		if ((value = json_object_get(arguments, member->name)))
			gemini_set(all, member, value);
	return all;
}

json_t *tool_info_gemini(const struct tool_info *info, const json_t *arguments)
{
	const struct tool_member *member = info ? info->members : NULL;
	json_t *all = NULL, *value;

	for (; member && member->name; member++) {
		if (!(value = json_object_get(arguments, member->name)))
			continue;
		all = all ? all : json_copy((json_t *)arguments);
		gemini_set(all, member, value);
		json_object_del(all, member->name);
	}
	return all;
}

/* ---- what arguments mean ------------------------------------------------------- */

size_t tool_edit_count(const struct tool_info *info, const json_t *arguments)
{
	if (!info || !info->edit)
		return 0;
	return info->edit == TOOL_EDIT_MANY ?
	               json_array_size(json_object_get(arguments, EDITS_MEMBER)) : 1;
}

json_t *tool_edit_at(const struct tool_info *info, const json_t *object, size_t i)
{
	if (!info || !info->edit)
		return NULL;
	if (info->edit == TOOL_EDIT_MANY)
		return json_array_get(json_object_get(object, EDITS_MEMBER), i);
	return i ? NULL : (json_t *)object;
}

char *tool_edit_where(const struct tool_info *info, size_t i)
{
	return info && info->edit == TOOL_EDIT_MANY ? mem_printf(EDITS_MEMBER "[%zu].", i) :
	                                              mem_strdup("");
}

json_t *tool_edits_replaced(const json_t *arguments, json_t *edits)
{
	json_t *all = json_copy((json_t *)arguments);

	json_object_set(all, EDITS_MEMBER, edits);
	return all;
}

json_t *tool_edit_content(const struct tool_info *info, const json_t *edit)
{
	return info && (info->edit == TOOL_EDIT_WRITE || info->edit == TOOL_EDIT_MANY) ?
	               json_object_get(edit, "content") : NULL;
}

static json_t *of_command(const struct tool_info *info, const json_t *arguments,
                          const char *member)
{
	return info && info->runs ? json_object_get(arguments, member) : NULL;
}

json_t *tool_command_line(const struct tool_info *info, const json_t *arguments)
{
	return of_command(info, arguments, "command");
}

json_t *tool_command_folder(const struct tool_info *info, const json_t *arguments)
{
	return of_command(info, arguments, "dir_path");
}

json_t *tool_command_permissions(const struct tool_info *info, const json_t *arguments)
{
	return of_command(info, arguments, "additional_permissions");
}

json_t *tool_typed_input(const struct tool_info *info, const json_t *arguments)
{
	return info && info->acts == TOOL_ACTS_TYPED ? json_object_get(arguments, "input") : NULL;
}

/* Looks at one place; false: it is behind the last of its row. */
static bool tool_place_look(const struct tool_path *row, const json_t *arguments,
                            struct tool_place *place)
{
	json_t *list = row->list ? json_object_get(arguments, row->list) : NULL;

	if (row->list ? place->index >= json_array_size(list) : place->index)
		return false;
	place->holder = !row->list    ? (json_t *)arguments :
	                !row->member ? list : json_array_get(list, place->index);
	place->member = row->member;
	place->path = row->member ? json_object_get(place->holder, row->member) :
	                            json_array_get(list, place->index);
	return true;
}

bool tool_place_next(const struct tool_info *info, const json_t *arguments,
                     struct tool_place *place)
{
	const struct tool_path *row = info ? info->paths : NULL;

	for (; row && (row[place->row].list || row[place->row].member);
	     place->row++, place->index = 0, place->seen = false)
		for (place->index += place->seen;
		     tool_place_look(&row[place->row], arguments, place); place->index++) {
			place->seen = true;
			if (json_string_length(place->path))
				return true;
		}
	return false;
}

void tool_place_set(struct tool_place *place, json_t *path)
{
	if (place->member)
		json_object_set_new_nocheck(place->holder, place->member, path);
	else
		json_array_set_new(place->holder, place->index, path);
	place->path = path;
}

json_t *tool_first_path(const struct tool_info *info, const json_t *arguments)
{
	struct tool_place place = { 0 };

	return tool_place_next(info, arguments, &place) ? place.path : NULL;
}

/* Whether a line can show it: a text, a number, a list of texts. */
static bool is_showable(const json_t *value)
{
	size_t i = 0;

	while (json_is_string(json_array_get(value, i)))
		i++;
	return json_string_length(value) || json_is_integer(value) ||
	       (i && i == json_array_size(value));
}

json_t *tool_subject(const struct tool_info *info, const json_t *arguments)
{
	/* The first of these that an argument has says the most. */
	static const char *const telling[] = {
		"command", "code", "file_path", "pattern", "patterns", "query", "url", "prompt",
		"path", "paths", "question", "pid", "title", "name", "strategic_intent",
		"dir_path", "agent_name",
	};

	if (info && info->edit == TOOL_EDIT_MANY)
		return json_object_get(arguments, EDITS_MEMBER);
	for (size_t i = 0; i < ARRAY_LEN(telling); i++)
		if (is_showable(json_object_get(arguments, telling[i])))
			return json_object_get(arguments, telling[i]);
	return NULL;
}

/* ---- kinds -------------------------------------------------------------------- */

const char *tool_kind_name(enum tool_kind kind)
{
	static const char *const names[] = {
		[TOOL_KIND_READ] = "read",     [TOOL_KIND_EDIT] = "edit",
		[TOOL_KIND_DELETE] = "delete", [TOOL_KIND_MOVE] = "move",
		[TOOL_KIND_SEARCH] = "search", [TOOL_KIND_EXECUTE] = "execute",
		[TOOL_KIND_THINK] = "think",   [TOOL_KIND_FETCH] = "fetch",
		[TOOL_KIND_COMMUNICATE] = "communicate",
		[TOOL_KIND_PLAN] = "plan",     [TOOL_KIND_AGENT] = "agent",
		[TOOL_KIND_OTHER] = "other",
	};

	return (unsigned)kind < ARRAY_LEN(names) ? names[kind] : "other";
}

bool tool_kind_reads(enum tool_kind kind)
{
	return kind == TOOL_KIND_READ || kind == TOOL_KIND_SEARCH || kind == TOOL_KIND_THINK ||
	       kind == TOOL_KIND_FETCH;
}

bool tool_kind_changes(enum tool_kind kind)
{
	return kind == TOOL_KIND_EDIT || kind == TOOL_KIND_DELETE || kind == TOOL_KIND_MOVE ||
	       kind == TOOL_KIND_EXECUTE;
}

/* ---- look-up ----------------------------------------------------------------- */

size_t tool_info_count(void)
{
	return TOOL_COUNT;
}

const struct tool_info *tool_info_of(const char *canonical)
{
	for (size_t i = 0; i < TOOL_COUNT; i++)
		if (strcmp(tool_infos[i].name, canonical) == 0)
			return &tool_infos[i];
	return NULL;
}

/* *ret: the name in the row. */
static const struct tool_info *tool_info_exact(const char *name, const char **ret)
{
	const struct tool_info *found = tool_info_of(name);

	if (found)
		*ret = found->name;
	for (size_t i = 0; i < TOOL_COUNT && !found; i++)
		for (const char *const *alias = tool_infos[i].aliases; *alias && !found; alias++)
			if (strcmp(*alias, name) == 0) {
				found = &tool_infos[i];
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
	const struct tool_info *info = tool_info_find(name);

	return info ? info->name : name;
}

const struct tool_info *tool_info_of_change(struct span kind)
{
	for (size_t i = 0; i < TOOL_COUNT && kind.len; i++) {
		const char *word = tool_infos[i].change;

		while (word && *word) {
			const size_t len = strcspn(word, " ");

			if (span_eq(kind, span_of(word, len)))
				return &tool_infos[i];
			word += len + (word[len] == ' ');
		}
	}
	return NULL;
}

bool tool_info_runs(const char *name)
{
	const struct tool_info *info = tool_info_find(name);

	return info && info->runs;
}

bool tool_info_means_other(const struct tool_info *info, const char *name)
{
	return !info->ours || strcmp(info->name, name) != 0;
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
	if (restricts && known->edit && own->edit == TOOL_EDIT_MANY)
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
	const struct tool_info *info = tool_info_find(spelling);

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(known[i].name, spelling) == 0)
			return known[i].dialect;
	return info && info->edit ? "anthropic" : NULL;
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
	for (size_t i = 0; i < TOOL_COUNT; i++) {
		if (count < ARRAY_LEN(all))
			all[count++] = tool_infos[i].name;
		for (const char *const *alias = tool_infos[i].aliases; *alias; alias++)
			if (count < ARRAY_LEN(all))
				all[count++] = *alias;
	}
	return schema_nearest_name(name, all, count);
}
