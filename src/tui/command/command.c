/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands; how a line finds its row. */
#include "tui/command/command.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/mem.h"
#include "tui/command/private.h"

/* ---- the table ------------------------------------------------------------------- */

static command_handler command_help, command_quit, command_shortcuts;
static command_completer complete_help, complete_quit;

static const struct command_row {
	struct command_info is;
	command_handler *run;
	command_completer *complete; /* or NULL */
	/* Whether these arguments make it COMMAND_IDLE and COMMAND_SLOW; NULL: none do. */
	bool (*works)(struct span arguments);
} command_rows[] = {
	{ { "about", "", "", "Show versions, the model, the sandbox and where things are", 0 },
	  command_about, NULL, NULL },
	{ { "agents", "", "[list | enable NAME | disable NAME | reload]",
	    "Show the agents, switch them on and off, or look for them anew", COMMAND_IDLE },
	  command_agents, command_complete_agents, NULL },
	{ { "auth", "key", "[PROVIDER]", "Give hasp a key of a model's provider",
	    COMMAND_IDLE | COMMAND_ALONE },
	  command_auth, command_complete_auth, NULL },
	{ { "bug", "", "[TITLE]", "Say where to report a bug, with what a report should have", 0 },
	  command_bug, NULL, NULL },
	{ { "chat", "resume sessions",
	    "[list | save TAG | resume WHICH | rename TITLE | "
	    "title WHICH TITLE | delete WHICH | share [FILE]]",
	    "Show recorded sessions, go on with one, keep or export this one",
	    COMMAND_IDLE | COMMAND_SLOW },
	  command_chat, command_complete_chat, NULL },
	{ { "clear", "new", "", "Begin a new session", COMMAND_IDLE | COMMAND_SLOW },
	  command_clear, NULL, NULL },
	{ { "compress", "summarize compact", "",
	    "Replace the conversation by a summary of it", COMMAND_IDLE | COMMAND_SLOW },
	  command_compress, NULL, NULL },
	{ { "context", "", "[list | show [NAME]]",
	    "Show what each request holds, from where, and what it weighs",
	    COMMAND_IDLE | COMMAND_SLOW },
	  command_context, command_complete_context, NULL },
	{ { "copy", "", "", "Copy the last answer to the clipboard", 0 },
	  command_copy, NULL, NULL },
	{ { "directory", "dir", "[show]", "Show the folders of the workspace", 0 },
	  command_directory, NULL, NULL },
	{ { "docs", "", "", "Say where the documentation is", COMMAND_ALONE },
	  command_docs, NULL, NULL },
	{ { "editor", "", "[NAME]", "Choose the editor for drafts and proposed changes",
	    COMMAND_ALONE },
	  command_editor, command_complete_editor, NULL },
	{ { "export", "", "[FILE]", "Write this session to a file, as Markdown or JSON",
	    COMMAND_IDLE | COMMAND_SLOW },
	  command_export, NULL, NULL },
	{ { "extensions", "extension",
	    "[list [NAME] | enable NAME | disable NAME [--scope user | workspace | session] | "
	    "update NAME | update --all | explore [MARKETPLACE] | reload]",
	    "Show the extensions and what each brings, switch them on and off", 0 },
	  command_extensions, command_complete_extensions, command_extensions_works },
	{ { "help", "?", "[COMMAND]", "Show the commands, or how one is used", COMMAND_ALONE },
	  command_help, complete_help, NULL },
	{ { "hooks", "", "[list]", "Show the hooks, and which of them run", 0 },
	  command_hooks, NULL, NULL },
	{ { "init", "", "", "Have the model write a GEMINI.md for this project", COMMAND_IDLE },
	  command_init, NULL, NULL },
	{ { "mcp", "",
	    "[list | desc | schema [NAME] | enable NAME [--session] | disable NAME [--session] | "
	    "reload | auth [NAME]]",
	    "Show the MCP servers and their tools, switch them on and off, log in", 0 },
	  command_mcp, command_complete_mcp, command_mcp_works },
	{ { "memory", "", "[show | list | reload]",
	    "Show the files of instructions, or read them again", COMMAND_IDLE },
	  command_memory, command_complete_memory, NULL },
	{ { "model", "", "[set NAME]", "Show the model, or choose that of the next sessions",
	    COMMAND_ALONE },
	  command_model, command_complete_model, NULL },
	{ { "permissions", "", "[trust | distrust]",
	    "Show what trusting this folder switches on, and decide on it", COMMAND_ALONE },
	  command_permissions, command_complete_permissions, NULL },
	{ { "plan", "", "[copy | edit]", "Switch to plan mode, show the plan, or edit it",
	    COMMAND_IDLE },
	  command_plan, command_complete_plan, NULL },
	{ { "policies", "policy", "[list] [WORD] | revoke NUMBER | revoke all",
	    "Show the rules that decide on calls, revoke what is allowed for this session", 0 },
	  command_policies, command_complete_policies, NULL },
	{ { "quit", "exit", "[--delete]", "End the session, and delete it", COMMAND_ALONE },
	  command_quit, complete_quit, NULL },
	{ { "restore", "", "[ID [force]]",
	    "Take the edits since a checkpoint back, but no changes of others",
	    COMMAND_IDLE | COMMAND_SLOW },
	  command_restore, command_complete_restore, NULL },
	{ { "rewind", "", "[NUMBER [both | conversation | files] | undo]",
	    "Go back to before a prompt, 1 being the last; or undo that",
	    COMMAND_IDLE | COMMAND_SLOW },
	  command_rewind, command_complete_rewind, NULL },
	{ { "settings", "config", "[WORD | KEY VALUE | unset KEY]",
	    "Show settings with their origins, or change yours", COMMAND_ALONE },
	  command_settings, command_complete_settings, NULL },
	{ { "shortcuts", "keys", "", "Show the keys", COMMAND_ALONE },
	  command_shortcuts, NULL, NULL },
	{ { "skills", "",
	    "[list [nodesc] | enable NAME | disable NAME [--scope user | workspace] | reload]",
	    "Show the skills, switch them on and off, or look for them anew", COMMAND_IDLE },
	  command_skills, command_complete_skills, NULL },
	{ { "stats", "usage", "[session | model | tools]", "Show what this session used", 0 },
	  command_stats, command_complete_stats, NULL },
	{ { "tasks", "bg background shells", "[ID | end ID]",
	    "Show commands in the background and their output, or end one", 0 },
	  command_tasks, command_complete_tasks, NULL },
	{ { "theme", "", "[NAME]", "Choose the colours", COMMAND_ALONE },
	  command_theme, command_complete_theme, NULL },
	{ { "todos", "", "", "Show the model's list of steps", 0 }, command_todos, NULL, NULL },
	{ { "tools", "", "[list | desc]", "Show the tools that the model has", 0 },
	  command_tools, command_complete_tools, NULL },
	{ { "vim", "", "", "Switch vim keys on or off", COMMAND_ALONE }, command_vim, NULL, NULL },
};

const struct command_info *command_at(size_t i)
{
	return i < ARRAY_LEN(command_rows) ? &command_rows[i].is : NULL;
}

/* ---- words ----------------------------------------------------------------------- */

static bool list_has_word(const char *list, struct span word)
{
	struct span rest = span_str(list), one;

	while ((one = command_word(&rest)).len)
		if (one.len == word.len && strncasecmp(one.data, word.data, word.len) == 0)
			return true;
	return false;
}


static const struct command_row *find_command_row(struct span name)
{
	const struct command_row *first = NULL;
	bool several = false;

	for (size_t i = 0; name.len && i < ARRAY_LEN(command_rows); i++) {
		const struct command_row *row = &command_rows[i];

		if (command_word_is(name, row->is.name) || list_has_word(row->is.aliases, name))
			return row;
		if (name.len < strlen(row->is.name) &&
		    strncasecmp(row->is.name, name.data, name.len) == 0) {
			several = first != NULL;
			first = row;
		}
	}
	return several ? NULL : first;
}

static bool has_own_name(struct span name)
{
	const struct command_row *row = find_command_row(name);

	return row && (command_word_is(name, row->is.name) ||
	               list_has_word(row->is.aliases, name));
}

/* The name without its slash; *line is what is behind it. */
static struct span name_of(struct span *line)
{
	struct span name = command_word(line);

	return span_starts(name, SPAN("/")) ? span_skip(name, 1) : name;
}

static bool has_form_of_command(struct span word)
{
	for (size_t i = 1; i < word.len; i++)
		if (!isalnum((unsigned char)word.data[i]) && !strchr("_-.:", word.data[i]))
			return command_word_is(word, "/?");
	return (word.len > 1 && word.data[0] == '/') || command_word_is(word, "?");
}

/* A path that there is ("/tmp") is none, unless a command has that name. */
bool command_is(struct span line)
{
	struct span rest = span_trim(line), word = command_word(&rest);
	_cleanup_free_ char *path = mem_dup(word.data, word.len);

	return has_form_of_command(word) &&
	       (*path != '/' || command_of(line) || access(path, F_OK) != 0);
}

const struct command_info *command_of(struct span line)
{
	const struct command_row *row = find_command_row(name_of(&line));

	return row ? &row->is : NULL;
}

/* ---- help, quit, shortcuts ------------------------------------------------------- */

static void help_one(struct command_call *call, const struct command_info *command)
{
	struct row row = { 0 };

	row_printf(&row, STYLE_BOLD(ROLE_ACCENT), "/%s %s", command->name, command->arguments);
	command_row(call, &row);
	command_say(call, STYLE(ROLE_TEXT), "%s.", command->help);
	if (*command->aliases)
		command_say(call, STYLE(ROLE_DIM), "Also: %s", command->aliases);
}

static void help_custom(void *data, const char *name, const char *description)
{
	_cleanup_free_ char *shown = mem_printf("/%s", name);

	command_term(data, shown, 14, span_str(description), STYLE(ROLE_TEXT));
}

static void command_help(struct command_call *call)
{
	const struct command_info *command = command_of(call->arguments);

	if (call->arguments.len && !command) {
		command_fail(call, "There is no command \"%.*s\"; /help lists them.",
		             (int)call->arguments.len, call->arguments.data);
		return;
	}
	if (command) {
		help_one(call, command);
		return;
	}
	command_heading(call, "Commands");
	for (size_t i = 0; (command = command_at(i)); i++) {
		_cleanup_free_ char *name = mem_printf("/%s", command->name);

		command_term(call, name, 14, span_str(command->help), STYLE(ROLE_TEXT));
	}
	custom_each(call->context, has_own_name, help_custom, call);
	prompts_each(call->context, has_own_name, help_custom, call);
	command_heading(call, "Besides");
	command_term(call, "@path", 14, SPAN("A file or folder that the model is to read"),
	             STYLE(ROLE_TEXT));
	command_term(call, "!command", 14, SPAN("A command line for the shell"), STYLE(ROLE_TEXT));
	command_term(call, "//text", 14, SPAN("A prompt that begins with a slash"),
	             STYLE(ROLE_TEXT));
	call->result->pager = true;
}

static void complete_help(struct command_completion *completion)
{
	const struct command_info *command;

	for (size_t i = 0; !completion->before.len && (command = command_at(i)); i++)
		completion->add(completion, command->name, command->help);
}

static void command_quit(struct command_call *call)
{
	const bool deletes = command_word_is(call->arguments, "--delete");

	if (call->arguments.len && !deletes)
		command_usage(call);
	else
		command_then(call, COMMAND_QUIT, deletes ? mem_strdup("delete") : NULL);
}

static void complete_quit(struct command_completion *completion)
{
	completion->add(completion, "--delete", "and delete the session");
}

static void command_shortcuts(struct command_call *call)
{
	command_then(call, COMMAND_SHORTCUTS, NULL);
}

/* ---- running --------------------------------------------------------------------- */

/* The name that is most like it: one letter more, less or another. */
static const char *like_name(struct span name)
{
	for (size_t i = 0; i < ARRAY_LEN(command_rows); i++) {
		const char *known = command_rows[i].is.name;
		size_t len = strlen(known), head = 0, tail = 0;

		while (head < len && head < name.len && known[head] == name.data[head])
			head++;
		while (tail < len - head && tail < name.len - head &&
		       known[len - tail - 1] == name.data[name.len - tail - 1])
			tail++;
		if (len > 2 && len - head - tail <= 2 && name.len - head - tail <= 2)
			return known;
	}
	return NULL;
}

static void refuse_unknown(struct command_call *call, struct span name)
{
	const char *like = like_name(name);

	if (like)
		command_fail(call, "There is no command \"/%.*s\"; do you mean /%s?",
		             (int)name.len, name.data, like);
	else
		command_fail(call, "There is no command \"/%.*s\"; /help lists them. \"//%.*s\" is "
		             "sent as it is.", (int)name.len, name.data, (int)name.len, name.data);
}

bool command_exists(const struct command_context *context, struct span line)
{
	struct span rest = span_trim(line);
	const bool is = has_form_of_command(command_word(&rest));
	struct span name = name_of(&line);

	return is && (has_own_name(name) || custom_exists(context, has_own_name, name));
}

static bool row_works(const struct command_row *row, struct span arguments)
{
	return row->works && row->works(arguments);
}

bool command_is_slow(const struct command_context *context, struct span line)
{
	const struct command_row *row;
	struct span name = name_of(&line);

	if (!has_own_name(name) && !custom_exists(context, has_own_name, name) &&
	    prompts_exists(context, has_own_name, name))
		return true;
	row = find_command_row(name);
	return row && (row->is.flags & COMMAND_SLOW || row_works(row, line));
}

static bool row_is_idle(const struct command_row *row, struct span arguments)
{
	return row->is.flags & COMMAND_IDLE || row_works(row, arguments);
}

bool command_waits(const struct command_context *context, struct span line)
{
	const struct command_row *row = find_command_row(name_of(&line));

	return context->busy && (!row || row_is_idle(row, line));
}

/* Its own name, never what stands behind it. */
static void report_command(const struct command_context *context, const struct command_row *row,
                           const struct command_result *result)
{
	json_auto_t *message = NULL;

	if (!context->host)
		return;
	message = json_pack("{s:s, s:s}", "command", row->is.name, "status",
	                    result->ok ? "success" : "error");
	bus_publish(host_bus(context->host), BUS_SLASH_COMMAND, message);
}

void command_run(const struct command_context *context, struct span line,
                 struct command_result *result)
{
	static const struct command_info custom = { "custom", "", "", "",
		                                    COMMAND_IDLE | COMMAND_SLOW };
	struct command_call call = { .context = context, .result = result, .command = &custom };
	const struct span whole = span_trim(line);
	struct span name = name_of(&line);
	const struct command_row *row = find_command_row(name);

	*result = (struct command_result){ .ok = true };
	call.arguments = line;
	if (!has_own_name(name) && !context->busy && context->host &&
	    (custom_run(&call, has_own_name, name, whole) ||
	     prompts_run(&call, has_own_name, name)))
		return;
	if (!row) {
		refuse_unknown(&call, name);
		return;
	}
	call.command = &row->is;
	if (context->busy && row_is_idle(row, line))
		command_fail(&call, "/%s has to wait until the work under way has ended.",
		             row->is.name);
	else if (!context->host && !(row->is.flags & COMMAND_ALONE))
		command_fail(&call, "/%s needs a session, and none is open.", row->is.name);
	else if (!*row->is.arguments && call.arguments.len)
		command_fail(&call, "/%s takes no arguments.", row->is.name);
	else
		row->run(&call);
	report_command(context, row, result);
}

/* ---- completion ------------------------------------------------------------------ */

struct completing {
	struct command_completion of; /* first: handlers see only that */
	size_t from, to, count;
	command_offer *offer;
	void *data;
	bool within; /* second pass: the word stands within the candidate */
};

static void offer_candidate(struct completing *at, const char *text, const char *label,
                            const char *note)
{
	const struct span word = at->of.word;
	bool starts = word.len <= strlen(label) && strncasecmp(label, word.data, word.len) == 0;

	if (at->count >= COMMAND_CANDIDATES_MAX || starts == at->within ||
	    (at->within && !command_has(span_str(label), word)))
		return;
	at->count++;
	at->offer(at->data, at->from, at->to, span_str(text), span_str(label),
	          span_str(note ? note : ""));
}

static void add_candidate(struct command_completion *completion, const char *text, const char *note)
{
	offer_candidate((struct completing *)completion, text, text, note);
}

static void offer_custom(void *data, const char *name, const char *description)
{
	_cleanup_free_ char *text = mem_printf("/%s", name);

	offer_candidate(data, text, name, description);
}

static void complete_names(struct completing *at)
{
	const struct command_info *command;

	for (size_t i = 0; (command = command_at(i)); i++) {
		_cleanup_free_ char *text = mem_printf("/%s", command->name);

		offer_candidate(at, text, command->name, command->help);
	}
	custom_each(at->of.context, has_own_name, offer_custom, at);
	prompts_each(at->of.context, has_own_name, offer_custom, at);
}

void command_complete(const struct command_context *context, struct span line, size_t caret,
                      command_offer *offer, void *data)
{
	struct completing at = { .of = { .context = context, .add = add_candidate },
		                 .to = caret, .offer = offer, .data = data };
	struct span head = span_head(line, caret < line.len ? caret : line.len), name;
	const struct command_row *row;

	at.to = head.len;
	for (at.from = head.len; at.from && !isspace((unsigned char)head.data[at.from - 1]);)
		at.from--;
	at.of.word = span_skip(head, at.from);
	at.of.before = span_head(head, at.from);
	if (!head.len || head.data[0] != '/')
		return;
	if (!at.from) {
		at.of.word = span_skip(at.of.word, 1);
		complete_names(&at);
		at.within = true;
		complete_names(&at);
		return;
	}
	name = name_of(&at.of.before);
	row = find_command_row(name);
	if (!row) {
		prompts_complete(&at.of, has_own_name, name);
		return;
	}
	if (!row->complete || (!context->host && !(row->is.flags & COMMAND_ALONE)))
		return;
	row->complete(&at.of);
	at.within = true;
	row->complete(&at.of);
}

json_t *command_asks_server(const struct command_context *context, struct span line, size_t caret,
                            size_t *ret_from)
{
	const struct span head = span_head(line, caret < line.len ? caret : line.len);
	struct span rest = head;
	const struct span name = name_of(&rest);
	const size_t at = name.len + 1;

	if (!span_starts(head, SPAN("/")) || at >= head.len || find_command_row(name))
		return NULL;
	return prompts_asks(context, has_own_name, name, head, at, ret_from);
}

void command_put_value(struct buf *out, struct span value)
{
	prompts_put_value(out, value);
}
