/* SPDX-License-Identifier: Apache-2.0 */
/* /help: the commands by what they are for, how one is used; what unknown names are answered. */
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "front/command/private.h"

/* ---- names that are none --------------------------------------------------------- */

static void add_custom_name(void *data, const char *name, const char *description, const char *from)
{
	(void)description;
	(void)from;
	json_array_append_new(data, json_text(span_str(name)));
}

/* Custom commands and prompts of servers; a new reference. */
static json_t *custom_names(const struct command_context *context)
{
	json_t *names = json_array();

	brought_each(context, add_custom_name, names);
	return names;
}

void help_unknown(struct command_call *call, struct span name)
{
	json_auto_t *customs = custom_names(call->context);
	const char *near = command_nearest(name, customs);

	if (near)
		command_fail(call, "Unknown command /%.*s. Did you mean /%s?", (int)name.len,
		             name.data, near);
	else
		command_fail(call, "Unknown command /%.*s. /help lists all commands; to send this "
		             "as a prompt, begin it with //.", (int)name.len, name.data);
}

/* ---- help ------------------------------------------------------------------------ */

static const char *const group_titles[] = {
	[COMMAND_OF_TALK] = "Conversation", [COMMAND_OF_FILES] = "Files and changes",
	[COMMAND_OF_MODEL] = "Model and key", [COMMAND_OF_PERMISSIONS] = "Permissions",
	[COMMAND_OF_TOOLS] = "Tools and extensions",
	[COMMAND_OF_TERMINAL] = "Settings and terminal",
	[COMMAND_OF_STATUS] = "Status and help",
};

enum { HELP_NAME_WIDTH = 14, HELP_FORM_WIDTH = 30 };

/* "compact, summarize": the aliases, and what other agents call a form of it. */
static void put_other_names(const struct command_info *command, struct buf *out)
{
	struct span rest = span_str(command->aliases), word;
	const struct command_elsewhere *one;

	while ((word = command_word(&rest)).len)
		buf_printf(out, "%s/%.*s", out->len ? ", " : "", (int)word.len, word.data);
	for (size_t i = 0; (one = command_elsewhere_at(i)); i++) {
		struct span line = span_str(one->line ? one->line : "");

		if (command_word_is(command_word(&line), command->name))
			buf_printf(out, "%s/%s", out->len ? ", " : "", one->name);
	}
}

static void help_one(struct command_call *call, const struct command_info *command)
{
	const struct command_form *form = command->forms;
	_cleanup_buf_ struct buf others = BUF_INIT(LIMIT_MESSAGE_BYTES);
	struct row row = { 0 };

	row_printf(&row, STYLE_BOLD(ROLE_ACCENT), "/%s", command->name);
	command_row(call, &row);
	command_say(call, STYLE(ROLE_TEXT), "%s.", command->help);
	for (; form && form->words; form++) {
		_cleanup_buf_ struct buf shown = BUF_INIT(LIMIT_MESSAGE_BYTES);

		if (!form->help)
			continue;
		buf_printf(&shown, "/%s ", command->name);
		form_print(form, &shown);
		command_term(call, shown.data, HELP_FORM_WIDTH, span_str(form->help),
		             STYLE(ROLE_TEXT));
	}
	put_other_names(command, &others);
	if (others.len)
		command_say(call, STYLE(ROLE_DIM), "Also: %s", others.data);
}

void help_elsewhere(struct command_call *call, const struct command_elsewhere *one)
{
	const struct command_info *command;
	struct span line;

	if (!one->line) {
		command_fail(call, "hasp has no /%s. %s", one->name, one->says);
		return;
	}
	command_say(call, STYLE(ROLE_TEXT), "/%s is /%s here.", one->name, one->line);
	line = span_str(one->line);
	command = &command_row_of(command_word(&line))->is;
	help_one(call, command);
}

/* Of a custom command, or the prompt of a server. */
struct help_search {
	struct command_call *call;
	struct span name;    /* empty: all */
	size_t found;
};

static void help_custom(void *data, const char *name, const char *description, const char *from)
{
	struct help_search *search = data;
	_cleanup_free_ char *shown = mem_printf("/%s", name);

	if (search->name.len && !command_word_is(search->name, name))
		return;
	if (!search->found++ && !search->name.len)
		command_heading(search->call, "Your commands, skills, and prompts of MCP servers");
	command_term(search->call, shown, HELP_NAME_WIDTH, span_str(description),
	             STYLE(ROLE_TEXT));
	command_term(search->call, "", HELP_NAME_WIDTH, span_str(from), STYLE(ROLE_DIM));
}

static size_t help_customs(struct command_call *call, struct span name)
{
	struct help_search search = { .call = call, .name = name };

	brought_each(call->context, help_custom, &search);
	return search.found;
}

static void help_group(struct command_call *call, enum command_group group)
{
	const struct command_info *command;

	command_heading(call, group_titles[group]);
	for (size_t i = 0; (command = command_at(i)); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);
		_cleanup_buf_ struct buf others = BUF_INIT(LIMIT_MESSAGE_BYTES);
		_cleanup_free_ char *name = NULL;

		if (command->group != group || !command_is_for(call->context, command))
			continue;
		name = mem_printf("/%s", command->name);
		put_other_names(command, &others);
		buf_str(&text, command->help);
		if (others.len)
			buf_printf(&text, " (%s)", others.data);
		command_term(call, name, HELP_NAME_WIDTH, buf_view(&text), STYLE(ROLE_TEXT));
	}
}

static void help_all(struct command_call *call)
{
	const struct command_elsewhere *one;

	for (size_t i = 0; i < ARRAY_LEN(group_titles); i++)
		help_group(call, (enum command_group)i);
	help_customs(call, SPAN(""));
	command_heading(call, "In a prompt");
	command_term(call, "@path", HELP_NAME_WIDTH, SPAN("Attach a file or folder"),
	             STYLE(ROLE_TEXT));
	command_term(call, "!command", HELP_NAME_WIDTH, SPAN("Run a shell command"),
	             STYLE(ROLE_TEXT));
	command_term(call, "//text", HELP_NAME_WIDTH, SPAN("Send a prompt that begins with /"),
	             STYLE(ROLE_TEXT));
	command_heading(call, "From other agents, and what to do here");
	for (size_t i = 0; (one = command_elsewhere_at(i)); i++) {
		_cleanup_free_ char *name = mem_printf("/%s", one->name);

		if (one->says)
			command_term(call, name, HELP_NAME_WIDTH, span_str(one->says),
			             STYLE(ROLE_DIM));
	}
	call->result->pager = true;
}

void command_help(struct command_call *call)
{
	const struct span given = call->arguments;
	const struct span name = span_starts(given, SPAN("/")) ? span_skip(given, 1) : given;
	const struct command_row *row = command_row_of(name);
	const struct command_elsewhere *one = command_elsewhere_of(name);

	if (!name.len)
		help_all(call);
	else if (row && (command_row_is(row, name) || !one))
		help_one(call, &row->is);
	else if (one)
		help_elsewhere(call, one);
	else if (!help_customs(call, name))
		help_unknown(call, name);
}

void command_complete_help(struct command_completion *completion)
{
	const struct command_info *command;

	for (size_t i = 0; (command = command_at(i)); i++)
		completion->add(completion, command->name, command->help);
}
