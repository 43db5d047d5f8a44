/* SPDX-License-Identifier: Apache-2.0 */
/* --help, help COMMAND, --version. */
#include "cli/options/help.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/options/commands.h"
#include "cli/view/output.h"
#include "data/json.h"

enum {
	WIDTH = 79,
	FLAG_COLUMN = 24, /* where the explanations begin */
	HELP_DEPTH = 4,   /* of arguments within arguments */
};

static void pad(struct buf *out, size_t columns)
{
	while (columns--)
		buf_char(out, ' ');
}

/* Takes the next word off the text, and tells how many line ends came before it. */
static struct span next_word(struct span *rest, size_t *ret_newlines)
{
	size_t newlines = 0;
	size_t len = 0;
	struct span word;

	while (rest->len && (rest->data[0] == ' ' || rest->data[0] == '\n')) {
		newlines += rest->data[0] == '\n';
		*rest = span_skip(*rest, 1);
	}
	while (len < rest->len && rest->data[len] != ' ' && rest->data[len] != '\n')
		len++;
	word = span_head(*rest, len);
	*rest = span_skip(*rest, len);
	*ret_newlines = newlines;
	return word;
}

/* "-" or "12.", which begin an item of a list. */
static bool is_marker(struct span word)
{
	size_t digits = 0;

	while (digits < word.len && word.data[digits] >= '0' && word.data[digits] <= '9')
		digits++;
	return span_eq(word, SPAN("-")) ||
	       (digits && digits + 1 == word.len && word.data[digits] == '.');
}

void help_wrap(struct buf *out, struct span text, size_t indent, size_t at)
{
	size_t hang = indent; /* where the lines after the first of a list's item begin */
	bool first = true;

	for (;;) {
		size_t newlines;
		struct span word = next_word(&text, &newlines);
		bool item = newlines && is_marker(word);

		if (!word.len)
			break;
		if (newlines > 1 || item)
			hang = indent;
		if (!first && (newlines > 1 || item || at + 1 + word.len > WIDTH)) {
			buf_str(out, newlines > 1 ? "\n\n" : "\n");
			at = 0;
		}
		if (at == 0) {
			pad(out, hang);
			at = hang;
		} else if (!first) {
			buf_char(out, ' ');
			at++;
		}
		if (item)
			hang = indent + word.len + 1;
		buf_span(out, word);
		at += word.len;
		first = false;
	}
	buf_char(out, '\n');
}

/* A term in the left column and its explanation in the right one. */
static void help_row(struct buf *out, const char *term, const char *explanation)
{
	size_t at = 2 + strlen(term);

	buf_printf(out, "  %s", term);
	if (at + 2 > FLAG_COLUMN) {
		buf_char(out, '\n');
		at = 0;
	} else {
		pad(out, FLAG_COLUMN - at);
		at = FLAG_COLUMN;
	}
	help_wrap(out, span_str(explanation), FLAG_COLUMN, at);
}

static void help_flag(struct buf *out, const struct flag *flag)
{
	_cleanup_free_ char *letter =
		flag->letter ? mem_printf("-%c, ", flag->letter) : mem_strdup("    ");
	_cleanup_free_ char *term =
		mem_printf("%s--%s%s%s", letter, flag->name, flag->value.name ? " " : "",
	                   flag->value.name ? flag->value.name : "");

	help_row(out, term, flag->help);
}

static void help_synopsis(struct buf *out, const struct command *command)
{
	bool is_root = command == command_root();

	for (size_t i = 0; command->synopsis[i]; i++)
		buf_printf(out, "%s hasp %s%s%s\n", i == 0 ? "usage:" : "      ",
		           is_root ? "" : command->name, is_root ? "" : " ", command->synopsis[i]);
}

static void help_commands(struct buf *out)
{
	buf_str(out, "\nCommands:\n");
	for (size_t i = 0; i < command_count(); i++)
		help_row(out, command_at(i)->name, command_at(i)->summary);
}

void help_brief(struct buf *out)
{
	help_synopsis(out, command_root());
	buf_str(out, "\n"
	             "  hasp -p 'what does main.c do?'       reads and answers\n"
	             "  hasp -y -p 'the build fails, fix it' edits and runs commands, sandboxed\n"
	             "  hasp config trust                    once in a project, for the second\n"
	             "\nCommands:");
	for (size_t i = 0; i < command_count(); i++)
		buf_printf(out, "%s %s", i ? "," : "", command_at(i)->name);
	buf_str(out, ".\n\"hasp --help\" explains all, \"hasp help COMMAND\" a command.\n");
}

void help_command(struct buf *out, const struct command *command)
{
	help_synopsis(out, command);
	buf_char(out, '\n');
	help_wrap(out, span_str(command->text), 0, 0);
	if (command == command_root())
		help_commands(out);
	if (command->positional_count)
		buf_str(out, "\nArguments:\n");
	for (size_t i = 0; i < command->positional_count; i++)
		help_row(out, command->positionals[i].value.name, command->positionals[i].help);
	buf_str(out, "\nOptions:\n");
	for (size_t i = 0; i < command->flag_count; i++) {
		if (!command->flags[i].hidden)
			help_flag(out, &command->flags[i]);
	}
	if (command == command_root())
		buf_str(out, "\n\"hasp help COMMAND\" explains a command; "
		             "hasp(1) is the manual.\n");
	else if (command == command_find("tool"))
		buf_str(out, "\nExit codes: 0 done, 1 the tool failed (the result says why), "
		             "2 wrong usage.\n");
}

static bool is_required(const json_t *schema, const char *name)
{
	const json_t *required = json_object_get(schema, "required");

	for (size_t i = 0; i < json_array_size(required); i++) {
		const char *listed = json_string_value(json_array_get(required, i));

		if (listed && strcmp(listed, name) == 0)
			return true;
	}
	return false;
}

static const char *type_of(const json_t *schema)
{
	const json_t *type = json_object_get(schema, "type");
	const char *name = json_string_value(json_is_array(type) ? json_array_get(type, 0) : type);

	return name ? name : "any";
}

/* "one of a, b, c"; of a value that can only be one, that. */
static void put_choices(struct buf *out, const json_t *schema)
{
	const json_t *only = json_object_get(schema, "const"), *choice;
	size_t i;

	if (json_is_string(only))
		buf_printf(out, ", %s", json_string_value(only));
	json_array_foreach(json_object_get(schema, "enum"), i, choice) {
		buf_str(out, i ? ", " : ", one of ");
		if (json_is_string(choice))
			buf_span(out, json_span(choice));
		else
			json_print(out, choice, 0);
	}
}

static void help_members(struct buf *out, const json_t *schema, const char *before, unsigned depth);

/* An object's members, an array's elements: as far as anybody writes them. */
static void help_below(struct buf *out, const json_t *schema, const char *path, unsigned depth)
{
	const json_t *items = json_object_get(schema, "items"), *branch;
	_cleanup_free_ char *inside = mem_printf("%s%s.", path, items ? "[]" : "");
	const json_t *below = items ? items : schema;
	size_t i;

	if (depth >= HELP_DEPTH)
		return;
	help_members(out, below, inside, depth + 1);
	json_array_foreach(json_object_get(below, "oneOf"), i, branch)
		help_members(out, branch, inside, depth + 1);
}

static void help_parameter(struct buf *out, const char *path, const json_t *schema, bool required,
                           unsigned depth)
{
	const char *description = json_string_value(json_object_get(schema, "description"));
	const json_t *items = json_object_get(schema, "items");
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);

	buf_printf(&text, "(%s", type_of(schema));
	if (items)
		buf_printf(&text, " of %s", json_object_get(items, "oneOf") ? "object" : type_of(items));
	put_choices(&text, items && json_object_get(items, "enum") ? items : schema);
	buf_printf(&text, "%s) %s", required ? ", required" : "", description ? description : "");
	help_row(out, path, text.data);
	help_below(out, schema, path, depth);
}

/* Before the members of one kind of element stands which kind it is. */
static void help_members(struct buf *out, const json_t *schema, const char *before, unsigned depth)
{
	const char *name;
	json_t *member;

	json_object_foreach(json_object_get(schema, "properties"), name, member) {
		_cleanup_free_ char *path = mem_printf("%s%s", before, name);

		help_parameter(out, path, member, is_required(schema, name), depth);
	}
}

void help_tool(struct buf *out, const struct tool *tool)
{
	json_auto_t *schema = json_loads(tool->arguments_schema, 0, NULL);

	buf_printf(out, "usage: hasp tool %s [ARGS] [--arg KEY=VALUE]... [OPTION]...\n\n",
	           tool->name);
	help_wrap(out, span_str(tool->description), 0, 0);
	buf_str(out, "\nArguments of the tool (KEY=VALUE):\n");
	help_members(out, schema, "", 0);
	buf_str(out, "\n\"hasp tool --help\" explains the options.\n");
}

struct span help_first_sentence(const char *text)
{
	const char *end = strstr(text, ". ");
	const char *line = strchr(text, '\n');

	if (line && (!end || line < end))
		end = line;
	/* With its full stop, if that is what ended it. */
	return end ? span_of(text, (size_t)(end - text) + (*end == '.')) : span_str(text);
}

void help_tool_list(struct buf *out)
{
	for (size_t i = 0; i < tool_count(); i++) {
		struct span sentence = help_first_sentence(tool_at(i)->description);
		_cleanup_free_ char *summary = mem_dup(sentence.data, sentence.len);

		help_row(out, tool_at(i)->name, summary);
	}
}

static int show(const struct buf *text)
{
	struct err err = ERR_INIT;

	if (output_text(buf_view(text), &err))
		return CLI_OK;
	output_complain(err.message);
	return CLI_FAILED;
}

int help_show(const struct invocation *invocation)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	const char *name = invocation_positional(invocation, 0);
	const struct tool *tool = NULL;

	if (name && invocation->command == command_find("tool")) {
		tool = command_tool(name);
		if (!tool)
			return CLI_USAGE;
	}
	if (tool)
		help_tool(&out, tool);
	else
		help_command(&out, invocation->command);
	return show(&out);
}

int command_run_help(const struct invocation *invocation)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	const char *name = invocation_positional(invocation, 0);
	const struct command *command = name ? command_find(name) : command_root();
	struct err err = ERR_INIT;

	if (!command && !command_unknown(name, &err)) {
		output_complain(err.message);
		return CLI_USAGE;
	}
	help_command(&out, command);
	return show(&out);
}
