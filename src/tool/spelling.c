/* SPDX-License-Identifier: Apache-2.0 */
/* Sources: Claude Code's tools reference; Anthropic's text editor tool; Codex (its handlers and
 * their schemas); OpenCode, Gemini CLI, Qwen Code, Cline, Roo Code, Cursor: their public tool
 * declarations. */
#include "tool/spelling.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/tools.h"
#include "tool/reading.h"

struct spelling {
	const char *name;     /* as the table of names has it */
	/* "theirs=ours theirs=ours !ignored": members that only this name has so. */
	const char *renames;
	/* What is shaped otherwise; false: with a problem. NULL: nothing is. */
	bool (*read)(struct reading *reading);
};

/* ---- commands for a shell ---------------------------------------------------- */

static bool is_word_of(struct span word, const char *const *words)
{
	for (; *words; words++)
		if (span_eq(word, span_str(*words)))
			return true;
	return false;
}

static void put_quoted(struct buf *out, struct span word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                            "0123456789_-./=:,@+%";
	bool is_plain = word.len > 0;

	for (size_t i = 0; i < word.len && is_plain; i++)
		is_plain = word.data[i] && strchr(plain, word.data[i]);
	if (is_plain) {
		buf_span(out, word);
		return;
	}
	buf_char(out, '\'');
	for (size_t i = 0; i < word.len; i++)
		if (word.data[i] == '\'')
			buf_str(out, "'\\''");
		else
			buf_char(out, word.data[i]);
	buf_char(out, '\'');
}

/* ["bash", "-lc", SCRIPT] is the script, another array a command with its arguments. NULL: not all
 * of them are strings. */
static json_t *command_of_array(const json_t *array)
{
	static const char *const shells[] = { "bash", "sh", "zsh", "/bin/bash", "/bin/sh",
		                              "/usr/bin/bash", "/bin/zsh", NULL };
	static const char *const flags[] = { "-lc", "-c", "-cl", "-ic", "-ilc", NULL };
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES);
	const json_t *word;
	size_t i;

	json_array_foreach((json_t *)array, i, word) {
		if (!json_is_string(word))
			return NULL;
		if (i)
			buf_char(&text, ' ');
		put_quoted(&text, json_span(word));
	}
	if (i == 3 && is_word_of(json_span(json_array_get(array, 0)), shells) &&
	    is_word_of(json_span(json_array_get(array, 1)), flags))
		return json_incref(json_array_get(array, 2));
	return i ? json_text(buf_view(&text)) : NULL;
}

/* ["apply_patch", PATCH] */
static bool is_patch_array(const json_t *array)
{
	const struct span first = json_span(json_array_get(array, 0));

	return json_array_size(array) == 2 && json_is_string(json_array_get(array, 1)) &&
	       (span_eq(first, SPAN("apply_patch")) || span_eq(first, SPAN("applypatch")));
}

/* `inner`: of a "cd" in a command that runs in `folder`. */
static bool read_patch_command(struct reading *reading, struct span patch, struct span inner,
                               struct span folder)
{
	_cleanup_free_ char *both = NULL;

	if (!inner.len || !folder.len || inner.data[0] == '/')
		return reading_envelope(reading, patch, inner.len ? inner : folder);
	both = mem_printf("%.*s/%.*s", (int)folder.len, folder.data, (int)inner.len, inner.data);
	return reading_envelope(reading, patch, span_str(both));
}

static bool read_shell(struct reading *reading)
{
	json_t *command = reading_member(reading->args, "command cmd script");
	const json_t *folder = reading_member(reading->args, "dir_path workdir cwd "
	                                                     "working_directory directory");
	json_auto_t *text = NULL;
	struct span patch, inner;
	const char *why;

	if (is_patch_array(command))
		return reading_envelope(reading, json_span(json_array_get(command, 1)),
		                     json_span(folder));
	text = json_is_array(command) ? command_of_array(command) : json_incref(command);
	if (!text)
		return !command ||
		       reading_refuse(reading, "command must be a string, or a list of them");
	if (envelope_in_command(json_span(text), &patch, &inner, &why))
		return why ? reading_refuse(reading, why) :
		             read_patch_command(reading, patch, inner, json_span(folder));
	if (envelope_among_commands(json_span(text)))
		return reading_refuse(reading, "apply_patch is a tool and no command: nothing was "
		                               "run. Call apply_patch with the patch as input, "
		                               "and run the other commands after it");
	if (text == command)
		return true;
	json_object_set(reading->args, json_object_get(reading->args, "command") ? "command" :
	                               json_object_get(reading->args, "cmd") ? "cmd" : "script",
	                text);
	return true;
}

/* A limit in seconds. */
static bool read_shell_seconds(struct reading *reading)
{
	json_t *limit = json_object_get(reading->args, "timeout");

	if (json_is_number(limit) && json_number_value(limit) >= 0 &&
	    json_number_value(limit) < 1e6) {
		json_object_set_new(reading->args, "timeout_ms",
		                    json_integer((json_int_t)(json_number_value(limit) * 1000)));
		json_object_del(reading->args, "timeout");
	}
	return read_shell(reading);
}

/* ---- what reads -------------------------------------------------------------- */

/* Claude Code's and OpenCode's offset is the number of a line, from 1. */
static bool read_from_line(struct reading *reading)
{
	json_t *offset = json_object_get(reading->args, "offset");

	if (json_is_integer(offset) && json_integer_value(offset) < 1)
		json_object_del(reading->args, "offset");
	reading_rename(reading, "offset", "start_line");
	if (json_object_get(reading->args, "view_range"))
		return reading_view(reading);
	return true;
}

static void set_default(struct reading *reading, const char *name, json_t *value)
{
	if (!json_object_get(reading->args, name))
		json_object_set(reading->args, name, value);
	json_decref(value);
}

/* Claude Code's Grep: an expression, with case, the names of files unless it says otherwise. */
static bool read_grep(struct reading *reading)
{
	static const struct {
		const char *theirs, *ours;
	} modes[] = {
		{ "content", "lines" },
		{ "files_with_matches", "files" },
		{ "count", "counts" },
	};
	const json_t *mode = json_object_get(reading->args, "output_mode");
	const json_t *ignore = json_object_get(reading->args, "-i");

	for (size_t i = 0; mode && i < ARRAY_LEN(modes); i++)
		if (span_eq(json_span(mode), span_str(modes[i].theirs)))
			json_object_set_new(reading->args, "output", json_string(modes[i].ours));
	json_object_del(reading->args, "output_mode");
	set_default(reading, "regex", json_true());
	set_default(reading, "case_sensitive", json_boolean(!json_is_true(ignore)));
	json_object_del(reading->args, "-i");
	return true;
}

static bool read_grep_files(struct reading *reading)
{
	set_default(reading, "output", json_string("files"));
	return read_grep(reading);
}

/* Cline's search_files: the expression is called "regex". */
static bool read_search(struct reading *reading)
{
	const struct span regex = json_span(json_object_get(reading->args, "regex"));

	if (json_object_get(reading->args, "pattern") || !regex.len)
		return true;
	reading_rename(reading, "regex", "pattern");
	set_default(reading, "regex", json_true());
	set_default(reading, "case_sensitive", json_true());
	return true;
}

/* A part of a name. */
static bool read_find(struct reading *reading)
{
	const json_t *query = json_object_get(reading->args, "query");
	_cleanup_free_ char *pattern = NULL;

	if (!json_string_length(query) || reading_member(reading->args, "pattern patterns"))
		return true;
	pattern = strpbrk(json_string_value(query), "*?[{") ?
	                  mem_strdup(json_string_value(query)) :
	                  mem_printf("**/*%s*", json_string_value(query));
	json_object_set_new(reading->args, "patterns", json_cstr(pattern));
	json_object_del(reading->args, "query");
	return true;
}

/* WebFetch: {url, prompt}; ours has the address in the prompt. */
static bool read_fetch(struct reading *reading)
{
	const char *url = json_string_value(json_object_get(reading->args, "url"));
	const char *prompt = json_string_value(json_object_get(reading->args, "prompt"));
	_cleanup_free_ char *both = NULL;

	if (!url || !prompt)
		return true;
	both = strstr(prompt, url) ? mem_strdup(prompt) : mem_printf("%s %s", url, prompt);
	json_object_set_new(reading->args, "prompt", json_cstr(both));
	json_object_del(reading->args, "url");
	return true;
}

/* Steps, by any product's members. */
static bool read_steps(struct reading *reading)
{
	json_t *steps = reading_member(reading->args, "todos plan"), *step, *own = json_array();
	size_t i;

	json_array_foreach(steps, i, step) {
		json_t *text = reading_member(step, "description content step");
		json_t *status = json_object_get(step, "status");
		json_t *one = json_object();

		if (text)
			json_object_set(one, "description", text);
		json_object_set(one, "status", status ? status : json_null());
		json_array_append_new(own, one);
	}
	if (!json_is_array(steps)) {
		json_decref(own);
		return true;
	}
	reading_take(reading, tool_name(TOOL_WRITE_TODOS), json_pack("{s:o}", "todos", own));
	return true;
}

/* AskUserQuestion's questions have no type: they are choices. */
static bool read_questions(struct reading *reading)
{
	json_t *questions = json_object_get(reading->args, "questions"), *own, *question;
	size_t i;

	if (!json_is_array(questions))
		return true;
	own = json_array();
	json_array_foreach(questions, i, question) {
		json_t *copy = json_copy(question);

		if (json_is_object(copy) && !json_object_get(copy, "type"))
			json_object_set_new(copy, "type",
			                    json_string(json_object_get(copy, "options") ?
			                                        "choice" : "text"));
		json_array_append_new(own, copy);
	}
	json_object_set_new(reading->args, "questions", own);
	return true;
}

/* ---- the table --------------------------------------------------------------- */

#define DROPS_OF_CODEX \
	"!login !shell !yield_time_ms !max_output_tokens !sandbox_permissions !justification " \
	"!with_escalated_permissions !prefix_rule"
#define DROPS_OF_CURSOR "!explanation !instructions"

static const struct spelling spellings[] = {
	/* editors */
	{ "apply_patch", NULL, reading_patch },
	{ "applypatch", NULL, reading_patch },
	{ "patch", NULL, reading_patch },
	{ "replace", NULL, NULL },
	{ "Edit", NULL, reading_edit },
	{ "edit", NULL, reading_edit },
	{ "str_replace", NULL, reading_edit },
	{ "search_replace", DROPS_OF_CURSOR, reading_edit },
	{ "replace_string_in_file", DROPS_OF_CURSOR, reading_edit },
	{ "edit_file", DROPS_OF_CURSOR, reading_edit },
	{ "MultiEdit", NULL, reading_edits },
	{ "multiedit", NULL, reading_edits },
	{ "multi_edit", NULL, reading_edits },
	{ "str_replace_editor", NULL, reading_commands },
	{ "str_replace_based_edit_tool", NULL, reading_commands },
	{ "replace_in_file", NULL, reading_blocks },
	{ "Write", NULL, reading_write },
	{ "write", DROPS_OF_CURSOR, reading_write },
	{ "create_file", NULL, reading_write },
	{ "write_to_file", "!line_count", reading_write },
	{ "delete_file", NULL, reading_delete },
	/* commands */
	{ "run_shell_command", NULL, read_shell },
	{ "shell", DROPS_OF_CODEX, read_shell },
	{ "shell_command", DROPS_OF_CODEX, read_shell },
	{ "local_shell", DROPS_OF_CODEX, read_shell },
	{ "exec_command", DROPS_OF_CODEX, read_shell },
	{ "unified_exec", DROPS_OF_CODEX, read_shell },
	{ "container.exec", DROPS_OF_CODEX, read_shell },
	{ "Bash", "!dangerously_disable_sandbox", read_shell },
	{ "bash", "!restart", read_shell },
	{ "run_command", NULL, read_shell },
	{ "run_in_terminal", "!goal", read_shell },
	{ "run_terminal_cmd", "!require_user_approval", read_shell },
	{ "run_terminal_command", "!require_user_approval", read_shell },
	{ "execute_command", "!requires_approval", read_shell_seconds },
	/* what reads */
	{ "Read", "!pages", read_from_line },
	{ "read", NULL, read_from_line },
	{ "view", NULL, read_from_line },
	{ "view_file", "!include_summary_of_other_lines", NULL },
	{ "read_file",
	  "start_line_one_indexed=start_line end_line_one_indexed_inclusive=end_line "
	  "!should_read_entire_file !explanation !mode", NULL },
	{ "search_files", NULL, read_search },
	{ "Grep", "type=file_types !-n", read_grep_files },
	{ "grep", "type=file_types !-n !explanation", read_grep },
	{ "grep_files", NULL, read_grep_files },
	{ "grep_search", "!explanation", NULL },
	{ "find_files", NULL, read_find },
	{ "file_search", "!explanation", read_find },
	{ "glob_file_search", "!explanation", NULL },
	{ "list_dir", "!explanation !offset !limit !depth", NULL },
	{ "list", NULL, NULL },
	{ "list_files", NULL, NULL },
	/* the rest */
	{ "WebFetch", NULL, read_fetch },
	{ "webfetch", "!format !timeout", read_fetch },
	{ "web_search", "search_term=query !explanation", NULL },
	{ "WebSearch", "!allowed_domains !blocked_domains", NULL },
	{ "websearch", "!num_results !livecrawl !type !context_max_characters",
	  NULL },
	{ "TodoWrite", NULL, read_steps },
	{ "todowrite", NULL, read_steps },
	{ "todo_write", NULL, read_steps },
	{ "update_plan", NULL, read_steps },
	{ "AskUserQuestion", NULL, read_questions },
	{ "question", NULL, read_questions },
	{ "request_user_input", NULL, read_questions },
	{ "BashOutput", "!filter", NULL },
	{ "TaskOutput", "task_id=pid !block !timeout", NULL },
	{ "KillShell", NULL, NULL },
	{ "TaskStop", "task_id=pid", NULL },
	{ "write_stdin", "!yield_time_ms !max_output_tokens", NULL },
	{ "Skill", "skill=name command=name !args", NULL },
	{ "skill", NULL, NULL },
	{ "Task", "subagent_type=agent_name !description !model", NULL },
	{ "task", "subagent_type=agent_name !description", NULL },
	{ "Agent", "subagent_type=agent_name !description !model", NULL },
	/* Gemini CLI's own, whose parameter is no snake_case. */
	{ "list_mcp_resources", "server_name=serverName", NULL },
	{ "ListMcpResourcesTool", "server=serverName server_name=serverName", NULL },
};

/* The words of spelling.renames. */
static void rename_all(struct reading *reading, const char *renames)
{
	while (renames && *renames) {
		const size_t len = strcspn(renames, " ");
		_cleanup_free_ char *word = mem_dup(renames, len);
		char *equals = strchr(word + 1, '=');

		if (*word == '!')
			json_object_del(reading->args, word + 1);
		else if (equals) {
			*equals = '\0';
			reading_rename(reading, word, equals + 1);
		}
		renames += len + (renames[len] == ' ');
	}
}

static const struct spelling *spelling_of(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_LEN(spellings); i++)
		if (strcmp(spellings[i].name, name) == 0)
			return &spellings[i];
	return NULL;
}

/* A command that was an envelope is Codex' way to edit; an editor's own may be to read. */
static const char *dialect_of_call(const char *bare, const char *tool)
{
	const struct tool_info *info = tool_info_find(tool);
	const char *dialect = tool_info_dialect(bare);

	return !info || !info->edit ? NULL : dialect ? dialect : "openai";
}

void spelling_read(const char *name, const json_t *arguments, struct buf *problems,
                   struct spelled_call *ret)
{
	const char *bare = tool_info_spelling(name);
	const struct spelling *row = spelling_of(bare);
	const size_t before = problems->len;
	struct reading reading = { .problems = problems };

	*ret = (struct spelled_call){
		.name = bare ? bare : name,
		.arguments = arguments ? json_incref((json_t *)arguments) : json_object(),
		.sent = json_object(),
		.dialect = bare ? tool_info_dialect(bare) : NULL,
	};
	if (!bare || !json_is_object(ret->arguments))
		return;
	reading.tool = ret->name;
	reading.sent = json_object();
	reading.args = reading_snake(ret->arguments, reading.sent);
	if (row)
		rename_all(&reading, row->renames);
	if ((!row || !row->read || row->read(&reading)) && problems->len == before) {
		spelling_release(ret);
		*ret = (struct spelled_call){ .name = reading.tool, .arguments = reading.args,
			                      .sent = reading.sent,
			                      .dialect = dialect_of_call(bare, reading.tool) };
		return;
	}
	json_decref(reading.args);
	json_decref(reading.sent);
}

void spelling_release(struct spelled_call *call)
{
	json_decref(call->arguments);
	json_decref(call->sent);
	*call = (struct spelled_call){ 0 };
}
