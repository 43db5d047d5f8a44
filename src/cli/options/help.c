/* SPDX-License-Identifier: Apache-2.0 */
/* --help, help COMMAND, --version, and hasp(1), from the tables. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "data/json.h"
#include "data/schema.h"
#include "tool/tool.h"

/* ---- help -------------------------------------------------------------------- */

/* --help, help COMMAND, --version. */

enum {
	WIDTH = 79,
	FLAG_COLUMN = 24, /* where the explanations begin */
	HELP_DEPTH = 4,   /* of arguments within arguments */
};

static void put_blanks(struct buf *out, size_t columns)
{
	while (columns--)
		buf_char(out, ' ');
}

/* Takes the next word off the text, and counts the newlines before it. */
static struct span wrap_next_word(struct span *rest, size_t *ret_newlines)
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
	size_t digits = span_digits(word);

	return span_eq(word, SPAN("-")) ||
	       (digits && digits + 1 == word.len && word.data[digits] == '.');
}

/* Appends `text` in lines of at most 79 columns, indented by `indent`
 * spaces; the first only when `at` (the column reached) is 0.
 * An empty line in the text stays one, and items of a list ("- ", "1. ") keep
 * their lines. */
static void help_wrap(struct buf *out, struct span text, size_t indent, size_t at)
{
	size_t hang = indent; /* where the lines after the first of a list's item begin */
	bool first = true;

	for (;;) {
		size_t newlines;
		struct span word = wrap_next_word(&text, &newlines);
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
			put_blanks(out, hang);
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
		put_blanks(out, FLAG_COLUMN - at);
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

void help_brief(struct buf *out)
{
	help_synopsis(out, command_root());
	buf_str(out, "\n"
	             "  hasp -p 'what does main.c do?'       reads and answers\n"
	             "  hasp -y -p 'the build fails, fix it' edits and runs commands, sandboxed\n"
	             "  hasp config trust                    once in a project, for the second\n"
	             "\nCommands:");
	for (size_t i = 0; i < command_count(); i++)
		buf_printf(out, "%s %s", i ? "," : "", command_listed(i)->name);
	buf_str(out, ".\n\"hasp --help\" explains all, \"hasp help COMMAND\" a command.\n");
}

static void help_command(struct buf *out, const struct command *command)
{
	help_synopsis(out, command);
	buf_char(out, '\n');
	help_wrap(out, span_str(command->text), 0, 0);
	if (command == command_root())
		buf_str(out, "\nCommands:\n");
	for (size_t i = 0; command == command_root() && i < command_count(); i++)
		help_row(out, command_listed(i)->name, command_listed(i)->summary);
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

static const char *schema_type_word(const json_t *schema)
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

/* Lists the members of an object or the elements of an array, to a limited depth. */
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

	buf_printf(&text, "(%s", schema_type_word(schema));
	if (items)
		buf_printf(&text, " of %s", json_object_get(items, "oneOf") ?
		           "object" : schema_type_word(items));
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

/* The text of `hasp tool NAME --help`: what the tool does and its arguments. */
static void help_tool(struct buf *out, const struct tool *tool)
{
	json_auto_t *schema = json_loads(tool->arguments_schema, 0, NULL);

	buf_printf(out, "usage: hasp tool %s [ARGS] [--arg KEY=VALUE]... [OPTION]...\n\n",
	           tool->name);
	help_wrap(out, span_str(tool->description), 0, 0);
	buf_str(out, "\nArguments of the tool (KEY=VALUE):\n");
	help_members(out, schema, "", 0);
	buf_str(out, "\n\"hasp tool --help\" explains the options.\n");
}

/* The first sentence of a description: those for a model begin with what the tool does. */
static struct span help_first_sentence(const char *text)
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

static int help_print(const struct buf *text)
{
	struct err err = ERR_INIT;

	return output_text(buf_view(text), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

const struct tool *command_tool(const char *name)
{
	_cleanup_free_ char *lower = mem_strdup(name);
	_cleanup_free_ const char **names = mem_alloc(tool_count(), sizeof(*names));
	_cleanup_free_ char *message = NULL;
	const char *near;

	if (tool_find(name))
		return tool_find(name);
	for (char *c = lower; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (tool_find(lower))
		return tool_find(lower);
	for (size_t i = 0; i < tool_count(); i++)
		names[i] = tool_at(i)->name;
	near = schema_nearest_name(name, names, tool_count());
	message = mem_printf("Unknown tool \"%s\"%s%s%s \"hasp tool --list\" lists them.", name,
	                     near ? "; did you mean \"" : ".", near ? near : "",
	                     near ? "\"?" : "");
	output_complain(message);
	return NULL;
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
	return help_print(&out);
}

int help_show_command(const struct command *command)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	help_command(&out, command);
	return help_print(&out);
}

/* ---- the man page ------------------------------------------------------------ */

/* hasp(1) from the tables: mdoc(7), clean under mandoc -T lint and groff. */

/* The day of the last change that a reader of the manual would notice. */
#define MANPAGE_DATE "November 22, 2026"

enum { MAN_LINE_MAX = 76 };

/* One word of running text, with what roff would act on escaped. */
static size_t man_word(struct buf *out, struct span word, bool line_start)
{
	size_t before = out->len;

	if (line_start && (word.data[0] == '.' || word.data[0] == '\''))
		buf_str(out, "\\&");
	for (size_t i = 0; i < word.len; i++) {
		if (word.data[i] == '\\')
			buf_str(out, "\\e");
		else if (word.data[i] == '-' && (i == 0 || word.data[i - 1] == '-'))
			buf_str(out, "\\-"); /* of a flag: must not become a hyphen */
		else
			buf_char(out, word.data[i]);
	}
	return out->len - before;
}

/* Running text: each sentence on a separate line, as mdoc requires. */
static void man_text(struct buf *out, struct span text)
{
	size_t column = 0;

	while (text.len) {
		size_t len = 0;
		struct span word;

		if (span_starts(text, SPAN("\n\n"))) {
			buf_str(out, "\n.Pp\n");
			column = 0;
		}
		if (text.data[0] == ' ' || text.data[0] == '\n') {
			text = span_skip(text, 1);
			continue;
		}
		while (len < text.len && text.data[len] != ' ' && text.data[len] != '\n')
			len++;
		word = span_head(text, len);
		if (column && column + 1 + len > MAN_LINE_MAX) {
			buf_char(out, '\n');
			column = 0;
		}
		if (column)
			buf_char(out, ' ');
		column += 1 + man_word(out, word, column == 0);
		text = span_skip(text, len);
		if (span_ends(word, SPAN(".")) && text.len && !span_starts(text, SPAN("\n\n"))) {
			buf_char(out, '\n');
			column = 0;
		}
	}
	buf_char(out, '\n');
}

static void man_flag(struct buf *out, const struct flag *flag)
{
	const char *value = flag->value.name;

	buf_str(out, ".It ");
	if (flag->letter)
		buf_printf(out, "Fl %c , ", flag->letter);
	buf_printf(out, "Fl \\-%s", flag->name);
	if (value)
		buf_printf(out, " Ar %s", value);
	buf_char(out, '\n');
	if (flag->man) {
		man_text(out, span_str(flag->man));
		return;
	}
	/* The one-line help begins small and has no full stop. */
	buf_char(out, (char)(flag->help[0] >= 'a' && flag->help[0] <= 'z' ? flag->help[0] - 32
	                                                                   : flag->help[0]));
	buf_printf(out, "%s.\n", flag->help + 1);
}

static void man_flags(struct buf *out, const struct command *command)
{
	buf_str(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < command->flag_count; i++) {
		if (!command->flags[i].hidden)
			man_flag(out, &command->flags[i]);
	}
	buf_str(out, ".El\n");
}

static void man_synopsis(struct buf *out)
{
	buf_str(out, ".Sh SYNOPSIS\n"
	             ".Nm\n.Fl p Ar PROMPT\n.Op Ar OPTION ...\n"
	             ".Nm\n.Op Ar OPTION ...\n.Ar PROMPT ...\n");
	for (size_t i = 0; i < command_count(); i++) {
		const struct command *command = command_listed(i);

		for (size_t line = 0; command->synopsis[line]; line++) {
			buf_printf(out, ".Nm\n.Cm %s\n", command->name);
			man_text(out, span_str(command->synopsis[line]));
		}
	}
	buf_str(out, ".Nm\n.Fl \\-version | Fl \\-help\n");
}

static void man_tools(struct buf *out)
{
	buf_str(out, ".Sh TOOLS\n"
	             ".Ic hasp tool Ar NAME Fl \\-help\n"
	             "describes a tool and its arguments.\n"
	             ".Bl -tag -width update_file\n");
	for (size_t i = 0; i < tool_count(); i++) {
		buf_printf(out, ".It Cm %s\n", tool_at(i)->name);
		man_text(out, help_first_sentence(tool_at(i)->description));
	}
	buf_str(out, ".El\n");
}

static const char man_environment[] =
	".Sh ENVIRONMENT\n"
	".Bl -tag -width GEMINI_CLI_HOME\n"
	".It Ev GEMINI_API_KEY , GOOGLE_API_KEY , OPENAI_API_KEY , ANTHROPIC_API_KEY , ...\n"
	"The key of a model's provider; it goes into requests to that provider and nowhere else.\n"
	".It Ev GEMINI_MODEL\n"
	"The model, if\n"
	".Fl \\-model\n"
	"is not given.\n"
	".It Ev GEMINI_CLI_TRUST_WORKSPACE\n"
	".Dq true\n"
	"or\n"
	".Dq false :\n"
	"the folder is trusted or not, whatever files say.\n"
	".It Ev GEMINI_CLI_HOME\n"
	"The folder that holds\n"
	".Pa .gemini ;\n"
	".Ev HOME\n"
	"if it is not set.\n"
	".It Ev HASP_SANDBOX\n"
	"The default of\n"
	".Fl \\-sandbox .\n"
	"It cannot be weaker than the setting hasp.sandbox.level.\n"
	".It Ev NO_COLOR\n"
	"If it is set and not empty, nothing is coloured unless\n"
	".Fl \\-color Cm always\n"
	"is given.\n"
	".It Ev TERM\n"
	"Nothing is coloured on a terminal that is called\n"
	".Dq dumb\n"
	"or has no name.\n"
	".El\n"
	".Sh FILES\n"
	".Bl -tag -width Ds\n"
	".It Pa ~/.gemini/settings.json , .gemini/settings.json\n"
	"Settings, and hooks; those of a project count if its folder is trusted.\n"
	".It Pa ~/.gemini/hooks.toml , .gemini/hooks.toml\n"
	"Hooks.\n"
	".It Pa ~/.gemini/policies , .gemini/policies , /etc/gemini-cli/policies\n"
	"Policies.\n"
	".It Pa GEMINI.md , ~/.gemini/GEMINI.md\n"
	"Instructions for the model.\n"
	".It Pa ~/.gemini/tmp/PROJECT/chats\n"
	"Recorded sessions.\n"
	".It Pa ~/.gemini/tmp/hasp/journal\n"
	"The journals of changes to several files, kept until the change is complete.\n"
	"Nothing is ever kept in the workspace.\n"
	".El\n"
	".Sh EXIT STATUS\n";

static const char man_examples[] =
	".Pp\n"
	".Nm\n"
	".Cm sandbox\n"
	"exits as its command does.\n"
	".Sh EXAMPLES\n"
	"Fix a build without questions, in a trusted folder, and show the tokens it took:\n"
	".Pp\n"
	".Dl $ hasp -y -o json -p 'the build fails, fix it' | jq .stats\n"
	".Pp\n"
	"Read a file, with its hash:\n"
	".Pp\n"
	".Dl $ hasp tool read_file --arg file_path=src/main.c\n"
	".Pp\n"
	"Apply a diff to the state that has this hash:\n"
	".Bd -literal -offset indent\n"
	"$ hasp tool safe_patch -a file_path=a.c \\e\n"
	"    -a base_content_sha256=$sum -a unified_diff=@fix.diff\n"
	".Ed\n"
	".Pp\n"
	"The same, from a program that writes JSON:\n"
	".Pp\n"
	".Dl $ make-call | hasp tool safe_patch - | jq .success\n"
	".Sh SEE ALSO\n"
	".Xr diff 1 ,\n"
	".Xr patch 1 ,\n"
	".Xr sha256sum 1\n";

struct man_exit_row {
	int code;
	const char *meaning;
};

static void man_exit_rows(struct buf *out, const char *of, const struct man_exit_row *rows,
                          size_t count)
{
	buf_printf(out, "Of %s:\n.Bl -tag -width Ds\n", of);
	for (size_t i = 0; i < count; i++) {
		buf_printf(out, ".It %d\n", rows[i].code);
		man_text(out, span_str(rows[i].meaning));
	}
	buf_str(out, ".El\n");
}

static void man_exit_status(struct buf *out)
{
#define MAN_AGENT_ROW(symbol, code, type, sentence, meaning) { code, meaning },
#define MAN_COMMAND_ROW(symbol, code, meaning) { code, meaning },
	static const struct man_exit_row agent[] = { AGENT_EXIT_TABLE(MAN_AGENT_ROW) };
	static const struct man_exit_row commands[] = { CLI_EXIT_TABLE(MAN_COMMAND_ROW) };
#undef MAN_AGENT_ROW
#undef MAN_COMMAND_ROW

	man_exit_rows(out, "the agent", agent, ARRAY_LEN(agent));
	buf_str(out, ".Pp\n");
	man_exit_rows(out, "the commands", commands, ARRAY_LEN(commands));
}

void help_manpage_print(struct buf *out)
{
	buf_str(out, ".Dd " MANPAGE_DATE "\n.Dt HASP 1\n.Os\n"
	             ".Sh NAME\n.Nm hasp\n");
	buf_printf(out, ".Nd %s\n", command_root()->summary);
	man_synopsis(out);
	buf_str(out, ".Sh DESCRIPTION\n");
	man_text(out, span_str(command_root()->text));
	buf_str(out, ".Pp\nThe options of the program itself:\n");
	man_flags(out, command_root());
	buf_str(out, ".Sh COMMANDS\n");
	for (size_t i = 0; i < command_count(); i++) {
		buf_printf(out, ".Ss hasp %s\n", command_listed(i)->name);
		man_text(out, span_str(command_listed(i)->text));
		buf_str(out, ".Pp\nOptions:\n");
		man_flags(out, command_listed(i));
	}
	man_tools(out);
	buf_str(out, man_environment);
	man_exit_status(out);
	buf_str(out, man_examples);
}
