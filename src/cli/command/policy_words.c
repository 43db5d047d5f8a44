/* SPDX-License-Identifier: Apache-2.0 */
/* A rule in words, as people type it: the beginning of a command, a tool, or a tool with what it is
 * called with, as Claude Code, Gemini CLI and Codex write rules:
 *
 *     npm test      Bash(npm run:*)   ShellTool(git status)   shell
 *     Edit(generated) mcp__git__push    mcp__git                WebFetch
 *
 * A form that no rule can express is refused with what does it instead: a rule that decides nothing
 * would pass for a guard. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/command/private.h"
#include "data/tools.h"

void policy_words_release(struct rule_words *words)
{
	free(words->tool);
	free(words->prefix);
	free(words->path);
	free(words->folder);
}

/* ---- tools ---- */

/* A name that other agents have for a tool that changes files: a rule on it is about all edits.
 * hasp's own names (update_file) stand for one tool each. */
static bool is_edit_word(const struct tool_info *info, const char *word)
{
	return info->files == TOOL_FILES_WRITE && strcmp(info->name, word) != 0;
}

static bool words_take_tool(const struct tool_info *info, const char *word, struct rule_words *ret,
			    struct err *err)
{
	const bool allows = ret->written.decision == POLICY_ALLOW && !ret->removes;

	ret->written.edits = is_edit_word(info, word);
	ret->tool = mem_strdup(info->name);
	ret->written.tool = ret->tool;
	if (allows && info->runs)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "No rule allows every command. Name one (\"npm test\"), or run "
		               "hasp with --yolo.");
	if (allows && info->files == TOOL_FILES_WRITE)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "No rule allows every edit. --approval-mode auto_edit does, and so "
		               "does the setting general.defaultApprovalMode.");
	return true;
}

/* Whether a word means a tool rather than a command: "ls" is a command, although a tool is known by
 * that name, too. */
static const struct tool_info *meant_tool(const char *word)
{
	static const char *const no_commands[] = { "replace", "shell" };
	const struct tool_info *info = tool_info_find(word);
	bool tool = info && (!strcmp(info->name, word) || strchr(word, '_') ||
	                     (word[0] >= 'A' && word[0] <= 'Z'));

	for (size_t i = 0; i < ARRAY_LEN(no_commands); i++)
		tool = tool || !strcmp(word, no_commands[i]);
	return tool ? info : NULL;
}

/* mcp_SERVER_TOOL, mcp__SERVER__TOOL; a whole server: mcp__SERVER, mcp_SERVER_*. */
static bool words_take_server(const char *word, struct rule_words *ret, struct err *err)
{
	const bool other = strncmp(word, "mcp__", 5) == 0;
	const char *rest = word + (other ? 5 : 4), *tool = other ? strstr(rest, "__") : NULL;

	if (!*rest || strpbrk(rest, "() \t"))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "\"%.200s\" is not the name of an MCP server's tool, such as "
		               "mcp_SERVER_TOOL, or mcp_SERVER_* for all of a server's tools.",
		               word);
	if (!other)
		ret->tool = mem_strdup(word);
	else if (tool)
		ret->tool = mem_printf("mcp_%.*s_%s", (int)(tool - rest), rest, tool + 2);
	else
		ret->tool = mem_printf("mcp_%s_*", rest);
	ret->written.tool = ret->tool;
	return true;
}

/* ---- commands ---- */

/* Whether a '*' stands outside of quotes. */
static bool has_star(struct span text)
{
	char quote = '\0';

	for (size_t i = 0; i < text.len; i++) {
		const char c = text.data[i];

		if (quote ? c == quote : c == '\'' || c == '"')
			quote = quote ? '\0' : c;
		else if (c == '*' && !quote)
			return true;
	}
	return false;
}

/* "npm run", "npm run:*" and "npm run *" are about the same commands; "*" is about all. */
static bool words_take_command(struct span text, struct rule_words *ret, struct err *err)
{
	const struct tool_info *info = tool_info_find(tool_name(TOOL_RUN_SHELL_COMMAND));

	text = span_trim(text);
	if (span_ends(text, SPAN(":*")) || span_ends(text, SPAN(" *")))
		text = span_trim(span_head(text, text.len - 2));
	if (!text.len || span_eq(text, SPAN("*")))
		return words_take_tool(info, info->name, ret, err);
	if (has_star(text))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "\"%.*s\": a rule is about the first words of a command, so \"*\" "
		               "can only be its last word: \"npm run *\", \"npm run:*\".",
		               (int)(text.len < 200 ? text.len : 200), text.data);
	ret->tool = mem_strdup(info->name);
	ret->written.tool = ret->tool;
	ret->prefix = mem_dup(text.data, text.len);
	ret->written.prefix = ret->prefix;
	return true;
}

/* ---- files ---- */

static bool words_take_path(struct span path, struct rule_words *ret, struct err *err)
{
	if (ret->written.decision == POLICY_ALLOW && !ret->removes)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A rule on a path can deny or ask, not allow. To accept edits: "
		               "--approval-mode auto_edit; to allow writing outside of the "
		               "workspace: --write PATH.");
	ret->path = mem_dup(path.data, path.len);
	ret->written.path = ret->path;
	return true;
}

/* Of Claude Code's forms "//etc" is /etc, and "/src" is relative to the file of settings. */
static bool words_take_claude_path(struct span path, struct rule_words *ret, struct err *err)
{
	if (span_starts(path, SPAN("//")))
		path = span_skip(path, 1);
	else if (span_starts(path, SPAN("/")))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A path after one slash is relative to a settings file in Claude "
		               "Code's rules. Write \"%.*s\" for one in the workspace, or "
		               "\"/%.*s\" for one at the root.", (int)path.len - 1, path.data + 1,
		               (int)path.len, path.data);
	return words_take_path(path, ret, err);
}

/* ---- TOOL(...) ---- */

/* Why no rule can be about these arguments. */
static bool refuse_arguments(const struct tool_info *info, struct err *err)
{
	if (info->files != TOOL_FILES_NONE)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A rule cannot be about what is read. --deny PATH hides a file or a "
		               "folder from the tools and commands of a run.");
	if (info->kind == TOOL_KIND_FETCH)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A rule cannot be about one host. \"%s\" is a rule on all; when "
		               "hasp asks about a fetch, its host can be allowed for the session.",
		               info->name);
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "A rule on %s takes no arguments here; docs/policy.md has argsPattern, for "
	               "a file of rules.", info->name);
}

static bool words_take_call(const char *name, struct span arguments, struct rule_words *ret,
			    struct err *err)
{
	const struct tool_info *info = tool_info_find(name);

	arguments = span_trim(arguments);
	if (!info)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Unknown tool \"%.64s\". For a command, name its first words: hasp "
		               "policy allow \"npm test\".", name);
	if (info->runs)
		return words_take_command(arguments, ret, err);
	if (!arguments.len || span_eq(arguments, SPAN("*")) || span_eq(arguments, SPAN("**")) ||
	    span_eq(arguments, SPAN("domain:*")))
		return words_take_tool(info, name, ret, err);
	if (info->files == TOOL_FILES_WRITE)
		return words_take_claude_path(arguments, ret, err);
	return refuse_arguments(info, err);
}

/* The name before a parenthesis that ends the word; NULL: it is of another form. The caller
 * frees. */
static char *words_call_name(const char *word)
{
	const size_t len = strlen(word), name = strcspn(word, "(");

	for (size_t i = 0; i < name; i++)
		if (!ascii_is_alnum(word[i]) && word[i] != '_' && word[i] != '.' && word[i] != '-')
			return NULL;
	return name && name < len && word[len - 1] == ')' ? mem_dup(word, name) : NULL;
}

/* ---- all forms ---- */

static bool words_take_form(const char *word, struct rule_words *ret, struct err *err)
{
	_cleanup_free_ char *name = words_call_name(word);
	const struct tool_info *info = name ? NULL : meant_tool(word);

	if (strcmp(word, "*") == 0)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "No rule is about every call. Name a command (\"npm test\"), a "
		               "tool, or --path PATTERN.");
	if (strncmp(word, "mcp_", 4) == 0)
		return words_take_server(word, ret, err);
	if (name)
		return words_take_call(name, span_skip(span_head(span_str(word), strlen(word) - 1),
		                                 strlen(name) + 1), ret, err);
	if (info)
		return words_take_tool(info, word, ret, err);
	if (strncmp(word, "discovered_tool_", 16) == 0) {
		ret->tool = mem_strdup(word);
		ret->written.tool = ret->tool;
		return true;
	}
	return words_take_command(span_str(word), ret, err);
}

bool policy_words_read(const char *word, const char *args, const char *path, struct rule_words *ret,
		       struct err *err)
{
	const struct tool_info *info = word && args ? tool_info_find(word) : NULL;

	if (!word == !path || (args && (path || strchr(word, '('))))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Name a command (\"npm test\"), a tool, or --path PATTERN.");
	if (path)
		return words_take_path(span_str(path), ret, err);
	if (!args)
		return words_take_form(word, ret, err);
	if (!info)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A rule on %.64s takes no arguments here. Quote a command: "
		               "\"%.64s %.64s\".", word, word, args);
	return info->runs ? words_take_command(span_str(args), ret, err) :
	                    refuse_arguments(info, err);
}
